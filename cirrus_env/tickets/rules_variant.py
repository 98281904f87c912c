"""Lint rules about one variant in one language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.clauses import leaves
from cirrus_env.tickets.model import Checkpoint, Gold, Scenario, Slot

Found = Iterator[tuple[str, str]]
Rule = Callable[[Scenario], Found]

SPOKEN: Final = ("explanation", "refusal", "escalation", "consent")
"""Kinds of checkpoint that words decide: they need near-misses."""

NEAR_MISSES: Final = 3


def listed_order(scenario: Scenario) -> Found:
    """The listed order is a topological order of ``after``, so ``after`` has no circle."""
    seen: set[str] = set()
    for checkpoint in scenario.gold.checkpoints:
        for other in checkpoint.after:
            if other not in seen:
                yield (
                    f"checkpoints.{checkpoint.id}.after",
                    f"{other!r} isn't listed before it; move it up, or break the circle",
                )
        seen.add(checkpoint.id)


def has_checkpoints(scenario: Scenario) -> Found:
    """Each variant has checkpoints, and one that can't be skipped."""
    checkpoints = scenario.gold.checkpoints
    if not checkpoints:
        yield "checkpoints", "this variant has none"
    elif all(c.skippable for c in checkpoints):
        yield "checkpoints", "all of them can be skipped: nothing proves the work"


def skippable_inquiry(scenario: Scenario) -> Found:
    """Only an inquiry may be skippable, and never a leaf (METRICS, section 1)."""
    parents = {other for c in scenario.gold.checkpoints for other in c.after}
    for checkpoint in scenario.gold.checkpoints:
        if not checkpoint.skippable:
            continue
        path = f"checkpoints.{checkpoint.id}.skippable"
        if checkpoint.kind != "inquiry":
            yield path, f"a {checkpoint.kind} can't be skippable, only an inquiry"
        if checkpoint.id not in parents:
            yield path, "nothing comes after it, so nothing shows that it was skipped"


def evidence_is_positive(scenario: Scenario) -> Found:
    """``not`` alone is no evidence: doing nothing would pass it."""
    gold = scenario.gold
    for checkpoint in gold.checkpoints:
        yield from _positive(f"checkpoints.{checkpoint.id}.evidence", checkpoint.evidence)
    yield from _positive("customer.satisfied", scenario.private.satisfied)


def _positive(path: str, predicate: p.Predicate) -> Found:
    if isinstance(predicate, p.Not):
        yield path, "'not' may not stand alone; join it with something that must hold"
    elif isinstance(predicate, p.AnyOf):
        for part in predicate.parts:
            yield from _positive(path, part)
    elif isinstance(predicate, p.All):
        if all(isinstance(part, p.Not) for part in predicate.parts):
            yield path, "only 'not' in it; join it with something that must hold"
        for part in predicate.parts:
            if not isinstance(part, p.Not):
                yield from _positive(path, part)


def evidence_fits_kind(scenario: Scenario) -> Found:
    """Each kind of checkpoint rests on the event that its kind means."""
    fitting: Mapping[str, tuple[type, ...]] = {
        "inquiry": (p.Asked,),
        "identity": (p.Called, p.Recorded, p.Asked),
        "diagnosis": (p.Called, p.Recorded, p.CustomerDid, p.Asked),
        "explanation": (p.Told,),
        "consent": (p.Agreed, p.CustomerDid),
        "action": (p.Called, p.Recorded, p.CustomerDid),
        "verification": (p.Called, p.Recorded, p.CustomerDid),
        "escalation": (p.Told,),
        "refusal": (p.Told,),
    }
    for checkpoint in scenario.gold.checkpoints:
        wanted = fitting[checkpoint.kind]
        found = leaves(checkpoint.evidence)
        if not any(isinstance(leaf, wanted) for leaf in found):
            names = " or ".join(kind.__name__.lower() for kind in wanted)
            path = f"checkpoints.{checkpoint.id}.evidence"
            yield path, f"a {checkpoint.kind} needs {names} in its evidence"


def near_misses(scenario: Scenario) -> Found:
    """What words decide has replies that nearly do it and must fail."""
    for checkpoint in scenario.gold.checkpoints:
        if checkpoint.kind in SPOKEN and len(checkpoint.near_misses) < NEAR_MISSES:
            yield (
                f"checkpoints.{checkpoint.id}.near_misses",
                f"{len(checkpoint.near_misses)} near-misses; write {NEAR_MISSES} or more",
            )


def honest_replies(scenario: Scenario) -> Found:
    """Honest replies that must trip nothing stand beside the near-misses."""
    if not scenario.gold.must_pass:
        yield "must_pass", "no honest reply is listed; write some that name what else is true"


def references(scenario: Scenario) -> Found:
    """The oracle can pass each checkpoint: it has a call or a reply, or another's serves it."""
    served: set[str] = set()
    for checkpoint in scenario.gold.checkpoints:
        reference = checkpoint.reference
        path = f"checkpoints.{checkpoint.id}.reference"
        if not reference.calls and not reference.reply:
            if not _served(checkpoint, served):
                yield path, "neither calls nor a reply; the oracle can't pass it"
        served.update(name for name, _ in reference.calls)
        if reference.reply:
            served.add("")


def _served(checkpoint: Checkpoint, served: set[str]) -> bool:
    found = leaves(checkpoint.evidence)
    calls = {leaf.operation for leaf in found if isinstance(leaf, p.Called | p.Recorded)}
    spoken = any(isinstance(leaf, p.Told | p.Asked) for leaf in found)
    return bool(calls & served) or (spoken and "" in served)


