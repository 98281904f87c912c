"""Operations on snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    id_list,
    one_of,
    overdue,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.disk import errors
from cirrus_env.cloud.services.disk.disks import DISK_ID, being_snapshot, find, of_instance
from cirrus_env.cloud.services.disk.models import (
    MANUAL_SNAPSHOTS,
    SNAPSHOT_SECONDS,
    Disk,
    Snapshot,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second


def of_disk(work: Work, disk_id: str) -> list[Snapshot]:
    """The snapshots that were taken of a disk."""
    return [s for s in work.linked(Snapshot.kind, disk_id) if isinstance(s, Snapshot)]


def shown(snapshot: Snapshot, now: int) -> dict[str, Any]:
    """A snapshot as DescribeSnapshots shows it."""
    progressing = snapshot.status == "progressing"
    left = max(0, snapshot.ready_time - now) if progressing else 0
    percent = 100 - 100 * left // SNAPSHOT_SECONDS if progressing else 100
    return {
        "SnapshotId": snapshot.id,
        "SnapshotName": snapshot.name,
        "Description": snapshot.description,
        "Status": snapshot.status,
        "Progress": f"{max(0, percent)}%",
        "RemainTime": left,
        "Available": snapshot.status == "accomplished",
        "SnapshotType": snapshot.snapshot_type,
        "Usage": snapshot.usage,
        "SourceDiskId": snapshot.disk_id,
        "SourceDiskType": snapshot.source_disk_type,
        "SourceDiskSize": str(snapshot.source_size_gib),
        "RetentionDays": snapshot.retention_days,
        "CreationTime": iso_second(snapshot.created_time),
        "RegionId": snapshot.region,
        "Encrypted": snapshot.encrypted,
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSnapshots: every filter narrows."""
    region = arguments.get("RegionId", REGION)
    disk = arguments.get("DiskId")
    found: Sequence[Snapshot]
    if "SnapshotIds" in arguments:
        ids = dict.fromkeys(id_list(arguments["SnapshotIds"], "SnapshotIds"))
        found = [s for s in (work.get(Snapshot, id) for id in ids) if s is not None]
    elif disk is not None:
        found = of_disk(work, disk)
    else:
        found = work.all(Snapshot)
    if "InstanceId" in arguments:
        disks = {d.id for d in of_instance(work, arguments["InstanceId"])}
        found = [s for s in found if s.disk_id in disks]
    status = arguments.get("Status", "all")
    type = arguments.get("SnapshotType", "all")
    usage = arguments.get("Usage")
    name = arguments.get("SnapshotName")
    matching = [
        s for s in found
        if s.region == region
        and (disk is None or s.disk_id == disk)
        and status in ("all", s.status)
        and type in ("all", s.snapshot_type)
        and (usage is None or s.usage == usage)
        and (name is None or fuzzy(name, s.name))
    ]  # fmt: skip
    items, paging = page(matching, arguments)
    return {"Snapshots": {"Snapshot": [shown(s, work.now) for s in items]}, **paging}


