"""What an importer recorded, as a world: the ``[imported]`` table of a ticket file.

Keys: ``format`` and ``source`` (where it comes from), ``role`` (opens the system message),
``functions``, ``calls`` and ``lookups`` (JSON text; see ``cloud.recorded``), ``ignorable`` and
``worded`` (argument names that never count, or count by their words), ``constants`` (what the
reference needs: ``shortest``, ``tokens``) and ``dropped`` (what the import left out, for the
reader).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.lookup import Lookup
from cirrus_env.cloud.recorded import RecordedCall, Recording, schema_problem
from cirrus_env.errors import MalformedText, TicketError
from cirrus_env.wire.jsontext import strict_loads

_EFFECTS: Final = ("read", "write")
_CONSTANTS: Final = ("shortest", "tokens", "wrong_replies")


def recording_of(data: Mapping[str, Any], file: str) -> Recording | None:
    """The recording of an imported ticket; None for a ticket of the package's own kind.

    Raises:
        TicketError: If functions or calls are not what ``cloud.recorded`` takes.
    """
    imported = data.get("imported")
    if imported is None:
        return None
    functions = _list(imported, "functions", file)
    calls = _list(imported, "calls", file)
    lookups = _list(imported, "lookups", file)
    try:
        for function in functions:
            if not isinstance(function["name"], str):
                raise TypeError("a function's name is text")
            if function.get("effect", "read") not in _EFFECTS:
                raise ValueError(f"{function['name']} has no effect {function['effect']!r}")
            problem = schema_problem(function.get("parameters", {"type": "object"}))
            if problem:
                raise ValueError(f"the schema of {function['name']}: {problem}")
        for call in calls:
            if not isinstance(call["name"], str) or not isinstance(call["arguments"], dict):
                raise TypeError("a call has a name and arguments")
        return Recording.of(
            functions,
            [RecordedCall(**call) for call in calls],
            _names(imported.get("ignorable", [])),
            _names(imported.get("worded", [])),
            [Lookup.from_json(lookup) for lookup in lookups],
        )
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        raise TicketError(
            file, "imported", f"not a recording: {error}", "import the conversation again"
        ) from None


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("argument names are a list of texts")
    return value


def recorded_constants(data: Mapping[str, Any]) -> dict[str, Any]:
    """What an importer measured of its reference, as ``Ticket.constants`` holds it."""
    given = data.get("imported", {}).get("constants", {})
    if not isinstance(given, dict):
        return {}
    kept = {
        name: value
        for name, value in given.items()
        if name in _CONSTANTS and type(value) is int and 0 <= value < 2**31
    }
    return (
        {v["name"]: dict.fromkeys(data["languages"], kept) for v in data["variants"]}
        if kept
        else {}
    )


def _list(imported: Mapping[str, Any], key: str, file: str) -> list[Any]:
    text = imported.get(key, "[]")
    try:
        value = strict_loads(text) if isinstance(text, str) else None
    except MalformedText as error:
        raise TicketError(file, f"imported.{key}", f"not JSON: {error}") from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TicketError(file, f"imported.{key}", "not a list of objects", "write a JSON array")
    return value
