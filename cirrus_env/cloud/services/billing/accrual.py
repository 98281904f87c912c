"""Usage is charged by the hour, after the hour, exactly for the seconds that it ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.cloud.model import PROVIDER, Resource
from cirrus_env.cloud.services.billing import coupons, money
from cirrus_env.cloud.services.billing.payments import overdue
from cirrus_env.cloud.services.billing.subscriptions import run_clock
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import DAY, HOUR

SUSPENDED_AFTER = 15 * DAY
"""How long pay-as-you-go resources run on after the account became overdue."""


def hourly(work: Work, data: Mapping[str, Any]) -> None:
    """Charge the hour that has just ended, then move arrears and prepaid clocks on."""
    for (resource, item), cents in _usage(work).items():
        _charge(work, resource, item, cents)
    run_clock(work)
    account = overdue(work)
    if account.status == "Overdue" and work.now - account.overdue_since >= SUSPENDED_AFTER:
        work.change(account, status="Suspended")
        work.emit("account.suspended", tenant=work.tenant)


def _usage(work: Work) -> dict[tuple[str, str], int]:
    """(resource, item) -> cents of the last hour, a resource that was released in it too."""
    begins = work.now - HOUR
    seconds: dict[tuple[str, str, int], int] = {}
    current: dict[tuple[str, str], Resource | None] = {
        (record.kind, record.id): record for record in work.billable()
    }
    until = dict.fromkeys(current, work.now)
    for entry in reversed(work.changes_since(begins)):
        record = entry.after or entry.before
        if record is None:
            continue
        key = (record.kind, record.id)
        _add(work, seconds, current.get(key), until.get(key, entry.at) - entry.at)
        current[key], until[key] = entry.before, entry.at
    for key, record in current.items():
        _add(work, seconds, record, until[key] - begins)
    usage: dict[tuple[str, str], int] = {}
    for (resource, item, rate), lasted in sorted(seconds.items()):
        cents = (rate * lasted + HOUR // 2) // HOUR
        usage[resource, item] = usage.get((resource, item), 0) + cents
    return usage


def _add(
    work: Work, seconds: dict[tuple[str, str, int], int], record: Resource | None, lasted: int
) -> None:
    if record is None or lasted <= 0:
        return
    for item, rate in work.rates(record):
        key = (record.id, item, rate)
        seconds[key] = seconds.get(key, 0) + lasted


def _charge(work: Work, resource: str, item: str, cents: int) -> None:
    while cents > 0:
        coupon = coupons.best(work, "PayAsYouGo", money.product_of(resource))
        if coupon is None:
            break
        part = min(cents, coupons.usable(work, coupon, "PayAsYouGo", money.product_of(resource)))
        work.change(coupon, balance=coupon.balance - part)
        work.post(
            money.voucher(work.tenant), PROVIDER, part, item=item, resource=resource, memo=coupon.id
        )
        cents -= part
    work.post(money.cash(work.tenant), PROVIDER, cents, item=item, resource=resource)
