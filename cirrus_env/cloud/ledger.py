"""The double-entry ledger: money moves here and nowhere else, in integer cents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cirrus_env.cloud.model import Posting
from cirrus_env.errors import InvariantError


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

    def truncate(self, length: int) -> None:
        """Forget every posting after the first ``length``."""
        for posting in self._postings[length:]:
            self._apply(posting, -posting.cents)
        del self._postings[length:]

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
