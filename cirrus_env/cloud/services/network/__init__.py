"""Networks: VPCs, switches, routes, security groups, and what gets through to whom.

Events that it tells: ``security_groups.changed`` (instance, groups) when an instance joins or
leaves one.
"""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.network import groups, probes, rules, vpcs
from cirrus_env.cloud.services.network.models import (
    LIFECYCLE,
    Interface,
    Route,
    Rule,
    SecurityGroup,
    Vpc,
    VSwitch,
)

SERVICE: Final = Service(
    name="network",
    kinds=(Vpc, VSwitch, Route, Interface, SecurityGroup, Rule),
    operations=(
        *vpcs.OPERATIONS,
        *groups.OPERATIONS,
        *rules.OPERATIONS,
        *probes.OPERATIONS,
    ),
    lifecycle=LIFECYCLE,
    measures=probes.MEASURES,
    links={
        VSwitch.kind: Link("vpc_id", Vpc.kind),
        Route.kind: Link("vpc_id", Vpc.kind),
        Rule.kind: Link("group_id", SecurityGroup.kind),
    },
)

__all__ = ["SERVICE", "Interface", "Route", "Rule", "SecurityGroup", "VSwitch", "Vpc"]
