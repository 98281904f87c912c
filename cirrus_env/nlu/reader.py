"""One reading of a message into dialogue acts (METRICS section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple

from cirrus_env.nlu import verbatim
from cirrus_env.nlu.answers import read_answer
from cirrus_env.nlu.forms import Form, Model, form_of, glued, has_figures, model, renamed
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
from cirrus_env.nlu.reading import Reading, Subject, reading
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.nlu.subjects import Subjects
from cirrus_env.tickets.model import Private, Scenario, Slot
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Act

_PHRASED: Final = ("enum", "statement")


class Known(NamedTuple):
    """A reading, and whether the text tells anything at all (else no quotation matters)."""

    reading: Reading
    telling: bool


class _Model:
    """The representative of a variant in a language, and what its forms say."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.reader = Reader(model.scenario)
        self.read = lru_cache(maxsize=4096)(self._read)

    def _read(self, form: str) -> Known | None:
        """A form read once; None where a reply has to be read by itself after all."""
        if glued(form):
            return None
        known = self.reader.direct(self.model.form.filled(form))
        if any(has_figures(pair) for asked in known.reading.asked for pair in asked.pairs):
            return None  # a comparison with the customer's words would need the values
        return known


class Reader:
    """Reads replies of one scenario; cheap to make, never changed.

    Args:
        scenario: Whose slots, facts, console actions and operations are read.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._form: Form | None = None
        self._formless = False
        self._model: _Model | None = None
        self._names: dict[str, str] = {}

    # most replies are known by their form: what follows is worked out for the first other one

    @cached_property
    def _offered(self) -> Mapping[str, Offered]:
        public = self._scenario.public
        return operations(tuple(public.services), public.language)

    @cached_property
    def _lexicon(self) -> Lexicon:
        return _lexicon(self._scenario, self._offered)

    @cached_property
    def _subject(self) -> Subject:
        scenario = self._scenario
        slots = tuple(scenario.gold.slots.values())
        enums = tuple(s for s in slots if s.type == "enum")
        bound = _bound(scenario)
        return Subject(
            Subjects(scenario),
            enums,
            partial(_causes, enums),
            tuple(s for s in slots if s.type == "statement"),
            bound,
            any(not s.near for s in bound),
            {slot.name: k for k, slot in enumerate(slots)},
            self._offered,
            frozenset((k.operation, k.id) for k in scenario.private.consents),
        )

    @cached_property
    def _left_out(self) -> verbatim.LeftOut:
        return _left_out(_bound(self._scenario), self._scenario.private)

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
        known = self._known(even)
        said = self.direct(even) if known is None else known
        if said.telling and heard.any:
            quoted = self._quoted(even, heard)
            if quoted:
                return self._unquoted(even, quoted).against(heard)
        found = said.reading if known is None else self._renamed(said.reading)
        return found.against(heard)

    def direct(self, even: str) -> Known:
        """What a flat text says, before it is held against what was heard."""
        scan = self.scan(plain(even.lower()))
        return Known(reading(self._subject, self._lexicon, scan, even), scan.telling)

    def _quoted(self, even: str, heard: Heard) -> list[tuple[int, int]]:
        words = verbatim.words(even.lower(), self._left_out)
        if len(words) < verbatim.SHORTEST:
            return []
        return heard.quoted(words, self._left_out)

    def _unquoted(self, even: str, quoted: list[tuple[int, int]]) -> Reading:
        blanked = verbatim.blanked(even.lower(), self._left_out, quoted)
        return reading(self._subject, self._lexicon, self.scan(plain(blanked)), even)

    def _known(self, even: str) -> Known | None:
        """What the text's form says, where it has one."""
        if self._form is None:
            if self._formless:
                return None
            found = self._representative()
            if found is None:
                self._formless = True
                return None
            self._model = found
            self._form = form_of(self._scenario, found.model.names)
            self._names = dict(zip(found.model.form.told, self._form.told, strict=True))
        form = self._form.of(even)
        return self._model.read(form) if form and self._model is not None else None

    def _representative(self) -> _Model | None:
        ticket = getattr(self._scenario, "ticket", None)
        if not isinstance(ticket, Ticket):
            return None
        found = _model(ticket, self._scenario.variant, self._scenario.public.language)
        same = found is not None and _phrases(found.model.scenario) == _phrases(self._scenario)
        return found if same else None

    def _renamed(self, reading: Reading) -> Reading:
        for act in reading.acts:
            if act.value in self._names:
                break
        else:
            return reading
        return Reading(renamed(reading.acts, self._names, self._scenario.gold.slots), reading.asked)

    def read_customer(self, text: str, proposed: tuple[Act, ...]) -> tuple[Act, ...]:
        """What an outside customer's words answer to the proposals of the reply just before."""
        return read_answer(plain(flat(text).lower()), proposed, self._lexicon)

    def scan(self, clean: str) -> Scanner:
        """What plain text holds, before it is read as acts."""
        scan = Scanner(clean, self._lexicon, cue_tree(False))
        scan.run()
        return scan


@lru_cache(maxsize=1024)
def _model(ticket: Ticket, variant: str, language: str) -> _Model | None:
    found = model(ticket, variant, language)
    return None if found is None else _Model(found)


def _phrases(scenario: Scenario) -> tuple[object, ...]:
    """All phrases that replies are read by; one variant's seeds share the very objects."""
    private = scenario.private
    return (
        [(slot.type, slot.values, slot.near, slot.unit) for slot in scenario.gold.slots.values()],
        [fact.asked_by for fact in private.facts.values()],
        [action.told_by for action in private.console.values()],
    )


def _bound(scenario: Scenario) -> tuple[Slot, ...]:
    """Slots told by a number, amount, date or id."""
    return tuple([s for s in scenario.gold.slots.values() if s.type not in _PHRASED])


def _lexicon(scenario: Scenario, offered: Mapping[str, Offered]) -> Lexicon:
    entries: list[Entry] = []
    slots, private = scenario.gold.slots.values(), scenario.private
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


def _causes(enums: tuple[Slot, ...]) -> Lexicon:
    """The phrases of causes alone."""
    return lexicon(
        tuple(
            Entry(VALUE, slot.name, value, groups)
            for slot in enums
            for value, groups in slot.values.items()
        ),
        False,
    )


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
