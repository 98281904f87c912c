"""Invoices: what can be invoiced is read off orders and the ledger."""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Service
from cirrus_env.cloud.services.invoice.models import (
    LIFECYCLE,
    Invoice,
    InvoiceAddress,
    InvoiceTitle,
)
from cirrus_env.cloud.services.invoice.tools import MEASURES, OPERATIONS

SERVICE: Final = Service(
    name="invoice",
    kinds=(InvoiceTitle, InvoiceAddress, Invoice),
    operations=OPERATIONS,
    lifecycle={Invoice.kind: LIFECYCLE},
    measures=MEASURES,
)

__all__ = ["SERVICE", "Invoice", "InvoiceAddress", "InvoiceTitle"]
