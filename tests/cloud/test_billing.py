"""Billing in exact cents: balance, bills, orders, renewals, refunds, arrears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.cloud.catalogue import Catalogue, catalogue
from cirrus_env.cloud.kernel import CallResult, Cloud, replay
from cirrus_env.cloud.model import Operation, Posting, Resource, Service
from cirrus_env.cloud.services.billing import SERVICE as BILLING
from cirrus_env.cloud.services.billing.models import (
    BillingAccount,
    Coupon,
    Order,
    Refund,
    Subscription,
)
from cirrus_env.cloud.services.billing.money import decimal, settlement
from cirrus_env.cloud.services.disk.models import Disk, Snapshot
from cirrus_env.cloud.services.ecs.models import Instance
from cirrus_env.cloud.services.vpc.models import Eip
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import DAY, EPOCH, HOUR, MINUTE

ACCOUNT = "1234567890123456"
OTHER = "6543210987654321"
CASH = f"cash:{ACCOUNT}"
MONTH = 30 * DAY


@dataclass(frozen=True, slots=True)
class Box(Resource):
    """A stand-in for any service's billable resource."""

    kind: ClassVar[str] = "test.box"

    name: str = ""
    status: str = "On"
    cents: int = 0
    charge_type: str = "PostPaid"
    expired_time: int = 0
    created_time: int = 0
    monthly_cents: int = 0
    renewal_status: str = "Normal"


def _rates(box: Box, now: int) -> tuple[tuple[str, int], ...]:
    on = box.status == "On" and box.charge_type == "PostPaid"
    return (("compute", box.cents), ("disk", 5)) if on else ()


