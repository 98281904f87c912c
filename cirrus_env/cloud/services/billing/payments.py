"""The account's balance, its transactions, and the customer's own payments."""

from __future__ import annotations

from typing import Any

from cirrus_env.cloud.model import PROVIDER, Operation, Posting
from cirrus_env.cloud.services.billing import money
from cirrus_env.cloud.services.billing.models import BillingAccount
from cirrus_env.cloud.services.billing.orders import moment
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import billing_cycle, iso_second

MOST = 100_000_000_00
"""The largest payment in cents."""
_AMOUNT = {"type": "integer", "minimum": 1, "maximum": MOST, "description": "Cents."}


def _query_account_balance(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    account = money.account_of(work)
    balance = work.balance(money.cash(work.tenant))
    return money.success(
        {
            "AvailableAmount": money.decimal(balance + account.credit),
            "AvailableCashAmount": money.decimal(balance),
            "CreditAmount": money.decimal(account.credit),
            "MybankCreditAmount": "0.00",
            "QuotaLimit": "0.00",
            "Currency": account.currency,
        }
    )


def _type(posting: Posting, mine: str) -> str:
    if posting.debit == mine:
        return "Consumption"
    return "Refund" if posting.debit == PROVIDER else "Payment"


def _query_account_transactions(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    mine = money.cash(work.tenant)
    first = last = None
    if "CreateTimeStart" in arguments:
        first = moment(arguments["CreateTimeStart"], "CreateTimeStart")
    if "CreateTimeEnd" in arguments:
        last = moment(arguments["CreateTimeEnd"], "CreateTimeEnd")
    balance, shown = 0, []
    currency = money.account_of(work).currency
    for posting in sorted(work.ledger_postings(), key=lambda p: p.at):
        if mine not in (posting.debit, posting.credit):
            continue
        income = posting.credit == mine
        balance += posting.cents if income else -posting.cents
        kind = _type(posting, mine)
        if (first is not None and posting.at < first) or (last is not None and posting.at > last):
            continue
        if arguments.get("TransactionType") not in (None, kind):
            continue
        shown.append(
            {
                "TransactionTime": iso_second(posting.at),
                "TransactionType": kind,
                "TransactionFlow": "Income" if income else "Expense",
                "TransactionChannel": "BankTransfer" if kind == "Payment" else "AccountBalance",
                "Amount": money.decimal(posting.cents),
                "Balance": money.decimal(balance),
                "Currency": currency,
                "RecordID": posting.memo or posting.resource,
                "BillingCycle": billing_cycle(posting.at),
                "Remarks": posting.item,
            }
        )
    shown.reverse()
    data = money.page(shown, arguments)
    items = data.pop("page")
    head = {"AccountID": work.tenant, "AccountTransactionsList": {"AccountTransactionsList": items}}
    return money.success(data | head)


def _pay_in(work: Work, cents: int, item: str) -> dict[str, Any]:
    mine = money.cash(work.tenant)
    work.post(money.bank(work.tenant), mine, cents, item=item, resource=work.tenant)
    settle(work)
    balance = money.decimal(work.balance(mine))
    return money.success({"Amount": money.decimal(cents), "AvailableCashAmount": balance})


def settle(work: Work) -> None:
    """Bring a paid-up account back and tell the other services."""
    account = money.account_of(work)
    if work.balance(money.cash(work.tenant)) + account.credit < 0:
        return
    if account.status != "Normal":
        work.change(account, status="Normal", overdue_since=0)
    work.emit("account.paid", tenant=work.tenant)


def _top_up_account(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    return _pay_in(work, arguments["Amount"], "payment")


def _pay_bill(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    owed = -work.balance(money.cash(work.tenant))
    if owed <= 0:
        raise CloudError("ResourceStatusError", "No bill is outstanding.")
    return _pay_in(work, min(arguments.get("Amount", owed), owed), "payment")


def overdue(work: Work) -> BillingAccount:
    """The account, marked overdue when its balance has just fallen below its credit."""
    account = money.account_of(work)
    if work.balance(money.cash(work.tenant)) + account.credit >= 0:
        return account
    if account.status == "Normal":
        account = work.change(account, status="Overdue", overdue_since=work.now)
        work.emit("account.overdue", tenant=work.tenant)
    return account


OPERATIONS = (
    Operation(
        "QueryAccountBalance",
        "Queries the account's balance; a negative amount is owed.",
        "read",
        {"type": "object", "properties": {}, "additionalProperties": False},
        _query_account_balance,
    ),
    Operation(
        "QueryAccountTransactions",
        "Queries money that came into or left the balance, newest first.",
        "read",
        {
            "type": "object",
            "properties": {
                "CreateTimeStart": {"type": "string", "maxLength": 32},
                "CreateTimeEnd": {"type": "string", "maxLength": 32},
                "TransactionType": {"enum": ["Payment", "Consumption", "Refund"]},
                **money.paging(300),
            },
            "additionalProperties": False,
        },
        _query_account_transactions,
    ),
    Operation(
        "TopUpAccount",
        "Pays money into the balance.",
        "write",
        {
            "type": "object",
            "properties": {"Amount": _AMOUNT},
            "required": ["Amount"],
            "additionalProperties": False,
        },
        _top_up_account,
        propose={
            "en": (("top up", "add funds", "recharge"),),
            "zh": (("充值",),),
        },
        actor="customer",
    ),
    Operation(
        "PayBill",
        "Pays the outstanding amount, or a part of it.",
        "write",
        {
            "type": "object",
            "properties": {"Amount": _AMOUNT},
            "additionalProperties": False,
        },
        _pay_bill,
        propose={
            "en": (
                ("pay", "settle", "clear"),
                ("bill", "balance", "outstanding", "overdue", "debt"),
            ),
            "zh": (("支付", "结清", "缴清", "还清"), ("账单", "欠费", "欠款")),
        },
        actor="customer",
    ),
)
