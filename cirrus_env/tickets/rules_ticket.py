"""Lint rules about a ticket as a whole: its variants and languages side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.clauses import leaves
from cirrus_env.tickets.model import Gold, Scenario
from cirrus_env.tickets.ticket import Ticket

Found = Iterator[tuple[str, str]]
Scenarios = Mapping[tuple[str, str], Scenario]
Rule = Callable[[Ticket, Scenarios], Found]

_ID: Final = re.compile(
    r"\b(?:i|d|s|sp|m|sg|vpc|vsw|eip|ngw|e)-bp1[0-9a-z]{6,}\b|\bQ-[0-9a-f]{6,}\b|\b\d{12,}\b"
)
_SPOKEN: Final = ("en", "zh")


def languages_are_complete(ticket: Ticket, scenarios: Scenarios) -> Found:
    """What is said in one language is said in all of the ticket's, and in no other."""
    yield from _languages(ticket, "", ticket.data)


def _languages(ticket: Ticket, path: str, node: Any) -> Found:
    if isinstance(node, dict):
        present = [language for language in _SPOKEN if language in node]
        if present:
            for language in ticket.languages:
                if language not in present:
                    yield path, f"nothing in {language!r}"
            for language in present:
                if language not in ticket.languages:
                    yield f"{path}.{language}", "the ticket doesn't list this language"
        for key, item in node.items():
            yield from _languages(ticket, f"{path}.{key}" if path else key, item)
    elif isinstance(node, list):
        for i, item in enumerate(node):
            yield from _languages(ticket, f"{path}[{i}]", item)


def ids_are_drawn(ticket: Ticket, scenarios: Scenarios) -> Found:
    """Ids stand in texts as placeholders only; a fixed one would be the same for every seed."""
    yield from _ids("", ticket.data)


def _ids(path: str, node: Any) -> Found:
    if isinstance(node, str):
        for found in _ID.findall(node):
            yield path, f"the id {found!r} is written out; use a parameter"
    elif isinstance(node, dict):
        for key, item in node.items():
            yield from _ids(f"{path}.{key}" if path else key, item)
    elif isinstance(node, list):
        for i, item in enumerate(node):
            yield from _ids(f"{path}[{i}]", item)


def same_opening(ticket: Ticket, scenarios: Scenarios) -> Found:
    """All variants open with the same words: the opening never tells the cause."""
    for language in ticket.languages:
        openings = {scenarios[v, language].private.opening for v in ticket.variants}
        if len(openings) > 1:
            yield f"customer.opening.{language}", "the variants open with different words"
        told = {
            tuple(sorted(f.text for f in s.private.facts.values() if f.when == "volunteered"))
            for (_, spoken), s in scenarios.items()
            if spoken == language
        }
        if len(told) > 1:
            yield "customer.facts", "what is volunteered differs between the variants"


def siblings_contradict(ticket: Ticket, scenarios: Scenarios) -> Found:
    """A refusal or escalation has a sibling with another right answer, and so has every ticket."""
    if len(ticket.variants) < 2:
        yield "variants", "one variant only: the answer can be learnt by heart"
        return
    language = ticket.languages[0]
    golds = {name: scenarios[name, language].gold for name in ticket.variants}
    for name, gold in golds.items():
        others = [other for n, other in golds.items() if n != name]
        if gold.ending in ("refuse", "escalate"):
            if not any(o.ending != gold.ending and _contradict(gold, o) for o in others):
                yield (
                    "variants",
                    f"{name!r} ends in {gold.ending}, but no sibling with another ending has "
                    "another right answer",
                )
        elif not any(_contradict(gold, other) for other in others):
            yield "variants", f"no sibling of {name!r} has another right answer"


def _contradict(one: Gold, other: Gold) -> bool:
    """Whether a told slot that both share has two right values."""
    for name, slot in one.slots.items():
        twin = other.slots.get(name)
        if twin is not None and slot.type == "enum" and slot.value and twin.value:
            if slot.value != twin.value and _tells(one, name) and _tells(other, name):
                return True
    return False


def _tells(gold: Gold, slot: str) -> bool:
    return any(
        isinstance(leaf, p.Told) and leaf.slot == slot
        for checkpoint in gold.checkpoints
        if not checkpoint.skippable
        for leaf in leaves(checkpoint.evidence)
    )


def without_tools(ticket: Ticket, scenarios: Scenarios) -> Found:
    """A ticket that only words decide asks for more (DESIGN, "Tickets")."""
    if ticket.uses or "imported" in ticket.data:
        return
    for (variant, language), scenario in scenarios.items():
        gold, where = scenario.gold, f"[{variant}, {language}]"
        told = {
            leaf.slot
            for checkpoint in gold.checkpoints
            for leaf in leaves(checkpoint.evidence)
            if isinstance(leaf, p.Told)
        }
        if len(told) < 2:
            yield f"slots {where}", "a ticket without tools needs two slots that must be told"
        asked = [c for c in gold.checkpoints if c.kind == "inquiry" and not c.skippable]
        if not asked:
            yield f"checkpoints {where}", "one fact must be asked first: an inquiry not skippable"
        for checkpoint in gold.checkpoints:
            if checkpoint.kind != "inquiry" and len(checkpoint.near_misses) < 3:
                yield (
                    f"checkpoints.{checkpoint.id}.near_misses {where}",
                    "a ticket without tools needs three near-misses a checkpoint",
                )


def values_are_covered(ticket: Ticket, scenarios: Scenarios) -> Found:
    """An enum slot that a variant must tell lists a value for each variant that has it."""
    language = ticket.languages[0]
    for variant in ticket.variants:
        for name, slot in scenarios[variant, language].gold.slots.items():
            if slot.type == "enum" and slot.value and len(slot.values) < 2:
                yield f"slots.{name}", "an enum of one value tells nothing apart"


TICKET_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "languages": languages_are_complete,
        "ids": ids_are_drawn,
        "same-opening": same_opening,
        "contradiction": siblings_contradict,
        "without-tools": without_tools,
        "values": values_are_covered,
    }
)
"""Rule name -> rule."""
