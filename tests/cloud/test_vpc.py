"""Elastic addresses: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, refusal, world

from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.vpc import Eip, ReleasedEip
from cirrus_env.cloud.services.vpc.models import rates
from cirrus_env.world.clock import DAY, EPOCH, HOUR

I, E = "i-1", "eip-1"  # noqa: E741
RUNNING = Instance(I, ACCOUNT)
IDLE = Eip(E, ACCOUNT, ip_address="203.0.113.20", idle_cents=2)
BOUND = replace(IDLE, status="InUse", instance_id=I)
LOCKED = replace(IDLE, business_status="FinancialLocked", lock_reasons=("financial",))


def eip(cloud, id=E) -> Eip:
    found = cloud.find("vpc.eip", id)
    assert isinstance(found, Eip)
    return found


def listed(cloud, **arguments):
    return ok(cloud, "DescribeEipAddresses", **arguments)["EipAddresses"]["EipAddress"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["eip-1", "eip-2"]),
        ({"AllocationId": "eip-2, eip-x,eip-2"}, ["eip-2"]),
        ({"AllocationId": "eip-2", "AssociatedInstanceId": "i-1"}, []),
        ({"AssociatedInstanceId": "i-1"}, ["eip-1"]),
        ({"AssociatedInstanceType": "EcsInstance"}, ["eip-1"]),
        ({"Status": "Available"}, ["eip-2"]),
        ({"EipAddress": "203.0.113.20"}, ["eip-1"]),
        ({"EipName": "spare"}, ["eip-2"]),
        ({"ChargeType": "PrePaid"}, []),
        ({"RegionId": "cn-beijing"}, []),
        ({"PageSize": 1, "PageNumber": 2}, ["eip-2"]),
    ],
)
def test_every_filter_narrows(filters, expected):
    cloud = world(
        RUNNING, BOUND, replace(IDLE, id="eip-2", ip_address="203.0.113.21", name="spare"),
        replace(IDLE, id="eip-theirs", tenant=NEIGHBOUR),
    )  # fmt: skip
    assert [e["AllocationId"] for e in listed(cloud, **filters)] == expected


def test_an_address_shows_what_it_is_bound_to():
    [entry] = listed(world(RUNNING, BOUND))
    assert (entry["InstanceId"], entry["InstanceType"]) == (I, "EcsInstance")
    assert (entry["Status"], entry["Bandwidth"], entry["BusinessStatus"]) == (
        "InUse",
        "5",
        "Normal",
    )
    [entry] = listed(world(LOCKED))
    assert (entry["InstanceId"], entry["InstanceType"]) == ("", "")
    assert entry["OperationLocks"] == {"LockReason": [{"LockReason": "financial"}]}


def test_a_new_address_is_unlike_the_others_and_from_a_documentation_network():
    cloud = world(RUNNING, IDLE)
    result = ok(cloud, "AllocateEipAddress", Bandwidth=10, InternetChargeType="PayByBandwidth")
    assert result["AllocationId"].startswith("eip-bp1")
    assert result["EipAddress"].startswith(("192.0.2.", "198.51.100.", "203.0.113."))
    bought = eip(cloud, result["AllocationId"])
    assert bought.ip_address != "203.0.113.20"
    assert cloud.rates(bought) == (("EIP instance fee", 2), ("EIP bandwidth", 30))


@pytest.mark.parametrize(
    ("records", "cash", "arguments", "expected"),
    [
        ([], -1, {}, ("InsufficientBalance", 400)),
        ([], 1, {"Bandwidth": 201}, ("InvalidParameter", 400)),
        ([], 1, {"Bandwidth": 0}, ("InvalidParameter", 400)),
        ([], 1, {"Bandwidth": True}, ("InvalidParameter", 400)),
        ([], 1, {"IpAddress": "203.0.113.9"}, ("ReserveIpFail", 400)),
        ([replace(IDLE, id=f"eip-{n}") for n in range(20)], 1, {}, ("QuotaExceeded.Eip", 400)),
        ([ReleasedEip(f"eip-{n}", ACCOUNT, "203.0.113.9", EPOCH - HOUR) for n in range(10)], 1,
         {}, ("FrequentPurchase.EIP", 409)),
    ],
)  # fmt: skip
def test_a_purchase_is_refused(records, cash, arguments, expected):
    assert refusal(world(*records, cash=cash), "AllocateEipAddress", **arguments) == expected


def test_an_address_is_bound_and_taken_off_and_only_then_charged_for_being_there():
    cloud = world(RUNNING, IDLE)
    assert cloud.rates(eip(cloud)) == (("EIP instance fee", 2),)
    ok(cloud, "AssociateEipAddress", AllocationId=E, InstanceId=I)
    assert eip(cloud).status == "Associating"
    cloud.advance(10)
    assert (eip(cloud).status, eip(cloud).instance_id) == ("InUse", I)
    assert cloud.rates(eip(cloud)) == ()
    result = ok(cloud, "DescribeInstances")["Instances"]["Instance"][0]
    assert result["EipAddress"]["AllocationId"] == E
    ok(cloud, "UnassociateEipAddress", AllocationId=E)
    assert eip(cloud).status == "Unassociating"
    cloud.advance(10)
    assert (eip(cloud).status, eip(cloud).instance_id) == ("Available", "")
    assert cloud.rates(eip(cloud)) == (("EIP instance fee", 2),)


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ([RUNNING], {}, ("InvalidAllocationId.NotFound", 404)),
        ([IDLE], {}, ("InvalidInstanceId.NotFound", 404)),
        ([RUNNING, IDLE], {"InstanceType": "SlbInstance"}, ("InvalidInstanceId.NotFound", 404)),
        ([RUNNING, LOCKED], {}, ("IncorrectEipStatus", 400)),
        ([RUNNING, BOUND], {}, ("InvalidAssociation.Duplicated", 400)),
        ([RUNNING, replace(IDLE, status="Unassociating")], {}, ("IncorrectEipStatus", 400)),
        ([RUNNING, replace(IDLE, region="cn-beijing")], {}, ("InvalidParameter.Mismatch", 400)),
        ([replace(RUNNING, network="classic"), IDLE], {}, ("OperationDenied", 400)),
        ([replace(RUNNING, status="Starting"), IDLE], {}, ("IncorrectInstanceStatus", 400)),
        ([replace(RUNNING, public_ip="192.0.2.1"), IDLE], {},
         ("BIND_INSTANCE_HAVE_PORTMAP_OR_BIND_EIP", 400)),
        ([RUNNING, IDLE, replace(BOUND, id="eip-2")], {},
         ("BIND_INSTANCE_HAVE_PORTMAP_OR_BIND_EIP", 400)),
    ],
)  # fmt: skip
def test_a_binding_is_refused(records, arguments, expected):
    arguments = {"AllocationId": E, "InstanceId": I, **arguments}
    assert refusal(world(*records), "AssociateEipAddress", **arguments) == expected


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ([], {}, ("InvalidAllocationId.NotFound", 404)),
        ([IDLE], {}, ("IncorrectEipStatus", 400)),
        ([RUNNING, BOUND], {"InstanceId": "i-2"}, ("InvalidAssociation.NotExists", 400)),
    ],
)
def test_an_unbinding_is_refused(records, arguments, expected):
    name = "UnassociateEipAddress"
    assert refusal(world(*records), name, AllocationId=E, **arguments) == expected


def test_a_released_address_can_be_had_again_until_the_clock_hour_ends():
    cloud = world(IDLE)
    ok(cloud, "ReleaseEipAddress", AllocationId=E)
    assert listed(cloud) == []
    fork = cloud.fork()
    again = ok(cloud, "AllocateEipAddress", IpAddress="203.0.113.20")
    assert again["EipAddress"] == "203.0.113.20"
    assert again["AllocationId"] != E
    fork.advance(HOUR)
    assert refusal(fork, "AllocateEipAddress", IpAddress="203.0.113.20")[0] == "ReserveIpFail"


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ([], {}, ("InvalidAllocationId.NotFound", 404)),
        ([RUNNING, BOUND], {}, ("IncorrectEipStatus", 400)),
        ([replace(IDLE, charge_type="PrePaid")], {}, ("Forbidden.ChargeTypeIsPrepaid", 400)),
        (
            [replace(IDLE, deletion_protection=True)],
            {},
            ("OperationDenied.DeletionProtection", 400),
        ),
        ([IDLE], {"DryRun": True}, ("DryRunOperation", 400)),
    ],
)
def test_a_release_is_refused(records, arguments, expected):
    assert refusal(world(*records), "ReleaseEipAddress", AllocationId=E, **arguments) == expected


def test_bandwidth_name_and_description_change():
    paid = replace(IDLE, internet_charge="PayByBandwidth", bandwidth_cents=15)
    cloud = world(paid)
    ok(cloud, "ModifyEipAddressAttribute", AllocationId=E, Bandwidth=10, Name="n", Description="d")
    after = eip(cloud)
    assert (after.bandwidth_mbps, after.bandwidth_cents) == (10, 30)
    assert (after.name, after.description) == ("n", "d")
    name = "ModifyEipAddressAttribute"
    assert refusal(cloud, name, AllocationId=E) == ("MissingParameter", 400)
    assert refusal(world(LOCKED), name, AllocationId=E, Bandwidth=9)[0] == "InsufficientBalance.Eip"
    indebted = world(IDLE, cash=-1)
    assert refusal(indebted, name, AllocationId=E, Bandwidth=9)[0] == "InsufficientBalance.Eip"
    assert refusal(world(IDLE), name, AllocationId=E, Bandwidth=300)[0] == "InvalidParameter"
    ok(world(IDLE), name, AllocationId=E, Bandwidth=200)


@pytest.mark.parametrize("status", ["InUse", "Associating"])
def test_a_released_instance_lets_its_address_go_which_is_then_charged(status):
    cloud = world(replace(RUNNING, status="Stopped"), replace(BOUND, status=status))
    ok(cloud, "DeleteInstance", InstanceId=I)
    assert cloud.dangling() == []
    cloud.advance(30)
    assert (eip(cloud).status, eip(cloud).instance_id) == ("Available", "")
    assert cloud.rates(eip(cloud)) == (("EIP instance fee", 2),)


def test_arrears_lock_pay_as_you_go_addresses_and_payment_frees_them():
    prepaid = replace(IDLE, id="eip-pre", charge_type="PrePaid")
    cloud = world(IDLE, prepaid, services=("ecs", "disk", "vpc", "billing"), cash=0)
    cloud.advance(17 * DAY)
    assert eip(cloud).business_status == "FinancialLocked"
    assert eip(cloud, "eip-pre").business_status == "Normal"
    assert cloud.rates(eip(cloud)) == ()
    ok(cloud, "PayBill", "customer")
    assert (eip(cloud).business_status, eip(cloud).lock_reasons) == ("Normal", ())


def test_a_subscription_accrues_nothing():
    assert rates(replace(IDLE, charge_type="PrePaid"), EPOCH) == ()


def test_a_client_token_buys_one_address_only():
    cloud = world()
    first = ok(cloud, "AllocateEipAddress", ClientToken="t-1")
    again = cloud.call("AllocateEipAddress", {"ClientToken": "t-1"})
    assert again.replayed
    assert again.result == first
    assert len(listed(cloud)) == 1
    assert refusal(cloud, "AllocateEipAddress", ClientToken="t-1", Bandwidth=9) == (
        "IdempotentParameterMismatch", 400,
    )  # fmt: skip
