"""Disks and snapshots, their lifecycles and costs (domain/infrastructure.md, section 9)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

DiskStatus = Literal[
    "Creating", "Available", "Attaching", "In_use", "Detaching", "ReIniting"
]  # fmt: skip

ATTACH_SECONDS: Final = 10
DETACH_SECONDS: Final = 60
SNAPSHOT_SECONDS: Final = 90
CREATE_SECONDS: Final = 20
RESET_SECONDS: Final = 30
MANUAL_SNAPSHOTS: Final = 256
AUTO_SNAPSHOTS: Final = 1000
POLICIES: Final = 100
DISKS_AN_INSTANCE: Final = 17
MAX_SIZE_GIB: Final = {"system": 2048, "data": 32_768}
MIN_SIZE_GIB: Final = MappingProxyType({"PL0": 1, "PL1": 20, "PL2": 461, "PL3": 1261})
"""The least size of an ESSD disk by its performance level."""

DISK_LIFECYCLE: Final = frozenset(
    {
        ("Creating", "Available"),
        ("Available", "Attaching"),
        ("Attaching", "In_use"),
        ("Attaching", "Detaching"),
        ("In_use", "Detaching"),
        ("Detaching", "Available"),
        ("In_use", "ReIniting"),
        ("ReIniting", "In_use"),
        ("ReIniting", "Detaching"),
    }
)
SNAPSHOT_LIFECYCLE: Final = frozenset({("progressing", "accomplished"), ("progressing", "failed")})


@dataclass(frozen=True, slots=True)
class Disk(Resource):
    """One disk.

    Attributes:
        instance_id: What it is attached to; empty while it is Available.
        portable: Whether it can be taken off and go on alone.
        delete_with_instance: Whether it goes when its instance is released.
        delete_auto_snapshot: Whether its automatic snapshots go with it.
        attached_time: When it was last attached; 0 if never.
        guest_size_gib: What the guest sees while a bigger size waits for a restart; 0 if the same.
        filesystem_gib: How large the file system in it is; 0 if it fills what the guest sees.
        used_gib: How much of the file system is taken.
        formatted: Whether it holds a file system at all.
        content_from: The snapshot or image that its data was set back to; empty for never.
        content_time: The moment that its data was set back to; 0 for never.
        auto_snapshot_policy_id: The policy that takes its automatic snapshots; empty for none.
        hourly_cents: What its storage costs an hour if pay-as-you-go, attached or not.
    """

    kind: ClassVar[str] = "disk.disk"
    id_prefix: ClassVar[str] = "d-bp1"

    name: str = ""
    description: str = ""
    status: DiskStatus = "In_use"
    type: Literal["system", "data"] = "system"
    category: str = "cloud_essd"
    performance_level: str = "PL0"
    size_gib: int = 40
    guest_size_gib: int = 0
    filesystem_gib: int = 0
    used_gib: int = 12
    formatted: bool = True
    content_from: str = ""
    content_time: int = 0
    instance_id: str = ""
    device: str = "/dev/xvda"
    portable: bool = True
    delete_with_instance: bool = True
    delete_auto_snapshot: bool = True
    enable_auto_snapshot: bool = True
    auto_snapshot_policy_id: str = ""
    charge_type: Literal["PostPaid", "PrePaid"] = "PostPaid"
    expired_time: int = 0
    source_snapshot_id: str = ""
    image_id: str = ""
    encrypted: bool = False
    region: str = REGION
    zone: str = "cn-hangzhou-h"
    created_time: int = EPOCH - 120 * DAY
    attached_time: int = EPOCH - 120 * DAY
    detached_time: int = 0
    lock_reasons: tuple[str, ...] = ()
    hourly_cents: int = 4


@dataclass(frozen=True, slots=True)
class Snapshot(Resource):
    """One snapshot.

    Attributes:
        disk_id: The disk it was taken of, kept when that disk is gone.
        usage: What was made from it and so needs it: ``image``, ``disk``, ``image_disk``.
        size_gib: What it adds to its disk's chain.
        ready_time: When one that is still progressing will be done.
        retention_days: After how many days it goes by itself; 0 for never.
        hourly_cents: What its storage costs an hour.
    """

    kind: ClassVar[str] = "disk.snapshot"
    id_prefix: ClassVar[str] = "s-bp1"

    name: str = ""
    description: str = ""
    status: Literal["progressing", "accomplished", "failed"] = "accomplished"
    snapshot_type: Literal["user", "auto"] = "user"
    usage: Literal["none", "image", "disk", "image_disk"] = "none"
    disk_id: str = ""
    source_disk_type: Literal["system", "data"] = "system"
    source_size_gib: int = 40
    size_gib: int = 20
    retention_days: int = 0
    region: str = REGION
    encrypted: bool = False
    created_time: int = EPOCH - 30 * DAY
    ready_time: int = 0
    hourly_cents: int = 1


@dataclass(frozen=True, slots=True)
class AutoSnapshotPolicy(Resource):
    """When automatic snapshots are taken of the disks that name it.

    Attributes:
        time_points: Hours of the day in UTC+8, such as ``2``.
        repeat_weekdays: Days of the week, ``1`` for Monday.
        retention_days: How long such a snapshot is kept; -1 for as long as there is room.
    """

    kind: ClassVar[str] = "disk.policy"
    id_prefix: ClassVar[str] = "sp-bp1"

    name: str = ""
    status: Literal["Normal", "Expire"] = "Normal"
    time_points: tuple[str, ...] = ("2",)
    repeat_weekdays: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7")
    retention_days: int = 7
    cross_region: bool = False
    region: str = REGION
    created_time: int = EPOCH - 60 * DAY


def disk_rates(disk: Disk, now: int) -> tuple[tuple[str, int], ...]:
    """Storage is charged whether the disk is attached or not and whatever its instance does."""
    if disk.charge_type == "PrePaid" or "financial" in disk.lock_reasons:
        return ()
    return ((f"{disk.type} disk", disk.hourly_cents),)


def snapshot_rates(snapshot: Snapshot, now: int) -> tuple[tuple[str, int], ...]:
    """Storage is charged once the snapshot is there, even if its disk is gone."""
    if snapshot.status != "accomplished":
        return ()
    return (("snapshot storage", snapshot.hourly_cents),)