def _switch(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    box = work.get(Box, arguments["Id"])
    if box is None:
        return {}
    if arguments["To"] == "Gone":
        work.delete(box)
    else:
        work.change(box, status=arguments["To"])
    return {}


def _sell(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    work.emit(arguments["Event"], **arguments["Data"])
    return {}


BOXES = Service(
    name="boxes",
    kinds=(Box,),
    operations=(
        Operation("Switch", "Switches a box.", "write", {"type": "object"}, _switch),
        Operation("Sell", "Emits an event.", "write", {"type": "object"}, _sell),
    ),
    rates={Box.kind: _rates},
)


@pytest.fixture
def cloud() -> Cloud:
    """An account with 500.00 in cash and a box that costs 0.60 + 0.05 an hour."""
    return make()


def make() -> Cloud:
    cloud = Cloud(Catalogue((BOXES, BILLING)), 7, ACCOUNT, EPOCH)
    cloud.insert(BillingAccount(ACCOUNT, ACCOUNT))
    cloud.insert(Box("i-bp1box", ACCOUNT, name="web", cents=60))
    pay_in(cloud, 500_00)
    return cloud


def pay_in(cloud: Cloud, cents: int) -> None:
    at = EPOCH - 60 * DAY
    cloud.ledger.append([Posting(at, f"bank:{ACCOUNT}", CASH, cents, "payment", ACCOUNT, "")])


def give_voucher(cloud: Cloud, coupon: Coupon) -> None:
    cloud.insert(coupon)
    at = EPOCH - 30 * DAY
    account = f"voucher:{ACCOUNT}"
    cloud.ledger.append([Posting(at, "provider", account, coupon.balance, "voucher", "", "")])


def buy(cloud: Cloud, days_ago: int = 2, **fields: Any) -> Order:
    """A prepaid server bought some days ago: 300.00 list price, 240.00 to pay."""
    at = EPOCH - days_ago * DAY
    given = {
        "gross": 300_00, "amount": 240_00, "created": at, "paid": at, "starts": at,
        "ends": at + MONTH, "months": 1, "instance": "i-bp1sub", "status": "Paid",
    }  # fmt: skip
    order = Order("200000000000001", ACCOUNT, **(given | fields))
    cloud.insert(order)
    cloud.insert(
        Subscription(order.instance, ACCOUNT, starts=order.starts, ends=order.ends, monthly=240_00)
    )
    if order.voucher:
        at = EPOCH - 40 * DAY
        issued = Posting(at, "provider", f"voucher:{ACCOUNT}", order.voucher, "voucher", "", "")
        cloud.ledger.append([issued])
    cloud.ledger.append(settlement(order))
    return order


def call(cloud: Cloud, name: str, /, **arguments: Any) -> Any:
    result = cloud.call(name, arguments)
    assert result.ok, result.result
    return result.result.get("Data")


def refused(cloud: Cloud, name: str, /, **arguments: Any) -> str:
    before = cloud.dump()
    result = cloud.call(name, arguments)
    assert not result.ok
    assert cloud.dump() == before
    return result.code


def as_customer(cloud: Cloud, name: str, /, **arguments: Any) -> CallResult:
    return cloud.call(name, arguments, "customer")


def balance(cloud: Cloud) -> int:
    return cloud.ledger.balance(CASH)


# -- balance and payments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cents", "text"),
    [(0, "0.00"), (5, "0.05"), (-5, "-0.05"), (123456, "1234.56"), (-31200, "-312.00")],
)
def test_amounts_are_written_exactly(cents: int, text: str) -> None:
    assert decimal(cents) == text


def test_the_balance_adds_credit_to_cash(cloud: Cloud) -> None:
    cloud.insert(BillingAccount(ACCOUNT, ACCOUNT, currency="CNY", credit=100_00))
    shown = call(cloud, "QueryAccountBalance")
    assert (shown["AvailableAmount"], shown["AvailableCashAmount"]) == ("600.00", "500.00")
    assert shown["Currency"] == "CNY"


def test_every_answer_comes_in_the_billing_envelope(cloud: Cloud) -> None:
    result = cloud.call("QueryAccountBalance", {}).result
    assert (result["Code"], result["Success"]) == ("Success", True)


def test_a_top_up_comes_from_the_bank(cloud: Cloud) -> None:
    assert as_customer(cloud, "TopUpAccount", Amount=50_00).ok
    assert balance(cloud) == 550_00
    assert cloud.ledger.total() == 0


def test_the_assistant_can_not_pay(cloud: Cloud) -> None:
    assert cloud.call("TopUpAccount", {"Amount": 5000}).code == "InvalidAction.NotFound"
    assert cloud.call("PayBill", {}).code == "InvalidAction.NotFound"


@pytest.mark.parametrize("amount", [0, -1, 1.5, "1", True, None, 2**64])
def test_a_payment_of_an_impossible_amount_is_refused(cloud: Cloud, amount: Any) -> None:
    before = cloud.dump()
    assert as_customer(cloud, "TopUpAccount", Amount=amount).code == "InvalidParameter"
    assert cloud.dump() == before


def test_paying_the_bill_pays_what_is_owed_and_ends_the_arrears(cloud: Cloud) -> None:
    cloud.ledger.append([Posting(EPOCH - DAY, CASH, "provider", 812_00, "compute", "i-bp1box", "")])
    cloud.advance(HOUR)
    account = cloud.find("billing.account", ACCOUNT)
    assert isinstance(account, BillingAccount)
    assert (account.status, account.overdue_since) == ("Overdue", EPOCH + HOUR)
    assert cloud.measure("account_debt", "") == 312_65
    assert as_customer(cloud, "PayBill", Amount=312_00).ok
    assert cloud.measure("account_debt", "") == 65
    assert as_customer(cloud, "PayBill").ok
    account = cloud.find("billing.account", ACCOUNT)
    assert isinstance(account, BillingAccount)
    assert (account.status, account.overdue_since, balance(cloud)) == ("Normal", 0, 0)
    assert as_customer(cloud, "PayBill").code == "ResourceStatusError"


def test_fifteen_days_of_arrears_suspend_the_account(cloud: Cloud) -> None:
    cloud.ledger.append([Posting(EPOCH - DAY, CASH, "provider", 600_00, "compute", "i-bp1box", "")])
    cloud.advance(15 * DAY)
    account = cloud.find("billing.account", ACCOUNT)
    assert getattr(account, "status", "") == "Overdue"
    cloud.advance(HOUR)
    account = cloud.find("billing.account", ACCOUNT)
    assert getattr(account, "status", "") == "Suspended"
    owed = cloud.measure("account_debt", "")
    assert as_customer(cloud, "TopUpAccount", Amount=owed).ok
    account = cloud.find("billing.account", ACCOUNT)
    assert getattr(account, "status", "") == "Normal"


def test_transactions_run_newest_first_with_the_balance_after_each(cloud: Cloud) -> None:
    buy(cloud)
    rows = call(cloud, "QueryAccountTransactions")["AccountTransactionsList"]
    shown = [
        (row["TransactionType"], row["TransactionFlow"], row["Amount"], row["Balance"])
        for row in rows["AccountTransactionsList"]
    ]
    assert shown == [
        ("Consumption", "Expense", "240.00", "260.00"),
        ("Payment", "Income", "500.00", "500.00"),
    ]
    only = call(cloud, "QueryAccountTransactions", TransactionType="Payment")
    assert only["TotalCount"] == 1
    late = call(cloud, "QueryAccountTransactions", CreateTimeStart="2026-11-30T00:00Z")
    assert late["TotalCount"] == 0


# -- usage ---------------------------------------------------------------------------------------


def test_usage_is_charged_after_each_hour(cloud: Cloud) -> None:
    cloud.advance(HOUR - 1)
    assert balance(cloud) == 500_00
    cloud.advance(1)
    assert balance(cloud) == 500_00 - 65
    cloud.advance(5 * HOUR)
    assert balance(cloud) == 500_00 - 6 * 65


def test_a_box_stopped_in_mid_hour_has_one_trailing_bill(cloud: Cloud) -> None:
    cloud.advance(20 * MINUTE)
    call(cloud, "Switch", Id="i-bp1box", To="Off")
    cloud.advance(40 * MINUTE)
    assert [(p.item, p.cents) for p in cloud.ledger.postings[1:]] == [("compute", 20), ("disk", 2)]
    cloud.advance(3 * HOUR)
    assert balance(cloud) == 500_00 - 22


def test_a_released_box_is_charged_until_its_release(cloud: Cloud) -> None:
    cloud.advance(30 * MINUTE)
    call(cloud, "Switch", Id="i-bp1box", To="Gone")
    cloud.advance(HOUR)
    assert balance(cloud) == 500_00 - 30 - 3
    assert cloud.measure("charge_per_hour", "i-bp1box") == 0


@given(st.lists(st.integers(1, 90), min_size=1, max_size=12))
def test_the_sum_charged_is_the_time_that_it_was_on(minutes: list[int]) -> None:
    cloud, on, minutes_on = make(), True, 0
    for pause in minutes:
        cloud.advance(pause * MINUTE)
        minutes_on += pause if on else 0
        on = not on
        call(cloud, "Switch", Id="i-bp1box", To="On" if on else "Off")
    if on:
        call(cloud, "Switch", Id="i-bp1box", To="Off")
    cloud.advance(HOUR)
    compute = sum(p.cents for p in cloud.ledger.postings if p.item == "compute")
    assert compute == minutes_on  # 60 cents an hour is one a minute
    assert cloud.ledger.total() == 0


def test_the_neighbour_pays_its_own_usage(cloud: Cloud) -> None:
    cloud.insert(Box("i-bp1other", OTHER, cents=120))
    cloud.advance(HOUR)
    assert cloud.ledger.balance(f"cash:{OTHER}") == -125
    assert balance(cloud) == 500_00 - 65
    assert "i-bp1other" not in str(call(cloud, "QueryInstanceBill", BillingCycle="2026-11"))


def test_vouchers_pay_usage_first(cloud: Cloud) -> None:
    give_voucher(
        cloud,
        Coupon("Q-1", ACCOUNT, nominal=1_00, balance=1_00, expires=EPOCH + DAY),
    )
    cloud.advance(2 * HOUR)
    coupon = cloud.find("billing.coupon", "Q-1")
    assert getattr(coupon, "balance", None) == 0
    assert cloud.ledger.balance(f"voucher:{ACCOUNT}") == 0
    assert balance(cloud) == 500_00 - 30
    line = call(cloud, "QueryInstanceBill", BillingCycle="2026-11")["Items"]["Item"][0]
    assert (line["PretaxAmount"], line["DeductedByCashCoupons"]) == (1.3, 1.0)
    assert line["PaymentAmount"] == 0.3


def test_measures_read_the_rates(cloud: Cloud) -> None:
    cloud.insert(Box("d-bp1disk", ACCOUNT, cents=0))
    assert cloud.measure("compute_charge_per_hour", "i-bp1box") == 60
    assert cloud.measure("charge_per_hour", "i-bp1box") == 65
    assert cloud.measure("billing.daily_charge", "i-bp1box") == 65 * 24
    assert cloud.measure("account_charge_per_hour", "") == 70
    assert cloud.measure("account_balance", "") == 500_00
    assert cloud.measure("charge_per_hour", "i-bp1nothing") == 0


# -- bills ---------------------------------------------------------------------------------------


def test_a_bill_has_a_line_for_each_resource_or_item(cloud: Cloud) -> None:
    cloud.advance(2 * HOUR)
    lines = call(cloud, "QueryInstanceBill", BillingCycle="2026-11")["Items"]["Item"]
    assert [(line["InstanceID"], line["NickName"], line["PretaxAmount"]) for line in lines] == [
        ("i-bp1box", "web", 1.3)
    ]
    items = call(cloud, "DescribeInstanceBill", BillingCycle="2026-11", IsBillingItem=True)
    assert [(i["BillingItem"], i["PretaxAmount"]) for i in items["Items"]] == [
        ("compute", 1.2),
        ("disk", 0.1),
    ]


def test_a_daily_bill_takes_the_date_in_the_billing_zone(cloud: Cloud) -> None:
    late = EPOCH - 16 * HOUR  # 2026-11-29T16:00Z is the 30th in UTC+8
    early = late - 1
    for at, cents in ((late, 7), (early, 11)):
        cloud.ledger.append([Posting(at, CASH, "provider", cents, "compute", "i-bp1box", "")])

    def billed(date: str) -> list[float]:
        data = call(
            cloud, "QueryInstanceBill", BillingCycle="2026-11", Granularity="DAILY",
            BillingDate=date,
        )  # fmt: skip
        return [line["PretaxAmount"] for line in data["Items"]["Item"]]

    assert billed("2026-11-30") == [0.07]
    assert billed("2026-11-29") == [0.11]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"BillingCycle": "2025-04"}, "InvalidParameter"),
        ({"BillingCycle": "2026-12"}, "InvalidParameter"),
        ({"BillingCycle": "2026-13"}, "InvalidParameter"),
        ({"BillingCycle": "２０２６-11"}, "InvalidParameter"),
        ({"BillingCycle": "2026-11", "Granularity": "DAILY"}, "MissingParameter"),
        ({"BillingCycle": "2026-11", "BillingDate": "2026-11-02"}, "InvalidParameter"),
        (
            {"BillingCycle": "2026-11", "Granularity": "DAILY", "BillingDate": "2026-10-02"},
            "InvalidParameter",
        ),
    ],
)
def test_a_bill_needs_a_sensible_period(cloud: Cloud, arguments: dict[str, Any], code: str) -> None:
    assert refused(cloud, "QueryInstanceBill", **arguments) == code


