"""Checks of a scenario's example replies: near-misses fail, references pass, honest ones trip none.

Static lint and the audit use them: a ticket's own examples are the first labelled set that its
phrase groups must get right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cirrus_env.judging.judge import Judge
from cirrus_env.judging.minefields import touched_by_text, touched_by_words
from cirrus_env.nlu.evidence import Evidence
from cirrus_env.nlu.heard import Heard
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act


class Reads(Protocol):
    """What the checks need of ``nlu.reader.Reader``."""

    def read(self, text: str, heard: Heard) -> tuple[Act, ...]:
        """The dialogue acts of a reply."""
        ...


class Finding(NamedTuple):
    """An example reply that is not judged as the ticket says.

    Attributes:
        where: Such as ``checkpoints.explain.near_misses[1]``.
        reply: The words.
        problem: What is wrong.
    """

    where: str
    reply: str
    problem: str


@dataclass(frozen=True, slots=True)
class Words:
    """What one reply says by itself.

    Attributes:
        told: Slots told rightly.
        wrong: ``(slot, value)`` told wrongly.
        asked: Facts asked for.
        proposed: ``(operation, id)`` proposed, with the consequences told alongside.
        instructed: Console actions that the customer was told to do.
    """

    told: frozenset[str]
    wrong: tuple[tuple[str, str], ...]
    asked: frozenset[str]
    proposed: tuple[tuple[str, str, frozenset[str]], ...]
    instructed: frozenset[str]


def words_of(
    scenario: Scenario, text: str, reader: Reads, judge: Judge, heard: Heard | None = None
) -> Words:
    """Read and judge one reply; without ``heard``, as if it were the first after the opening."""
    if heard is None:
        heard = Heard()
        heard.add_customer(scenario.private.opening)
    acts = reader.read(text, heard)
    assessment = judge.assess(scenario, text, acts)
    return Words(
        told=frozenset(assessment.told),
        wrong=assessment.wrong,
        asked=frozenset(act.name for act in acts if act.kind == "asked"),
        proposed=tuple(
            (act.name, act.value, frozenset(act.detail)) for act in acts if act.kind == "proposed"
        ),
        instructed=frozenset(act.name for act in acts if act.kind == "instructed"),
    )


def spoken(predicate: p.Predicate) -> bool:
    """Whether the predicate asks for words at all."""
    if isinstance(predicate, p.All | p.AnyOf | p.Not):
        return any(spoken(part) for part in predicate.parts)
    return isinstance(predicate, p.Told | p.Asked | p.Agreed | p.CustomerDid)


def carried(predicate: p.Predicate, words: Words, scenario: Scenario) -> bool:
    """Whether the reply brings all that the predicate asks of words; the rest is taken as true."""
    match predicate:
        case p.Told(slot):
            return slot in words.told
        case p.Asked(fact):
            return fact in words.asked
        case p.CustomerDid(action):
            return action in words.instructed
        case p.Agreed(operation, id):
            needs = {
                slot
                for consent in scenario.private.consents
                if (consent.operation, consent.id) == (operation, id)
                for slot in consent.needs
            }
            return any(
                (name, target) == (operation, id) and needs <= detail
                for name, target, detail in words.proposed
            )
        case p.All(parts):
            return all(carried(part, words, scenario) for part in parts)
        case p.AnyOf(parts):
            return any(carried(part, words, scenario) for part in parts)
        case p.Not(parts):
            return not any(spoken(part) and carried(part, words, scenario) for part in parts)
    return True


def near_misses_fail(scenario: Scenario, reader: Reads, judge: Judge) -> Iterator[Finding]:
    """Near-misses that would pass their checkpoint's spoken evidence."""
    for checkpoint in scenario.gold.checkpoints:
        for number, reply in enumerate(checkpoint.near_misses):
            where = f"checkpoints.{checkpoint.id}.near_misses[{number}]"
            if not spoken(checkpoint.evidence):
                yield Finding(where, reply, "the checkpoint's evidence asks for no words")
            elif carried(checkpoint.evidence, words_of(scenario, reply, reader, judge), scenario):
                yield Finding(where, reply, "passes, and must not")


def references_pass(scenario: Scenario, reader: Reads, judge: Judge) -> Iterator[Finding]:
    """Reference replies that lack their checkpoint's spoken evidence, or say something wrong."""
    for checkpoint in scenario.gold.checkpoints:
        reply = checkpoint.reference.reply
        if not reply:
            continue
        where = f"checkpoints.{checkpoint.id}.reference"
        words = words_of(scenario, reply, reader, judge)
        if spoken(checkpoint.evidence) and not carried(checkpoint.evidence, words, scenario):
            yield Finding(where, reply, "does not pass")
        yield from _trips(scenario, where, reply, words)
    closing = scenario.gold.closing.text
    words = words_of(scenario, closing, reader, judge)
    yield from _trips(scenario, "closing", closing, words)


def must_pass_trips_nothing(scenario: Scenario, reader: Reads, judge: Judge) -> Iterator[Finding]:
    """Honest replies that are read as wrong or touch a minefield."""
    for number, reply in enumerate(scenario.gold.must_pass):
        words = words_of(scenario, reply, reader, judge)
        yield from _trips(scenario, f"must_pass[{number}]", reply, words)


def findings(scenario: Scenario, reader: Reads, judge: Judge) -> tuple[Finding, ...]:
    """Everything wrong with the scenario's example replies."""
    return (
        *near_misses_fail(scenario, reader, judge),
        *references_pass(scenario, reader, judge),
        *must_pass_trips_nothing(scenario, reader, judge),
    )


def _trips(scenario: Scenario, where: str, reply: str, words: Words) -> Iterator[Finding]:
    for slot, value in words.wrong:
        yield Finding(where, reply, f"is read as telling {slot} = {value!r}, which is wrong")
    known = {(consent.operation, consent.id) for consent in scenario.private.consents}
    for operation, id, _ in words.proposed:
        if (operation, id) not in known:
            yield Finding(where, reply, f"proposes {operation} of {id}, which nobody agrees to")
    mines = touched_by_words(scenario.gold, words.wrong, ())
    for mine in (*mines, *touched_by_text(scenario.gold, reply, Evidence(), scenario.cloud)):
        yield Finding(where, reply, f"touches the minefield {mine.policy} ({mine.key})")
