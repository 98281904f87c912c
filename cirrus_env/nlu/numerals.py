"""Numbers and months in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DIGITS: Final = "零一二三四五六七八九"


def _english(n: int) -> str:
    if n < 20:
        return _ONES[n]
    tens, ones = divmod(n, 10)
    return _TENS[tens - 2] + (f" {_ONES[ones]}" if ones else "")


def _chinese(n: int) -> str:
    tens, ones = divmod(n, 10)
    head = "" if tens == 0 else "十" if tens == 1 else f"{_DIGITS[tens]}十"
    return head + (_DIGITS[ones] if ones or not tens else "")


NUMERALS: Final = tuple(
    (n, (_english(n), _chinese(n), *(("两",) if n == 2 else ()))) for n in range(1, 100)
)
"""1 to 99 with their English and Chinese writings."""

MONTHS: Final = MappingProxyType(
    {
        name: number
        for number, names in enumerate(
            (
                "january jan", "february feb", "march mar", "april apr", "may", "june jun",
                "july jul", "august aug", "september sep sept", "october oct", "november nov",
                "december dec",
            ),
            1,
        )
        for name in names.split()
    }
)  # fmt: skip
