"""What a turn costs the simulated customer's patience."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final = 2
"""More questions than this in one reply cost extra."""


def cost(*, productive: bool, questions: int, repeated: bool) -> int:
    """Units of patience that a turn costs.

    Args:
        productive: Whether something was newly told rightly, a question answered, something agreed
            or an instruction followed.
        questions: How many questions the reply asked.
        repeated: Whether the reply repeats an earlier one.
    """
    units = 0 if productive else 1
    if questions > QUESTIONS:
        units += 1
    if repeated and not productive:
        units += 1
    return units
