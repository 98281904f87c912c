"""One measured number and its goal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        name: What was measured.
        value: The number.
        unit: Its unit.
        goal: What it should be; None for a number that is only there to compare with.
        better: Whether more or less is better.
    """

    name: str
    value: float
    unit: str
    goal: float | None = None
    better: Literal["more", "less"] = "more"

    @property
    def ratio(self) -> float | None:
        """Measured over goal; None without a goal, or where the goal is zero."""
        return self.value / self.goal if self.goal else None

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        if self.goal is None:
            return True
        return self.value >= self.goal if self.better == "more" else self.value <= self.goal

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(rounds: int, work: Callable[[], float]) -> float:
    """The least of several measurements: what the code costs when nothing else runs."""
    return min(work() for _ in range(rounds))
