"""NAT gateways: how instances without a public address go out, and are reached.

Events that it tells: ``nat.released`` (record) when a gateway is gone; its elastic addresses are
the vpc service's to unbind.
"""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.nat import entries, gateways
from cirrus_env.cloud.services.nat.models import (
    LIFECYCLE,
    ForwardEntry,
    NatGateway,
    SnatEntry,
    rates,
)

SERVICE: Final = Service(
    name="nat",
    kinds=(NatGateway, SnatEntry, ForwardEntry),
    operations=(*gateways.OPERATIONS, *entries.OPERATIONS),
    lifecycle=LIFECYCLE,
    rates={NatGateway.kind: rates},
    handlers=gateways.HANDLERS,
    links={
        SnatEntry.kind: Link("nat_id", NatGateway.kind),
        ForwardEntry.kind: Link("nat_id", NatGateway.kind),
    },
)

__all__ = ["SERVICE", "ForwardEntry", "NatGateway", "SnatEntry"]
