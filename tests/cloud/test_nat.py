"""NAT gateways and their entries: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, refusal, world

from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.nat import ForwardEntry, NatGateway, SnatEntry
from cirrus_env.cloud.services.nat.models import FORWARD_ENTRIES, SNAT_ENTRIES, rates
from cirrus_env.cloud.services.network import Vpc, VSwitch
from cirrus_env.cloud.services.vpc import Eip
from cirrus_env.world.clock import EPOCH

SERVICES = ("ecs", "vpc", "network", "nat", "billing")
N = "ngw-1"
NAT = NatGateway(
    N, ACCOUNT, name="gate", vpc_id="vpc-1", vswitch_id="vsw-1", snat_table_id="stb-1",
    forward_table_id="ftb-1", hourly_cents=18,
)  # fmt: skip
EIP = Eip(
    "eip-1", ACCOUNT, ip_address="203.0.113.60", status="InUse", instance_id=N, instance_type="Nat"
)
SPARE = replace(EIP, id="eip-2", ip_address="203.0.113.61")
SNAT = SnatEntry(
    "snat-1", ACCOUNT, nat_id=N, source_vswitch_id="vsw-1", snat_ip="203.0.113.60", name="a"
)
FORWARD = ForwardEntry(
    "fwd-1", ACCOUNT, nat_id=N, external_ip="203.0.113.61", external_port="80",
    internal_ip="10.0.0.11", internal_port="8080", protocol="TCP",
)  # fmt: skip
SERVER = Instance("i-1", ACCOUNT, vswitch_id="vsw-2", vpc_id="vpc-1", private_ip="10.0.0.11")
SWITCH = VSwitch("vsw-1", ACCOUNT, vpc_id="vpc-1")
ALL = (Vpc("vpc-1", ACCOUNT), SWITCH, NAT, EIP, SPARE, SNAT, FORWARD, SERVER)


def cloud_of(*records, **more):
    return world(*records, services=SERVICES, **more)


def address(cloud, id="eip-1"):
    return cloud.find("vpc.eip", id)


# -- gateways ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [N, "ngw-2"]),
        ({"NatGatewayId": "ngw-2"}, ["ngw-2"]),
        ({"VpcId": "vpc-1"}, [N]),
        ({"Status": "Creating"}, []),
        ({"Name": "ga"}, [N]),
        ({"RegionId": "cn-beijing"}, []),
    ],
)
def test_every_filter_of_gateways_narrows(filters, expected):
    cloud = cloud_of(
        NAT, replace(NAT, id="ngw-2", vpc_id="vpc-2", name=""), replace(NAT, tenant=NEIGHBOUR)
    )
    shown = ok(cloud, "DescribeNatGateways", **filters)["NatGateways"]["NatGateway"]
    assert [n["NatGatewayId"] for n in shown] == expected


def test_a_gateway_shows_its_tables_and_what_its_addresses_do():
    idle = replace(EIP, id="eip-3", ip_address="203.0.113.62")
    cloud = cloud_of(*ALL, idle)
    [shown] = ok(cloud, "DescribeNatGateways")["NatGateways"]["NatGateway"]
    assert shown["SnatTableIds"] == {"SnatTableId": ["stb-1"]}
    assert shown["ForwardTableIds"] == {"ForwardTableId": ["ftb-1"]}
    assert [(a["IpAddress"], a["UsingStatus"]) for a in shown["IpLists"]["IpList"]] == [
        ("203.0.113.60", "UsedBySnatTable"),
        ("203.0.113.61", "UsedByForwardTable"),
        ("203.0.113.62", "Idle"),
    ]


def test_a_gateway_costs_the_same_used_or_not():
    assert rates(NAT, EPOCH) == (("NAT gateway", 18),)
    assert rates(replace(NAT, charge_type="PrePaid"), EPOCH) == ()
    assert rates(replace(NAT, business_status="FinancialLocked"), EPOCH) == ()
    assert cloud_of(NAT).measure("charge_per_hour", N) == 18


def test_a_gateway_is_bought_and_charged_from_then_on():
    cloud = cloud_of(SERVER, SWITCH)
    made = ok(cloud, "CreateNatGateway", VpcId="vpc-1", VSwitchId="vsw-2", Name="new")
    nat = cloud.find("nat.nat", made["NatGatewayId"])
    assert nat.status == "Creating"
    assert made["SnatTableIds"]["SnatTableId"] == [nat.snat_table_id]
    assert nat.snat_table_id.startswith("stb-bp1")
    cloud.advance(60)
    assert cloud.find("nat.nat", nat.id).status == "Available"
    ok(cloud, "AssociateEipAddress", AllocationId=_bought(cloud), InstanceId=nat.id,
       InstanceType="Nat")  # fmt: skip


def _bought(cloud):
    return ok(cloud, "AllocateEipAddress")["AllocationId"]


@pytest.mark.parametrize(
    ("arguments", "cash", "expected"),
    [
        ({"VpcId": "vpc-x"}, 100, ("InvalidVpcId.NotFound", 404)),
        ({"VSwitchId": "vsw-x"}, 100, ("InvalidVSwitchId.NotFound", 404)),
        ({}, -100, ("InsufficientBalance", 400)),
    ],
)
def test_a_gateway_that_is_not_sold(arguments, cash, expected):
    cloud = cloud_of(*ALL, cash=cash)
    given = {"VpcId": "vpc-1", "VSwitchId": "vsw-1", **arguments}
    assert refusal(cloud, "CreateNatGateway", **given) == expected


def test_a_forced_deletion_takes_the_entries_and_frees_the_addresses():
    cloud = cloud_of(*ALL)
    assert refusal(cloud, "DeleteNatGateway", NatGatewayId=N) == ("DependencyViolation.EIPS", 400)
    ok(cloud, "DeleteNatGateway", NatGatewayId=N, Force=True)
    assert not cloud.records("nat.snat_entry")
    assert not cloud.records("nat.forward_entry")
    assert (address(cloud).status, address(cloud).instance_id) == ("Unassociating", "")
    cloud.advance(10)
    assert address(cloud).status == "Available"
    assert cloud.dangling() == []
    assert cloud.measure("charge_per_hour", "eip-1") == 2


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((), ("InvalidNatGatewayId.NotFound", 404)),
        ((replace(NAT, deletion_protection=True),), ("OperationDenied.DeletionProtection", 400)),
        ((replace(NAT, charge_type="PrePaid"),), ("OperationDenied.Prepaid", 400)),
        ((NAT, SNAT), ("DependencyViolation.Entries", 400)),
    ],
)
def test_a_gateway_that_stays(records, expected):
    assert refusal(cloud_of(*records), "DeleteNatGateway", NatGatewayId=N) == expected


def test_an_empty_gateway_goes_without_force():
    cloud = cloud_of(NAT)
    ok(cloud, "DeleteNatGateway", NatGatewayId=N)
    assert not cloud.records("nat.nat")


def test_arrears_stop_a_gateway_and_payment_brings_it_back():
    cloud = cloud_of(*ALL, cash=-100)
    cloud.advance(16 * 86_400)
    assert cloud.find("nat.nat", N).business_status == "FinancialLocked"
    given = {"SnatTableId": "stb-1", "SnatIp": "203.0.113.60", "SourceCIDR": "10.0.9.0/24"}
    assert refusal(cloud, "CreateSnatEntry", **given) == ("InvalidStatus.NatGatewayLocked", 400)
    ok(cloud, "PayBill", "customer")
    assert cloud.find("nat.nat", N).business_status == "Normal"


# -- addresses of gateways -----------------------------------------------------------------------


def test_an_address_goes_onto_a_gateway_and_off_again():
    idle = replace(EIP, status="Available", instance_id="", instance_type="EcsInstance")
    cloud = cloud_of(NAT, idle)
    given = {"AllocationId": "eip-1", "InstanceId": N, "InstanceType": "Nat"}
    ok(cloud, "AssociateEipAddress", **given)
    cloud.advance(10)
    assert (address(cloud).status, address(cloud).instance_type) == ("InUse", "Nat")
    assert cloud.measure("charge_per_hour", "eip-1") == 2
    ok(cloud, "UnassociateEipAddress", AllocationId="eip-1", InstanceId=N, InstanceType="Nat")
    cloud.advance(10)
    assert address(cloud).status == "Available"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((), ("InvalidInstanceId.NotFound", 404)),
        ((replace(NAT, status="Creating"),), ("IncorrectInstanceStatus", 400)),
        ((replace(NAT, business_status="FinancialLocked"),), ("IncorrectInstanceStatus", 400)),
        (
            (NAT, *(replace(EIP, id=f"eip-{n}") for n in range(10, 30))),
            ("QuotaExceeded.Eip", 400),
        ),
    ],
)
def test_a_gateway_that_takes_no_address(records, expected):
    idle = replace(EIP, status="Available", instance_id="")
    given = {"AllocationId": "eip-1", "InstanceId": N, "InstanceType": "Nat"}
    assert refusal(cloud_of(idle, *records), "AssociateEipAddress", **given) == expected


# -- entries out ---------------------------------------------------------------------------------


def snats(cloud, **arguments):
    shown = ok(cloud, "DescribeSnatTableEntries", **arguments)["SnatTableEntries"]
    return [e["SnatEntryId"] for e in shown["SnatTableEntry"]]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["snat-1", "snat-2"]),
        ({"SnatTableId": "stb-1"}, ["snat-1", "snat-2"]),
        ({"NatGatewayId": "ngw-x"}, []),
        ({"SnatEntryId": "snat-2"}, ["snat-2"]),
        ({"SourceVSwitchId": "vsw-1"}, ["snat-1"]),
        ({"SourceCIDR": "10.0.9.0/24"}, ["snat-2"]),
        ({"SnatIp": "203.0.113.61"}, ["snat-2"]),
    ],
)
def test_every_filter_of_entries_narrows(filters, expected):
    other = replace(SNAT, id="snat-2", source_vswitch_id="", source_cidr="10.0.9.0/24",
                    snat_ip="203.0.113.60,203.0.113.61")  # fmt: skip
    assert snats(cloud_of(*ALL, other), **filters) == expected


def test_a_switch_is_let_out_once_the_entry_is_available():
    cloud = cloud_of(*ALL)
    assert cloud.measure("outbound_open", "i-1:443") == 0
    id = ok(
        cloud, "CreateSnatEntry", SnatTableId="stb-1", SnatIp="203.0.113.60",
        SourceVSwitchId="vsw-2",
    )["SnatEntryId"]  # fmt: skip
    assert cloud.find("nat.snat_entry", id).status == "Pending"
    assert cloud.measure("outbound_open", "i-1:443") == 0
    assert refusal(cloud, "DeleteSnatEntry", SnatTableId="stb-1", SnatEntryId=id) == (
        "IncorretSnatEntryStatus",
        400,
    )
    cloud.advance(20)
    assert cloud.measure("outbound_open", "i-1:443") == 1
    ok(cloud, "DeleteSnatEntry", SnatTableId="stb-1", SnatEntryId=id)
    assert cloud.measure("outbound_open", "i-1:443") == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"SnatTableId": "stb-x"}, ("InvalidSnatTableId.NotFound", 404)),
        ({"SourceVSwitchId": None}, ("MissingParameter", 400)),
        ({"SourceCIDR": "10.0.9.0/24"}, ("MissingParameter", 400)),
        ({"SourceVSwitchId": "vsw-x"}, ("InvalidVSwitchId.NotFound", 404)),
        ({"SourceVSwitchId": None, "SourceCIDR": "x"}, ("InvalidSourceCIDR.Malformed", 400)),
        ({"SnatIp": "203.0.113.60,203.0.113.99"}, ("InvalidSnatIp.NotFound", 404)),
        ({"SourceVSwitchId": "vsw-1"}, ("OperationUnsupported.CidrConflict", 400)),
    ],
)
def test_an_entry_that_is_not_made(change, expected):
    given = {
        k: v
        for k, v in {
            "SnatTableId": "stb-1", "SnatIp": "203.0.113.60", "SourceVSwitchId": "vsw-2", **change,
        }.items()
        if v is not None
    }  # fmt: skip
    assert refusal(cloud_of(*ALL), "CreateSnatEntry", **given) == expected


def test_an_address_that_serves_all_ports_inward_serves_none_outward():
    given = {"SnatTableId": "stb-1", "SnatIp": "203.0.113.61", "SourceVSwitchId": "vsw-2"}
    busy = replace(FORWARD, external_port="Any", internal_port="Any")
    assert refusal(cloud_of(NAT, SPARE, busy, SERVER), "CreateSnatEntry", **given) == (
        "Forbidden.IpUsedInForwardTable",
        400,
    )


def test_only_an_available_gateway_takes_so_many_entries():
    given = {"SnatTableId": "stb-1", "SnatIp": "203.0.113.60", "SourceVSwitchId": "vsw-2"}
    assert refusal(
        cloud_of(replace(NAT, status="Modifying"), EIP, SERVER), "CreateSnatEntry", **given
    ) == ("IncorretNatGatewayStatus", 400)
    many = [replace(SNAT, id=f"snat-{n}", source_vswitch_id=f"v{n}") for n in range(SNAT_ENTRIES)]
    assert refusal(cloud_of(NAT, EIP, SERVER, *many), "CreateSnatEntry", **given) == (
        "Forbidden.SnatEntryCountLimited",
        400,
    )


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("DeleteSnatEntry", {"SnatTableId": "stb-1", "SnatEntryId": "snat-x"},
         ("InvalidSnatEntryId.NotFound", 404)),
        ("DeleteSnatEntry", {"SnatTableId": "stb-x", "SnatEntryId": "snat-1"},
         ("InvalidSnatTableId.NotFound", 404)),
        ("DeleteForwardEntry", {"ForwardTableId": "ftb-1", "ForwardEntryId": "fwd-x"},
         ("InvalidForwardEntryId.NotFound", 404)),
        ("DeleteForwardEntry", {"ForwardTableId": "ftb-x", "ForwardEntryId": "fwd-1"},
         ("InvalidForwardTableId.NotFound", 404)),
    ],
)  # fmt: skip
def test_entries_that_are_not_there(name, table, expected):
    assert refusal(cloud_of(*ALL), name, **table) == expected


# -- entries in ----------------------------------------------------------------------------------

DNAT = {
    "ForwardTableId": "ftb-1", "ExternalIp": "203.0.113.61", "ExternalPort": "443",
    "InternalIp": "10.0.0.11", "InternalPort": "443", "IpProtocol": "TCP",
}  # fmt: skip


def test_a_port_is_led_to_a_private_address():
    cloud = cloud_of(*ALL)
    id = ok(cloud, "CreateForwardEntry", **DNAT)["ForwardEntryId"]
    assert refusal(cloud, "DeleteForwardEntry", ForwardTableId="ftb-1", ForwardEntryId=id) == (
        "IncorretForwardEntryStatus",
        400,
    )
    cloud.advance(20)
    shown = ok(cloud, "DescribeForwardTableEntries", ForwardTableId="ftb-1", InternalIp="10.0.0.11")
    assert [e["ForwardEntryId"] for e in shown["ForwardTableEntries"]["ForwardTableEntry"]] == [
        "fwd-1",
        id,
    ]
    shown = ok(cloud, "DescribeForwardTableEntries", NatGatewayId=N, ForwardEntryId="fwd-1")
    [entry] = shown["ForwardTableEntries"]["ForwardTableEntry"]
    assert (entry["ExternalPort"], entry["InternalPort"], entry["Status"]) == (
        "80",
        "8080",
        "Available",
    )
    ok(cloud, "DeleteForwardEntry", ForwardTableId="ftb-1", ForwardEntryId=id)
    assert list(cloud.records("nat.forward_entry")) == ["fwd-1"]


@pytest.mark.parametrize(
    ("records", "change", "expected"),
    [
        (ALL, {"ForwardTableId": "ftb-x"}, ("InvalidForwardTableId.NotFound", 404)),
        (ALL, {"ExternalPort": "Any"}, ("InvalidParameter", 400)),
        (ALL, {"IpProtocol": "Any"}, ("InvalidParameter", 400)),
        (ALL, {"ExternalPort": "70000"}, ("InvalidParameter", 400)),
        (ALL, {"ExternalIp": "203.0.113.9"}, ("InvalidExternalIp.NotFound", 404)),
        (ALL, {"InternalIp": "10.0.0.99"}, ("InvalidInternalIp.NotFound", 404)),
        (ALL, {"ExternalPort": "80"}, ("InvalidExternalPort.Duplicated", 400)),
        (
            ALL,
            {"ExternalIp": "203.0.113.60", "ExternalPort": "Any", "InternalPort": "Any"},
            ("Forbidden.IpUsedInSnatTable", 400),
        ),
        (
            (NAT, SPARE, replace(SERVER, public_ip="203.0.113.70")),
            {},
            ("Forbindden", 403),
        ),
        (
            (NAT, SPARE, SERVER, replace(EIP, id="eip-9", instance_id="i-1")),
            {},
            ("Forbindden", 403),
        ),
        (
            (NAT, SPARE, SERVER, *(replace(FORWARD, id=f"f-{n}", external_port=str(n + 1000))
                                   for n in range(FORWARD_ENTRIES))),
            {},
            ("Forbidden.ForwardEntryCountLimited", 400),
        ),
    ],
)  # fmt: skip
def test_a_forwarding_entry_that_is_not_made(records, change, expected):
    assert refusal(cloud_of(*records), "CreateForwardEntry", **{**DNAT, **change}) == expected
