"""Operations on VPCs, their switches, routes and interfaces."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    DRY_RUN,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    one_of,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.network import errors
from cirrus_env.cloud.services.network.models import Interface, Route, SecurityGroup, Vpc, VSwitch
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import iso_second

_ECS: Final = "ecs.instance"
_NAT: Final = "nat.nat"


def _vpc(work: Work, id: str) -> Vpc:
    vpc = work.get(Vpc, id)
    if vpc is None:
        raise errors.no_vpc(id)
    return vpc


def _switches(work: Work, vpc_id: str) -> list[VSwitch]:
    return [s for s in work.linked(VSwitch.kind, vpc_id) if isinstance(s, VSwitch)]


def _shown(work: Work, vpc: Vpc) -> dict[str, Any]:
    return {
        "VpcId": vpc.id,
        "VpcName": vpc.name,
        "Description": vpc.description,
        "Status": vpc.status,
        "CidrBlock": vpc.cidr,
        "IsDefault": vpc.is_default,
        "RegionId": vpc.region,
        "CreationTime": iso_second(vpc.created_time),
        "VSwitchIds": {"VSwitchId": [s.id for s in _switches(work, vpc.id)]},
        "NatGatewayIds": {
            "NatGatewayIds": [n.id for n in work.peek_all(_NAT) if view(n, "vpc_id") == vpc.id]
        },
    }


def describe_vpcs(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeVpcs."""
    region = arguments.get("RegionId", REGION)
    wanted = arguments.get("VpcId")
    name = arguments.get("VpcName")
    ids = None if wanted is None else {id.strip() for id in wanted.split(",", 20)[:20]}
    found = [
        vpc for vpc in work.all(Vpc)
        if vpc.region == region
        and (ids is None or vpc.id in ids)
        and (name is None or fuzzy(name, vpc.name))
    ]  # fmt: skip
    items, paging = page(found, arguments)
    return {"Vpcs": {"Vpc": [_shown(work, vpc) for vpc in items]}, **paging}


