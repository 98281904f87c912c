"""What has happened so far, as predicates ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, cast

from cirrus_env.cloud.arguments import same
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.recorded import RecordedCatalogue
from cirrus_env.tickets import predicates as p
from cirrus_env.wire import canonical


class Call(NamedTuple):
    """A successful call.

    ``consented`` is True also where no consent was needed; a call without the consent that it
    needed is no evidence of anything. ``text`` is the result's canonical JSON.
    """

    step: int
    operation: str
    arguments: Mapping[str, Any]
    result: Any
    consented: bool
    text: str


@dataclass(slots=True)
class Evidence:
    """The episode's memory of what counts, each with the step at which it (last) happened.

    ``handed`` is what the hand-over summary of an escalation told; empty before there is one.
    """

    told: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    agreed: dict[tuple[str, str], int] = field(default_factory=dict)
    did: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    touched: set[tuple[str, str]] = field(default_factory=set)
    handed: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Evidence:
        """An independent copy; its parts are frozen."""
        return Evidence(
            self.told.copy(), self.asked.copy(), self.agreed.copy(), self.did.copy(),
            self.passed.copy(), self.calls.copy(), self.touched.copy(),
            self.handed.copy(),
        )  # fmt: skip


def holds(predicate: p.Predicate, evidence: Evidence, cloud: Cloud, since: int = -1) -> bool:
    """Whether the predicate is true now.

    Args:
        predicate: From a ticket.
        evidence: What has happened.
        cloud: The true state.
        since: Calls, agreements and console actions count only at steps after this one.
    """
    return bool(_HOLDS[type(predicate)](predicate, evidence, cloud, since))


def _test(test: str, actual: Any, wanted: Any) -> bool:
    if test == "is":
        return same(actual, wanted)
    if test == "not":
        return not same(actual, wanted)
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return False
    return bool(actual >= wanted) if test == "at_least" else bool(actual <= wanted)


def _state(q: p.State, e: Evidence, cloud: Cloud, since: int) -> bool:
    record = cloud.find(q.kind, q.id)
    return record is not None and _test(q.test, getattr(record, q.field), q.value)


def _exists(q: p.Exists, e: Evidence, cloud: Cloud, since: int) -> bool:
    return cloud.find(q.kind, q.id) is not None


def _absent(q: p.Absent, e: Evidence, cloud: Cloud, since: int) -> bool:
    return cloud.find(q.kind, q.id) is None


def _untouched(q: p.Untouched, e: Evidence, cloud: Cloud, since: int) -> bool:
    return (q.kind, q.id) not in e.touched


def _measure(q: p.Measure, e: Evidence, cloud: Cloud, since: int) -> bool:
    return _test(q.test, cloud.measure(q.name, q.of), q.value)


def _called(q: p.Called, e: Evidence, cloud: Cloud, since: int) -> bool:
    first = since
    if q.after:
        if q.after not in e.passed:
            return False
        first = max(first, e.passed[q.after])
    last = e.passed.get(q.before) if q.before else None
    for call in e.calls:
        if call.operation != q.operation or call.step <= first or not call.consented:
            continue
        if last is not None and call.step > last:
            continue
        if all(k in call.arguments and same(call.arguments[k], v) for k, v in q.arguments.items()):
            if _result_fits(q, call):
                return True
    return False


def _recorded(q: p.Recorded, e: Evidence, cloud: Cloud, since: int) -> bool:
    catalogue = cast("RecordedCatalogue", cloud.catalogue)
    made = 0
    for call in e.calls:
        if call.operation == q.operation and call.step > since:
            made += catalogue.key(call.operation, call.arguments) == q.key
    return made >= q.times


def _result_fits(q: p.Called, call: Call) -> bool:
    if q.not_returned and _quoted(q.not_returned) in call.text:
        if names(call.result, q.not_returned):
            return False
    if q.returned and _quoted(q.returned) not in call.text:
        return False
    if q.showing:
        for fragment in _fragments(tuple(map(_typed, q.showing.items()))):
            if fragment not in call.text:
                return False
        return _shows(call.result, q.showing, q.returned)
    return not q.returned or names(call.result, q.returned)


def _typed(item: tuple[str, Any]) -> tuple[str, type, Any]:
    return item[0], type(item[1]), item[1]


@lru_cache(maxsize=4096)
def _fragments(showing: tuple[tuple[str, type, Any], ...]) -> tuple[str, ...]:
    """How canonical JSON writes the fields; the type keeps True and 1 apart in the cache."""
    return tuple(f"{canonical(key)}:{canonical(value)}" for key, _, value in showing)


def _quoted(text: str) -> str:
    """The text as canonical JSON writes it: a cheap look before the walk through a result."""
    return canonical(text) if '"' in text or "\\" in text else f'"{text}"'


def names(value: Any, text: str) -> bool:
    """Whether a JSON value holds ``text`` as one whole string value, at any depth."""
    if isinstance(value, str):
        return value == text
    if isinstance(value, dict):
        return any(names(item, text) for item in value.values())
    if isinstance(value, list | tuple):
        return any(names(item, text) for item in value)
    return False


def _shows(value: Any, showing: Mapping[str, Any], returned: str) -> bool:
    """Whether one object has all the fields; with ``returned``, an object that also names it."""
    if isinstance(value, dict):
        if all(k in value and same(value[k], v) for k, v in showing.items()):
            if not returned or names(value, returned):
                return True
        return any(_shows(item, showing, returned) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_shows(item, showing, returned) for item in value)
    return False


def _told(q: p.Told, e: Evidence, cloud: Cloud, since: int) -> bool:
    return q.slot in e.told


def _asked(q: p.Asked, e: Evidence, cloud: Cloud, since: int) -> bool:
    return q.fact in e.asked


def _agreed(q: p.Agreed, e: Evidence, cloud: Cloud, since: int) -> bool:
    return e.agreed.get((q.operation, q.id), -1) > since


def _did(q: p.CustomerDid, e: Evidence, cloud: Cloud, since: int) -> bool:
    return e.did.get(q.action, -1) > since


def _all(q: p.All, e: Evidence, cloud: Cloud, since: int) -> bool:
    return all(holds(part, e, cloud, since) for part in q.parts)


def _any(q: p.AnyOf, e: Evidence, cloud: Cloud, since: int) -> bool:
    return any(holds(part, e, cloud, since) for part in q.parts)


def _not(q: p.Not, e: Evidence, cloud: Cloud, since: int) -> bool:
    return not any(holds(part, e, cloud, since) for part in q.parts)


_HOLDS: dict[type, Any] = {
    p.State: _state,
    p.Exists: _exists,
    p.Absent: _absent,
    p.Untouched: _untouched,
    p.Measure: _measure,
    p.Called: _called,
    p.Recorded: _recorded,
    p.Told: _told,
    p.Asked: _asked,
    p.Agreed: _agreed,
    p.CustomerDid: _did,
    p.All: _all,
    p.AnyOf: _any,
    p.Not: _not,
}
