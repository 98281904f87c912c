"""Operations that overwrite what a disk holds."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import CLIENT_TOKEN, DRY_RUN, parameters, text, view
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.disks import DISK_ID, being_snapshot, find, instance_of
from cirrus_env.cloud.services.disk.models import RESET_SECONDS, Disk, Snapshot
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def _overwritable(work: Work, disk: Disk) -> None:
    """Refuse where the disk's data can't be replaced now: locks first, then states."""
    instance = instance_of(work, disk.instance_id) if disk.instance_id else None
    if instance is not None and "security" in view(instance, "lock_reasons"):
        raise errors.locked_for_security()
    if "financial" in disk.lock_reasons:
        raise errors.in_arrears()
    if disk.status == "ReIniting":
        raise CloudError(
            "InvalidOperation.DiskResetInProgress", "The disk is being set back already.", 403
        )
    if being_snapshot(work, disk):
        raise CloudError(
            "IncorrectDiskStatus.HasUnfinishedSnapshot",
            "A snapshot of the disk is being taken.", 403,
        )  # fmt: skip
    if instance is None or disk.status != "In_use":
        raise errors.wrong_status(disk.status, "In_use")
    if view(instance, "status") != "Stopped":
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {view(instance, 'status')}; it has to be Stopped.", 403,
        )  # fmt: skip


def _overwrite(work: Work, disk: Disk, **fields: Any) -> None:
    setting = work.change(disk, status="ReIniting", **fields)
    work.later(RESET_SECONDS, setting, status="In_use")


def reset(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ResetDisk: back to a snapshot of this very disk; what came later is lost."""
    disk = find(work, arguments["DiskId"])
    snapshot = work.get(Snapshot, arguments["SnapshotId"])
    if snapshot is None:
        raise errors.snapshot_not_found(arguments["SnapshotId"])
    if snapshot.disk_id != disk.id:
        raise CloudError(
            "InvalidParameter.Mismatch",
            f"{snapshot.id} was taken of {snapshot.disk_id}, not of this disk.", 403,
        )  # fmt: skip
    if snapshot.status != "accomplished":
        raise CloudError("InvalidSnapshotId.NotReady", f"The snapshot is {snapshot.status}.", 403)
    _overwritable(work, disk)
    smaller = snapshot.source_size_gib < disk.size_gib
    _overwrite(
        work, disk, content_from=snapshot.id, content_time=snapshot.created_time, formatted=True,
        filesystem_gib=snapshot.source_size_gib if smaller else 0,
    )  # fmt: skip
    return {}


def reinit(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ReInitDisk: as it was when it was made."""
    disk = find(work, arguments["DiskId"])
    _overwritable(work, disk)
    source = disk.source_snapshot_id
    if source and work.get(Snapshot, source) is None:
        raise CloudError("OperationDenied", f"Its source {source} is gone.", 403)
    image = disk.image_id
    known = work.peek("image.image", image) if image.startswith("m-bp1") else None
    if image and known is not None and view(known, "status") != "Available":
        raise CloudError("OperationDenied", f"Its source {image} can't be used.", 403)
    raw = disk.type == "data" and not source
    _overwrite(
        work, disk, content_from=source or image, content_time=disk.created_time,
        formatted=not raw, used_gib=0 if raw else 3, filesystem_gib=0,
    )  # fmt: skip
    return {}


OPERATIONS: Final = (
    Operation(
        name="ResetDisk",
        description=(
            "Set a disk back to a snapshot of that same disk, for good: whatever was written after "
            "the snapshot is lost. Its instance has to be Stopped."
        ),
        effect="irreversible",
        parameters=parameters(
            ("DiskId", "SnapshotId"),
            DiskId=DISK_ID,
            SnapshotId=text("The snapshot's id, such as s-bp1abc.", 64),
            ClientToken=CLIENT_TOKEN,
            DryRun=DRY_RUN,
        ),
        run=reset,
        resource="DiskId",
        propose={
            "en": (("roll back", "rollback", "roll", "restore", "reset", "revert", "set back"),),
            "zh": (("回滚", "恢复", "还原"),),
        },
    ),
    Operation(
        name="ReInitDisk",
        description=(
            "Set a disk back to the state that it was made in, for good: all its data is lost. Its "
            "instance has to be Stopped."
        ),
        effect="irreversible",
        parameters=parameters(("DiskId",), DiskId=DISK_ID, DryRun=DRY_RUN),
        run=reinit,
        resource="DiskId",
        propose={
            "en": (("reinitialise", "reinitialize", "re-initialise", "re-initialize", "wipe"),),
            "zh": (("重新初始化", "初始化", "清空"),),
        },
    ),
)
