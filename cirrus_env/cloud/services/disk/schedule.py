"""What the full hour does: automatic snapshots are taken, and those past their time go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import view
from cirrus_env.cloud.services.disk.models import (
    AUTO_SNAPSHOTS,
    AutoSnapshotPolicy,
    Disk,
    Snapshot,
)
from cirrus_env.cloud.services.disk.snapshots import of_disk, take
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import DAY, HOUR, billing_date

GRACE: Final = DAY
"""How long after the account became overdue the snapshot service goes on."""


def on_hour(work: Work, data: Mapping[str, Any]) -> None:
    """Take the snapshots that are due, and delete those whose retention is over."""
    for snapshot in work.all(Snapshot):
        ends = snapshot.created_time + snapshot.retention_days * DAY
        if snapshot.retention_days and snapshot.usage == "none" and ends <= work.now:
            work.delete(snapshot)
    due = {p.id: p for p in work.all(AutoSnapshotPolicy) if is_due(p, work.now)}
    if not due or _suspended(work):
        return
    for disk in work.all(Disk):
        policy = due.get(disk.auto_snapshot_policy_id)
        if policy is not None and _ready(work, disk):
            _take(work, disk, policy)


def is_due(policy: AutoSnapshotPolicy, now: int) -> bool:
    """Whether this full hour is one of the policy's, in UTC+8."""
    hours = now // HOUR + 8
    day = (hours // 24 + 3) % 7 + 1  # 1970-01-01 was a Thursday
    return str(hours % 24) in policy.time_points and str(day) in policy.repeat_weekdays


def _suspended(work: Work) -> bool:
    account = work.peek("billing.account", work.tenant)
    since: int = view(account, "overdue_since") or 0
    return bool(since) and work.now - since >= GRACE


def _ready(work: Work, disk: Disk) -> bool:
    """Whether a snapshot can be taken now; if it can't, this one is left out in silence."""
    if disk.status not in ("In_use", "Available") or not disk.enable_auto_snapshot:
        return False
    if "financial" in disk.lock_reasons or not disk.attached_time:
        return False
    instance = work.peek("ecs.instance", disk.instance_id) if disk.instance_id else None
    if instance is not None and view(instance, "status") not in ("Running", "Stopped"):
        return False
    return all(s.status != "progressing" for s in of_disk(work, disk.id))


def _take(work: Work, disk: Disk, policy: AutoSnapshotPolicy) -> None:
    automatic = [s for s in of_disk(work, disk.id) if s.snapshot_type == "auto"]
    if len(automatic) >= AUTO_SNAPSHOTS:
        work.delete(min(automatic, key=lambda s: (s.created_time, s.id)))
    stamp = billing_date(work.now).replace("-", "")
    take(
        work, disk, name=f"auto2.0_{stamp}_{policy.id}", snapshot_type="auto",
        retention_days=max(0, policy.retention_days),
    )  # fmt: skip
