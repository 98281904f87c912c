"""Arguments that fit a JSON Schema, made of what is at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cirrus_env.wire import canonical
from cirrus_env.world import Stream

Missing: Final = object()
"""Where no value fits."""


def arguments(
    parameters: Mapping[str, Any], words: Sequence[str], stream: Stream, *, optional: bool = False
) -> dict[str, Any] | None:
    """Arguments for a tool.

    Args:
        parameters: The schema of the arguments.
        words: Texts to fill strings with, such as ids.
        stream: Chooses among what fits.
        optional: Whether to give some of the optional arguments too.

    Returns:
        The arguments; None where a required one can't be filled.
    """
    result = {}
    required = parameters.get("required", ())
    for name, schema in parameters.get("properties", {}).items():
        if name not in required and not (optional and stream.below(4) == 0):
            continue
        value = sample(schema, words, stream)
        if schema.get("type") == "string" and "enum" not in schema and value is not Missing:
            value = _by_name(name, value, words)
        if value is not Missing:
            result[name] = value
        elif name in required:
            return None
    return result


def _by_name(name: str, value: Any, words: Sequence[str]) -> Any:
    """What an argument's name says of its text: a JSON list of ids, a moment."""
    if name.endswith("Ids") and value in words:
        return canonical([value])
    return "2026-11-30T08:00Z" if name.endswith("Time") else value


def sample(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    """One value that fits a schema; ``Missing`` where none does."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return stream.choice(schema["enum"])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return sample(stream.choice(schema[name]), words, stream)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[0]
    make = _MAKERS.get(kind)
    return make(schema, words, stream) if make else Missing


def _string(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 10**6)
    pattern = schema.get("pattern")
    for offered in (words, _COMMON):
        fitting = [
            word
            for word in offered
            if shortest <= len(word) <= longest and (pattern is None or re.search(pattern, word))
        ]
        if fitting:
            return stream.choice(fitting)
    return Missing


def _integer(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    low = schema.get("minimum", 0)
    high = min(schema.get("maximum", low + 99), low + 10**6)
    return stream.integer(int(low), max(int(low), int(high)))


def _boolean(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    return stream.below(2) == 1


def _array(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    least = max(1, schema.get("minItems", 1))
    items = [sample(schema.get("items", {}), words, stream) for _ in range(least)]
    return Missing if Missing in items else items


def _object(schema: Mapping[str, Any], words: Sequence[str], stream: Stream) -> Any:
    made = arguments(schema, words, stream)
    return Missing if made is None else made


_MAKERS: Final = {
    "string": _string,
    "integer": _integer,
    "number": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
_COMMON: Final = ("cn-hangzhou", "2026-11", "2026-11-30", "ecs", "disk", "test", "1")
