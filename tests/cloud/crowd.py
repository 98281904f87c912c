"""A crowded world, and calls of every tool on it, for the laws R4 and R5."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from worlds import ACCOUNT, NEIGHBOUR

from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Operation, Posting, Resource
from cirrus_env.cloud.services.account.models import Profile
from cirrus_env.cloud.services.billing.models import BillingAccount, Coupon, Order, Subscription
from cirrus_env.cloud.services.billing.money import settlement
from cirrus_env.cloud.services.disk import AutoSnapshotPolicy, Disk, Snapshot
from cirrus_env.cloud.services.ecs import Instance, InstanceEvent
from cirrus_env.cloud.services.image import Image
from cirrus_env.cloud.services.invoice import InvoiceAddress, InvoiceTitle
from cirrus_env.cloud.services.knowledge.models import Scope
from cirrus_env.cloud.services.nat import ForwardEntry, NatGateway, SnatEntry
from cirrus_env.cloud.services.network import (
    Interface,
    Route,
    Rule,
    SecurityGroup,
    Vpc,
    VSwitch,
)
from cirrus_env.cloud.services.vpc import Eip
from cirrus_env.world import Stream
from cirrus_env.world.clock import DAY, EPOCH, HOUR

ALL = catalogue(tuple(SERVICES))
ARTICLE = "ecs/stop-modes"


def _instances(tenant: str) -> list[Instance]:
    plain = Instance(
        "i-plain", tenant, name="web-01", public_ip="192.0.2.1", bandwidth_mbps=5,
        vpc_id="vpc-1", vswitch_id="vsw-1", security_groups=("sg-1",), private_ip="10.0.0.11",
    )  # fmt: skip
    return [
        plain,
        replace(plain, id="i-halted", os_state="halted", halted_time=EPOCH - DAY, public_ip=""),
        replace(plain, id="i-kept", status="Stopped", stopped_mode="KeepCharging",
                stopped_time=EPOCH - DAY, public_ip="", internet_charge="PayByBandwidth"),
        replace(plain, id="i-saved", status="Stopped", stopped_mode="StopCharging", public_ip="",
                reclaimed_ip="192.0.2.9", no_stock=True),
        replace(plain, id="i-paid", charge_type="PrePaid", expired_time=EPOCH + 3 * HOUR),
        replace(plain, id="i-auto", charge_type="PrePaid", expired_time=EPOCH + 9 * DAY,
                renewal_status="AutoRenewal", pending_type="ecs.g7.xlarge"),
        replace(plain, id="i-ended", charge_type="PrePaid", expired_time=EPOCH - 14 * DAY,
                status="Stopped", stopped_by="expiry", lock_reasons=("financial",)),
        replace(plain, id="i-abuse", lock_reasons=("security",), public_ip=""),
        replace(plain, id="i-debt", status="Stopped", stopped_mode="StopCharging", public_ip="",
                stopped_by="arrears", lock_reasons=("financial",)),
        replace(plain, id="i-burst", instance_type="ecs.t6-c1m1.large", public_ip="",
                private_ip="10.0.0.21", security_groups=("sg-1", "sg-2"),
                sold_out=("ecs.c7.large",)),
        replace(plain, id="i-off", status="Stopped", public_ip="", private_ip="10.0.0.22"),
        replace(plain, id="i-safe", deletion_protection=True, local_disks=True, network="classic"),
    ]  # fmt: skip


def _records(tenant: str) -> list[Resource]:
    system = Disk("d-0", tenant, instance_id="i-plain")
    loose = replace(system, id="d-loose", type="data", status="Available", instance_id="")
    snapshot = Snapshot("s-0", tenant, disk_id="d-loose", source_disk_type="data")
    eip = Eip("eip-idle", tenant, ip_address="203.0.113.1")
    order = Order(
        "111111111111111", tenant, instance="i-paid", amount=28_800, gross=28_800, status="Paid",
        created=EPOCH - 2 * DAY, paid=EPOCH - 2 * DAY, months=1, starts=EPOCH - 2 * DAY,
        ends=EPOCH + 28 * DAY,
    )  # fmt: skip
    return [
        *_instances(tenant),
        system,
        replace(system, id="d-1", type="data", instance_id="i-kept", delete_with_instance=False),
        replace(system, id="d-2", instance_id="i-saved", portable=False, charge_type="PrePaid"),
        replace(system, id="d-3", instance_id="i-abuse", delete_with_instance=False),
        loose,
        replace(loose, id="d-new", attached_time=0, zone="cn-hangzhou-i"),
        snapshot,
        replace(snapshot, id="s-auto", snapshot_type="auto"),
        replace(snapshot, id="s-image", usage="image", disk_id="d-gone"),
        replace(snapshot, id="s-disk", usage="disk"),
        *_network(tenant),
        replace(system, id="d-off", instance_id="i-off", auto_snapshot_policy_id="sp-1"),
        replace(system, id="d-off-data", instance_id="i-off", type="data", filesystem_gib=20),
        replace(snapshot, id="s-off", disk_id="d-off", source_disk_type="system"),
        replace(snapshot, id="s-short", retention_days=31),
        replace(snapshot, id="s-kept", usage="image", disk_id="d-off", source_disk_type="system"),
        AutoSnapshotPolicy("sp-1", tenant, time_points=("18", "20"), retention_days=1),
        AutoSnapshotPolicy("sp-2", tenant),
        Image("m-1", tenant, name="golden", snapshot_ids=("s-kept",), shared_with=("55555",)),
        Image("m-2", tenant, name="hidden", encrypted=True),
        InvoiceTitle("70001", tenant, title="Ann Example"),
        InvoiceAddress("80001", tenant, addressee="Ann"),
        eip,
        replace(eip, id="eip-nat", ip_address="203.0.113.30", status="InUse",
                instance_id="ngw-1", instance_type="Nat"),
        replace(eip, id="eip-nat-2", ip_address="203.0.113.31", status="InUse",
                instance_id="ngw-1", instance_type="Nat"),
        replace(eip, id="eip-bound", ip_address="203.0.113.2", status="InUse",
                instance_id="i-halted"),
        replace(eip, id="eip-paid", ip_address="203.0.113.3", charge_type="PrePaid"),
        replace(eip, id="eip-wide", ip_address="203.0.113.4", internet_charge="PayByBandwidth",
                bandwidth_cents=15),
        InstanceEvent("e-0", tenant, instance_id="i-abuse", punish_type="mining"),
        order,
        replace(order, id="222222222222222", status="Unpaid", paid=0, instance="i-auto",
                order_type="Upgrade", config="ecs.g7.xlarge", starts=0, ends=0, months=0),
        Coupon("c-1", tenant, nominal=500, balance=500, expires=EPOCH + DAY,
               scenarios=("Renew", "PayAsYouGo")),
        Subscription("i-paid", tenant, starts=EPOCH - 27 * DAY, ends=EPOCH + 3 * HOUR,
                     monthly=28_800),
        BillingAccount(tenant, tenant),
        Scope(tenant, tenant, articles=(ARTICLE,)),
        Profile(tenant, tenant, name="shop", holder="Ann Example", phone="5550100"),
    ]  # fmt: skip


def _network(tenant: str) -> list[Resource]:
    rule = Rule("sgr-1", tenant, group_id="sg-1", cidr="198.51.100.7/32")
    return [
        Vpc("vpc-1", tenant, name="main"),
        Vpc("vpc-empty", tenant),
        VSwitch("vsw-1", tenant, vpc_id="vpc-1"),
        VSwitch("vsw-2", tenant, vpc_id="vpc-1", cidr="10.0.1.0/24"),
        Route("rte-1", tenant, vpc_id="vpc-empty", next_hop_id="ngw-1"),
        Interface("eni-1", tenant, vpc_id="vpc-1", vswitch_id="vsw-1", owner="rds"),
        SecurityGroup("sg-1", tenant, name="web", vpc_id="vpc-1"),
        SecurityGroup("sg-2", tenant, vpc_id="vpc-1"),
        SecurityGroup("sg-empty", tenant, vpc_id="vpc-1"),
        SecurityGroup("sg-owned", tenant, vpc_id="vpc-1", service_managed=True),
        rule,
        replace(rule, id="sgr-2", cidr="", source_group_id="sg-2", port_range="1/65535"),
        replace(rule, id="sgr-3", direction="egress", policy="Drop", cidr="0.0.0.0/0"),
        replace(rule, id="sgr-4", group_id="sg-owned", cidr="0.0.0.0/0"),
        NatGateway("ngw-1", tenant, vpc_id="vpc-1", vswitch_id="vsw-2", snat_table_id="stb-1",
                   forward_table_id="ftb-1"),
        SnatEntry("snat-1", tenant, nat_id="ngw-1", source_vswitch_id="vsw-2",
                  snat_ip="203.0.113.30"),
        ForwardEntry("fwd-1", tenant, nat_id="ngw-1", external_ip="203.0.113.31",
                     external_port="80", internal_ip="10.0.0.22", internal_port="80",
                     protocol="TCP"),
    ]  # fmt: skip


def crowd(cash: int) -> Cloud:
    """Two accounts with one of everything, the neighbour's ids all other than ours."""
    cloud = Cloud(ALL, 7, ACCOUNT, EPOCH)
    for record in _records(ACCOUNT):
        cloud.insert(record)
    for record in _records(NEIGHBOUR):
        cloud.insert(_foreign(record))
    for tenant in (ACCOUNT, NEIGHBOUR):
        _book(cloud, tenant, cash)
    return cloud


