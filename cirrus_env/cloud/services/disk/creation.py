"""Making a disk, and another kind of one."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    REGION,
    REGION_ID,
    one_of,
    overdue,
    parameters,
    text,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.disks import DISK_ID, being_snapshot, find
from cirrus_env.cloud.services.disk.models import (
    CREATE_SECONDS,
    MAX_SIZE_GIB,
    MIN_SIZE_GIB,
    Disk,
    Snapshot,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

CATEGORIES: Final = (
    "cloud_efficiency", "cloud_ssd", "cloud_essd", "cloud_auto", "cloud_essd_entry",
)  # fmt: skip
_LEVELS: Final = {"PL0": 1, "PL1": 2, "PL2": 4, "PL3": 8}
SMALLEST: Final = 20
"""GiB of a disk that is no ESSD."""


def hourly(size: int, category: str, level: str) -> int:
    """Cents an hour of a pay-as-you-go disk of this size."""
    return -(-size * _weight(category, level) // 10)


def check_size(size: int, category: str, level: str) -> None:
    """Refuse a size that the category and level don't come in."""
    least = MIN_SIZE_GIB[level] if category == "cloud_essd" else SMALLEST
    if not least <= size <= MAX_SIZE_GIB["data"]:
        raise CloudError(
            "InvalidDiskSize",
            f"{category} {level} comes in {least} to {MAX_SIZE_GIB['data']} GiB.", 403,
        )  # fmt: skip


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateDisk: a pay-as-you-go data disk, empty or from a snapshot, Creating for a while."""
    if overdue(work):
        raise CloudError(
            "InvalidAccountStatus.NotEnoughBalance", "The account owes money; pay it first.", 403
        )
    source = arguments.get("SnapshotId", "")
    snapshot = work.get(Snapshot, source) if source else None
    size: int | None = arguments.get("Size")
    if source:
        if snapshot is None:
            raise errors.snapshot_not_found(source)
        if snapshot.status != "accomplished":
            raise CloudError(
                "InvalidSnapshotId.NotReady", f"The snapshot is {snapshot.status}.", 403
            )
        size = snapshot.source_size_gib if size is None else size
        if size < snapshot.source_size_gib:
            raise CloudError(
                "InvalidDiskSize.TooSmall",
                f"The snapshot needs {snapshot.source_size_gib} GiB.", 403,
            )  # fmt: skip
    if size is None:
        raise CloudError("MissingParameter", "Name Size or SnapshotId.", 400)
    category = arguments.get("DiskCategory", "cloud_essd")
    level = arguments.get("PerformanceLevel", "PL0")
    check_size(size, category, level)
    smaller = snapshot is not None and snapshot.source_size_gib < size
    disk = Disk(
        work.new_id(Disk), work.tenant, name=arguments.get("DiskName", ""), status="Creating",
        description=arguments.get("Description", ""), type="data", category=category,
        performance_level=level if category == "cloud_essd" else "", size_gib=size, device="",
        delete_with_instance=False, source_snapshot_id=source, zone=arguments["ZoneId"],
        region=arguments.get("RegionId", REGION), encrypted=arguments.get("Encrypted", False),
        created_time=work.now, attached_time=0, formatted=bool(source),
        used_gib=12 if source else 0, content_from=source,
        content_time=snapshot.created_time if snapshot is not None else 0,
        filesystem_gib=snapshot.source_size_gib if snapshot is not None and smaller else 0,
        hourly_cents=hourly(size, category, level),
    )  # fmt: skip
    work.put(disk)
    work.later(CREATE_SECONDS, disk, status="Available")
    if snapshot is not None and "disk" not in snapshot.usage:
        work.change(snapshot, usage="image_disk" if snapshot.usage == "image" else "disk")
    return {"DiskId": disk.id}


def modify_spec(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyDiskSpec: another category or performance level, in place."""
    disk = find(work, arguments["DiskId"])
    category = arguments.get("DiskCategory", disk.category)
    level = arguments.get("PerformanceLevel", disk.performance_level or "PL0")
    if "financial" in disk.lock_reasons:
        raise errors.in_arrears()
    if overdue(work):
        raise CloudError("Account.Arrearage", "The account owes money; pay it first.", 400)
    if disk.status not in ("In_use", "Available"):
        raise errors.wrong_status(disk.status, "In_use or Available")
    if being_snapshot(work, disk):
        raise errors.creating_snapshot()
    level = level if category == "cloud_essd" else ""
    if (category, level) == (disk.category, disk.performance_level):
        raise CloudError("InvalidDiskCategory.ValueNotSupported", "It is that already.", 400)
    if CATEGORIES.index(category) < CATEGORIES.index(disk.category) and category != "cloud_auto":
        raise CloudError(
            "InvalidDiskCategory.ValueNotSupported", "A disk's category only goes up.", 400
        )
    if category == "cloud_essd" and disk.size_gib < MIN_SIZE_GIB[level]:
        raise CloudError(
            "OperationDenied.PerformanceLevelNotMatch",
            f"{level} needs {MIN_SIZE_GIB[level]} GiB.", 403,
        )  # fmt: skip
    before = _weight(disk.category, disk.performance_level)
    after = _weight(category, level)
    if disk.charge_type == "PrePaid" and after < before:
        raise CloudError("ChargeTypeViolation", "A subscription disk only goes up.", 403)
    work.change(
        disk, category=category, performance_level=level,
        hourly_cents=-(-disk.hourly_cents * after // before),
    )  # fmt: skip
    return {}


def _weight(category: str, level: str) -> int:
    return _LEVELS.get(level, 1) if category == "cloud_essd" else 1


OPERATIONS: Final = (
    Operation(
        name="ModifyDiskSpec",
        description=(
            "Change a disk's category or an ESSD disk's performance level in place; the price "
            "changes with it."
        ),
        effect="write",
        parameters=parameters(
            ("DiskId",),
            DiskId=DISK_ID,
            DiskCategory=one_of(*CATEGORIES),
            PerformanceLevel=one_of(*_LEVELS),
            DryRun=DRY_RUN,
        ),
        run=modify_spec,
        resource="DiskId",
        propose={
            "en": (
                ("change", "upgrade", "downgrade", "switch", "raise", "lower"),
                ("performance level", "category", "disk type"),
            ),
            "zh": (("变更", "升级", "降级", "调整"), ("性能级别", "云盘类型", "性能等级")),
        },
    ),
    Operation(
        name="CreateDisk",
        description=(
            "Buy a pay-as-you-go data disk in a zone, empty or from a snapshot. It is charged by "
            "the hour from now on, attached or not; AttachDisk gives it to an instance of its zone."
        ),
        effect="write",
        parameters=parameters(
            ("ZoneId",),
            RegionId=REGION_ID,
            ZoneId=text("The zone, such as cn-hangzhou-h.", 64),
            Size={"type": "integer", "minimum": 1, "maximum": 65_536, "description": "GiB."},
            SnapshotId=text("Make it from this snapshot, such as s-bp1abc.", 64),
            DiskCategory=one_of(*CATEGORIES, default="cloud_essd"),
            PerformanceLevel=one_of(*_LEVELS, default="PL0"),
            DiskName=text("The name.", 128),
            Description=text("The description.", 256),
            Encrypted=FLAG,
            ClientToken=CLIENT_TOKEN,
        ),
        run=create,
        resource="ZoneId",
        propose={
            "en": (("create", "make", "buy", "build"), ("disk", "volume")),
            "zh": (("创建", "购买", "新建", "制作"), ("云盘", "磁盘", "数据盘")),
        },
    ),
)
