"""Arguments of a call: jsonschema-rs decides, then one canonical form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import jsonschema_rs

from cirrus_env.wire.jsontext import encodes

LONGEST: Final = 300
"""Characters of a message about wrong arguments: what was sent may be a megabyte."""


class Problem(NamedTuple):
    """Why arguments don't fit.

    Attributes:
        code: ``MissingParameter`` or ``InvalidParameter``, as the provider tells them apart.
        message: What is wrong and where.
    """

    code: str
    message: str


class ArgumentSchema:
    """One operation's argument schema, compiled.

    Args:
        parameters: The JSON Schema (2020-12) of the arguments.
    """

    __slots__ = ("_defaults", "_validator")

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._validator = jsonschema_rs.Draft202012Validator(json.dumps(parameters))
        self._defaults = {
            name: schema["default"]
            for name, schema in parameters.get("properties", {}).items()
            if "default" in schema
        }

    @staticmethod
    def readable(arguments: Any) -> bool:
        """Whether the arguments are a JSON object at all, fitting or not."""
        return isinstance(arguments, dict) and _is_json(arguments)

    def problem(self, arguments: Any) -> Problem | None:
        """Why the arguments don't fit; None where they do."""
        try:
            if self._validator.is_valid(arguments):
                return None if _encodes(arguments) else Problem(*_SURROGATE)
            errors = sorted(
                (".".join(map(str, error.instance_path)), error.message, _code(error))
                for error in self._validator.iter_errors(arguments)
            )
        except (ValueError, RecursionError) as error:  # what is no JSON at all
            return Problem("InvalidParameter", str(error)[:LONGEST])
        path, message, code = errors[0]
        text = f"{path}: {message}" if path else message
        return Problem(code, text if len(text) <= LONGEST else text[: LONGEST - 3] + "...")

    def canonical(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments in canonical form: 1.0 is 1, defaults removed, keys sorted."""
        defaults = self._defaults
        result = {}
        for key in sorted(arguments):
            value = arguments[key]
            if not isinstance(value, str):
                value = plain(value)
            if key in defaults and same(defaults[key], value):
                continue
            result[key] = value
        return result

    def unusual(self, canonical: Mapping[str, Any]) -> list[str]:
        """The names of canonical arguments that depart from a declared default."""
        return [name for name in canonical if name in self._defaults]


_SURROGATE: Final = ("InvalidParameter", "The arguments hold a lone surrogate.")


def _code(error: jsonschema_rs.ValidationError) -> str:
    missing = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required)
    return "MissingParameter" if missing else "InvalidParameter"


def _encodes(value: Any) -> bool:
    """Whether every text in a JSON value has a UTF-8 form."""
    if isinstance(value, str):
        return value.isascii() or encodes(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _encodes(key) for key in value) and all(
            map(_encodes, value.values())
        )
    if isinstance(value, list):
        return all(_encodes(part) for part in value)
    return True


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return _encodes(value)


def plain(value: Any) -> Any:
    """The value with whole floats as integers, in depth; nothing else is coerced."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    return value


def same(a: Any, b: Any) -> bool:
    """Equality of canonical JSON values, in depth: True is not 1, and 1 is not "1"."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
