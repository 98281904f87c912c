"""Operations on automatic snapshot policies."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    BOOLEAN,
    FLAG,
    PAGING,
    REGION,
    REGION_ID,
    id_list,
    page,
    parameters,
    text,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.disk.disks import find as find_disk
from cirrus_env.cloud.services.disk.models import POLICIES, AutoSnapshotPolicy, Disk
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.wire.jsontext import canonical
from cirrus_env.world.clock import iso_second

_HOURS: Final = tuple(str(hour) for hour in range(24))
_DAYS: Final = tuple(str(day) for day in range(1, 8))


def find(work: Work, id: str) -> AutoSnapshotPolicy:
    """The policy, or the refusal that there is none."""
    policy = work.get(AutoSnapshotPolicy, id)
    if policy is None:
        raise CloudError(
            "InvalidAutoSnapshotPolicyId.NotFound", f"This account has no policy {id}.", 404
        )
    return policy


def disks_of(work: Work, id: str) -> list[Disk]:
    """The disks that a policy takes snapshots of."""
    return [disk for disk in work.all(Disk) if disk.auto_snapshot_policy_id == id]


def _list(arguments: dict[str, Any], name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    given = set(id_list(arguments[name], name))
    if not given or not given <= set(known):
        raise CloudError(
            "InvalidParameter", f"{name}: texts from {known[0]} to {known[-1]}, at least one.", 400
        )
    return tuple(value for value in known if value in given)


def _fields(arguments: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "timePoints" in arguments:
        changes["time_points"] = _list(arguments, "timePoints", _HOURS)
    if "repeatWeekdays" in arguments:
        changes["repeat_weekdays"] = _list(arguments, "repeatWeekdays", _DAYS)
    if "retentionDays" in arguments:
        if arguments["retentionDays"] == 0:
            raise CloudError("InvalidParameter", "retentionDays: -1, or from 1 to 65535.", 400)
        changes["retention_days"] = arguments["retentionDays"]
    if "autoSnapshotPolicyName" in arguments:
        changes["name"] = arguments["autoSnapshotPolicyName"]
    if "EnableCrossRegionCopy" in arguments:
        changes["cross_region"] = arguments["EnableCrossRegionCopy"]
    return changes


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateAutoSnapshotPolicy: it does nothing until it is applied to disks."""
    fields = _fields(arguments)
    region = arguments.get("regionId", REGION)
    if sum(p.region == region for p in work.all(AutoSnapshotPolicy)) >= POLICIES:
        raise CloudError(
            "QuotaExceed.AutoSnapshotPolicy", f"A region has at most {POLICIES} policies.", 403
        )
    policy = AutoSnapshotPolicy(
        work.new_id(AutoSnapshotPolicy), work.tenant, region=region, created_time=work.now, **fields
    )
    work.put(policy)
    return {"AutoSnapshotPolicyId": policy.id}


def modify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyAutoSnapshotPolicyEx: what isn't named stays."""
    policy = find(work, arguments["autoSnapshotPolicyId"])
    changes = _fields(arguments)
    if not changes:
        raise CloudError("MissingParameter", "Name what to change.", 400)
    work.change(policy, **changes)
    return {}


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteAutoSnapshotPolicy: its disks have none from then on; their snapshots stay."""
    policy = find(work, arguments["autoSnapshotPolicyId"])
    for disk in disks_of(work, policy.id):
        work.change(disk, auto_snapshot_policy_id="")
    work.delete(policy)
    return {}


def _disks(work: Work, arguments: dict[str, Any]) -> list[Disk]:
    ids = dict.fromkeys(id_list(arguments["diskIds"], "diskIds"))
    if not ids:
        raise CloudError("MissingParameter", "diskIds names no disk.", 400)
    return [find_disk(work, id) for id in ids]


def apply(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ApplyAutoSnapshotPolicy: a disk has one policy, the last that was applied."""
    policy = find(work, arguments["autoSnapshotPolicyId"])
    for disk in _disks(work, arguments):
        work.change(disk, auto_snapshot_policy_id=policy.id, enable_auto_snapshot=True)
    return {}