def test_eighteen_months_of_bills_are_kept(cloud: Cloud) -> None:
    assert call(cloud, "QueryInstanceBill", BillingCycle="2025-05")["TotalCount"] == 0


def test_a_debt_is_outstanding_on_the_latest_charges(cloud: Cloud) -> None:
    for days_ago, cents in ((3, 450_00), (2, 40_00), (1, 30_00)):
        at = EPOCH - days_ago * DAY
        cloud.ledger.append([Posting(at, CASH, "provider", cents, "compute", "i-bp1box", "")])
    line = call(cloud, "QueryInstanceBill", BillingCycle="2026-11")["Items"]["Item"][0]
    assert (line["PretaxAmount"], line["OutstandingAmount"]) == (520.0, 20.0)
    assert line["PaymentAmount"] == 500.0


def test_filters_and_pages_narrow_a_bill(cloud: Cloud) -> None:
    buy(cloud)
    cloud.ledger.append(
        Posting(EPOCH - DAY, CASH, "provider", 10 + n, "EIP instance fee", f"eip-bp1{n}", "")
        for n in range(3)
    )

    def ids(**filters: Any) -> list[str]:
        data = call(cloud, "QueryInstanceBill", BillingCycle="2026-11", **filters)
        return [line["InstanceID"] for line in data["Items"]["Item"]]

    assert ids(ProductCode="eip") == ["eip-bp10", "eip-bp11", "eip-bp12"]
    assert ids(SubscriptionType="Subscription") == ["i-bp1sub"]
    assert ids(InstanceID="eip-bp11") == ["eip-bp11"]
    assert ids(PageNum=2, PageSize=3) == ["i-bp1sub"]
    first = call(cloud, "DescribeInstanceBill", BillingCycle="2026-11", MaxResults=3)
    assert len(first["Items"]) == 3
    rest = call(
        cloud, "DescribeInstanceBill", BillingCycle="2026-11", MaxResults=3,
        NextToken=first["NextToken"],
    )  # fmt: skip
    assert [line["InstanceID"] for line in rest["Items"]] == ["i-bp1sub"]
    assert "NextToken" not in rest


def test_the_overview_sums_up_each_product(cloud: Cloud) -> None:
    buy(cloud, voucher=80_00)
    cloud.advance(HOUR)
    items = call(cloud, "QueryBillOverview", BillingCycle="2026-11")["Items"]["Item"]
    shown = [
        (i["ProductCode"], i["SubscriptionType"], i["PretaxAmount"], i["DeductedByCashCoupons"])
        for i in items
    ]
    assert shown == [("ecs", "PayAsYouGo", 0.65, 0.0), ("ecs", "Subscription", 240.0, 80.0)]


def test_a_payment_told_by_its_order_alone_is_a_subscription_line(cloud: Cloud) -> None:
    order = buy(cloud)
    cloud.ledger.append([Posting(EPOCH, CASH, "provider", 3, "", "i-bp1sub", order.id)])
    lines = call(cloud, "QueryInstanceBill", BillingCycle="2026-11")["Items"]["Item"]
    assert [(line["SubscriptionType"], line["PretaxAmount"]) for line in lines] == [
        ("Subscription", 240.03)
    ]


# -- orders --------------------------------------------------------------------------------------


def test_orders_of_the_last_hour_only_unless_a_time_is_given(cloud: Cloud) -> None:
    order = buy(cloud)
    assert call(cloud, "QueryOrders")["TotalCount"] == 0
    found = call(cloud, "QueryOrders", CreateTimeStart="2026-11-28T08:00:00Z")
    assert [o["OrderId"] for o in found["OrderList"]["Order"]] == [order.id]
    assert call(cloud, "QueryOrders", CreateTimeStart="2026-11-28T08:00:01Z")["TotalCount"] == 0
    assert call(cloud, "QueryOrders", CreateTimeEnd="2026-11-28T08:30Z")["TotalCount"] == 1
    assert refused(cloud, "QueryOrders", CreateTimeStart="last week") == "InvalidParameter"
    assert refused(cloud, "QueryOrders", CreateTimeStart="2027-01-01T00:00Z") == "InvalidParameter"


def test_an_order_shows_what_the_voucher_paid(cloud: Cloud) -> None:
    order = buy(cloud, voucher=80_00)
    detail = call(cloud, "GetOrderDetail", OrderId=order.id)["OrderList"]["Order"][0]
    assert detail["InstanceIDs"] == ["i-bp1sub"]
    assert (detail["PretaxAmount"], detail["DeductedByCashCoupons"]) == ("240.00", "80.00")
    assert detail["PaymentAmount"] == "160.00"
    assert refused(cloud, "GetOrderDetail", OrderId="200000000000009") == "ResourceNotExists"


def test_only_unpaid_orders_can_be_cancelled(cloud: Cloud) -> None:
    buy(cloud)
    cloud.insert(Order("300000000000001", ACCOUNT, amount=10_00, instance="i-bp1sub"))
    call(cloud, "CancelOrder", OrderId="300000000000001")
    assert getattr(cloud.find("billing.order", "300000000000001"), "status", "") == "Cancelled"
    assert refused(cloud, "CancelOrder", OrderId="300000000000001") == "ResourceStatusError"
    assert refused(cloud, "CancelOrder", OrderId="200000000000001") == "ResourceStatusError"


