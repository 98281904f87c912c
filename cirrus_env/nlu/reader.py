"""One reading of a message into dialogue acts (METRICS section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cirrus_env.nlu import verbatim
from cirrus_env.nlu.answers import read_answer
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.lexicon import (
    CONSOLE,
    FACT,
    NEAR,
    OPERATION,
    UNIT,
    VALUE,
    Entry,
    Lexicon,
    cue_tree,
    lexicon,
)
from cirrus_env.nlu.normalise import flat, plain
from cirrus_env.nlu.proposals import Offered, operations
from cirrus_env.nlu.reading import Subject, reading
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.nlu.subjects import Subjects
from cirrus_env.tickets.model import Private, Scenario, Slot
from cirrus_env.wire import Act

_PHRASED: Final = ("enum", "statement")


class Reader:
    """Reads replies of one scenario; cheap to make, never changed.

    Args:
        scenario: Whose slots, facts, console actions and operations are read.
    """

    __slots__ = ("_left_out", "_lexicon", "_scenario", "_subject")

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        slots = tuple(scenario.gold.slots.values())
        private, public = scenario.private, scenario.public
        offered = operations(tuple(public.services), public.language)
        self._lexicon = _lexicon(slots, private, offered)
        consents = frozenset((k.operation, k.id) for k in private.consents)
        self._subject = Subject(
            Subjects(scenario),
            tuple(s for s in slots if s.type == "enum"),
            tuple(s for s in slots if s.type == "statement"),
            tuple(s for s in slots if s.type not in _PHRASED),
            any(s.type not in _PHRASED and not s.near for s in slots),
            {slot.name: k for k, slot in enumerate(slots)},
            offered,
            consents,
        )
        self._left_out = _left_out(self._subject.bound, private)

    # it holds shared word trees that can't be pickled; an episode must be, in mid-course (law R6)
    def __deepcopy__(self, memo: object) -> Reader:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Reader, (self._scenario,)

    def read(self, text: str, heard: Heard) -> tuple[Act, ...]:
        """The dialogue acts of an assistant's reply, in a fixed order.

        Args:
            text: The delivered words.
            heard: What the assistant had been given to read.
        """
        even = flat(text)
        clean = plain(even)
        scan = self.scan(clean)
        if scan.telling and heard.any:
            index = heard.index(self._left_out)
            quoted = verbatim.spans(verbatim.words(even.lower(), self._left_out), index)
            if quoted:
                clean = plain(verbatim.blanked(even, self._left_out, quoted))
                scan = self.scan(clean)
        return reading(self._subject, self._lexicon, scan, clean, heard)

    def read_customer(self, text: str, proposed: tuple[Act, ...]) -> tuple[Act, ...]:
        """What an outside customer's words answer to the proposals of the reply just before."""
        return read_answer(plain(flat(text)), proposed, self._lexicon)

    def scan(self, clean: str) -> Scanner:
        """What plain text holds, before it is read as acts."""
        scan = Scanner(clean.lower(), self._lexicon, cue_tree(False))
        scan.run()
        return scan


def _lexicon(slots: tuple[Slot, ...], private: Private, offered: Mapping[str, Offered]) -> Lexicon:
    entries: list[Entry] = []
    for slot in slots:
        for value, groups in slot.values.items():
            entries.append(Entry(VALUE, slot.name, value, groups))
        if slot.near:
            entries.append(Entry(NEAR, slot.name, "", slot.near))
        if slot.unit:
            entries.append(Entry(UNIT, slot.name, "", (slot.unit,)))
    for name, fact in private.facts.items():
        if fact.asked_by:
            entries.append(Entry(FACT, name, "", fact.asked_by))
    for name, action in private.console.items():
        entries.append(Entry(CONSOLE, name, "", action.told_by))
    for name, offer in offered.items():
        entries.append(Entry(OPERATION, name, "", offer.groups))
    return lexicon(tuple(entries), any(slot.type == "number" for slot in slots))


def _left_out(bound: tuple[Slot, ...], private: Private) -> verbatim.LeftOut:
    """The scenario's own values as they are written, for the count of quoted words."""
    texts: dict[str, None] = {}
    numbers: list[str] = []
    for slot in bound:
        value = slot.value
        if value and slot.type == "money":
            texts[f"{value[:-2] or '0'}.{value[-2:]:0>2}"] = None
        elif slot.type == "number":
            numbers.append(value)
        elif value:
            texts[value.lower()] = None
    for consent in private.consents:
        if consent.id:
            texts[consent.id.lower()] = None
    return verbatim.LeftOut(tuple(texts), frozenset(numbers))
