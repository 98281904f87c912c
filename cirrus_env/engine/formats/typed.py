"""Values that a format writes without quotes: the tool's schema says what they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cirrus_env.engine.formats import literals
from cirrus_env.engine.formats.found import Tools
from cirrus_env.errors import MalformedText
from cirrus_env.wire import canonical, strict_loads

_WORDS: Final = {"true": True, "false": False, "True": True, "False": False}
_NULLS: Final = frozenset({"null", "None"})
_DEEP: Final = 8
_ANY: Final = frozenset({"string", "number", "boolean", "array", "object", "null"})


def arguments(pairs: Iterable[tuple[str, str]], tool: str, tools: Tools | None) -> str:
    """The arguments of a call as JSON text.

    Args:
        pairs: Names and values as they were written.
        tool: The tool's name.
        tools: What is known of the tools; a value whose schema isn't known is a number, a list or
            another JSON value where it reads as one, and else a text.

    Raises:
        MalformedText: If a name comes twice.
    """
    known = properties(tool, tools)
    result: dict[str, Any] = {}
    for name, raw in pairs:
        if name in result:
            raise MalformedText(f"{tool} is given {name} twice")
        result[name] = value(raw, known.get(name))
    return canonical(result)


def properties(tool: str, tools: Tools | None) -> Mapping[str, Any]:
    """The schemas of a tool's parameters; empty where nothing is known."""
    known = (tools or {}).get(tool, {}).get("properties")
    return known if isinstance(known, Mapping) else {}


def value(raw: str, schema: Any = None) -> Any:
    """A raw value, by its schema; what doesn't fit stays a text, for the validator to refuse.

    A parameter that can only be a text is taken as it is: ``01234`` stays ``"01234"``.
    """
    kinds = kinds_of(schema)
    if kinds == {"string"}:
        return raw
    text = raw.strip()
    if "null" in kinds and text in _NULLS and (kinds != _ANY or text == "null"):
        return None
    if "boolean" in kinds and text in _WORDS and (kinds != _ANY or text in ("true", "false")):
        return _WORDS[text]
    try:
        found = strict_loads(text)
    except MalformedText:
        found = _container(text) if kinds & {"array", "object"} and kinds != _ANY else raw
    return raw if isinstance(found, str) or _kind(found) not in kinds else found


def _container(text: str) -> Any:
    try:
        return literals.literal(text)
    except MalformedText:
        return text


def kinds_of(schema: Any, depth: int = 0) -> frozenset[str]:
    """The JSON types that a schema allows, with ``number`` for integers too."""
    if not isinstance(schema, Mapping) or depth > _DEEP:
        return _ANY
    given = schema.get("type")
    if isinstance(given, str):
        return frozenset({_plain(given)})
    if isinstance(given, list) and given:
        return frozenset(map(_plain, map(str, given)))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(choices, list) and choices:
        return frozenset(map(_kind, choices))
    for key in ("anyOf", "oneOf"):
        parts = schema.get(key)
        if isinstance(parts, list) and parts:
            return frozenset().union(*(kinds_of(part, depth + 1) for part in parts))
    parts = schema.get("allOf")
    if isinstance(parts, list) and parts:
        return _ANY.intersection(*(kinds_of(part, depth + 1) for part in parts))
    return _ANY


def _plain(kind: str) -> str:
    return "number" if kind == "integer" else kind


def _kind(found: Any) -> str:
    if found is None:
        return "null"
    if isinstance(found, bool):
        return "boolean"
    if isinstance(found, int | float):
        return "number"
    if isinstance(found, str):
        return "string"
    return "array" if isinstance(found, list) else "object"


def written(found: Any) -> str:
    """A value as a format without quotes writes it: texts bare, all else as JSON."""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
