"""Which resources are prepaid.

A prepaid resource has a ``billing.subscription`` of its own id. Where set-up inserted none, one is
read off the resource, whatever service owns it, and stored as soon as something about it changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from cirrus_env.cloud.model import Resource
from cirrus_env.cloud.services.billing import money
from cirrus_env.cloud.services.billing.models import RenewalStatus, Subscription
from cirrus_env.cloud.work import Work

GONE = ("Released", "Refunded", "Converted")
"""Statuses of what is no longer prepaid."""
_STATUSES: dict[str, RenewalStatus] = {
    "AutoRenewal": "AutoRenewal",
    "NotRenewal": "NotRenewal",
    "Normal": "ManualRenewal",  # as the resource services call renewal by hand
    "ManualRenewal": "ManualRenewal",
}


def renewal_status(name: str) -> RenewalStatus:
    """Billing's name of a renewal status, from its own or a resource service's."""
    return _STATUSES.get(name, "ManualRenewal")


def read_off(record: Resource) -> Subscription | None:
    """The subscription that a prepaid resource describes; None for a pay-as-you-go one.

    What has no price of its own, such as a disk bought with its server, is paid with that.
    """
    if getattr(record, "charge_type", "") != "PrePaid" or not getattr(record, "expired_time", 0):
        return None
    if not hasattr(record, "monthly_cents"):
        return None
    return Subscription(
        record.id,
        record.tenant,
        product=money.product_of(record.id),
        starts=getattr(record, "created_time", 0),
        ends=getattr(record, "expired_time", 0),
        monthly=record.monthly_cents,
        renewal_status=renewal_status(getattr(record, "renewal_status", "")),
        renewal_period=getattr(record, "renewal_duration", 1),
        renewal_unit="Y" if getattr(record, "renewal_unit", "") == "Year" else "M",
        region=getattr(record, "region", "cn-hangzhou"),
    )


def subscriptions(work: Work, billable: Iterable[Resource]) -> dict[str, Subscription]:
    """Every prepaid resource of the account by id, those given back or released too."""
    found = {stored.id: stored for stored in work.all(Subscription)}
    for record in billable:
        subscription = read_off(record)
        if subscription is not None:
            found.setdefault(record.id, subscription)
    return found


def subscription(work: Work, id: str) -> Subscription | None:
    """The subscription of one resource; None if it isn't prepaid or doesn't exist."""
    stored = work.get(Subscription, id)
    if stored is not None:
        return stored
    record = work.find_billable(id)
    return None if record is None else read_off(record)