def test_another_account_s_order_does_not_exist(cloud: Cloud) -> None:
    cloud.insert(Order("400000000000001", OTHER, amount=10_00))
    for operation in ("GetOrderDetail", "CancelOrder"):
        assert refused(cloud, operation, OrderId="400000000000001") == "ResourceNotExists"


def test_the_customer_pays_an_order_and_what_the_balance_lacks_from_the_bank(cloud: Cloud) -> None:
    cloud.insert(Order("300000000000001", ACCOUNT, amount=620_00, months=1, instance="i-bp1new"))
    assert as_customer(cloud, "PayOrder", OrderId="300000000000001").ok
    order = cloud.find("billing.order", "300000000000001")
    assert isinstance(order, Order)
    assert (order.status, order.paid, order.ends) == ("Paid", EPOCH, EPOCH + MONTH)
    assert balance(cloud) == 0
    assert cloud.measure("order_cash", order.id) == 620_00
    assert as_customer(cloud, "PayOrder", OrderId=order.id).code == "ResourceStatusError"


@pytest.mark.parametrize("status", ["Released", "Refunded", "Converted"])
def test_what_is_gone_is_not_renewed_by_an_order_left_unpaid(cloud: Cloud, status: str) -> None:
    cloud.insert(Subscription("i-bp1old", ACCOUNT, status=status))  # type: ignore[arg-type]
    cloud.insert(Order("300000000000001", ACCOUNT, order_type="Renew", amount=10_00, months=1,
                       instance="i-bp1old"))  # fmt: skip
    before = cloud.dump()
    refusal = as_customer(cloud, "PayOrder", OrderId="300000000000001")
    assert refusal.code == "ResourceStatusError"
    assert cloud.dump() == before


def test_a_voucher_pays_only_what_it_is_meant_for(cloud: Cloud) -> None:
    buy(cloud)
    give_voucher(
        cloud,
        Coupon("Q-new", ACCOUNT, nominal=50_00, balance=50_00, scenarios=("New",),
               expires=EPOCH + DAY),
    )  # fmt: skip
    for number, kind in (("1", "Renew"), ("2", "New")):
        cloud.insert(
            Order(f"30000000000000{number}", ACCOUNT, order_type=kind, amount=240_00, months=1)  # type: ignore[arg-type]
        )
    refusal = as_customer(cloud, "PayOrder", OrderId="300000000000001", CouponNo="Q-new")
    assert refusal.code == "NotApplicable"
    assert as_customer(cloud, "PayOrder", OrderId="300000000000002", CouponNo="Q-new").ok
    assert cloud.measure("order_cash", "300000000000002") == 190_00
    assert cloud.ledger.balance(f"voucher:{ACCOUNT}") == 0


def test_a_voucher_with_a_threshold_pays_no_smaller_order_and_no_usage(cloud: Cloud) -> None:
    give_voucher(
        cloud,
        Coupon("Q-1", ACCOUNT, nominal=50_00, balance=50_00, expires=EPOCH + DAY,
               scenarios=("Renew", "PayAsYouGo"), threshold=100_00),
    )  # fmt: skip
    for id, amount in (("300000000000001", 99_99), ("300000000000002", 100_00)):
        cloud.insert(Order(id, ACCOUNT, order_type="Renew", amount=amount, instance="i-bp1box"))
    small = as_customer(cloud, "PayOrder", OrderId="300000000000001", CouponNo="Q-1")
    assert small.code == "NotApplicable"
    cloud.advance(HOUR)
    assert getattr(cloud.find("billing.coupon", "Q-1"), "balance", 0) == 50_00
    assert as_customer(cloud, "PayOrder", OrderId="300000000000002", CouponNo="Q-1").ok
    shown = call(cloud, "QueryCashCoupons")["CashCoupon"][0]
    assert (shown["MinimumOrderAmount"], shown["Balance"]) == ("100.00", "0.00")


def test_coupons_show_their_scope_and_expire_by_the_clock(cloud: Cloud) -> None:
    give_voucher(
        cloud,
        Coupon("Q-1", ACCOUNT, nominal=80_00, balance=30_00, products=("ecs",),
               scenarios=("New", "Renew"), starts=EPOCH - DAY, expires=EPOCH + HOUR),
    )  # fmt: skip
    coupon = call(cloud, "QueryCashCoupons", EffectiveOrNot=True)["CashCoupon"][0]
    assert (coupon["NominalValue"], coupon["Balance"]) == ("80.00", "30.00")
    assert coupon["ApplicableScenarios"] == "New purchase, Renewal"
    assert coupon["Status"] == "Available"
    cloud.advance(HOUR)
    assert call(cloud, "QueryCashCoupons", EffectiveOrNot=True)["CashCoupon"] == []
    assert call(cloud, "QueryCashCoupons")["CashCoupon"][0]["Status"] == "Expired"


# -- subscriptions -------------------------------------------------------------------------------


def test_prepaid_and_hourly_resources_are_listed_with_their_ends(cloud: Cloud) -> None:
    buy(cloud)
    first, second = call(cloud, "QueryAvailableInstances")["InstanceList"]
    assert (first["InstanceID"], first["EndTime"]) == ("i-bp1sub", "2026-12-28T08:00:00Z")
    assert first["ReleaseTime"] == "2027-01-12T08:00:00Z"
    assert (second["InstanceID"], second["SubscriptionType"]) == ("i-bp1box", "PayAsYouGo")
    only = call(cloud, "QueryAvailableInstances", InstanceIDs="i-bp1box, i-bp1none")
    assert only["TotalCount"] == 1


def test_automatic_renewal_needs_a_period(cloud: Cloud) -> None:
    buy(cloud)
    given = {"InstanceIDs": "i-bp1sub", "ProductCode": "ecs", "RenewalStatus": "AutoRenewal"}
    assert refused(cloud, "SetRenewal", **given) == "MissingParameter"
    call(cloud, "SetRenewal", **given, RenewalPeriod=3, RenewalPeriodUnit="M")
    stored = cloud.find("billing.subscription", "i-bp1sub")
    assert isinstance(stored, Subscription)
    assert (stored.renewal_status, stored.renewal_period) == ("AutoRenewal", 3)
    assert refused(cloud, "SetRenewal", **(given | {"InstanceIDs": "i-bp1box"})) == (
        "MissingParameter"
    )
    given |= {"InstanceIDs": "i-bp1box", "RenewalStatus": "ManualRenewal"}
    assert refused(cloud, "SetRenewal", **given) == "ResourceNotExists"


def test_an_expired_subscription_takes_no_renewal_setting(cloud: Cloud) -> None:
    buy(cloud, days_ago=31)
    given = {"InstanceIDs": "i-bp1sub", "ProductCode": "ecs", "RenewalStatus": "ManualRenewal"}
    assert refused(cloud, "SetRenewal", **given) == "ResourceStatusError"


