"""Arguments of a call: jsonschema-rs decides, then one canonical form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs


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

    def problem(self, arguments: Any) -> str:
        """Why the arguments don't fit; empty where they do."""
        try:
            if self._validator.is_valid(arguments):
                return ""
        except ValueError as error:  # what jsonschema-rs can't take at all, such as a surrogate
            return str(error)
        errors = sorted(
            (".".join(map(str, error.instance_path)), error.message)
            for error in self._validator.iter_errors(arguments)
        )
        path, message = errors[0]
        return f"{path}: {message}" if path else message

    def canonical(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments in canonical form: 1.0 is 1, defaults removed, keys sorted."""
        result = {}
        for key in sorted(arguments):
            value = plain(arguments[key])
            if key in self._defaults and same(self._defaults[key], value):
                continue
            result[key] = value
        return result


def plain(value: Any) -> Any:
    """The value with whole floats as integers, in depth; nothing else is coerced."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    return value


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values: True is not 1."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)
