"""Operations on elastic addresses: what they are bound to."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    FLAG,
    REGION_ID,
    one_of,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.vpc import errors
from cirrus_env.cloud.services.vpc.models import ASSOCIATE_SECONDS, Eip
from cirrus_env.cloud.services.vpc.tools import ALLOCATION_ID, ECS, TYPES, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

_TARGETS: Final = {"EcsInstance": ECS, "Nat": "nat.nat"}
ADDRESSES_A_GATEWAY: Final = 20


def associate(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """AssociateEipAddress."""
    eip = find(work, arguments["AllocationId"])
    type = arguments.get("InstanceType", "EcsInstance")
    kind = _TARGETS.get(type)
    instance = None if kind is None else work.peek(kind, arguments["InstanceId"])
    if instance is None:
        raise errors.no_instance(arguments["InstanceId"])
    if eip.business_status != "Normal":
        raise errors.locked()
    if eip.status == "InUse":
        raise CloudError(
            "InvalidAssociation.Duplicated", f"The address is bound to {eip.instance_id}.", 400
        )
    if eip.status != "Available":
        raise errors.wrong_status(eip.status, "Available")
    if view(instance, "region") != eip.region:
        raise CloudError(
            "InvalidParameter.Mismatch", "The address and the instance are in two regions.", 400
        )
    if type == "Nat":
        _on_gateway(work, instance)
    else:
        _on_server(work, instance)
    binding = work.change(eip, status="Associating", instance_id=instance.id, instance_type=type)
    work.later(ASSOCIATE_SECONDS, binding, status="InUse")
    return {}


def _on_gateway(work: Work, nat: Resource) -> None:
    if view(nat, "status") != "Available" or view(nat, "business_status") != "Normal":
        raise CloudError("IncorrectInstanceStatus", "The gateway isn't Available.", 400)
    if len(work.linked(Eip.kind, nat.id)) >= ADDRESSES_A_GATEWAY:
        raise CloudError(
            "QuotaExceeded.Eip", f"A gateway holds {ADDRESSES_A_GATEWAY} addresses.", 400
        )


def _on_server(work: Work, instance: Resource) -> None:
    if view(instance, "network") != "vpc":
        raise CloudError("OperationDenied", "The instance isn't in a VPC.", 400)
    if view(instance, "status") not in ("Running", "Stopped"):
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {view(instance, 'status')}; it has to be Running or Stopped.", 400,
        )  # fmt: skip
    if view(instance, "public_ip") or work.linked(Eip.kind, instance.id):
        raise CloudError(
            "BIND_INSTANCE_HAVE_PORTMAP_OR_BIND_EIP",
            "The instance has a static public address or an elastic one already.", 400,
        )  # fmt: skip


def unassociate(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """UnassociateEipAddress."""
    eip = find(work, arguments["AllocationId"])
    if eip.status != "InUse":
        raise errors.wrong_status(eip.status, "InUse")
    if arguments.get("InstanceId", eip.instance_id) != eip.instance_id:
        raise CloudError(
            "InvalidAssociation.NotExists", "The address isn't bound to that instance.", 400
        )
    leaving = work.change(eip, status="Unassociating")
    work.later(ASSOCIATE_SECONDS, leaving, status="Available", instance_id="")
    return {}


OPERATIONS: Final = (
    Operation(
        name="AssociateEipAddress",
        description=(
            "Bind an idle elastic address to an instance that has no public address, or with "
            "InstanceType Nat to a NAT gateway."
        ),
        effect="write",
        parameters=parameters(
            ("AllocationId", "InstanceId"),
            RegionId=REGION_ID,
            AllocationId=ALLOCATION_ID,
            InstanceId=text("The instance's or gateway's id.", 64),
            InstanceType=one_of(*TYPES, default="EcsInstance"),
            Mode=one_of("NAT", "BINDED", "MULTI_BINDED", default="NAT"),
            ClientToken=CLIENT_TOKEN,
        ),
        run=associate,
        resource="AllocationId",
        propose={
            "en": (("bind", "associate", "attach", "assign"),),
            "zh": (("绑定", "关联", "挂载"),),
        },
    ),
    Operation(
        name="UnassociateEipAddress",
        description=(
            "Take an elastic address off its instance. The address stays the account's, and from "
            "then on its instance fee is charged."
        ),
        effect="write",
        parameters=parameters(
            ("AllocationId",),
            RegionId=REGION_ID,
            AllocationId=ALLOCATION_ID,
            InstanceId=text("The instance that it is bound to.", 64),
            InstanceType=one_of(*TYPES, default="EcsInstance"),
            Force=FLAG,
            ClientToken=CLIENT_TOKEN,
        ),
        run=unassociate,
        resource="AllocationId",
        propose={
            "en": (("unbind", "detach", "disassociate", "unassociate", "take off", "remove"),),
            "zh": (("解绑", "解除绑定", "解除关联", "卸下"),),
        },
    ),
)
