"""What can be invoiced: cash that was paid for orders and for closed months, less what went back.

Vouchers and payments into the balance can't be, and a refund takes its cents off.
"""

from __future__ import annotations

from typing import NamedTuple

from cirrus_env.cloud.api import view
from cirrus_env.cloud.model import PROVIDER
from cirrus_env.cloud.services.invoice.models import Invoice
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import billing_cycle

_ORDER = "billing.order"


class Item(NamedTuple):
    """One line that may be invoiced.

    Attributes:
        id: The order's id, or the month as six digits.
        type: ``ORDER``, ``BILL`` or ``REFUND``.
        original: Cents that it was about; below zero for a refund.
        voucher: Cents that vouchers paid.
        invoiced: Cents on invoices already.
        related: For a refund: the order that it gave back.
        cycle: Its month.
    """

    id: str
    type: str
    original: int
    voucher: int
    invoiced: int
    related: str
    cycle: str

    @property
    def left(self) -> int:
        """Cents that can still be invoiced; below zero where they are owed."""
        return self.original - self.voucher - self.invoiced


def items(work: Work) -> list[Item]:
    """Every line of the account, oldest month first."""
    invoiced: dict[str, int] = {}
    for invoice in work.all(Invoice):
        if invoice.status != "Cancelled":
            for id, cents in zip(invoice.items, invoice.amounts, strict=True):
                invoiced[id] = invoiced.get(id, 0) + cents
    found = _months(work, invoiced)
    for order in work.peek_all(_ORDER):
        paid = view(order, "paid")
        amount: int = view(order, "amount")
        if view(order, "status") != "Paid" or not amount or not paid:
            continue
        back = view(order, "order_type") == "Refund" or view(order, "config") == "PostPaid"
        found.append(
            Item(
                order.id, "REFUND" if back else "ORDER", -amount if back else amount,
                0 if back else view(order, "voucher"), invoiced.get(order.id, 0),
                view(order, "related"), billing_cycle(paid),
            )
        )  # fmt: skip
    return sorted(found, key=lambda item: (item.cycle, item.id))


def _months(work: Work, invoiced: dict[str, int]) -> list[Item]:
    """Pay-as-you-go by month; the month that still runs isn't settled."""
    cash, voucher = f"cash:{work.tenant}", f"voucher:{work.tenant}"
    running = billing_cycle(work.now)
    total: dict[str, int] = {}
    by_voucher: dict[str, int] = {}
    orders = {order.id for order in work.peek_all(_ORDER)}
    for posting in work.ledger_postings():
        usage = posting.credit == PROVIDER and posting.debit in (cash, voucher)
        if not usage or posting.item == "order" or posting.memo in orders:
            continue
        cycle = billing_cycle(posting.at)
        if cycle == running:
            continue
        total[cycle] = total.get(cycle, 0) + posting.cents
        if posting.debit == voucher:
            by_voucher[cycle] = by_voucher.get(cycle, 0) + posting.cents
    return [
        Item(
            cycle.replace("-", ""), "BILL", cents, by_voucher.get(cycle, 0),
            invoiced.get(cycle.replace("-", ""), 0), "", cycle,
        )
        for cycle, cents in total.items()
    ]  # fmt: skip
