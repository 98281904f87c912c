"""How instances are paid: renewals, automatic renewal, the way of paying, reactivation.

In a world with billing, every sale is billing's: this service only asks for it and hears of it. In
a world without, it moves the money itself.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cirrus_env.cloud.api import (
    BOOLEAN,
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    REGION_ID,
    RENEWAL_SETTING,
    id_list,
    one_of,
    overdue,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import PROVIDER, Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.handlers import lift, subscribe
from cirrus_env.cloud.services.ecs.models import Instance
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, expired, find, start
from cirrus_env.cloud.services.ecs.prices import PERIOD, UNIT
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY, HOUR

MONTH: Final = 30 * DAY
"""A month that is paid in advance counts 30 days, so that amounts can be checked by hand."""
MOST_MONTHS: Final = 60
REFUND_QUOTA: Final = 5_000
"""The vCPU-hours that may go back to pay-as-you-go in a month."""


class Period(NamedTuple):
    """A time that is paid in advance."""

    months: int

    @classmethod
    def of(cls, arguments: dict[str, Any]) -> Period:
        """The period that ``Period`` and ``PeriodUnit`` name."""
        years = arguments.get("PeriodUnit", "Month") == "Year"
        return cls(arguments.get("Period", 1) * (12 if years else 1))


def order_id(work: Work) -> str:
    """The id of an order that billing is going to keep."""
    while True:
        id = work.stream("billing.order").digits(15)
        if work.peek("billing.order", id) is None:
            return id


def unpaid_order(work: Work, instance_id: str) -> bool:
    """Whether an order for the instance waits for its payment; it blocks every other one."""
    return any(
        view(order, "instance") == instance_id and view(order, "status") == "Unpaid"
        for order in work.peek_all("billing.order")
    )


def order_under_way(work: Work, instance_id: str) -> bool:
    """Whether a paid order for the instance is still being carried out."""
    return any(
        view(order, "instance") == instance_id
        and view(order, "status") == "Paid"
        and view(order, "ready") > work.now
        for order in work.peek_all("billing.order")
    )


def renew(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """RenewInstance: from the old end on, or from now if that has passed."""
    instance = find(work, arguments["InstanceId"])
    if instance.charge_type == "PostPaid":
        raise errors.charge_type_violation("Only a subscription can be renewed.")
    if unpaid_order(work, instance.id):
        raise CloudError("Instance.UnPaidOrder", "An order for it waits for its payment.", 403)
    if order_under_way(work, instance.id):
        raise CloudError("LastOrderProcessing", "The last order for it is still being processed.")
    if instance.pending_type:
        raise CloudError(
            "InstanceSpecModification.NotEffective", "Restart it first: an upgrade waits.", 403
        )
    months = Period.of(arguments).months
    begins = max(instance.expired_time, work.now)
    if begins + months * MONTH > work.now + MOST_MONTHS * MONTH:
        raise CloudError(
            "InvalidPeriod.ExceededMaximumExpirationDate",
            f"A subscription ends at most {MOST_MONTHS} months ahead.",
        )
    order = order_id(work)
    if work.answers("renewal.ordered"):
        work.emit("renewal.ordered", instance=instance.id, months=months, order=order)
        return {"OrderId": order}
    pay(work, instance, months * instance.monthly_cents, order)
    lift(work, work.change(instance, expired_time=begins + months * MONTH))
    return {"OrderId": order}


def pay(work: Work, instance: Instance, cents: int, order: str) -> None:
    """Take a price from the balance."""
    if work.balance(f"cash:{work.tenant}") < cents:
        raise errors.insufficient_balance()
    work.post(
        f"cash:{work.tenant}", PROVIDER, cents, item="order", resource=instance.id, memo=order
    )


def auto_renew(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyInstanceAutoRenewAttribute; ``RenewalStatus`` wins over ``AutoRenew``."""
    status = arguments.get("RenewalStatus")
    if status is None:
        if "AutoRenew" not in arguments:
            raise CloudError("MissingParameter", "Name RenewalStatus or AutoRenew.")
        status = "AutoRenewal" if arguments["AutoRenew"] else "Normal"
    years = arguments.get("PeriodUnit", "Month") == "Year"
    duration = arguments.get("Duration", 1)
    for id in dict.fromkeys(part.strip() for part in arguments["InstanceId"].split(",")):
        instance = find(work, id)
        if instance.charge_type == "PostPaid":
            raise errors.charge_type_violation("Pay-as-you-go has nothing to renew.")
        if expired(instance, work.now):
            raise errors.expired()
        work.change(
            instance, renewal_status=status, renewal_duration=duration,
            renewal_unit="Year" if years else "Month",
        )  # fmt: skip
        if work.answers("renewal.set"):
            work.emit(
                "renewal.set", instance=id, status=status, period=duration,
                unit="Y" if years else "M",
            )  # fmt: skip
    return {}


