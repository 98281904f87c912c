"""What has been seen, as numbers: hashed words and hashed fields of results.

All indices come from ``zlib.crc32``, so they are the same in every process. Ids, names, digits and
addresses are left out: they are drawn anew for each seed and say nothing about the case.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.intp]

OPENING: Final = 128
"""Places for words of the customer's opening."""

LATER: Final = 128
"""Places for words of everything that it says afterwards."""

LAST: Final = 64
"""Places for words of its last message."""

SHOWN: Final = 384
"""Places for fields of results."""

_WORD: Final = re.compile(r"[A-Za-z']+|[\u4e00-\u9fff]+")
_CODED: Final = re.compile(r"[!-~]*(?:\d|\w-\w)[!-~]*", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER: Final = re.compile(r"(-?\d+(?:\.\d+)?)%?")
_IDLIKE: Final = re.compile(r"([a-zA-Z]{1,4})-[0-9a-z]{6,}|\d{12,16}")
_LEFT_OUT: Final = frozenset({"RequestId", "PageNumber", "PageNum", "PageSize", "TotalCount"})
_ONLY_WHETHER: Final = re.compile(r"(?:[a-z]Name|Description|HostName|Config|Url)$")


@lru_cache(maxsize=8192)
def place(text: str, size: int) -> int:
    """Where a feature goes."""
    return zlib.crc32(text.encode()) % size


def bare(text: str) -> str:
    """A text without its ids, names and numbers."""
    return _CODED.sub(" ", text)


@lru_cache(maxsize=8192)
def words(text: str, first: int, size: int) -> Places:
    """The places of a bare text's words, each once: English words, Chinese pairs of characters.

    Args:
        text: A bare text.
        first: The first of the places.
        size: How many places there are.

    Returns:
        Indices, shared, so not to be written to.
    """
    found: dict[int, None] = {}
    for word in _WORD.findall(text):
        if word[0] >= "\u4e00":
            for pair in pairwise(word):
                found[first + place("".join(pair), size)] = None
        else:
            found[first + place(word.lower(), size)] = None
    return np.array(list(found), dtype=np.intp)


def fields(operation: str, data: Any, known: Set[str], today: str) -> tuple[int, ...]:
    """The places of a result's fields, each once.

    Args:
        operation: What was called.
        data: Its result.
        known: Ids that the dialogue is about: of a list with several records only those that
            mention one of them are looked at.
        today: The date, such as ``2026-11-30``.
    """
    found: dict[int, None] = {}
    for text in _walk(operation, "", data, known, today):
        found[place(text, SHOWN)] = None
    return tuple(found)


def _walk(operation: str, key: str, value: Any, known: Set[str], today: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in _LEFT_OUT:
                yield from _walk(operation, name, item, known, today)
    elif isinstance(value, list):
        yield f"{operation}.{key}*{min(len(value), 2)}"
        for item in value:
            if not isinstance(item, dict):
                yield f"{operation}.{key}={_category(key, item, today)}"
            elif len(value) == 1 or not known.isdisjoint(_texts(item)):
                yield from _walk(operation, key, item, known, today)
    else:
        yield f"{operation}.{key}={_category(key, value, today)}"


def _texts(record: dict[str, Any]) -> list[str]:
    texts: list[str] = []
    for item in record.values():
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, list):
            texts += [one for one in item if isinstance(one, str)]
    return texts


def _category(key: str, value: Any, today: str) -> str:
    """What kind of value it is; the value itself only where it is a short plain word."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return _sign(value)
    return _text_category(key, str(value), today)


def _sign(value: float) -> str:
    if value == int(value) and 0 <= value < 8:
        return str(int(value))
    return "-" if value < 0 else "+"


@lru_cache(maxsize=8192)
def _text_category(key: str, value: str, today: str) -> str:
    if not value:
        return "empty"
    if _DATE.match(value):
        return "past" if value[:10] < today else "today" if value[:10] == today else "future"
    number = _NUMBER.fullmatch(value)
    if number and len(value) < 12:
        return _sign(float(number[1]))
    match = _IDLIKE.fullmatch(value)
    if match:
        return f"id {match[1] or ''}"
    if _ONLY_WHETHER.search(key) or len(value) > 32:
        return "text"
    return value
