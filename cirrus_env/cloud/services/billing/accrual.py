"""Usage is charged by the hour, after the hour, exactly for the seconds that it ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.cloud.model import PROVIDER, AuditEntry, Posting, Resource
from cirrus_env.cloud.services.billing import coupons, money
from cirrus_env.cloud.services.billing.models import Coupon
from cirrus_env.cloud.services.billing.payments import overdue
from cirrus_env.cloud.services.billing.subscriptions import run_clock
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import DAY, HOUR

SUSPENDED_AFTER = 15 * DAY
"""How long pay-as-you-go resources run on after the account became overdue."""

Usage = tuple[str, str, int]
"""Resource id, billing item, cents."""


def hourly(work: Work, data: Mapping[str, Any]) -> None:
    """Charge the hour that has just ended, then move arrears and prepaid clocks on."""
    billable = work.billable()
    changes = work.changes_since(work.now - HOUR)
    usage = _mixed(work, billable, changes) if changes else _whole(work, billable)
    _charge(work, usage)
    run_clock(work, billable)
    account = overdue(work)
    if account.status == "Overdue" and work.now - account.overdue_since >= SUSPENDED_AFTER:
        work.change(account, status="Suspended")
        work.emit("account.suspended", tenant=work.tenant)


def _whole(work: Work, billable: list[Resource]) -> list[Usage]:
    """The usage of an hour in which nothing changed."""
    return [(record.id, item, cents) for record in billable for item, cents in work.rates(record)]


def _mixed(work: Work, billable: list[Resource], changes: list[AuditEntry]) -> list[Usage]:
    """The usage of an hour with changes in it: each state for the seconds that it lasted.

    What was released in the hour is charged until its release.
    """
    begins = work.now - HOUR
    current: dict[tuple[str, str], Resource | None] = {
        (record.kind, record.id): record for record in billable
    }
    until = dict.fromkeys(current, work.now)
    seconds: dict[tuple[str, str, int], int] = {}
    for entry in reversed(changes):
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
    return [(resource, item, cents) for (resource, item), cents in usage.items()]


def _add(
    work: Work, seconds: dict[tuple[str, str, int], int], record: Resource | None, lasted: int
) -> None:
    if record is None or lasted <= 0:
        return
    for item, rate in work.rates(record):
        key = (record.id, item, rate)
        seconds[key] = seconds.get(key, 0) + lasted


def _charge(work: Work, usage: list[Usage]) -> None:
    account, now = money.cash(work.tenant), work.now
    vouchers = bool(work.all(Coupon))
    for resource, item, cents in usage:
        rest = cents - _by_voucher(work, resource, item, cents) if vouchers else cents
        if rest:
            work.postings.append(Posting(now, account, PROVIDER, rest, item, resource, ""))


def _by_voucher(work: Work, resource: str, item: str, cents: int) -> int:
    """Let vouchers pay; returns what they paid."""
    product, paid = money.product_of(resource), 0
    while paid < cents:
        coupon = coupons.best(work, "PayAsYouGo", product)
        if coupon is None:
            break
        part = min(cents - paid, coupons.usable(work, coupon, "PayAsYouGo", product))
        work.change(coupon, balance=coupon.balance - part)
        work.post(
            money.voucher(work.tenant), PROVIDER, part, item=item, resource=resource, memo=coupon.id
        )
        paid += part
    return paid
