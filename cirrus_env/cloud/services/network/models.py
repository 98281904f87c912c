"""Networks, switches, routes, security groups and rules (domain/infrastructure.md, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

GROUPS_AN_INSTANCE: Final = 5
RULES_A_GROUP: Final = 200
SYSTEM_PRIORITY: Final = 110
"""The priority of the rules that a default group comes with; no rule of the customer's has it."""


@dataclass(frozen=True, slots=True)
class SecurityGroup(Resource):
    """One security group; its rules are records of their own.

    Attributes:
        group_type: ``normal`` (basic) or ``enterprise`` (advanced).
        service_managed: Whether another product owns it, so that nobody edits it by hand.
    """

    kind: ClassVar[str] = "network.security_group"
    id_prefix: ClassVar[str] = "sg-bp1"

    name: str = ""
    description: str = ""
    group_type: Literal["normal", "enterprise"] = "normal"
    vpc_id: str = "vpc-bp1default000000001"
    service_managed: bool = False
    region: str = REGION
    created_time: int = EPOCH - 120 * DAY


@dataclass(frozen=True, slots=True)
class Rule(Resource):
    """One rule of a security group.

    Attributes:
        group_id: The group that it belongs to.
        direction: ``ingress`` for what comes in, ``egress`` for what goes out.
        protocol: ``TCP``, ``UDP``, ``ICMP`` or ``ALL``.
        port_range: Such as ``22/22`` or ``8000/8100``; ``-1/-1`` for all.
        cidr: The other side's addresses; empty where a group is named.
        source_group_id: The other side's security group.
        policy: ``Accept`` or ``Drop``; at equal priority ``Drop`` wins.
        priority: 1 is strongest, 100 weakest; the system's own rules have 110.
    """

    kind: ClassVar[str] = "network.rule"
    id_prefix: ClassVar[str] = "sgr-bp1"

    group_id: str = ""
    direction: Literal["ingress", "egress"] = "ingress"
    protocol: Literal["TCP", "UDP", "ICMP", "ALL"] = "TCP"
    port_range: str = "22/22"
    cidr: str = ""
    source_group_id: str = ""
    policy: Literal["Accept", "Drop"] = "Accept"
    priority: int = 1
    description: str = ""
    created_time: int = EPOCH - 120 * DAY


@dataclass(frozen=True, slots=True)
class Vpc(Resource):
    """One virtual private cloud; its CIDR block never changes."""

    kind: ClassVar[str] = "network.vpc"
    id_prefix: ClassVar[str] = "vpc-bp1"

    name: str = ""
    description: str = ""
    status: Literal["Pending", "Available"] = "Available"
    cidr: str = "10.0.0.0/8"
    is_default: bool = False
    region: str = REGION
    created_time: int = EPOCH - 200 * DAY


@dataclass(frozen=True, slots=True)
class VSwitch(Resource):
    """One switch: a part of a VPC's addresses in one zone.

    Attributes:
        vpc_id: The VPC that it belongs to.
        cidr: Its addresses; never changes.
    """

    kind: ClassVar[str] = "network.vswitch"
    id_prefix: ClassVar[str] = "vsw-bp1"

    name: str = ""
    description: str = ""
    status: Literal["Pending", "Available"] = "Available"
    vpc_id: str = ""
    cidr: str = "10.0.0.0/24"
    zone: str = "cn-hangzhou-h"
    is_default: bool = False
    region: str = REGION
    created_time: int = EPOCH - 200 * DAY


@dataclass(frozen=True, slots=True)
class Route(Resource):
    """One entry of a VPC's route table.

    Attributes:
        vpc_id: The VPC that it belongs to.
        route_table_id: The table.
        entry_type: ``System`` entries come with the VPC, ``Custom`` ones were added.
        next_hop_id: Where it leads; empty for the VPC itself.
    """

    kind: ClassVar[str] = "network.route"
    id_prefix: ClassVar[str] = "rte-bp1"

    name: str = ""
    status: Literal["Pending", "Available"] = "Available"
    vpc_id: str = ""
    route_table_id: str = "vtb-bp1default000000001"
    destination: str = "0.0.0.0/0"
    entry_type: Literal["System", "Custom"] = "Custom"
    next_hop_type: Literal["local", "Instance", "NatGateway", "VpnGateway", "HaVip"] = "NatGateway"
    next_hop_id: str = ""


@dataclass(frozen=True, slots=True)
class Interface(Resource):
    """One network interface that is no instance's own.

    Attributes:
        vswitch_id: The switch whose address it holds.
        owner: The product that made it; empty if the customer did.
        security_groups: The groups that it is in.
    """

    kind: ClassVar[str] = "network.interface"
    id_prefix: ClassVar[str] = "eni-bp1"

    name: str = ""
    description: str = ""
    status: Literal["Available", "InUse"] = "InUse"
    vpc_id: str = ""
    vswitch_id: str = ""
    private_ip: str = "10.0.0.200"
    instance_id: str = ""
    owner: str = ""
    security_groups: tuple[str, ...] = ()
    region: str = REGION


PENDING: Final = frozenset({("Pending", "Available")})
LIFECYCLE: Final = {
    Vpc.kind: PENDING,
    VSwitch.kind: PENDING,
    Route.kind: PENDING,
    Interface.kind: frozenset({("Available", "InUse"), ("InUse", "Available")}),
}
