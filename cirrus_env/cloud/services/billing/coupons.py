"""Cash coupons: what they are good for and how they are spent."""

from __future__ import annotations

from typing import Any

from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.billing import money
from cirrus_env.cloud.services.billing.models import Coupon, Order
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second

_SCENARIOS = {
    "New": "New purchase",
    "Renew": "Renewal",
    "Upgrade": "Upgrade",
    "PayAsYouGo": "Pay-as-you-go bill",
}


def status_of(coupon: Coupon, now: int) -> str:
    """``Available``, ``Expired`` or ``Cancelled`` at this moment."""
    if coupon.status == "Available" and coupon.expires and coupon.expires <= now:
        return "Expired"
    return coupon.status


def usable(work: Work, coupon: Coupon, scenario: str, product: str, amount: int = 0) -> int:
    """Cents that the coupon would pay for this; 0 where it doesn't fit.

    Args:
        work: The change-set.
        coupon: The coupon.
        scenario: The kind of order, or ``PayAsYouGo``.
        product: The product's code.
        amount: The order's cents; 0 for usage.
    """
    fits = (
        status_of(coupon, work.now) == "Available"
        and coupon.starts <= work.now
        and scenario in coupon.scenarios
        and amount >= coupon.threshold
        and (not coupon.products or product in coupon.products)
    )
    return min(coupon.balance, work.balance(money.voucher(work.tenant))) if fits else 0


def best(work: Work, scenario: str, product: str) -> Coupon | None:
    """The coupon that pays first: the bigger balance, then the earlier expiry."""
    found = [c for c in work.all(Coupon) if usable(work, c, scenario, product) > 0]
    return min(found, key=lambda c: (-c.balance, c.expires, c.id), default=None)


def spend(work: Work, id: str, order: Order) -> int:
    """Take what a voucher pays of an order; the caller books it.

    Raises:
        CloudError: If the voucher doesn't exist or isn't good for this order.
    """
    coupon = work.get(Coupon, id)
    if coupon is None:
        raise money.missing("coupon", id)
    good_for = usable(work, coupon, order.order_type, order.product, order.amount)
    cents = min(good_for, order.amount)
    if cents <= 0:
        raise CloudError("NotApplicable", f"Coupon {id} can't be used on this order.")
    work.change(coupon, balance=coupon.balance - cents)
    return cents


def _query_cash_coupons(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    effective = arguments.get("EffectiveOrNot")
    currency = money.account_of(work).currency
    shown = []
    for coupon in work.all(Coupon):
        status = status_of(coupon, work.now)
        good = status == "Available" and coupon.starts <= work.now
        if effective is not None and good is not effective:
            continue
        shown.append(
            {
                "CashCouponNo": coupon.id,
                "NominalValue": money.decimal(coupon.nominal),
                "Balance": money.decimal(coupon.balance),
                "Currency": currency,
                "ApplicableProducts": ", ".join(coupon.products) or "all products",
                "ApplicableScenarios": ", ".join(
                    _SCENARIOS.get(name, name) for name in coupon.scenarios
                ),
                "MinimumOrderAmount": money.decimal(coupon.threshold),
                "EffectiveTime": iso_second(coupon.starts),
                "ExpiryTime": iso_second(coupon.expires),
                "Status": status,
            }
        )
    return money.success({"CashCoupon": shown})


OPERATIONS = (
    Operation(
        "QueryCashCoupons",
        "Queries the account's cash coupons (vouchers): what is left, what they pay for and until"
        " when.",
        "read",
        {
            "type": "object",
            "properties": {
                "EffectiveOrNot": {
                    "type": "boolean",
                    "description": "true for those that can be used now, false for the others.",
                },
            },
            "additionalProperties": False,
        },
        _query_cash_coupons,
    ),
)
