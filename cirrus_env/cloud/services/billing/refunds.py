"""Giving a prepaid resource back: what is returned, and the refund itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cirrus_env.cloud.model import PROVIDER, Operation, Posting
from cirrus_env.cloud.services.billing import money, prepaid
from cirrus_env.cloud.services.billing.models import Order, Refund, Subscription
from cirrus_env.cloud.services.billing.orders import ID, new_order_id
from cirrus_env.cloud.services.billing.prepaid import GONE
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY, billing_date


@dataclass(frozen=True, slots=True)
class Quote:
    """What giving a resource back returns.

    Attributes:
        parts: (paid order, cents of it that go back), oldest first.
        five_day: Whether it is the year's five-day full refund.
    """

    parts: tuple[tuple[Order, int], ...]
    five_day: bool

    @property
    def cents(self) -> int:
        """All that goes back."""
        return sum(cents for _, cents in self.parts)


def quote(
    subscription: Subscription,
    orders: list[Order],
    refunds: list[Refund],
    postings: list[Posting],
    now: int,
) -> Quote:
    """What a prepaid resource returns now (domain/infrastructure.md, section 2c).

    A new purchase within five days goes back in full, once a product and calendar year; a renewal
    that has not begun goes back in full; anything else is the cash paid less the days begun at
    list price, never below zero. What a voucher paid never goes back.
    """
    five_day = _five_day(subscription, orders, refunds, now)
    parts = []
    for order in orders:
        paid = money.cash_paid(subscription.tenant, postings, order.id)
        if paid <= 0 or order.refunded:
            continue
        full = five_day or order.starts > now
        back = paid if full else max(0, paid - consumed(order, now))
        parts.append((order, back))
    return Quote(tuple(parts), five_day)


def consumed(order: Order, now: int) -> int:
    """The list-price cents of the days begun, rounded up."""
    total = max(1, -(-(order.ends - order.starts) // DAY))
    begun = min(total, max(0, -(-(now - order.starts) // DAY)))
    return -(-order.gross * begun // total)


def _five_day(
    subscription: Subscription, orders: list[Order], refunds: list[Refund], now: int
) -> bool:
    bought = [order for order in orders if order.order_type == "New"]
    if not bought or any(now - order.paid > money.FIVE_DAYS for order in bought):
        return False
    year = billing_date(now)[:4]
    return not any(
        refund.five_day
        and refund.product == subscription.product
        and billing_date(refund.created)[:4] == year
        for refund in refunds
    )


def _refusal(
    subscription: Subscription, orders: list[Order], unpaid: list[Order], now: int
) -> CloudError | None:
    id = subscription.id
    if subscription.status in GONE:
        return CloudError("ResourceStatusError", f"{id} is no subscription any more.")
    if unpaid:
        return CloudError(
            "ResourceStatusError", f"{id} has the unpaid order {unpaid[0].id}; pay or cancel it."
        )
    under_way = [order for order in orders if order.ready > now]
    if under_way:
        return CloudError(
            "LastOrderProcessing", f"Order {under_way[0].id} of {id} is still being processed."
        )
    if subscription.transferred:
        return CloudError("NotApplicable", f"{id} came from another account: no unsubscription.")
    for order in orders:
        if not order.refundable:
            return CloudError(
                "NotApplicable", f"Order {order.id} of {id} was a non-refundable promotion."
            )
    return None


def priced(
    subscription: Subscription,
    all_orders: list[Order],
    refunds: list[Refund],
    postings: list[Posting],
    now: int,
) -> Quote | CloudError:
    """The quote, or why there is none."""
    mine = [order for order in all_orders if order.instance == subscription.id]
    orders = [o for o in mine if o.status == "Paid" and o.order_type != "Refund"]
    unpaid = [o for o in mine if o.status == "Unpaid"]
    refused = _refusal(subscription, orders, unpaid, now)
    return refused or quote(subscription, orders, refunds, postings, now)


def _quoted(work: Work, arguments: dict[str, Any]) -> tuple[Subscription, Quote]:
    id = arguments["InstanceId"]
    subscription = prepaid.subscription(work, id)
    if subscription is None:
        if work.find_billable(id) is not None:
            raise CloudError(
                "NotApplicable", f"{id} is no subscription; only subscriptions can be unsubscribed."
            )
        raise money.missing("instance", id)
    if subscription.product != arguments["ProductCode"]:
        raise CloudError("InvalidParameter", f"{id} is no {arguments['ProductCode']} instance.")
    result = priced(
        subscription, work.all(Order), work.all(Refund), work.ledger_postings(), work.now
    )
    if isinstance(result, CloudError):
        raise result
    return subscription, result


def converted(work: Work, data: Mapping[str, Any]) -> None:
    """Another service turned a subscription into pay-as-you-go: event ``subscription.ended``.

    It has posted what went back; more than the cash paid and not yet returned is refused.
    """
    id, cents = data["instance"], data["cents"]
    subscription = work.get(Subscription, id)
    if subscription is not None:
        work.change(subscription, status="Converted", renewal_status="NotRenewal")
    postings = work.ledger_postings()
    paid = 0
    for order in work.all(Order):
        if order.instance == id and order.status == "Paid" and not order.refunded:
            paid += money.cash_paid(work.tenant, postings, order.id)
            work.change(order, refunded=True)
    if cents > paid:
        raise CloudError("NotApplicable", f"{id} was not paid for in cash with as much as that.")
    work.put(
        Order(
            data["order"],
            work.tenant,
            order_type="Convert",
            status="Paid",
            product=money.product_of(id),
            instance=id,
            gross=cents,
            amount=cents,
            created=work.now,
            paid=work.now,
            refunded=True,
            config="PostPaid",
            original_config="PrePaid",
        )
    )


def released(work: Work, data: Mapping[str, Any]) -> None:
    """The resource is gone, so its subscription has ended too."""
    subscription = work.get(Subscription, data["record"].id)
    if subscription is not None and subscription.status not in GONE:
        work.change(subscription, status="Released", renewal_status="NotRenewal")


def pending_renewal(subscription: Subscription, result: Quote, id: str, now: int) -> Quote:
    """The part of a quote that gives back one renewal, and nothing else.

    Raises:
        CloudError: If the order is no paid renewal of this resource, its period has begun, or a
            later renewal builds on it.
    """
    found = [(order, cents) for order, cents in result.parts if order.id == id]
    if not found or found[0][0].order_type != "Renew":
        raise CloudError(
            "NotApplicable", f"{id} is no paid renewal of {subscription.id} that can go back."
        )
    order = found[0][0]
    if order.starts <= now:
        raise CloudError(
            "NotApplicable",
            f"The period of order {id} began on {billing_date(order.starts)}; a renewal goes back"
            " on its own only before that.",
        )
    if order.ends != subscription.ends:
        raise CloudError("NotApplicable", f"A later renewal of {subscription.id} builds on {id}.")
    return Quote(tuple(found), five_day=False)


def _part(
    work: Work, arguments: dict[str, Any], subscription: Subscription, result: Quote
) -> Quote:
    id = arguments.get("OrderId")
    return pending_renewal(subscription, result, id, work.now) if id else result


def _inquire(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    subscription, whole = _quoted(work, arguments)
    result = _part(work, arguments, subscription, whole)
    shown = {
        "InstanceId": subscription.id,
        "RefundAmount": money.number(result.cents),
        "Currency": money.account_of(work).currency,
    }
    if arguments.get("OrderId"):
        shown["OrderId"] = arguments["OrderId"]
    return money.success(shown, code="200")


def _refund(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    subscription, whole = _quoted(work, arguments)
    result = _part(work, arguments, subscription, whole)
    id = new_order_id(work)
    for order, cents in result.parts:
        work.change(order, refunded=True)
        work.post(
            PROVIDER, money.cash(work.tenant), cents,
            item=money.REFUND, resource=subscription.id, memo=order.id,
        )  # fmt: skip
    related = result.parts[0][0].id if result.parts else ""
    work.put(
        Order(
            id, work.tenant, order_type="Refund", status="Paid", product=subscription.product,
            instance=subscription.id, gross=result.cents, amount=result.cents, created=work.now,
            paid=work.now, related=related, region=subscription.region,
        )
    )  # fmt: skip
    work.put(
        Refund(
            id, work.tenant, instance=subscription.id, product=subscription.product,
            amount=result.cents, five_day=result.five_day, created=work.now,
        )
    )  # fmt: skip
    if arguments.get("OrderId"):
        ends = result.parts[0][0].starts
        work.change(subscription, ends=ends)
        work.emit("subscription.shortened", instance=subscription.id, ends=ends)
        return _refunded(id, result)
    work.change(subscription, status="Refunded", renewal_status="NotRenewal")
    now = arguments.get("ImmediatelyRelease", "1") == "1"
    work.emit("instance.refunded", instance=subscription.id, immediately=now)
    return _refunded(id, result)


def _refunded(id: str, result: Quote) -> dict[str, Any]:
    return money.success({"OrderId": id, "RefundAmount": money.number(result.cents)}, code="200")


_PARAMETERS: dict[str, Any] = {
    "ProductCode": {
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "description": "Such as ecs.",
    },
    "ProductType": {"type": "string", "maxLength": 64, "default": ""},
    "InstanceId": {**ID, "description": "Such as i-bp1abc."},
    "OrderId": {
        "type": "string",
        "maxLength": 64,
        "default": "",
        "description": "A renewal order whose period has not begun: then only that renewal goes"
        " back, and the instance stays until its earlier end.",
    },
}

_CHINESE = (
    (
        "退款", "退订", "退掉", "退回", "退还",
        "续费退款", "续费退订", "续费退掉", "续费退回", "续费退还",
        "续费全额退", "续费费用退", "续费款项退", "续费订单退", "退续费",
        "退掉这笔续费", "退回这笔续费", "退还这笔续费", "退订这笔续费", "续费申请退款",
        "续费办理退款", "续费做退款",
    ),
)  # fmt: skip
"""A renewal that is given back is no proposal of a renewal, so its words come in one."""

OPERATIONS = (
    Operation(
        "InquiryPriceRefundInstance",
        "Asks what unsubscribing from a prepaid instance, or with OrderId giving back only that"
        " pending renewal of it, would return. Changes nothing.",
        "read",
        {
            "type": "object",
            "properties": _PARAMETERS,
            "required": ["ProductCode", "InstanceId"],
            "additionalProperties": False,
        },
        _inquire,
    ),
    Operation(
        "RefundInstance",
        "Unsubscribes from a prepaid instance: it is released with its data, and the cash part that"
        " is left goes back. Vouchers don't. This can't be undone. With OrderId only that pending"
        " renewal goes back, and nothing is released.",
        "irreversible",
        {
            "type": "object",
            "properties": {
                **_PARAMETERS,
                "ImmediatelyRelease": {
                    "enum": ["0", "1"],
                    "default": "1",
                    "description": "1 releases at once, 0 stops first.",
                },
                "ClientToken": {"type": "string", "minLength": 1, "maxLength": 64},
            },
            "required": ["ProductCode", "InstanceId"],
            "additionalProperties": False,
        },
        _refund,
        resource="InstanceId",
        propose={
            "en": (("refund", "unsubscribe", "unsubscription", "give back", "return"),),
            "zh": _CHINESE,
        },
    ),
)
