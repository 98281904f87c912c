"""The JSON Schema of a ticket file, applied: each problem is a located ``TicketError``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cirrus_env.errors import TicketError

SCHEMA_FILE: Final = Path(__file__).parent / "ticket.schema.json"
MAX_DEPTH: Final = 40


def schema_errors(data: Any, file: str) -> list[TicketError]:
    """All violations of the schema, sorted by place and words."""
    found = sorted(
        {(_path(error.absolute_path), _problem(error), _mend(error)) for error in _flat(data)}
    )
    return [TicketError(file, path or "(top)", problem, mend) for path, problem, mend in found]


def _flat(data: Any) -> Iterable[Any]:
    for error in _validator().iter_errors(data):
        best = error
        while best.context:  # of several ways that all fail, tell of the one that came nearest
            best = max(best.context, key=lambda e: (len(e.absolute_path), _say(e)))
        yield best


def _say(error: Any) -> str:
    return str(error.message)


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # 40 ms to import: only when a file is checked
    from jsonschema.validators import extend

    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    strict: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    return strict(schema)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    """As the standard says, and unlike Python: ``$`` is the end, not before a last line break."""
    from jsonschema import ValidationError

    if not isinstance(instance, str):
        return
    if re.search(pattern, instance) is None or (pattern[-1:] == "$" and instance[-1:] == "\n"):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _path(parts: Iterable[Any]) -> str:
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _problem(error: Any) -> str:
    message = str(error.message)
    return message if len(message) <= 200 else message[:197] + "..."


def _mend(error: Any) -> str:
    kind, wanted = error.validator, error.validator_value
    if kind == "required":
        return "add it"
    if kind == "additionalProperties":
        known = ", ".join(sorted(error.schema.get("properties", {})))
        return f"known keys: {known}" if known else "remove it"
    if kind == "enum":
        return "one of " + ", ".join(map(str, wanted))
    if kind == "type":
        return f"write a {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    if kind == "pattern":
        return f"must match {wanted}"
    if kind in ("minItems", "minProperties", "minLength"):
        return f"at least {wanted}"
    if kind in ("maxItems", "maxLength", "maximum", "maxProperties"):
        return f"at most {wanted}"
    return str(error.schema.get("description", ""))


def depth(data: Any) -> int:
    """How deep the containers of a value are nested."""
    deepest, stack = 0, [(data, 1)]
    while stack:
        node, level = stack.pop()
        items = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        deepest = max(deepest, level)
        if level > MAX_DEPTH:
            break
        stack.extend((item, level + 1) for item in items if isinstance(item, dict | list))
    return deepest
