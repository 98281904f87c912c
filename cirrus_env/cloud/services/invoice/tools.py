"""Operations on invoices: the tools, and what only the customer may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import one_of, parameters, text, view
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Measure, Operation
from cirrus_env.cloud.reach import reader
from cirrus_env.cloud.services.invoice.evaluate import Item, items
from cirrus_env.cloud.services.invoice.models import (
    ISSUE_SECONDS,
    Invoice,
    InvoiceAddress,
    InvoiceTitle,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

_NEGATIVE, _POSITIVE, _NONZERO, _INVOICED = 1, 2, 3, 4


def _success(data: Any) -> dict[str, Any]:
    return {"Code": "Success", "Message": "Successful!", "Success": True, "Data": data}


def _wanted(item: Item, type: int) -> bool:
    if type == _NEGATIVE:
        return item.left < 0
    if type == _POSITIVE:
        return item.left > 0
    return item.invoiced > 0 if type == _INVOICED else item.left != 0


def evaluate(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """QueryEvaluateList; amounts are cents."""
    known = items(work)
    found = [item for item in known if _wanted(item, arguments.get("Type", _NONZERO))]
    if "BillCycle" in arguments:
        found = [item for item in found if item.cycle == arguments["BillCycle"]]
    if "OutBizId" in arguments:
        found = [item for item in found if item.id == arguments["OutBizId"]]
    number, size = arguments.get("PageNum", 1), arguments.get("PageSize", 20)
    shown = [
        {
            "Id": item.id,
            "OutBizId": item.id,
            "BizType": item.type,
            "BillCycle": item.cycle,
            "OriginalAmount": item.original,
            "PresentAmount": item.voucher,
            "OffsetCostAmount": 0,
            "InvoicedAmount": item.invoiced,
            "CanInvoiceAmount": item.left,
            "RelatedOrderId": item.related,
        }
        for item in found[(number - 1) * size : number * size]
    ]
    return _success(
        {
            "PageNum": number,
            "PageSize": size,
            "TotalCount": len(found),
            "TotalInvoiceAmount": sum(item.invoiced for item in known),
            "TotalUnAppliedInvoiceAmount": sum(item.left for item in known),
            "EvaluateList": {"Evaluate": shown},
        }
    )


def titles(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """QueryInvoicingCustomerList."""
    shown = [
        {
            "Id": title.id,
            "InvoiceTitle": title.title,
            "CustomerType": 0 if title.customer_type == "individual" else 1,
            "RegisterNo": title.tax_number,
            "DefaultRemark": "",
            "TaxpayerType": 1 if title.special else 0,
        }
        for title in work.all(InvoiceTitle)
    ]
    return _success({"CustomerInvoiceList": {"CustomerInvoice": shown}})


def addresses(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """QueryCustomerAddressList."""
    shown = [
        {"Id": address.id, "Addressee": address.addressee, "DeliveryAddress": address.detail}
        for address in work.all(InvoiceAddress)
    ]
    return _success({"CustomerInvoiceAddressList": {"CustomerInvoiceAddress": shown}})


def _title(work: Work, id: str, type: str) -> InvoiceTitle:
    title = work.get(InvoiceTitle, id)
    if title is None:
        raise CloudError("ResourceNotExists", f"The invoice title {id} does not exist.", 404)
    profile = work.peek("account.profile", work.tenant)
    if profile is not None:
        whole = view(profile, "real_name_type") == "enterprise"
        registered = view(profile, "company") if whole else view(profile, "holder")
        if registered and title.title != registered:
            raise CloudError("NotApplicable", "The title isn't the account's registered name.", 400)
    if type == "0" and (title.customer_type == "individual" or not title.special):
        raise CloudError(
            "NotApplicable", "A special VAT invoice needs an enterprise title that allows it.", 400
        )
    return title


def apply(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ApplyInvoice: refunds of what is selected have to be selected with it."""
    type = arguments["InvoicingType"]
    title = _title(work, arguments["CustomerId"], type)
    address = arguments["AddressId"]
    if work.get(InvoiceAddress, address) is None:
        raise CloudError("ResourceNotExists", f"The address {address} does not exist.", 404)
    known = {item.id: item for item in items(work)}
    ids = list(dict.fromkeys(arguments["SelectedIds"]))
    for id in ids:
        if id not in known:
            raise CloudError("ResourceNotExists", f"Nothing to invoice has the id {id}.", 404)
        if known[id].left == 0:
            raise CloudError("NotApplicable", f"Nothing of {id} is left to invoice.", 400)
    for item in known.values():
        if item.left < 0 and item.related in ids and item.id not in ids:
            raise CloudError(
                "NotApplicable", f"The refund {item.id} has to be selected with {item.related}.",
                400,
            )  # fmt: skip
    able = sum(known[id].left for id in ids)
    wanted: int = arguments["InvoiceAmount"]
    if able <= 0 or wanted > able or (wanted < able and not arguments.get("InvoiceByAmount")):
        raise CloudError("InvalidParameter", f"InvoiceAmount: {max(0, able)} cents can be.", 400)
    everything = sum(item.left for item in known.values())
    if wanted > everything:
        raise CloudError(
            "NotApplicable", f"Refunds have to be offset first; {max(0, everything)} cents remain.",
            400,
        )  # fmt: skip
    amounts = _spread([known[id].left for id in ids], able - wanted)
    invoice = Invoice(
        new_id(work), work.tenant, items=tuple(ids), amounts=amounts, invoice_type=type,
        title_id=title.id, created=work.now,
    )  # fmt: skip
    work.put(invoice)
    work.later(ISSUE_SECONDS, invoice, status="Issued")
    return _success({"InvoiceApplyId": invoice.id})


