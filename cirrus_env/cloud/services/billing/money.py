"""Cents, ledger accounts and the envelope that every billing operation answers in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cirrus_env.cloud.model import PROVIDER, Posting
from cirrus_env.cloud.services.billing.models import BillingAccount, Order
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY

FIVE_DAYS = 5 * DAY
ORDER = "order"
"""The item of an order's payment postings."""
REFUND = "refund"
"""The item of a refund's posting."""

_PRODUCTS = {
    "i": "ecs", "d": "disk", "s": "snapshot", "eip": "eip", "m": "image", "lb": "slb", "ngw": "nat",
}  # fmt: skip
_NAMES = {
    "ecs": "Elastic Compute Service",
    "disk": "Block Storage",
    "snapshot": "Snapshot Service",
    "eip": "Elastic IP Address",
    "image": "Image Service",
    "slb": "Server Load Balancer",
    "nat": "NAT Gateway",
}


def cash(tenant: str) -> str:
    """The ledger account of the tenant's prepaid balance; below zero it owes money."""
    return f"cash:{tenant}"


def voucher(tenant: str) -> str:
    """The ledger account of the tenant's vouchers."""
    return f"voucher:{tenant}"


def bank(tenant: str) -> str:
    """The ledger account that a customer's payments come from."""
    return f"bank:{tenant}"


def decimal(cents: int) -> str:
    """Cents as the account operations write them: 123456 is ``1234.56``."""
    sign = "-" if cents < 0 else ""
    whole, part = divmod(abs(cents), 100)
    return f"{sign}{whole}.{part:02d}"


def number(cents: int) -> float:
    """Cents as the bill operations write them: the nearest float, which prints exactly."""
    return cents / 100


def product_of(resource: str) -> str:
    """The product's code by the shape of a resource's id."""
    prefix = resource.partition("-")[0]
    return _PRODUCTS.get(prefix, prefix or "other")


def product_name(code: str) -> str:
    """What a product is called."""
    return _NAMES.get(code, code)


def account_of(work: Work) -> BillingAccount:
    """The tenant's payment state; a fresh one where set-up made none."""
    return work.get(BillingAccount, work.tenant) or BillingAccount(work.tenant, work.tenant)


def success(data: Any, *, code: str = "Success") -> dict[str, Any]:
    """The envelope of a call that worked."""
    return {"Code": code, "Message": "Successful!", "Success": True, "Data": data}


def missing(what: str, id: str) -> CloudError:
    """The error for something that this account doesn't have."""
    return CloudError("ResourceNotExists", f"The {what} {id} does not exist.", 404)


def page(items: Sequence[Any], arguments: dict[str, Any], size: int = 20) -> dict[str, Any]:
    """One page of a list: ``PageNum``, ``PageSize``, ``TotalCount`` and the slice as ``page``."""
    number_, size = arguments.get("PageNum", 1), arguments.get("PageSize", size)
    start = (number_ - 1) * size
    return {
        "PageNum": number_,
        "PageSize": size,
        "TotalCount": len(items),
        "page": items[start : start + size],
    }


def paging(maximum: int) -> dict[str, Any]:
    """The schema of the two paging parameters."""
    return {
        "PageNum": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1},
        "PageSize": {"type": "integer", "minimum": 1, "maximum": maximum, "default": 20},
    }


def settlement(order: Order) -> tuple[Posting, ...]:
    """The postings of a paid order: what set-up books beside it, and what paying one books."""
    parts = (
        (voucher(order.tenant), order.voucher),
        (cash(order.tenant), order.amount - order.voucher),
    )
    return tuple(
        Posting(order.paid, account, PROVIDER, cents, ORDER, order.instance, order.id)
        for account, cents in parts
        if cents
    )


def cash_paid(tenant: str, postings: Iterable[Posting], order: str) -> int:
    """Cash cents that the ledger shows for an order, less what went back for it."""
    mine, total = cash(tenant), 0
    for posting in postings:
        if posting.memo != order:
            continue
        if posting.debit == mine and posting.credit == PROVIDER:
            total += posting.cents
        elif posting.debit == PROVIDER and posting.credit == mine:
            total -= posting.cents
    return total
