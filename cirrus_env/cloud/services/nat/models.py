"""NAT gateways and their entries (domain/infrastructure.md, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

ENTRY_SECONDS: Final = 20
CREATE_SECONDS: Final = 60
SNAT_ENTRIES: Final = 40
FORWARD_ENTRIES: Final = 100

EntryStatus = Literal["Pending", "Available", "Modifying", "Deleting"]


@dataclass(frozen=True, slots=True)
class NatGateway(Resource):
    """One NAT gateway. Its elastic addresses are records of their own that name it.

    Attributes:
        snat_table_id: The table of its entries for outgoing connections.
        forward_table_id: The table of its entries for incoming connections.
        business_status: ``FinancialLocked`` while arrears stop it.
        hourly_cents: What it costs an hour, used or not.
    """

    kind: ClassVar[str] = "nat.nat"
    id_prefix: ClassVar[str] = "ngw-bp1"

    name: str = ""
    description: str = ""
    status: Literal["Creating", "Available", "Modifying", "Deleting"] = "Available"
    nat_type: Literal["Enhanced"] = "Enhanced"
    vpc_id: str = "vpc-bp1default000000001"
    vswitch_id: str = "vsw-bp1default00000001"
    snat_table_id: str = "stb-bp1default000000001"
    forward_table_id: str = "ftb-bp1default000000001"
    charge_type: Literal["PostPaid", "PrePaid"] = "PostPaid"
    business_status: Literal["Normal", "FinancialLocked"] = "Normal"
    deletion_protection: bool = False
    region: str = REGION
    created_time: int = EPOCH - 90 * DAY
    hourly_cents: int = 18


@dataclass(frozen=True, slots=True)
class SnatEntry(Resource):
    """One entry for outgoing connections.

    Attributes:
        nat_id: The gateway.
        source_vswitch_id: Whose instances may go out by it; empty where a block is named.
        source_cidr: The block that may go out by it.
        snat_ip: The gateway's addresses that they go out with, parted by commas.
    """

    kind: ClassVar[str] = "nat.snat_entry"
    id_prefix: ClassVar[str] = "snat-bp1"

    nat_id: str = ""
    name: str = ""
    status: EntryStatus = "Available"
    source_vswitch_id: str = ""
    source_cidr: str = ""
    snat_ip: str = ""


@dataclass(frozen=True, slots=True)
class ForwardEntry(Resource):
    """One entry for incoming connections (DNAT).

    Attributes:
        nat_id: The gateway.
        external_ip: The gateway's address that is connected to.
        external_port: Its port, ``Any`` for all.
        internal_ip: The private address that it leads to.
        internal_port: That one's port, ``Any`` for all.
    """

    kind: ClassVar[str] = "nat.forward_entry"
    id_prefix: ClassVar[str] = "fwd-bp1"

    nat_id: str = ""
    name: str = ""
    status: EntryStatus = "Available"
    external_ip: str = ""
    external_port: str = "Any"
    internal_ip: str = ""
    internal_port: str = "Any"
    protocol: Literal["TCP", "UDP", "Any"] = "Any"


_ENTRY: Final = frozenset(
    {("Pending", "Available"), ("Available", "Modifying"), ("Modifying", "Available")}
)
LIFECYCLE: Final = {
    NatGateway.kind: frozenset(
        {("Creating", "Available"), ("Available", "Modifying"), ("Modifying", "Available")}
    ),
    SnatEntry.kind: _ENTRY,
    ForwardEntry.kind: _ENTRY,
}


def rates(nat: NatGateway, now: int) -> tuple[tuple[str, int], ...]:
    """A gateway costs the same whether anything goes through it or not."""
    if nat.charge_type == "PrePaid" or nat.business_status != "Normal":
        return ()
    return (("NAT gateway", nat.hourly_cents),)
