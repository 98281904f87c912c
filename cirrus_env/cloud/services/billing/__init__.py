"""Billing: balance, bills, orders, subscriptions, vouchers, refunds and arrears.

Events that it answers:

- ``clock.hour``: charge the hour, move arrears and prepaid clocks on;
- ``order.placed`` (order, order_type, instance, cents; also months, config, original_config and
  auto_pay, true by default): sell something else, at once or as an unpaid order;
- ``renewal.ordered`` (instance, months, order): sell and pay a renewal under this order id, which
  the sender drew from ``work.stream("billing.order").digits(15)``;
- ``renewal.set`` (instance, status, period, unit): change how an instance is renewed;
- ``subscription.repriced`` (instance, monthly): its next renewals cost this;
- ``subscription.ended`` (instance, order, cents): it was turned into pay-as-you-go, and the sender
  posted what went back; more than the cash paid is refused;
- ``ecs.instance.released``, ``disk.disk.released``, ``vpc.eip.released`` (record): it is gone.

Events that it tells:

- ``account.overdue``, ``account.suspended`` (15 days later), ``account.paid`` (each with tenant);
- ``order.paid`` (order, order_type, product, instance, config), ``order.cancelled`` (order,
  instance);
- ``subscription.renewed`` (instance, ends), ``subscription.shortened`` (instance, ends: a renewal
  was given back), ``subscription.expired``, ``subscription.released``,
  ``subscription.renewal_set`` (instance, renewal_status);
- ``instance.refunded`` (instance, immediately): whoever owns it releases it.
"""

from __future__ import annotations

from cirrus_env.cloud.model import Service
from cirrus_env.cloud.services.billing import (
    bills,
    coupons,
    orders,
    payments,
    refunds,
    subscriptions,
)
from cirrus_env.cloud.services.billing.accrual import hourly
from cirrus_env.cloud.services.billing.measures import MEASURES
from cirrus_env.cloud.services.billing.models import (
    LIFECYCLE,
    BillingAccount,
    Coupon,
    Order,
    Refund,
    Subscription,
)

SERVICE = Service(
    name="billing",
    kinds=(BillingAccount, Order, Subscription, Coupon, Refund),
    operations=(
        *payments.OPERATIONS,
        *orders.OPERATIONS,
        *bills.OPERATIONS,
        *coupons.OPERATIONS,
        *subscriptions.OPERATIONS,
        *refunds.OPERATIONS,
    ),
    lifecycle=LIFECYCLE,
    measures=MEASURES,
    handlers={
        "clock.hour": hourly,
        "order.placed": subscriptions.order_placed,
        "renewal.ordered": subscriptions.renewal_ordered,
        "renewal.set": subscriptions.renewal_wanted,
        "subscription.repriced": subscriptions.repriced,
        "subscription.ended": refunds.converted,
        "ecs.instance.released": refunds.released,
        "disk.disk.released": refunds.released,
        "vpc.eip.released": refunds.released,
    },
)
"""What the catalogue reads."""
