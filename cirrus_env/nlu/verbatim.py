"""Spans that a reply repeats word for word from a text that it was given.

A span counts by its words: twelve of them, or twenty CJK characters, are a quotation (METRICS
section 4). Every span of that length holds a run of ``RUN`` words that starts at a multiple of
``STRIDE`` in the source, so only those runs are indexed. From such a run on, a longer text in which
now and then a few words were exchanged or put in between is a quotation as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

SHORTEST: Final = 12
"""Fewer words (or CJK characters) than this are no quotation."""
RUN: Final = 5
STRIDE: Final = 8
_ENOUGH: Final = 60
_ENOUGH_CHANGED: Final = 100
"""So much has to be repeated where words were exchanged or put in between."""
_AGAIN: Final = 20
"""After such a change the source has to go on for so much."""
_GAP: Final = 4
_WORD: Final = 5
_CHARACTER: Final = 3
_MOST_PLACES: Final = 8
_LONG: Final = 1_500
"""A text of so many characters is likely an article, the same in other episodes."""
_BREAK: Final = " ; "

Words = tuple[str, ...]
Place = tuple[Words, int]
"""A text's words, and where among them."""

_SPACED: Final = "".join(chr(i) if chr(i).isalnum() else " " for i in range(128))
_PIECE: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


class LeftOut(NamedTuple):
    """The scenario's own values, which don't count as quoted words.

    Attributes:
        texts: Ids, amounts and dates as they are written.
        numbers: Whole words that are numbers.
    """

    texts: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()


def words(text: str, left_out: LeftOut) -> list[str]:
    """The words and CJK characters of flat lower-case text, without signs and left-out values."""
    text = _without(text, left_out.texts)
    found = text.translate(_SPACED).split() if text.isascii() else _PIECE.findall(text)
    if left_out.numbers and not left_out.numbers.isdisjoint(found):
        found = [word for word in found if word not in left_out.numbers]
    return found


def _without(text: str, texts: tuple[str, ...]) -> str:
    for value in texts:
        if value in text:
            text = text.replace(value, " " * len(value))
    return text


class Sources:
    """Texts that a reply may repeat.

    Most replies repeat none, so that each text costs little until one does: what is kept of it at
    first are its words and the runs among them, without their places.
    """

    __slots__ = ("_index", "_indexed", "_runs", "_texts")

    def __init__(self) -> None:
        self._texts: list[Words] = []
        self._runs: set[Words] = set()
        self._index: dict[Words, list[Place]] = {}
        self._indexed = 0

    def add(self, lowered: str, left_out: LeftOut) -> None:
        """Take in a text, given flat and in lower case."""
        text = _without(lowered, left_out.texts)
        found, runs = _split_once(text) if len(text) > _LONG else _split(text)
        if left_out.numbers and not left_out.numbers.isdisjoint(found):
            found = tuple([word for word in found if word not in left_out.numbers])
            runs = _runs(found)
        self._texts.append(found)
        self._runs.update(runs)

    def spans(self, found: list[str]) -> list[tuple[int, int]]:
        """Quoted spans of a reply, as ranges of its words."""
        runs = list(zip(found, found[1:], found[2:], found[3:], found[4:], strict=False))
        return [] if self._runs.isdisjoint(runs) else _spans(found, runs, self._places())

    def _places(self) -> Mapping[Words, list[Place]]:
        for text in self._texts[self._indexed :]:
            for n, run in enumerate(_runs(text)):
                places = self._index.setdefault(run, [])
                if len(places) < _MOST_PLACES:
                    places.append((text, n * STRIDE))
        self._indexed = len(self._texts)
        return self._index


def _split(text: str) -> tuple[Words, tuple[Words, ...]]:
    """The words of flat lower-case text, and the runs of them that start at every ``STRIDE``."""
    found = tuple(text.translate(_SPACED).split() if text.isascii() else _PIECE.findall(text))
    return found, _runs(found)


_split_once = lru_cache(maxsize=256)(_split)
"""Articles come again and again."""


def _runs(found: Words) -> tuple[Words, ...]:
    return tuple(
        zip(
            found[::STRIDE], found[1::STRIDE], found[2::STRIDE], found[3::STRIDE],
            found[4::STRIDE], strict=False,
        )
    )  # fmt: skip


def _spans(
    found: list[str], runs: Sequence[Words], index: Mapping[Words, list[Place]]
) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    reached = 0
    for i, run in enumerate(runs):
        if i < reached:
            continue
        for source, at in index.get(run, ()):
            start, end = _extend(found, i, source, at)
            weight = _weight(found, start, end)
            if weight < _ENOUGH:
                start, end, weight = _chained(found, (start, end), source, at + start - i)
                if weight < _ENOUGH_CHANGED:
                    continue
            result.append((start, end))
            reached = max(reached, end)
    return result


def blanked(lowered: str, left_out: LeftOut, quoted: list[tuple[int, int]]) -> str:
    """The flat lower-case text without the quoted spans."""
    places = [
        match.span()
        for match in _PIECE.finditer(_without(lowered, left_out.texts))
        if match[0] not in left_out.numbers
    ]
    kept: list[str] = []
    reached = 0
    for start, end in sorted(quoted):
        first, last = places[start][0], places[end - 1][1]
        if last > reached:
            kept += (lowered[reached : max(first, reached)], _BREAK)
            reached = last
    kept.append(lowered[reached:])
    return "".join(kept)


def _extend(found: list[str], i: int, source: Words, at: int) -> tuple[int, int]:
    start, end = i, i + RUN
    before, after = at, at + RUN
    while start and before and found[start - 1] == source[before - 1]:
        start, before = start - 1, before - 1
    while end < len(found) and after < len(source) and found[end] == source[after]:
        end, after = end + 1, after + 1
    return start, end


def _chained(
    found: list[str], span: tuple[int, int], source: Words, at: int
) -> tuple[int, int, int]:
    """The span with what goes on after a few other words, and how much of it is repeated."""
    start, end = span
    weight = _weight(found, start, end)
    place = at + end - start
    while step := _resumed(found, end, source, place):
        first, place = end + step[0], place + step[1]
        end = first
        while end < len(found) and place < len(source) and found[end] == source[place]:
            end, place = end + 1, place + 1
        weight += _weight(found, first, end)
    return start, end, weight


def _resumed(found: list[str], end: int, source: Words, place: int) -> tuple[int, int] | None:
    """How many words to leave out on both sides until the source goes on; None if it doesn't."""
    for total in range(1, 2 * _GAP + 1):
        for left in range(max(0, total - _GAP), min(_GAP, total) + 1):
            i, k = end + left, place + total - left
            n = 0
            weight = 0
            while weight < _AGAIN and i + n < len(found) and k + n < len(source):
                if found[i + n] != source[k + n]:
                    break
                weight += _CHARACTER if "\u3400" <= found[i + n] <= "\u9fff" else _WORD
                n += 1
            if weight >= _AGAIN:
                return left, total - left
    return None


def _weight(found: list[str], start: int, end: int) -> int:
    return sum(_CHARACTER if "\u3400" <= w <= "\u9fff" else _WORD for w in found[start:end])
