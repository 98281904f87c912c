"""Operations on a NAT gateway's entries: outgoing (SNAT) and incoming (DNAT)."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    PAGING,
    REGION_ID,
    one_of,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.reach import network
from cirrus_env.cloud.services.nat.gateways import (
    NAT_ID,
    addresses,
    forward_entries,
    known_switch,
    no_switch,
    snat_entries,
    usable,
)
from cirrus_env.cloud.services.nat.models import (
    ENTRY_SECONDS,
    FORWARD_ENTRIES,
    SNAT_ENTRIES,
    ForwardEntry,
    NatGateway,
    SnatEntry,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def _by_table(work: Work, field: str, id: str) -> NatGateway:
    for nat in work.all(NatGateway):
        if getattr(nat, field) == id:
            return nat
    name = "SnatTableId" if field == "snat_table_id" else "ForwardTableId"
    raise CloudError(f"Invalid{name}.NotFound", f"No gateway of this account has {id}.", 404)


def describe_snat(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSnatTableEntries."""
    found = work.all(SnatEntry)
    if "SnatTableId" in arguments:
        nat = _by_table(work, "snat_table_id", arguments["SnatTableId"])
        found = [e for e in found if e.nat_id == nat.id]
    tests = (
        ("NatGatewayId", "nat_id"), ("SnatEntryId", "id"), ("SourceCIDR", "source_cidr"),
        ("SourceVSwitchId", "source_vswitch_id"),
    )  # fmt: skip
    found = [
        e for e in found
        if all(arguments.get(name) in (None, getattr(e, field)) for name, field in tests)
        and arguments.get("SnatIp") in (None, *e.snat_ip.split(","))
    ]  # fmt: skip
    items, paging = page(found, arguments)
    tables = {nat.id: nat.snat_table_id for nat in work.all(NatGateway)}
    shown = [
        {
            "SnatEntryId": e.id,
            "SnatEntryName": e.name,
            "SnatTableId": tables.get(e.nat_id, ""),
            "NatGatewayId": e.nat_id,
            "SnatIp": e.snat_ip,
            "SourceVSwitchId": e.source_vswitch_id,
            "SourceCIDR": e.source_cidr,
            "Status": e.status,
        }
        for e in items
    ]
    return {"SnatTableEntries": {"SnatTableEntry": shown}, **paging}


