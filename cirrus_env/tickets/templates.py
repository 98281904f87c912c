"""Templates: text and values with placeholders, compiled once and filled for each seed.

A placeholder is ``{name}`` (a parameter), ``{name|style}``, or ``{service.measure:{name}}`` (a
measure of the world as set up, of the resource that the parameter names). ``{{`` and ``}}`` are
literal braces. In words for people money, dates and choices are written in the ticket's language;
inside machine values (arguments, ids, record fields) they are written language-free. Styles:

========  =====================  ===================  ==============
style     money                  date                 number, id
========  =====================  ===================  ==============
(words)   CNY 27.84 / 27.84元    30 November 2026 /   as it is
                                 2026年11月30日
plain     27.84                  2026-11-30           as it is
raw       2784                   seconds since 1970   as it is
========  =====================  ===================  ==============
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from cirrus_env.world.clock import billing_date

Values = dict[str, Any]
"""Parameter values by name, and what placeholders show by ``name|style|language``."""

Part = Callable[[Values], Any]
"""A piece of a scenario, made from the values of a seed."""

Nature = Literal["text", "money", "number", "date", "choice"]
"""What a parameter is, as far as writing it goes; ids, names and wordings are ``text``."""

STYLES: Final = ("plain", "raw")

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_TOKEN: Final = re.compile(
    r"(?P<open>\{\{)|(?P<close>\}\})"
    r"|\{(?P<name>[a-z][a-z0-9_]*)(?:\|(?P<style>[a-z]+))?\}"
    r"|\{(?P<measure>[a-z][a-z0-9_.]*):\{(?P<of>[a-z][a-z0-9_]*)\}(?:\|(?P<mstyle>[a-z]+))?\}"
)


class Fixed:
    """A part that is the same for every seed."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, values: Values) -> Any:
        """The value."""
        return self.value


class Placeholder(NamedTuple):
    """One placeholder of a template; ``measure`` is empty for a plain parameter."""

    name: str
    style: str
    measure: str

    @property
    def key(self) -> str:
        """Where its raw value is among the values."""
        return f"{self.measure}:{self.name}" if self.measure else self.name


def parse(template: str) -> list[str | Placeholder]:
    """Split a template into literal text and placeholders.

    Raises:
        ValueError: For a brace that is no placeholder, or an unknown style.
    """
    parts: list[str | Placeholder] = []
    literal, end = "", 0
    for match in _TOKEN.finditer(template):
        literal += _literal(template[end : match.start()])
        end = match.end()
        if match["open"] or match["close"]:
            literal += match[0][0]
            continue
        style = match["style"] or match["mstyle"] or ""
        if style and style not in STYLES:
            raise ValueError(f"no style {style!r}; there are {', '.join(STYLES)}")
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(Placeholder(match["name"] or match["of"], style, match["measure"] or ""))
    literal += _literal(template[end:])
    if literal:
        parts.append(literal)
    return parts


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise ValueError(f"a brace that is no placeholder in {text!r}; write it twice")
    return text


def combine(factory: Callable[..., Any], parts: Sequence[Part]) -> Part:
    """The part that calls ``factory`` with what the parts give; fixed where all of them are."""
    settled = [part.value if isinstance(part, Fixed) else None for part in parts]
    if all(isinstance(part, Fixed) for part in parts):
        return Fixed(factory(*settled))
    open_parts = [(i, part) for i, part in enumerate(parts) if not isinstance(part, Fixed)]
    if len(open_parts) == len(parts) == 1:
        only = parts[0]
        return lambda values: factory(only(values))

    def make(values: Values) -> Any:
        arguments = settled.copy()
        for i, part in open_parts:
            arguments[i] = part(values)
        return factory(*arguments)

    return make


def combine_tuple(parts: Sequence[Part]) -> Part:
    """A tuple of what the parts give."""
    return combine(lambda *items: items, parts)


def combine_dict(parts: dict[str, Part]) -> Part:
    """A dict of what the parts give."""
    settled = {key: part.value if isinstance(part, Fixed) else None for key, part in parts.items()}
    open_parts = [(key, part) for key, part in parts.items() if not isinstance(part, Fixed)]
    if not open_parts:
        return Fixed(settled)

    def make(values: Values) -> dict[str, Any]:
        result = settled.copy()
        for key, part in open_parts:
            result[key] = part(values)
        return result

    return make


def joined(pieces: Sequence[str | tuple[str]]) -> Part:
    """The text made of literal strings and of values under the keys given as 1-tuples."""
    keys = [piece[0] for piece in pieces if isinstance(piece, tuple)]
    if not keys:
        return Fixed("".join(str(piece) for piece in pieces))
    if len(pieces) == 1:
        key = keys[0]
        return lambda values: str(values[key])
    pattern = "".join(
        "%s" if isinstance(piece, tuple) else piece.replace("%", "%%") for piece in pieces
    )
    get = itemgetter(*keys)
    return lambda values: pattern % get(values)


def writer(nature: Nature, style: str, language: str) -> Callable[[Any], Any]:
    """The function that writes a raw value; ``language`` is empty in machine values."""
    if style == "raw" or nature in ("text", "number"):
        return str
    if nature == "choice":
        return (lambda item: item.shown(language)) if language and not style else _choice_value
    if nature == "money":
        if style == "plain" or not language:
            return plain_money
        return _money_zh if language == "zh" else _money_en
    if style == "plain" or not language:
        return billing_date
    return _date_zh if language == "zh" else _date_en


def plain_money(cents: int) -> str:
    """Cents as an amount without a currency: 2784 is ``27.84``."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}.{rest:02d}"


def _money_en(cents: int) -> str:
    return f"CNY {plain_money(cents)}"


def _money_zh(cents: int) -> str:
    return f"{plain_money(cents)}元"


def _date_en(moment: int) -> str:
    year, month, day = billing_date(moment).split("-")
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def _date_zh(moment: int) -> str:
    year, month, day = billing_date(moment).split("-")
    return f"{year}年{int(month)}月{int(day)}日"


def _choice_value(item: Any) -> str:
    return str(item.value)
