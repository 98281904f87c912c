"""New disks, roll-back, policies and file systems: what works, and every way of refusing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, ok, refusal, world

from cirrus_env.cloud.services.billing.models import BillingAccount
from cirrus_env.cloud.services.disk import AutoSnapshotPolicy, Disk, Snapshot
from cirrus_env.cloud.services.disk.models import POLICIES
from cirrus_env.cloud.services.disk.schedule import is_due
from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.image import Image
from cirrus_env.world.clock import DAY, EPOCH, HOUR

I, D, S, P = "i-1", "d-1", "s-1", "sp-1"  # noqa: E741
STOPPED = Instance(I, ACCOUNT, status="Stopped", os_state="halted", stopped_mode="KeepCharging")
RUNNING = Instance(I, ACCOUNT)
SYSTEM = Disk(D, ACCOUNT, instance_id=I, size_gib=100, image_id="m-bp1ubuntu2204base0001")
DATA = Disk("d-2", ACCOUNT, instance_id=I, type="data", size_gib=100, device="/dev/xvdb")
SNAPSHOT = Snapshot(S, ACCOUNT, disk_id=D, source_size_gib=40, created_time=EPOCH - DAY)
POLICY = AutoSnapshotPolicy(P, ACCOUNT, name="nightly", time_points=("18",), retention_days=2)
SERVICES = ("ecs", "disk", "vpc", "image")


def cloud_of(*records, **more):
    return world(*records, services=SERVICES, **more)


def disk(cloud, id=D) -> Disk:
    found = cloud.find("disk.disk", id)
    assert isinstance(found, Disk)
    return found


# -- rolling back --------------------------------------------------------------------------------


def test_a_disk_goes_back_to_its_snapshot_and_its_server_waits():
    cloud = cloud_of(STOPPED, SYSTEM, SNAPSHOT)
    ok(cloud, "ResetDisk", DiskId=D, SnapshotId=S)
    assert disk(cloud).status == "ReIniting"
    assert refusal(cloud, "StartInstance", InstanceId=I) == ("InstanceNotReady", 500)
    assert refusal(cloud, "ResetDisk", DiskId=D, SnapshotId=S) == (
        "InvalidOperation.DiskResetInProgress",
        403,
    )
    cloud.advance(30)
    after = disk(cloud)
    assert (after.status, after.content_from, after.content_time) == ("In_use", S, EPOCH - DAY)
    assert cloud.measure("filesystem_size", D) == 40
    ok(cloud, "StartInstance", InstanceId=I)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((STOPPED, SNAPSHOT), ("InvalidDiskId.NotFound", 404)),
        ((STOPPED, SYSTEM), ("InvalidSnapshotId.NotFound", 404)),
        (
            (STOPPED, SYSTEM, replace(SNAPSHOT, disk_id="d-old")),
            ("InvalidParameter.Mismatch", 403),
        ),
        (
            (STOPPED, SYSTEM, replace(SNAPSHOT, status="progressing")),
            ("InvalidSnapshotId.NotReady", 403),
        ),
        (
            (replace(STOPPED, lock_reasons=("security",)), SYSTEM, SNAPSHOT),
            ("InstanceLockedForSecurity", 403),
        ),
        (
            (STOPPED, replace(SYSTEM, lock_reasons=("financial",)), SNAPSHOT),
            ("DiskInArrears", 403),
        ),
        ((RUNNING, SYSTEM, SNAPSHOT), ("IncorrectInstanceStatus", 403)),
        (
            (STOPPED, replace(SYSTEM, status="Available", instance_id=""), SNAPSHOT),
            ("IncorrectDiskStatus", 403),
        ),
        (
            (STOPPED, SYSTEM, SNAPSHOT, replace(SNAPSHOT, id="s-2", status="progressing")),
            ("IncorrectDiskStatus.HasUnfinishedSnapshot", 403),
        ),
    ],
)
def test_a_disk_that_is_not_rolled_back(records, expected):
    assert refusal(cloud_of(*records), "ResetDisk", DiskId=D, SnapshotId=S) == expected


def test_a_dry_run_of_a_roll_back_changes_nothing():
    cloud = cloud_of(STOPPED, SYSTEM, SNAPSHOT)
    assert refusal(cloud, "ResetDisk", DiskId=D, SnapshotId=S, DryRun=True) == (
        "DryRunOperation",
        400,
    )


def test_a_disk_goes_back_to_how_it_was_made():
    made = replace(DATA, source_snapshot_id=S, used_gib=80)
    cloud = cloud_of(STOPPED, SYSTEM, made, SNAPSHOT, replace(DATA, id="d-3", device="/dev/xvdc"))
    for id in (D, "d-2", "d-3"):
        ok(cloud, "ReInitDisk", DiskId=id)
    cloud.advance(30)
    assert (disk(cloud).content_from, disk(cloud).used_gib) == ("m-bp1ubuntu2204base0001", 3)
    assert (disk(cloud, "d-2").content_from, disk(cloud, "d-2").formatted) == (S, True)
    assert (disk(cloud, "d-3").content_from, disk(cloud, "d-3").formatted) == ("", False)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((), ("InvalidDiskId.NotFound", 404)),
        ((RUNNING, SYSTEM), ("IncorrectInstanceStatus", 403)),
        ((STOPPED, replace(SYSTEM, source_snapshot_id="s-gone")), ("OperationDenied", 403)),
        (
            (STOPPED, replace(SYSTEM, image_id="m-bp1x"),
             Image("m-bp1x", ACCOUNT, status="UnAvailable")),
            ("OperationDenied", 403),
        ),
    ],
)  # fmt: skip
def test_a_disk_that_is_not_reinitialised(records, expected):
    assert refusal(cloud_of(*records), "ReInitDisk", DiskId=D) == expected


def test_an_instance_released_while_a_disk_is_set_back_lets_it_go():
    cloud = cloud_of(STOPPED, replace(SYSTEM, delete_with_instance=False), SNAPSHOT)
    ok(cloud, "ResetDisk", DiskId=D, SnapshotId=S)
    ok(cloud, "DeleteInstance", InstanceId=I)
    cloud.advance(60)
    assert (disk(cloud).status, disk(cloud).instance_id) == ("Available", "")


# -- making --------------------------------------------------------------------------------------

ZONE = {"ZoneId": "cn-hangzhou-h"}


def test_a_new_disk_is_empty_and_waits_to_be_attached():
    cloud = cloud_of(RUNNING)
    id = ok(cloud, "CreateDisk", **ZONE, Size=20, DiskName="data")["DiskId"]
    made = disk(cloud, id)
    assert (made.status, made.formatted, made.attached_time, made.type) == (
        "Creating", False, 0, "data",
    )  # fmt: skip
    assert refusal(cloud, "CreateSnapshot", DiskId=id) == ("IncorrectDiskStatus", 403)
    cloud.advance(20)
    assert cloud.rates(disk(cloud, id)) == (("data disk", 2),)
    ok(cloud, "AttachDisk", InstanceId=I, DiskId=id)
    cloud.advance(10)
    assert (disk(cloud, id).status, disk(cloud, id).device) == ("In_use", "/dev/xvda")


def test_a_disk_from_a_snapshot_holds_its_data_in_any_zone():
    cloud = cloud_of(SNAPSHOT)
    arguments = {"ZoneId": "cn-hangzhou-i", "SnapshotId": S, "Size": 60, "ClientToken": "t"}
    id = ok(cloud, "CreateDisk", **arguments)["DiskId"]
    assert ok(cloud, "CreateDisk", **arguments)["DiskId"] == id
    made = disk(cloud, id)
    assert (made.content_from, made.formatted, made.size_gib, made.zone) == (
        S, True, 60, "cn-hangzhou-i",
    )  # fmt: skip
    assert cloud.measure("filesystem_size", id) == 40
    assert cloud.find("disk.snapshot", S).usage == "disk"
    assert refusal(cloud, "DeleteSnapshot", SnapshotId=S) == ("SnapshotCreatedDisk", 403)
    same = ok(cloud, "CreateDisk", **ZONE, SnapshotId=S)["DiskId"]
    assert (disk(cloud, same).size_gib, disk(cloud, same).filesystem_gib) == (40, 0)


@pytest.mark.parametrize(
    ("arguments", "cash", "expected"),
    [
        ({}, 100, ("MissingParameter", 400)),
        ({"Size": 20}, -1, ("InvalidAccountStatus.NotEnoughBalance", 403)),
        ({"SnapshotId": "s-x"}, 100, ("InvalidSnapshotId.NotFound", 404)),
        ({"SnapshotId": "s-new"}, 100, ("InvalidSnapshotId.NotReady", 403)),
        ({"SnapshotId": S, "Size": 30}, 100, ("InvalidDiskSize.TooSmall", 403)),
        ({"Size": 10, "PerformanceLevel": "PL1"}, 100, ("InvalidDiskSize", 403)),
        ({"Size": 10, "DiskCategory": "cloud_ssd"}, 100, ("InvalidDiskSize", 403)),
        ({"Size": 40_000}, 100, ("InvalidDiskSize", 403)),
        ({"Size": 0}, 100, ("InvalidParameter", 400)),
    ],
)
def test_a_disk_that_is_not_made(arguments, cash, expected):
    progressing = replace(SNAPSHOT, id="s-new", status="progressing")
    cloud = cloud_of(SNAPSHOT, progressing, cash=cash)
    assert refusal(cloud, "CreateDisk", **ZONE, **arguments) == expected


def test_a_performance_level_has_its_price():
    cloud = cloud_of(RUNNING, replace(DATA, size_gib=500, hourly_cents=50))
    ok(cloud, "ModifyDiskSpec", DiskId="d-2", PerformanceLevel="PL2")
    assert (disk(cloud, "d-2").performance_level, disk(cloud, "d-2").hourly_cents) == ("PL2", 200)
    ok(cloud, "ModifyDiskSpec", DiskId="d-2", PerformanceLevel="PL0")
    assert disk(cloud, "d-2").hourly_cents == 50
    ok(cloud, "ModifyDiskSpec", DiskId="d-2", DiskCategory="cloud_auto")
    assert (disk(cloud, "d-2").category, disk(cloud, "d-2").performance_level) == ("cloud_auto", "")


@pytest.mark.parametrize(
    ("change", "arguments", "cash", "expected"),
    [
        ({"id": "d-x"}, {"PerformanceLevel": "PL1"}, 1, ("InvalidDiskId.NotFound", 404)),
        ({}, {"PerformanceLevel": "PL0"}, 1, ("InvalidDiskCategory.ValueNotSupported", 400)),
        ({}, {"DiskCategory": "cloud_ssd"}, 1, ("InvalidDiskCategory.ValueNotSupported", 400)),
        (
            {},
            {"PerformanceLevel": "PL2"},
            1,
            ("OperationDenied.PerformanceLevelNotMatch", 403),
        ),
        ({}, {"PerformanceLevel": "PL1"}, -1, ("Account.Arrearage", 400)),
        ({"lock_reasons": ("financial",)}, {"PerformanceLevel": "PL1"}, 1, ("DiskInArrears", 403)),
        ({"status": "ReIniting"}, {"PerformanceLevel": "PL1"}, 1, ("IncorrectDiskStatus", 403)),
        (
            {"performance_level": "PL1", "charge_type": "PrePaid"},
            {"PerformanceLevel": "PL0"},
            1,
            ("ChargeTypeViolation", 403),
        ),
    ],
)
def test_a_specification_that_stays(change, arguments, cash, expected):
    cloud = cloud_of(RUNNING, replace(DATA, **change), cash=cash)
    assert refusal(cloud, "ModifyDiskSpec", DiskId="d-2", **arguments) == expected


def test_a_disk_keeps_its_specification_while_a_snapshot_is_taken():
    cloud = cloud_of(RUNNING, SYSTEM, replace(SNAPSHOT, status="progressing"))
    assert refusal(cloud, "ModifyDiskSpec", DiskId=D, PerformanceLevel="PL1") == (
        "DiskCreatingSnapshot",
        403,
    )


# -- chains --------------------------------------------------------------------------------------


def test_chains_of_snapshots_by_disk():
    cloud = cloud_of(
        RUNNING, SYSTEM, SNAPSHOT, replace(SNAPSHOT, id="s-2", size_gib=3),
        replace(SNAPSHOT, id="s-3", disk_id="d-gone", size_gib=7),
    )  # fmt: skip

    def chains(**given):
        shown = ok(cloud, "DescribeSnapshotLinks", **given)["SnapshotLinks"]["SnapshotLink"]
        return {c["SourceDiskId"]: (c["TotalCount"], c["TotalSize"], c["InstanceId"])
                for c in shown}  # fmt: skip

    assert chains() == {D: (2, 23, I), "d-gone": (1, 7, "")}
    assert chains(InstanceId=I) == {D: (2, 23, I)}
    assert chains(DiskIds='["d-gone"]') == {"d-gone": (1, 7, "")}
    assert chains(RegionId="cn-beijing") == {}


# -- policies ------------------------------------------------------------------------------------

WHEN = {"timePoints": '["2"]', "repeatWeekdays": '["7","1"]', "retentionDays": 7}


def policy(cloud, id=P):
    return cloud.find("disk.policy", id)


def test_a_policy_is_made_changed_listed_and_deleted():
    cloud = cloud_of(replace(SYSTEM, auto_snapshot_policy_id=P), POLICY)
    id = ok(cloud, "CreateAutoSnapshotPolicy", **WHEN, autoSnapshotPolicyName="weekly")[
        "AutoSnapshotPolicyId"
    ]
    assert id.startswith("sp-bp1")
    assert policy(cloud, id).repeat_weekdays == ("1", "7")
    ok(cloud, "ModifyAutoSnapshotPolicyEx", autoSnapshotPolicyId=id, retentionDays=-1,
       EnableCrossRegionCopy=True)  # fmt: skip
    assert (policy(cloud, id).retention_days, policy(cloud, id).cross_region) == (-1, True)
    listed = ok(cloud, "DescribeAutoSnapshotPolicyEx")["AutoSnapshotPolicies"]
    assert [
        (p["AutoSnapshotPolicyName"], p["TimePoints"], p["DiskNums"])
        for p in listed["AutoSnapshotPolicy"]
    ] == [("nightly", '["18"]', 1), ("weekly", '["2"]', 0)]
    one = ok(cloud, "DescribeAutoSnapshotPolicyEx", AutoSnapshotPolicyId=id)
    assert one["TotalCount"] == 1
    ok(cloud, "DeleteAutoSnapshotPolicy", autoSnapshotPolicyId=P)
    assert disk(cloud).auto_snapshot_policy_id == ""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"timePoints": "[]"}, ("InvalidParameter", 400)),
        ({"timePoints": '["24"]'}, ("InvalidParameter", 400)),
        ({"timePoints": "[2]"}, ("InvalidtimePoints.Malformed", 400)),
        ({"repeatWeekdays": '["0"]'}, ("InvalidParameter", 400)),
        ({"retentionDays": 0}, ("InvalidParameter", 400)),
        ({"retentionDays": -2}, ("InvalidParameter", 400)),
    ],
)
def test_a_policy_that_is_not_made(change, expected):
    assert refusal(cloud_of(), "CreateAutoSnapshotPolicy", **{**WHEN, **change}) == expected


def test_a_region_has_only_so_many_policies():
    many = [replace(POLICY, id=f"sp-{n}") for n in range(POLICIES)]
    cloud = cloud_of(*many)
    assert refusal(cloud, "CreateAutoSnapshotPolicy", **WHEN) == (
        "QuotaExceed.AutoSnapshotPolicy",
        403,
    )
    ok(cloud, "CreateAutoSnapshotPolicy", **WHEN, regionId="cn-beijing")


@pytest.mark.parametrize("name", ["ModifyAutoSnapshotPolicyEx", "DeleteAutoSnapshotPolicy"])
def test_a_policy_that_is_not_there(name):
    assert refusal(cloud_of(), name, autoSnapshotPolicyId=P) == (
        "InvalidAutoSnapshotPolicyId.NotFound",
        404,
    )


def test_a_policy_is_changed_in_something():
    cloud = cloud_of(POLICY)
    assert refusal(cloud, "ModifyAutoSnapshotPolicyEx", autoSnapshotPolicyId=P) == (
        "MissingParameter",
        400,
    )


def test_a_policy_is_applied_and_taken_off():
    cloud = cloud_of(RUNNING, replace(SYSTEM, enable_auto_snapshot=False), DATA, POLICY)
    ok(cloud, "ApplyAutoSnapshotPolicy", autoSnapshotPolicyId=P, diskIds='["d-1","d-2"]')
    assert (disk(cloud).auto_snapshot_policy_id, disk(cloud).enable_auto_snapshot) == (P, True)
    ok(cloud, "CancelAutoSnapshotPolicy", diskIds='["d-2"]')
    assert disk(cloud, "d-2").auto_snapshot_policy_id == ""
    assert refusal(cloud, "CancelAutoSnapshotPolicy", diskIds='["d-1","d-2"]') == (
        "InvalidParameter.NoPolicy",
        400,
    )
    for ids, code in (("[]", "MissingParameter"), ('["d-x"]', "InvalidDiskId.NotFound"),
                      ("d-1", "InvaliddiskIds.Malformed")):  # fmt: skip
        given = {"autoSnapshotPolicyId": P, "diskIds": ids}
        assert refusal(cloud, "ApplyAutoSnapshotPolicy", **given)[0] == code
        assert refusal(cloud, "CancelAutoSnapshotPolicy", diskIds=ids)[0] == code
    assert refusal(
        cloud, "ApplyAutoSnapshotPolicy", autoSnapshotPolicyId="sp-x", diskIds='["d-1"]'
    ) == ("InvalidAutoSnapshotPolicyId.NotFound", 404)


def test_hours_and_days_of_a_policy_are_those_of_utc_plus_8():
    # 2026-11-30 08:00 UTC is a Monday, 16:00 in UTC+8
    monday = replace(POLICY, time_points=("16",), repeat_weekdays=("1",))
    assert is_due(monday, EPOCH)
    assert not is_due(monday, EPOCH + HOUR)
    assert not is_due(replace(monday, repeat_weekdays=("2",)), EPOCH)
    tuesday = replace(monday, time_points=("0",), repeat_weekdays=("2",))
    assert is_due(tuesday, EPOCH + 8 * HOUR)


def taken(cloud, id=D):
    found = [s for s in cloud.records("disk.snapshot").values() if s.disk_id == id]
    return [s for s in found if s.snapshot_type == "auto"]


FOLLOWED = replace(SYSTEM, auto_snapshot_policy_id=P)


def test_a_policy_takes_snapshots_and_lets_old_ones_go():
    cloud = cloud_of(RUNNING, FOLLOWED, POLICY)
    cloud.advance(2 * HOUR)
    [first] = taken(cloud)
    assert (first.status, first.retention_days, first.name.startswith("auto2.0_20261130_")) == (
        "progressing", 2, True,
    )  # fmt: skip
    cloud.advance(2 * DAY)
    assert len(taken(cloud)) == 2
    assert first.id not in {s.id for s in taken(cloud)}


@pytest.mark.parametrize(
    "records",
    [
        (RUNNING, SYSTEM),
        (RUNNING, replace(FOLLOWED, enable_auto_snapshot=False)),
        (RUNNING, replace(FOLLOWED, lock_reasons=("financial",))),
        (RUNNING, replace(FOLLOWED, status="Attaching")),
        (RUNNING, replace(FOLLOWED, attached_time=0)),
        (replace(RUNNING, status="Stopping"), FOLLOWED),
        (RUNNING, FOLLOWED, replace(SNAPSHOT, status="progressing")),
        (
            RUNNING,
            FOLLOWED,
            BillingAccount(ACCOUNT, ACCOUNT, status="Overdue", overdue_since=EPOCH - DAY),
        ),
    ],
)
def test_a_policy_that_silently_takes_nothing(records):
    services = (*SERVICES, "billing")
    cloud = world(*records, POLICY, services=services, cash=-100)
    cloud.advance(2 * HOUR)
    assert taken(cloud) == []


def test_the_oldest_automatic_snapshot_makes_room(monkeypatch):
    monkeypatch.setattr("cirrus_env.cloud.services.disk.schedule.AUTO_SNAPSHOTS", 2)
    old = replace(SNAPSHOT, snapshot_type="auto")
    cloud = cloud_of(RUNNING, FOLLOWED, POLICY, old, replace(old, id="s-2", created_time=EPOCH - 9))
    cloud.advance(2 * HOUR)
    assert len(taken(cloud)) == 2
    assert S not in {s.id for s in taken(cloud)}


def test_a_snapshot_that_something_was_made_from_outlives_its_retention():
    cloud = cloud_of(
        replace(SNAPSHOT, retention_days=1),
        replace(SNAPSHOT, id="s-2", retention_days=1, usage="disk"),
    )
    cloud.advance(HOUR)
    assert list(cloud.records("disk.snapshot")) == ["s-2"]


# -- inside the guest ----------------------------------------------------------------------------


def shown(cloud):
    result = ok(cloud, "GuestDiskFree", "customer", InstanceId=I)
    sizes = {b["Name"]: b["SizeGiB"] for b in result["BlockDevices"]}
    return sizes, {f["Filesystem"]: f["SizeGiB"] for f in result["FileSystems"]}


def test_a_larger_disk_is_seen_after_a_restart_and_used_after_growing():
    cloud = cloud_of(RUNNING, replace(SYSTEM, size_gib=40, used_gib=38))
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=100)
    assert shown(cloud) == ({"/dev/xvda": 40}, {"/dev/xvda1": 40})
    assert refusal(cloud, "GuestGrowPartition", "customer", DiskId=D) == ("NoChange", 403)
    ok(cloud, "RebootInstance", InstanceId=I)
    cloud.advance(30)
    assert shown(cloud) == ({"/dev/xvda": 100}, {"/dev/xvda1": 40})
    assert cloud.measure("filesystem_free", D) == 2
    grown = ok(cloud, "GuestGrowPartition", "customer", DiskId=D)
    assert (grown["BeforeGiB"], grown["AfterGiB"]) == (40, 100)
    assert shown(cloud) == ({"/dev/xvda": 100}, {"/dev/xvda1": 100})
    assert cloud.measure("filesystem_size", D) == 100


def test_online_the_guest_sees_it_at_once():
    cloud = cloud_of(RUNNING, replace(SYSTEM, size_gib=40))
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=100, Type="online")
    assert shown(cloud) == ({"/dev/xvda": 100}, {"/dev/xvda1": 40})
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=120, Type="online")
    assert shown(cloud) == ({"/dev/xvda": 120}, {"/dev/xvda1": 40})


def test_how_full_a_file_system_is():
    cloud = cloud_of(
        RUNNING, replace(SYSTEM, size_gib=40, used_gib=38), replace(DATA, used_gib=500)
    )
    result = ok(cloud, "GuestDiskFree", "customer", InstanceId=I)
    first, second = result["FileSystems"]
    assert (first["UsedGiB"], first["AvailableGiB"], first["UsePercent"]) == (38, 2, 95)
    assert (first["MountedOn"], second["MountedOn"]) == ("/", "/mnt/xvdb")
    assert (second["UsedGiB"], second["UsePercent"]) == (100, 100)
    assert cloud.measure("filesystem_free", "d-2") == 0
    assert cloud.measure("filesystem_free", "d-x") == cloud.measure("filesystem_size", "d-x") == 0


def test_a_raw_disk_is_formatted_by_the_customer():
    cloud = cloud_of(RUNNING, SYSTEM, replace(DATA, formatted=False))
    assert shown(cloud) == ({"/dev/xvda": 100, "/dev/xvdb": 100}, {"/dev/xvda1": 100})
    assert refusal(cloud, "GuestGrowPartition", "customer", DiskId="d-2") == (
        "OperationDenied",
        403,
    )
    assert ok(cloud, "GuestFormatDisk", "customer", DiskId="d-2")["SizeGiB"] == 100
    assert disk(cloud, "d-2").formatted
    assert refusal(cloud, "GuestFormatDisk", "customer", DiskId=D) == ("OperationDenied", 403)


@pytest.mark.parametrize("name", ["GuestGrowPartition", "GuestFormatDisk"])
@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((RUNNING,), ("InvalidDiskId.NotFound", 404)),
        ((STOPPED, DATA), ("IncorrectInstanceStatus", 403)),
        ((replace(RUNNING, os_state="halted"), DATA), ("IncorrectInstanceStatus", 403)),
        ((replace(DATA, status="Available", instance_id=""),), ("IncorrectDiskStatus", 403)),
    ],
)
def test_nothing_is_done_in_a_guest_that_is_down(name, records, expected):
    assert refusal(cloud_of(*records), name, "customer", DiskId="d-2") == expected


def test_nothing_is_seen_of_a_guest_that_is_down():
    assert refusal(cloud_of(STOPPED), "GuestDiskFree", "customer", InstanceId=I) == (
        "IncorrectInstanceStatus",
        403,
    )
    assert refusal(cloud_of(), "GuestDiskFree", "customer", InstanceId=I) == (
        "InvalidInstanceId.NotFound",
        404,
    )
