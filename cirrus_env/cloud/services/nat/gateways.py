"""Operations on NAT gateways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    one_of,
    overdue,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.nat.models import (
    CREATE_SECONDS,
    ForwardEntry,
    NatGateway,
    SnatEntry,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second

EIP: Final = "vpc.eip"
NAT_ID: Final = text("The NAT gateway's id, such as ngw-bp1abc.", 64)


def find(work: Work, id: str) -> NatGateway:
    """The gateway, or the refusal that there is none."""
    nat = work.get(NatGateway, id)
    if nat is None:
        raise CloudError(
            "InvalidNatGatewayId.NotFound", f"This account has no NAT gateway {id}.", 404
        )
    return nat


def usable(nat: NatGateway) -> NatGateway:
    """The gateway if its entries may be changed now."""
    if nat.business_status != "Normal":
        raise CloudError("InvalidStatus.NatGatewayLocked", "Arrears lock the gateway.", 400)
    if nat.status != "Available":
        raise CloudError(  # the provider's own spelling
            "IncorretNatGatewayStatus", f"The gateway is {nat.status}; it has to be Available.", 400
        )
    return nat


def addresses(work: Work, nat_id: str) -> list[Resource]:
    """The elastic addresses on a gateway."""
    return work.linked(EIP, nat_id)


def snat_entries(work: Work, nat_id: str) -> list[SnatEntry]:
    """The gateway's entries for outgoing connections."""
    return [e for e in work.linked(SnatEntry.kind, nat_id) if isinstance(e, SnatEntry)]


def forward_entries(work: Work, nat_id: str) -> list[ForwardEntry]:
    """The gateway's entries for incoming connections."""
    return [e for e in work.linked(ForwardEntry.kind, nat_id) if isinstance(e, ForwardEntry)]


