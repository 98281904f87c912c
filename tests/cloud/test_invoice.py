"""Invoices: what can be invoiced, and every way in which an application is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, ok, refusal, world

from cirrus_env.cloud.model import PROVIDER, Posting
from cirrus_env.cloud.services.account.models import Profile
from cirrus_env.cloud.services.billing.models import Order
from cirrus_env.cloud.services.billing.money import settlement
from cirrus_env.cloud.services.invoice import InvoiceAddress, InvoiceTitle
from cirrus_env.world.clock import DAY, EPOCH

SERVICES = ("account", "billing", "invoice")
CASH, VOUCHER = f"cash:{ACCOUNT}", f"voucher:{ACCOUNT}"
PAID = EPOCH - 3 * DAY
ORDER = Order(
    "100000000000001", ACCOUNT, status="Paid", amount=10_000, gross=10_000, voucher=2_000,
    created=PAID, paid=PAID, instance="i-1",
)  # fmt: skip
BACK = Order(
    "100000000000002", ACCOUNT, status="Paid", order_type="Refund", amount=3_000, gross=3_000,
    paid=EPOCH - DAY, related=ORDER.id, instance="i-1",
)  # fmt: skip
TITLE = InvoiceTitle("70001", ACCOUNT, title="Ann Example")
FIRM = InvoiceTitle(
    "70002", ACCOUNT, title="Example Ltd", customer_type="enterprise", special=True,
    tax_number="T-1",
)  # fmt: skip
ADDRESS = InvoiceAddress("80001", ACCOUNT, addressee="Ann", detail="1 Example Street")
ANN = Profile(ACCOUNT, ACCOUNT, holder="Ann Example")
LAST_MONTH = EPOCH - 35 * DAY


def account(*records, usage=True):
    cloud = world(ADDRESS, *records, services=SERVICES)
    for record in records:
        if isinstance(record, Order) and record.order_type != "Refund":
            cloud.ledger.append(settlement(record))
    if usage:
        cloud.ledger.append(
            [
                Posting(LAST_MONTH, CASH, PROVIDER, 500, "compute", "i-2", ""),
                Posting(LAST_MONTH, VOUCHER, PROVIDER, 100, "compute", "i-2", "c-1"),
                Posting(EPOCH - DAY, CASH, PROVIDER, 700, "compute", "i-2", ""),
            ]
        )
    return cloud


def listed(cloud, **arguments):
    data = ok(cloud, "QueryEvaluateList", **arguments)["Data"]
    return {e["Id"]: e["CanInvoiceAmount"] for e in data["EvaluateList"]["Evaluate"]}, data


def test_cash_of_orders_and_of_closed_months_can_be_invoiced():
    items, data = listed(account(ORDER, BACK))
    # no voucher, no top-up, not the month that still runs
    assert items == {"202610": 500, ORDER.id: 8_000, BACK.id: -3_000}
    assert data["TotalUnAppliedInvoiceAmount"] == 5_500
    cloud = account(ORDER, BACK)
    assert cloud.measure("invoiceable", ACCOUNT) == 5_500
    assert cloud.measure("invoiceable", ORDER.id) == 8_000
    assert cloud.measure("invoiced", ACCOUNT) == 0


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"Type": 1}, [BACK.id]),
        ({"Type": 2}, ["202610", ORDER.id]),
        ({"Type": 3}, ["202610", ORDER.id, BACK.id]),
        ({"Type": 4}, []),
        ({"BillCycle": "2026-10"}, ["202610"]),
        ({"OutBizId": ORDER.id}, [ORDER.id]),
        ({"PageSize": 1, "PageNum": 2}, [ORDER.id]),
    ],
)
def test_every_filter_narrows(filters, expected):
    assert list(listed(account(ORDER, BACK), **filters)[0]) == expected


def test_what_is_not_paid_or_free_is_not_listed():
    unpaid = replace(ORDER, id="3", status="Unpaid", paid=0)
    free = replace(ORDER, id="4", amount=0, voucher=0)
    converted = replace(ORDER, id="5", order_type="Convert", config="PostPaid", voucher=0)
    cloud = world(unpaid, free, converted, services=SERVICES)
    assert listed(cloud)[0] == {"5": -10_000}


GIVEN = {
    "SelectedIds": [ORDER.id], "CustomerId": "70001", "AddressId": "80001",
    "InvoiceAmount": 8_000, "InvoicingType": "1",
}  # fmt: skip


@pytest.mark.parametrize("name", ["ApplyInvoice", "ConsoleApplyInvoice"])
def test_an_invoice_is_applied_for_and_issued(name):
    cloud = account(ORDER, TITLE, ANN)
    actor = "customer" if name.startswith("Console") else "assistant"
    id = ok(cloud, name, actor, **GIVEN)["Data"]["InvoiceApplyId"]
    assert cloud.find("invoice.invoice", id).status == "Applied"
    assert list(listed(cloud)[0]) == ["202610"]
    assert list(listed(cloud, Type=4)[0]) == [ORDER.id]
    assert cloud.measure("invoiced", ORDER.id) == 8_000
    cloud.advance(DAY)
    assert cloud.find("invoice.invoice", id).status == "Issued"
    assert refusal(cloud, "ApplyInvoice", **GIVEN) == ("NotApplicable", 400)


def test_a_refund_is_selected_with_its_order():
    cloud = account(ORDER, BACK, TITLE)
    assert refusal(cloud, "ApplyInvoice", **GIVEN) == ("NotApplicable", 400)
    both = {**GIVEN, "SelectedIds": [ORDER.id, BACK.id], "InvoiceAmount": 5_000}
    ok(cloud, "ApplyInvoice", **both)
    assert listed(cloud)[0] == {"202610": 500}


def test_refunds_elsewhere_are_offset_first():
    deficit = replace(BACK, related="", amount=8_200, gross=8_200)
    cloud = account(ORDER, deficit, TITLE)
    assert refusal(cloud, "ApplyInvoice", **GIVEN) == ("NotApplicable", 400)
    ok(cloud, "ApplyInvoice", **{**GIVEN, "InvoiceAmount": 300, "InvoiceByAmount": True})
    assert cloud.measure("invoiceable", ACCOUNT) == 0


def test_a_part_is_invoiced_by_amount_only():
    cloud = account(ORDER, TITLE)
    part = {**GIVEN, "SelectedIds": [ORDER.id, "202610"], "InvoiceAmount": 8_100}
    assert refusal(cloud, "ApplyInvoice", **part) == ("InvalidParameter", 400)
    ok(cloud, "ApplyInvoice", **part, InvoiceByAmount=True)
    assert listed(cloud)[0] == {"202610": 400}


@pytest.mark.parametrize(
    ("records", "change", "expected"),
    [
        ((TITLE,), {"CustomerId": "70009"}, ("ResourceNotExists", 404)),
        ((TITLE,), {"AddressId": "80009"}, ("ResourceNotExists", 404)),
        ((TITLE,), {"SelectedIds": ["9"]}, ("ResourceNotExists", 404)),
        ((TITLE,), {"SelectedIds": []}, ("InvalidParameter", 400)),
        ((TITLE,), {"InvoiceAmount": 8_001}, ("InvalidParameter", 400)),
        ((TITLE,), {"InvoicingType": "0"}, ("NotApplicable", 400)),
        ((replace(FIRM, id="70001", special=False),), {"InvoicingType": "0"},
         ("NotApplicable", 400)),
        ((replace(TITLE, title="Bob"), ANN), {}, ("NotApplicable", 400)),
        (
            (TITLE, replace(ANN, real_name_type="enterprise", company="Example Ltd")),
            {},
            ("NotApplicable", 400),
        ),
    ],
)  # fmt: skip
def test_an_application_that_is_refused(records, change, expected):
    assert refusal(account(ORDER, *records), "ApplyInvoice", **{**GIVEN, **change}) == expected


def test_a_firm_gets_a_special_invoice_in_its_registered_name():
    profile = replace(ANN, real_name_type="enterprise", company="Example Ltd")
    cloud = account(ORDER, FIRM, profile)
    ok(cloud, "ApplyInvoice", **{**GIVEN, "CustomerId": "70002", "InvoicingType": "0"})


def test_titles_and_addresses_are_listed_and_only_the_customer_changes_them():
    cloud = account(TITLE, FIRM)
    shown = ok(cloud, "QueryInvoicingCustomerList")["Data"]["CustomerInvoiceList"]
    assert [(t["Id"], t["CustomerType"]) for t in shown["CustomerInvoice"]] == [
        ("70001", 0),
        ("70002", 1),
    ]
    shown = ok(cloud, "QueryCustomerAddressList")["Data"]["CustomerInvoiceAddressList"]
    assert [a["Id"] for a in shown["CustomerInvoiceAddress"]] == ["80001"]
    given = {"CustomerId": "70001", "InvoiceTitle": "Example Ltd", "CustomerType": "enterprise"}
    assert refusal(cloud, "ConsoleSetInvoiceTitle", **given) == ("InvalidAction.NotFound", 404)
    ok(cloud, "ConsoleSetInvoiceTitle", "customer", **given)
    changed = cloud.find("invoice.title", "70001")
    assert (changed.title, changed.customer_type) == ("Example Ltd", "enterprise")
    assert refusal(
        cloud, "ConsoleSetInvoiceTitle", "customer", **{**given, "CustomerType": "individual"}
    ) == ("NotApplicable", 400)
    assert refusal(cloud, "ConsoleSetInvoiceTitle", "customer", **{**given, "CustomerId": "7"}) == (
        "ResourceNotExists",
        404,
    )
