"""Labelled hash streams: the only source of chance.

Every draw comes from ``Stream(seed, label)``, so one more draw under one label never shifts a draw
under another, and the bytes are the same on every machine (RELIABILITY, law R1).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_FIRST = bytes(8)
_ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class Stream:
    """Numbers derived from ``blake2b(seed, label, counter)``.

    Args:
        seed: Any integer.
        label: What is drawn, such as ``"parameter:instance"``.
    """

    __slots__ = ("_counter", "_label", "_pool", "_room", "_seed")

    def __init__(self, seed: int, label: str) -> None:
        self._seed, self._label = seed, label
        self._counter = 0
        self._pool = 0
        self._room = 1

    def copy(self) -> Stream:
        """A stream that goes on as this one does."""
        other = Stream.__new__(Stream)
        other._seed, other._label = self._seed, self._label
        other._counter, other._pool, other._room = self._counter, self._pool, self._room
        return other

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (self._seed, self._label, self._counter, self._pool, self._room)

    def __deepcopy__(self, memo: object) -> Stream:
        return self.copy()

    def below(self, bound: int) -> int:
        """A uniform integer in ``[0, bound)``; ``bound`` at most 2**128."""
        if bound < 1:
            raise ValueError(f"bound must be positive, not {bound}")
        if self._room < bound << 64:
            block = f"{self._seed}\x1f{self._label}".encode() + self._counter.to_bytes(8, "big")
            self._counter += 1
            self._pool = int.from_bytes(blake2b(block, digest_size=32).digest(), "big")
            self._room = 1 << 256
        self._pool, value = divmod(self._pool, bound)
        self._room //= bound
        return value

    def integer(self, low: int, high: int) -> int:
        """A uniform integer in ``[low, high]``."""
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each as likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order."""
        result = list(items)
        for i in range(len(result) - 1, 0, -1):
            j = self.below(i + 1)
            result[i], result[j] = result[j], result[i]
        return result

    def letters(self, length: int) -> str:
        """A string of lower-case letters and digits; ``length`` at most 36."""
        value = self.below(36**length) if length <= 12 else 0
        if length > 12:
            return self.letters(12) + self.letters(length - 12)
        characters = []
        for _ in range(length):
            value, digit = divmod(value, 36)
            characters.append(_ID_ALPHABET[digit])
        return "".join(characters)

    def hexadecimal(self, length: int) -> str:
        """A string of hex digits; ``length`` at most 32."""
        return f"{self.below(16**length):0{length}x}"

    def digits(self, length: int) -> str:
        """A string of decimal digits that doesn't start with 0; ``length`` at most 30."""
        return str(self.integer(10 ** (length - 1), 10**length - 1))


def first_below(seed: int, label: str, bound: int) -> int:
    """What ``Stream(seed, label).below(bound)`` gives first, at half the cost.

    A scenario draws a dozen parameters, each once, from streams of their own.
    """
    block = f"{seed}\x1f{label}".encode() + _FIRST
    return int.from_bytes(blake2b(block, digest_size=32).digest(), "big") % bound


def _revive(seed: int, label: str, counter: int, pool: int, room: int) -> Stream:
    stream = Stream(seed, label)
    stream._counter, stream._pool, stream._room = counter, pool, room
    return stream
