"""Which facts the simulated customer tells."""

from __future__ import annotations

from typing import Final, NamedTuple

from cirrus_env.customers.mind import Mind, Reply
from cirrus_env.customers.protocol import View
from cirrus_env.tickets.model import Fact, Private

MOST: Final = 2
"""How many asked facts one reply answers."""


class Telling(NamedTuple):
    """What to tell.

    Attributes:
        answered: Asked facts, answered now.
        admitted: Facts that slip out: beliefs whose subject came up, confronted ones.
        left: How many answerable questions were left for later.
        dodged: Whether it was asked for something that it keeps to itself.
    """

    answered: tuple[Fact, ...]
    admitted: tuple[Fact, ...]
    left: int
    dodged: bool


SILENCE: Final = Telling((), (), 0, False)
"""Nothing to tell."""


def volunteered(private: Private) -> tuple[Fact, ...]:
    """The facts that come with the opening."""
    return tuple(fact for fact in private.facts.values() if fact.when == "volunteered")


def choose(mind: Mind, view: View, reply: Reply) -> Telling:
    """What to tell after this reply, in the customer's own order of facts."""
    answered: list[Fact] = []
    admitted: list[Fact] = []
    left = 0
    dodged = False
    lowered = ""
    for name, fact in view.scenario.private.facts.items():
        asked = name in reply.asked
        if not asked and fact.when == "asked" and not fact.false:
            continue
        known = name in mind.said
        if known and not asked:
            continue
        if not known and _withheld(fact, mind, view, reply):
            dodged = dodged or asked
        elif asked and len(answered) < MOST:
            answered.append(fact)
        elif asked:
            left += 1
        elif fact.when == "confronted":
            admitted.append(fact)
        elif fact.false:
            lowered = lowered or view.text.lower()
            if _mentioned(fact, lowered):
                admitted.append(fact)
    if not (answered or admitted or dodged):
        return SILENCE
    return Telling(tuple(answered), tuple(admitted[: MOST - len(answered)]), left, dodged)


def _withheld(fact: Fact, mind: Mind, view: View, reply: Reply) -> bool:
    """Whether the customer keeps the fact to itself for now, even if asked.

    It admits a ``confronted`` fact once the assistant shows that it knows: by a slot that it told,
    by another fact that came up, or by an operation that it called and now speaks about.
    """
    if fact.when == "never":
        return True
    if fact.when != "confronted":
        return False
    for cause in fact.confronted_by:
        if cause in view.told or cause in mind.said or cause in reply.asked:
            return False
    speaks = fact.name in reply.asked or len(view.told) > mind.heard
    return not (speaks and any(call.operation in fact.confronted_by for call in view.calls))


def _mentioned(fact: Fact, lowered: str) -> bool:
    groups = fact.asked_by
    return bool(groups) and all(any(phrase in lowered for phrase in group) for group in groups)
