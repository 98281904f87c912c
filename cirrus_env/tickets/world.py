"""The world of a variant: records, distractors and money history, ready to be set up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final
from zlib import crc32

from cirrus_env.cloud.model import Posting, Resource
from cirrus_env.cloud.services.knowledge.articles import known as article_ids
from cirrus_env.tickets.fields import check_value, field_types
from cirrus_env.tickets.moments import compile_moment, is_moment
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.shapes import has_shape, id_writer, known_kinds
from cirrus_env.tickets.templates import Fixed, Part, Values, assemble
from cirrus_env.world import Stream
from cirrus_env.world.clock import HOUR

_RESERVED = ("only", "kind", "id", "tenant")

Records = Callable[[int, Values], list[Resource]]
Postings = Callable[[Values], list[Posting]]


def compile_records(scope: Scope, data: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts that give the records of ``[[world]]`` in this variant."""
    parts = []
    for i, entry in enumerate(data.get("world", ())):
        path = f"world[{i}]"
        if scope.applies(path, entry):
            given = {k: v for k, v in entry.items() if k not in _RESERVED}
            parts.append(_record(scope, path, entry, given))
    if "knowledge.scope" in scope.catalogue.kinds:
        parts.append(_knowledge(scope, data))
    return tuple(parts)


def _knowledge(scope: Scope, data: Mapping[str, Any]) -> Part:
    known = article_ids()
    for i, id in enumerate(data.get("knowledge", ())):
        scope.known(f"knowledge[{i}]", id, "article", known)
    kind = scope.catalogue.kinds["knowledge.scope"]
    articles, language = tuple(data.get("knowledge", ())), scope.language
    owner = _tenant({})
    fields = {"articles": Fixed(articles), "language": Fixed(language)}
    return assemble(kind, {"id": owner, "tenant": owner, **fields})


def _record(scope: Scope, path: str, entry: Mapping[str, Any], given: Mapping[str, Any]) -> Part:
    kind = _kind(scope, path, entry)
    parts = {"id": scope.machine(f"{path}.id", entry["id"]), "tenant": _tenant(entry)}
    return assemble(kind, parts | _fields(scope, path, kind, given))


def _kind(scope: Scope, path: str, entry: Mapping[str, Any]) -> type[Resource]:
    name = scope.known(f"{path}.kind", entry["kind"], "kind", scope.catalogue.kinds)
    return scope.catalogue.kinds[name]


def _tenant(entry: Mapping[str, Any]) -> Part:
    key = "neighbour" if entry.get("tenant") == "neighbour" else "account"
    return lambda values: values[key]


def _fields(
    scope: Scope, path: str, kind: type[Resource], given: Mapping[str, Any]
) -> dict[str, Part]:
    types = field_types(kind)
    parts = {}
    for name, node in given.items():
        scope.known(f"{path}.{name}", name, f"field of {kind.kind}", types)
        if name in ("id", "tenant"):
            scope.fail(f"{path}.{name}", f"{name} is drawn, not given")
        parts[name] = check_value(scope, f"{path}.{name}", types[name], node)
    return parts


def compile_distractors(scope: Scope, data: Mapping[str, Any]) -> tuple[Records, ...]:
    """The makers of ``[[distractors]]``: records of no importance, each with a drawn id.

    Inside ``fields`` the placeholder ``{own}`` is the record's own id and ``{number}`` its number
    from 1; a group's ``name`` gives later groups the id of the member with the same number.
    """
    result: list[Records] = []
    earlier: tuple[str, ...] = ()
    for i, entry in enumerate(data.get("distractors", ())):
        path = f"distractors[{i}]"
        if not scope.applies(path, entry):
            continue
        label = f"distractor:{entry.get('name', i)}"
        result.append(_distractors(scope, path, entry, label, earlier))
        name = entry.get("name")
        if name in scope.natures:
            scope.fail(f"{path}.name", f"{name!r} is a parameter already", "choose another")
        if name:
            scope.natures[name] = "text"
            earlier = (*earlier, name)
    for name in earlier:
        del scope.natures[name]
    return tuple(result)