def describe_vpc(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeVpcAttribute: the VPC and how much of what is in it."""
    vpc = _vpc(work, arguments["VpcId"])
    inside = {
        "VSwitch": len(_switches(work, vpc.id)),
        "SecurityGroup": sum(g.vpc_id == vpc.id for g in work.all(SecurityGroup)),
        "Instance": sum(view(i, "vpc_id") == vpc.id for i in work.peek_all(_ECS)),
        "NatGateway": sum(view(n, "vpc_id") == vpc.id for n in work.peek_all(_NAT)),
        "NetworkInterface": sum(e.vpc_id == vpc.id for e in work.all(Interface)),
    }
    resources = [
        {"ResourceType": name, "ResourceCount": count} for name, count in inside.items() if count
    ]
    return {**_shown(work, vpc), "CloudResources": {"CloudResourceSetType": resources}}


def describe_vswitches(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeVSwitches."""
    region = arguments.get("RegionId", REGION)
    tests = (("VSwitchId", "id"), ("VpcId", "vpc_id"), ("ZoneId", "zone"))
    found = [
        s for s in work.all(VSwitch)
        if s.region == region
        and all(arguments.get(name) in (None, getattr(s, field)) for name, field in tests)
    ]  # fmt: skip
    items, paging = page(found, arguments)
    shown = [
        {
            "VSwitchId": s.id,
            "VSwitchName": s.name,
            "Description": s.description,
            "Status": s.status,
            "VpcId": s.vpc_id,
            "CidrBlock": s.cidr,
            "ZoneId": s.zone,
            "IsDefault": s.is_default,
            "CreationTime": iso_second(s.created_time),
        }
        for s in items
    ]
    return {"VSwitches": {"VSwitch": shown}, **paging}


def describe_routes(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeRouteEntryList."""
    tests = (
        ("RouteTableId", "route_table_id"), ("DestinationCidrBlock", "destination"),
        ("NextHopId", "next_hop_id"), ("NextHopType", "next_hop_type"),
        ("RouteEntryType", "entry_type"),
    )  # fmt: skip
    found = [
        r for r in work.all(Route)
        if all(arguments.get(name) in (None, getattr(r, field)) for name, field in tests)
    ]  # fmt: skip
    items, paging = page(found, arguments)
    shown = [
        {
            "RouteEntryId": r.id,
            "RouteEntryName": r.name,
            "RouteTableId": r.route_table_id,
            "DestinationCidrBlock": r.destination,
            "Type": r.entry_type,
            "Status": r.status,
            "NextHops": {"NextHop": [{"NextHopType": r.next_hop_type, "NextHopId": r.next_hop_id}]},
        }
        for r in items
    ]
    return {"RouteEntrys": {"RouteEntry": shown}, **paging}


def describe_interfaces(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeNetworkInterfaces: those that are no instance's own."""
    region = arguments.get("RegionId", REGION)
    tests = (("VpcId", "vpc_id"), ("VSwitchId", "vswitch_id"), ("InstanceId", "instance_id"))
    group = arguments.get("SecurityGroupId")
    found = [
        e for e in work.all(Interface)
        if e.region == region
        and all(arguments.get(name) in (None, getattr(e, field)) for name, field in tests)
        and (group is None or group in e.security_groups)
    ]  # fmt: skip
    items, paging = page(found, arguments)
    shown = [
        {
            "NetworkInterfaceId": e.id,
            "NetworkInterfaceName": e.name,
            "Description": e.description,
            "Status": e.status,
            "VpcId": e.vpc_id,
            "VSwitchId": e.vswitch_id,
            "PrivateIpAddress": e.private_ip,
            "InstanceId": e.instance_id,
            "ServiceManaged": bool(e.owner),
            "OwnerService": e.owner,
            "SecurityGroupIds": {"SecurityGroupId": list(e.security_groups)},
        }
        for e in items
    ]
    return {"NetworkInterfaceSets": {"NetworkInterfaceSet": shown}, **paging}


def delete_vswitch(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteVSwitch: only an empty one."""
    switch = work.get(VSwitch, arguments["VSwitchId"])
    if switch is None:
        raise errors.no_vswitch(arguments["VSwitchId"])
    inside = [
        r.id for kind in (_ECS, _NAT, Interface.kind) for r in work.peek_all(kind)
        if view(r, "vswitch_id") == switch.id
    ]  # fmt: skip
    if inside:
        raise errors.depends("VSwitch", ", ".join(inside[:10]))
    entries = [e.id for e in work.peek_all("nat.snat_entry")
               if view(e, "source_vswitch_id") == switch.id]  # fmt: skip
    if entries:
        raise errors.depends("SnatEntry", ", ".join(entries[:10]))
    work.delete(switch)
    return {}


def delete_vpc(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteVpc: only an empty one."""
    vpc = _vpc(work, arguments["VpcId"])
    kinds = (VSwitch.kind, SecurityGroup.kind, _NAT, _ECS, Interface.kind)
    inside = [r.id for kind in kinds for r in work.peek_all(kind) if view(r, "vpc_id") == vpc.id]
    if inside:
        raise errors.depends("VpcResources", ", ".join(inside[:10]))
    for route in work.linked(Route.kind, vpc.id):
        work.delete(route)
    work.delete(vpc)
    return {}


_VPC_ID: Final = text("The VPC's id, such as vpc-bp1abc.", 64)
_VSWITCH_ID: Final = text("The vSwitch's id, such as vsw-bp1abc.", 64)
OPERATIONS: Final = (
    Operation(
        name="DescribeVpcs",
        description="List virtual private clouds with their address block, switches and gateways.",
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, VpcId=text("Up to 20 ids, parted by commas.", 2048),
            VpcName=text("A name or a part of one.", 128), **PAGING,
        ),
        run=describe_vpcs,
    ),
    Operation(
        name="DescribeVpcAttribute",
        description="One VPC with the number of instances, switches, groups and gateways in it.",
        effect="read",
        parameters=parameters(("VpcId",), RegionId=REGION_ID, VpcId=_VPC_ID),
        run=describe_vpc,
    ),
    Operation(
        name="DescribeVSwitches",
        description="List the vSwitches of VPCs with zone and address block.",
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, VpcId=_VPC_ID, VSwitchId=_VSWITCH_ID,
            ZoneId=text("Such as cn-hangzhou-h.", 64), **PAGING,
        ),
        run=describe_vswitches,
    ),
    Operation(
        name="DescribeRouteEntryList",
        description="List the entries of a route table: where traffic for a block goes next.",
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID,
            RouteTableId=text("The route table's id, such as vtb-bp1abc.", 64),
            DestinationCidrBlock=text("Only this destination.", 64),
            NextHopId=text("Only entries that lead to this.", 64),
            NextHopType=one_of("local", "Instance", "NatGateway", "VpnGateway", "HaVip"),
            RouteEntryType=one_of("System", "Custom"), **PAGING,
        ),
        run=describe_routes,
    ),
    Operation(
        name="DescribeNetworkInterfaces",
        description=(
            "List network interfaces that are no instance's own, with the product that made them."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, VpcId=_VPC_ID, VSwitchId=_VSWITCH_ID,
            InstanceId=text("Only those attached to this instance.", 64),
            SecurityGroupId=text("Only those in this security group.", 64), **PAGING,
        ),
        run=describe_interfaces,
    ),
    Operation(
        name="DeleteVSwitch",
        description="Delete a vSwitch that nothing uses.",
        effect="irreversible",
        parameters=parameters(
            ("VSwitchId",), RegionId=REGION_ID, VSwitchId=_VSWITCH_ID, DryRun=DRY_RUN
        ),
        run=delete_vswitch,
        resource="VSwitchId",
        propose={"en": (("delete", "remove"),), "zh": (("删除", "移除"),)},
    ),
    Operation(
        name="DeleteVpc",
        description="Delete a VPC that holds nothing any more; its routes go with it.",
        effect="irreversible",
        parameters=parameters(("VpcId",), RegionId=REGION_ID, VpcId=_VPC_ID, DryRun=DRY_RUN),
        run=delete_vpc,
        resource="VpcId",
        propose={"en": (("delete", "remove"),), "zh": (("删除", "移除"),)},
    ),
)  # fmt: skip
