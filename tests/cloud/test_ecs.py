"""ECS instances: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, pay_in, refusal, world

from cirrus_env.cloud.services.ecs import Instance, InstanceEvent
from cirrus_env.cloud.services.ecs.models import TYPES, rates
from cirrus_env.cloud.services.vpc import Eip
from cirrus_env.world.clock import DAY, EPOCH, HOUR

I = "i-bp1aaaaaaaaaaaaaaa"  # noqa: E741
RUNNING = Instance(I, ACCOUNT, name="web-01", public_ip="192.0.2.7", bandwidth_mbps=5)
STOPPED = replace(RUNNING, status="Stopped", stopped_mode="KeepCharging", stopped_time=EPOCH - DAY)
SUBSCRIBED = replace(RUNNING, charge_type="PrePaid", expired_time=EPOCH + 20 * DAY)
EXPIRED = replace(
    SUBSCRIBED, status="Stopped", expired_time=EPOCH - DAY, lock_reasons=("financial",),
    stopped_by="expiry",
)  # fmt: skip
OVERDUE = replace(
    STOPPED, stopped_mode="StopCharging", lock_reasons=("financial",), stopped_by="arrears"
)


def instance(cloud) -> Instance:
    found = cloud.find("ecs.instance", I)
    assert isinstance(found, Instance)
    return found


def shown(cloud, **arguments):
    return ok(cloud, "DescribeInstances", **arguments)["Instances"]["Instance"]


# -- reading -------------------------------------------------------------------------------------


def test_an_instance_shows_what_an_agent_has_to_know():
    eip = Eip("eip-1", ACCOUNT, ip_address="198.51.100.4", status="InUse", instance_id=I)
    cloud = world(replace(SUBSCRIBED, public_ip="", lock_reasons=("security",)), eip)
    [entry] = shown(cloud, InstanceIds=f'["{I}"]')
    assert entry["InstanceId"] == I
    assert entry["Status"] == "Running"
    assert entry["InstanceChargeType"] == "PrePaid"
    assert entry["ExpiredTime"] == "2026-12-20T08:00Z"
    assert entry["StoppedMode"] == "Not-applicable"
    assert entry["EipAddress"] == {
        "AllocationId": "eip-1", "IpAddress": "198.51.100.4", "Bandwidth": 5,
    }  # fmt: skip
    assert entry["PublicIpAddress"] == {"IpAddress": []}
    assert entry["OperationLocks"] == {"LockReason": [{"LockReason": "security"}]}


def test_nothing_found_is_an_empty_list_not_an_error():
    cloud = world(RUNNING, replace(RUNNING, id="i-theirs", tenant=NEIGHBOUR))
    assert shown(cloud, InstanceIds='["i-theirs", "i-none"]') == []
    assert shown(cloud, RegionId="cn-beijing") == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["i-1", "i-2", "i-3"]),
        ({"Status": "Stopped"}, ["i-2"]),
        ({"InstanceName": "web"}, ["i-1", "i-2"]),
        ({"InstanceName": "web*1"}, ["i-1"]),
        ({"InstanceName": "*b*"}, ["i-1", "i-2", "i-3"]),
        ({"InstanceName": "db*x"}, []),
        ({"InstanceName": "w*zz*1"}, []),
        ({"InstanceName": "x*"}, []),
        ({"InstanceChargeType": "PrePaid"}, ["i-3"]),
        ({"VpcId": "vpc-other"}, ["i-3"]),
        ({"PublicIpAddresses": '["192.0.2.2"]'}, ["i-2"]),
        ({"EipAddresses": '["198.51.100.4"]'}, ["i-3"]),
        ({"Status": "Running", "InstanceName": "web"}, ["i-1"]),
    ],
)
def test_every_filter_narrows(filters, expected):
    cloud = world(
        replace(RUNNING, id="i-1", name="web-01", public_ip="192.0.2.1"),
        replace(STOPPED, id="i-2", name="web-02", public_ip="192.0.2.2"),
        replace(SUBSCRIBED, id="i-3", name="db", public_ip="", vpc_id="vpc-other"),
        Eip("eip-1", ACCOUNT, ip_address="198.51.100.4", status="InUse", instance_id="i-3"),
    )
    assert [entry["InstanceId"] for entry in shown(cloud, **filters)] == expected


def test_pages_follow_each_other_by_token():
    cloud = world(*(replace(RUNNING, id=f"i-{n}") for n in range(5)))
    first = ok(cloud, "DescribeInstances", MaxResults=2)
    assert first["TotalCount"] == 5
    seen = []
    token = ""
    for _ in range(3):
        arguments = {"MaxResults": 2, "NextToken": token} if token else {"MaxResults": 2}
        result = ok(cloud, "DescribeInstances", **arguments)
        seen += [entry["InstanceId"] for entry in result["Instances"]["Instance"]]
        token = result["NextToken"]
    assert seen == [f"i-{n}" for n in range(5)]
    assert token == ""


@pytest.mark.parametrize("token", ["0", "9", "x", "-1", "１", "5" * 60])
def test_a_page_that_was_never_given_is_refused(token):
    cloud = world(RUNNING)
    assert refusal(cloud, "DescribeInstances", NextToken=token) == ("InvalidParameter", 400)


@pytest.mark.parametrize("ids", ["i-1", "[1]", "{}", "[", '["a", null]', "NaN", '"i-1"'])
def test_ids_are_a_json_array_as_text(ids):
    cloud = world(RUNNING)
    assert refusal(cloud, "DescribeInstances", InstanceIds=ids) == (
        "InvalidInstanceIds.Malformed", 400,
    )  # fmt: skip


def test_at_most_a_hundred_ids():
    ids = "[" + ",".join(f'"i-{n}"' for n in range(101)) + "]"
    assert refusal(world(RUNNING), "DescribeInstances", InstanceIds=ids)[0] == (
        "InvalidInstanceIds.Malformed"
    )


# -- power ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "mode", "expected", "hourly"),
    [
        (RUNNING, None, "KeepCharging", 60),
        (RUNNING, "KeepCharging", "KeepCharging", 60),
        (RUNNING, "StopCharging", "StopCharging", 0),
        (replace(RUNNING, network="classic"), "StopCharging", "KeepCharging", 60),
        (replace(RUNNING, local_disks=True), "StopCharging", "KeepCharging", 60),
        (SUBSCRIBED, "StopCharging", "Not-applicable", 0),
    ],
)
def test_a_stop_passes_through_stopping_and_only_an_economical_one_saves(
    record, mode, expected, hourly
):
    cloud = world(record)
    arguments = {"StoppedMode": mode} if mode else {}
    ok(cloud, "StopInstance", InstanceId=I, **arguments)
    assert instance(cloud).status == "Stopping"
    cloud.advance(19)
    assert instance(cloud).status == "Stopping"
    cloud.advance(1)
    after = instance(cloud)
    assert (after.status, after.stopped_mode, after.os_state) == ("Stopped", expected, "halted")
    assert after.stopped_time == EPOCH + 20
    assert sum(cents for _, cents in cloud.rates(after)) == hourly


def test_an_economical_stop_gives_the_public_address_up_and_a_start_brings_another():
    cloud = world(RUNNING)
    ok(cloud, "StopInstance", InstanceId=I, StoppedMode="StopCharging")
    cloud.advance(60)
    assert instance(cloud).public_ip == ""
    ok(cloud, "StartInstance", InstanceId=I)
    cloud.advance(60)
    after = instance(cloud)
    assert after.status == "Running"
    assert after.public_ip.startswith(("192.0.2.", "198.51.100.", "203.0.113."))
    assert after.public_ip != "192.0.2.7"


def test_a_guest_that_is_shut_down_inside_is_still_running_and_charged():
    cloud = world(RUNNING)
    ok(cloud, "GuestShutdown", "customer", InstanceId=I)
    after = instance(cloud)
    assert (after.status, after.os_state) == ("Running", "halted")
    assert cloud.rates(after) == (("compute", 60),)
    assert ok(cloud, "GuestUptime", "customer", InstanceId=I)["Reachable"] is False
    ok(cloud, "StopInstance", InstanceId=I, StoppedMode="StopCharging")
    cloud.advance(60)
    assert cloud.rates(instance(cloud)) == ()


def test_the_customer_may_use_the_console_and_look_inside():
    cloud = world(RUNNING)
    uptime = ok(cloud, "GuestUptime", "customer", InstanceId=I)
    assert uptime["UptimeSeconds"] == 120 * DAY
    ok(cloud, "ConsoleStopInstance", "customer", InstanceId=I)
    cloud.advance(60)
    assert refusal(cloud, "GuestShutdown", "customer", InstanceId=I)[0] == "IncorrectInstanceStatus"
    ok(cloud, "ConsoleStartInstance", "customer", InstanceId=I)
    cloud.advance(60)
    assert instance(cloud).status == "Running"


def test_the_tools_and_the_console_are_for_their_own_actor():
    cloud = world(RUNNING)
    assert refusal(cloud, "StopInstance", "customer", InstanceId=I)[0] == "InvalidAction.NotFound"
    assert refusal(cloud, "GuestShutdown", InstanceId=I)[0] == "InvalidAction.NotFound"


def test_a_restart_wakes_a_halted_guest_and_brings_a_waiting_upgrade():
    cloud = world(replace(SUBSCRIBED, os_state="halted", pending_type="ecs.g7.xlarge"))
    ok(cloud, "RebootInstance", InstanceId=I)
    assert instance(cloud).status == "Starting"
    cloud.advance(30)
    after = instance(cloud)
    assert (after.status, after.os_state, after.cpu) == ("Running", "running", 4)
    assert (after.instance_type, after.pending_type) == ("ecs.g7.xlarge", "")
    assert after.started_time == EPOCH + 30


START = "StartInstance"
STOP = "StopInstance"
REBOOT = "RebootInstance"


@pytest.mark.parametrize(
    ("name", "record", "cash", "expected"),
    [
        (START, RUNNING, 1, ("IncorrectInstanceStatus", 403)),
        (START, replace(STOPPED, status="Starting"), 1, ("IncorrectInstanceStatus", 403)),
        (START, replace(STOPPED, status="Pending"), 1, ("IncorrectInstanceStatus", 403)),
        (START, replace(RUNNING, lock_reasons=("security",)), 1,
         ("InstanceLockedForSecurity", 403)),
        (START, EXPIRED, 1, ("InstanceExpired", 403)),
        (START, OVERDUE, -1, ("InsufficientBalance", 403)),
        (START, STOPPED, -1, ("InsufficientBalance", 403)),
        (START, replace(STOPPED, stopped_mode="StopCharging", no_stock=True), 1,
         ("OperationDenied.NoStock", 403)),
        (STOP, STOPPED, 1, ("IncorrectInstanceStatus", 403)),
        (STOP, replace(RUNNING, status="Stopping"), 1, ("IncorrectInstanceStatus", 403)),
        (STOP, OVERDUE, -1, ("InstanceExpiredOrInArrears", 403)),
        (STOP, replace(RUNNING, lock_reasons=("financial",)), -1,
         ("InstanceExpiredOrInArrears", 403)),
        (REBOOT, STOPPED, 1, ("IncorrectInstanceStatus", 403)),
        (REBOOT, replace(STOPPED, lock_reasons=("security",)), 1,
         ("InstanceLockedForSecurity", 403)),
        (REBOOT, EXPIRED, 1, ("InstanceExpiredOrInArrears", 403)),
    ],
)  # fmt: skip
def test_power_is_refused_by_lock_before_status(name, record, cash, expected):
    assert refusal(world(record, cash=cash), name, InstanceId=I) == expected


@pytest.mark.parametrize(
    "name",
    [
        "StartInstance", "StopInstance", "RebootInstance", "ModifyInstanceAttribute",
        "ModifyInstanceSpec", "RenewInstance", "ModifyInstanceAutoRenewAttribute",
        "DeleteInstance", "ReActivateInstances", "GetInstanceConsoleOutput",
    ],
)  # fmt: skip
def test_a_neighbours_instance_does_not_exist(name):
    cloud = world(replace(RUNNING, id="i-theirs", tenant=NEIGHBOUR))
    extra = {"RenewalStatus": "Normal"} if "AutoRenew" in name else {}
    assert refusal(cloud, name, InstanceId="i-theirs", **extra) == (
        "InvalidInstanceId.NotFound", 404,
    )  # fmt: skip


def test_a_security_lock_does_not_stop_a_stop():
    cloud = world(replace(RUNNING, lock_reasons=("security",)))
    ok(cloud, "StopInstance", InstanceId=I)
    assert instance(cloud).status == "Stopping"


def test_a_dry_run_succeeds_as_an_error_and_changes_nothing():
    cloud = world(RUNNING)
    assert refusal(cloud, "StopInstance", InstanceId=I, DryRun=True) == ("DryRunOperation", 400)
    assert refusal(cloud, "StartInstance", InstanceId=I, DryRun=True) == (
        "IncorrectInstanceStatus", 403,
    )  # fmt: skip


def test_a_start_after_the_type_without_stock_was_left_works():
    cloud = world(replace(STOPPED, stopped_mode="StopCharging", no_stock=True))
    ok(cloud, "ModifyInstanceSpec", InstanceId=I, InstanceType="ecs.c7.large")
    ok(cloud, "StartInstance", InstanceId=I)


# -- attributes, type, release -------------------------------------------------------------------


def test_attributes_change_and_a_password_waits_for_a_restart():
    cloud = world(RUNNING)
    ok(
        cloud, "ModifyInstanceAttribute", InstanceId=I, InstanceName="new", HostName="host",
        Description="d", DeletionProtection=True, SecurityGroupIds=["sg-1", "sg-1", "sg-2"],
        Password="Abcdef12",
    )  # fmt: skip
    after = instance(cloud)
    assert (after.name, after.host_name, after.description) == ("new", "host", "d")
    assert after.security_groups == ("sg-1", "sg-2")
    assert after.deletion_protection
    assert after.password_reset
    assert "Abcdef12" not in str(cloud.dump())
    ok(cloud, "RebootInstance", InstanceId=I)
    cloud.advance(60)
    assert not instance(cloud).password_reset


@pytest.mark.parametrize(
    "password", ["short1A", "a" * 31, "abcdefgh", "abcdefg1", "密码密码密码密码"]
)
def test_a_weak_password_is_refused(password):
    assert refusal(world(RUNNING), "ModifyInstanceAttribute", InstanceId=I, Password=password) == (
        "InvalidPassword.Malformed", 400,
    )  # fmt: skip


def test_attributes_refuse_nothing_to_change_and_a_password_while_starting():
    assert refusal(world(RUNNING), "ModifyInstanceAttribute", InstanceId=I) == (
        "MissingParameter", 400,
    )  # fmt: skip
    starting = world(replace(RUNNING, status="Starting"))
    assert refusal(starting, "ModifyInstanceAttribute", InstanceId=I, Password="Abcdef12") == (
        "IncorrectInstanceStatus", 403,
    )  # fmt: skip


def test_a_new_type_brings_its_size_and_price():
    cloud = world(STOPPED)
    ok(cloud, "ModifyInstanceSpec", InstanceId=I, InstanceType="ecs.c7.xlarge")
    after = instance(cloud)
    assert (after.cpu, after.memory_mib, after.hourly_cents) == (4, 8192, 96)
    ok(cloud, "ModifyInstanceSpec", InstanceId=I, InternetMaxBandwidthOut=50)
    assert instance(cloud).bandwidth_mbps == 50


@pytest.mark.parametrize(
    ("record", "cash", "arguments", "expected"),
    [
        (RUNNING, 1, {"InstanceType": "ecs.c7.large"}, ("InvalidInstanceStatus.NotStopped", 400)),
        (STOPPED, 1, {"InstanceType": "ecs.g7.large"},
         ("InvalidInstanceType.ValueNotSupported", 400)),
        (STOPPED, 1, {"InstanceType": "ecs.x"}, ("InvalidInstanceType.ValueNotSupported", 400)),
        (STOPPED, 1, {}, ("MissingParameter", 400)),
        (STOPPED, 1, {"InstanceType": "ecs.c7.large", "InternetMaxBandwidthOut": 5},
         ("InvalidParameter.Mismatch", 400)),
        (STOPPED, -1, {"InstanceType": "ecs.c7.large"}, ("Account.Arrearage", 400)),
        (OVERDUE, 1, {"InstanceType": "ecs.c7.large"}, ("Account.Arrearage", 400)),
        (SUBSCRIBED, 1, {"InstanceType": "ecs.c7.large"}, ("ChargeTypeViolation", 403)),
        (replace(STOPPED, local_disks=True), 1, {"InstanceType": "ecs.c7.large"},
         ("CategoryViolation", 403)),
        (replace(STOPPED, lock_reasons=("security",)), 1, {"InstanceType": "ecs.c7.large"},
         ("InstanceLockedForSecurity", 403)),
        (replace(STOPPED, status="Starting"), 1, {"InternetMaxBandwidthOut": 5},
         ("IncorrectInstanceStatus", 403)),
    ],
)  # fmt: skip
def test_a_change_of_type_or_bandwidth_is_refused(record, cash, arguments, expected):
    cloud = world(record, cash=cash)
    assert refusal(cloud, "ModifyInstanceSpec", InstanceId=I, **arguments) == expected


@pytest.mark.parametrize(
    ("record", "arguments"),
    [
        (STOPPED, {}),
        (RUNNING, {"Force": True}),
        (EXPIRED, {"TerminateSubscription": True}),
        (replace(STOPPED, lock_reasons=("security",)), {}),
        (OVERDUE, {}),
    ],
)
def test_a_release_is_for_good(record, arguments):
    cloud = world(record)
    ok(cloud, "DeleteInstance", InstanceId=I, **arguments)
    assert cloud.find("ecs.instance", I) is None
    cloud.advance(DAY)
    assert shown(cloud) == []


@pytest.mark.parametrize(
    ("record", "arguments", "expected"),
    [
        (RUNNING, {}, ("IncorrectInstanceStatus", 403)),
        (replace(RUNNING, status="Stopping"), {"Force": True}, ("IncorrectInstanceStatus", 403)),
        (replace(RUNNING, status="Pending"), {}, ("IncorrectInstanceStatus.Initializing", 403)),
        (replace(STOPPED, deletion_protection=True), {},
         ("InvalidOperation.DeletionProtection", 403)),
        (SUBSCRIBED, {"Force": True, "TerminateSubscription": True}, ("ChargeTypeViolation", 403)),
        (EXPIRED, {}, ("ChargeTypeViolation", 403)),
    ],
)  # fmt: skip
def test_a_release_is_refused(record, arguments, expected):
    assert refusal(world(record), "DeleteInstance", InstanceId=I, **arguments) == expected


# -- paying --------------------------------------------------------------------------------------


def test_prices_are_told_before_anything_is_bought():
    cloud = world(SUBSCRIBED)
    price = ok(cloud, "DescribePrice", InstanceType="ecs.g7.xlarge")["PriceInfo"]["Price"]
    assert (price["TradePrice"], price["Currency"]) == ("1.20", "USD")
    price = ok(cloud, "DescribePrice", InstanceType="ecs.g7.xlarge", PriceUnit="Month", Period=2)
    assert price["PriceInfo"]["Price"]["TradePrice"] == "1152.00"
    renewal = ok(cloud, "DescribeRenewalPrice", ResourceId=I, Period=1, PriceUnit="Year")
    assert renewal["PriceInfo"]["Price"]["TradePrice"] == "3456.00"
    assert refusal(cloud, "DescribePrice", InstanceType="x")[0] == (
        "InvalidInstanceType.ValueNotSupported"
    )
    assert refusal(world(RUNNING), "DescribeRenewalPrice", ResourceId=I)[0] == "ChargeTypeViolation"


def test_a_renewal_goes_on_from_the_old_end_and_is_paid():
    cloud = world(SUBSCRIBED)
    order = ok(cloud, "RenewInstance", InstanceId=I, Period=2)["OrderId"]
    assert order.isdigit()
    assert len(order) == 15
    assert instance(cloud).expired_time == EPOCH + 80 * DAY
    assert cloud.ledger.balance(f"cash:{ACCOUNT}") == 100_000 - 57_600
    assert cloud.ledger.balance("provider") == 57_600


def test_a_renewal_after_the_end_brings_the_instance_back():
    cloud = world(EXPIRED)
    ok(cloud, "RenewInstance", InstanceId=I)
    assert instance(cloud).status == "Starting"
    cloud.advance(60)
    after = instance(cloud)
    assert (after.status, after.lock_reasons, after.stopped_by) == ("Running", (), "")
    assert after.expired_time == EPOCH + 30 * DAY


@pytest.mark.parametrize(
    ("record", "cash", "arguments", "expected"),
    [
        (RUNNING, 1, {}, ("ChargeTypeViolation", 403)),
        (SUBSCRIBED, 28_799, {}, ("InsufficientBalance", 403)),
        (replace(SUBSCRIBED, pending_type="ecs.g7.xlarge"), 1,
         {}, ("InstanceSpecModification.NotEffective", 403)),
        (SUBSCRIBED, 1, {"Period": 6, "PeriodUnit": "Year"},
         ("InvalidPeriod.ExceededMaximumExpirationDate", 400)),
        (SUBSCRIBED, 1, {"Period": 10}, ("InvalidParameter", 400)),
        (SUBSCRIBED, 1, {"Period": "1"}, ("InvalidParameter", 400)),
    ],
)  # fmt: skip
def test_a_renewal_is_refused(record, cash, arguments, expected):
    cloud = world(record, cash=cash)
    assert refusal(cloud, "RenewInstance", InstanceId=I, **arguments) == expected


def test_automatic_renewal_is_set_and_its_status_wins_over_the_flag():
    cloud = world(SUBSCRIBED)
    name = "ModifyInstanceAutoRenewAttribute"
    ok(cloud, name, InstanceId=I, AutoRenew=True, Duration=3)
    assert (instance(cloud).renewal_status, instance(cloud).renewal_duration) == ("AutoRenewal", 3)
    ok(cloud, name, InstanceId=I, AutoRenew=True, RenewalStatus="NotRenewal", PeriodUnit="Year")
    assert (instance(cloud).renewal_status, instance(cloud).renewal_unit) == ("NotRenewal", "Year")
    ok(cloud, name, InstanceId=I, AutoRenew=False)
    assert instance(cloud).renewal_status == "Normal"
    assert refusal(cloud, name, InstanceId=I)[0] == "MissingParameter"
    assert refusal(world(RUNNING), name, InstanceId=I, AutoRenew=True)[0] == "ChargeTypeViolation"
    assert refusal(world(EXPIRED), name, InstanceId=I, AutoRenew=True)[0] == "InstanceExpired"


def test_the_way_of_paying_changes_in_both_directions():
    cloud = world(STOPPED)
    name = "ModifyInstanceChargeType"
    result = ok(cloud, name, InstanceIds=f'["{I}"]', InstanceChargeType="PrePaid", Period=3)
    assert result["FeeOfInstances"]["FeeOfInstance"] == [{"InstanceId": I, "Fee": "864.00"}]
    after = instance(cloud)
    assert (after.charge_type, after.expired_time) == ("PrePaid", EPOCH + 90 * DAY)
    assert cloud.rates(after) == ()
    cloud.advance(30 * DAY)
    result = ok(cloud, name, InstanceIds=f'["{I}"]', InstanceChargeType="PostPaid")
    assert result["FeeOfInstances"]["FeeOfInstance"] == [{"InstanceId": I, "Fee": "-576.00"}]
    after = instance(cloud)
    assert (after.charge_type, after.stopped_mode) == ("PostPaid", "KeepCharging")
    assert cloud.rates(after) == (("compute", 60),)
    assert cloud.ledger.total() == 0


def test_no_more_goes_back_than_was_paid():
    cloud = world(SUBSCRIBED)
    arguments = {"InstanceIds": f'["{I}"]', "InstanceChargeType": "PostPaid"}
    result = ok(cloud, "ModifyInstanceChargeType", **arguments)
    assert result["FeeOfInstances"]["FeeOfInstance"] == [{"InstanceId": I, "Fee": "0.00"}]
    assert cloud.ledger.balance(f"cash:{ACCOUNT}") == 100_000


@pytest.mark.parametrize(
    ("record", "cash", "target", "expected"),
    [
        (RUNNING, 1, "PostPaid", "ChargeTypeViolation"),
        (SUBSCRIBED, 1, "PrePaid", "ChargeTypeViolation"),
        (EXPIRED, 1, "PostPaid", "ExpiredInstance"),
        (RUNNING, -1, "PrePaid", "Account.Arrearage"),
        (RUNNING, 1, "PrePaid", "InsufficientBalance"),
        (OVERDUE, 1, "PrePaid", "Account.Arrearage"),
        (replace(RUNNING, status="Starting"), 1, "PrePaid", "IncorrectInstanceStatus"),
        (replace(RUNNING, lock_reasons=("security",)), 1, "PrePaid", "InstanceLockedForSecurity"),
        (replace(RUNNING, auto_release_time=EPOCH + DAY), 1, "PrePaid", "ReleaseTimeHaveBeenSet"),
        (replace(SUBSCRIBED, expired_time=EPOCH + 200 * DAY), 1, "PostPaid",
         "QuotaExceed.RufundVcpu"),
    ],
)  # fmt: skip
def test_a_change_of_the_way_of_paying_is_refused(record, cash, target, expected):
    cloud = world(record, cash=cash)
    arguments = {"InstanceIds": f'["{I}"]', "InstanceChargeType": target}
    assert refusal(cloud, "ModifyInstanceChargeType", **arguments)[0] == expected


def test_a_change_of_the_way_of_paying_needs_instances_and_pays_all_or_none():
    cloud = world(RUNNING, replace(RUNNING, id="i-2"), cash=30_000)
    name = "ModifyInstanceChargeType"
    assert refusal(cloud, name, InstanceIds="[]", InstanceChargeType="PrePaid")[0] == (
        "MissingParameter"
    )
    both = f'["{I}", "i-2"]'
    assert refusal(cloud, name, InstanceIds=both, InstanceChargeType="PrePaid")[0] == (
        "InsufficientBalance"
    )


def test_reactivation_by_hand_is_for_paid_up_arrears_only():
    cloud = world(OVERDUE, cash=0)
    ok(cloud, "ReActivateInstances", InstanceId=I)
    assert instance(cloud).status == "Starting"
    assert instance(cloud).lock_reasons == ()
    cases = [
        (OVERDUE, -1, ("ReopenInstance.InstanceNotEnoughBalance", 400)),
        (RUNNING, 1, ("ReopenInstance.InstanceStatusNotValid", 400)),
        (STOPPED, 1, ("ReopenInstance.InstanceStatusNotValid", 400)),
        (EXPIRED, 1, ("InvalidPayType.NotSupport", 404)),
        (replace(OVERDUE, no_stock=True), 1, ("OperationDenied.NoStock", 403)),
        (replace(OVERDUE, lock_reasons=("security",)), 1, ("InstanceLockedForSecurity", 403)),
    ]
    for record, cash, expected in cases:
        assert refusal(world(record, cash=cash), "ReActivateInstances", InstanceId=I) == expected


# -- arrears and expiry, with billing ------------------------------------------------------------

WITH_BILLING = ("ecs", "disk", "vpc", "billing")


def test_arrears_stop_an_instance_after_fifteen_days_and_payment_brings_it_back():
    cloud = world(RUNNING, replace(STOPPED, id="i-off"), services=WITH_BILLING, cash=0)
    cloud.advance(14 * DAY)
    assert instance(cloud).status == "Running"
    cloud.advance(2 * DAY)
    after = instance(cloud)
    assert (after.status, after.stopped_by) == ("Stopped", "arrears")
    assert after.lock_reasons == ("financial",)
    owed = cloud.ledger.balance(f"cash:{ACCOUNT}")
    cloud.advance(DAY)
    assert cloud.ledger.balance(f"cash:{ACCOUNT}") == owed
    [event] = ok(cloud, "DescribeInstanceHistoryEvents", InstanceId=I)["InstanceSystemEventSet"][
        "InstanceSystemEventType"
    ]
    assert event["EventType"] == {"Name": "AccountUnbalanced.Stop"}
    assert refusal(cloud, "StartInstance", InstanceId=I)[0] == "InsufficientBalance"
    ok(cloud, "PayBill", "customer")
    assert instance(cloud).status == "Starting"
    cloud.advance(60)
    assert instance(cloud).status == "Running"
    off = cloud.find("ecs.instance", "i-off")
    assert isinstance(off, Instance)
    assert (off.status, off.lock_reasons) == ("Stopped", ())


def test_an_instance_that_is_locked_while_it_starts_does_not_stay_up():
    for record, why in ((STOPPED, "arrears"), (SUBSCRIBED, "expiry")):
        cloud = world(replace(record, status="Stopped"))
        ok(cloud, "StartInstance", InstanceId=I)
        cloud.insert(replace(instance(cloud), lock_reasons=("financial",)))
        cloud.advance(30)
        assert (instance(cloud).status, instance(cloud).stopped_by) == ("Stopping", why)
        cloud.advance(20)
        assert (instance(cloud).status, instance(cloud).lock_reasons) == ("Stopped", ("financial",))


def test_an_instance_that_is_paid_for_while_it_stops_comes_back():
    cloud = world(RUNNING, services=WITH_BILLING, cash=0)
    cloud.advance(HOUR + 15 * DAY)
    assert (instance(cloud).status, instance(cloud).stopped_by) == ("Stopping", "arrears")
    ok(cloud, "PayBill", "customer")
    assert (instance(cloud).status, instance(cloud).lock_reasons) == ("Stopping", ())
    cloud.advance(20)
    assert instance(cloud).status == "Starting"
    cloud.advance(30)
    assert instance(cloud).status == "Running"


@pytest.mark.parametrize(("at_once", "status"), [("1", None), ("0", "Stopping")])
def test_an_instance_that_is_given_back_goes_at_once_or_is_stopped_first(at_once, status):
    cloud = world(RUNNING, services=WITH_BILLING)
    arguments = {"InstanceIds": f'["{I}"]', "InstanceChargeType": "PrePaid"}
    ok(cloud, "ModifyInstanceChargeType", **arguments)
    ok(
        cloud, "RefundInstance", ProductCode="ecs", InstanceId=I, ImmediatelyRelease=at_once
    )  # fmt: skip
    found = cloud.find("ecs.instance", I)
    if status is None:
        assert found is None
    else:
        assert isinstance(found, Instance)
        assert (found.status, found.lock_reasons) == (status, ("refunded",))
        assert refusal(cloud, "RebootInstance", InstanceId=I)[0] == "IncorrectInstanceStatus"


def test_a_paid_upgrade_waits_for_the_next_restart():
    from cirrus_env.cloud.services.billing.models import Order

    order = Order("1", ACCOUNT, order_type="Upgrade", instance=I, config="ecs.g7.xlarge")
    cloud = world(SUBSCRIBED, order, services=WITH_BILLING)
    ok(cloud, "PayOrder", "customer", OrderId="1")
    assert (instance(cloud).instance_type, instance(cloud).pending_type) == (
        "ecs.g7.large", "ecs.g7.xlarge",
    )  # fmt: skip
    ok(cloud, "RebootInstance", InstanceId=I)
    assert instance(cloud).cpu == 4


def test_a_subscription_runs_on_through_arrears_and_stops_at_its_end():
    cloud = world(SUBSCRIBED, replace(RUNNING, id="i-2"), services=WITH_BILLING, cash=0)
    cloud.advance(16 * DAY)
    assert instance(cloud).status == "Running"
    cloud.advance(5 * DAY)
    after = instance(cloud)
    assert (after.status, after.stopped_by, after.stopped_mode) == (
        "Stopped", "expiry", "Not-applicable",
    )  # fmt: skip
    cloud.advance(15 * DAY)
    assert cloud.find("ecs.instance", I) is None


def test_billing_sells_renewals_and_conversions():
    cloud = world(SUBSCRIBED, replace(RUNNING, id="i-2"), services=WITH_BILLING)
    order = ok(cloud, "RenewInstance", InstanceId=I)["OrderId"]
    assert instance(cloud).expired_time == EPOCH + 50 * DAY
    detail = ok(cloud, "GetOrderDetail", OrderId=order)["Data"]["OrderList"]["Order"][0]
    assert (detail["OrderType"], detail["PaymentStatus"]) == ("Renew", "Paid")
    arguments = {"InstanceIds": '["i-2"]', "InstanceChargeType": "PrePaid"}
    order = ok(cloud, "ModifyInstanceChargeType", AutoPay=False, **arguments)["OrderId"]
    second = cloud.find("ecs.instance", "i-2")
    assert isinstance(second, Instance)
    assert second.charge_type == "PostPaid"
    assert refusal(cloud, "ModifyInstanceChargeType", **arguments)[0] == "LastOrderProcessing"
    ok(cloud, "PayOrder", "customer", OrderId=order)
    second = cloud.find("ecs.instance", "i-2")
    assert isinstance(second, Instance)
    assert (second.charge_type, second.expired_time) == ("PrePaid", EPOCH + 30 * DAY)


def test_an_unpaid_order_blocks_a_renewal():
    from cirrus_env.cloud.services.billing.models import Order

    order = Order("1", ACCOUNT, order_type="Upgrade", instance=I)
    cloud = world(SUBSCRIBED, order, services=WITH_BILLING)
    assert refusal(cloud, "RenewInstance", InstanceId=I) == ("Instance.UnPaidOrder", 403)


def test_a_paid_order_under_way_blocks_a_renewal_for_its_time():
    from cirrus_env.cloud.services.billing.models import Order

    order = Order("1", ACCOUNT, order_type="Upgrade", instance=I, status="Paid", ready=EPOCH + 60)
    cloud = world(SUBSCRIBED, order, services=WITH_BILLING)
    assert refusal(cloud, "RenewInstance", InstanceId=I)[0] == "LastOrderProcessing"
    cloud.advance(60)
    ok(cloud, "RenewInstance", InstanceId=I)


def test_automatic_renewal_and_billing_agree_in_both_directions():
    cloud = world(SUBSCRIBED, services=WITH_BILLING)
    ok(cloud, "ModifyInstanceAutoRenewAttribute", InstanceId=I, RenewalStatus="AutoRenewal")
    [listed] = ok(cloud, "QueryAvailableInstances", InstanceIDs=I)["Data"]["InstanceList"]
    assert listed["RenewStatus"] == "AutoRenewal"
    ok(
        cloud, "SetRenewal", InstanceIDs=I, ProductCode="ecs", RenewalStatus="ManualRenewal"
    )  # fmt: skip
    assert instance(cloud).renewal_status == "Normal"


def test_going_back_to_pay_as_you_go_ends_the_subscription():
    cloud = world(RUNNING, services=WITH_BILLING)
    name, ids = "ModifyInstanceChargeType", f'["{I}"]'
    ok(cloud, name, InstanceIds=ids, InstanceChargeType="PrePaid")
    ok(cloud, "ModifyInstanceAutoRenewAttribute", InstanceId=I, RenewalStatus="AutoRenewal")
    cloud.advance(15 * DAY)
    ok(cloud, name, InstanceIds=ids, InstanceChargeType="PostPaid")
    assert cloud.ledger.balance(f"cash:{ACCOUNT}") == 100_000 - 14_400
    cloud.advance(40 * DAY)
    assert instance(cloud).charge_type == "PostPaid"


# -- history -------------------------------------------------------------------------------------


def test_events_are_listed_newest_first_and_old_ones_forgotten():
    punished = InstanceEvent(
        "e-1", ACCOUNT, instance_id=I, name="InstanceFailure.Reboot", not_before=EPOCH - DAY,
        punish_type="mining", punish_domain="d.example.com", punish_url="https://x.example.com",
    )  # fmt: skip
    cloud = world(
        RUNNING,
        punished,
        replace(punished, id="e-2", not_before=EPOCH, punish_type="", cycle="Scheduled"),
        replace(punished, id="e-3", finished=EPOCH - 31 * DAY),
        replace(punished, id="e-4", instance_id="i-2"),
    )

    def listed(**arguments):
        result = ok(cloud, "DescribeInstanceHistoryEvents", **arguments)
        return result["InstanceSystemEventSet"]["InstanceSystemEventType"]

    assert [e["EventId"] for e in listed(InstanceId=I)] == ["e-2", "e-1"]
    assert [e["EventId"] for e in listed(InstanceEventCycleStatus="Scheduled")] == ["e-2"]
    assert listed(InstanceEventType="none") == []
    assert listed(InstanceId=I)[1]["ExtendedAttribute"]["PunishType"] == "mining"


def test_the_monitor_is_flat_once_the_guest_is_down():
    halted = EPOCH - 2 * HOUR
    cloud = world(replace(RUNNING, os_state="halted", halted_time=halted, cpu_percent=37))
    result = ok(
        cloud, "DescribeInstanceMonitorData", InstanceId=I, StartTime="2026-11-30T05:00:00Z",
        EndTime="2026-11-30T09:00:00Z", Period=3600,
    )  # fmt: skip
    points = result["MonitorData"]["InstanceMonitorData"]
    assert [(p["TimeStamp"], p["CPU"]) for p in points] == [
        ("2026-11-30T05:00:00Z", 37),
        ("2026-11-30T06:00:00Z", 0),
        ("2026-11-30T07:00:00Z", 0),
        ("2026-11-30T08:00:00Z", 0),
    ]
    assert "CPUCreditBalance" not in points[0]


def test_a_burstable_type_shows_its_credits():
    cloud = world(replace(RUNNING, instance_type="ecs.t6-c1m1.large", cpu_credits=4))
    result = ok(
        cloud, "DescribeInstanceMonitorData", InstanceId=I, StartTime="2026-11-30T07:59:00Z",
        EndTime="2026-11-30T08:00:00Z",
    )  # fmt: skip
    assert result["MonitorData"]["InstanceMonitorData"][0]["CPUCreditBalance"] == 4


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("yesterday", "2026-11-30T08:00Z", "InvalidStartTime.Malformed"),
        ("2026-11-30T08:00Z", "99999-01-01T00:00Z", "InvalidEndTime.Malformed"),
        ("2026-11-30T08:00Z", "2026-11-30T08:00Z", "InvalidParameter"),
        ("2026-11-20T08:00Z", "2026-11-30T08:00Z", "TooManyDataQueried"),
    ],
)
def test_the_monitor_refuses_times_that_are_none(start, end, expected):
    cloud = world(RUNNING)
    arguments = {"InstanceId": I, "StartTime": start, "EndTime": end}
    assert refusal(cloud, "DescribeInstanceMonitorData", **arguments) == (expected, 400)


def test_the_console_tells_a_halted_guest_from_a_running_one():
    def says(record):
        output = ok(world(record), "GetInstanceConsoleOutput", InstanceId=I)["ConsoleOutput"]
        return b64decode(output).decode()

    assert "login:" in says(RUNNING)
    assert "System halted" in says(replace(RUNNING, os_state="halted"))
    name = "GetInstanceConsoleOutput"
    assert refusal(world(STOPPED), name, InstanceId=I)[0] == "IncorrectInstanceStatus"
    windows = world(replace(RUNNING, os_type="windows"))
    assert refusal(windows, name, InstanceId=I)[0] == "OperationDenied"


# -- rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (RUNNING, (("compute", 60),)),
        (replace(RUNNING, os_state="halted"), (("compute", 60),)),
        (replace(RUNNING, status="Stopping", stopped_mode="StopCharging"), (("compute", 60),)),
        (STOPPED, (("compute", 60),)),
        (replace(STOPPED, stopped_mode="StopCharging"), ()),
        (SUBSCRIBED, ()),
        (OVERDUE, ()),
        (replace(RUNNING, internet_charge="PayByBandwidth"),
         (("compute", 60), ("public bandwidth", 15))),
    ],
)  # fmt: skip
def test_computing_is_charged_while_it_is_reserved(record, expected):
    assert rates(record, EPOCH) == expected


def test_money_that_was_paid_in_pays_for_a_renewal():
    cloud = world(SUBSCRIBED, cash=0)
    assert refusal(cloud, "RenewInstance", InstanceId=I)[0] == "InsufficientBalance"
    pay_in(cloud, TYPES["ecs.g7.large"].monthly_cents)
    ok(cloud, "RenewInstance", InstanceId=I)
    assert cloud.ledger.balance(f"cash:{ACCOUNT}") == 0
