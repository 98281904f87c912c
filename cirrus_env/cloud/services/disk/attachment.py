"""Operations on disks: where they hang, and their end."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import BOOLEAN, DRY_RUN, FLAG, parameters, text, view
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.disks import (
    DISK_ID,
    being_snapshot,
    find,
    instance_of,
    of_instance,
)
from cirrus_env.cloud.services.disk.handlers import discard
from cirrus_env.cloud.services.disk.models import (
    ATTACH_SECONDS,
    DETACH_SECONDS,
    DISKS_AN_INSTANCE,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def attach(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """AttachDisk."""
    disk = find(work, arguments["DiskId"])
    instance = instance_of(work, arguments["InstanceId"])
    held = view(instance, "lock_reasons")
    if "security" in held:
        raise errors.locked_for_security()
    if held:
        raise errors.instance_overdue()
    if "financial" in disk.lock_reasons:
        raise errors.in_arrears()
    if disk.status == "In_use":
        raise CloudError("InvalidDisk.InUse", f"It is attached to {disk.instance_id}.", 403)
    if disk.status != "Available":
        raise CloudError("DiskId.StatusNotSupported", f"The disk is {disk.status}.", 403)
    if disk.zone != view(instance, "zone"):
        raise CloudError(
            "ResourcesNotInSameZone", "The disk and the instance are in two zones.", 403
        )
    status = view(instance, "status")
    needed = ("Stopped",) if disk.type == "system" else ("Running", "Stopped")
    if status not in needed:
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {status}; it has to be {' or '.join(needed)}.", 403,
        )  # fmt: skip
    present = of_instance(work, instance.id)
    if len(present) >= DISKS_AN_INSTANCE:
        raise CloudError(
            "InstanceDiskLimitExceeded", f"An instance takes {DISKS_AN_INSTANCE} disks.", 403
        )
    used = {d.device for d in present}
    letters = "abcdefghijklmnopqrstuvwxyz"
    device = next(d for c in letters if (d := f"/dev/xvd{c}") not in used)
    joining = work.change(
        disk, status="Attaching", instance_id=instance.id, device=device,
        delete_with_instance=arguments.get("DeleteWithInstance", False),
    )  # fmt: skip
    work.later(ATTACH_SECONDS, joining, status="In_use", attached_time=work.now + ATTACH_SECONDS)
    return {}


def detach(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DetachDisk."""
    disk = find(work, arguments["DiskId"])
    instance = instance_of(work, arguments["InstanceId"])
    if disk.status != "In_use":
        raise errors.wrong_status(disk.status, "In_use")
    if disk.instance_id != instance.id:
        raise CloudError(
            "InvalidOperation.Conflict", f"The disk is attached to {disk.instance_id}.", 403
        )
    if not disk.portable:
        raise CloudError("DiskNotPortable", "The disk can't leave its instance.", 403)
    status = view(instance, "status")
    needed = ("Stopped",) if disk.type == "system" else ("Running", "Stopped")
    if status not in needed:
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {status}; it has to be {' or '.join(needed)}.", 403,
        )  # fmt: skip
    if being_snapshot(work, disk):
        raise errors.creating_snapshot()
    keeps = arguments.get("DeleteWithInstance", disk.delete_with_instance)
    leaving = work.change(disk, status="Detaching", delete_with_instance=keeps)
    work.later(
        DETACH_SECONDS, leaving, status="Available", instance_id="",
        detached_time=work.now + DETACH_SECONDS, guest_size_gib=0,
    )  # fmt: skip
    return {}


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteDisk."""
    disk = find(work, arguments["DiskId"])
    if disk.charge_type == "PrePaid":
        raise CloudError("ChargeTypeViolation", "A subscription disk can't be released.", 403)
    if disk.instance_id:
        raise CloudError("DiskStillAttached", f"It is attached to {disk.instance_id}.", 403)
    if disk.status != "Available":
        raise errors.wrong_status(disk.status, "Available")
    if being_snapshot(work, disk):
        raise errors.creating_snapshot()
    discard(work, disk)
    return {}


_INSTANCE_ID: Final = text("The instance's id, such as i-bp1abc.", 64)

OPERATIONS: Final = (
    Operation(
        name="AttachDisk",
        description="Attach an available disk to an instance in the same zone.",
        effect="write",
        parameters=parameters(
            ("InstanceId", "DiskId"),
            InstanceId=_INSTANCE_ID,
            DiskId=DISK_ID,
            DeleteWithInstance={**FLAG, "description": "Whether it goes with the instance."},
            Bootable={**FLAG, "description": "Attach it as the system disk."},
        ),
        run=attach,
        resource="DiskId",
        propose={"en": (("attach", "mount"),), "zh": (("挂载", "挂上"),)},
    ),
    Operation(
        name="DetachDisk",
        description=(
            "Take a disk off its instance, which needs about a minute. A pay-as-you-go disk goes "
            "on being charged."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId", "DiskId"),
            InstanceId=_INSTANCE_ID,
            DiskId=DISK_ID,
            DeleteWithInstance={**BOOLEAN, "description": "Set this attribute as well."},
        ),
        run=detach,
        resource="DiskId",
        propose={"en": (("detach", "unmount", "take off"),), "zh": (("卸载", "分离"),)},
    ),
    Operation(
        name="DeleteDisk",
        description=(
            "Release an available pay-as-you-go disk for good; its data is lost and its charges "
            "end. Manual snapshots of it stay."
        ),
        effect="irreversible",
        parameters=parameters(("DiskId",), DiskId=DISK_ID, DryRun=DRY_RUN),
        run=delete,
        resource="DiskId",
        propose={
            "en": (("delete", "release", "remove"),),
            "zh": (("删除", "释放"),),
        },
    ),
)
