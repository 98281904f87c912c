"""Predicates in words, and why each part of one holds or doesn't."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from cirrus_env.cloud.arguments import same
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.nlu.evidence import Call, Evidence, holds
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Record, canonical


class Reason(NamedTuple):
    """One part of a predicate.

    Attributes:
        text: What it asks for.
        holds: Whether that is so.
        note: Where it came from, or what is there instead; empty where the text says all.
    """

    text: str
    holds: bool
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The reason as JSON."""
        return self._asdict()


class Past(NamedTuple):
    """What reasons are looked for in: the episode up to some step.

    Attributes:
        scenario: The facts.
        evidence: What has happened.
        cloud: The state.
        records: The steps.
        since: Calls, agreements and console actions count only after this step.
    """

    scenario: Scenario
    evidence: Evidence
    cloud: Cloud
    records: Sequence[Record]
    since: int = -1

    def holds(self, predicate: p.Predicate) -> bool:
        """Whether it is so."""
        return holds(predicate, self.evidence, self.cloud, self.since)


def reasons(predicate: p.Predicate, past: Past) -> list[Reason]:
    """The parts that decide: every one of ``all``; of ``any`` those that hold, or all of them."""
    if isinstance(predicate, p.All):
        return [reason for part in predicate.parts for reason in reasons(part, past)]
    if isinstance(predicate, p.AnyOf):
        good = [part for part in predicate.parts if past.holds(part)]
        if good:
            return reasons(good[0], past)
        parts = [reason for part in predicate.parts for reason in reasons(part, past)]
        return [Reason(words(predicate, past.scenario), False, _joined(parts))]
    if isinstance(predicate, p.Not):
        bad = [words(part, past.scenario) for part in predicate.parts if past.holds(part)]
        note = f"but {', '.join(bad)}" if bad else ""
        return [Reason(words(predicate, past.scenario), not bad, note)]
    good_ = past.holds(predicate)
    note = _NOTES[type(predicate)](predicate, past, good_)
    return [Reason(words(predicate, past.scenario), good_, note)]


def _joined(parts: Sequence[Reason]) -> str:
    notes = {part.note for part in parts}
    if len(notes) == 1:
        return notes.pop()
    return "; ".join(f"{part.text}: {part.note or 'no'}" for part in parts)


def words(predicate: p.Predicate, scenario: Scenario) -> str:
    """The predicate as a phrase."""
    match predicate:
        case p.State(kind, id, field, test, value):
            return f"{field} of {kind} {id} {_TESTS[test]} {_short(value)}"
        case p.Exists(kind, id):
            return f"{kind} {id} exists"
        case p.Absent(kind, id):
            return f"{kind} {id} is gone"
        case p.Untouched(kind, id):
            return f"{kind} {id} is as it was"
        case p.Measure(name, of, test, value):
            return f"{name} of {of} {_TESTS[test]} {value}"
        case p.Called():
            return _call_words(predicate)
        case p.Recorded(operation, key, times):
            return f"the recorded call of {operation} {_short(key)} made again, {times} in all"
        case p.Told(slot):
            value = scenario.gold.slots[slot].value if slot in scenario.gold.slots else ""
            return f"told {slot} = {value}" if value else f"told {slot}"
        case p.Asked(fact):
            return f"asked for {fact} and answered"
        case p.Agreed(operation, id):
            return f"the customer agreed to {operation} of {id}"
        case p.CustomerDid(action):
            return f"the customer did {action}"
        case p.All(parts):
            return f"({' and '.join(words(part, scenario) for part in parts)})"
        case p.AnyOf(parts):
            return f"({' or '.join(words(part, scenario) for part in parts)})"
        case p.Not(parts):
            return f"not ({' nor '.join(words(part, scenario) for part in parts)})"


_TESTS: Final = {"is": "is", "not": "is not", "at_least": ">=", "at_most": "<="}


def _call_words(q: p.Called) -> str:
    parts = [f"called {q.operation}"]
    if q.arguments:
        parts.append(f"with {_short(dict(q.arguments))}")
    if q.returned:
        parts.append(f"returning {q.returned}")
    if q.not_returned:
        parts.append(f"not returning {q.not_returned}")
    if q.showing:
        parts.append(f"showing {_short(dict(q.showing))}")
    if q.after:
        parts.append(f"after {q.after} passed")
    if q.before:
        parts.append(f"before {q.before} passed")
    return " ".join(parts)


def _short(value: Any, most: int = 200) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= most else f"{text[:most]}..."


# -- notes: where it came from, or what is there instead -------------------------------------


def _state_note(q: p.State, past: Past, good: bool) -> str:
    record = past.cloud.find(q.kind, q.id)
    if record is None:
        return "there is no such record"
    return "" if good and q.test == "is" else f"it is {_short(getattr(record, q.field))}"


def _measure_note(q: p.Measure, past: Past, good: bool) -> str:
    return "" if good and q.test == "is" else f"it is {past.cloud.measure(q.name, q.of)}"


