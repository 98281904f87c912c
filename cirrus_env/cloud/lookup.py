"""Reads of a recorded world that nobody recorded, answered from a table that came with it.

Only plain questions: rows whose fields pass simple tests, given back as they are. A question that
the table can't answer surely is not answered at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self

Test = Literal["is", "folded", "at_least", "at_most", "words"]

_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "moment": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII),
    "clock": re.compile(r"\d\d:\d\d:\d\d", re.ASCII),
}
"""Ways of writing a time that sort as text."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What one argument asks of a row.

    Attributes:
        argument: The argument; a condition without its argument holds.
        fields: The row's fields, or those of its key; any of them.
        test: ``is``; ``folded`` (case and outer spaces don't matter); ``at_least`` and ``at_most``
            of times; ``words`` (any word of the argument is part of the field, or all of them
            where the argument ``match_type`` is ``all``).
        form: How a time must be written: ``moment`` or ``clock``.
    """

    argument: str
    fields: tuple[str, ...]
    test: Test = "is"
    form: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        value: What is given back.
        key: Fields that are only asked about.
    """

    value: Any
    key: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lookup:
    """How one function reads a table.

    Attributes:
        function: Its name.
        result: The key of the answer.
        rows: The table.
        where: All of these must hold.
        one: Whether the answer is the one row found, not a list.
        found: Whether no row is no answer.
        alone: Arguments of which exactly one must be given.
        some: Arguments of which at least one must be given.
        latest: The field to sort by, latest first, and how many rows to keep; empty for all.
        stale: Functions after whose success the table is no longer true.
    """

    function: str
    result: str
    rows: tuple[Row, ...]
    where: tuple[Condition, ...] = ()
    one: bool = False
    found: bool = False
    alone: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    latest: tuple[str, int] | None = None
    stale: tuple[str, ...] = ()

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the table says; None where it can't say."""
        given = {name for name, value in arguments.items() if value is not None}
        known = {condition.argument for condition in self.where} | {"match_type"}
        if not given <= known or not self._asks(given):
            return None
        if not all(_usable(condition, arguments) for condition in self.where):
            return None
        found = [row.value for row in self.rows if self._fits(row, arguments)]
        if self.latest is not None:
            name, most = self.latest
            found = sorted(found, key=lambda value: _text(value, name), reverse=True)[:most]
        if not found and (self.found or self.one):
            return None
        return {self.result: found[0] if self.one else found}

    def _asks(self, given: set[str]) -> bool:
        if self.some and given.isdisjoint(self.some):
            return False
        return not self.alone or len(given.intersection(self.alone)) == 1

    def _fits(self, row: Row, arguments: Mapping[str, Any]) -> bool:
        return all(_holds(condition, row, arguments) for condition in self.where)

    def to_json(self) -> dict[str, Any]:
        """The lookup as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of ``to_json``.

        Raises:
            KeyError, TypeError, ValueError: If the data is something else.
        """
        latest = data.get("latest")
        for name in ("function", "result"):
            if not isinstance(data[name], str):
                raise TypeError(f"{name} is text")
        return cls(
            data["function"],
            data["result"],
            tuple(Row(row["value"], dict(row["key"])) for row in data["rows"]),
            tuple(_condition(each) for each in data.get("where", ())),
            bool(data.get("one", False)),
            bool(data.get("found", False)),
            _names(data.get("alone", ())),
            _names(data.get("some", ())),
            None if latest is None else (str(latest[0]), int(latest[1])),
            _names(data.get("stale", ())),
        )


def _condition(data: Mapping[str, Any]) -> Condition:
    test, form = data.get("test", "is"), data.get("form", "")
    if test not in _TESTS or form not in ("", *_FORMS):
        raise ValueError(f"no test {test!r} of {form!r}")
    return Condition(str(data["argument"]), _names(data["fields"]), test, form)


def _names(value: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(item) for item in value)


def _usable(condition: Condition, arguments: Mapping[str, Any]) -> bool:
    asked = arguments.get(condition.argument)
    if asked is None:
        return True
    if not isinstance(asked, str):
        return False
    if condition.test == "words" and not asked.split():
        return False
    return not condition.form or _FORMS[condition.form].fullmatch(asked) is not None


def _holds(condition: Condition, row: Row, arguments: Mapping[str, Any]) -> bool:
    asked = arguments.get(condition.argument)
    if asked is None:
        return True
    texts = [str(text) for text in (_field(row, name) for name in condition.fields) if text]
    if condition.test == "words":
        wanted = asked.lower().split()
        hits = [any(word in text.lower() for text in texts) for word in wanted]
        return all(hits) if arguments.get("match_type") == "all" else any(hits)
    return any(_TESTS[condition.test](text, asked) for text in texts)


def _text(value: Any, name: str) -> str:
    return str(value.get(name, "")) if isinstance(value, Mapping) else ""


def _field(row: Row, name: str) -> Any:
    if name in row.key:
        return row.key[name]
    return row.value.get(name) if isinstance(row.value, Mapping) else None


_TESTS: Final[Mapping[str, Any]] = {
    "is": lambda text, asked: text == asked,
    "folded": lambda text, asked: text.strip().lower() == asked.strip().lower(),
    "at_least": lambda text, asked: text >= asked,
    "at_most": lambda text, asked: text <= asked,
    "words": None,
}
