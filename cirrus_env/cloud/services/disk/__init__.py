"""Disks, snapshots and the policies that take them by themselves.

Events that it tells: ``disk.disk.released`` and ``disk.snapshot.released`` (record).
"""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.disk import (
    attachment,
    content,
    creation,
    disks,
    guest,
    policies,
    snapshots,
)
from cirrus_env.cloud.services.disk.handlers import HANDLERS
from cirrus_env.cloud.services.disk.models import (
    DISK_LIFECYCLE,
    SNAPSHOT_LIFECYCLE,
    AutoSnapshotPolicy,
    Disk,
    Snapshot,
    disk_rates,
    snapshot_rates,
)

SERVICE: Final = Service(
    name="disk",
    kinds=(Disk, Snapshot, AutoSnapshotPolicy),
    operations=(
        *disks.OPERATIONS,
        *creation.OPERATIONS,
        *attachment.OPERATIONS,
        *content.OPERATIONS,
        *snapshots.OPERATIONS,
        *policies.OPERATIONS,
        *guest.OPERATIONS,
    ),
    lifecycle={Disk.kind: DISK_LIFECYCLE, Snapshot.kind: SNAPSHOT_LIFECYCLE},
    rates={Disk.kind: disk_rates, Snapshot.kind: snapshot_rates},
    measures=guest.MEASURES,
    handlers=HANDLERS,
    links={
        Disk.kind: Link("instance_id", "ecs.instance"),
        Snapshot.kind: Link("disk_id", Disk.kind, kept=True),
    },
)

__all__ = ["SERVICE", "AutoSnapshotPolicy", "Disk", "Snapshot"]
