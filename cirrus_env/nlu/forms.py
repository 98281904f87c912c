"""A reply's form: its words with the scenario's own values taken out.

What a reply says does not depend on which id or amount a seed drew. So a reply whose only figures
are the scenario's own is read once a form: the values are swapped for those of a representative
scenario of the same ticket, variant and language (the first seed whose values are all distinct),
that text is read, and the acts get this scenario's values back. A reply with any other figure, or
with a private-use character, has no form and is read as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from cirrus_env.tickets.model import Scenario, Slot
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Act

_FIGURE: Final = re.compile(r"\d").search
_MARK: Final = re.compile(r"[\ue000-\uf8ff]").search
_GLUED: Final = re.compile(
    r"[A-Za-z_+/@:%~-][\ue000-\uf8ff]|[\ue000-\uf8ff][A-Za-z_+/@:%~-]"
).search
_ID_LENGTH: Final = 8
_FIRST_MARK: Final = 0xE000
_VALUED: Final = ("money", "date", "id")
_SEEDS_TRIED: Final = 64
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


class Name(NamedTuple):
    """Where one of a scenario's values stands: a slot, or a parameter."""

    slot: bool
    name: str


class Form(NamedTuple):
    """How to take a scenario's values out of a text.

    Attributes:
        marks: (writing, mark), longer writings first.
        told: The values as dialogue acts give them, in the order of the names.
    """

    marks: tuple[tuple[str, str], ...]
    told: tuple[str, ...]

    def of(self, text: str) -> str:
        """The text's form; empty where it has none.

        One with a ``glued`` mark is no form either; that is found out once a form.
        """
        if not text.isascii() and _MARK(text):
            return ""
        for written, mark in self.marks:
            if written in text:
                text = text.replace(written, mark)
        return "" if _FIGURE(text) else text

    def filled(self, form: str) -> str:
        """The form with this scenario's values."""
        if form.isascii():
            return form
        for written, mark in self.marks:
            if mark in form:
                form = form.replace(mark, written)
        return form


class Model(NamedTuple):
    """The representative of a variant in a language.

    Attributes:
        scenario: The scenario.
        names: Its values, each once.
        form: Its form.
    """

    scenario: Scenario
    names: tuple[Name, ...]
    form: Form


def glued(form: str) -> bool:
    """Whether something stands at a mark that may make another value of it, such as a sign."""
    return not form.isascii() and _GLUED(form) is not None


def has_figures(words: Iterable[str]) -> bool:
    """Whether any word holds a figure."""
    return any(_FIGURE(word) for word in words)


def form_of(scenario: Scenario, names: Iterable[Name]) -> Form:
    """The form of a scenario's replies, over these values."""
    marks: list[tuple[str, str]] = []
    told: list[str] = []
    for name in names:
        value, written = _value(scenario, name)
        for n, text in enumerate(written):
            marks.append((text, chr(_FIRST_MARK + 3 * len(told) + n)))
        told.append(value)
    marks.sort(key=_longest_first)
    return Form(tuple(marks), tuple(told))


def _longest_first(mark: tuple[str, str]) -> tuple[int, str]:
    return -len(mark[0]), mark[1]


def renamed(acts: tuple[Act, ...], names: Mapping[str, str], slots: Mapping[str, Slot]) -> (
    tuple[Act, ...]
):  # fmt: skip
    """The acts with values renamed."""
    return tuple(
        act._replace(value=names[act.value])
        if act.value in names
        and (act.kind == "proposed" or (act.kind == "told" and slots[act.name].type in _VALUED))
        else act
        for act in acts
    )


@lru_cache(maxsize=1024)
def model(ticket: Ticket, variant: str, language: str) -> Model | None:
    """The representative: the first seed of which no value is part of another; None if none is."""
    for seed in range(_SEEDS_TRIED):
        scenario = make_scenario(ticket, seed, variant=variant, language=language)
        names = tuple(_names(scenario))
        form = form_of(scenario, names)
        written = [text for text, _ in form.marks]
        if not any(a in b for i, a in enumerate(written) for b in written[:i]):
            return Model(scenario, names, form)
    return None


def _names(scenario: Scenario) -> Iterator[Name]:
    seen: set[str] = set()
    for slot in scenario.gold.slots.values():
        if slot.type in _VALUED and slot.value and slot.value not in seen:
            seen.add(slot.value)
            yield Name(True, slot.name)
    for name, value in scenario.values.items():
        if isinstance(value, str) and len(value) >= _ID_LENGTH and value not in seen:
            if _FIGURE(value):
                seen.add(value)
                yield Name(False, name)


def _value(scenario: Scenario, name: Name) -> tuple[str, tuple[str, ...]]:
    """A value as acts tell it, and as replies write it."""
    if name.slot:
        slot = scenario.gold.slots[name.name]
        return slot.value, _writings(slot, scenario.public.language)
    value = str(scenario.values[name.name])
    return value, (value,)


def _writings(slot: Slot, language: str) -> tuple[str, ...]:
    if slot.type == "money":
        return (f"{slot.value[:-2] or '0'}.{slot.value[-2:]:0>2}",)
    if slot.type == "date":
        year, month, day = slot.value.split("-")
        if language == "zh":
            return (f"{year}年{int(month)}月{int(day)}日", slot.value)
        return (f"{int(day)} {_MONTHS[int(month) - 1]} {year}", slot.value)
    return (slot.value,)