def closing_fits(scenario: Scenario) -> Found:
    """The reference ends as the variant should."""
    gold = scenario.gold
    wanted = "escalate" if gold.ending == "escalate" else "close"
    if gold.closing.kind != wanted:
        yield "closings", f"the ending is {gold.ending}, so the closing's kind is {wanted}"
    if gold.ending == "escalate" and gold.closing.queue != gold.queue:
        yield "closings", f"it goes to {gold.closing.queue!r}, the ticket says {gold.queue!r}"
    if not gold.closing.text:
        yield "closings", "no words"


def slots_are_told(scenario: Scenario) -> Found:
    """Each slot has a right value where it is asked for, and something reads it.

    A bound slot may stand only to keep its numbers from another of its type, an enum without a
    right value here only to be told wrongly.
    """
    gold = scenario.gold
    used = _told_slots(scenario)
    for name, slot in gold.slots.items():
        if name not in used and not _keeps(slot, gold, used):
            yield f"slots.{name}", "nothing reads it in this variant; limit it with only"
        if name in used and not slot.value:
            yield f"slots.{name}", "it must be told but has no right value in this variant"
        if slot.type in ("enum", "statement"):
            for value, groups in slot.values.items():
                if not groups:
                    yield f"slots.{name}.values.{value}", "no phrases"
        elif not slot.near and not slot.unit and slot.type != "id":
            yield f"slots.{name}.near", "no phrases bind a value to it"


def _keeps(slot: Slot, gold: Gold, used: set[str]) -> bool:
    if slot.type in ("enum", "statement"):
        return not slot.value
    return any(gold.slots[name].type == slot.type for name in used if name in gold.slots)


def _told_slots(scenario: Scenario) -> set[str]:
    gold, found = scenario.gold, set()
    for predicate in _predicates(scenario):
        found |= {leaf.slot for leaf in leaves(predicate) if isinstance(leaf, p.Told)}
    found |= {need for consent in scenario.private.consents for need in consent.needs}
    del gold
    return found


def _predicates(scenario: Scenario) -> Iterator[p.Predicate]:
    gold = scenario.gold
    yield scenario.private.satisfied
    for checkpoint in gold.checkpoints:
        yield checkpoint.evidence
    for mine in gold.minefields:
        if mine.unless is not None:
            yield mine.unless
    for _, predicate in (*gold.must_flip, *gold.must_hold):
        yield predicate


def something_flips(scenario: Scenario) -> Found:
    """A ticket that is resolved by tools changes something that can be measured."""
    gold = scenario.gold
    if gold.ending == "resolve" and scenario.public.services and not gold.must_flip:
        yield "must_flip", "the ending is resolve, but no state must have changed at the end"


def consent_for_the_irreversible(scenario: Scenario) -> Found:
    """The reference makes no irreversible call that the customer would not agree to."""
    operations = scenario.cloud.catalogue.operations
    agreed = {(consent.operation, consent.id) for consent in scenario.private.consents}
    proven = _consents_proven(scenario.gold)
    for checkpoint in scenario.gold.checkpoints:
        for name, arguments in checkpoint.reference.calls:
            operation = operations[name]
            if operation.effect != "irreversible":
                continue
            id = str(arguments.get(operation.resource, ""))
            path = f"checkpoints.{checkpoint.id}.reference"
            if (name, id) not in agreed:
                yield path, f"{name} can't be undone and the customer has no consent for {id}"
            elif (name, id) not in proven:
                yield path, f"no consent checkpoint rests on agreed = {name!r}"


def _consents_proven(gold: Gold) -> set[tuple[str, str]]:
    return {
        (leaf.operation, leaf.id)
        for checkpoint in gold.checkpoints
        for leaf in leaves(checkpoint.evidence)
        if isinstance(leaf, p.Agreed)
    }


def refusal_is_specific(scenario: Scenario) -> Found:
    """To refuse or hand over, something of this very case has to be found and told (R8).

    That is an id, a date, a number or an amount; where there are no tools to find one, the rule (an
    enum) together with the alternative (a statement), after a fact that had to be asked.
    """
    gold = scenario.gold
    if gold.ending not in ("refuse", "escalate"):
        return
    wanted = "refusal" if gold.ending == "refuse" else "escalation"
    asked = any(c.kind == "inquiry" and not c.skippable for c in gold.checkpoints)
    for checkpoint in gold.checkpoints:
        if checkpoint.kind != wanted or checkpoint.skippable:
            continue
        told = [leaf.slot for leaf in leaves(checkpoint.evidence) if isinstance(leaf, p.Told)]
        types = {gold.slots[name].type for name in told}
        if types - {"enum", "statement"}:
            return
        if asked and not scenario.public.services and types == {"enum", "statement"}:
            return
    yield (
        "checkpoints",
        f"no {wanted} that can't be skipped rests on telling an id, date, number or amount",
    )


VARIANT_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "listed-order": listed_order,
        "has-checkpoints": has_checkpoints,
        "skippable-inquiry": skippable_inquiry,
        "evidence-positive": evidence_is_positive,
        "evidence-kind": evidence_fits_kind,
        "near-misses": near_misses,
        "must-pass": honest_replies,
        "references": references,
        "closing": closing_fits,
        "slots": slots_are_told,
        "must-flip": something_flips,
        "consent": consent_for_the_irreversible,
        "specific": refusal_is_specific,
    }
)
"""Rule name -> rule."""
