"""The gold of a variant: slots, checkpoints, minefields, assertions, closing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.tickets.clauses import Names, applies, argument_names, operation_name, read
from cirrus_env.tickets.customer import spoken_groups
from cirrus_env.tickets.fields import field_types, fits
from cirrus_env.tickets.model import Checkpoint, Closing, Gold, Minefield, Reference, Slot
from cirrus_env.tickets.public import policies_in_scope
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import (
    Fixed,
    Part,
    assemble,
    combine,
    combine_dict,
    combine_texts,
    combine_tuple,
)
from cirrus_env.world.clock import billing_date

_PHRASED: Final = ("enum", "statement")
_VALUES: Final[Mapping[str, Any]] = MappingProxyType(
    {"money": int, "number": float, "date": int, "id": str}
)
"""Types of a bound slot's value."""


def present_slots(scope: Scope, data: Mapping[str, Any]) -> dict[str, Any]:
    """Slot name -> entry, of this variant."""
    entries = data.get("slots", {})
    return {n: e for n, e in entries.items() if scope.applies(f"slots.{n}", e)}


def present_checkpoints(scope: Scope, data: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Checkpoint id -> (path, entry), of this variant, in listed order."""
    found: dict[str, tuple[str, Any]] = {}
    for i, entry in enumerate(data.get("checkpoints", ())):
        path = f"checkpoints[{i}]"
        if not scope.applies(path, entry):
            continue
        if entry["id"] in found:
            scope.fail(path, f"two checkpoints {entry['id']!r} in one variant", "rename one")
        found[entry["id"]] = (path, entry)
    return found


def compile_gold(
    scope: Scope,
    names: Names,
    data: Mapping[str, Any],
    constants: Mapping[str, Any],
) -> Part:
    """The part that gives ``Gold``; ``constants`` are this variant's and language's."""
    variant = next(v for v in data["variants"] if v["name"] == scope.variant)
    ending = variant.get("ending", data.get("ending", "resolve"))
    queue = variant.get("queue", data.get("queue", "")) if ending == "escalate" else ""
    if ending == "escalate":
        scope.known("queue", queue, "queue", data.get("queues", ()))
    slots = {n: _slot(scope, n, e) for n, e in present_slots(scope, data).items()}
    given: dict[str, Part] = {
        "ending": Fixed(ending),
        "queue": Fixed(queue),
        "checkpoints": combine_tuple(_checkpoints(scope, names, data)),
        "slots": combine_dict(slots),
        "minefields": combine_tuple(_minefields(scope, names, data)),
        "must_flip": combine_tuple(_assertions(scope, names, data, "must_flip")),
        "must_hold": combine_tuple(_assertions(scope, names, data, "must_hold")),
        "may_change": _may_change(scope, data, constants),
        "closing": _closing(scope, data, ending),
        "must_pass": _replies(scope, "must_pass", data.get("must_pass", ())),
        "shortest": Fixed(constants.get("shortest", 0)),
        "tokens": Fixed(constants.get("tokens", 0)),
        "scored": Fixed(bool(data.get("checkpoints")) or "imported" not in data),
        "wrong_replies": Fixed(constants.get("wrong_replies", 0)),
    }
    return assemble(Gold, given)


# -- slots -----------------------------------------------------------------------------------------


def _slot(scope: Scope, name: str, entry: Mapping[str, Any]) -> Part:
    path, kind = f"slots.{name}", entry["type"]
    if kind in _PHRASED:
        return _phrased_slot(scope, path, name, entry)
    near = spoken_groups(scope, f"{path}.near", entry.get("near", {}))
    unit = tuple(entry.get("unit", {}).get(scope.language, ()))
    value = _slot_value(scope, path, entry)
    if value is None:
        return Fixed(Slot(name, kind, "", {}, near, unit))
    nature = scope.nature(f"{path}.value", value)
    wanted = {"money": "money", "number": "number", "date": "date", "id": "text"}[kind]
    if isinstance(value, str) and nature not in (wanted, "choice"):
        scope.fail(f"{path}.value", f"{value!r} is no {kind}", f"use a {wanted} parameter")
    if nature == "choice":
        for item in scope.chosen(f"{path}.value", value):
            if not fits(_VALUES[kind], item):
                scope.fail(f"{path}.value", f"{item!r} is no {kind}", "use another choice")
    if not isinstance(value, str) and kind in ("date", "id"):
        scope.fail(f"{path}.value", f"{value!r} is no {kind}", "use a parameter")
    write = billing_date if kind == "date" else str
    given: dict[str, Part] = {
        "name": Fixed(name),
        "type": Fixed(kind),
        "value": combine(write, (scope.value(f"{path}.value", value),)),
        "near": Fixed(near),
        "unit": Fixed(unit),
    }
    return assemble(Slot, given)


def _phrased_slot(scope: Scope, path: str, name: str, entry: Mapping[str, Any]) -> Part:
    written = entry["values"]
    if entry["type"] == "statement" and list(written) != ["said"]:
        scope.fail(f"{path}.values", "a statement has the one value 'said'", "name it said")
    cached = f"{path}.values.{scope.language}"
    values = {
        value: spoken_groups(scope, f"{path}.values.{value}", groups)
        for value, groups in written.items()
    }
    for value, groups in values.items():
        if not groups:
            scope.fail(f"{path}.values.{value}", f"no phrases in {scope.language!r}", "add some")
    values = scope.shared.setdefault(cached, values)
    if entry["type"] == "statement":
        right = "said"
    else:
        given = _slot_value(scope, path, entry)
        right = given if given is not None else ""
        if right:
            scope.known(f"{path}.value", right, "value of this slot", written)
    return Fixed(Slot(name, entry["type"], right, values))


def _slot_value(scope: Scope, path: str, entry: Mapping[str, Any]) -> Any:
    value = entry.get("value")
    if value is None and scope.variant in entry.get("values", {}):
        return scope.variant
    if isinstance(value, dict):
        for variant in value:
            scope.known(f"{path}.value", variant, "variant", scope.variants)
        return value.get(scope.variant)
    return value


# -- checkpoints -----------------------------------------------------------------------------------


def _checkpoints(scope: Scope, names: Names, data: Mapping[str, Any]) -> list[Part]:
    anywhere = [entry["id"] for entry in data.get("checkpoints", ())]
    parts = []
    for id, (path, entry) in present_checkpoints(scope, data).items():
        for i, other in enumerate(entry.get("after", ())):
            scope.known(f"{path}.after[{i}]", other, "checkpoint", anywhere)
        after = tuple(other for other in entry.get("after", ()) if other in names.checkpoints)
        given: dict[str, Part] = {
            "id": Fixed(id),
            "kind": Fixed(entry["kind"]),
            "evidence": read(scope, names, f"{path}.evidence", entry["evidence"]),
            "after": Fixed(after),
            "skippable": Fixed(entry.get("skippable", False)),
            "reference": _reference(scope, path, id, entry.get("reference", {})),
            "near_misses": _replies(scope, f"{path}.near_misses", entry.get("near_misses", {})),
        }
        parts.append(assemble(Checkpoint, given))
    return parts


def _reference(scope: Scope, path: str, id: str, node: Any) -> Part:
    entries = [node] if isinstance(node, dict) else node
    where = f"{path}.reference"
    fitting = [e for e in entries if scope.applies(where, e)]
    if len(fitting) > 1:
        scope.fail(where, f"{len(fitting)} references in variant {scope.variant!r}", "check only")
    if not fitting:
        return Fixed(Reference())
    entry = fitting[0]
    calls = []
    for i, call in enumerate(entry.get("calls", ())):
        place = f"{where}.calls[{i}]"
        operation = operation_name(scope, f"{place}.call", call["call"], "assistant")
        argument_names(scope, f"{place}.with", operation, call.get("with", {}))
        arguments = scope.table(f"{place}.with", call.get("with", {}))
        calls.append(combine_tuple((Fixed(operation), arguments)))
    spoken = scope.language in entry
    reply = scope.wording(where, entry, f"reply:{id}") if spoken else Fixed("")
    around = [
        combine_tuple(
            [
                scope.text(f"{where}.{key}[{i}]", text)
                for i, text in enumerate(entry.get(key, {}).get(scope.language, ()))
            ]
        )
        for key in ("lead", "trail")
    ]
    parts = combine_tuple((combine_tuple(calls), reply, *around))
    if isinstance(parts, Fixed):
        return Fixed(Reference(*parts.value))
    return lambda values: Reference.deferred(lambda: parts(values))


def _replies(scope: Scope, path: str, node: Any) -> Part:
    entries = [node] if isinstance(node, dict) else node
    parts = []
    for entry in entries:
        if scope.applies(path, entry):
            where = f"{path}.{scope.language}"
            texts = entry.get(scope.language, ())
            parts += [scope.text(f"{where}[{i}]", text) for i, text in enumerate(texts)]
    return combine_texts(parts)


# -- the rest --------------------------------------------------------------------------------------


def _minefields(scope: Scope, names: Names, data: Mapping[str, Any]) -> list[Part]:
    parts = []
    for i, entry in enumerate(data.get("minefields", ())):
        path = f"minefields[{i}]"
        if not scope.applies(path, entry):
            continue
        scope.known(f"{path}.policy", entry["policy"], "policy in scope", policies_in_scope(data))
        given: dict[str, Part] = {
            "operation": Fixed(""),
            "policy": Fixed(entry["policy"]),
            "effect": Fixed(entry["effect"]),
        }
        if "said" in entry:
            given["said"] = scope.machine(f"{path}.said", entry["said"])
        else:
            operation = operation_name(scope, f"{path}.called", entry["called"], "assistant")
            argument_names(scope, f"{path}.with", operation, entry.get("with", {}))
            given["operation"] = Fixed(operation)
            given["arguments"] = scope.table(f"{path}.with", entry.get("with", {}))
        if "unless" in entry:
            given["unless"] = read(scope, names, f"{path}.unless", entry["unless"])
        parts.append(assemble(Minefield, given))
    return parts


def _assertions(scope: Scope, names: Names, data: Mapping[str, Any], section: str) -> list[Part]:
    parts, seen = [], set()
    for i, entry in enumerate(data.get(section, ())):
        path = f"{section}[{i}]"
        predicate = {key: item for key, item in entry.items() if key != "name"}
        if not applies(scope, path, predicate):
            continue
        name = entry["name"]
        if name in seen:
            scope.fail(path, f"two assertions {name!r} in one variant", "rename one")
        seen.add(name)
        parts.append(combine_tuple((Fixed(name), read(scope, names, path, predicate))))
    return parts


def _may_change(scope: Scope, data: Mapping[str, Any], constants: Mapping[str, Any]) -> Part:
    """The triples, from the file or, where it declares none, as audit measured them."""
    triples: dict[tuple[str, str], tuple[str, ...]] = {}
    if "may_change" not in data:
        for kind, id, name in constants.get("may_change", ()):
            triples[kind, id] = (*triples.get((kind, id), ()), name)
    for i, entry in enumerate(data.get("may_change", ())):
        path = f"may_change[{i}]"
        if not scope.applies(path, entry):
            continue
        kind = scope.known(f"{path}.kind", entry["kind"], "kind", scope.catalogue.kinds)
        known = ["*", *field_types(scope.catalogue.kinds[kind])]
        names = tuple(entry.get("fields", ["*"]))
        for name in names:
            scope.known(f"{path}.fields", name, f"field of {kind}", known)
        triples[kind, entry["id"]] = (*triples.get((kind, entry["id"]), ()), *names)
    parts = [
        (kind, scope.machine("may_change", id), names) for (kind, id), names in triples.items()
    ]
    return lambda values: tuple(
        [
            (kind, id, name)
            for kind, part, names in parts
            for id in (part(values),)
            for name in names
        ]
    )


def _closing(scope: Scope, data: Mapping[str, Any], ending: str) -> Part:
    fitting = [
        (i, entry)
        for i, entry in enumerate(data.get("closings", ()))
        if scope.applies(f"closings[{i}]", entry)
    ]
    if not fitting and "imported" in data:
        return Fixed(Closing("close", ""))
    if len(fitting) != 1:
        scope.fail(
            "closings", f"{len(fitting)} closings in variant {scope.variant!r}", "exactly one"
        )
    i, entry = fitting[0]
    path = f"closings[{i}]"
    kind = entry.get("kind", "escalate" if ending == "escalate" else "close")
    queue = entry.get("queue", "")
    if kind == "escalate":
        scope.known(f"{path}.queue", queue, "queue", data.get("queues", ()))
    text = scope.wording(path, entry, "closing")
    return assemble(Closing, {"kind": Fixed(kind), "text": text, "queue": Fixed(queue)})
