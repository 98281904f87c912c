r"""Calls in Python's notation, ``f(a=1, b=["x"])``: literals only, read by hand.

Python's own parser warns about escapes, recurses as deep as the text says and gives no place; this
one is linear, bounded in depth, and runs nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from cirrus_env.errors import MalformedText
from cirrus_env.wire.jsontext import MAX_DEPTH

NAME: Final = r"[^\W\d]\w*(?:[.\-][^\W\d]\w*)*"
_NAME: Final = re.compile(NAME)
_KEYWORD: Final = re.compile(r"([^\W\d]\w*)\s*=(?!=)\s*")
_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*(?:_\d+)*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])", re.ASCII
)
_STRING: Final = re.compile(
    r"'''((?:[^\\']|\\.|'(?!''))*+)'''"
    r'|"""((?:[^\\"]|\\.|"(?!""))*+)"""'
    r"|'((?:[^\\'\n]|\\.)*+)'"
    r'|"((?:[^\\"\n]|\\.)*+)"',
    re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_CONSTANTS: Final = {
    "True": True, "False": False, "None": None, "true": True, "false": False, "null": None,
}  # fmt: skip
_SIMPLE: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": "",
    "\\": "\\", "'": "'", '"': '"',
}  # fmt: skip


class Call(NamedTuple):
    """One call.

    Attributes:
        name: The function's name, dots included.
        arguments: Its keyword arguments.
        raw: The text between the parentheses.
        end: Where the text goes on.
        problem: Why it can't be used, though its end is known; empty where it can.
    """

    name: str
    arguments: dict[str, Any]
    raw: str
    end: int
    problem: str = ""


def read_call(text: str, start: int) -> Call:
    """Read the call that begins at ``start``.

    Raises:
        MalformedText: If none does, or it doesn't end.
    """
    name = _NAME.match(text, start)
    at = _skip(text, name.end()) if name else start
    if name is None or text[at : at + 1] != "(":
        raise MalformedText(f"no call at character {start}")
    opened = at = at + 1
    arguments: dict[str, Any] = {}
    problem = ""
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == ")":
            return Call(name[0], arguments, text[opened:at], at + 1, problem)
        keyword = _KEYWORD.match(text, at)
        value, at = read_value(text, keyword.end() if keyword else at)
        if keyword is None:
            problem = problem or f"{name[0]} takes its arguments by name"
        elif keyword[1] in arguments:
            problem = problem or f"{name[0]} is given {keyword[1]} twice"
        else:
            arguments[keyword[1]] = value
        at = _next(text, at, ")")


def read_value(text: str, start: int, depth: int = 0) -> tuple[Any, int]:
    """Read a literal: number, text, True, False, None (or as JSON has them), list, dict.

    Raises:
        MalformedText: For anything else, such as names, calls, tuples, sets, infinity, two equal
            keys, or nesting deeper than ``MAX_DEPTH``.
    """
    first = text[start : start + 1]
    if first == "[" or first == "{":
        if depth >= MAX_DEPTH:
            raise MalformedText(f"nested deeper than {MAX_DEPTH}")
        return (_list if first == "[" else _dict)(text, start + 1, depth + 1)
    if first in ("'", '"'):
        return _string(text, start)
    number = _NUMBER.match(text, start)
    if number:
        return _number(number[0]), number.end()
    name = _NAME.match(text, start)
    if name and name[0] in _CONSTANTS:
        return _CONSTANTS[name[0]], name.end()
    raise MalformedText(f"no literal at character {start}: {text[start : start + 20]!r}")


def literal(text: str) -> Any:
    """Read a text that is one literal.

    Raises:
        MalformedText: If it isn't.
    """
    value, end = read_value(text, _skip(text, 0))
    if _skip(text, end) != len(text):
        raise MalformedText("something follows the literal")
    return value


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    result: list[Any] = []
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return result, at + 1
        value, at = read_value(text, at, depth)
        result.append(value)
        at = _next(text, at, "]")


def _dict(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    result: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return result, at + 1
        key, at = read_value(text, at, depth)
        if not isinstance(key, str) or key in result:
            raise MalformedText(f"a dict's keys are different texts, not {key!r}"[:200])
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise MalformedText(f"no value at character {at}")
        result[key], at = read_value(text, _skip(text, at + 1), depth)
        at = _next(text, at, "}")


def _next(text: str, at: int, closer: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] != closer:
        raise MalformedText(f"no comma or {closer} at character {at}")
    return at


def _skip(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _number(text: str) -> int | float:
    try:
        if re.fullmatch(r"[+-]?[\d_]+", text):
            return int(text)
        value = float(text)
    except ValueError as error:
        raise MalformedText(str(error)) from None
    if value in (float("inf"), float("-inf")):
        raise MalformedText(f"{text[:40]} is too large")
    return value


def _string(text: str, start: int) -> tuple[str, int]:
    found = _STRING.match(text, start)
    if found is None:
        raise MalformedText(f"the text at character {start} doesn't end")
    body = next(part for part in found.groups() if part is not None)
    return (_ESCAPE.sub(_unescape, body) if "\\" in body else body), found.end()


def _unescape(found: re.Match[str]) -> str:
    byte, short, long, octal, other = found.groups()
    if other is not None:
        if other == "N":
            raise MalformedText("names of characters are not read")
        return _SIMPLE.get(other, found[0])
    number = int(octal, 8) if octal else int(byte or short or long, 16)
    if number > 0x10FFFF:
        raise MalformedText(f"{found[0]} is no character")
    return chr(number)
