"""What was said to the assistant: the customer's words, and texts that it may not just paste."""

from __future__ import annotations

from cirrus_env.nlu import verbatim


class Heard:
    """Append-only memory of the customer's messages and of source texts.

    Sources are indexed when a reply is first compared with them; marks and copies are cheap.
    """

    __slots__ = ("_customer", "_index", "_indexed", "_left_out", "_sources")

    def __init__(self) -> None:
        self._customer: list[str] = []
        self._sources: list[str] = []
        self._index: verbatim.Index = {}
        self._indexed = (0, 0)
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
        if self._indexed[0] > customer or self._indexed[1] > sources:
            self._index, self._indexed = {}, (0, 0)

    def copy(self) -> Heard:
        """An independent memory with the same content."""
        other = Heard()
        other._customer = self._customer.copy()
        other._sources = self._sources.copy()
        return other

    def index(self, left_out: verbatim.LeftOut) -> verbatim.Index:
        """The runs of words of all that was heard, without the values in ``left_out``."""
        if left_out != self._left_out:
            self._index, self._indexed, self._left_out = {}, (0, 0), left_out
        customer, sources = self._indexed
        if customer < len(self._customer) or sources < len(self._sources):
            for text in self._customer[customer:]:
                verbatim.add(self._index, text, left_out)
            for text in self._sources[sources:]:
                verbatim.add(self._index, text, left_out)
            self._indexed = len(self._customer), len(self._sources)
        return self._index
