"""Prepaid items: when they end and how they are renewed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.cloud.api import RENEWAL_SETTING
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.billing import money, prepaid
from cirrus_env.cloud.services.billing.models import Order, RenewalStatus, Subscription
from cirrus_env.cloud.services.billing.orders import (
    free_for_orders,
    new_order_id,
    pay,
    under_way,
    unpaid_order,
)
from cirrus_env.cloud.services.billing.prepaid import GONE
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import BILLING_ZONE, DAY, HOUR, iso_second

KEPT = 15 * DAY
"""How long a stopped prepaid resource is kept before it is released."""
EARLY = 9 * DAY
"""How long before the end the automatic renewal is first tried."""
_CHARGE_HOUR = 8
AUTOMATIC = "automatic renewal"
"""Who places the order of an automatic renewal."""
_PERIODS = [1, 2, 3, 6, 12]
_STATUSES = ["AutoRenewal", "ManualRenewal", "NotRenewal"]


def _shown(subscription: Subscription, now: int) -> dict[str, Any]:
    auto = subscription.renewal_status == "AutoRenewal"
    shown: dict[str, Any] = {
        "InstanceID": subscription.id,
        "ProductCode": subscription.product,
        "SubscriptionType": "Subscription",
        "Region": subscription.region,
        "Status": "Expired" if subscription.ends <= now else subscription.status,
        "CreateTime": iso_second(subscription.starts),
        "EndTime": iso_second(subscription.ends),
        "StopTime": iso_second(subscription.ends),
        "ReleaseTime": iso_second(subscription.ends + KEPT),
        "RenewStatus": subscription.renewal_status,
    }
    if auto:
        shown["RenewalDuration"] = subscription.renewal_period
        shown["RenewalDurationUnit"] = subscription.renewal_unit
    return shown


def _query_available_instances(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    wanted = _ids(arguments["InstanceIDs"]) if "InstanceIDs" in arguments else None
    if wanted is None:
        billable = work.billable()
    else:
        billable = [r for r in map(work.find_billable, dict.fromkeys(wanted)) if r is not None]
    known = prepaid.subscriptions(work, billable)
    shown = [_shown(s, work.now) for s in known.values() if s.status not in GONE]
    for record in billable:
        if work.rates(record):  # a prepaid one has none
            shown.append(
                {
                    "InstanceID": record.id,
                    "ProductCode": money.product_of(record.id),
                    "SubscriptionType": "PayAsYouGo",
                    "Status": "Normal",
                }
            )
    found = [
        entry
        for entry in shown
        if (wanted is None or entry["InstanceID"] in wanted)
        and arguments.get("ProductCode") in (None, entry["ProductCode"])
        and arguments.get("SubscriptionType") in (None, entry["SubscriptionType"])
        and arguments.get("RenewStatus") in (None, entry.get("RenewStatus"))
    ]
    found.sort(key=lambda entry: (entry.get("EndTime", "9999"), entry["InstanceID"]))
    data = money.page(found, arguments)
    return money.success(data | {"InstanceList": data.pop("page")})


def _ids(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _set_renewal(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    status: RenewalStatus = arguments["RenewalStatus"]
    period, unit = arguments.get("RenewalPeriod"), arguments.get("RenewalPeriodUnit")
    if status == "AutoRenewal" and (period is None or unit is None):
        raise CloudError(
            "MissingParameter", "AutoRenewal needs RenewalPeriod and RenewalPeriodUnit."
        )
    ids = _ids(arguments["InstanceIDs"])
    if not ids or len(ids) > 100:
        raise CloudError("InvalidParameter", "InstanceIDs names 1 to 100 instances.")
    for id in ids:
        subscription = prepaid.subscription(work, id)
        if subscription is None or subscription.product != arguments["ProductCode"]:
            raise money.missing("subscription instance", id)
        _renewal(work, subscription, status, period, unit)
    return money.success({"InstanceIDs": ids, "RenewalStatus": status})


def _renewal(
    work: Work, subscription: Subscription, status: RenewalStatus, period: Any, unit: Any
) -> None:
    if subscription.status != "Normal" or subscription.ends <= work.now:
        raise CloudError(
            "ResourceStatusError",
            f"{subscription.id} has expired or was released; its renewal can't be set.",
        )
    work.change(
        subscription,
        renewal_status=status,
        renewal_period=period or subscription.renewal_period,
        renewal_unit=unit or subscription.renewal_unit,
    )
    work.emit("subscription.renewal_set", instance=subscription.id, renewal_status=status)


def renewal_wanted(work: Work, data: Mapping[str, Any]) -> None:
    """Another service set how an instance is renewed: event ``renewal.set``."""
    subscription = prepaid.subscription(work, data["instance"])
    if subscription is None:
        raise money.missing("subscription instance", data["instance"])
    status = prepaid.renewal_status(data["status"])
    _renewal(work, subscription, status, data.get("period"), data.get("unit"))


def repriced(work: Work, data: Mapping[str, Any]) -> None:
    """Another service changed what a subscription is: event ``subscription.repriced``."""
    subscription = prepaid.subscription(work, data["instance"])
    if subscription is not None:
        work.change(subscription, monthly=data["monthly"])


def order_placed(work: Work, data: Mapping[str, Any]) -> None:
    """Another service sold something: event ``order.placed``; paid at once with ``auto_pay``."""
    cents, id = data["cents"], data["order"]
    if work.get(Order, id) is not None:  # one call that sells for several instances
        id = new_order_id(work)
    order = Order(
        id,
        work.tenant,
        order_type=data["order_type"],
        product=money.product_of(data["instance"]),
        instance=data["instance"],
        gross=cents,
        amount=cents,
        created=work.now,
        months=data.get("months", 0),
        config=data.get("config", ""),
        original_config=data.get("original_config", ""),
    )
    if unpaid_order(work, order.instance) or under_way(work, order.instance):
        raise CloudError("LastOrderProcessing", f"{order.instance} has an order that is open.")
    if data.get("auto_pay", True):
        pay(work, order)
    else:
        work.put(order)


def renewal_ordered(work: Work, data: Mapping[str, Any]) -> None:
    """Another service sold a renewal: event ``renewal.ordered``."""
    subscription = prepaid.subscription(work, data["instance"])
    if subscription is None:
        raise money.missing("subscription instance", data["instance"])
    renew(work, subscription, data["months"], data["order"])


def renew(
    work: Work, subscription: Subscription, months: int, order: str, operator: str = ""
) -> Order:
    """Order and pay a renewal from the balance.

    Raises:
        CloudError: If an order is open, money is owed or lacking, or the resource is gone.
    """
    if subscription.status not in ("Normal", "Expired"):
        raise CloudError("ResourceStatusError", f"{subscription.id} was released.")
    free_for_orders(work, subscription.id)
    cents = subscription.monthly * months
    return pay(
        work,
        Order(
            order, work.tenant, order_type="Renew", product=subscription.product,
            instance=subscription.id, gross=cents, amount=cents, created=work.now, months=months,
            region=subscription.region, operator=operator,
        ),
    )  # fmt: skip


def run_clock(work: Work, billable: list[Resource]) -> None:
    """Every hour: expire, release and renew what is due."""
    local_hour = (work.now + int(BILLING_ZONE.utcoffset(None).total_seconds())) // HOUR % 24
    for subscription in prepaid.subscriptions(work, billable).values():
        left = subscription.ends - work.now
        if subscription.status == "Normal" and left <= 0:
            work.change(subscription, status="Expired")
            work.emit("subscription.expired", instance=subscription.id)
        elif subscription.status == "Expired" and left <= -KEPT:
            work.change(subscription, status="Released")
            work.emit("subscription.released", instance=subscription.id)
        elif (
            subscription.status == "Normal"
            and subscription.renewal_status == "AutoRenewal"
            and left <= EARLY
            and local_hour == _CHARGE_HOUR
        ):
            _try_renewal(work, subscription)


def _try_renewal(work: Work, subscription: Subscription) -> None:
    months = subscription.renewal_period * (12 if subscription.renewal_unit == "Y" else 1)
    cents = subscription.monthly * months
    enough = work.balance(money.cash(work.tenant)) + money.account_of(work).credit >= cents
    busy = unpaid_order(work, subscription.id) or under_way(work, subscription.id)
    if enough and busy is None:
        renew(work, subscription, months, new_order_id(work), AUTOMATIC)


OPERATIONS = (
    Operation(
        "QueryAvailableInstances",
        "Lists the account's resources with how they are paid; for prepaid ones when they end and"
        " how they are renewed.",
        "read",
        {
            "type": "object",
            "properties": {
                "ProductCode": {"type": "string", "maxLength": 64},
                "SubscriptionType": {"enum": ["Subscription", "PayAsYouGo"]},
                "InstanceIDs": {
                    "type": "string",
                    "maxLength": 4096,
                    "description": "Ids with commas between them, at most 100.",
                },
                "RenewStatus": {"enum": _STATUSES},
                **money.paging(300),
            },
            "additionalProperties": False,
        },
        _query_available_instances,
    ),
    Operation(
        "SetRenewal",
        "Sets how prepaid instances are renewed: automatically, by hand, or not at all.",
        "write",
        {
            "type": "object",
            "properties": {
                "InstanceIDs": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 4096,
                    "description": "Ids with commas between them, at most 100.",
                },
                "ProductCode": {"type": "string", "minLength": 1, "maxLength": 64},
                "RenewalStatus": {"enum": _STATUSES},
                "RenewalPeriod": {"enum": _PERIODS},
                "RenewalPeriodUnit": {"enum": ["M", "Y"]},
            },
            "required": ["InstanceIDs", "ProductCode", "RenewalStatus"],
            "additionalProperties": False,
        },
        _set_renewal,
        resource="InstanceIDs",
        propose=RENEWAL_SETTING,
    ),
)
