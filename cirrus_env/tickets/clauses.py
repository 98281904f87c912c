"""Predicates as a ticket writes them, read into the closed table of ``predicates``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.fields import check_value, field_types
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Fixed, Part, assemble, combine_tuple

TESTS: Final = ("is", "not", "at_least", "at_most")

HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "state": ("id", "field", *TESTS),
    "measure": ("of", *TESTS),
    "exists": ("id",),
    "absent": ("id",),
    "untouched": ("id",),
    "called": ("with", "returned", "not_returned", "showing", "after", "before"),
    "recorded": ("times",),
    "told": (),
    "asked": (),
    "agreed": ("id",),
    "customer_did": (),
    "all": (),
    "any": (),
    "not": (),
    "predicate": (),
}
"""What a predicate starts with -> the other keys that it may have."""

MAX_NESTING: Final = 12


@dataclass(slots=True)
class Names:
    """What the predicates of one variant may name."""

    slots: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    console: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    predicates: Mapping[str, Any] = field(default_factory=dict)


def read(scope: Scope, names: Names, path: str, node: Any, depth: int = 0) -> Part:
    """The part that gives the predicate of a table.

    Raises:
        TicketError: For an unknown head, key or name, or an empty ``all``, ``any`` or ``not``.
    """
    if not isinstance(node, dict):
        scope.fail(path, "a predicate is a table", 'write { told = "cause" } or the like')
    if depth > MAX_NESTING:
        scope.fail(path, "predicates are nested too deep", "or a named one names itself")
    head = _head(scope, path, node)
    part: Part = _READERS[head](scope, names, path, node, depth)
    return part


def _head(scope: Scope, path: str, node: Mapping[str, Any]) -> str:
    heads = [key for key in HEADS if key in node]
    if not heads:
        first = next(iter(node), "")
        scope.known(path, first, "predicate", HEADS)
    head = heads[0]
    allowed = (head, "only", *HEADS[head])
    for key in node:
        scope.known(path, key, f"key of a {head} predicate", allowed)
    return head


def _string(scope: Scope, path: str, node: Mapping[str, Any], key: str) -> str:
    value = node.get(key)
    if not isinstance(value, str) or not value:
        scope.fail(f"{path}.{key}", "a text is missing", f'add {key} = "..."')
    return value


def _test(scope: Scope, path: str, node: Mapping[str, Any]) -> str:
    tests = [test for test in TESTS if test in node]
    if len(tests) != 1:
        scope.fail(path, f"exactly one of {', '.join(TESTS)}", "add or remove a test")
    return tests[0]


def _state(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    kind, id = _record(scope, path, node, "state")
    name = _string(scope, path, node, "field")
    types = field_types(scope.catalogue.kinds[kind])
    scope.known(f"{path}.field", name, f"field of {kind}", types)
    test = _test(scope, path, node)
    value = check_value(scope, f"{path}.{test}", types[name], node[test])
    given: dict[str, Part] = {
        "kind": Fixed(kind),
        "id": id,
        "field": Fixed(name),
        "test": Fixed(test),
    }
    return assemble(p.State, {**given, "value": value})


def _record(scope: Scope, path: str, node: Any, head: str) -> tuple[str, Part]:
    kind = _string(scope, path, node, head)
    scope.known(f"{path}.{head}", kind, "kind", scope.catalogue.kinds)
    return kind, scope.machine(f"{path}.id", _string(scope, path, node, "id"))


def _exists(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    kind, id = _record(scope, path, node, "exists")
    return assemble(p.Exists, {"kind": Fixed(kind), "id": id})


def _absent(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    kind, id = _record(scope, path, node, "absent")
    return assemble(p.Absent, {"kind": Fixed(kind), "id": id})


def _untouched(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    kind, id = _record(scope, path, node, "untouched")
    return assemble(p.Untouched, {"kind": Fixed(kind), "id": id})


def _measure(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    name = _string(scope, path, node, "measure")
    scope.known(f"{path}.measure", name, "measure", scope.catalogue.measures)
    of = scope.machine(f"{path}.of", _string(scope, path, node, "of"))
    test = _test(scope, path, node)
    value = check_value(scope, f"{path}.{test}", int, node[test])
    given: dict[str, Part] = {"name": Fixed(name), "of": of, "test": Fixed(test), "value": value}
    return assemble(p.Measure, given)


def _called(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    operation = _string(scope, path, node, "called")
    operation_name(scope, f"{path}.called", operation)
    tables = []
    for key in ("with", "showing"):
        table = node.get(key, {})
        if not isinstance(table, dict):
            scope.fail(f"{path}.{key}", "a table is needed", f'write {key} = {{ Name = "..." }}')
        tables.append(scope.table(f"{path}.{key}", table))
    argument_names(scope, f"{path}.with", operation, node.get("with", {}))
    texts: list[Part] = [Fixed(""), Fixed("")]
    for i, key in enumerate(("returned", "not_returned")):
        if key in node:
            texts[i] = scope.machine(f"{path}.{key}", _string(scope, path, node, key))
    after, before = (_checkpoint(scope, names, path, node, key) for key in ("after", "before"))
    given: dict[str, Part] = {
        "operation": Fixed(operation), "arguments": tables[0], "returned": texts[0],
        "not_returned": texts[1], "showing": tables[1],
        "after": Fixed(after), "before": Fixed(before),
    }  # fmt: skip
    return assemble(p.Called, given)


def _recorded(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    keys = getattr(scope.catalogue, "keys", ())
    number, times = node["recorded"], node.get("times", 1)
    where = f"{path}.recorded"
    if not _is_whole(number) or not 0 <= number < len(keys) or not keys[number]:
        scope.fail(where, f"no recorded call {number!r}", "count the calls of [imported] from 0")
    if not _is_whole(times) or times < 1:
        scope.fail(f"{path}.times", f"{times!r} is no number of calls", "write 1 or more")
    return Fixed(p.Recorded(keys[number].partition(" ")[0], keys[number], times))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _checkpoint(scope: Scope, names: Names, path: str, node: Any, key: str) -> str:
    if key not in node:
        return ""
    return scope.known(
        f"{path}.{key}", _string(scope, path, node, key), "checkpoint", names.checkpoints
    )


def operation_name(scope: Scope, path: str, name: str, actor: str = "") -> str:
    """The operation's name, checked."""
    operations = scope.catalogue.operations
    names = [o.name for o in operations.values() if not actor or o.actor == actor]
    return scope.known(path, name, "operation of the services in scope", names)


