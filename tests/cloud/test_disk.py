"""Disks and snapshots: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, refusal, world

from cirrus_env.cloud.services.billing.models import Order
from cirrus_env.cloud.services.disk import Disk, Snapshot
from cirrus_env.cloud.services.disk.models import disk_rates, snapshot_rates
from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.world.clock import DAY, EPOCH

I, D, S = "i-1", "d-1", "s-1"  # noqa: E741
RUNNING = Instance(I, ACCOUNT)
STOPPED = replace(RUNNING, status="Stopped")
SYSTEM = Disk("d-0", ACCOUNT, instance_id=I)
DATA = Disk(D, ACCOUNT, type="data", size_gib=100, instance_id=I, device="/dev/xvdb",
            delete_with_instance=False, hourly_cents=10)  # fmt: skip
LOOSE = replace(DATA, status="Available", instance_id="")
TAKEN = Snapshot(S, ACCOUNT, disk_id=D, source_disk_type="data", name="before-upgrade")
AUTO = replace(TAKEN, id="s-auto", snapshot_type="auto", name="auto-1")


def disk(cloud, id=D) -> Disk:
    found = cloud.find("disk.disk", id)
    assert isinstance(found, Disk)
    return found


def listed(cloud, name, **arguments):
    result = ok(cloud, name, **arguments)
    return result["Disks"]["Disk"] if "Disks" in result else result["Snapshots"]["Snapshot"]


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["d-0", "d-1", "d-2"]),
        ({"InstanceId": "i-1"}, ["d-0", "d-1"]),
        ({"InstanceId": "i-1", "DiskIds": '["d-2", "d-1", "d-1"]'}, ["d-1"]),
        ({"DiskType": "system"}, ["d-0"]),
        ({"Status": "Available"}, ["d-2"]),
        ({"Category": "cloud_ssd"}, ["d-2"]),
        ({"DiskName": "log"}, ["d-2"]),
        ({"DiskChargeType": "PrePaid"}, []),
        ({"RegionId": "cn-beijing"}, []),
        ({"PageSize": 2, "PageNumber": 2}, ["d-2"]),
    ],
)
def test_every_filter_of_disks_narrows(filters, expected):
    cloud = world(
        RUNNING, SYSTEM, DATA,
        replace(LOOSE, id="d-2", name="logs", category="cloud_ssd"),
        replace(LOOSE, id="d-theirs", tenant=NEIGHBOUR),
    )  # fmt: skip
    assert [d["DiskId"] for d in listed(cloud, "DescribeDisks", **filters)] == expected


def test_a_disk_shows_what_happens_when_its_instance_is_released():
    cloud = world(RUNNING, SYSTEM)
    [entry] = listed(cloud, "DescribeDisks", InstanceId=I)
    assert entry["DeleteWithInstance"] is True
    assert (entry["Size"], entry["Type"], entry["Device"]) == (40, "system", "/dev/xvda")
    assert entry["DiskChargeType"] == "PostPaid"
    assert refusal(cloud, "DescribeDisks", DiskIds="d-0")[0] == "InvalidDiskIds.Malformed"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["s-1", "s-auto", "s-old"]),
        ({"DiskId": "d-1"}, ["s-1", "s-auto"]),
        ({"InstanceId": "i-1"}, ["s-1", "s-auto"]),
        ({"SnapshotIds": '["s-old"]'}, ["s-old"]),
        ({"SnapshotIds": '["s-old"]', "DiskId": "d-1"}, []),
        ({"SnapshotType": "auto"}, ["s-auto"]),
        ({"Status": "progressing"}, []),
        ({"Usage": "image"}, ["s-old"]),
        ({"SnapshotName": "upgrade"}, ["s-1"]),
        ({"RegionId": "cn-beijing"}, []),
    ],
)
def test_every_filter_of_snapshots_narrows(filters, expected):
    gone = replace(TAKEN, id="s-old", disk_id="d-gone", usage="image", name="x")
    cloud = world(RUNNING, DATA, TAKEN, AUTO, gone)
    found = listed(cloud, "DescribeSnapshots", **filters)
    assert [s["SnapshotId"] for s in found] == expected


def test_the_use_of_snapshots_is_counted():
    cloud = world(RUNNING, DATA, TAKEN, replace(AUTO, size_gib=3))
    usage = ok(cloud, "DescribeSnapshotsUsage")
    assert (usage["SnapshotCount"], usage["SnapshotSize"]) == (2, 23)


# -- resizing ------------------------------------------------------------------------------------


def test_an_offline_resize_is_seen_inside_after_a_restart():
    cloud = world(RUNNING, DATA)
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=150)
    assert (disk(cloud).size_gib, disk(cloud).guest_size_gib) == (150, 100)
    assert disk(cloud).hourly_cents == 15
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=151)
    assert disk(cloud).guest_size_gib == 100
    ok(cloud, "RebootInstance", InstanceId=I)
    cloud.advance(60)
    assert disk(cloud).guest_size_gib == 0


def test_an_online_resize_and_one_of_a_loose_disk_need_no_restart():
    cloud = world(RUNNING, DATA)
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=150, Type="online")
    assert disk(cloud).guest_size_gib == 0
    cloud = world(LOOSE)
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=101)
    assert (disk(cloud).size_gib, disk(cloud).guest_size_gib) == (101, 0)


def test_a_partition_grows_once_there_is_room_that_the_guest_sees():
    cloud = world(RUNNING, DATA)
    assert cloud.measure("filesystem_size", D) == 100
    assert refusal(cloud, "GuestGrowPartition", "customer", DiskId=D) == ("NoChange", 403)
    ok(cloud, "ResizeDisk", DiskId=D, NewSize=150)
    assert refusal(cloud, "GuestGrowPartition", "customer", DiskId=D) == ("NoChange", 403)
    ok(cloud, "RebootInstance", InstanceId=I)
    cloud.advance(60)
    assert cloud.measure("filesystem_size", D) == 100
    grown = ok(cloud, "GuestGrowPartition", "customer", DiskId=D)
    assert (grown["BeforeGiB"], grown["AfterGiB"]) == (100, 150)
    assert cloud.measure("filesystem_size", D) == 150


@pytest.mark.parametrize(
    ("type", "config", "size"),
    [
        ("ResizeDisk", "150 GiB", 150),
        ("ResizeDisk", "80 GiB", 100),
        ("ResizeDisk", "more room", 100),
        ("Renew", "150 GiB", 100),
    ],
)
def test_a_paid_order_for_more_room_enlarges_the_disk(type, config, size):
    order = Order(
        "100000000000001", ACCOUNT, order_type=type, instance=D, amount=900, config=config
    )
    cloud = world(RUNNING, DATA, order, services=("ecs", "disk", "billing"))
    ok(cloud, "PayOrder", "customer", OrderId=order.id)
    assert (disk(cloud).size_gib, disk(cloud).guest_size_gib) == (size, 0)
    assert cloud.measure("filesystem_size", D) == 100


@pytest.mark.parametrize(
    ("records", "cash", "arguments", "expected"),
    [
        ([], 1, {}, ("InvalidDiskId.NotFound", 404)),
        ([RUNNING, DATA], 1, {"NewSize": 100}, ("InvalidDiskSize.TooSmall", 403)),
        ([RUNNING, DATA], 1, {"NewSize": 1}, ("InvalidDiskSize.TooSmall", 403)),
        ([RUNNING, DATA], 1, {"NewSize": 32_769}, ("InvalidDiskSize.TooLarge", 403)),
        ([RUNNING, replace(DATA, type="system")], 1, {"NewSize": 2049},
         ("InvalidDiskSize.TooLarge", 403)),
        ([STOPPED, DATA], 1, {"Type": "online"}, ("InvalidInstanceStatus.NotRunning", 403)),
        ([RUNNING, replace(DATA, lock_reasons=("financial",))], 1, {}, ("DiskInArrears", 403)),
        ([replace(STOPPED, lock_reasons=("financial",)), DATA], 1, {},
         ("InstanceExpiredOrInArrears", 403)),
        ([RUNNING, DATA], -1, {}, ("Account.Arrearage", 400)),
        ([RUNNING, replace(DATA, status="Attaching")], 1, {}, ("IncorrectDiskStatus", 403)),
        ([RUNNING, DATA, replace(TAKEN, status="progressing")], 1, {},
         ("DiskCreatingSnapshot", 403)),
        ([RUNNING, DATA], 1, {"DryRun": True}, ("DryRunOperation", 400)),
    ],
)  # fmt: skip
def test_a_resize_is_refused(records, cash, arguments, expected):
    cloud = world(*records, cash=cash)
    assert refusal(cloud, "ResizeDisk", **{"DiskId": D, "NewSize": 200, **arguments}) == expected


# -- attaching and detaching ---------------------------------------------------------------------


def test_a_disk_is_attached_and_taken_off_again():
    cloud = world(RUNNING, SYSTEM, replace(LOOSE, device=""))
    ok(cloud, "AttachDisk", InstanceId=I, DiskId=D, DeleteWithInstance=True)
    assert disk(cloud).status == "Attaching"
    cloud.advance(10)
    after = disk(cloud)
    assert (after.status, after.instance_id, after.device) == ("In_use", I, "/dev/xvdb")
    assert (after.delete_with_instance, after.attached_time) == (True, EPOCH + 10)
    ok(cloud, "DetachDisk", InstanceId=I, DiskId=D, DeleteWithInstance=False)
    assert disk(cloud).status == "Detaching"
    assert disk(cloud).instance_id == I
    cloud.advance(60)
    after = disk(cloud)
    assert (after.status, after.instance_id, after.delete_with_instance) == ("Available", "", False)
    assert cloud.rates(after) == (("data disk", 10),)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([RUNNING], ("InvalidDiskId.NotFound", 404)),
        ([LOOSE], ("InvalidInstanceId.NotFound", 404)),
        ([RUNNING, DATA], ("InvalidDisk.InUse", 403)),
        ([RUNNING, replace(DATA, status="Detaching")], ("DiskId.StatusNotSupported", 403)),
        ([RUNNING, replace(LOOSE, zone="cn-hangzhou-i")], ("ResourcesNotInSameZone", 403)),
        ([replace(RUNNING, lock_reasons=("security",)), LOOSE],
         ("InstanceLockedForSecurity", 403)),
        ([replace(RUNNING, lock_reasons=("financial",)), LOOSE],
         ("InstanceExpiredOrInArrears", 403)),
        ([RUNNING, replace(LOOSE, lock_reasons=("financial",))], ("DiskInArrears", 403)),
        ([replace(RUNNING, status="Starting"), LOOSE], ("IncorrectInstanceStatus", 403)),
        ([RUNNING, replace(LOOSE, type="system")], ("IncorrectInstanceStatus", 403)),
        ([RUNNING, LOOSE, *(replace(DATA, id=f"d-x{n}") for n in range(17))],
         ("InstanceDiskLimitExceeded", 403)),
    ],
)  # fmt: skip
def test_an_attachment_is_refused(records, expected):
    assert refusal(world(*records), "AttachDisk", InstanceId=I, DiskId=D) == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([RUNNING], ("InvalidDiskId.NotFound", 404)),
        ([DATA], ("InvalidInstanceId.NotFound", 404)),
        ([RUNNING, LOOSE], ("IncorrectDiskStatus", 403)),
        ([RUNNING, replace(DATA, instance_id="i-2")], ("InvalidOperation.Conflict", 403)),
        ([RUNNING, replace(DATA, portable=False)], ("DiskNotPortable", 403)),
        ([RUNNING, replace(DATA, type="system")], ("IncorrectInstanceStatus", 403)),
        ([RUNNING, DATA, replace(TAKEN, status="progressing")], ("DiskCreatingSnapshot", 403)),
    ],
)
def test_a_detachment_is_refused(records, expected):
    assert refusal(world(*records), "DetachDisk", InstanceId=I, DiskId=D) == expected


# -- attributes and deletion ---------------------------------------------------------------------


def test_what_happens_at_the_release_can_be_set():
    cloud = world(RUNNING, DATA)
    ok(cloud, "ModifyDiskAttribute", DiskId=D, DiskName="n", DeleteWithInstance=True,
       DeleteAutoSnapshot=False, EnableAutoSnapshot=False, Description="d")  # fmt: skip
    after = disk(cloud)
    assert (after.name, after.description, after.delete_with_instance) == ("n", "d", True)
    assert (after.delete_auto_snapshot, after.enable_auto_snapshot) == (False, False)
    assert refusal(cloud, "ModifyDiskAttribute", DiskId=D) == ("MissingParameter", 400)
    fixed = world(RUNNING, replace(DATA, portable=False))
    arguments = {"DiskId": D, "DeleteWithInstance": False}
    assert refusal(fixed, "ModifyDiskAttribute", **arguments) == ("DiskNotPortable", 403)
    assert refusal(world(), "ModifyDiskAttribute", DiskId=D, DiskName="n")[1] == 404


def test_a_deleted_disk_takes_its_automatic_snapshots_along_but_no_manual_ones():
    cloud = world(LOOSE, TAKEN, AUTO)
    ok(cloud, "DeleteDisk", DiskId=D)
    assert cloud.find("disk.disk", D) is None
    assert cloud.find("disk.snapshot", "s-auto") is None
    manual = cloud.find("disk.snapshot", S)
    assert manual is not None
    assert cloud.rates(manual) == (("snapshot storage", 1),)
    assert cloud.dangling() == []


def test_a_disk_may_leave_its_automatic_snapshots_behind():
    cloud = world(replace(LOOSE, delete_auto_snapshot=False), AUTO)
    ok(cloud, "DeleteDisk", DiskId=D)
    assert cloud.find("disk.snapshot", "s-auto") is not None


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], ("InvalidDiskId.NotFound", 404)),
        ([RUNNING, DATA], ("DiskStillAttached", 403)),
        ([replace(LOOSE, charge_type="PrePaid")], ("ChargeTypeViolation", 403)),
        ([replace(LOOSE, status="Creating")], ("IncorrectDiskStatus", 403)),
        ([LOOSE, replace(TAKEN, status="progressing")], ("DiskCreatingSnapshot", 403)),
    ],
)
def test_a_deletion_is_refused(records, expected):
    assert refusal(world(*records), "DeleteDisk", DiskId=D) == expected


def test_a_released_instance_takes_the_disks_that_go_with_it():
    cloud = world(STOPPED, SYSTEM, DATA, TAKEN)
    ok(cloud, "DeleteInstance", InstanceId=I)
    assert cloud.find("disk.disk", "d-0") is None
    assert (disk(cloud).status, disk(cloud).instance_id) == ("Detaching", "")
    assert cloud.dangling() == []
    cloud.advance(60)
    assert disk(cloud).status == "Available"


def test_under_a_security_lock_every_disk_goes():
    cloud = world(replace(STOPPED, lock_reasons=("security",)), SYSTEM, DATA)
    ok(cloud, "DeleteInstance", InstanceId=I)
    assert dict(cloud.records("disk.disk")) == {}


# -- snapshots -----------------------------------------------------------------------------------


def test_a_snapshot_progresses_and_is_charged_once_it_is_there():
    cloud = world(RUNNING, DATA)
    id = ok(cloud, "CreateSnapshot", DiskId=D, SnapshotName="n", RetentionDays=7)["SnapshotId"]
    assert id.startswith("s-bp1")
    cloud.advance(45)
    [entry] = listed(cloud, "DescribeSnapshots", DiskId=D)
    assert (entry["Status"], entry["Progress"], entry["RemainTime"]) == ("progressing", "50%", 45)
    snapshot = cloud.find("disk.snapshot", id)
    assert isinstance(snapshot, Snapshot)
    assert cloud.rates(snapshot) == ()
    cloud.advance(45)
    [entry] = listed(cloud, "DescribeSnapshots", DiskId=D)
    assert (entry["Status"], entry["Progress"], entry["Available"]) == (
        "accomplished",
        "100%",
        True,
    )
    snapshot = cloud.find("disk.snapshot", id)
    assert isinstance(snapshot, Snapshot)
    assert cloud.rates(snapshot) == (("snapshot storage", 2),)
    assert (snapshot.size_gib, snapshot.retention_days) == (50, 7)
    second = ok(cloud, "CreateSnapshot", DiskId=D)["SnapshotId"]
    later = cloud.find("disk.snapshot", second)
    assert isinstance(later, Snapshot)
    assert later.size_gib == 5


@pytest.mark.parametrize(
    ("records", "cash", "arguments", "expected"),
    [
        ([], 1, {}, ("InvalidDiskId.NotFound", 404)),
        ([LOOSE], 1, {"SnapshotName": "auto-x"}, ("InvalidSnapshotName.Malformed", 400)),
        ([replace(LOOSE, lock_reasons=("financial",))], 1, {}, ("DiskInArrears", 403)),
        ([LOOSE], -1, {}, ("InvalidAccountStatus.SnapshotServiceUnavailable", 403)),
        ([replace(RUNNING, lock_reasons=("security",)), DATA], 1, {},
         ("InstanceLockedForSecurity", 403)),
        ([replace(LOOSE, status="Creating")], 1, {}, ("IncorrectDiskStatus", 403)),
        ([replace(LOOSE, attached_time=0)], 1, {}, ("IncorrectDiskStatus.NeverAttached", 403)),
        ([LOOSE, replace(TAKEN, status="progressing")], 1, {},
         ("IncorrectDiskStatus.CreatingSnapshot", 403)),
        ([LOOSE, *(replace(TAKEN, id=f"s-{n}") for n in range(256))], 1, {},
         ("QuotaExceed.Snapshot", 403)),
        ([LOOSE], 1, {"RetentionDays": 0}, ("InvalidParameter", 400)),
    ],
)  # fmt: skip
def test_a_snapshot_is_refused(records, cash, arguments, expected):
    cloud = world(*records, cash=cash)
    assert refusal(cloud, "CreateSnapshot", DiskId=D, **arguments) == expected


def test_a_security_lock_leaves_disks_that_are_taken_off_alone():
    cloud = world(replace(RUNNING, lock_reasons=("security",)), LOOSE)
    ok(cloud, "CreateSnapshot", DiskId=D)


@pytest.mark.parametrize(
    ("usage", "force", "expected"),
    [
        ("none", False, None),
        ("disk", True, None),
        ("disk", False, ("SnapshotCreatedDisk", 403)),
        ("image", True, ("SnapshotCreatedImage", 403)),
        ("image_disk", True, ("SnapshotCreatedImage", 403)),
    ],
)
def test_a_snapshot_that_something_needs_stays(usage, force, expected):
    cloud = world(LOOSE, replace(TAKEN, usage=usage))
    arguments = {"SnapshotId": S, "Force": force}
    if expected is None:
        ok(cloud, "DeleteSnapshot", **arguments)
        assert cloud.find("disk.snapshot", S) is None
    else:
        assert refusal(cloud, "DeleteSnapshot", **arguments) == expected


def test_a_progressing_snapshot_is_given_up_and_a_missing_one_told():
    cloud = world(RUNNING, DATA)
    id = ok(cloud, "CreateSnapshot", DiskId=D)["SnapshotId"]
    ok(cloud, "DeleteSnapshot", SnapshotId=id)
    cloud.advance(DAY)
    assert listed(cloud, "DescribeSnapshots") == []
    missing = refusal(cloud, "DeleteSnapshot", SnapshotId=id)
    assert missing == ("InvalidSnapshotId.NotFound", 404)


# -- money ---------------------------------------------------------------------------------------


def test_storage_is_charged_attached_or_not_and_not_in_arrears_or_prepaid():
    assert disk_rates(DATA, EPOCH) == disk_rates(LOOSE, EPOCH) == (("data disk", 10),)
    assert disk_rates(SYSTEM, EPOCH) == (("system disk", 4),)
    assert disk_rates(replace(DATA, charge_type="PrePaid"), EPOCH) == ()
    assert disk_rates(replace(DATA, lock_reasons=("financial",)), EPOCH) == ()
    assert snapshot_rates(replace(TAKEN, status="failed"), EPOCH) == ()


def test_arrears_lock_disks_and_payment_frees_them():
    prepaid = replace(LOOSE, id="d-pre", charge_type="PrePaid")
    cloud = world(LOOSE, prepaid, services=("ecs", "disk", "vpc", "billing"), cash=0)
    cloud.advance(17 * DAY)
    assert disk(cloud).lock_reasons == ("financial",)
    assert disk(cloud, "d-pre").lock_reasons == ()
    ok(cloud, "PayBill", "customer")
    assert disk(cloud).lock_reasons == ()