def cancel(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CancelAutoSnapshotPolicy."""
    for disk in _disks(work, arguments):
        if not disk.auto_snapshot_policy_id:
            raise CloudError(
                "InvalidParameter.NoPolicy", f"No policy is applied to {disk.id}.", 400
            )
        work.change(disk, auto_snapshot_policy_id="")
    return {}


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeAutoSnapshotPolicyEx."""
    region = arguments.get("RegionId", REGION)
    wanted = arguments.get("AutoSnapshotPolicyId")
    found = [
        p for p in work.all(AutoSnapshotPolicy)
        if p.region == region and wanted in (None, p.id)
    ]  # fmt: skip
    items, paging = page(found, arguments)
    shown = [
        {
            "AutoSnapshotPolicyId": p.id,
            "AutoSnapshotPolicyName": p.name,
            "Status": p.status,
            "TimePoints": canonical(list(p.time_points)),
            "RepeatWeekdays": canonical(list(p.repeat_weekdays)),
            "RetentionDays": p.retention_days,
            "EnableCrossRegionCopy": p.cross_region,
            "DiskNums": len(disks_of(work, p.id)),
            "RegionId": p.region,
            "CreationTime": iso_second(p.created_time),
        }
        for p in items
    ]
    return {"AutoSnapshotPolicies": {"AutoSnapshotPolicy": shown}, **paging}


_POLICY_ID: Final = text("The policy's id, such as sp-bp1abc.", 64)
_DISK_IDS: Final = text('Ids such as d-bp1abc, as the text of a JSON array: ["d-bp1abc"].', 8192)
_POINTS: Final = text('Hours in UTC+8 as a JSON array of texts, such as ["2"].', 512)
_WEEKDAYS: Final = text('Days as a JSON array of texts, ["1"] for Mondays.', 128)
_RETENTION: Final = {
    "type": "integer", "minimum": -1, "maximum": 65_535,
    "description": "Days that a snapshot is kept; -1 for ever.",
}  # fmt: skip
_NAME: Final = text("The name.", 128)

OPERATIONS: Final = (
    Operation(
        name="DescribeAutoSnapshotPolicyEx",
        description=(
            "List automatic snapshot policies with their hours, days and number of disks. Which "
            "policy a disk has is in DescribeDisks."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, AutoSnapshotPolicyId=_POLICY_ID, **PAGING
        ),
        run=describe,
    ),
    Operation(
        name="CreateAutoSnapshotPolicy",
        description=(
            "Make a policy for automatic snapshots. It takes none until it is applied to disks; "
            "snapshots are charged for their storage."
        ),
        effect="write",
        parameters=parameters(
            ("timePoints", "repeatWeekdays", "retentionDays"), regionId=REGION_ID,
            timePoints=_POINTS, repeatWeekdays=_WEEKDAYS, retentionDays=_RETENTION,
            autoSnapshotPolicyName=_NAME, EnableCrossRegionCopy=FLAG,
        ),
        run=create,
        propose={
            "en": (("create", "make", "set up"), ("policy", "schedule")),
            "zh": (("创建", "新建"), ("策略",)),
        },
    ),
    Operation(
        name="ApplyAutoSnapshotPolicy",
        description=(
            "Let a policy take automatic snapshots of disks from its next hour on; it replaces a "
            "disk's earlier policy."
        ),
        effect="write",
        parameters=parameters(
            ("autoSnapshotPolicyId", "diskIds"), regionId=REGION_ID,
            autoSnapshotPolicyId=_POLICY_ID, diskIds=_DISK_IDS,
        ),
        run=apply,
        resource="autoSnapshotPolicyId",
        propose={
            "en": (("apply", "attach", "assign", "enable", "turn on", "use"), ("policy",)),
            "zh": (("应用", "启用", "设置", "绑定"), ("策略",)),
        },
    ),
    Operation(
        name="CancelAutoSnapshotPolicy",
        description="Take the policy off disks; the snapshots that it took stay.",
        effect="write",
        parameters=parameters(("diskIds",), regionId=REGION_ID, diskIds=_DISK_IDS),
        run=cancel,
        resource="diskIds",
        propose={
            "en": (("cancel", "take off", "remove", "turn off", "disable"), ("policy",)),
            "zh": (("取消", "移除", "关闭"), ("策略",)),
        },
    ),
    Operation(
        name="ModifyAutoSnapshotPolicyEx",
        description="Change a policy's hours, days, retention or name.",
        effect="write",
        parameters=parameters(
            ("autoSnapshotPolicyId",), regionId=REGION_ID, autoSnapshotPolicyId=_POLICY_ID,
            timePoints=_POINTS, repeatWeekdays=_WEEKDAYS, retentionDays=_RETENTION,
            autoSnapshotPolicyName=_NAME, EnableCrossRegionCopy=BOOLEAN,
        ),
        run=modify,
        resource="autoSnapshotPolicyId",
        propose={
            "en": (("change", "modify", "set", "adjust", "rename"), ("policy", "schedule")),
            "zh": (("修改", "调整", "设置"), ("策略",)),
        },
    ),
    Operation(
        name="DeleteAutoSnapshotPolicy",
        description="Delete a policy; its disks get no automatic snapshots from then on.",
        effect="write",
        parameters=parameters(
            ("autoSnapshotPolicyId",), regionId=REGION_ID, autoSnapshotPolicyId=_POLICY_ID
        ),
        run=delete,
        resource="autoSnapshotPolicyId",
        propose={
            "en": (("delete", "remove"), ("policy",)),
            "zh": (("删除",), ("策略",)),
        },
    ),
)  # fmt: skip