FOREIGN_FIELDS = (
    "instance_id", "disk_id", "instance", "vpc_id", "vswitch_id", "group_id", "source_group_id",
    "nat_id", "source_vswitch_id", "next_hop_id", "auto_snapshot_policy_id", "snat_table_id",
    "forward_table_id",
)  # fmt: skip
FOREIGN_LISTS = ("security_groups", "snapshot_ids")


def _foreign(record: Resource) -> Resource:
    changes: dict[str, Any] = {}
    if record.id != NEIGHBOUR:
        changes["id"] = foreign(record.id)
    for field in FOREIGN_FIELDS:
        if getattr(record, field, ""):
            changes[field] = foreign(getattr(record, field))
    for field in FOREIGN_LISTS:
        if getattr(record, field, ()):
            changes[field] = tuple(foreign(id) for id in getattr(record, field))
    return replace(record, **changes)


def foreign(id: str) -> str:
    """The neighbour's counterpart of one of our ids."""
    return f"{id}9" if id.isdigit() else f"{id}-theirs"


def _book(cloud: Cloud, tenant: str, cash: int) -> None:
    at = EPOCH - 3 * DAY
    mine, bank = f"cash:{tenant}", f"bank:{tenant}"
    cloud.ledger.append([Posting(at, bank, mine, 28_800, "payment", "", "")])
    cloud.ledger.append([Posting(at, "provider", f"voucher:{tenant}", 500, "voucher", "", "")])
    for order in cloud.records("billing.order", tenant).values():
        if isinstance(order, Order) and order.status == "Paid":
            cloud.ledger.append(settlement(order))
    if cash > 0:
        cloud.ledger.append([Posting(at, bank, mine, cash, "payment", "", "")])
    elif cash < 0:
        cloud.ledger.append([Posting(at, mine, "provider", -cash, "compute", "i-plain", "")])