def _distractors(
    scope: Scope, path: str, entry: Mapping[str, Any], label: str, earlier: tuple[str, ...]
) -> Records:
    kind = _kind(scope, path, entry)
    if not has_shape(kind.kind):
        scope.known(f"{path}.kind", kind.kind, "id shape for distractors", known_kinds())
    count = entry.get("count", 1)
    low, high = (count["from"], count["to"]) if isinstance(count, dict) else (count, count)
    if high < low:
        scope.fail(f"{path}.count", "the range is empty", "let from be at most to")
    scope.natures.update(own="text", number="number")
    given = entry.get("fields", {})
    parts = {"tenant": _tenant(entry), **_fields(scope, f"{path}.fields", kind, given)}
    parts["id"] = lambda values: values["own"]
    mixtures = _mixtures(scope, f"{path}.vary", kind, parts, entry.get("vary", {}))
    for local in ("own", "number"):
        del scope.natures[local]
    name = entry.get("name", "")
    bound, write = id_writer(kind.kind)

    def make(seed: int, values: Values) -> list[Resource]:
        stream, result = Stream(seed, label), []
        count = low + stream.below(high - low + 1)
        ids = [write(stream.below(bound)) for _ in range(count)]
        if name:
            values[f"{name}[]"] = ids
        for n, id in enumerate(ids):
            values["own"], values["number"] = id, n + 1
            for group in earlier:
                others = values[f"{group}[]"]
                values[group] = others[n % len(others)] if others else ""
            result.append(mixtures[crc32(id.encode()) % len(mixtures)](values))
        return result

    return make


_COMBINATIONS: Final = 24
"""How many mixtures of varied fields a group of distractors has; an id's checksum picks one."""


def _mixtures(
    scope: Scope, path: str, kind: type[Resource], parts: dict[str, Part], node: Mapping[str, Any]
) -> list[Part]:
    """The makers of the group's records: one for each mixture of the varied fields."""
    types, options = field_types(kind), {}
    for name, given in node.items():
        scope.known(f"{path}.{name}", name, f"field of {kind.kind}", types)
        options[name] = [
            check_value(scope, f"{path}.{name}[{i}]", types[name], option)
            for i, option in enumerate(given)
        ]
    count = min(_COMBINATIONS, prod(map(len, options.values())))
    stream = Stream(0, f"mixtures:{path}")
    return [
        assemble(kind, parts | {name: stream.choice(given) for name, given in options.items()})
        for _ in range(count)
    ]


def compile_history(scope: Scope, data: Mapping[str, Any]) -> tuple[Postings, ...]:
    """The makers of the postings of ``[[history]]`` in this variant."""
    result = []
    for i, entry in enumerate(data.get("history", ())):
        path = f"history[{i}]"
        if scope.applies(path, entry):
            result.append(_history(scope, path, entry))
    return tuple(result)


def _history(scope: Scope, path: str, entry: Mapping[str, Any]) -> Postings:
    at = compile_moment(scope, f"{path}.at", entry["at"])
    parts = [
        scope.machine(f"{path}.{key}", entry.get(key, default))
        for key, default in (("debit", "cash:{account}"), ("credit", "provider"))
    ]
    parts.append(check_value(scope, f"{path}.cents", int, entry["cents"]))
    parts += [
        scope.machine(f"{path}.{key}", entry.get(key, "")) for key in ("item", "resource", "memo")
    ]
    times = check_value(scope, f"{path}.times", int, entry.get("times", 1))
    step = _step(scope, f"{path}.every", entry.get("every", "+1d"))

    def make(values: Values) -> list[Posting]:
        moment, last = at(values), values["now"]
        debit, credit, cents, item, resource, memo = [part(values) for part in parts]
        if cents <= 0:
            return []
        return [
            Posting(moment + n * step, debit, credit, cents, item, resource, memo)
            for n in range(times(values))
            if moment + n * step <= last
        ]

    return make


def _step(scope: Scope, path: str, text: str) -> int:
    text = text if text.startswith(("+", "-")) else f"+{text}"
    if not is_moment(text) or "{" in text:
        scope.fail(path, f"{text!r} is no length of time", "write it like '1h' or '1d'")
    seconds: int = compile_moment(scope, path, text)({"now": 0})
    if seconds < HOUR:
        scope.fail(path, "history repeats hourly at most", "write '1h' or more")
    return seconds