def test_automatic_renewal_charges_nine_days_before_the_end_at_eight(cloud: Cloud) -> None:
    order = buy(cloud, days_ago=21)  # ends nine days from now, at 16:00 in UTC+8
    call(
        cloud, "SetRenewal", InstanceIDs="i-bp1sub", ProductCode="ecs",
        RenewalStatus="AutoRenewal", RenewalPeriod=1, RenewalPeriodUnit="M",
    )  # fmt: skip
    cloud.advance(16 * HOUR - 1)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == order.ends
    cloud.advance(1)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == order.ends + MONTH
    renewals = call(cloud, "QueryOrders", OrderType="Renew")["OrderList"]["Order"]
    assert [(o["PretaxAmount"], o["PaymentStatus"]) for o in renewals] == [("240.00", "Paid")]
    assert balance(cloud) == 500_00 - 240_00 - 240_00 - 16 * 65
    cloud.advance(DAY)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == order.ends + MONTH


def test_automatic_renewal_waits_for_enough_money(cloud: Cloud) -> None:
    buy(cloud, days_ago=21, amount=500_00)
    stored = cloud.find("billing.subscription", "i-bp1sub")
    assert isinstance(stored, Subscription)
    cloud.insert(
        Subscription("i-bp1sub", ACCOUNT, starts=stored.starts, ends=stored.ends, monthly=240_00,
                     renewal_status="AutoRenewal")
    )  # fmt: skip
    cloud.advance(16 * HOUR)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == stored.ends
    as_customer(cloud, "TopUpAccount", Amount=300_00)
    cloud.advance(DAY)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == stored.ends + MONTH


def test_a_subscription_expires_and_is_released_fifteen_days_later(cloud: Cloud) -> None:
    buy(cloud, days_ago=30)

    def status() -> str:
        return str(getattr(cloud.find("billing.subscription", "i-bp1sub"), "status", ""))

    cloud.advance(HOUR)
    assert status() == "Expired"
    cloud.advance(15 * DAY - 2 * HOUR)
    assert status() == "Expired"
    cloud.advance(HOUR)
    assert status() == "Released"


def test_a_renewal_before_the_end_adds_to_it_and_one_after_starts_anew(cloud: Cloud) -> None:
    order = buy(cloud)
    renewal = {"instance": "i-bp1sub", "months": 1, "order": "500000000000001"}
    call(cloud, "Sell", Event="renewal.ordered", Data=renewal)
    assert getattr(cloud.find("billing.subscription", "i-bp1sub"), "ends", 0) == order.ends + MONTH
    late = make()
    buy(late, days_ago=33)
    call(late, "Sell", Event="renewal.ordered", Data=renewal)
    assert getattr(late.find("billing.subscription", "i-bp1sub"), "ends", 0) == EPOCH + MONTH


def test_a_renewal_is_refused_for_debt_lack_of_money_or_an_unpaid_order(cloud: Cloud) -> None:
    buy(cloud)
    renewal = {"instance": "i-bp1sub", "months": 2, "order": "500000000000001"}
    sell = {"Event": "renewal.ordered", "Data": renewal}
    assert refused(cloud, "Sell", **sell) == "InsufficientBalance"
    cloud.insert(Order("300000000000001", ACCOUNT, amount=10_00, instance="i-bp1sub"))
    assert refused(cloud, "Sell", **sell) == "Instance.UnPaidOrder"
    call(cloud, "CancelOrder", OrderId="300000000000001")
    cloud.ledger.append([Posting(EPOCH, CASH, "provider", 300_00, "compute", "i-bp1box", "")])
    assert refused(cloud, "Sell", **sell) == "Account.Arrearage"


def test_a_prepaid_resource_without_a_subscription_record_is_read_off(cloud: Cloud) -> None:
    cloud.insert(
        Box("i-bp1pre", ACCOUNT, charge_type="PrePaid", created_time=EPOCH - DAY,
            expired_time=EPOCH + 29 * DAY, monthly_cents=100_00)
    )  # fmt: skip
    assert cloud.measure("renewal_price", "i-bp1pre") == 100_00
    assert cloud.measure("refundable", "i-bp1pre") == 0
    listed = call(cloud, "QueryAvailableInstances", InstanceIDs="i-bp1pre")["InstanceList"][0]
    assert (listed["SubscriptionType"], listed["RenewStatus"]) == ("Subscription", "ManualRenewal")
    setting = {"instance": "i-bp1pre", "status": "NotRenewal", "period": None, "unit": None}
    call(cloud, "Sell", Event="renewal.set", Data=setting)
    stored = cloud.find("billing.subscription", "i-bp1pre")
    assert getattr(stored, "renewal_status", "") == "NotRenewal"


def test_another_service_may_place_an_unpaid_order(cloud: Cloud) -> None:
    placed = {
        "order": "600000000000001", "order_type": "Upgrade", "instance": "i-bp1sub",
        "cents": 45_00, "auto_pay": False, "config": "4 vCPU",
    }  # fmt: skip
    buy(cloud)
    call(cloud, "Sell", Event="order.placed", Data=placed)
    unpaid = call(cloud, "QueryOrders", PaymentStatus="Unpaid")["OrderList"]["Order"]
    assert [o["OrderId"] for o in unpaid] == ["600000000000001"]
    again = placed | {"order": "600000000000002"}
    sell = {"Event": "order.placed", "Data": again}
    assert refused(cloud, "Sell", **sell) == "LastOrderProcessing"
    call(cloud, "CancelOrder", OrderId="600000000000001")
    call(cloud, "Sell", Event="order.placed", Data=again | {"auto_pay": True})
    assert cloud.measure("order_cash", "600000000000002") == 45_00


# -- refunds -------------------------------------------------------------------------------------

PRODUCT = {"ProductCode": "ecs", "InstanceId": "i-bp1sub"}


def test_a_new_purchase_goes_back_in_full_within_five_days(cloud: Cloud) -> None:
    buy(cloud, days_ago=5, voucher=80_00)
    assert call(cloud, "InquiryPriceRefundInstance", **PRODUCT)["RefundAmount"] == 160.0
    assert cloud.measure("refundable", "i-bp1sub") == 160_00
    cloud.advance(1)
    assert cloud.measure("refundable", "i-bp1sub") != 160_00


def test_after_five_days_the_days_begun_are_taken_off_at_list_price(cloud: Cloud) -> None:
    buy(cloud, days_ago=6)
    # 240.00 paid, 6 of 30 days begun at 300.00: 60.00 used
    assert cloud.measure("refundable", "i-bp1sub") == 180_00
    cloud.advance(1)
    assert cloud.measure("refundable", "i-bp1sub") == 170_00


def test_a_discount_can_leave_nothing(cloud: Cloud) -> None:
    buy(cloud, days_ago=25)
    assert cloud.measure("refundable", "i-bp1sub") == 0
    assert call(cloud, "InquiryPriceRefundInstance", **PRODUCT)["RefundAmount"] == 0.0


