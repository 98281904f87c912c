"""Which resources a scenario is about, so that words about another one are not taken for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from cirrus_env.nlu.wording import word_set
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket

_NO_NAMES: Final = word_set("""
    i d s eip vpc sg vsw q e t m g r p v utc gmt step option case part item number no ipv x y
    day page section phase level tier chapter point port
""")
_LONGEST: Final = 20


class Subjects:
    """The ids that a scenario is about, looked up when first needed."""

    __slots__ = ("_found", "_keepers", "_scenario")

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._keepers: frozenset[str] | None = None
        self._found: tuple[frozenset[str], frozenset[str]] | None = None

    @property
    def ids(self) -> frozenset[str]:
        """Ids that the scenario's evidence, assertions and consents name."""
        return self._look()[0]

    @property
    def keepers(self) -> frozenset[str]:
        """Slots that no evidence reads: they only keep their numbers from those that it reads."""
        if self._keepers is None:
            gold = self._scenario.gold
            told = set(_told(self._scenario)) if gold.checkpoints else ()
            slots = gold.slots if told else ()
            self._keepers = frozenset(slots).difference(told)
        return self._keepers

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of these ids in any variant: a reply is read alike in all of them."""
        return self._look()[1]

    def _look(self) -> tuple[frozenset[str], frozenset[str]]:
        if self._found is None:
            ids = _subjects(self._scenario)
            ticket = getattr(self._scenario, "ticket", None)
            others = _kinds(ticket) if isinstance(ticket, Ticket) else frozenset()
            self._found = ids, others.union(map(kind, ids))
        return self._found


@lru_cache(maxsize=1024)
def _kinds(ticket: Ticket) -> frozenset[str]:
    """The kinds of what the variants of a ticket are about."""
    scenarios = (make_scenario(ticket, 0, variant=variant) for variant in ticket.variants)
    return frozenset(kind(id) for scenario in scenarios for id in _subjects(scenario))


def _subjects(scenario: Scenario) -> frozenset[str]:
    gold, private = scenario.gold, scenario.private
    found = {consent.id for consent in private.consents}
    for checkpoint in gold.checkpoints:
        found.update(_ids(checkpoint.evidence))
    for _, predicate in (*gold.must_flip, *gold.must_hold):
        found.update(_ids(predicate))
    slots = getattr(gold, "slots", {})
    found.update(s.value for s in slots.values() if s.type == "id" and not s.near)
    for action in private.console.values():
        found.update(value for value in action.arguments.values() if isinstance(value, str))
    return frozenset(id for id in found if kind(id))


def kind(id: str) -> str:
    """What ids of one kind have in common: the letters before the first hyphen; empty for none."""
    head, hyphen, rest = id.partition("-")
    return head.lower() if hyphen and rest and head.isalpha() and len(head) <= 6 else ""


def is_name(token: str) -> bool:
    """Whether a token with a figure is a server's name, such as ``web-node-3``."""
    head, _, rest = token.partition("-")
    if not head.isalpha() or not token.isascii() or head in _NO_NAMES or len(token) > _LONGEST:
        return False
    return not head.startswith("ecs") and any(part.isdigit() for part in rest.split("-"))


def _told(scenario: Scenario) -> Iterator[str]:
    gold, private = scenario.gold, scenario.private
    wanted = getattr(private, "satisfied", None)
    predicates = [wanted] if wanted is not None else []
    predicates += (checkpoint.evidence for checkpoint in gold.checkpoints)
    mines = getattr(gold, "minefields", ())
    predicates += (mine.unless for mine in mines if mine.unless is not None)
    for predicate in predicates:
        yield from _slots(predicate)
    for consent in private.consents:
        yield from consent.needs


def _slots(predicate: p.Predicate) -> Iterator[str]:
    if isinstance(predicate, p.All | p.AnyOf | p.Not):
        for part in predicate.parts:
            yield from _slots(part)
    elif isinstance(predicate, p.Told):
        yield predicate.slot


def _ids(predicate: p.Predicate) -> Iterator[str]:
    if isinstance(predicate, p.All | p.AnyOf | p.Not):
        for part in predicate.parts:
            yield from _ids(part)
    elif isinstance(predicate, p.Called):
        yield predicate.returned
        yield from _texts(predicate.arguments.values())
    elif isinstance(predicate, p.Measure):
        yield predicate.of
    elif isinstance(predicate, p.State | p.Exists | p.Absent | p.Untouched | p.Agreed):
        yield predicate.id


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)
