"""The metrics' formulas, one pure function each (METRICS section 2), as exact fractions."""

from __future__ import annotations

from fractions import Fraction

from cirrus_env.errors import InvariantError

ZERO = Fraction(0)
ONE = Fraction(1)


def rate(part: int, whole: int) -> Fraction | None:
    """``part / whole``; None (not applicable) of an empty whole, never 1.

    Raises:
        InvariantError: If the part is no part of the whole.
    """
    if not 0 <= part <= whole:
        raise InvariantError(f"{part} is no part of {whole}")
    return Fraction(part, whole) if whole else None


def nei(filled: int, jumps: int) -> Fraction | None:
    """The normalized efficiency index, LJ / (F - 1); None for F < 2.

    Raises:
        InvariantError: If there are more jumps than F - 1, which no trajectory can give.
    """
    if jumps > max(0, filled - 1):
        raise InvariantError(f"{jumps} logical jumps among {filled} checkpoints")
    return Fraction(jumps, filled - 1) if filled >= 2 else None


def efficiency(shortest: int, replies: int) -> Fraction:
    """``min(1, shortest / replies)`` of a success; 1 where no reply was needed and none given."""
    return ONE if replies <= shortest else Fraction(shortest, replies)


def latency(tokens: int, oracle: int) -> Fraction:
    """``1 - min(1, max(0, tokens / reference - 1))`` of a success, reference = 1.5 x the oracle's.

    0 where the oracle's tokens are unknown (0): nothing was shown to be fast.
    """
    if oracle <= 0:
        return ZERO
    over = Fraction(2 * tokens, 3 * oracle) - 1
    return ONE - min(ONE, max(ZERO, over))