def test_a_second_full_refund_in_the_same_year_is_a_usual_one(cloud: Cloud) -> None:
    buy(cloud)
    cloud.insert(Refund("700000000000001", ACCOUNT, five_day=True, created=EPOCH - 100 * DAY))
    assert cloud.measure("refundable", "i-bp1sub") == 220_00
    earlier = make()
    buy(earlier)
    earlier.insert(Refund("700000000000001", ACCOUNT, five_day=True, created=EPOCH - 350 * DAY))
    assert earlier.measure("refundable", "i-bp1sub") == 240_00


def test_a_renewal_that_has_not_begun_goes_back_in_full(cloud: Cloud) -> None:
    order = buy(cloud, days_ago=10)
    renewal = {"instance": "i-bp1sub", "months": 1, "order": "500000000000001"}
    call(cloud, "Sell", Event="renewal.ordered", Data=renewal)
    # 140.00 of the running month (10 of 30 days begun) and all of the renewal
    assert cloud.measure("refundable", "i-bp1sub") == 140_00 + 240_00
    assert getattr(cloud.find("billing.order", "500000000000001"), "starts", 0) == order.ends


def renewed(cloud: Cloud, days_ago: int = 10, **fields: Any) -> Order:
    """A server bought some days ago and its renewal of today."""
    bought = buy(cloud, days_ago=days_ago, **fields)
    renewal = {"instance": "i-bp1sub", "months": 1, "order": "500000000000001"}
    call(cloud, "Sell", Event="renewal.ordered", Data=renewal)
    return bought


def test_a_pending_renewal_goes_back_alone_and_the_server_stays(cloud: Cloud) -> None:
    bought = renewed(cloud)
    only = PRODUCT | {"OrderId": "500000000000001"}
    assert call(cloud, "InquiryPriceRefundInstance", **only)["RefundAmount"] == 240.0
    before = balance(cloud)
    data = call(cloud, "RefundInstance", **only)
    assert (data["RefundAmount"], balance(cloud)) == (240.0, before + 240_00)
    stored = cloud.find("billing.subscription", "i-bp1sub")
    assert isinstance(stored, Subscription)
    assert (stored.status, stored.ends) == ("Normal", bought.ends)
    assert getattr(cloud.find("billing.order", bought.id), "refunded", None) is False
    detail = call(cloud, "GetOrderDetail", OrderId=data["OrderId"])["OrderList"]["Order"][0]
    assert (detail["OrderType"], detail["RelatedOrderId"]) == ("Refund", "500000000000001")
    assert refused(cloud, "RefundInstance", **only) == "NotApplicable"


def test_a_renewal_that_has_begun_or_is_built_upon_does_not_go_back_alone(cloud: Cloud) -> None:
    bought = renewed(cloud, days_ago=28)
    first, second = ({"OrderId": f"50000000000000{n}"} for n in (1, 2))
    assert refused(cloud, "RefundInstance", **PRODUCT, OrderId=bought.id) == "NotApplicable"
    renewal = {"instance": "i-bp1sub", "months": 1, "order": second["OrderId"]}
    as_customer(cloud, "TopUpAccount", Amount=500_00)
    call(cloud, "Sell", Event="renewal.ordered", Data=renewal)
    assert refused(cloud, "InquiryPriceRefundInstance", **PRODUCT, **first) == "NotApplicable"
    call(cloud, "RefundInstance", **PRODUCT, **second)
    cloud.advance(3 * DAY)
    assert refused(cloud, "RefundInstance", **PRODUCT, **first) == "NotApplicable"


def test_a_paid_order_under_way_blocks_other_orders_until_it_is_ready(cloud: Cloud) -> None:
    buy(cloud)
    cloud.insert(
        Order("300000000000001", ACCOUNT, order_type="Upgrade", status="Paid", amount=10_00,
              instance="i-bp1sub", created=EPOCH, paid=EPOCH, ready=EPOCH + 20 * MINUTE,
              operator="RAM user wei")
    )  # fmt: skip
    cloud.ledger.append([Posting(EPOCH, CASH, "provider", 10_00, "order", "", "300000000000001")])
    sell = {
        "Event": "renewal.ordered",
        "Data": {"instance": "i-bp1sub", "months": 1, "order": "500000000000001"},
    }
    assert refused(cloud, "Sell", **sell) == "LastOrderProcessing"
    assert refused(cloud, "RefundInstance", **PRODUCT) == "LastOrderProcessing"
    assert refused(cloud, "CancelOrder", OrderId="300000000000001") == "ResourceStatusError"
    shown = call(cloud, "GetOrderDetail", OrderId="300000000000001")["OrderList"]["Order"][0]
    assert (shown["ProvisionStatus"], shown["Operator"]) == ("Provisioning", "RAM user wei")
    cloud.advance(20 * MINUTE)
    call(cloud, "Sell", **sell)
    shown = call(cloud, "GetOrderDetail", OrderId="300000000000001")["OrderList"]["Order"][0]
    assert shown["ProvisionStatus"] == "Finished"


def test_a_refund_moves_the_money_and_says_so_everywhere(cloud: Cloud) -> None:
    order = buy(cloud, voucher=80_00)
    data = call(cloud, "RefundInstance", **PRODUCT)
    assert data["RefundAmount"] == 160.0
    assert balance(cloud) == 500_00
    assert cloud.ledger.balance(f"voucher:{ACCOUNT}") == 0
    assert cloud.ledger.total() == 0
    assert getattr(cloud.find("billing.order", order.id), "refunded", False) is True
    refund = cloud.find("billing.refund", data["OrderId"])
    assert isinstance(refund, Refund)
    assert (refund.amount, refund.five_day) == (160_00, True)
    detail = call(cloud, "GetOrderDetail", OrderId=data["OrderId"])["OrderList"]["Order"][0]
    assert (detail["OrderType"], detail["RelatedOrderId"]) == ("Refund", order.id)
    lines = call(cloud, "QueryInstanceBill", BillingCycle="2026-11")["Items"]["Item"]
    assert [(line["Item"], line["PretaxAmount"]) for line in lines] == [
        ("SubscriptionOrder", 240.0),
        ("Refund", -160.0),
    ]
    assert refused(cloud, "RefundInstance", **PRODUCT) == "ResourceStatusError"
    assert call(cloud, "QueryAvailableInstances", InstanceIDs="i-bp1sub")["TotalCount"] == 0