def _nothing(q: p.Predicate, past: Past, good: bool) -> str:
    return ""


def _told_note(q: p.Told, past: Past, good: bool) -> str:
    if good:
        return f"at {past.evidence.told[q.slot]}"
    wrong = [
        f"{event.value} at {record.i}"
        for record in past.records
        for event in record.events
        if event.kind == "wrong" and event.name == q.slot
    ]
    if wrong:
        return f"told wrongly: {', '.join(dict.fromkeys(wrong))}"
    handed = [
        r.i for r in past.records for e in r.events if (e.kind, e.name) == ("verdict", q.slot)
    ]
    return f"told at {handed[-1]}, but not in the hand-over" if handed else "never told"


def _asked_note(q: p.Asked, past: Past, good: bool) -> str:
    if good:
        return f"at {past.evidence.asked[q.fact]}"
    asked = _steps(past.records, lambda act: (act.kind, act.name) == ("asked", q.fact))
    return f"asked at {asked}, not answered" if asked else "never asked"


def _agreed_note(q: p.Agreed, past: Past, good: bool) -> str:
    agreed = past.evidence.agreed.get((q.operation, q.id))
    if agreed is not None:
        return f"at {agreed}" if good else _too_early(agreed, past)
    proposed = _steps(
        past.records, lambda act: (act.kind, act.name, act.value) == ("proposed", q.operation, q.id)
    )
    return f"proposed at {proposed}, not agreed to" if proposed else "never proposed"


def _did_note(q: p.CustomerDid, past: Past, good: bool) -> str:
    did = past.evidence.did.get(q.action)
    if did is not None:
        return f"at {did}" if good else _too_early(did, past)
    tried = [
        record.i
        for record in past.records
        for event in record.events
        if (event.kind, event.name) == ("console", q.action)
    ]
    if tried:
        return f"tried at {tried[-1]}, without success"
    told = _steps(past.records, lambda act: (act.kind, act.name) == ("instructed", q.action))
    return f"told to at {told}, not done" if told else "never told to"


def _called_note(q: p.Called, past: Past, good: bool) -> str:
    calls = [call for call in past.evidence.calls if call.operation == q.operation]
    if good:
        return _where(q, past, calls)
    if not calls:
        failed = [
            f"{event.value['code'] or 'failed'} at {record.i}"
            for record in past.records
            for event in record.events
            if (event.kind, event.name) == ("called", q.operation) and not event.value["ok"]
        ]
        return f"only refused calls: {', '.join(failed[-3:])}" if failed else "never called"
    return "; ".join(f"the call at {call.step} {_unfit(q, call, past)}" for call in calls[-3:])


def _where(q: p.Called, past: Past, calls: Sequence[Call]) -> str:
    for call in calls:
        alone = past.evidence.copy()
        alone.calls = [call]
        if holds(q, alone, past.cloud, past.since):
            return f"at {call.step}"
    return ""


def _unfit(q: p.Called, call: Call, past: Past) -> str:
    """Why one call is no evidence, in the order in which evidence is looked at."""
    passed = past.evidence.passed
    if call.step <= past.since:
        return _too_early(call.step, past).removeprefix(f"at {call.step}, ")
    if q.after and passed.get(q.after, call.step) >= call.step:
        return f"came before {q.after} had passed"
    if q.before and call.step > passed.get(q.before, call.step):
        return f"came after {q.before} had passed"
    if not call.consented:
        return "had no consent"
    for name, wanted in q.arguments.items():
        if name not in call.arguments:
            return f"had no {name}"
        if not same(call.arguments[name], wanted):
            return f"had {name} = {_short(call.arguments[name])}"
    if q.not_returned and f'"{q.not_returned}"' in call.text:
        return f"returned {q.not_returned}"
    if q.returned and f'"{q.returned}"' not in call.text:
        return f"did not return {q.returned}"
    return "did not show that"


def _recorded_note(q: p.Recorded, past: Past, good: bool) -> str:
    steps = [call.step for call in past.evidence.calls if call.operation == q.operation]
    if not steps:
        return "never called"
    return f"{q.operation} was called at {', '.join(map(str, steps[-5:]))}"


def _too_early(step: int, past: Past) -> str:
    return f"at {step}, too early: it counts after step {past.since}"


def _steps(records: Sequence[Record], fits: Callable[[Any], bool]) -> str:
    steps = [str(record.i) for record in records if any(fits(act) for act in record.acts)]
    return ", ".join(steps[-5:])


_NOTES: Final[Mapping[type, Callable[[Any, Past, bool], str]]] = {
    p.State: _state_note,
    p.Exists: _nothing,
    p.Absent: _nothing,
    p.Untouched: _nothing,
    p.Measure: _measure_note,
    p.Called: _called_note,
    p.Recorded: _recorded_note,
    p.Told: _told_note,
    p.Asked: _asked_note,
    p.Agreed: _agreed_note,
    p.CustomerDid: _did_note,
}