def _shown(work: Work, nat: NatGateway) -> dict[str, Any]:
    going_out = {ip for e in snat_entries(work, nat.id) for ip in e.snat_ip.split(",")}
    coming_in = {e.external_ip for e in forward_entries(work, nat.id)}
    listed = []
    for eip in addresses(work, nat.id):
        address = view(eip, "ip_address")
        using = "UsedBySnatTable" if address in going_out else (
            "UsedByForwardTable" if address in coming_in else "Idle"
        )  # fmt: skip
        listed.append({"AllocationId": eip.id, "IpAddress": address, "UsingStatus": using})
    return {
        "NatGatewayId": nat.id,
        "Name": nat.name,
        "Description": nat.description,
        "Status": nat.status,
        "BusinessStatus": nat.business_status,
        "NatType": nat.nat_type,
        "InstanceChargeType": nat.charge_type,
        "VpcId": nat.vpc_id,
        "VSwitchId": nat.vswitch_id,
        "RegionId": nat.region,
        "DeletionProtection": nat.deletion_protection,
        "IpLists": {"IpList": listed},
        "SnatTableIds": {"SnatTableId": [nat.snat_table_id]},
        "ForwardTableIds": {"ForwardTableId": [nat.forward_table_id]},
        "CreationTime": iso_second(nat.created_time),
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeNatGateways: every filter narrows."""
    region = arguments.get("RegionId", REGION)
    tests = (("NatGatewayId", "id"), ("VpcId", "vpc_id"), ("Status", "status"))
    name = arguments.get("Name")
    found = [
        nat for nat in work.all(NatGateway)
        if nat.region == region
        and all(arguments.get(n) in (None, getattr(nat, field)) for n, field in tests)
        and (name is None or fuzzy(name, nat.name))
    ]  # fmt: skip
    items, paging = page(found, arguments)
    return {"NatGateways": {"NatGateway": [_shown(work, nat) for nat in items]}, **paging}


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateNatGateway: charged from now on."""
    if overdue(work):
        raise CloudError("InsufficientBalance", "The account owes money.", 400)
    vpc, switch = arguments["VpcId"], arguments["VSwitchId"]
    instances = work.peek_all("ecs.instance")
    if work.peek("network.vpc", vpc) is None and all(view(i, "vpc_id") != vpc for i in instances):
        raise CloudError("InvalidVpcId.NotFound", f"This account has no VPC {vpc}.", 404)
    if not known_switch(work, switch):
        raise no_switch(switch)
    stream = work.stream("nat.table")
    nat = NatGateway(
        work.new_id(NatGateway), work.tenant, name=arguments.get("Name", ""), status="Creating",
        vpc_id=vpc, vswitch_id=switch, region=arguments.get("RegionId", REGION),
        snat_table_id=f"stb-bp1{stream.letters(17)}", created_time=work.now,
        forward_table_id=f"ftb-bp1{stream.letters(17)}",
    )  # fmt: skip
    work.put(nat)
    work.later(CREATE_SECONDS, nat, status="Available")
    return {
        "NatGatewayId": nat.id,
        "SnatTableIds": {"SnatTableId": [nat.snat_table_id]},
        "ForwardTableIds": {"ForwardTableId": [nat.forward_table_id]},
    }


def known_switch(work: Work, id: str) -> bool:
    """Whether the account has a vSwitch of this id, be it only as an instance's."""
    instances = work.peek_all("ecs.instance")
    return work.peek("network.vswitch", id) is not None or any(
        view(i, "vswitch_id") == id for i in instances
    )


def no_switch(id: str) -> CloudError:
    """No such switch in this account."""
    return CloudError("InvalidVSwitchId.NotFound", f"This account has no vSwitch {id}.", 404)


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteNatGateway: with Force its entries go too and its addresses are unbound."""
    nat = find(work, arguments["NatGatewayId"])
    if nat.charge_type == "PrePaid":
        raise CloudError("OperationDenied.Prepaid", "A subscription gateway stays.", 400)
    if nat.deletion_protection:
        raise CloudError(
            "OperationDenied.DeletionProtection", "The gateway is protected from deletion.", 400
        )
    entries = [*snat_entries(work, nat.id), *forward_entries(work, nat.id)]
    bound = addresses(work, nat.id)
    if not arguments.get("Force"):
        if bound:
            raise CloudError("DependencyViolation.EIPS", "Elastic addresses are bound to it.", 400)
        if entries:
            raise CloudError("DependencyViolation.Entries", "It still has entries.", 400)
    for entry in entries:
        work.delete(entry)
    work.delete(nat)
    work.emit("nat.released", record=nat)
    return {}


def on_suspended(work: Work, data: Mapping[str, Any]) -> None:
    """Arrears past the grace period stop pay-as-you-go gateways."""
    for nat in work.all(NatGateway):
        if nat.charge_type == "PostPaid" and nat.business_status == "Normal":
            work.change(nat, business_status="FinancialLocked")


def on_paid(work: Work, data: Mapping[str, Any]) -> None:
    """Once the debt is paid, gateways work again."""
    for nat in work.all(NatGateway):
        if nat.business_status == "FinancialLocked":
            work.change(nat, business_status="Normal")


HANDLERS: Final = {"account.suspended": on_suspended, "account.paid": on_paid}

OPERATIONS: Final = (
    Operation(
        name="DescribeNatGateways",
        description=(
            "List NAT gateways with status, elastic addresses and the ids of their SNAT and "
            "forwarding tables."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, NatGatewayId=NAT_ID,
            VpcId=text("Only gateways of this VPC.", 64),
            Status=one_of("Creating", "Available", "Modifying", "Deleting"),
            Name=text("A name or a part of one.", 128), **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="CreateNatGateway",
        description="Buy a pay-as-you-go NAT gateway; it is charged by the hour, used or not.",
        effect="write",
        parameters=parameters(
            ("VpcId", "VSwitchId"), RegionId=REGION_ID,
            VpcId=text("The VPC's id, such as vpc-bp1abc.", 64),
            VSwitchId=text("The vSwitch that it stands in.", 64),
            Name=text("The name.", 128), ClientToken=CLIENT_TOKEN,
        ),
        run=create,
        resource="VpcId",
        propose={
            "en": (("buy", "create", "set up"), ("nat", "gateway")),
            "zh": (("购买", "创建", "新建"), ("nat", "网关")),
        },
    ),
    Operation(
        name="DeleteNatGateway",
        description=(
            "Delete a NAT gateway. Force also deletes its entries and unbinds its elastic "
            "addresses, which cuts whatever goes through it."
        ),
        effect="irreversible",
        parameters=parameters(
            ("NatGatewayId",), RegionId=REGION_ID, NatGatewayId=NAT_ID,
            Force={**FLAG, "description": "With its entries and addresses."}, DryRun=DRY_RUN,
        ),
        run=delete,
        resource="NatGatewayId",
        propose={
            "en": (("delete", "release", "remove"),),
            "zh": (("删除", "释放"),),
        },
    ),
)  # fmt: skip