def test_a_repeated_client_token_refunds_once(cloud: Cloud) -> None:
    buy(cloud)
    first = cloud.call("RefundInstance", {**PRODUCT, "ClientToken": "t-1"})
    before = cloud.dump()
    second = cloud.call("RefundInstance", {**PRODUCT, "ClientToken": "t-1"})
    assert (second.result, second.replayed, cloud.dump()) == (first.result, True, before)
    other = {**PRODUCT, "ClientToken": "t-1", "ImmediatelyRelease": "0"}
    assert cloud.call("RefundInstance", other).code == "IdempotentParameterMismatch"


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"refundable": False}, "NotApplicable"), ({"instance": "i-bp1else"}, "ResourceNotExists")],
)
def test_what_can_not_be_given_back(cloud: Cloud, fields: dict[str, Any], code: str) -> None:
    buy(cloud, **fields)
    for operation in ("InquiryPriceRefundInstance", "RefundInstance"):
        assert refused(cloud, operation, **PRODUCT) == code
    assert cloud.measure("refundable", "i-bp1sub") == 0


def test_hourly_resources_transfers_and_unpaid_orders_are_refused(cloud: Cloud) -> None:
    hourly = {"ProductCode": "ecs", "InstanceId": "i-bp1box"}
    assert refused(cloud, "RefundInstance", **hourly) == "NotApplicable"
    order = buy(cloud)
    assert refused(cloud, "RefundInstance", **(PRODUCT | {"ProductCode": "rds"})) == (
        "InvalidParameter"
    )
    cloud.insert(Order("300000000000001", ACCOUNT, amount=10_00, instance="i-bp1sub"))
    assert refused(cloud, "RefundInstance", **PRODUCT) == "ResourceStatusError"
    call(cloud, "CancelOrder", OrderId="300000000000001")
    cloud.insert(
        Subscription("i-bp1sub", ACCOUNT, starts=order.starts, ends=order.ends, transferred=True)
    )
    assert refused(cloud, "RefundInstance", **PRODUCT) == "NotApplicable"


def test_a_refund_reaches_the_service_that_owns_the_instance() -> None:
    told: list[tuple[str, bool]] = []
    listener = Service(
        name="listener",
        kinds=(),
        operations=(),
        handlers={
            "instance.refunded": lambda work, data: told.append(
                (data["instance"], data["immediately"])
            )
        },
    )
    cloud = Cloud(Catalogue((BILLING, listener)), 7, ACCOUNT, EPOCH)
    pay_in(cloud, 500_00)
    buy(cloud)
    call(cloud, "RefundInstance", **PRODUCT, ImmediatelyRelease="0")
    assert told == [("i-bp1sub", False)]


@given(
    gross=st.integers(1, 10**7),
    paid_share=st.integers(0, 100),
    voucher_share=st.integers(0, 100),
    days_ago=st.integers(0, 40),
    used=st.booleans(),
    later=st.integers(0, 3 * DAY),
)
def test_no_refund_is_more_than_the_cash_paid(
    gross: int, paid_share: int, voucher_share: int, days_ago: int, used: bool, later: int
) -> None:
    cloud = make()
    amount = gross * paid_share // 100
    voucher = amount * voucher_share // 100
    order = buy(cloud, days_ago=days_ago, gross=gross, amount=amount, voucher=voucher)
    if used:
        cloud.insert(Refund("700000000000001", ACCOUNT, five_day=True, created=EPOCH - DAY))
    start = cloud.fork()
    cloud.advance(later)
    quoted = cloud.measure("refundable", "i-bp1sub")
    assert 0 <= quoted <= amount - voucher
    before = balance(cloud)
    result = cloud.call("RefundInstance", PRODUCT)
    if result.ok:
        assert balance(cloud) - before == quoted
        assert cloud.measure("order_cash", order.id) == amount - voucher - quoted
    assert cloud.ledger.total() == 0
    replay(start, cloud.audit)
    assert start.dump()["records"] == cloud.dump()["records"]


def test_odd_dates_and_times_are_typed_errors(cloud: Cloud) -> None:
    given = {"BillingCycle": "2026-02", "Granularity": "DAILY", "BillingDate": "2026-02-30"}
    assert refused(cloud, "QueryInstanceBill", **given) == "InvalidParameter"
    end = {"CreateTimeEnd": "9999-99-99T00:00Z"}
    assert refused(cloud, "QueryAccountTransactions", **end) == "InvalidParameter"


def test_a_day_s_lines_carry_its_date(cloud: Cloud) -> None:
    cloud.advance(HOUR)
    given = {"BillingCycle": "2026-11", "Granularity": "DAILY", "BillingDate": "2026-11-30"}
    lines = call(cloud, "QueryInstanceBill", **given)["Items"]["Item"]
    assert [line["BillingDate"] for line in lines] == ["2026-11-30"]


def test_an_automatic_renewal_shows_its_period(cloud: Cloud) -> None:
    buy(cloud)
    call(
        cloud, "SetRenewal", InstanceIDs="i-bp1sub", ProductCode="ecs",
        RenewalStatus="AutoRenewal", RenewalPeriod=1, RenewalPeriodUnit="Y",
    )  # fmt: skip
    shown = call(cloud, "QueryAvailableInstances", RenewStatus="AutoRenewal")["InstanceList"]
    assert [(s["RenewalDuration"], s["RenewalDurationUnit"]) for s in shown] == [(1, "Y")]


def test_renewal_of_nothing_is_refused(cloud: Cloud) -> None:
    commas = {"InstanceIDs": " , ", "ProductCode": "ecs", "RenewalStatus": "NotRenewal"}
    assert refused(cloud, "SetRenewal", **commas) == "InvalidParameter"
    for event, data in (
        ("renewal.ordered", {"instance": "i-bp1box", "months": 1, "order": "5"}),
        ("renewal.set", {"instance": "i-bp1box", "status": "Normal"}),
    ):
        assert refused(cloud, "Sell", Event=event, Data=data) == "ResourceNotExists"
    buy(cloud)
    call(cloud, "RefundInstance", **PRODUCT)
    renewal = {"instance": "i-bp1sub", "months": 1, "order": "500000000000001"}
    again = {"Event": "renewal.ordered", "Data": renewal}
    assert refused(cloud, "Sell", **again) == "ResourceStatusError"


def test_an_unknown_coupon_pays_nothing(cloud: Cloud) -> None:
    cloud.insert(Order("300000000000001", ACCOUNT, amount=10_00))
    refusal = as_customer(cloud, "PayOrder", OrderId="300000000000001", CouponNo="Q-none")
    assert refusal.code == "ResourceNotExists"
    assert balance(cloud) == 500_00


def test_every_write_says_how_it_is_proposed() -> None:
    for operation in BILLING.operations:
        if operation.effect != "read":
            assert set(operation.propose) == {"en", "zh"}, operation.name
            for groups in operation.propose.values():
                assert all(phrase == phrase.lower() for group in groups for phrase in group)


# -- with the services that own the resources ----------------------------------------------------


