"""What other services' events do to disks, and how a disk ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import view
from cirrus_env.cloud.services.disk.disks import of_instance
from cirrus_env.cloud.services.disk.models import DETACH_SECONDS, Disk, Snapshot
from cirrus_env.cloud.services.disk.schedule import on_hour
from cirrus_env.cloud.work import Work


def discard(work: Work, disk: Disk) -> None:
    """Delete a disk and, if it says so, its automatic snapshots; manual ones stay."""
    work.delete(disk)
    work.emit("disk.disk.released", record=disk)
    if disk.delete_auto_snapshot:
        for snapshot in work.linked(Snapshot.kind, disk.id):
            if isinstance(snapshot, Snapshot) and snapshot.snapshot_type == "auto":
                work.delete(snapshot)
                work.emit("disk.snapshot.released", record=snapshot)


def on_instance_released(work: Work, data: Mapping[str, Any]) -> None:
    """Disks go with their instance if they say so, or always under a security lock."""
    instance = data["record"]
    everything = "security" in view(instance, "lock_reasons")
    for disk in of_instance(work, instance.id):
        if everything or disk.delete_with_instance or not disk.portable:
            discard(work, disk)
        else:
            leaving = work.change(disk, status="Detaching", instance_id="", guest_size_gib=0)
            work.later(
                DETACH_SECONDS, leaving, status="Available",
                detached_time=work.now + DETACH_SECONDS,
            )  # fmt: skip


def on_instance_running(work: Work, data: Mapping[str, Any]) -> None:
    """A restart from outside the guest shows it the disks' new sizes."""
    for disk in of_instance(work, data["record"].id):
        if disk.guest_size_gib:
            work.change(disk, guest_size_gib=0)


def on_suspended(work: Work, data: Mapping[str, Any]) -> None:
    """Arrears past the grace period lock pay-as-you-go disks."""
    for disk in work.all(Disk):
        if disk.charge_type == "PostPaid" and "financial" not in disk.lock_reasons:
            work.change(disk, lock_reasons=(*disk.lock_reasons, "financial"))


def on_paid(work: Work, data: Mapping[str, Any]) -> None:
    """Once the debt is paid, disks are free again."""
    for disk in work.all(Disk):
        if disk.charge_type == "PostPaid" and "financial" in disk.lock_reasons:
            kept = tuple(reason for reason in disk.lock_reasons if reason != "financial")
            work.change(disk, lock_reasons=kept)


HANDLERS: Final = {
    "clock.hour": on_hour,
    "ecs.instance.released": on_instance_released,
    "ecs.instance.Running": on_instance_running,
    "account.suspended": on_suspended,
    "account.paid": on_paid,
}
