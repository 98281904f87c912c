"""Reinstalling, upgrading, remote commands and what the customer does itself."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

import pytest
from worlds import ACCOUNT, ok, pay_in, refusal, world

from cirrus_env.cloud.services.billing.models import Order, Subscription
from cirrus_env.cloud.services.disk import Disk, Snapshot
from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.image import Image
from cirrus_env.world.clock import DAY, EPOCH, HOUR

I = "i-1"  # noqa: E741
RUNNING = Instance(I, ACCOUNT, listening=("22", "127.0.0.1:5432"))
STOPPED = replace(RUNNING, status="Stopped", os_state="halted", stopped_mode="KeepCharging")
PREPAID = replace(RUNNING, charge_type="PrePaid", expired_time=EPOCH + 15 * DAY)
SYSTEM = Disk("d-1", ACCOUNT, instance_id=I, size_gib=40, auto_snapshot_policy_id="sp-1")
MANUAL = Snapshot("s-1", ACCOUNT, disk_id="d-1")
DEBIAN, WINDOWS = "m-bp1debian12base00001", "m-bp1winserver2022base1"
PLAIN = ("ecs", "disk", "image")
WITH_BILLING = ("ecs", "disk", "image", "billing")


def instance(cloud) -> Instance:
    found = cloud.find("ecs.instance", I)
    assert isinstance(found, Instance)
    return found


def cloud_of(*records, services=PLAIN, **more):
    return world(*records, services=services, **more)


# -- reinstalling --------------------------------------------------------------------------------


def test_a_reinstalled_server_has_a_new_system_disk():
    auto = replace(MANUAL, id="s-auto", snapshot_type="auto")
    cloud = cloud_of(STOPPED, SYSTEM, MANUAL, auto)
    id = ok(cloud, "ReplaceSystemDisk", InstanceId=I, ImageId=WINDOWS,
            **{"SystemDisk.Size": 80})["DiskId"]  # fmt: skip
    assert list(cloud.records("disk.disk")) == [id]
    new = cloud.find("disk.disk", id)
    assert (new.size_gib, new.image_id, new.auto_snapshot_policy_id, new.hourly_cents) == (
        80, WINDOWS, "", 8,
    )  # fmt: skip
    assert list(cloud.records("disk.snapshot")) == ["s-1"]
    after = instance(cloud)
    assert (after.os_type, after.image_id, after.listening, after.password_reset) == (
        "windows", WINDOWS, ("3389",), True,
    )  # fmt: skip
    assert refusal(cloud, "ResetDisk", DiskId=id, SnapshotId="s-1") == (
        "InvalidParameter.Mismatch",
        403,
    )


def test_a_custom_image_and_a_world_without_disks():
    image = Image("m-bp1x", ACCOUNT, os_name="Debian 12 64-bit", size_gib=30)
    cloud = world(STOPPED, image, services=("ecs", "image"))
    ok(cloud, "ReplaceSystemDisk", InstanceId=I, ImageId="m-bp1x")
    assert instance(cloud).os_name == "Debian 12 64-bit"


UNPAID = Order("1", ACCOUNT, instance=I, status="Unpaid", amount=5, gross=5)


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ((), {}, ("InvalidInstanceId.NotFound", 404)),
        ((STOPPED,), {"ImageId": "m-x"}, ("InvalidImageId.NotFound", 404)),
        (
            (STOPPED, Image("m-bp1x", ACCOUNT, status="Creating")),
            {"ImageId": "m-bp1x"},
            ("ImageNotAvailable", 403),
        ),
        ((replace(STOPPED, lock_reasons=("security",)),), {}, ("InstanceLockedForSecurity", 403)),
        (
            (replace(STOPPED, lock_reasons=("financial",)),),
            {},
            ("InstanceExpiredOrInArrears", 403),
        ),
        ((STOPPED, UNPAID), {}, ("INST_HAS_UNPAID_ORDER", 403)),
        ((RUNNING,), {}, ("IncorrectInstanceStatus", 403)),
        (
            (STOPPED,),
            {"ImageId": WINDOWS, "SystemDisk.Size": 30},
            ("InvalidSystemDiskSize.LessThanImageSize", 403),
        ),
        ((STOPPED, SYSTEM), {"SystemDisk.Size": 30}, ("InvalidSystemDiskSize", 403)),
        ((STOPPED, SYSTEM), {"SystemDisk.Size": 4000}, ("InvalidParameter", 400)),
        ((STOPPED, replace(SYSTEM, status="ReIniting")), {}, ("IncorrectDiskStatus", 403)),
        ((STOPPED, replace(SYSTEM, lock_reasons=("financial",))), {}, ("DiskInArrears", 403)),
        (
            (STOPPED, SYSTEM, replace(MANUAL, status="progressing")),
            {},
            ("DiskCreatingSnapshot", 403),
        ),
    ],
)
def test_a_server_that_is_not_reinstalled(records, arguments, expected):
    cloud = cloud_of(*records, services=WITH_BILLING)
    given = {"InstanceId": I, "ImageId": DEBIAN, **arguments}
    assert refusal(cloud, "ReplaceSystemDisk", **given) == expected


# -- another specification -----------------------------------------------------------------------

UP = {"InstanceId": I, "InstanceType": "ecs.g7.xlarge"}
DOWN = {"InstanceId": I, "InstanceType": "ecs.c7.large", "OperatorType": "downgrade"}


@pytest.mark.parametrize("services", [PLAIN, WITH_BILLING])
def test_an_upgrade_is_paid_now_and_seen_after_a_restart_from_outside(services):
    cloud = cloud_of(PREPAID, services=services)
    before = cloud.ledger.balance(f"cash:{ACCOUNT}")
    ok(cloud, "ModifyPrepayInstanceSpec", **UP)
    # half a month of the difference between 576.00 and 288.00
    assert before - cloud.ledger.balance(f"cash:{ACCOUNT}") == 14_400
    assert (instance(cloud).cpu, instance(cloud).pending_type) == (2, "ecs.g7.xlarge")
    ok(cloud, "GuestReboot", "customer", InstanceId=I)
    assert cloud.measure("guest_processors", I) == 2
    assert refusal(cloud, "ModifyPrepayInstanceSpec", **UP)[0] == (
        "InstanceSpecModification.NotEffective"
    )
    ok(cloud, "RebootInstance", InstanceId=I)
    cloud.advance(30)
    assert (instance(cloud).cpu, instance(cloud).pending_type) == (4, "")
    assert instance(cloud).monthly_cents == 57_600
    assert ok(cloud, "GuestProcessors", "customer", InstanceId=I)["Processors"] == 4


def test_the_next_renewal_costs_what_the_new_type_does():
    subscription = Subscription(I, ACCOUNT, ends=EPOCH + 15 * DAY, monthly=28_800)
    cloud = cloud_of(PREPAID, subscription, services=WITH_BILLING)
    ok(cloud, "ModifyPrepayInstanceSpec", **UP, RebootWhenFinished=True)
    assert instance(cloud).status == "Starting"
    assert cloud.measure("renewal_price", I) == 57_600


def test_an_order_that_waits_for_its_payment_changes_nothing_yet():
    cloud = cloud_of(PREPAID, services=WITH_BILLING)
    order = ok(cloud, "ModifyPrepayInstanceSpec", **UP, AutoPay=False, RebootWhenFinished=True)
    assert (instance(cloud).pending_type, instance(cloud).status) == ("", "Running")
    assert refusal(cloud, "ModifyPrepayInstanceSpec", **UP) == ("LastOrderProcessing", 400)
    ok(cloud, "PayOrder", "customer", OrderId=order["OrderId"])
    assert instance(cloud).pending_type == "ecs.g7.xlarge"


def test_a_downgrade_needs_a_stopped_server_and_costs_nothing():
    prepaid = replace(PREPAID, status="Stopped", os_state="halted")
    cloud = cloud_of(prepaid, services=WITH_BILLING)
    before = len(cloud.ledger.postings)
    ok(cloud, "ModifyPrepayInstanceSpec", **DOWN)
    assert len(cloud.ledger.postings) == before
    ok(cloud, "StartInstance", InstanceId=I)
    assert instance(cloud).instance_type == "ecs.c7.large"


@pytest.mark.parametrize(
    ("change", "arguments", "cash", "expected"),
    [
        ({"id": "i-x"}, UP, 1, ("InvalidInstanceId.NotFound", 404)),
        ({"lock_reasons": ("security",)}, UP, 1, ("InstanceLockedForSecurity", 403)),
        ({"charge_type": "PostPaid"}, UP, 1, ("ChargeTypeViolation", 403)),
        ({"expired_time": EPOCH - HOUR}, UP, 1, ("InvalidInstance.PreInstanceExpired", 403)),
        ({}, UP, -1, ("Account.Arrearage", 400)),
        ({"lock_reasons": ("financial",)}, UP, 1, ("Account.Arrearage", 400)),
        (
            {},
            {**UP, "InstanceType": "ecs.x"},
            1,
            ("InvalidInstanceType.ValueNotSupported", 400),
        ),
        (
            {},
            {**UP, "InstanceType": "ecs.g7.large"},
            1,
            ("InvalidInstanceType.ValueNotSupported", 400),
        ),
        (
            {},
            {**UP, "OperatorType": "downgrade"},
            1,
            ("InvalidInstanceType.ValueNotSupported", 400),
        ),
        ({"sold_out": ("ecs.g7.xlarge",)}, UP, 1, ("OperationDenied.NoStock", 403)),
        ({"status": "Starting"}, UP, 1, ("IncorrectInstanceStatus", 403)),
        ({}, DOWN, 1, ("InvalidStatus.NotStopped", 400)),
        ({}, UP, 100, ("InsufficientBalance", 403)),
    ],
)
def test_a_subscription_that_keeps_its_type(change, arguments, cash, expected):
    cloud = cloud_of(replace(PREPAID, **change), services=WITH_BILLING, cash=cash)
    assert refusal(cloud, "ModifyPrepayInstanceSpec", **arguments) == expected


def test_what_the_zone_has_in_stock():
    cloud = cloud_of(replace(STOPPED, no_stock=True, sold_out=("ecs.r7.large",)))
    shown = ok(cloud, "DescribeResourcesModification", ResourceId=I)
    [zone] = shown["AvailableZones"]["AvailableZone"]
    [types] = zone["AvailableResources"]["AvailableResource"]
    sold_out = [t["Value"] for t in types["SupportedResources"]["SupportedResource"]
                if t["Status"] == "SoldOut"]  # fmt: skip
    assert sold_out == ["ecs.g7.large", "ecs.r7.large"]
    assert refusal(cloud, "ModifyInstanceSpec", InstanceId=I, InstanceType="ecs.r7.large") == (
        "OperationDenied.NoStock",
        403,
    )
    assert refusal(cloud, "DescribeResourcesModification", ResourceId="i-x")[1] == 404


def test_a_burstable_server_may_go_beyond_its_credits():
    cloud = cloud_of(replace(RUNNING, instance_type="ecs.t6-c1m1.large"))
    ok(cloud, "ModifyInstanceAttribute", InstanceId=I, CreditSpecification="Unlimited")
    [shown] = ok(cloud, "DescribeInstances")["Instances"]["Instance"]
    assert shown["CreditSpecification"] == "Unlimited"
    assert refusal(
        cloud_of(RUNNING), "ModifyInstanceAttribute", InstanceId=I, CreditSpecification="Unlimited"
    ) == ("InvalidInstanceType.NotSupport", 403)


# -- from outside --------------------------------------------------------------------------------


def test_the_screen_s_address_is_good_for_a_while():
    cloud = cloud_of(RUNNING)
    first = ok(cloud, "DescribeInstanceVncUrl", InstanceId=I)["VncUrl"]
    assert first.startswith("https://vnc.example.com/")
    assert ok(cloud, "DescribeInstanceVncUrl", InstanceId=I)["VncUrl"] == first
    cloud.advance(300)
    assert ok(cloud, "DescribeInstanceVncUrl", InstanceId=I)["VncUrl"] != first
    for change, code in (
        ({"id": "i-x"}, "InvalidInstanceId.NotFound"), ({"status": "Stopped"},
        "IncorrectInstanceStatus"), ({"lock_reasons": ("security",)}, "InstanceLockedForSecurity"),
    ):  # fmt: skip
        assert refusal(
            cloud_of(replace(RUNNING, **change)), "DescribeInstanceVncUrl", InstanceId=I
        )[0] == code  # fmt: skip


def run(cloud, command, **more):
    id = ok(cloud, "RunCommand", InstanceId=I, CommandContent=command, **more)["InvokeId"]
    [result] = ok(cloud, "DescribeInvocationResults", InvokeId=id)["Invocation"][
        "InvocationResults"
    ]["InvocationResult"]
    return (
        result["InvocationStatus"],
        result["ExitCode"],
        b64decode(result["Output"]).decode(),
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nproc", ("Success", 0, "2")),
        ("hostname", ("Success", 0, I)),
        ("uptime", ("Success", 0, "up 120 days, 0 hours")),
        ("ss -lnt", ("Success", 0, "LISTEN 0.0.0.0:22\nLISTEN 127.0.0.1:5432")),
        ("df -h", ("Success", 0, "/dev/xvda 30G")),
        ("lsblk", ("Success", 0, "/dev/xvda 40G")),
        ("rm -rf /", ("Failed", 127, "sh: rm: command not found")),
    ],
)
def test_what_a_remote_command_writes(command, expected):
    assert run(cloud_of(RUNNING, replace(SYSTEM, filesystem_gib=30)), command) == expected


def test_results_are_listed_by_instance():
    cloud = cloud_of(RUNNING)
    run(cloud, "nproc")
    run(cloud, "hostname")
    shown = ok(cloud, "DescribeInvocationResults", InstanceId=I)["Invocation"]
    assert len(shown["InvocationResults"]["InvocationResult"]) == 2
    shown = ok(cloud, "DescribeInvocationResults", InstanceId="i-x")["Invocation"]
    assert shown["InvocationResults"]["InvocationResult"] == []


@pytest.mark.parametrize(
    ("change", "more", "expected"),
    [
        ({"id": "i-x"}, {}, ("InvalidInstanceId.NotFound", 404)),
        ({"status": "Stopped"}, {}, ("IncorrectInstanceStatus", 403)),
        ({"assistant_online": False}, {}, ("ClientNotOnline", 403)),
        ({"os_state": "halted"}, {}, ("ClientNotOnline", 403)),
    ],
)
def test_a_command_that_does_not_run(change, more, expected):
    cloud = cloud_of(replace(RUNNING, **change))
    given = {"InstanceId": I, "CommandContent": "nproc", **more}
    assert refusal(cloud, "RunCommand", **given) == expected


# -- the customer itself -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "screen", "logged_in"),
    [
        ({}, "i-1 login:", True),
        ({"host_name": "web"}, "web login:", True),
        ({"status": "Stopped"}, "No signal.", False),
        ({"os_state": "halted"}, "System halted.", False),
        ({"screen": "fsck failed"}, "fsck failed", False),
    ],
)
def test_what_the_screen_shows(change, screen, logged_in):
    shown = ok(cloud_of(replace(RUNNING, **change)), "VncLogin", "customer", InstanceId=I)
    assert (shown["Screen"], shown["LoggedIn"]) == (screen, logged_in)


def test_a_restart_inside_shows_in_the_uptime_only():
    cloud = cloud_of(replace(RUNNING, password_reset=True))
    cloud.advance(100)
    ok(cloud, "GuestReboot", "customer", InstanceId=I)
    cloud.advance(5)
    assert ok(cloud, "GuestUptime", "customer", InstanceId=I)["UptimeSeconds"] == 5
    assert instance(cloud).password_reset
    assert instance(cloud).started_time == RUNNING.started_time


def test_the_customer_restarts_protects_and_sets_a_password():
    cloud = cloud_of(replace(RUNNING, deletion_protection=True))
    ok(cloud, "ConsoleResetPassword", "customer", InstanceId=I)
    assert instance(cloud).password_reset
    ok(cloud, "ConsoleRebootInstance", "customer", InstanceId=I)
    cloud.advance(30)
    assert not instance(cloud).password_reset
    ok(cloud, "ConsoleSetDeletionProtection", "customer", InstanceId=I, DeletionProtection=False)
    assert not instance(cloud).deletion_protection
    ok(cloud, "DeleteInstance", InstanceId=I, Force=True)


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("GuestReboot", {"os_state": "halted"}, ("IncorrectInstanceStatus", 403)),
        ("GuestProcessors", {"status": "Stopped"}, ("IncorrectInstanceStatus", 403)),
        ("ConsoleRebootInstance", {"status": "Stopped"}, ("IncorrectInstanceStatus", 403)),
        ("ConsoleResetPassword", {"status": "Starting"}, ("IncorrectInstanceStatus", 403)),
        ("ConsoleResetPassword", {"lock_reasons": ("security",)},
         ("InstanceLockedForSecurity", 403)),
        ("VncLogin", {"id": "i-x"}, ("InvalidInstanceId.NotFound", 404)),
        ("GuestReboot", {"id": "i-x"}, ("InvalidInstanceId.NotFound", 404)),
    ],
)  # fmt: skip
def test_what_the_customer_can_not_do(name, change, expected):
    cloud = cloud_of(replace(RUNNING, **change))
    assert refusal(cloud, name, "customer", InstanceId=I) == expected
    assert cloud_of(STOPPED).measure("guest_processors", I) == 0


def test_money_for_an_upgrade_comes_in_first():
    cloud = cloud_of(PREPAID, services=WITH_BILLING, cash=0)
    assert refusal(cloud, "ModifyPrepayInstanceSpec", **UP) == ("InsufficientBalance", 403)
    pay_in(cloud, 14_400)
    ok(cloud, "ModifyPrepayInstanceSpec", **UP)