def describe_forward(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeForwardTableEntries."""
    found = work.all(ForwardEntry)
    if "ForwardTableId" in arguments:
        nat = _by_table(work, "forward_table_id", arguments["ForwardTableId"])
        found = [e for e in found if e.nat_id == nat.id]
    tests = (
        ("NatGatewayId", "nat_id"), ("ForwardEntryId", "id"), ("ExternalIp", "external_ip"),
        ("InternalIp", "internal_ip"),
    )  # fmt: skip
    found = [
        e for e in found
        if all(arguments.get(name) in (None, getattr(e, field)) for name, field in tests)
    ]  # fmt: skip
    items, paging = page(found, arguments)
    tables = {nat.id: nat.forward_table_id for nat in work.all(NatGateway)}
    shown = [
        {
            "ForwardEntryId": e.id,
            "ForwardEntryName": e.name,
            "ForwardTableId": tables.get(e.nat_id, ""),
            "NatGatewayId": e.nat_id,
            "ExternalIp": e.external_ip,
            "ExternalPort": e.external_port,
            "InternalIp": e.internal_ip,
            "InternalPort": e.internal_port,
            "IpProtocol": e.protocol,
            "Status": e.status,
        }
        for e in items
    ]
    return {"ForwardTableEntries": {"ForwardTableEntry": shown}, **paging}


def _check_addresses(work: Work, nat: NatGateway, ips: list[str]) -> None:
    bound = {view(eip, "ip_address") for eip in addresses(work, nat.id)}
    for ip in ips:
        if ip not in bound:
            raise CloudError(
                "InvalidSnatIp.NotFound", f"{ip[:64]} is no elastic address of the gateway.", 404
            )
    used = {e.external_ip for e in forward_entries(work, nat.id) if e.external_port == "Any"}
    for ip in ips:
        if ip in used:
            raise CloudError(
                "Forbidden.IpUsedInForwardTable", f"{ip} serves a forwarding entry for all ports.",
                400,
            )  # fmt: skip


def create_snat(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateSnatEntry: Pending for a while, then Available."""
    nat = usable(_by_table(work, "snat_table_id", arguments["SnatTableId"]))
    switch, cidr = arguments.get("SourceVSwitchId", ""), arguments.get("SourceCIDR", "")
    if bool(switch) == bool(cidr):
        raise CloudError("MissingParameter", "Name one of SourceVSwitchId and SourceCIDR.", 400)
    if switch and not known_switch(work, switch):
        raise no_switch(switch)
    if cidr and network(cidr) is None:
        raise CloudError("InvalidSourceCIDR.Malformed", f"{cidr[:64]} is no IPv4 block.", 400)
    ips = [ip.strip() for ip in arguments["SnatIp"].split(",")]
    _check_addresses(work, nat, ips)
    present = snat_entries(work, nat.id)
    if any((e.source_vswitch_id, e.source_cidr) == (switch, cidr) for e in present):
        raise CloudError("OperationUnsupported.CidrConflict", "The source has an entry.", 400)
    if len(present) >= SNAT_ENTRIES:
        raise CloudError(
            "Forbidden.SnatEntryCountLimited", f"A gateway has at most {SNAT_ENTRIES} entries.", 400
        )
    entry = SnatEntry(
        work.new_id(SnatEntry), work.tenant, nat_id=nat.id, name=arguments.get("SnatEntryName", ""),
        status="Pending", source_vswitch_id=switch, source_cidr=cidr, snat_ip=",".join(ips),
    )  # fmt: skip
    work.put(entry)
    work.later(ENTRY_SECONDS, entry, status="Available")
    return {"SnatEntryId": entry.id}


def delete_snat(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteSnatEntry."""
    nat = usable(_by_table(work, "snat_table_id", arguments["SnatTableId"]))
    entry = work.get(SnatEntry, arguments["SnatEntryId"])
    if entry is None or entry.nat_id != nat.id:
        raise CloudError("InvalidSnatEntryId.NotFound", "The table has no such entry.", 404)
    if entry.status != "Available":
        raise CloudError("IncorretSnatEntryStatus", f"The entry is {entry.status}.", 400)
    work.delete(entry)
    return {}


def create_forward(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateForwardEntry: Pending for a while, then Available."""
    nat = usable(_by_table(work, "forward_table_id", arguments["ForwardTableId"]))
    outer, inner = arguments["ExternalIp"], arguments["InternalIp"]
    ports = arguments["ExternalPort"], arguments["InternalPort"]
    if ("Any" in ports or arguments["IpProtocol"] == "Any") and set(ports) != {"Any"}:
        raise CloudError("InvalidParameter", "Any port or protocol goes with Any of the rest.", 400)
    if outer not in {view(eip, "ip_address") for eip in addresses(work, nat.id)}:
        raise CloudError(
            "InvalidExternalIp.NotFound", f"{outer} is no elastic address of the gateway.", 404
        )
    target = next(
        (i for i in work.peek_all("ecs.instance") if view(i, "private_ip") == inner), None
    )
    if target is None:
        raise CloudError("InvalidInternalIp.NotFound", f"No instance has {inner}.", 404)
    if view(target, "public_ip") or work.linked("vpc.eip", target.id):
        raise CloudError(  # the provider's own spelling
            "Forbindden", "The target has a public address of its own.", 403
        )
    if ports[0] == "Any":
        going_out = {ip for e in snat_entries(work, nat.id) for ip in e.snat_ip.split(",")}
        if outer in going_out:
            raise CloudError(
                "Forbidden.IpUsedInSnatTable", f"{outer} serves outgoing connections.", 400
            )
    present = forward_entries(work, nat.id)
    if any(e.external_ip == outer and e.external_port in (ports[0], "Any") for e in present):
        raise CloudError("InvalidExternalPort.Duplicated", "The port has an entry already.", 400)
    if len(present) >= FORWARD_ENTRIES:
        raise CloudError(
            "Forbidden.ForwardEntryCountLimited",
            f"A gateway has at most {FORWARD_ENTRIES} entries.", 400,
        )  # fmt: skip
    entry = ForwardEntry(
        work.new_id(ForwardEntry), work.tenant, nat_id=nat.id, status="Pending",
        name=arguments.get("ForwardEntryName", ""), external_ip=outer, external_port=ports[0],
        internal_ip=inner, internal_port=ports[1], protocol=arguments["IpProtocol"],
    )  # fmt: skip
    work.put(entry)
    work.later(ENTRY_SECONDS, entry, status="Available")
    return {"ForwardEntryId": entry.id}


def delete_forward(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteForwardEntry."""
    nat = usable(_by_table(work, "forward_table_id", arguments["ForwardTableId"]))
    entry = work.get(ForwardEntry, arguments["ForwardEntryId"])
    if entry is None or entry.nat_id != nat.id:
        raise CloudError("InvalidForwardEntryId.NotFound", "The table has no such entry.", 404)
    if entry.status != "Available":
        raise CloudError("IncorretForwardEntryStatus", f"The entry is {entry.status}.", 400)
    work.delete(entry)
    return {}


_SNAT_TABLE: Final = text("The SNAT table's id, such as stb-bp1abc.", 64)
_FORWARD_TABLE: Final = text("The forwarding table's id, such as ftb-bp1abc.", 64)
_VSWITCH_ID: Final = text("The vSwitch's id, such as vsw-bp1abc.", 64)
_PORT: Final = {
    "type": "string", "pattern": "^(Any|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-5][0-9]{3})$",
    "description": "A port, or Any.",
}  # fmt: skip

OPERATIONS: Final = (
    Operation(
        name="DescribeSnatTableEntries",
        description=(
            "List a NAT gateway's entries for outgoing connections: which vSwitch or block goes "
            "out with which elastic address."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, SnatTableId=_SNAT_TABLE, NatGatewayId=NAT_ID,
            SnatEntryId=text("Only this entry.", 64), SourceVSwitchId=_VSWITCH_ID,
            SourceCIDR=text("Only this block.", 64), SnatIp=text("Only this address.", 64),
            **PAGING,
        ),
        run=describe_snat,
    ),
    Operation(
        name="DescribeForwardTableEntries",
        description=(
            "List a NAT gateway's entries for incoming connections: which port of which elastic "
            "address leads to which private one."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, ForwardTableId=_FORWARD_TABLE, NatGatewayId=NAT_ID,
            ForwardEntryId=text("Only this entry.", 64),
            ExternalIp=text("Only this elastic address.", 64),
            InternalIp=text("Only this private address.", 64), **PAGING,
        ),
        run=describe_forward,
    ),
    Operation(
        name="CreateSnatEntry",
        description=(
            "Let a vSwitch or block go out to the Internet by elastic addresses of the gateway."
        ),
        effect="write",
        parameters=parameters(
            ("SnatTableId", "SnatIp"), RegionId=REGION_ID, SnatTableId=_SNAT_TABLE,
            SnatIp=text("Elastic addresses of the gateway, parted by commas.", 256),
            SourceVSwitchId=_VSWITCH_ID, SourceCIDR=text("A block, such as 10.0.1.0/24.", 64),
            SnatEntryName=text("The name.", 128), ClientToken=CLIENT_TOKEN,
        ),
        run=create_snat,
        resource="SourceVSwitchId",  # whose servers get out; a table has many
        propose={
            "en": (
                ("add", "create", "set up", "make", "configure", "enter", "put"),
                ("snat", "entry", "outbound", "nat"),
            ),
            "zh": (("添加", "创建", "新建", "增加", "新增", "配置"), ("snat", "条目", "出网")),
        },
    ),
    Operation(
        name="DeleteSnatEntry",
        description="Delete an entry for outgoing connections; its source can't go out by it then.",
        effect="write",
        parameters=parameters(
            ("SnatTableId", "SnatEntryId"), RegionId=REGION_ID, SnatTableId=_SNAT_TABLE,
            SnatEntryId=text("The entry's id, such as snat-bp1abc.", 64), ClientToken=CLIENT_TOKEN,
        ),
        run=delete_snat,
        resource="SnatEntryId",
        propose={"en": (("delete", "remove"),), "zh": (("删除", "移除"),)},
    ),
    Operation(
        name="CreateForwardEntry",
        description="Lead a port of an elastic address of the gateway to a private address.",
        effect="write",
        parameters=parameters(
            ("ForwardTableId", "ExternalIp", "ExternalPort", "InternalIp", "InternalPort",
             "IpProtocol"),
            RegionId=REGION_ID, ForwardTableId=_FORWARD_TABLE,
            ExternalIp=text("An elastic address of the gateway.", 64), ExternalPort=_PORT,
            InternalIp=text("An instance's private address.", 64), InternalPort=_PORT,
            IpProtocol=one_of("TCP", "UDP", "Any"), ForwardEntryName=text("The name.", 128),
            ClientToken=CLIENT_TOKEN,
        ),
        run=create_forward,
        resource="ForwardTableId",
        propose={
            "en": (("add", "create", "set up", "make"), ("dnat", "forward", "forwarding")),
            "zh": (("添加", "创建", "新建", "增加"), ("dnat", "转发")),
        },
    ),
    Operation(
        name="DeleteForwardEntry",
        description="Delete an entry for incoming connections.",
        effect="write",
        parameters=parameters(
            ("ForwardTableId", "ForwardEntryId"), RegionId=REGION_ID, ForwardTableId=_FORWARD_TABLE,
            ForwardEntryId=text("The entry's id, such as fwd-bp1abc.", 64),
            ClientToken=CLIENT_TOKEN,
        ),
        run=delete_forward,
        resource="ForwardEntryId",
        propose={"en": (("delete", "remove"),), "zh": (("删除", "移除"),)},
    ),
)  # fmt: skip
