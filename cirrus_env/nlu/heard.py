"""What was said to the assistant: the customer's words, and texts that it may not just paste."""

from __future__ import annotations

from cirrus_env.nlu import verbatim
from cirrus_env.nlu.normalise import flat


class Heard:
    """Append-only memory of the customer's messages and of source texts.

    Texts are split into words when a reply is first compared with them; marks and copies are
    cheap.
    """

    __slots__ = ("_customer", "_left_out", "_seen", "_sources", "_split")

    def __init__(self) -> None:
        self._customer: list[str] = []
        self._sources: list[str] = []
        self._split = verbatim.Sources()
        self._seen = (0, 0)  # how much of both has been split
        self._left_out: verbatim.LeftOut = verbatim.LeftOut()

    @property
    def customer(self) -> tuple[str, ...]:
        """The customer's messages, in order."""
        return tuple(self._customer)

    @property
    def any(self) -> bool:
        """Whether anything was heard."""
        return bool(self._customer or self._sources)

    def add_customer(self, text: str) -> None:
        """Remember what the customer said."""
        self._customer.append(text)

    def add_source(self, text: str) -> None:
        """Remember a tool result, an article or a schema."""
        self._sources.append(text)

    def mark(self) -> tuple[int, int]:
        """Where the memory stands, for ``truncate``."""
        return len(self._customer), len(self._sources)

    def truncate(self, mark: tuple[int, int]) -> None:
        """Forget all that came after the mark."""
        customer, sources = mark
        del self._customer[customer:]
        del self._sources[sources:]
        if self._seen[0] > customer or self._seen[1] > sources:
            self._forget(self._left_out)

    def copy(self) -> Heard:
        """An independent memory with the same content."""
        other = Heard()
        other._customer = self._customer.copy()
        other._sources = self._sources.copy()
        return other

    def quoted(self, words: list[str], left_out: verbatim.LeftOut) -> list[tuple[int, int]]:
        """The spans of a reply's words that repeat what was heard.

        Args:
            words: By ``verbatim.words``, with the same ``left_out``.
            left_out: Values that don't count as words.
        """
        if left_out != self._left_out:
            self._forget(left_out)
        customer, sources = self._seen
        if customer < len(self._customer) or sources < len(self._sources):
            for text in (*self._customer[customer:], *self._sources[sources:]):
                self._split.add(flat(text).lower(), left_out)
            self._seen = len(self._customer), len(self._sources)
        return self._split.spans(words)

    def _forget(self, left_out: verbatim.LeftOut) -> None:
        self._split, self._seen, self._left_out = verbatim.Sources(), (0, 0), left_out
