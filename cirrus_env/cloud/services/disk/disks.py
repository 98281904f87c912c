"""Operations on disks: what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cirrus_env.cloud.api import (
    BOOLEAN,
    CLIENT_TOKEN,
    DRY_RUN,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    id_list,
    locks,
    one_of,
    overdue,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.models import (
    MAX_SIZE_GIB,
    Disk,
    Snapshot,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second

_ECS: Final = "ecs.instance"
_STATUSES: Final = ("Creating", "Available", "Attaching", "In_use", "Detaching", "ReIniting")


def find(work: Work, id: str) -> Disk:
    """The disk, or the refusal that there is none."""
    disk = work.get(Disk, id)
    if disk is None:
        raise errors.disk_not_found(id)
    return disk


def instance_of(work: Work, id: str) -> Resource:
    """The instance, or the refusal that there is none."""
    instance = work.peek(_ECS, id)
    if instance is None:
        raise errors.instance_not_found(id)
    return instance


def of_instance(work: Work, instance_id: str) -> list[Disk]:
    """The disks that are attached to an instance."""
    return [d for d in work.linked(Disk.kind, instance_id) if isinstance(d, Disk)]


def being_snapshot(work: Work, disk: Disk) -> bool:
    """Whether a snapshot of the disk is being taken."""
    return any(view(s, "status") == "progressing" for s in work.linked(Snapshot.kind, disk.id))


def shown(disk: Disk) -> dict[str, Any]:
    """A disk as DescribeDisks shows it."""
    return {
        "DiskId": disk.id,
        "DiskName": disk.name,
        "Description": disk.description,
        "Type": disk.type,
        "Category": disk.category,
        "PerformanceLevel": disk.performance_level,
        "Size": disk.size_gib,
        "Status": disk.status,
        "InstanceId": disk.instance_id,
        "Device": disk.device if disk.instance_id else "",
        "Portable": disk.portable,
        "DeleteWithInstance": disk.delete_with_instance,
        "DeleteAutoSnapshot": disk.delete_auto_snapshot,
        "EnableAutoSnapshot": disk.enable_auto_snapshot,
        "AutoSnapshotPolicyId": disk.auto_snapshot_policy_id,
        "DiskChargeType": disk.charge_type,
        "ExpiredTime": iso_second(disk.expired_time) if disk.expired_time else "",
        "SourceSnapshotId": disk.source_snapshot_id,
        "ImageId": disk.image_id,
        "Encrypted": disk.encrypted,
        "RegionId": disk.region,
        "ZoneId": disk.zone,
        "CreationTime": iso_second(disk.created_time),
        "AttachedTime": iso_second(disk.attached_time) if disk.attached_time else "",
        "DetachedTime": iso_second(disk.detached_time) if disk.detached_time else "",
        "OperationLocks": locks(disk.lock_reasons),
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeDisks: every filter narrows."""
    region = arguments.get("RegionId", REGION)
    instance = arguments.get("InstanceId")
    found: Sequence[Disk]
    if "DiskIds" in arguments:
        ids = dict.fromkeys(id_list(arguments["DiskIds"], "DiskIds"))
        found = [d for d in (work.get(Disk, id) for id in ids) if d is not None]
    elif instance is not None:
        found = of_instance(work, instance)
    else:
        found = work.all(Disk)
    type = arguments.get("DiskType", "all")
    status = arguments.get("Status", "All")
    category = arguments.get("Category")
    name = arguments.get("DiskName")
    charge = arguments.get("DiskChargeType")
    matching = [
        d for d in found
        if d.region == region
        and (instance is None or d.instance_id == instance)
        and type in ("all", d.type)
        and status in ("All", d.status)
        and (category is None or d.category == category)
        and (name is None or fuzzy(name, d.name))
        and (charge is None or d.charge_type == charge)
    ]  # fmt: skip
    items, paging = page(matching, arguments)
    return {"Disks": {"Disk": [shown(d) for d in items]}, **paging}


