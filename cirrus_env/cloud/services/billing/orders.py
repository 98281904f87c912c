"""Orders: finding them, their details, cancelling one, and the customer paying one."""

from __future__ import annotations

from typing import Any

from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.billing import money, prepaid
from cirrus_env.cloud.services.billing.bills import order_amounts
from cirrus_env.cloud.services.billing.coupons import spend
from cirrus_env.cloud.services.billing.models import Order, Subscription
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY, HOUR, iso_second, parse_iso

MONTH = 30 * DAY
"""Prepaid months are counted as 30 days, so that amounts can be checked by hand."""

_TYPES = [
    "New", "Renew", "Upgrade", "TempUpgrade", "Downgrade", "Refund", "Convert", "ResizeDisk",
    "CompensatoryRenew", "IncreaseUpgrade", "Exchange", "ChangeOperatingSystem",
]  # fmt: skip
ID = {"type": "string", "minLength": 1, "maxLength": 64}


def moment(text: str, name: str) -> int:
    """An ISO time argument.

    Raises:
        CloudError: If it is none.
    """
    try:
        return parse_iso(text)
    except (ValueError, OverflowError) as error:
        raise CloudError("InvalidParameter", f"{name} is no ISO 8601 time.") from error


def _order(work: Work, id: str) -> Order:
    order = work.get(Order, id)
    if order is None:
        raise money.missing("order", id)
    return order


def _summary(order: Order, currency: str, now: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "OrderId": order.id,
        "OrderType": order.order_type,
        "PaymentStatus": order.status,
        "ProductCode": order.product,
        "SubscriptionType": order.subscription_type,
        "CreateTime": iso_second(order.created),
    }
    if order.paid:
        shown["PaymentTime"] = iso_second(order.paid)
    if order.related:
        shown["RelatedOrderId"] = order.related
    if order.ready:
        shown["ProvisionStatus"] = "Provisioning" if order.ready > now else "Finished"
    return shown | order_amounts(order, currency)