@pytest.fixture
def world() -> Cloud:
    """A whole cloud: a prepaid server paid in cash, an hourly one with disk, address, snapshot."""
    names = ("account", "knowledge", "ecs", "disk", "vpc", "billing")
    world = Cloud(catalogue(names), 7, ACCOUNT, EPOCH)
    pay_in(world, 500_00)
    at = EPOCH - 10 * DAY
    world.insert(
        Instance("i-bp1sub", ACCOUNT, charge_type="PrePaid", created_time=at,
                 expired_time=at + MONTH, monthly_cents=120_00)
    )  # fmt: skip
    order = Order(
        "200000000000001", ACCOUNT, status="Paid", instance="i-bp1sub", gross=120_00,
        amount=120_00, created=at, paid=at, starts=at, ends=at + MONTH, months=1,
    )  # fmt: skip
    world.insert(order)
    world.ledger.append(settlement(order))
    world.insert(Instance("i-bp1box", ACCOUNT, hourly_cents=60))
    return world


def test_a_refunded_server_is_released(world: Cloud) -> None:
    assert world.measure("refundable", "i-bp1sub") == 80_00
    assert call(world, "RefundInstance", **PRODUCT)["RefundAmount"] == 80.0
    assert world.find("ecs.instance", "i-bp1sub") is None
    assert balance(world) == 500_00 - 120_00 + 80_00


def test_renewing_a_server_moves_its_end_in_both_services(world: Cloud) -> None:
    result = world.call("RenewInstance", {"InstanceId": "i-bp1sub", "Period": 1})
    assert result.ok
    ends = EPOCH + 50 * DAY
    assert getattr(world.find("ecs.instance", "i-bp1sub"), "expired_time", 0) == ends
    assert getattr(world.find("billing.subscription", "i-bp1sub"), "ends", 0) == ends
    order = world.find("billing.order", result.result["OrderId"])
    assert getattr(order, "order_type", "") == "Renew"


def test_giving_a_renewal_back_moves_the_end_back_in_both_services(world: Cloud) -> None:
    order = world.call("RenewInstance", {"InstanceId": "i-bp1sub", "Period": 1}).result["OrderId"]
    call(world, "RefundInstance", **PRODUCT, OrderId=order)
    ends = EPOCH + 20 * DAY
    assert getattr(world.find("ecs.instance", "i-bp1sub"), "expired_time", 0) == ends
    assert getattr(world.find("billing.subscription", "i-bp1sub"), "ends", 0) == ends


def test_setting_the_renewal_in_either_service_shows_in_both(world: Cloud) -> None:
    call(
        world, "SetRenewal", InstanceIDs="i-bp1sub", ProductCode="ecs",
        RenewalStatus="NotRenewal",
    )  # fmt: skip
    assert getattr(world.find("ecs.instance", "i-bp1sub"), "renewal_status", "") == "NotRenewal"
    given = {"RegionId": "cn-hangzhou", "InstanceId": "i-bp1sub", "RenewalStatus": "AutoRenewal"}
    assert world.call("ModifyInstanceAutoRenewAttribute", {**given, "Duration": 1}).ok
    shown = call(world, "QueryAvailableInstances", InstanceIDs="i-bp1sub")["InstanceList"][0]
    assert shown["RenewStatus"] == "AutoRenewal"


def test_a_debt_stops_an_hourly_server_and_a_payment_brings_it_back(world: Cloud) -> None:
    world.ledger.append([Posting(EPOCH, CASH, "provider", 500_00, "compute", "i-bp1box", "")])
    world.advance(15 * DAY + 2 * HOUR)
    server = world.find("ecs.instance", "i-bp1box")
    assert isinstance(server, Instance)
    assert (server.status, server.lock_reasons) == ("Stopped", ("financial",))
    owed = world.measure("account_debt", "")
    world.advance(DAY)
    assert world.measure("account_debt", "") == owed
    assert as_customer(world, "PayBill").ok
    world.advance(5 * MINUTE)
    assert getattr(world.find("ecs.instance", "i-bp1box"), "status", "") == "Running"


def test_a_server_that_expires_stops_and_is_kept_fifteen_days(world: Cloud) -> None:
    as_customer(world, "TopUpAccount", Amount=1_000_00)
    world.advance(20 * DAY + HOUR)
    assert getattr(world.find("ecs.instance", "i-bp1sub"), "status", "") == "Stopped"
    world.advance(14 * DAY)
    assert world.find("ecs.instance", "i-bp1sub") is not None
    world.advance(DAY)
    assert world.find("ecs.instance", "i-bp1sub") is None


def change_type(world: Cloud, id: str, to: str) -> CallResult:
    given = {"RegionId": "cn-hangzhou", "InstanceIds": f'["{id}"]', "InstanceChargeType": to}
    if to == "PrePaid":
        given |= {"Period": 1}  # type: ignore[dict-item]
    return world.call("ModifyInstanceChargeType", given)


def test_a_conversion_to_hourly_gives_back_no_more_than_was_paid(world: Cloud) -> None:
    before = balance(world)
    result = change_type(world, "i-bp1sub", "PostPaid")
    assert result.ok, result.result
    assert 0 < balance(world) - before <= 120_00
    assert world.measure("refundable", "i-bp1sub") == 0
    unpaid = Instance("i-bp1gift", ACCOUNT, charge_type="PrePaid", expired_time=EPOCH + 20 * DAY)
    world.insert(unpaid)
    assert change_type(world, "i-bp1gift", "PostPaid").code == "NotApplicable"


def test_a_server_can_become_a_subscription_and_is_refundable_then(world: Cloud) -> None:
    result = change_type(world, "i-bp1box", "PrePaid")
    assert result.ok, result.result
    assert world.measure("charge_per_hour", "i-bp1box") == 0
    paid = world.measure("order_cash", result.result["OrderId"])
    assert paid == getattr(world.find("ecs.instance", "i-bp1box"), "monthly_cents", 0)
    listed = call(world, "QueryAvailableInstances", InstanceIDs="i-bp1box")["InstanceList"]
    assert [entry["SubscriptionType"] for entry in listed] == ["Subscription"]


def test_leftovers_of_an_economical_stop_stay_on_the_bill(world: Cloud) -> None:
    world.insert(Disk("d-bp1sys", ACCOUNT, instance_id="i-bp1box"))
    world.insert(Eip("eip-bp1one", ACCOUNT, ip_address="203.0.113.9"))
    world.insert(Snapshot("s-bp1one", ACCOUNT, disk_id="d-bp1sys"))
    given = {"InstanceId": "i-bp1box", "StoppedMode": "StopCharging"}
    assert world.call("StopInstance", given).ok
    world.advance(3 * HOUR)
    assert world.measure("compute_charge_per_hour", "i-bp1box") == 0
    lines = call(world, "DescribeInstanceBill", BillingCycle="2026-11", IsBillingItem=True)
    billed = {
        (line["InstanceID"], line["ProductCode"])
        for line in lines["Items"]
        if line["SubscriptionType"] == "PayAsYouGo"
    }
    assert billed == {("d-bp1sys", "disk"), ("eip-bp1one", "eip"), ("s-bp1one", "snapshot")}
    for id in ("d-bp1sys", "eip-bp1one", "s-bp1one"):
        assert world.measure("charge_per_hour", id) > 0