def usage(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSnapshotsUsage."""
    region = arguments.get("RegionId", REGION)
    sizes = [s.size_gib for s in work.all(Snapshot) if s.region == region]
    return {"SnapshotCount": len(sizes), "SnapshotSize": sum(sizes)}


def links(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSnapshotLinks: what each disk's chain takes, whatever is left of the disk."""
    region = arguments.get("RegionId", REGION)
    found = [s for s in work.all(Snapshot) if s.region == region]
    if "DiskIds" in arguments:
        ids = id_list(arguments["DiskIds"], "DiskIds")
        found = [s for s in found if s.disk_id in ids]
    if "InstanceId" in arguments:
        disks = {d.id for d in of_instance(work, arguments["InstanceId"])}
        found = [s for s in found if s.disk_id in disks]
    chains: dict[str, list[Snapshot]] = {}
    for snapshot in found:
        chains.setdefault(snapshot.disk_id, []).append(snapshot)
    items, paging = page(sorted(chains), arguments)
    shown = []
    for id in items:
        disk = work.get(Disk, id)
        shown.append(
            {
                "SnapshotLinkId": "sl-" + id.removeprefix("d-"),
                "SourceDiskId": id,
                "SourceDiskName": view(disk, "name"),
                "SourceDiskSize": chains[id][-1].source_size_gib,
                "SourceDiskType": chains[id][-1].source_disk_type,
                "InstanceId": view(disk, "instance_id"),
                "TotalCount": len(chains[id]),
                "TotalSize": sum(s.size_gib for s in chains[id]),
            }
        )
    return {"SnapshotLinks": {"SnapshotLink": shown}, **paging}


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateSnapshot: the first of a disk is full, later ones hold what changed."""
    disk = find(work, arguments["DiskId"])
    name = arguments.get("SnapshotName", "")
    if name.startswith(("auto", "http://", "https://")):
        raise CloudError("InvalidSnapshotName.Malformed", "The name may not begin like this.")
    if "financial" in disk.lock_reasons:
        raise errors.in_arrears()
    if overdue(work):
        raise CloudError(
            "InvalidAccountStatus.SnapshotServiceUnavailable",
            "The account owes money, so the snapshot service is suspended.", 403,
        )  # fmt: skip
    if disk.status == "In_use":
        instance = work.peek("ecs.instance", disk.instance_id)
        if instance is not None and "security" in view(instance, "lock_reasons"):
            raise errors.locked_for_security()
    elif disk.status != "Available":
        raise errors.wrong_status(disk.status, "In_use or Available")
    if not disk.attached_time:
        raise CloudError(
            "IncorrectDiskStatus.NeverAttached", "The disk was never attached to anything.", 403
        )
    if being_snapshot(work, disk):
        raise CloudError(
            "IncorrectDiskStatus.CreatingSnapshot", "A snapshot of it is being taken.", 403
        )
    present = of_disk(work, disk.id)
    if sum(s.snapshot_type == "user" for s in present) >= MANUAL_SNAPSHOTS:
        raise CloudError(
            "QuotaExceed.Snapshot", f"A disk has at most {MANUAL_SNAPSHOTS} manual snapshots.", 403
        )
    snapshot = take(
        work, disk, name=name, description=arguments.get("Description", ""),
        retention_days=arguments.get("RetentionDays", 0),
    )  # fmt: skip
    return {"SnapshotId": snapshot.id}


def take(work: Work, disk: Disk, **fields: Any) -> Snapshot:
    """Begin a snapshot of a disk: the first is full, later ones hold what changed."""
    size = -(-disk.size_gib // (20 if of_disk(work, disk.id) else 2))
    snapshot = Snapshot(
        id=work.new_id(Snapshot), tenant=work.tenant, disk_id=disk.id, status="progressing",
        source_disk_type=disk.type, source_size_gib=disk.size_gib, size_gib=size,
        region=disk.region, encrypted=disk.encrypted, created_time=work.now,
        ready_time=work.now + SNAPSHOT_SECONDS, hourly_cents=-(-size // 40), **fields,
    )  # fmt: skip
    work.put(snapshot)
    work.later(SNAPSHOT_SECONDS, snapshot, status="accomplished")
    return snapshot


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteSnapshot: one that is still progressing is given up."""
    snapshot = work.get(Snapshot, arguments["SnapshotId"])
    if snapshot is None:
        raise errors.snapshot_not_found(arguments["SnapshotId"])
    if snapshot.usage in ("image", "image_disk"):
        raise CloudError("SnapshotCreatedImage", "An image was made from it and needs it.", 403)
    if snapshot.usage == "disk" and not arguments.get("Force"):
        raise CloudError(
            "SnapshotCreatedDisk", "A disk was made from it; Force deletes it all the same.", 403
        )
    work.delete(snapshot)
    work.emit("disk.snapshot.released", record=snapshot)
    return {}


OPERATIONS: Final = (
    Operation(
        name="DescribeSnapshots",
        description="List snapshots with their disk, progress, type and what depends on them.",
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            SnapshotIds=text('A JSON array of up to 100 ids as text, such as ["s-bp1abc"].', 8192),
            DiskId=text("Only snapshots of this disk.", 64),
            InstanceId=text("Only snapshots of disks attached to this instance.", 64),
            Status=one_of("all", "progressing", "accomplished", "failed", default="all"),
            SnapshotType=one_of("all", "auto", "user", default="all"),
            Usage=one_of("none", "image", "disk", "image_disk"),
            SnapshotName=text("A name or a part of one.", 128),
            **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="DescribeSnapshotsUsage",
        description="How many snapshots a region holds and how many GiB they take.",
        effect="read",
        parameters=parameters((), RegionId=REGION_ID),
        run=usage,
    ),
    Operation(
        name="DescribeSnapshotLinks",
        description=(
            "List the snapshot chains of disks: how many snapshots each has and how many GiB they "
            "take together, which is what is charged."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            DiskIds=text("A JSON array of up to 100 disk ids as text.", 8192),
            InstanceId=text("Only chains of disks attached to this instance.", 64),
            **PAGING,
        ),
        run=links,
    ),
    Operation(
        name="CreateSnapshot",
        description=(
            "Take a manual snapshot of a disk. It is progressing for a while; its storage is "
            "charged by the hour until it is deleted, even when the disk is gone."
        ),
        effect="write",
        parameters=parameters(
            ("DiskId",),
            DiskId=DISK_ID,
            SnapshotName=text("The name; may not begin with auto.", 128),
            Description=text("The description.", 256),
            RetentionDays={
                "type": "integer", "minimum": 1, "maximum": 65_536,
                "description": "After how many days it goes by itself; never unless named.",
            },
            ClientToken=CLIENT_TOKEN,
        ),
        run=create,
        resource="DiskId",
        propose={
            "en": (("take", "create", "make"), ("snapshot", "backup")),
            "zh": (("创建", "打", "做"), ("快照", "备份")),
        },
    ),
    Operation(
        name="DeleteSnapshot",
        description="Delete a snapshot for good. One that an image was made from stays.",
        effect="irreversible",
        parameters=parameters(
            ("SnapshotId",),
            SnapshotId=text("The snapshot's id, such as s-bp1abc.", 64),
            Force={**FLAG, "description": "Delete it even if disks were made from it."},
            DryRun=DRY_RUN,
        ),
        run=delete,
        resource="SnapshotId",
        propose={
            "en": (("delete", "remove", "release"),),
            "zh": (("删除", "释放", "清理"),),
        },
    ),
)  # fmt: skip
