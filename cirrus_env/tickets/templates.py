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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, overload

from cirrus_env.world.clock import billing_date

Values = dict[str, Any]
"""Parameter values by name, and what placeholders show by ``name|style|language``."""

Part = Callable[[Values], Any]
"""A piece of a scenario, made from the values of a seed."""

Nature = Literal["text", "money", "number", "date", "choice"]
"""What a parameter is, as far as writing it goes; ids, names and wordings are ``text``."""

STYLES: Final = ("plain", "raw")

PICK: Final = "#pick"
"""The value from which wordings are picked: 64 bits of ``Stream(seed, "wording")``."""

_MASK: Final = (1 << 64) - 1

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


class Pick:
    """One of several parts, by the seed and a label alone.

    A multiplicative hash of one draw stands in for a stream for each text: a ticket has dozens.
    """

    __slots__ = ("_odd", "parts")

    def __init__(self, parts: Sequence[Part], label: str | int) -> None:
        self.parts = tuple(parts)
        if isinstance(label, str):
            label = int.from_bytes(blake2b(label.encode(), digest_size=8).digest(), "big") | 1
        self._odd = label

    def __call__(self, values: Values) -> Any:
        """What the picked part gives."""
        parts = self.parts
        return parts[((values[PICK] * self._odd & _MASK) >> 40) % len(parts)](values)

    def each(self, change: Callable[[Part], Part]) -> Pick:
        """The same choice among changed parts."""
        return Pick([change(part) for part in self.parts], self._odd)


def pick(parts: Sequence[Part], label: str) -> Part:
    """A ``Pick``, or the only part."""
    return parts[0] if len(parts) == 1 else Pick(parts, label)


def combine(factory: Callable[..., Any], parts: Sequence[Part]) -> Part:
    """The part that calls ``factory`` with what the parts give; fixed where all of them are."""
    settled = [part.value if isinstance(part, Fixed) else None for part in parts]
    open_parts = [(i, part) for i, part in enumerate(parts) if not isinstance(part, Fixed)]
    if not open_parts:
        return Fixed(factory(*settled))
    if len(open_parts) == 1:
        i, only = open_parts[0]
        if isinstance(only, Pick):
            before, after = list(parts[:i]), list(parts[i + 1 :])
            return only.each(lambda part: combine(factory, [*before, part, *after]))
        if len(parts) == 1:
            return lambda values: factory(only(values))

    def make(values: Values) -> Any:
        arguments = settled.copy()
        for i, part in open_parts:
            arguments[i] = part(values)
        return factory(*arguments)

    return make


def assemble(kind: type, given: Mapping[str, Part]) -> Part:
    """The part that gives a frozen dataclass from its fields' parts; defaults fill the rest.

    A frozen dataclass's own ``__init__`` sets each field through ``object.__setattr__``; calling
    the slots' setters costs half of that, and a scenario is some hundred objects.
    """
    if all(isinstance(part, Fixed) for part in given.values()):
        return Fixed(kind(**{name: part({}) for name, part in given.items()}))
    picks = [name for name, part in given.items() if isinstance(part, Pick)]
    if picks and all(isinstance(p, Fixed) for n, p in given.items() if n != picks[0]):
        chosen = given[picks[0]]
        if isinstance(chosen, Pick):
            return chosen.each(lambda part: assemble(kind, {**given, picks[0]: part}))
    settled, open_parts = setters(kind, given)
    new = object.__new__

    def make(values: Values) -> Any:
        result: Any = new(kind)
        for set_field, value in settled:
            set_field(result, value)
        for set_field, part in open_parts:
            set_field(result, part(values))
        return result

    return make


Setter = Callable[[Any, Any], None]


def setters(
    kind: type, given: Mapping[str, Part]
) -> tuple[list[tuple[Setter, Any]], list[tuple[Setter, Part]]]:
    """The slot setters of a frozen dataclass: with fixed values, and with parts still to fill."""
    settled: list[tuple[Setter, Any]] = []
    open_parts: list[tuple[Setter, Part]] = []
    for field in fields(kind):
        setter = getattr(kind, field.name).__set__
        part = given.get(field.name)
        if part is None:
            if field.default_factory is not MISSING:
                settled.append((setter, field.default_factory()))
            elif field.default is not MISSING:
                settled.append((setter, field.default))
        elif isinstance(part, Fixed):
            settled.append((setter, part.value))
        else:
            open_parts.append((setter, part))
    return settled, open_parts


class Texts(Sequence[str]):
    """Texts that are written only when somebody reads them: gold that no episode needs."""

    __slots__ = ("_parts", "_values")

    def __init__(self, parts: tuple[Part, ...], values: Values) -> None:
        self._parts, self._values = parts, values

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """One text, or some."""
        return tuple(part(self._values) for part in self._parts)[index]

    def __len__(self) -> int:
        return len(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __deepcopy__(self, memo: object) -> Texts:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # the parts are functions made on the spot; the texts are what they come to
        return tuple, (list(self),)


def combine_texts(parts: Sequence[Part]) -> Part:
    """A sequence of texts, written on first reading where they aren't fixed."""
    if all(isinstance(part, Fixed) for part in parts):
        return combine_tuple(parts)
    listed = tuple(parts)
    return lambda values: Texts(listed, values)


def combine_tuple(parts: Sequence[Part]) -> Part:
    """A tuple of what the parts give."""
    if all(isinstance(part, Fixed) for part in parts):
        return Fixed(tuple(part({}) for part in parts))
    parts = tuple(parts)
    return lambda values: tuple([part(values) for part in parts])


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