def fingerprint(cloud: Cloud):
    """Everything that a call could change; records never change themselves."""
    tables = {
        (tenant, kind): dict(cloud.records(kind, tenant))
        for tenant in (ACCOUNT, NEIGHBOUR)
        for kind in cloud.catalogue.kinds
    }
    return cloud.now, tables, len(cloud.ledger.postings), len(cloud.audit), cloud.pending


# -- calls ---------------------------------------------------------------------------------------

TIMES = ("2026-11-01T00:00:00Z", "2026-11-30T07:00:00Z", "2026-11-30T08:00Z", "2026-12-24T00:00Z")
TOKENS = ("t-1", "t-2", "t-3")
PREFIXES = {
    "napshotPolicy": "sp-", "Rule": "sgr-", "Group": "sg-", "Vpc": "vpc-", "VSwitch": "vsw-",
    "NatGateway": "ngw-", "SnatEntry": "snat-", "ForwardEntry": "fwd-", "Image": "m-",
    "disk": "d-", "Invoke": "t-", "NextHop": "ngw-", "Customer": "7000", "Address": "8000",
    "Instance": "i-", "Resource": "i-", "Disk": "d-", "Snapshot": "s-", "Allocation": "eip-",
    "Coupon": "c-", "Article": "ecs/",
}  # fmt: skip
WORDS: dict[str, tuple[str, ...]] = {
    "ClientToken": TOKENS,
    "RegionId": ("cn-hangzhou", "cn-hangzhou", "cn-beijing"),
    "BillingCycle": ("2026-11", "2026-12", "2026-01"),
    "BillingDate": ("2026-11-30", "2026-12-01"),
    "ProductCode": ("ecs", "ecs", "disk"),
    "IpAddress": ("203.0.113.1", "203.0.113.9"),
    "EipAddress": ("203.0.113.1", "203.0.113.9"),
    "InstanceType": ("ecs.c7.large", "ecs.g7.xlarge", "none"),
    "Password": ("Abcdef12", "weak"),
}
WORDS |= {
    "PortRange": ("22/22", "22/22", "80/80", "1/65535", "-1/-1", "x"),
    "SourceCidrIp": ("198.51.100.7/32", "198.51.100.7/32", "0.0.0.0/0", "x"),
    "DestCidrIp": ("0.0.0.0/0", "192.0.2.0/24"),
    "SourceCIDR": ("10.0.0.0/24", "10.0.2.0/24"),
    "SourceIp": ("198.51.100.7", "10.0.0.9", "0.0.0.0/0"),
    "SnatIp": ("203.0.113.30", "203.0.113.30,203.0.113.31", "203.0.113.1"),
    "ExternalIp": ("203.0.113.31", "203.0.113.30"),
    "InternalIp": ("10.0.0.21", "10.0.0.22", "10.0.0.11"),
    "ExternalPort": ("80", "8080", "Any"),
    "InternalPort": ("80", "8080", "Any"),
    "SnatTableId": ("stb-1", "stb-1", "stb-none"),
    "ForwardTableId": ("ftb-1", "ftb-1", "ftb-none"),
    "timePoints": ('["2"]', '["19","0"]', "[]"),
    "repeatWeekdays": ('["1","2","3","4","5","6","7"]', '["8"]'),
    "DestinationRegionId": ("cn-beijing", "cn-hangzhou"),
    "AddAccount": ("66666", "77777", ACCOUNT),
    "RemoveAccount": ("55555", "66666"),
    "CommandContent": ("nproc", "df -h", "uptime", "rm -rf /"),
    "InvoiceTitle": ("Ann Example", "shop"),
}
USUAL = ("InvoiceByAmount",)
"""Optional, but without them a call hardly ever works."""
OTHER_WORDS = ("web", "x", "2", "shop", "Ann Example", "5550100")


