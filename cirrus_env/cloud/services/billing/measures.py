"""Pure functions of the true state: what something costs, what is owed, what would come back."""

from __future__ import annotations

from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Resource
from cirrus_env.cloud.services.billing import money, prepaid
from cirrus_env.cloud.services.billing.models import Order, Refund, Subscription
from cirrus_env.cloud.services.billing.refunds import priced
from cirrus_env.errors import CloudError

COMPUTE = "compute"
"""The billing item of an instance's CPU and memory."""


def _record(cloud: Cloud, of: str) -> Resource | None:
    for kind in cloud.catalogue.rates:
        record = cloud.find(kind, of)
        if record is not None:
            return record
    return None


def _subscription(cloud: Cloud, of: str) -> Subscription | None:
    stored = cloud.find(Subscription.kind, of)
    if isinstance(stored, Subscription):
        return stored
    record = _record(cloud, of)
    return prepaid.read_off(record) if record is not None else None


def _rates(cloud: Cloud, of: str) -> tuple[tuple[str, int], ...]:
    record = _record(cloud, of)
    return cloud.rates(record) if record is not None else ()


def compute_charge_per_hour(cloud: Cloud, of: str) -> int:
    """Cents an hour for an instance's CPU and memory alone."""
    return sum(cents for item, cents in _rates(cloud, of) if item == COMPUTE)


def charge_per_hour(cloud: Cloud, of: str) -> int:
    """Cents an hour for any one resource; 0 where it is gone."""
    return sum(cents for _, cents in _rates(cloud, of))


def daily_charge(cloud: Cloud, of: str) -> int:
    """Cents a day for any one resource."""
    return 24 * charge_per_hour(cloud, of)


def account_charge_per_hour(cloud: Cloud, of: str) -> int:
    """Cents an hour for all that the account has; ``of`` doesn't matter."""
    return sum(
        cents
        for kind in cloud.catalogue.rates
        for record in cloud.records(kind).values()
        for _, cents in cloud.rates(record)
    )


def account_balance(cloud: Cloud, of: str) -> int:
    """The cash balance in cents; ``of`` doesn't matter."""
    return cloud.ledger.balance(money.cash(cloud.account))


def account_debt(cloud: Cloud, of: str) -> int:
    """Cents that the account owes; ``of`` doesn't matter."""
    return max(0, -account_balance(cloud, of))


def refundable(cloud: Cloud, of: str) -> int:
    """Cents that giving a prepaid instance back would return; 0 where it can't be."""
    subscription = _subscription(cloud, of)
    if subscription is None:
        return 0
    orders = [o for o in cloud.records(Order.kind).values() if isinstance(o, Order)]
    refunds = [r for r in cloud.records(Refund.kind).values() if isinstance(r, Refund)]
    result = priced(subscription, orders, refunds, list(cloud.ledger.postings), cloud.now)
    return 0 if isinstance(result, CloudError) else result.cents


def order_cash(cloud: Cloud, of: str) -> int:
    """Cash cents paid for an order and not yet given back."""
    return money.cash_paid(cloud.account, cloud.ledger.postings, of)


def renewal_price(cloud: Cloud, of: str) -> int:
    """Cents of one month's renewal of a prepaid resource."""
    subscription = _subscription(cloud, of)
    return subscription.monthly if subscription is not None else 0


MEASURES = {
    "compute_charge_per_hour": compute_charge_per_hour,
    "charge_per_hour": charge_per_hour,
    "billing.daily_charge": daily_charge,
    "account_charge_per_hour": account_charge_per_hour,
    "account_balance": account_balance,
    "account_debt": account_debt,
    "refundable": refundable,
    "order_cash": order_cash,
    "renewal_price": renewal_price,
}
"""Measure name -> function."""
