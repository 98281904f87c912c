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
from cirrus_env.cloud.recorded import RecordedCall, Recording
from cirrus_env.errors import MalformedText, TicketError
from cirrus_env.wire.jsontext import strict_loads

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
        return Recording.of(
            functions,
            [RecordedCall(**call) for call in calls],
            imported.get("ignorable", ()),
            imported.get("worded", ()),
            [Lookup.from_json(lookup) for lookup in lookups],
        )
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        raise TicketError(
            file, "imported", f"not a recording: {error}", "import the conversation again"
        ) from None


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
    try:
        value = strict_loads(imported.get(key, "[]"))
    except (MalformedText, TypeError) as error:
        raise TicketError(file, f"imported.{key}", f"not JSON: {error}") from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TicketError(file, f"imported.{key}", "not a list of objects", "write a JSON array")
    return value