def change_type(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyInstanceChargeType: between pay-as-you-go and subscription."""
    target = arguments["InstanceChargeType"]
    ids = list(dict.fromkeys(id_list(arguments["InstanceIds"], "InstanceIds", 20)))
    if not ids:
        raise CloudError("MissingParameter", "InstanceIds names no instance.")
    order = order_id(work)
    fees = []
    months = Period.of(arguments).months
    for id in ids:
        instance = find(work, id)
        if "security" in instance.lock_reasons:
            raise errors.locked_for_security()
        if expired(instance, work.now):
            raise CloudError("ExpiredInstance", "The subscription has ended; renew it first.")
        if instance.lock_reasons or overdue(work):
            raise errors.arrearage()
        if instance.auto_release_time:
            raise CloudError("ReleaseTimeHaveBeenSet", "Take the time of its release off first.")
        if instance.status not in ("Running", "Stopped"):
            raise errors.wrong_status(instance.status, "Running or Stopped")
        if instance.charge_type == target:
            raise errors.charge_type_violation(f"The instance is {target} already.")
        if unpaid_order(work, id):
            raise CloudError("LastOrderProcessing", "An order for it waits for its payment.")
        if target == "PrePaid":
            cents = _subscribe(work, instance, months, order, arguments.get("AutoPay", True))
        else:
            cents = -_unsubscribe(work, instance, order)
        fees.append({"InstanceId": id, "Fee": f"{cents / 100:.2f}"})
    return {"OrderId": order, "FeeOfInstances": {"FeeOfInstance": fees}}


def _subscribe(work: Work, instance: Instance, months: int, order: str, at_once: bool) -> int:
    cents = months * instance.monthly_cents
    if work.answers("order.placed"):
        work.emit(
            "order.placed", order=order, order_type="Convert", instance=instance.id, cents=cents,
            months=months, config="PrePaid", original_config="PostPaid", auto_pay=at_once,
        )  # fmt: skip
    else:
        pay(work, instance, cents, order)
        subscribe(work, instance, work.now + months * MONTH)
    return cents


def _unsubscribe(work: Work, instance: Instance, order: str) -> int:
    left = max(0, instance.expired_time - work.now)
    if instance.cpu * left // HOUR > REFUND_QUOTA:
        raise CloudError(  # the provider's own spelling
            "QuotaExceed.RufundVcpu", "This month's quota of vCPU-hours to give back is used up."
        )
    cents = instance.monthly_cents * left // MONTH
    if not work.answers("subscription.ended"):
        cents = min(cents, _paid(work, instance.id))
    work.post(
        PROVIDER, f"cash:{work.tenant}", cents, item="refund", resource=instance.id, memo=order
    )
    work.change(
        instance, charge_type="PostPaid", expired_time=0, renewal_status="Normal",
        stopped_mode="KeepCharging" if instance.status == "Stopped" else "Not-applicable",
    )  # fmt: skip
    work.emit("subscription.ended", instance=instance.id, order=order, cents=cents)
    return cents


def _paid(work: Work, instance_id: str) -> int:
    """Cents of orders for the instance that were paid and have not gone back."""
    cash, total = f"cash:{work.tenant}", 0
    for posting in work.ledger_postings():
        if posting.resource == instance_id and posting.item in ("order", "refund"):
            total += posting.cents if posting.debit == cash else -posting.cents
    return max(0, total)


def reactivate(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ReActivateInstances: the way by hand for what arrears had stopped."""
    instance = find(work, arguments["InstanceId"])
    if instance.charge_type == "PrePaid":
        raise CloudError("InvalidPayType.NotSupport", "A subscription comes back by renewal.", 404)
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.status != "Stopped" or not (
        instance.stopped_by or "financial" in instance.lock_reasons
    ):
        raise CloudError(
            "ReopenInstance.InstanceStatusNotValid", "It wasn't stopped because of arrears."
        )
    if overdue(work):
        raise CloudError("ReopenInstance.InstanceNotEnoughBalance", "The account still owes money.")
    if instance.no_stock:
        raise errors.no_stock()
    kept = tuple(reason for reason in instance.lock_reasons if reason != "financial")
    start(work, work.change(instance, lock_reasons=kept))
    return {}


OPERATIONS: Final = (
    Operation(
        name="RenewInstance",
        description="Renew a subscription instance; the price is taken from the balance at once.",
        effect="write",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            Period=PERIOD,
            PeriodUnit=UNIT,
            ClientToken=CLIENT_TOKEN,
        ),
        run=renew,
        resource="InstanceId",
        propose={
            "en": (("renew", "extend"),),
            "zh": (("续费", "续期", "续订"),),
        },
    ),
    Operation(
        name="ModifyInstanceAutoRenewAttribute",
        description=(
            "Set how subscription instances are renewed: automatically, by hand (Normal) or not at "
            "all. It can't be switched on after the end."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId",),
            RegionId=REGION_ID,
            InstanceId=text("Up to 100 ids, parted by commas.", 8192),
            RenewalStatus=one_of("AutoRenewal", "Normal", "NotRenewal"),
            AutoRenew=BOOLEAN,
            Duration={"type": "integer", "enum": [1, 2, 3, 6, 12], "default": 1},
            PeriodUnit=UNIT,
        ),
        run=auto_renew,
        resource="InstanceId",
        propose=RENEWAL_SETTING,
    ),
    Operation(
        name="ModifyInstanceChargeType",
        description=(
            "Turn pay-as-you-go instances into subscriptions, which is paid at once, or back, "
            "which returns the value of the time left."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceIds", "InstanceChargeType"),
            RegionId=REGION_ID,
            InstanceIds=text(
                'Up to 20 ids such as i-bp1abc, as the text of a JSON array: ["i-bp1abc"].', 4096
            ),
            InstanceChargeType=one_of("PrePaid", "PostPaid"),
            Period=PERIOD,
            PeriodUnit=UNIT,
            IncludeDataDisks=FLAG,
            AutoPay={**BOOLEAN, "default": True},
            ClientToken=CLIENT_TOKEN,
            DryRun=DRY_RUN,
        ),
        run=change_type,
        resource="InstanceIds",
        propose={
            "en": (("convert", "change", "switch", "turn"), ("subscription", "pay-as-you-go")),
            "zh": (("转换", "转为", "改为", "变更"), ("包年包月", "按量付费", "按量")),
        },
    ),
    Operation(
        name="ReActivateInstances",
        description=(
            "Bring back a pay-as-you-go instance that arrears had stopped, once the account is "
            "paid; normally that happens by itself."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId",), RegionId=REGION_ID, InstanceId=INSTANCE_ID, ClientToken=CLIENT_TOKEN
        ),
        run=reactivate,
        resource="InstanceId",
        propose={
            "en": (("reactivate", "re-activate", "bring back", "restore", "resume"),),
            "zh": (("重新激活", "重启", "恢复", "激活"),),
        },
    ),
)
