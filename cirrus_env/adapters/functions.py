"""The functions that a recording offers: given schemas, checked, or inferred from calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cirrus_env.cloud.recorded import RecordedCall, schema_problem
from cirrus_env.nlu.wording import word_set

MOST: Final = 250
"""How many functions one ticket may offer; an action names one by a number below 256."""

_RESERVED: Final = frozenset({"close_ticket", "escalate_ticket", "reply_to_customer"})
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# fmt: off
_CHANGING: Final = word_set("""
    add attach bind book buy cancel change close complete confirm create delete disable enable
    exchange execute grant insert invite login logout make modify move open order patch pay place
    post put reboot refund register release remove rename renew replace reply report reset resize
    restart resume return revoke run schedule send set share start stop submit subscribe suspend
    transfer unbind unsubscribe update upgrade upload write
""")
_READING: Final = word_set("""
    calculate check compare compute convert count current describe detail details estimate explain
    fetch find forecast get has historic history info inspect is list lookup read retrieve search
    show status summarize think translate validate verify view weather query
""")
# fmt: on


def function_name(name: str) -> str:
    """A name that a chat model's tool may have."""
    clean = _ILLEGAL.sub("_", name)[:64] or "_"
    return f"{clean}_" if clean in _RESERVED else clean


def effect_of(name: str) -> str:
    """``read`` where a function's name says so, else ``write``: it may change something."""
    words = [part.lower() for part in _PART.findall(name)]
    if not words:
        return "write"
    if words[0] in _READING:
        return "read"
    if any(word in _CHANGING for word in words):
        return "write"
    return "read" if any(word in _READING for word in words) else "write"


def infer_functions(
    calls: Iterable[RecordedCall], optional: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Schemas of the functions that some recorded calls used: argument names and JSON types.

    Args:
        calls: All calls of all dialogues.
        optional: Argument names that are never required.
    """
    grouped: dict[str, list[RecordedCall]] = {}
    for call in calls:
        grouped.setdefault(call.name, []).append(call)
    return [_function(name, grouped[name], frozenset(optional)) for name in sorted(grouped)]


def _function(name: str, calls: Sequence[RecordedCall], optional: frozenset[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key in sorted({key for call in calls for key in call.arguments}):
        types = sorted({_json_type(c.arguments[key]) for c in calls if key in c.arguments})
        properties[key] = {"type": types[0] if len(types) == 1 else types}
    required = [k for k in properties if k not in optional and all(k in c.arguments for c in calls)]
    words = " ".join(_PART.findall(name)).lower()
    return {
        "name": name,
        "description": f"{words[:1].upper()}{words[1:]}.",
        "effect": effect_of(name),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {str: "string", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), "string")


def given_functions(tools: Iterable[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Functions as a foreign file describes them, in the OpenAI form or bare.

    Returns:
        Those that can be offered, and what is wrong with the others, a sentence each.
    """
    found: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for tool in tools:
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            wrong.append("a tool without a name")
            continue
        name = function_name(inner["name"])
        if name != inner["name"]:
            wrong.append(f"the tool name {inner['name'][:60]!r}; it is {name} here")
        parameters = inner.get("parameters") or {"type": "object", "properties": {}}
        problem = schema_problem(parameters)
        if problem:
            wrong.append(f"the schema of {name}: {problem}")
            continue
        description = inner.get("description")
        found.setdefault(
            name,
            {
                "name": name,
                "description": description if isinstance(description, str) else "",
                "effect": effect_of(name),
                "parameters": dict(parameters),
            },
        )
    return list(found.values()), wrong


def offered(
    given: Sequence[Mapping[str, Any]], calls: Iterable[RecordedCall]
) -> list[dict[str, Any]]:
    """The given functions, and inferred ones for calls of functions that nobody described."""
    known = {function["name"] for function in given}
    functions = [dict(function) for function in given]
    return functions + infer_functions(call for call in calls if call.name not in known)