def argument_names(scope: Scope, path: str, operation: str, table: Mapping[str, Any]) -> None:
    """Check that the operation has arguments of these names."""
    known = scope.catalogue.operations[operation].parameters.get("properties", {})
    for name in table:
        scope.known(path, name, f"argument of {operation}", known)


def _told(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    slot = _string(scope, path, node, "told")
    return Fixed(p.Told(scope.known(f"{path}.told", slot, "slot", names.slots)))


def _asked(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    fact = _string(scope, path, node, "asked")
    return Fixed(p.Asked(scope.known(f"{path}.asked", fact, "fact", names.facts)))


def _agreed(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    operation = operation_name(scope, f"{path}.agreed", _string(scope, path, node, "agreed"))
    id = scope.machine(f"{path}.id", _string(scope, path, node, "id"))
    return assemble(p.Agreed, {"operation": Fixed(operation), "id": id})


def _did(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    action = _string(scope, path, node, "customer_did")
    known = scope.known(f"{path}.customer_did", action, "console action", names.console)
    return Fixed(p.CustomerDid(known))


def _group(head: str, make: type) -> Any:
    def read_group(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
        where = f"{path}.{head}"
        items = node[head]
        if not isinstance(items, list) or not items:
            scope.fail(where, f"an empty {head} says nothing", "list at least one predicate")
        parts = []
        for i, item in enumerate(items):
            place = f"{where}[{i}]"
            if not isinstance(item, dict):
                scope.fail(place, "a predicate is a table", 'write { told = "cause" }')
            if applies(scope, place, item):
                parts.append(read(scope, names, place, item, depth + 1))
        if not parts:
            scope.fail(where, f"nothing of it is left in variant {scope.variant!r}", "check only")
        return assemble(make, {"parts": combine_tuple(parts)})

    return read_group


def applies(scope: Scope, path: str, node: Mapping[str, Any]) -> bool:
    """Whether a predicate's ``only`` lets it into this variant."""
    only = node.get("only")
    if only is not None and not (
        isinstance(only, list) and only and all(isinstance(name, str) for name in only)
    ):
        scope.fail(f"{path}.only", "a list of variants is needed", 'write only = ["..."]')
    return scope.applies(path, node)


def _named(scope: Scope, names: Names, path: str, node: Any, depth: int) -> Part:
    name = _string(scope, path, node, "predicate")
    scope.known(f"{path}.predicate", name, "named predicate", names.predicates)
    return read(scope, names, f"predicates.{name}", names.predicates[name], depth + 1)


_READERS: Final[dict[str, Any]] = {
    "state": _state,
    "measure": _measure,
    "exists": _exists,
    "absent": _absent,
    "untouched": _untouched,
    "called": _called,
    "recorded": _recorded,
    "told": _told,
    "asked": _asked,
    "agreed": _agreed,
    "customer_did": _did,
    "all": _group("all", p.All),
    "any": _group("any", p.AnyOf),
    "not": _group("not", p.Not),
    "predicate": _named,
}


def children(predicate: p.Predicate) -> tuple[p.Predicate, ...]:
    """The parts of a group, or nothing."""
    return predicate.parts if isinstance(predicate, p.All | p.AnyOf | p.Not) else ()


def leaves(predicate: p.Predicate) -> list[p.Predicate]:
    """Every predicate in depth that is no group, in order."""
    parts = children(predicate)
    return [leaf for part in parts for leaf in leaves(part)] if parts else [predicate]
