"""The double-entry ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.cloud.ledger import Ledger
from cirrus_env.cloud.model import Posting
from cirrus_env.errors import InvariantError

ACCOUNTS = ("cash:a", "voucher:a", "cash:b", "provider")
postings = st.lists(
    st.builds(
        Posting,
        st.integers(0, 100),
        st.sampled_from(ACCOUNTS),
        st.sampled_from(ACCOUNTS),
        st.integers(1, 2**70),
        st.just("item"),
        st.just("resource"),
        st.just(""),
    )
)


def from_scratch(ledger, account):
    return sum(p.cents * ((p.credit == account) - (p.debit == account)) for p in ledger.postings)


@given(postings)
def test_balances_are_the_sums_of_entries_and_sum_to_zero(entries):
    ledger = Ledger()
    for entry in entries:
        ledger.append([entry])
        assert ledger.total() == 0
    for account in ACCOUNTS:
        assert ledger.balance(account) == from_scratch(ledger, account)
    assert list(ledger.postings) == entries


@given(postings, postings, postings)
def test_marks_and_copies_are_independent(first, second, third):
    ledger = Ledger()
    ledger.append(first)
    mark = ledger.mark()
    twin = ledger.copy()
    ledger.append(second)
    end = ledger.mark()
    ledger.restore(mark)
    assert list(ledger.postings) == first == list(twin.postings)
    ledger.append(third)
    assert list(ledger.postings) == first + third
    ledger.restore(end)
    assert list(ledger.postings) == first + second
    for account in ACCOUNTS:
        assert ledger.balance(account) == from_scratch(ledger, account)
        assert twin.balance(account) == from_scratch(twin, account)


@pytest.mark.parametrize("cents", [0, -1, 1.0, True, "1", None])
def test_an_amount_is_a_positive_integer_or_nothing_is_booked(cents):
    ledger = Ledger()
    good = Posting(0, "cash:a", "provider", 5, "i", "r", "")
    with pytest.raises(InvariantError):
        ledger.append([good, good._replace(cents=cents)])
    assert list(ledger.postings) == []
    assert ledger.balance("provider") == 0


def test_an_account_that_nobody_used_is_empty():
    assert Ledger().balance("cash:x") == 0
