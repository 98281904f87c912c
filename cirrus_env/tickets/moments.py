"""Moments relative to the opening, such as ``-3d``, ``-{days}d+4h`` or ``{expiry}-2d``."""

from __future__ import annotations

import re
from typing import Final

from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Part, Values

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_TERM: Final = re.compile(r"([+-])(?:(\d{1,6})|\{([a-z][a-z0-9_]*)\})([smhd])")
_WHOLE: Final = re.compile(
    r"(?:\{[a-z][a-z0-9_]*\})?(?:[+-](?:\d{1,6}|\{[a-z][a-z0-9_]*\})[smhd])*"
)
_START: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def is_moment(text: str) -> bool:
    """Whether a text is written as a moment."""
    return bool(text) and _WHOLE.fullmatch(text) is not None


def moment_names(scope: Scope, path: str, text: str) -> set[str]:
    """The parameters that a moment reads."""
    if not is_moment(text):
        scope.fail(path, f"{text!r} is no moment", "write it like '-3d', '-{days}d+4h'")
    names = {match[3] for match in _TERM.finditer(text) if match[3]}
    start = _START.match(text)
    return names | {start[1]} if start else names


def compile_moment(scope: Scope, path: str, text: str) -> Part:
    """The part that gives the moment in seconds since 1970."""
    for name in sorted(moment_names(scope, path, text)):
        scope.known(path, name, "parameter", scope.natures)
    start = _START.match(text)
    origin = "now"
    if start:
        origin = start[1]
        if scope.natures[origin] != "date":
            scope.fail(path, f"{origin!r} is no date", "start from a date parameter or from now")
    fixed, terms = 0, []
    for sign, amount, name, unit in _TERM.findall(text):
        seconds = _UNITS[unit] * (1 if sign == "+" else -1)
        if amount:
            fixed += seconds * int(amount)
        elif scope.natures[name] != "number":
            scope.fail(path, f"{name!r} is no number", "count with an integer_range")
        else:
            terms.append((seconds, name))
    if not terms:
        return lambda values: values[origin] + fixed

    def moment(values: Values) -> int:
        total: int = values[origin] + fixed
        for seconds, name in terms:
            total += seconds * values[name]
        return total

    return moment
