"""Changing a subscription's type by an order, and what the zone has in stock."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    BOOLEAN,
    CLIENT_TOKEN,
    FLAG,
    REGION_ID,
    one_of,
    overdue,
    parameters,
    text,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.charging import MONTH, order_id, pay, unpaid_order
from cirrus_env.cloud.services.ecs.models import TYPES, Instance
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, expired, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def modify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyPrepayInstanceSpec: ordered now, effective at the next start or restart."""
    instance = find(work, arguments["InstanceId"])
    target, up = arguments["InstanceType"], arguments.get("OperatorType", "upgrade") == "upgrade"
    _check(work, instance, target, up)
    order = order_id(work)
    cents = price(instance, target, work.now) if up else 0
    at_once = arguments.get("AutoPay", True)
    if work.answers("order.placed"):
        work.emit(
            "order.placed", order=order, order_type="Upgrade" if up else "Downgrade",
            instance=instance.id, cents=cents, config=target,
            original_config=instance.instance_type, auto_pay=at_once or not cents,
        )  # fmt: skip
    else:
        pay(work, instance, cents, order)
        instance = work.change(instance, pending_type=target)
    if arguments.get("RebootWhenFinished") and instance.status == "Running" and at_once:
        work.emit("instance.restart_wanted", instance=instance.id, again=True)
    return {"OrderId": order}


def price(instance: Instance, target: str, now: int) -> int:
    """Cents of an upgrade: the difference for the time that is paid already."""
    more = TYPES[target].monthly_cents - instance.monthly_cents
    return max(0, -(-more * max(0, instance.expired_time - now) // MONTH))


def _check(work: Work, instance: Instance, target: str, up: bool) -> None:
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.charge_type == "PostPaid":
        raise errors.charge_type_violation("ModifyInstanceSpec changes a pay-as-you-go instance.")
    if expired(instance, work.now):
        raise CloudError(
            "InvalidInstance.PreInstanceExpired", "The subscription has ended; renew it first.", 403
        )
    if instance.lock_reasons or overdue(work):
        raise errors.arrearage()
    if unpaid_order(work, instance.id):
        raise CloudError("LastOrderProcessing", "An order for it waits for its payment.", 400)
    if instance.pending_type:
        raise CloudError(
            "InstanceSpecModification.NotEffective", "Restart it first: a change waits.", 403
        )
    spec = TYPES.get(target)
    if spec is None or target == instance.instance_type:
        raise CloudError(
            "InvalidInstanceType.ValueNotSupported",
            f"The type can't become {target[:64]}; on offer are {', '.join(TYPES)}.",
        )
    if up is not (spec.monthly_cents > instance.monthly_cents):
        raise CloudError(
            "InvalidInstanceType.ValueNotSupported",
            f"{target} is no {'upgrade' if up else 'downgrade'}.",
        )
    if target in instance.sold_out:
        raise errors.no_stock()
    if instance.status not in (("Running", "Stopped") if up else ("Stopped",)):
        code = "IncorrectInstanceStatus" if up else "InvalidStatus.NotStopped"
        raise CloudError(code, f"The instance is {instance.status}.", 403 if up else 400)


def resources(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeResourcesModification: what the zone has for this instance."""
    instance = find(work, arguments["ResourceId"])
    out = set(instance.sold_out)
    if instance.no_stock:
        out.add(instance.instance_type)
    supported = [
        {"Value": type, "Cores": spec.cpu, "Memory": spec.memory_mib // 1024,
         "Status": "SoldOut" if type in out else "Available"}
        for type, spec in TYPES.items()
    ]  # fmt: skip
    zone = {
        "ZoneId": instance.zone, "RegionId": instance.region, "Status": "Available",
        "AvailableResources": {
            "AvailableResource": [
                {"Type": "InstanceType", "SupportedResources": {"SupportedResource": supported}}
            ]
        },
    }  # fmt: skip
    return {"AvailableZones": {"AvailableZone": [zone]}}


OPERATIONS: Final = (
    Operation(
        name="DescribeResourcesModification",
        description=(
            "Which instance types the zone has in stock for an instance, its own type included."
        ),
        effect="read",
        parameters=parameters(
            ("ResourceId",),
            RegionId=REGION_ID,
            ResourceId=INSTANCE_ID,
            DestinationResource=one_of("InstanceType", default="InstanceType"),
        ),
        run=resources,
    ),
    Operation(
        name="ModifyPrepayInstanceSpec",
        description=(
            "Order another type for a subscription instance. An upgrade costs the difference for "
            "the time left; the type changes at the next start or restart from outside the guest."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId", "InstanceType"),
            RegionId=REGION_ID,
            InstanceId=INSTANCE_ID,
            InstanceType=text("The new type, such as ecs.g7.xlarge.", 64),
            OperatorType=one_of("upgrade", "downgrade", default="upgrade"),
            AutoPay={**BOOLEAN, "default": True},
            RebootWhenFinished={**FLAG, "description": "Restart it at once."},
            ClientToken=CLIENT_TOKEN,
        ),
        run=modify,
        resource="InstanceId",
        propose={
            "en": (("upgrade", "downgrade"),),
            "zh": (("升级", "降级", "升配", "降配"),),
        },
    ),
)
