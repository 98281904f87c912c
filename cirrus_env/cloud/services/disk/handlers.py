"""What other services' events do to disks, and how a disk ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from cirrus_env.cloud.api import view
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.disks import being_snapshot, enlarge, of_instance
from cirrus_env.cloud.services.disk.models import DETACH_SECONDS, MAX_SIZE_GIB, Disk, Snapshot
from cirrus_env.cloud.services.disk.schedule import on_hour
from cirrus_env.cloud.services.disk.snapshots import take
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


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


def on_order_paid(work: Work, data: Mapping[str, Any]) -> None:
    """A paid order for more room enlarges the disk online; its config begins with the GiB."""
    size = data["config"].partition(" ")[0]
    if data["order_type"] != "ResizeDisk" or not size.isdecimal():
        return
    disk = work.get(Disk, data["instance"])
    if disk is not None and int(size) > disk.size_gib:
        enlarge(work, disk, int(size))


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


def on_image_ordered(work: Work, data: Mapping[str, Any]) -> None:
    """An image is made of an instance: its system disk's snapshot holds the data."""
    disk = work.get(Disk, data["disk"])
    if disk is None:
        return
    if being_snapshot(work, disk):
        raise errors.creating_snapshot()
    if disk.status not in ("In_use", "Available"):
        raise errors.wrong_status(disk.status, "In_use or Available")
    snapshot = take(work, disk, name=f"for image {data['image']}", usage="image")
    work.emit("image.snapshot_taken", image=data["image"], snapshot=snapshot.id)


def on_image_made(work: Work, data: Mapping[str, Any]) -> None:
    """An image was made from a snapshot and needs it from now on."""
    snapshot = work.get(Snapshot, data["snapshot"])
    if snapshot is not None and "image" not in snapshot.usage:
        work.change(snapshot, usage="image_disk" if snapshot.usage == "disk" else "image")


def on_image_released(work: Work, data: Mapping[str, Any]) -> None:
    """An image is gone: its snapshots may go as well, unless another needs them."""
    gone = data["record"]
    for id in view(gone, "snapshot_ids"):
        snapshot = work.get(Snapshot, id)
        others = (i for i in work.peek_all("image.image") if i.id != gone.id)
        if snapshot is None or any(id in view(other, "snapshot_ids") for other in others):
            continue
        work.change(snapshot, usage="disk" if snapshot.usage == "image_disk" else "none")


def on_system_disk_replaced(work: Work, data: Mapping[str, Any]) -> None:
    """A server is reinstalled: its system disk is destroyed and a new one takes its place."""
    old = next((d for d in of_instance(work, data["instance"]) if d.type == "system"), None)
    if old is None:
        return
    if old.status != "In_use":
        raise errors.wrong_status(old.status, "In_use")
    if "financial" in old.lock_reasons:
        raise errors.in_arrears()
    if being_snapshot(work, old):
        raise errors.creating_snapshot()
    size = data["size"] or old.size_gib
    if not old.size_gib <= size <= MAX_SIZE_GIB["system"]:
        raise CloudError(
            "InvalidSystemDiskSize",
            f"The new system disk has {old.size_gib} to {MAX_SIZE_GIB['system']} GiB.", 403,
        )  # fmt: skip
    discard(work, old)
    work.put(
        replace(
            old, id=data["disk"], size_gib=size, guest_size_gib=0, filesystem_gib=0, used_gib=3,
            formatted=True, source_snapshot_id="", image_id=data["image"],
            content_from=data["image"], content_time=0, auto_snapshot_policy_id="",
            created_time=work.now, attached_time=work.now, detached_time=0,
            hourly_cents=-(-old.hourly_cents * size // old.size_gib),
        )
    )  # fmt: skip


HANDLERS: Final = {
    "clock.hour": on_hour,
    "image.ordered": on_image_ordered,
    "image.made": on_image_made,
    "image.released": on_image_released,
    "system_disk.replaced": on_system_disk_replaced,
    "ecs.instance.released": on_instance_released,
    "ecs.instance.Running": on_instance_running,
    "order.paid": on_order_paid,
    "account.suspended": on_suspended,
    "account.paid": on_paid,
}
