"""Invoices, their titles and addresses (domain/infrastructure.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY

ISSUE_SECONDS: Final = DAY


@dataclass(frozen=True, slots=True)
class InvoiceTitle(Resource):
    """Whom invoices are made out to; its id is the operations' CustomerId.

    Attributes:
        title: The name on the invoice; it has to be the account's registered one.
        customer_type: Whose name it is.
        tax_number: The registration number of an enterprise.
        special: Whether special VAT invoices are allowed, which only enterprises get.
    """

    kind: ClassVar[str] = "invoice.title"

    title: str = ""
    customer_type: Literal["individual", "enterprise"] = "individual"
    tax_number: str = ""
    special: bool = False


@dataclass(frozen=True, slots=True)
class InvoiceAddress(Resource):
    """Where an invoice is sent; its id is the operations' AddressId."""

    kind: ClassVar[str] = "invoice.address"

    addressee: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Invoice(Resource):
    """One invoice that was applied for.

    Attributes:
        items: The ids of what it covers, as QueryEvaluateList gives them.
        amounts: Cents of each.
        invoice_type: ``0`` special, ``1`` general.
        title_id: Whom it is made out to.
    """

    kind: ClassVar[str] = "invoice.invoice"

    status: Literal["Applied", "Issued", "Cancelled"] = "Applied"
    items: tuple[str, ...] = ()
    amounts: tuple[int, ...] = ()
    invoice_type: Literal["0", "1"] = "1"
    title_id: str = ""
    created: int = 0


LIFECYCLE: Final = frozenset({("Applied", "Issued"), ("Applied", "Cancelled")})
