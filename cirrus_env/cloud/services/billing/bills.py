"""Bills, read off the ledger: a line for each resource, or for each of its billing items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from cirrus_env.cloud.model import PROVIDER, Operation, Posting
from cirrus_env.cloud.services.billing import money
from cirrus_env.cloud.services.billing.models import Order
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import BILLING_ZONE, DAY, billing_cycle

MONTHS_KEPT = 18
CYCLE = {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$", "description": "YYYY-MM."}
_ITEM_NAMES = {money.ORDER: "subscription fee", money.REFUND: "subscription refund"}
_FILTERS: dict[str, Any] = {
    "ProductCode": {"type": "string", "maxLength": 64},
    "SubscriptionType": {"enum": ["Subscription", "PayAsYouGo"]},
}
_LINE_FILTERS: dict[str, Any] = {
    "BillingCycle": CYCLE,
    **_FILTERS,
    "InstanceID": {"type": "string", "maxLength": 64},
    "IsBillingItem": {
        "type": "boolean",
        "default": False,
        "description": "true splits each resource into its billing items.",
    },
    "IsHideZeroCharge": {"type": "boolean", "default": False},
    "Granularity": {"enum": ["MONTHLY", "DAILY"], "default": "MONTHLY"},
    "BillingDate": {
        "type": "string",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        "description": "YYYY-MM-DD; needed with Granularity DAILY.",
    },
}


@dataclass(slots=True)
class _Line:
    """The sums of one bill line, in cents; built up while the postings are read."""

    resource: str
    item: str
    subscription: str
    refund: bool
    amount: int = 0
    voucher: int = 0
    outstanding: int = 0


def outstanding(postings: Sequence[Posting], tenant: str, debt: int) -> dict[int, int]:
    """Posting index -> cents not yet paid: a debt is owed for the latest charges."""
    owed: dict[int, int] = {}
    account = money.cash(tenant)
    for index in range(len(postings) - 1, -1, -1):
        if debt <= 0:
            break
        posting = postings[index]
        if posting.debit == account and posting.credit == PROVIDER:
            owed[index] = min(debt, posting.cents)
            debt -= owed[index]
    return owed


def _check(work: Work, arguments: dict[str, Any]) -> None:
    cycle, now = arguments["BillingCycle"], billing_cycle(work.now)
    age = _month_number(now) - _month_number(cycle)
    if age < 0 or age > MONTHS_KEPT:
        raise CloudError("InvalidParameter", f"BillingCycle {cycle} is outside the last 18 months.")
    date = arguments.get("BillingDate")
    if arguments.get("Granularity") == "DAILY":
        if date is None:
            raise CloudError("MissingParameter", "BillingDate is required for DAILY granularity.")
        if not date.startswith(cycle):
            raise CloudError("InvalidParameter", "BillingDate lies outside BillingCycle.")
    elif date is not None:
        raise CloudError("InvalidParameter", "BillingDate needs Granularity DAILY.")


def _period(arguments: dict[str, Any]) -> tuple[int, int]:
    """The first second of the cycle or date in the billing zone, and of the one after."""
    return _bounds(arguments["BillingCycle"], arguments.get("BillingDate"))


@lru_cache(maxsize=256)
def _bounds(cycle: str, date: str | None) -> tuple[int, int]:
    if date is not None:
        try:
            first = datetime.fromisoformat(date).replace(tzinfo=BILLING_ZONE)
        except ValueError as error:
            raise CloudError("InvalidParameter", f"BillingDate {date} is no date.") from error
        return int(first.timestamp()), int(first.timestamp()) + DAY
    year, month = int(cycle[:4]), int(cycle[5:7])
    first = datetime(year, month, 1, tzinfo=BILLING_ZONE)
    after = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=BILLING_ZONE)
    return int(first.timestamp()), int(after.timestamp())


def _month_number(cycle: str) -> int:
    return int(cycle[:4]) * 12 + int(cycle[5:7])


def _lines(work: Work, arguments: dict[str, Any], by_item: bool) -> list[_Line]:
    postings = work.ledger_postings()
    tenant = work.tenant
    first, last = _period(arguments)
    orders = {order.id for order in work.all(Order)}
    cash, voucher = money.cash(tenant), money.voucher(tenant)
    owed = outstanding(postings, tenant, -work.balance(cash))
    lines: dict[tuple[str, str, str, bool], _Line] = {}
    only = arguments.get("InstanceID")
    for index, posting in enumerate(postings):
        if only is not None and posting.resource != only:
            continue
        if posting.debit == PROVIDER:
            sign, account = -1, posting.credit
        else:
            sign, account = 1, posting.debit
        if account not in (cash, voucher) or PROVIDER not in (posting.debit, posting.credit):
            continue
        if sign < 0 and posting.item != money.REFUND:
            continue  # a voucher being issued is no bill
        if not first <= posting.at < last:
            continue
        bought = posting.item in (money.ORDER, money.REFUND) or posting.memo in orders
        subscription = "Subscription" if bought else "PayAsYouGo"
        key = (posting.resource, posting.item if by_item else "", subscription, sign < 0)
        line = lines.get(key)
        if line is None:
            line = lines[key] = _Line(*key)
        line.amount += sign * posting.cents
        line.outstanding += owed.get(index, 0)
        if account == voucher:
            line.voucher += sign * posting.cents
    return [lines[key] for key in sorted(lines) if _wanted(lines[key], arguments)]


def _wanted(line: _Line, arguments: dict[str, Any]) -> bool:
    product = arguments.get("ProductCode")
    return (
        (product is None or money.product_of(line.resource) == product)
        and arguments.get("SubscriptionType") in (None, line.subscription)
        and not (arguments.get("IsHideZeroCharge") and line.amount == 0)
    )


def _amounts(line: _Line, currency: str) -> dict[str, Any]:
    return {
        "PretaxGrossAmount": money.number(line.amount),
        "PretaxAmount": money.number(line.amount),
        "DeductedByCashCoupons": money.number(line.voucher),
        "PaymentAmount": money.number(line.amount - line.voucher - line.outstanding),
        "OutstandingAmount": money.number(line.outstanding),
        "Currency": currency,
    }


def _item_kind(line: _Line) -> str:
    if line.refund:
        return "Refund"
    return "SubscriptionOrder" if line.subscription == "Subscription" else "PayAsYouGoBill"


def _shown(work: Work, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    _check(work, arguments)
    by_item = bool(arguments.get("IsBillingItem"))
    currency = money.account_of(work).currency
    shown = []
    for line in _lines(work, arguments, by_item):
        product = money.product_of(line.resource)
        entry: dict[str, Any] = {
            "InstanceID": line.resource,
            "NickName": getattr(work.find_billable(line.resource), "name", ""),
            "ProductCode": product,
            "ProductName": money.product_name(product),
            "SubscriptionType": line.subscription,
            "Item": _item_kind(line),
        }
        if by_item:
            entry["BillingItem"] = _ITEM_NAMES.get(line.item, line.item)
        if "BillingDate" in arguments:
            entry["BillingDate"] = arguments["BillingDate"]
        shown.append(entry | _amounts(line, currency))
    return shown


def _query_instance_bill(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    data = money.page(_shown(work, arguments), arguments)
    items = data.pop("page")
    head = {"BillingCycle": arguments["BillingCycle"], "AccountID": work.tenant}
    return money.success(head | data | {"Items": {"Item": items}})


def _describe_instance_bill(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    items = _shown(work, arguments)
    token, size = arguments.get("NextToken", "0"), arguments.get("MaxResults", 20)
    start = int(token)
    end = start + size
    data = {
        "BillingCycle": arguments["BillingCycle"],
        "AccountID": work.tenant,
        "TotalCount": len(items),
        "MaxResults": size,
        "Items": items[start:end],
    }
    if end < len(items):
        data["NextToken"] = str(end)
    return money.success(data)


def _query_bill_overview(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    _check(work, arguments)
    currency = money.account_of(work).currency
    sums: dict[tuple[str, str, str], _Line] = {}
    for line in _lines(work, arguments, by_item=False):
        product = money.product_of(line.resource)
        key = (product, line.subscription, _item_kind(line))
        total = sums.setdefault(key, _Line(product, "", line.subscription, line.refund))
        total.amount += line.amount
        total.voucher += line.voucher
        total.outstanding += line.outstanding
    items = [
        {
            "ProductCode": product,
            "ProductName": money.product_name(product),
            "SubscriptionType": subscription,
            "Item": kind,
        }
        | _amounts(sums[product, subscription, kind], currency)
        for product, subscription, kind in sorted(sums)
    ]
    return money.success(
        {
            "BillingCycle": arguments["BillingCycle"],
            "AccountID": work.tenant,
            "Items": {"Item": items},
        }
    )


def order_amounts(order: Order, currency: str) -> dict[str, Any]:
    """An order's money fields; a refund order's are what went back."""
    return {
        "PretaxGrossAmount": money.decimal(order.gross),
        "PretaxAmount": money.decimal(order.amount),
        "DeductedByCashCoupons": money.decimal(order.voucher),
        "PaymentAmount": money.decimal(order.amount - order.voucher),
        "Currency": currency,
    }


def _parameters(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": ["BillingCycle"],
        "additionalProperties": False,
    }


OPERATIONS = (
    Operation(
        "QueryInstanceBill",
        "Queries a month's bill by resource, or by billing item with IsBillingItem. Usage is billed"
        " by the hour, after the hour.",
        "read",
        _parameters({**_LINE_FILTERS, **money.paging(300)}),
        _query_instance_bill,
    ),
    Operation(
        "DescribeInstanceBill",
        "Queries a month's bill by resource, or by billing item with IsBillingItem; long lists come"
        " with NextToken.",
        "read",
        _parameters(
            {
                **_LINE_FILTERS,
                "MaxResults": {"type": "integer", "minimum": 1, "maximum": 300, "default": 20},
                "NextToken": {"type": "string", "pattern": "^[0-9]{1,6}$"},
            }
        ),
        _describe_instance_bill,
    ),
    Operation(
        "QueryBillOverview",
        "Queries a month's totals for each product.",
        "read",
        _parameters({"BillingCycle": CYCLE, **_FILTERS}),
        _query_bill_overview,
    ),
)