def _spread(left: list[int], less: int) -> tuple[int, ...]:
    """The cents of each item when ``less`` of them all are left out, from the last on."""
    amounts = list(left)
    for i in range(len(amounts) - 1, -1, -1):
        cut = min(less, max(0, amounts[i]))
        amounts[i] -= cut
        less -= cut
    return tuple(amounts)


def new_id(work: Work) -> str:
    """Fifteen digits that no invoice of the account has."""
    while True:
        id = work.stream(Invoice.kind).digits(15)
        if work.get(Invoice, id) is None:
            return id


def set_title(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What only the customer does: change the title of its invoices."""
    title = work.get(InvoiceTitle, arguments["CustomerId"])
    if title is None:
        raise CloudError("ResourceNotExists", "There is no such invoice title.", 404)
    enterprise = arguments.get("CustomerType", title.customer_type)
    if title.customer_type == "enterprise" and enterprise == "individual":
        raise CloudError("NotApplicable", "An enterprise never becomes an individual again.", 400)
    work.change(title, title=arguments["InvoiceTitle"], customer_type=enterprise)
    return _success({"CustomerId": title.id})


def invoiceable(cloud: Cloud, of: str) -> int:
    """Cents that can be invoiced of an order or month; of everything for the account's id."""
    known = items(reader(cloud))
    return sum(item.left for item in known if of in (item.id, cloud.account))


def invoiced(cloud: Cloud, of: str) -> int:
    """Cents on invoices of an order or month; of everything for the account's id."""
    known = items(reader(cloud))
    return sum(item.invoiced for item in known if of in (item.id, cloud.account))


MEASURES: Final[Mapping[str, Measure]] = {"invoiceable": invoiceable, "invoiced": invoiced}

_TITLE_ID: Final = text("The invoice title's id from QueryInvoicingCustomerList.", 64)
_PAGE: Final = {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1}
_SIZE: Final = {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
OPERATIONS: Final = (
    Operation(
        name="QueryEvaluateList",
        description=(
            "List what can be invoiced: cash paid for orders and for closed months, with refunds "
            "below zero. Amounts are cents; vouchers and top-ups can't be invoiced."
        ),
        effect="read",
        parameters=parameters(
            (),
            Type={
                "type": "integer", "enum": [1, 2, 3, 4], "default": 3,
                "description": "1 below zero, 2 above, 3 both, 4 already invoiced.",
            },
            BillCycle={"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
            OutBizId=text("Only this order or month.", 64), PageNum=_PAGE, PageSize=_SIZE,
        ),
        run=evaluate,
    ),
    Operation(
        name="QueryInvoicingCustomerList",
        description="List the invoice titles that the customer has set up.",
        effect="read",
        parameters=parameters(()),
        run=titles,
    ),
    Operation(
        name="QueryCustomerAddressList",
        description="List the addresses that invoices can be sent to.",
        effect="read",
        parameters=parameters(()),
        run=addresses,
    ),
    Operation(
        name="ApplyInvoice",
        description=(
            "Apply for an invoice over selected items. The title has to be the registered name; "
            "individuals get general invoices only."
        ),
        effect="write",
        parameters=parameters(
            ("SelectedIds", "CustomerId", "AddressId", "InvoiceAmount", "InvoicingType"),
            SelectedIds={
                "type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 64},
                "minItems": 1, "maxItems": 100, "description": "Ids of QueryEvaluateList.",
            },
            CustomerId=_TITLE_ID, AddressId=text("The address's id.", 64),
            InvoiceAmount={"type": "integer", "minimum": 1, "maximum": 10**12,
                           "description": "Cents."},
            InvoicingType=one_of("0", "1", description="0 special VAT, 1 general."),
            ProcessWay={"type": "integer", "enum": [1], "default": 1},
            InvoiceByAmount={"type": "boolean", "default": False,
                             "description": "Invoice less than the whole."},
        ),
        run=apply,
        resource="CustomerId",
        propose={
            "en": (("apply", "request", "issue"), ("invoice",)),
            "zh": (("申请", "开具", "开"), ("发票",)),
        },
    ),
    Operation(
        name="ConsoleSetInvoiceTitle",
        description="The customer changes the title of its invoices.",
        effect="write",
        parameters=parameters(
            ("CustomerId", "InvoiceTitle"), CustomerId=_TITLE_ID,
            InvoiceTitle=text("The name on the invoice.", 128),
            CustomerType=one_of("individual", "enterprise"),
        ),
        run=set_title,
        resource="CustomerId",
        propose={
            "en": (("change", "set", "correct"), ("title",)),
            "zh": (("修改", "设置", "更正"), ("抬头",)),
        },
        actor="customer",
    ),
    Operation(
        name="ConsoleApplyInvoice",
        description="The customer applies for an invoice in the console.",
        effect="write",
        parameters=parameters(
            ("SelectedIds", "CustomerId", "AddressId", "InvoiceAmount", "InvoicingType"),
            SelectedIds={
                "type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 64},
                "minItems": 1, "maxItems": 100,
            },
            CustomerId=_TITLE_ID, AddressId=text("The address's id.", 64),
            InvoiceAmount={"type": "integer", "minimum": 1, "maximum": 10**12},
            InvoicingType=one_of("0", "1"),
            InvoiceByAmount={"type": "boolean", "default": False},
        ),
        run=apply,
        resource="CustomerId",
        propose={
            "en": (("apply", "request"), ("invoice",)),
            "zh": (("申请", "开具"), ("发票",)),
        },
        actor="customer",
    ),
)  # fmt: skip