def _query_orders(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    start, end = work.now - HOUR, work.now
    if "CreateTimeEnd" in arguments:
        end = moment(arguments["CreateTimeEnd"], "CreateTimeEnd")
        start = end - HOUR
    if "CreateTimeStart" in arguments:
        start = moment(arguments["CreateTimeStart"], "CreateTimeStart")
    if start > end:
        raise CloudError("InvalidParameter", "CreateTimeStart is later than CreateTimeEnd.")
    tests = (
        ("OrderType", "order_type"), ("PaymentStatus", "status"),
        ("ProductCode", "product"), ("SubscriptionType", "subscription_type"),
    )  # fmt: skip
    found = [
        order
        for order in work.all(Order)
        if start <= order.created <= end
        and all(arguments.get(name) in (None, getattr(order, field)) for name, field in tests)
    ]
    found.sort(key=lambda order: (-order.created, order.id))
    currency = money.account_of(work).currency
    data = money.page([_summary(order, currency, work.now) for order in found], arguments)
    return money.success(data | {"OrderList": {"Order": data.pop("page")}})


def _get_order_detail(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    order = _order(work, arguments["OrderId"])
    detail = _summary(order, money.account_of(work).currency, work.now) | {
        "InstanceIDs": [order.instance] if order.instance else [],
        "Config": order.config,
        "OriginalConfig": order.original_config,
        "Quantity": "1",
        "Region": order.region,
        "CouponNo": order.coupon,
        "NonRefundable": not order.refundable,
    }
    if order.operator:
        detail["Operator"] = order.operator
    if order.ends:
        detail["UsageStartTime"] = iso_second(order.starts)
        detail["UsageEndTime"] = iso_second(order.ends)
    return money.success({"OrderList": {"Order": [detail]}})


def _cancel_order(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    order = _order(work, arguments["OrderId"])
    if order.status != "Unpaid":
        raise CloudError("ResourceStatusError", f"Order {order.id} is {order.status}.")
    work.change(order, status="Cancelled")
    work.emit("order.cancelled", order=order.id, instance=order.instance)
    return money.success({"OrderId": order.id, "PaymentStatus": "Cancelled"})


def _pay_order(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    order = _order(work, arguments["OrderId"])
    if order.status != "Unpaid":
        raise CloudError("ResourceStatusError", f"Order {order.id} is {order.status}.")
    pay(work, order, coupon=arguments.get("CouponNo", ""), top_up=True)
    return money.success({"OrderId": order.id, "PaymentStatus": "Paid"})


def pay(work: Work, order: Order, *, coupon: str = "", top_up: bool = False) -> Order:
    """Pay an order and let what it buys take effect.

    Args:
        work: The change-set.
        order: Unpaid, stored or new.
        coupon: A voucher to use on it.
        top_up: Whether what the balance lacks comes from the customer's bank.

    Returns:
        The paid order.

    Raises:
        CloudError: If the account owes money or has too little, the voucher doesn't fit, or what it
            would prolong or change is gone.
    """
    subscription = prepaid.subscription(work, order.instance) if order.instance else None
    if subscription is not None and subscription.status in prepaid.GONE:
        if order.order_type not in ("New", "Convert"):
            raise CloudError(
                "ResourceStatusError", f"{order.instance} is no subscription any more."
            )
    balance = work.balance(money.cash(work.tenant))
    if balance < 0:
        raise CloudError("Account.Arrearage", "The account has an overdue payment.", 403)
    coupon = coupon or order.coupon
    by_voucher = spend(work, coupon, order) if coupon else 0
    lacking = order.amount - by_voucher - balance - money.account_of(work).credit
    if lacking > 0:
        if not top_up:
            raise CloudError("InsufficientBalance", "The account balance is too low.", 403)
        work.post(
            money.bank(work.tenant), money.cash(work.tenant), lacking,
            item="payment", resource=order.instance, memo=order.id,
        )  # fmt: skip
    starts = order.starts or work.now
    ends = order.ends or (starts + order.months * MONTH if order.months else 0)
    paid = work.change(
        order, status="Paid", paid=work.now, voucher=by_voucher, coupon=coupon,
        starts=starts if ends else 0, ends=ends,
    )  # fmt: skip
    work.postings.extend(money.settlement(paid))
    return _take_effect(work, paid)


def _take_effect(work: Work, order: Order) -> Order:
    subscription = prepaid.subscription(work, order.instance) if order.instance else None
    if order.order_type == "Renew" and subscription is not None:
        begins = max(subscription.ends, work.now)
        extended = work.change(subscription, status="Normal", ends=begins + order.months * MONTH)
        order = work.change(order, starts=begins, ends=extended.ends)
        work.emit("subscription.renewed", instance=order.instance, ends=extended.ends)
    if order.order_type == "Convert" and order.months and order.instance:
        work.put(
            Subscription(
                order.instance,
                order.tenant,
                product=order.product,
                starts=order.starts,
                ends=order.ends,
                monthly=order.gross // order.months,
                region=order.region,
            )
        )
    work.emit(
        "order.paid", order=order.id, order_type=order.order_type, product=order.product,
        instance=order.instance, config=order.config,
    )  # fmt: skip
    return order


def new_order_id(work: Work) -> str:
    """Fifteen digits that no order of the account has."""
    while True:
        id = work.stream(Order.kind).digits(15)
        if work.get(Order, id) is None:
            return id


def unpaid_order(work: Work, instance: str) -> Order | None:
    """The instance's unpaid order, which blocks a renewal, a change or a refund."""
    for order in work.all(Order):
        if order.instance == instance and order.status == "Unpaid":
            return order
    return None


def under_way(work: Work, instance: str) -> Order | None:
    """The instance's paid order that is still being carried out: it blocks any other order."""
    for order in work.all(Order):
        if order.instance == instance and order.status == "Paid" and order.ready > work.now:
            return order
    return None


def free_for_orders(work: Work, instance: str) -> None:
    """Check that no order of the instance is open.

    Raises:
        CloudError: If one is unpaid, or paid and still being carried out.
    """
    if unpaid_order(work, instance) is not None:
        raise CloudError("Instance.UnPaidOrder", f"{instance} has an unpaid order.", 403)
    if under_way(work, instance) is not None:
        raise CloudError(
            "LastOrderProcessing", f"The last order of {instance} is still being processed."
        )


_ORDERS = ("upgrade order", "renewal order", "downgrade order", "purchase order")
_CHINESE_ORDERS = (
    "升级订单",
    "续费订单",
    "变配订单",
    "升配订单",
    "降配订单",
    "购买订单",
    "新购订单",
)
"""Kinds of orders: in "cancel the upgrade order" no upgrade is proposed."""

OPERATIONS = (
    Operation(
        "QueryOrders",
        "Queries orders, newest first. Without CreateTimeStart and CreateTimeEnd only the last hour"
        " is searched.",
        "read",
        {
            "type": "object",
            "properties": {
                "CreateTimeStart": {"type": "string", "maxLength": 32},
                "CreateTimeEnd": {"type": "string", "maxLength": 32},
                "OrderType": {"enum": _TYPES},
                "PaymentStatus": {"enum": ["Unpaid", "Paid", "Cancelled"]},
                "ProductCode": {"type": "string", "maxLength": 64},
                "SubscriptionType": {"enum": ["Subscription", "PayAsYouGo"]},
                **money.paging(100),
            },
            "additionalProperties": False,
        },
        _query_orders,
    ),
    Operation(
        "GetOrderDetail",
        "Gets one order with what it bought, for which instance and how it was paid.",
        "read",
        {
            "type": "object",
            "properties": {"OrderId": ID},
            "required": ["OrderId"],
            "additionalProperties": False,
        },
        _get_order_detail,
    ),
    Operation(
        "CancelOrder",
        "Cancels an unpaid order.",
        "write",
        {
            "type": "object",
            "properties": {"OrderId": ID},
            "required": ["OrderId"],
            "additionalProperties": False,
        },
        _cancel_order,
        resource="OrderId",
        propose={
            "en": (("cancel", "void", "drop", "withdraw"), ("order", *_ORDERS)),
            "zh": (("取消", "作废", "撤销", "关闭"), ("订单", *_CHINESE_ORDERS)),
        },
    ),
    Operation(
        "PayOrder",
        "Pays an unpaid order from the balance, and what that lacks from the bank.",
        "write",
        {
            "type": "object",
            "properties": {"OrderId": ID, "CouponNo": ID},
            "required": ["OrderId"],
            "additionalProperties": False,
        },
        _pay_order,
        resource="OrderId",
        propose={
            "en": (("pay", "settle"), ("order",)),
            "zh": (("支付", "付款", "付清"), ("订单",)),
        },
        actor="customer",
    ),
)