def known_ids(cloud: Cloud) -> list[str]:
    """Every id of the account, in the order of kinds and of creation."""
    ids = [id for kind in cloud.catalogue.kinds for id in cloud.records(kind)]
    return [*ids, ARTICLE]


def arguments_for(chance: Stream, operation: Operation, ids: list[str]) -> dict[str, Any]:
    """Arguments that the operation's schema mostly takes, about things that mostly exist."""
    properties = operation.parameters["properties"]
    required = operation.parameters.get("required", ())
    return {
        name: _value(chance, name, schema, ids)
        for name, schema in properties.items()
        if name in required or name in USUAL or chance.below(5) == 0
    }


def _value(chance: Stream, name: str, schema: Any, ids: list[str]) -> Any:
    if name == "DryRun":
        return chance.below(4) == 0
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if schema.get("type") == "boolean":
        return chance.below(2) == 1
    if schema.get("type") == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 10**6)
        return chance.choice(sorted({low, min(low + 59, high), min(200, high), high}))
    if schema.get("type") == "array":
        return [_value(chance, name, schema["items"], ids) for _ in range(chance.integer(1, 2))]
    return _text(chance, name, ids)


def _text(chance: Stream, name: str, ids: list[str]) -> str:
    if name == "SelectedIds":
        return _id(chance, name, ids)
    if name in WORDS:
        return chance.choice(WORDS[name])
    if "Time" in name:
        return chance.choice(TIMES)
    several = [_id(chance, name, ids) for _ in range(chance.integer(1, 2))]
    if name == "InstanceIDs":
        return ",".join(several)
    if name.endswith(("Ids", "IPs", "Addresses")):
        return json.dumps(several)
    if "Id" in name or "ID" in name or name == "CouponNo":
        return several[0]
    return chance.choice(OTHER_WORDS)


def _id(chance: Stream, name: str, ids: list[str]) -> str:
    """Mostly an id of the kind that the parameter's name asks for."""
    prefix = next((p for word, p in PREFIXES.items() if word in name), "")
    fitting = [id for id in ids if (id.startswith(prefix) if prefix else id.isdigit())]
    luck = chance.below(16)
    if luck == 0:
        return chance.choice([*ids, "none"])
    id = chance.choice(fitting or ids)
    return foreign(id) if luck == 1 else id
