"""What a customer sees of its disks inside the guest, and does to their file systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import parameters, text, view
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Measure, Operation
from cirrus_env.cloud.services.disk.disks import DISK_ID, find, instance_of, of_instance
from cirrus_env.cloud.services.disk.models import Disk
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def visible(disk: Disk) -> int:
    """The size that the guest sees: a larger one may wait for a restart from outside."""
    return disk.guest_size_gib or disk.size_gib


def filesystem(disk: Disk) -> int:
    """The size of the file system in it; 0 where there is none."""
    if not disk.formatted:
        return 0
    return min(disk.filesystem_gib or disk.size_gib, visible(disk))


def _up(work: Work, instance_id: str) -> None:
    instance = instance_of(work, instance_id)
    if view(instance, "status") != "Running" or view(instance, "os_state") != "running":
        raise CloudError("IncorrectInstanceStatus", "The guest isn't running.", 403)


def _attached(work: Work, arguments: dict[str, Any]) -> Disk:
    disk = find(work, arguments["DiskId"])
    if disk.status != "In_use":
        raise CloudError("IncorrectDiskStatus", "The disk isn't attached to anything.", 403)
    _up(work, disk.instance_id)
    return disk


def disk_free(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``lsblk`` and ``df -h`` show."""
    _up(work, arguments["InstanceId"])
    disks = [d for d in of_instance(work, arguments["InstanceId"]) if d.status == "In_use"]
    blocks = [{"Name": d.device, "SizeGiB": visible(d)} for d in disks]
    systems = []
    for d in disks:
        size = filesystem(d)
        if size:
            used = min(d.used_gib, size)
            systems.append(
                {
                    "Filesystem": f"{d.device}1",
                    "SizeGiB": size,
                    "UsedGiB": used,
                    "AvailableGiB": size - used,
                    "UsePercent": 100 * used // size,
                    "MountedOn": "/" if d.type == "system" else f"/mnt/{d.device[5:] or 'data'}",
                }
            )
    return {"BlockDevices": blocks, "FileSystems": systems}


def grow(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``growpart`` and ``resize2fs`` do: the file system fills what the guest sees."""
    disk = _attached(work, arguments)
    if not disk.formatted:
        raise CloudError("OperationDenied", "The disk holds no file system.", 403)
    before = filesystem(disk)
    if before == visible(disk):
        raise CloudError(
            "NoChange", f"NOCHANGE: the partition fills the {before} GiB that are seen.", 403
        )
    work.change(disk, filesystem_gib=0 if not disk.guest_size_gib else visible(disk))
    return {"BeforeGiB": before, "AfterGiB": visible(disk)}


def make_filesystem(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``mkfs`` and ``mount`` do; whatever the disk held is lost."""
    disk = _attached(work, arguments)
    if disk.type == "system":
        raise CloudError("OperationDenied", "The system is on this disk.", 403)
    work.change(disk, formatted=True, used_gib=0, filesystem_gib=0, content_from="")
    return {"SizeGiB": visible(disk)}


def _disk(cloud: Cloud, of: str) -> Disk | None:
    disk = cloud.find(Disk.kind, of)
    return disk if isinstance(disk, Disk) else None


def filesystem_size(cloud: Cloud, of: str) -> int:
    """GiB of the disk's file system, as ``df`` shows it."""
    disk = _disk(cloud, of)
    return 0 if disk is None else filesystem(disk)


def filesystem_free(cloud: Cloud, of: str) -> int:
    """GiB that are free in the disk's file system."""
    disk = _disk(cloud, of)
    return 0 if disk is None else max(0, filesystem(disk) - disk.used_gib)


MEASURES: Final[Mapping[str, Measure]] = {
    "filesystem_size": filesystem_size,
    "filesystem_free": filesystem_free,
}

OPERATIONS: Final = (
    Operation(
        name="GuestDiskFree",
        description="The customer looks at disks and file systems inside the guest (lsblk, df).",
        effect="read",
        parameters=parameters(
            ("InstanceId",), InstanceId=text("The instance's id, such as i-bp1abc.", 64)
        ),
        run=disk_free,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="GuestGrowPartition",
        description="The customer grows partition and file system inside the guest.",
        effect="write",
        parameters=parameters(("DiskId",), DiskId=DISK_ID),
        run=grow,
        resource="DiskId",
        propose={
            "en": (("grow", "extend", "growpart", "resize2fs"), ("partition", "file system")),
            "zh": (("扩展", "扩容", "扩大"), ("分区", "文件系统")),
        },
        actor="customer",
    ),
    Operation(
        name="GuestFormatDisk",
        description="The customer makes a file system on a data disk inside the guest.",
        effect="irreversible",
        parameters=parameters(("DiskId",), DiskId=DISK_ID),
        run=make_filesystem,
        resource="DiskId",
        propose={
            "en": (("format", "mkfs"),),
            "zh": (("格式化",),),
        },
        actor="customer",
    ),
)
