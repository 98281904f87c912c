"""Who reaches whom: every thing that can stop a connection, as probes and measures tell it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_network import GROUP, OFFICE, OTHER, RUNNING, SSH, G, I, cloud_of, office
from worlds import ACCOUNT, ok, refusal

from cirrus_env.cloud.reach import covers, is_private, network, port_bounds
from cirrus_env.cloud.services.nat import ForwardEntry, NatGateway, SnatEntry
from cirrus_env.cloud.services.network import Rule
from cirrus_env.cloud.services.vpc import Eip

OPEN = Rule("sgr-9", ACCOUNT, group_id=G, cidr="0.0.0.0/0", port_range="1/65535", priority=50)
BARE = replace(RUNNING, public_ip="")
EIP = Eip("eip-1", ACCOUNT, ip_address="203.0.113.50", status="InUse", instance_id=I)
NAT = NatGateway("ngw-1", ACCOUNT)
NAT_EIP = replace(EIP, id="eip-2", ip_address="203.0.113.60", instance_id="ngw-1",
                  instance_type="Nat")  # fmt: skip


def seen(cloud, port=22, source=OFFICE, **more):
    result = ok(cloud, "ProbePort", "customer", InstanceId=I, Port=port, SourceIp=source, **more)
    assert cloud.measure("port_open", f"{I}:{port}:{source}") == (result["Result"] == "open")
    return result["Result"]


# -- addresses and ports -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("22/22", (22, 22)), ("-1/-1", (0, 65_535)), ("1/65535", (1, 65_535)), ("22", None),
        ("0/1", None), ("2/1", None), ("a/b", None), ("22/", None), ("１/2", None), ("", None),
    ],
)  # fmt: skip
def test_port_ranges(text, expected):
    assert port_bounds(text) == expected


def test_networks():
    assert network("198.51.100.7") == network("198.51.100.7/32")
    assert network("2001:db8::1") is None
    assert network("x") is None
    assert covers("198.51.100.0/24", "198.51.100.7")
    assert not covers("198.51.100.7/32", "198.51.100.0/24")
    assert not covers("x", "198.51.100.7")
    assert is_private("10.1.2.3")
    assert not is_private("0.0.0.0/0")
    assert not is_private("203.0.113.1")


# -- in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "open"),
        ({"status": "Stopped"}, "timeout"),
        ({"os_state": "halted"}, "timeout"),
        ({"public_ip": ""}, "timeout"),
        ({"guest_blocked": ("22",)}, "timeout"),
        ({"listening": ("80",)}, "refused"),
        ({"listening": ("127.0.0.1:22",)}, "refused"),
        ({"listening": ("0.0.0.0:22",)}, "open"),
        ({"security_groups": ("sg-2",)}, "timeout"),
        ({"security_groups": ("sg-2", G)}, "open"),
    ],
)
def test_each_thing_that_stops_a_connection(change, expected):
    assert seen(cloud_of(GROUP, OTHER, SSH, replace(RUNNING, **change))) == expected


def test_a_missing_program_is_told_from_a_missing_rule():
    cloud = cloud_of(GROUP, SSH, replace(RUNNING, listening=()))
    assert cloud.measure("port_admitted", f"{I}:22:{OFFICE}") == 1
    assert cloud.measure("port_admitted", f"{I}:80:{OFFICE}") == 0
    blocked = cloud_of(GROUP, SSH, replace(RUNNING, guest_blocked=("22",)))
    assert blocked.measure("port_admitted", f"{I}:22:{OFFICE}") == 1
    assert blocked.measure("port_admitted", "i-x:22") == 0


def test_the_strongest_rule_decides_and_of_equals_the_refusal():
    drop = replace(SSH, id="sgr-2", policy="Drop", cidr="198.51.100.0/24")
    assert seen(office(drop)) == "timeout"
    assert seen(office(replace(drop, priority=6))) == "open"
    assert seen(office(replace(drop, priority=4))) == "timeout"
    assert seen(office(replace(drop, protocol="UDP"))) == "open"
    assert seen(office(replace(drop, protocol="ALL", port_range="-1/-1"))) == "timeout"


def test_open_for_all_needs_that_nobody_is_refused():
    drop = replace(SSH, id="sgr-2", policy="Drop", priority=1)
    assert office(OPEN).measure("port_open", f"{I}:80") == 1
    assert office(OPEN, drop).measure("port_open", f"{I}:22") == 0
    assert office(OPEN).measure("port_open", f"{I}:81") == 0


def test_inside_the_network_a_group_may_be_the_source():
    peer = replace(RUNNING, id="i-2", private_ip="10.0.0.12", security_groups=("sg-2",))
    rule = replace(SSH, id="sgr-2", cidr="", source_group_id="sg-2", port_range="80/80")
    cloud = office(peer, rule)
    assert seen(cloud, 80, "10.0.0.12") == "open"
    assert seen(cloud, 80, "10.0.0.13") == "timeout"
    assert seen(cloud_of(GROUP, rule, BARE, peer), 80, "10.0.0.12") == "open"


def test_a_group_without_a_record_lets_in_what_default_groups_do():
    cloud = cloud_of(replace(RUNNING, security_groups=("sg-default",), listening=("22", "80")))
    assert (seen(cloud, 22), seen(cloud, 80)) == ("open", "timeout")
    assert ok(cloud, "ProbePing", "customer", InstanceId=I)["Reachable"]


def test_a_ping_needs_a_rule_of_its_own():
    ping = replace(SSH, id="sgr-2", protocol="ICMP", port_range="-1/-1")
    cloud = office()
    shown = ok(cloud, "ProbePing", "customer", InstanceId=I, SourceIp=OFFICE)
    assert (shown["Reachable"], "100% packet loss" in shown["Message"]) == (False, True)
    assert office(ping).measure("ping_open", f"{I}::{OFFICE}") == 1
    assert office(ping).measure("ping_open", I) == 0
    assert office(ping).measure("ping_open", "i-x") == 0


@pytest.mark.parametrize(
    ("eip", "expected"),
    [
        (EIP, "open"),
        (replace(EIP, status="Associating"), "timeout"),
        (replace(EIP, business_status="FinancialLocked"), "timeout"),
    ],
)
def test_an_elastic_address_works_once_it_is_bound_and_paid(eip, expected):
    assert seen(cloud_of(GROUP, SSH, BARE, eip)) == expected


def test_a_forwarding_entry_reaches_an_instance_without_an_address():
    entry = ForwardEntry("fwd-1", ACCOUNT, nat_id="ngw-1", external_ip="203.0.113.60",
                         internal_ip="10.0.0.11", internal_port="22")  # fmt: skip
    assert seen(cloud_of(GROUP, SSH, BARE, NAT, NAT_EIP, entry)) == "open"
    assert seen(cloud_of(GROUP, SSH, BARE, NAT, replace(entry, status="Pending"))) == "timeout"
    assert seen(cloud_of(GROUP, SSH, BARE, NAT, replace(entry, internal_port="80"))) == "timeout"


def test_probes_refuse_what_is_not_there():
    cloud = office()
    for name, given in (
        ("ProbePort", {"Port": 22}), ("ProbePing", {}), ("GuestCurl", {}), ("GuestListening", {}),
    ):  # fmt: skip
        assert refusal(cloud, name, "customer", InstanceId="i-x", **given) == (
            "InvalidInstanceId.NotFound",
            404,
        )
    assert refusal(cloud, "ProbePing", "customer", InstanceId=I, SourceIp="home") == (
        "InvalidSourceIp.Malformed",
        400,
    )
    assert refusal(cloud, "ProbePort", InstanceId=I, Port=22) == ("InvalidAction.NotFound", 404)


def test_what_programs_listen_on():
    shown = ok(office(), "GuestListening", "customer", InstanceId=I)
    assert shown["Listening"] == ["0.0.0.0:22", "0.0.0.0:80", "127.0.0.1:8080"]
    cloud = cloud_of(replace(RUNNING, os_state="halted"))
    assert refusal(cloud, "GuestListening", "customer", InstanceId=I) == (
        "IncorrectInstanceStatus",
        403,
    )


# -- out -----------------------------------------------------------------------------------------


def gone(cloud, port=443):
    shown = ok(cloud, "GuestCurl", "customer", InstanceId=I, Port=port)
    assert cloud.measure("outbound_open", f"{I}:{port}") == (shown["Result"] == "open")
    return shown["Result"], shown["PublicIpSeen"]


def test_a_connection_that_must_come_about_fails_where_nothing_answers():
    cloud = cloud_of(BARE)
    assert gone(cloud) == ("timeout", "")
    assert refusal(cloud, "GuestCurl", "customer", InstanceId=I, MustConnect=True) == (
        "NoConnection",
        504,
    )
    shown = ok(cloud_of(RUNNING), "GuestCurl", "customer", InstanceId=I, MustConnect=True)
    assert shown["Result"] == "open"


SNAT = SnatEntry("snat-1", ACCOUNT, nat_id="ngw-1", source_vswitch_id="vsw-1",
                 snat_ip="203.0.113.60")  # fmt: skip
ANY = ForwardEntry("fwd-1", ACCOUNT, nat_id="ngw-1", external_ip="203.0.113.61",
                   internal_ip="10.0.0.11")  # fmt: skip


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((RUNNING,), ("open", "203.0.113.9")),
        ((BARE,), ("timeout", "")),
        ((BARE, EIP), ("open", "203.0.113.50")),
        ((RUNNING, NAT, NAT_EIP, SNAT), ("open", "203.0.113.9")),
        ((BARE, NAT, NAT_EIP, SNAT), ("open", "203.0.113.60")),
        ((BARE, NAT, NAT_EIP, SNAT, ANY), ("open", "203.0.113.61")),
        ((BARE, NAT, NAT_EIP, replace(SNAT, status="Pending")), ("timeout", "")),
        ((BARE, NAT, NAT_EIP, replace(SNAT, source_vswitch_id="vsw-2")), ("timeout", "")),
        ((BARE, NAT, SNAT), ("timeout", "")),
        ((BARE, replace(NAT, business_status="FinancialLocked"), NAT_EIP, SNAT), ("timeout", "")),
        (
            (BARE, NAT, NAT_EIP, replace(SNAT, source_vswitch_id="", source_cidr="10.0.0.0/24")),
            ("open", "203.0.113.60"),
        ),
        (
            (BARE, NAT, NAT_EIP, replace(SNAT, source_vswitch_id="", source_cidr="10.1.0.0/24")),
            ("timeout", ""),
        ),
        ((replace(RUNNING, status="Stopped"),), ("timeout", "")),
    ],
)
def test_the_way_out_and_the_address_it_shows(records, expected):
    cloud = cloud_of(GROUP, *records)
    assert gone(cloud) == expected
    running = records[0].status == "Running"
    assert cloud.measure("has_exit", I) == bool(expected[1]) or not running


def test_the_narrower_block_wins():
    wide = replace(SNAT, source_vswitch_id="", source_cidr="10.0.0.0/8")
    narrow = replace(SNAT, id="snat-2", source_vswitch_id="", source_cidr="10.0.0.11/32",
                     snat_ip="203.0.113.61")  # fmt: skip
    other = replace(NAT_EIP, id="eip-3", ip_address="203.0.113.61")
    assert gone(cloud_of(GROUP, BARE, NAT, NAT_EIP, other, wide, narrow))[1] == "203.0.113.61"


def test_mail_never_goes_out_by_port_25_whatever_rules_say():
    rule = replace(OPEN, direction="egress", priority=1)
    cloud = office(rule)
    assert gone(cloud, 25) == ("timeout", "")
    assert gone(cloud, 465)[0] == "open"
    assert cloud.measure("outbound_open", "i-x:465") == 0
    assert cloud.measure("has_exit", "i-x") == 0


def test_exposed_ports_of_a_group_and_of_an_instance():
    assert office(OPEN).measure("exposed_ports", G) == 7
    assert office(OPEN).measure("exposed_ports", I) == 7
    assert office().measure("exposed_ports", I) == 0
    narrow = replace(OPEN, port_range="3306/3306", protocol="TCP")
    assert office(narrow).measure("exposed_ports", I) == 1
    for change in ({"policy": "Drop"}, {"protocol": "UDP"}, {"direction": "egress"}):
        assert office(replace(OPEN, **change)).measure("exposed_ports", I) == 0


# -- logging in ----------------------------------------------------------------------------------


def test_ssh_tells_silence_from_a_refusal():
    login = {"InstanceId": I, "SourceIp": OFFICE}
    assert ok(office(), "SshLogin", "customer", **login)["LoggedIn"] is True
    assert refusal(cloud_of(GROUP, RUNNING), "SshLogin", "customer", **login) == (
        "ConnectionTimedOut", 400,
    )  # fmt: skip
    closed = cloud_of(GROUP, SSH, replace(RUNNING, listening=("80",)))
    assert refusal(closed, "SshLogin", "customer", **login) == ("ConnectionRefused", 400)


def test_ssh_to_an_address_that_the_instance_no_longer_has_times_out():
    login = {"InstanceId": I, "SourceIp": OFFICE}
    assert ok(office(), "SshLogin", "customer", Address=RUNNING.public_ip, **login)["LoggedIn"]
    assert refusal(office(), "SshLogin", "customer", Address="203.0.113.99", **login) == (
        "ConnectionTimedOut", 400,
    )  # fmt: skip


def test_a_service_that_was_down_listens_once_it_is_started():
    cloud = cloud_of(GROUP, SSH, replace(RUNNING, listening=("80",)))
    started = ok(cloud, "GuestStartService", "customer", InstanceId=I, Port=22)
    assert (started["Active"], started["WasActive"]) == (True, False)
    assert seen(cloud) == "open"
    again = ok(cloud, "GuestStartService", "customer", InstanceId=I, Port=22)
    assert again["WasActive"] is True
    halted = cloud_of(GROUP, SSH, replace(RUNNING, os_state="halted"))
    code, _ = refusal(halted, "GuestStartService", "customer", InstanceId=I, Port=22)
    assert code == "IncorrectInstanceStatus"
