"""What billing keeps: the account's state, orders, subscriptions, coupons and refunds.

Money itself is in the ledger. A paid order's payment is a posting whose memo is the order's id, so
a set-up that inserts a paid order also books it (``money.settlement`` gives the postings).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from cirrus_env.cloud.model import Resource

OrderType = Literal["New", "Renew", "Upgrade", "Downgrade", "Convert", "ResizeDisk", "Refund"]
OrderStatus = Literal["Unpaid", "Paid", "Cancelled"]
RenewalStatus = Literal["AutoRenewal", "ManualRenewal", "NotRenewal"]


@dataclass(frozen=True, slots=True)
class BillingAccount(Resource):
    """An account's payment state; its id is the tenant's.

    Attributes:
        currency: ``USD``, ``CNY`` or ``JPY``.
        status: ``Normal``, ``Overdue`` (owes money) or ``Suspended`` (owed for 15 days).
        overdue_since: When the balance fell below zero; 0 for never.
        credit: Cents that the account may owe before it is overdue.
    """

    kind: ClassVar[str] = "billing.account"

    currency: str = "USD"
    status: str = "Normal"
    overdue_since: int = 0
    credit: int = 0


@dataclass(frozen=True, slots=True)
class Order(Resource):
    """One order.

    Attributes:
        order_type: What was ordered.
        status: Whether it is paid.
        product: The product's code, such as ``ecs``.
        instance: What it is for; empty before it exists.
        gross: List price in cents.
        amount: Cents to pay after discounts, whatever pays them.
        voucher: The part of ``amount`` that a voucher paid.
        created: When it was placed.
        paid: When it was paid; 0 for not yet.
        starts: When the time bought begins (0 where it buys none).
        ends: When it ends.
        months: How many months it buys.
        related: The order that this one is about, such as the one refunded.
        config: What is bought, in words.
        original_config: What there was before.
        coupon: The voucher's number.
        refundable: False for a promotion that is sold without the right to give it back.
        refunded: Whether the money went back.
        subscription_type: ``Subscription`` or ``PayAsYouGo``.
        region: Where.
        operator: Who placed it, such as ``RAM user wei``; empty for the account's owner.
        ready: When what it bought is provisioned; until then nothing else can be ordered for the
            resource. 0 where that took no time.
    """

    kind: ClassVar[str] = "billing.order"

    order_type: OrderType = "New"
    status: OrderStatus = "Unpaid"
    product: str = "ecs"
    instance: str = ""
    gross: int = 0
    amount: int = 0
    voucher: int = 0
    created: int = 0
    paid: int = 0
    starts: int = 0
    ends: int = 0
    months: int = 0
    related: str = ""
    config: str = ""
    original_config: str = ""
    coupon: str = ""
    refundable: bool = True
    refunded: bool = False
    subscription_type: str = "Subscription"
    region: str = "cn-hangzhou"
    operator: str = ""
    ready: int = 0


@dataclass(frozen=True, slots=True)
class Subscription(Resource):
    """A prepaid item; its id is the resource's own.

    Attributes:
        product: The product's code.
        status: ``Normal``, ``Expired``, ``Released``, ``Refunded`` or ``Converted`` (to
            pay-as-you-go).
        starts: When the first period began.
        ends: When the paid time ends.
        monthly: Cents that a month's renewal costs.
        renewal_status: How it is renewed.
        renewal_period: How many units each automatic renewal buys.
        renewal_unit: ``M`` or ``Y``.
        transferred: Whether it came from another account (then it can't be given back).
        region: Where.
    """

    kind: ClassVar[str] = "billing.subscription"

    product: str = "ecs"
    status: str = "Normal"
    starts: int = 0
    ends: int = 0
    monthly: int = 0
    renewal_status: RenewalStatus = "ManualRenewal"
    renewal_period: int = 1
    renewal_unit: Literal["M", "Y"] = "M"
    transferred: bool = False
    region: str = "cn-hangzhou"


@dataclass(frozen=True, slots=True)
class Coupon(Resource):
    """A cash coupon (voucher). Its money lies in the ledger account ``voucher:<tenant>``.

    Attributes:
        nominal: Cents it was worth.
        balance: Cents left.
        products: Product codes that it pays for; empty for all.
        scenarios: What it pays for: ``New``, ``Renew``, ``Upgrade``, ``PayAsYouGo``.
        threshold: The smallest order that it pays for, in cents; such a coupon pays no usage.
        starts: When it becomes good.
        expires: When it stops being good.
        status: ``Available``, ``Expired`` or ``Cancelled``.
    """

    kind: ClassVar[str] = "billing.coupon"

    nominal: int = 0
    balance: int = 0
    products: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ("New", "PayAsYouGo")
    threshold: int = 0
    starts: int = 0
    expires: int = 0
    status: str = "Available"


@dataclass(frozen=True, slots=True)
class Refund(Resource):
    """Money given back; its id is the refund order's.

    Attributes:
        instance: What was given back.
        product: The product's code.
        amount: Cents returned.
        five_day: Whether it used the year's five-day full refund.
        created: When.
    """

    kind: ClassVar[str] = "billing.refund"

    instance: str = ""
    product: str = "ecs"
    amount: int = 0
    five_day: bool = False
    created: int = 0


LIFECYCLE: dict[str, frozenset[tuple[str, str]]] = {
    Order.kind: frozenset({("Unpaid", "Paid"), ("Unpaid", "Cancelled")}),
    BillingAccount.kind: frozenset(
        {
            ("Normal", "Overdue"),
            ("Overdue", "Suspended"),
            ("Overdue", "Normal"),
            ("Suspended", "Normal"),
        }
    ),
    Subscription.kind: frozenset(
        {
            ("Normal", "Expired"),
            ("Expired", "Normal"),
            ("Normal", "Released"),
            ("Expired", "Released"),
            ("Normal", "Converted"),
            ("Expired", "Converted"),
            ("Converted", "Normal"),
            ("Normal", "Refunded"),
            ("Expired", "Refunded"),
        }
    ),
}
"""The declared status changes (domain/infrastructure.md, section 2b)."""
