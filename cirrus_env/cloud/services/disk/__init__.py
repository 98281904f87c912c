"""Disks and snapshots."""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.disk import attachment, disks, snapshots
from cirrus_env.cloud.services.disk.handlers import HANDLERS
from cirrus_env.cloud.services.disk.models import (
    DISK_LIFECYCLE,
    SNAPSHOT_LIFECYCLE,
    Disk,
    Snapshot,
    disk_rates,
    snapshot_rates,
)

SERVICE: Final = Service(
    name="disk",
    kinds=(Disk, Snapshot),
    operations=(*disks.OPERATIONS, *attachment.OPERATIONS, *snapshots.OPERATIONS),
    lifecycle={Disk.kind: DISK_LIFECYCLE, Snapshot.kind: SNAPSHOT_LIFECYCLE},
    rates={Disk.kind: disk_rates, Snapshot.kind: snapshot_rates},
    handlers=HANDLERS,
    links={
        Disk.kind: Link("instance_id", "ecs.instance"),
        Snapshot.kind: Link("disk_id", Disk.kind, kept=True),
    },
)

__all__ = ["SERVICE", "Disk", "Snapshot"]
