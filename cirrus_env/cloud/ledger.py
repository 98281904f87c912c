"""The double-entry ledger: money moves here and nowhere else, in integer cents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cirrus_env.cloud.model import Posting
from cirrus_env.errors import InvariantError


class LedgerMark(NamedTuple):
    """A ledger at one moment; opaque."""

    postings: list[Posting]
    length: int
    balances: dict[str, int]


class Ledger:
    """An append-only list of postings with running balances."""

    __slots__ = ("_balances", "_postings")

    def __init__(self) -> None:
        self._postings: list[Posting] = []
        self._balances: dict[str, int] = {}

    @property
    def postings(self) -> Sequence[Posting]:
        """All postings, oldest first."""
        return self._postings

    def balance(self, account: str) -> int:
        """Cents that have come into the account less what has gone."""
        return self._balances.get(account, 0)

    def total(self) -> int:
        """The sum of all balances: always 0."""
        return sum(self._balances.values())

    def append(self, postings: Iterable[Posting]) -> None:
        """Book the postings.

        Raises:
            InvariantError: If an amount is no positive integer; nothing is booked then.
        """
        postings = tuple(postings)
        for posting in postings:
            if type(posting.cents) is not int or posting.cents <= 0:
                raise InvariantError(f"a posting of {posting.cents!r} cents: {posting}")
        for posting in postings:
            self._apply(posting, posting.cents)
        self._postings.extend(postings)

    def mark(self) -> LedgerMark:
        """A mark to come back to; postings are only ever appended, so the list is shared."""
        return LedgerMark(self._postings, len(self._postings), self._balances.copy())

    def restore(self, mark: LedgerMark) -> None:
        """Go back, or forward again, to a mark; other marks stay good."""
        self._postings = mark.postings[: mark.length]
        self._balances = mark.balances.copy()

    def copy(self) -> Ledger:
        """An independent ledger with the same postings."""
        other = Ledger()
        other._postings = self._postings.copy()
        other._balances = self._balances.copy()
        return other

    def _apply(self, posting: Posting, cents: int) -> None:
        balances = self._balances
        balances[posting.debit] = balances.get(posting.debit, 0) - cents
        balances[posting.credit] = balances.get(posting.credit, 0) + cents
