"""JSON at the edge: one canonical writing, one digest, one strict reading."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final, NoReturn

import orjson

from cirrus_env.errors import MalformedText

MAX_DEPTH = 64

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def canonical(value: Any) -> str:
    """Write ``value`` as JSON in the one canonical way: keys sorted, no spaces, UTF-8 as it is.

    Raises:
        ValueError: For NaN, infinity and values that are not JSON.
    """
    return _encode(value)


_PLAIN: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def canonical_result(value: Any) -> str:
    """What ``canonical`` gives, sooner, for what the cloud's own operations answer.

    Their only floats are amounts of money. Of other floats NaN, infinity and those that are
    written with an exponent would come out otherwise.
    """
    try:
        return orjson.dumps(value, option=_PLAIN).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates, keys that are no text
        return canonical(value)


def digest(value: Any) -> str:
    """The sha256 (hex) of bytes, of a string's UTF-8, or of any other value's canonical JSON."""
    if isinstance(value, bytes):
        data = value
    else:
        text = value if isinstance(value, str) else canonical(value)
        data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def encodes(text: str) -> bool:
    """Whether the text has a UTF-8 form, that is, holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def strict_loads(text: str) -> Any:
    """Read JSON text that a model wrote.

    Raises:
        MalformedText: For broken JSON, NaN or infinity, duplicate keys, lone surrogates (also as
            escapes), integers of more than 4,300 digits, and nesting deeper than ``MAX_DEPTH``.
    """
    if not encodes(text):
        raise MalformedText("the text holds a lone surrogate")
    if _too_deep(text):
        raise MalformedText(f"nested deeper than {MAX_DEPTH}")
    try:
        value = _decoder.decode(text)
    except MalformedText:
        raise
    except (ValueError, RecursionError) as error:
        raise MalformedText(f"not JSON: {error}") from None
    if "\\u" in text and not encodes(_encode(value)):
        raise MalformedText("the text holds a lone surrogate")
    return value


def _too_deep(text: str) -> bool:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif character in "}]":
            depth -= 1
    return False


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise MalformedText("an object names a key twice")
    return result


def _constant(name: str) -> NoReturn:
    raise MalformedText(f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise MalformedText(f"{text} is too large")
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)