def resize(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ResizeDisk: larger only; offline, the guest sees it after a restart."""
    disk = find(work, arguments["DiskId"])
    size: int = arguments["NewSize"]
    online = arguments.get("Type", "offline") == "online"
    if "financial" in disk.lock_reasons:
        raise errors.in_arrears()
    instance = work.peek(_ECS, disk.instance_id) if disk.instance_id else None
    if instance is not None and "financial" in view(instance, "lock_reasons"):
        raise errors.instance_overdue()
    if overdue(work):
        raise CloudError("Account.Arrearage", "The account owes money; pay it first.", 400)
    if disk.status not in ("In_use", "Available"):
        raise errors.wrong_status(disk.status, "In_use or Available")
    if being_snapshot(work, disk):
        raise errors.creating_snapshot()
    if size <= disk.size_gib:
        raise CloudError(
            "InvalidDiskSize.TooSmall",
            f"A disk never shrinks: NewSize has to be above {disk.size_gib} GiB.", 403,
        )  # fmt: skip
    if size > MAX_SIZE_GIB[disk.type]:
        raise CloudError(
            "InvalidDiskSize.TooLarge",
            f"A {disk.type} disk has at most {MAX_SIZE_GIB[disk.type]} GiB.", 403,
        )  # fmt: skip
    if online and instance is not None and view(instance, "status") != "Running":
        raise CloudError(
            "InvalidInstanceStatus.NotRunning", "Online, the instance has to be Running.", 403
        )
    enlarge(work, disk, size, online=online or instance is None)
    return {}


def enlarge(work: Work, disk: Disk, size: int, *, online: bool = True) -> None:
    """Make a disk larger; the file system in it stays as it is."""
    seen = disk.guest_size_gib or disk.size_gib
    work.change(
        disk, size_gib=size, guest_size_gib=0 if online else seen,
        filesystem_gib=disk.filesystem_gib or disk.size_gib,
        hourly_cents=-(-disk.hourly_cents * size // disk.size_gib),
    )  # fmt: skip


def modify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyDiskAttribute."""
    disk = find(work, arguments["DiskId"])
    fields = {
        "DiskName": "name",
        "Description": "description",
        "DeleteWithInstance": "delete_with_instance",
        "DeleteAutoSnapshot": "delete_auto_snapshot",
        "EnableAutoSnapshot": "enable_auto_snapshot",
    }
    changes = {field: arguments[name] for name, field in fields.items() if name in arguments}
    if not changes:
        raise CloudError("MissingParameter", f"Name what to change: {', '.join(fields)}.")
    if changes.get("delete_with_instance") is False and not disk.portable:
        raise CloudError("DiskNotPortable", "The disk can't outlive its instance.", 403)
    work.change(disk, **changes)
    return {}


DISK_ID: Final = text("The disk's id, such as d-bp1abc.", 64)
OPERATIONS: Final = (
    Operation(
        name="DescribeDisks",
        description=(
            "List disks with size, status, instance, charge type and what happens to them when "
            "the instance is released."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            DiskIds=text('A JSON array of up to 100 ids as text, such as ["d-bp1abc"].', 8192),
            InstanceId=text("Only disks attached to this instance.", 64),
            DiskType=one_of("all", "system", "data", default="all"),
            Category=one_of(
                "cloud_efficiency", "cloud_ssd", "cloud_essd", "cloud_auto", "cloud_essd_entry"
            ),
            Status=one_of("All", *_STATUSES, default="All"),
            DiskName=text("A name or a part of one.", 128),
            DiskChargeType=one_of("PostPaid", "PrePaid"),
            **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="ResizeDisk",
        description=(
            "Make a disk larger; it can't be made smaller again. Offline the guest sees the new "
            "size after a restart, and in both cases the file system has to be grown inside."
        ),
        effect="irreversible",
        parameters=parameters(
            ("DiskId", "NewSize"),
            DiskId=DISK_ID,
            NewSize={"type": "integer", "minimum": 1, "maximum": 65_536, "description": "GiB."},
            Type=one_of("offline", "online", default="offline"),
            ClientToken=CLIENT_TOKEN,
            DryRun=DRY_RUN,
        ),
        run=resize,
        resource="DiskId",
        propose={
            "en": (("resize", "enlarge", "extend", "expand", "grow", "increase"),),
            "zh": (("扩容", "扩大", "增大", "扩展"),),
        },
    ),
    Operation(
        name="ModifyDiskAttribute",
        description="Change a disk's name or what happens when its instance is released.",
        effect="write",
        parameters=parameters(
            ("DiskId",),
            DiskId=DISK_ID,
            DiskName=text("The new name.", 128),
            Description=text("The new description.", 256),
            DeleteWithInstance={**BOOLEAN, "description": "Whether it goes with the instance."},
            DeleteAutoSnapshot={**BOOLEAN, "description": "Whether automatic snapshots go too."},
            EnableAutoSnapshot={**BOOLEAN, "description": "Whether a policy may take snapshots."},
        ),
        run=modify,
        resource="DiskId",
        propose={
            "en": (("change", "set", "turn off", "turn on", "switch", "rename", "keep"),),
            "zh": (("修改", "设置", "关闭", "开启", "改名", "保留"),),
        },
    ),
)
