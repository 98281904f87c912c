"""Elastic addresses, their lifecycle and what they cost (domain/infrastructure.md, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

EipStatus = Literal["Associating", "Available", "InUse", "Unassociating", "Releasing"]

ASSOCIATE_SECONDS: Final = 10
QUOTA: Final = 20
FREQUENT: Final = 10
"""Releases within a day from which on no new address is sold for a while."""

LIFECYCLE: Final = frozenset(
    {
        ("Available", "Associating"),
        ("Associating", "InUse"),
        ("Associating", "Unassociating"),
        ("InUse", "Unassociating"),
        ("Unassociating", "Available"),
        ("Available", "Releasing"),
    }
)


@dataclass(frozen=True, slots=True)
class Eip(Resource):
    """One elastic public address.

    Attributes:
        instance_id: What it is bound to; empty while it is idle.
        instance_type: The sort of thing it is bound to.
        idle_cents: The instance fee an hour; waived while it is bound to an ECS instance.
        bandwidth_cents: The bandwidth fee an hour, if paid by bandwidth.
        business_status: ``FinancialLocked`` while arrears slow it to nothing.
    """

    kind: ClassVar[str] = "vpc.eip"
    id_prefix: ClassVar[str] = "eip-bp1"

    ip_address: str = "203.0.113.10"
    name: str = ""
    description: str = ""
    status: EipStatus = "Available"
    instance_id: str = ""
    instance_type: str = "EcsInstance"
    bandwidth_mbps: int = 5
    internet_charge: Literal["PayByTraffic", "PayByBandwidth"] = "PayByTraffic"
    charge_type: Literal["PostPaid", "PrePaid"] = "PostPaid"
    expired_time: int = 0
    allocated_time: int = EPOCH - 120 * DAY
    business_status: Literal["Normal", "FinancialLocked"] = "Normal"
    lock_reasons: tuple[str, ...] = ()
    deletion_protection: bool = False
    bandwidth_package_id: str = ""
    isp: Literal["BGP", "BGP_PRO"] = "BGP"
    region: str = REGION
    idle_cents: int = 2
    bandwidth_cents: int = 0


@dataclass(frozen=True, slots=True)
class ReleasedEip(Resource):
    """A released address: its last owner may claim it again in the same clock hour."""

    kind: ClassVar[str] = "vpc.released_eip"

    ip_address: str = ""
    released_time: int = 0


def rates(eip: Eip, now: int) -> tuple[tuple[str, int], ...]:
    """The instance fee falls due while the address is on no ECS instance; bandwidth always."""
    if eip.charge_type == "PrePaid" or eip.business_status != "Normal":
        return ()
    result = []
    if not (eip.instance_id and eip.instance_type == "EcsInstance"):
        result.append(("EIP instance fee", eip.idle_cents))
    if eip.internet_charge == "PayByBandwidth" and eip.bandwidth_cents:
        result.append(("EIP bandwidth", eip.bandwidth_cents))
    return tuple(result)
