"""What a recorded reply tells: texts that a right reply must hold, each with its other writings.

Only what can be recognised in other words too: figures, times, addresses, ids, names of things and
quoted labels. What the customer said itself is no fact, or a parrot would tell it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

MOST: Final = 8
"""How many facts one reply is asked for."""

Writings = tuple[str, ...]
"""One fact: what the reply says, lower case, and other ways to write it."""

_ADDRESS: Final = re.compile(
    r"https?://[^\s<>()\"'\]\u3000-\u303f\uff00-\uffef]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w@.])(?:[a-z0-9-]+\.)+[a-z]{2,}(?![\w@])",
    re.ASCII,
)
_TIME: Final = re.compile(r"(?<![\d:])(\d{1,2})(?::(\d\d))?(?::\d\d)?\s?([ap])\.?m\b", re.I)
_ID: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])\w[\w-]{3,}(?![\w-])", re.ASCII)
_CAMEL: Final = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
_FIGURE: Final = re.compile(r"(?<![\w.])\d+(?:[.,:/-]\d+)*%?(?!\w)", re.ASCII)
_COUNTED: Final = re.compile(
    r"(?<![\w.,:/-])(\d+(?:[.,]\d+)*)[ -](?!and\b|are\b|the\b|for\b|was\b|were\b|with\b|from\b)"
    r"([a-z]{3,})",
    re.ASCII,
)
_COUNTED_ZH: Final = re.compile(r"(?<![\d.,:/-])(\d+)\s?([\u4e00-\u9fff]{1,2})")
_QUOTED: Final = re.compile(
    r"\u201c([^\u201d\n]{2,40})\u201d|\"([^\"\n]{2,40})\"|\u300c([^\u300d\n]{2,40})\u300d"
    r"|\*\*([^*\n]{2,40})\*\*|`([^`\n]{2,40})`"
)
_BULLET: Final = re.compile(r"^\s*(?:\d+[.)\u3001]|[-*\u2022])\s", re.M)
_NAMING: Final = re.compile(r"[A-Z\d]| ")
_LONGEST: Final = 60


def facts_of(reply: str, results: Sequence[Any] | None, known: Iterable[str]) -> list[Writings]:
    """The facts of a reply, in order of mention.

    Args:
        reply: The words.
        results: Results of the calls so far: only what they brought is a fact. None where there
            were no calls: then every figure, address, id and quoted label is one.
        known: Texts whose content is no news: what the customer said, facts told before.
    """
    text = _BULLET.sub("\n", reply)
    found: list[tuple[int, int, Writings]] = []
    if results is None:
        found += _stated(text)
    else:
        found += _brought(text, list(_leaves(list(results))))
    told = "\n".join(known).lower()
    facts: list[Writings] = []
    taken: list[tuple[int, int]] = []
    for start, end, writings in sorted(found, key=lambda item: (item[0], -item[1])):
        if any(start < stop and begin < end for begin, stop in taken):
            continue
        taken.append((start, end))
        if writings in facts or any(_within(writing, told) for writing in writings):
            continue
        facts.append(writings)
    return facts[:MOST]


def _stated(text: str) -> Iterator[tuple[int, int, Writings]]:
    yield from _times(text)
    for pattern in (_ADDRESS, _ID, _CAMEL):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), (match[0].lower().rstrip("."),)
    for match in _QUOTED.finditer(text):
        inside = next(group for group in match.groups() if group)
        if inside.strip():
            yield match.start(), match.end(), (" ".join(inside.lower().split()),)
    for match in _COUNTED.finditer(text):
        yield match.start(), match.end(), (f"{match[1]} {match[2]}", f"{match[1]}-{match[2]}")
    for match in _COUNTED_ZH.finditer(text):
        yield match.start(), match.end(), (f"{match[1]}{match[2][0]}", match[0])
    for match in _FIGURE.finditer(text):
        if len(match[0]) > 1:
            yield match.start(), match.end(), figures(match[0])


def _brought(text: str, leaves: list[Any]) -> Iterator[tuple[int, int, Writings]]:
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    joined = "\n".join(texts)
    numbers = {_number(leaf) for leaf in leaves if isinstance(leaf, int | float)} - {""}
    for start, end, writings in _times(text):
        if any(_within(writing, joined) for writing in writings if ":" in writing):
            yield start, end, writings
    for match in _ADDRESS.finditer(text):
        if match[0].rstrip(".") in joined:
            yield match.start(), match.end(), (match[0].lower().rstrip("."),)
    for match in _FIGURE.finditer(text):
        if _figure_is_brought(match[0], joined, texts, numbers):
            yield match.start(), match.end(), figures(match[0])
    lowered = " ".join(text.lower().split())
    if len(lowered) == len(text):
        for leaf in dict.fromkeys(texts):
            name = " ".join(leaf.lower().split())
            if 4 <= len(name) <= _LONGEST and _NAMING.search(leaf) and not _FIGURE.fullmatch(leaf):
                place = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", lowered)
                if place is not None:
                    yield place.start(), place.end(), (name,)


def _figure_is_brought(figure: str, joined: str, texts: list[str], numbers: set[str]) -> bool:
    """A number of the results; a longer figure also as part of a text, such as a date."""
    plain = figure.replace(",", "").rstrip("%")
    if len(plain) > 1 and (_number(plain) in numbers or plain in texts):
        return True
    if plain.isdecimal():
        return len(plain) > 3 and _within(plain, joined)
    return _within(figure, joined) or _within(f"0{figure}", joined)


def _times(text: str) -> Iterator[tuple[int, int, Writings]]:
    for match in _TIME.finditer(text):
        hour, minute, half = int(match[1]), match[2] or "00", match[3].lower()
        if not 1 <= hour <= 12 or int(minute) > 59:
            continue
        day = hour % 12 + (12 if half == "p" else 0)
        writings = [f"{hour}:{minute} {half}m", f"{hour}:{minute}{half}m", f"{day:02}:{minute}",
                    f"{day}:{minute}", f"{hour}:{minute}"]  # fmt: skip
        if minute == "00":
            writings += [f"{hour} {half}m", f"{hour}{half}m"]
        yield match.start(), match.end(), tuple(dict.fromkeys(writings))


def figures(figure: str) -> Writings:
    """A figure as it is written and as others may write it."""
    writings = [figure.lower()]
    bare = figure.replace(",", "")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", figure) or re.fullmatch(r"\d+\.\d+", figure):
        writings.append(bare)
        if "." in bare:
            short = bare.rstrip("0").rstrip(".")
            writings += [short, f"{short}.00" if "." not in short else bare]
    if re.fullmatch(r"\d{4,}(?:\.\d+)?", figure):
        whole, dot, part = figure.partition(".")
        writings.append(f"{int(whole):,}{dot}{part}")
    if re.fullmatch(r"\d:\d\d", figure):
        writings.append(f"0{figure}")
    if re.fullmatch(r"0\d:\d\d", figure):
        writings.append(figure[1:])
    return tuple(dict.fromkeys(writings))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def _number(value: Any) -> str:
    """A number as one would say it: no trailing zeros."""
    try:
        return f"{float(value):.10g}"
    except (ValueError, OverflowError):
        return ""


def _within(part: str, text: str) -> bool:
    """Whether the text holds the part as whole words and figures."""
    return re.search(rf"(?<![\w.]){re.escape(part)}(?![\w])", text) is not None
