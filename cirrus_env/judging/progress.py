"""Which checkpoints pass, and when (METRICS section 1): passing latches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from cirrus_env.cloud.kernel import Cloud
from cirrus_env.judging.shape import Shape, shape_of
from cirrus_env.nlu.evidence import Evidence, holds
from cirrus_env.tickets.model import Checkpoint

EVENT_KINDS: Final = frozenset({"action", "consent", "verification"})
"""Kinds that need the event itself after their ancestors, not a state or an older event."""


class Progress:
    """The checkpoints of one scenario with their ancestors.

    Args:
        checkpoints: In listed order, a topological order of ``after``.
    """

    __slots__ = ("_checkpoints", "_shape")

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._checkpoints = tuple(checkpoints)
        self._shape = shape_of(self._checkpoints)

    def newly_passed(self, evidence: Evidence, cloud: Cloud, step: int) -> list[str]:
        """The checkpoints that pass at this step; writes them into ``evidence.passed``.

        A checkpoint passes only when every ancestor has passed at an earlier step or is skippable.
        An escalation's facts count as told only where the hand-over summary tells them.
        """
        passed = evidence.passed
        new: list[str] = []
        if passed and next(reversed(passed.values())) == step:
            new = [name for name, at in passed.items() if at == step]
        before = len(new)
        for k in _open(self._shape, tuple(passed)):
            checkpoint, above = self._checkpoints[k], self._shape.above[k]
            if new and not above.isdisjoint(new):
                continue
            since = -1
            if above and checkpoint.kind in EVENT_KINDS:
                since = max([at for name, at in passed.items() if name in above], default=-1)
            known = evidence
            if checkpoint.kind == "escalation":
                if not evidence.handed:
                    continue
                known = replace(evidence, told=evidence.handed)
            if holds(checkpoint.evidence, known, cloud, since):
                new.append(checkpoint.id)
        del new[:before]
        for name in new:
            passed[name] = step
        return new

    def skipped(self, evidence: Evidence) -> list[str]:
        """Skippable checkpoints that were not passed although a descendant was."""
        passed = evidence.passed
        skips = self._shape.skips
        jumped: dict[str, None] = {}
        for checkpoint in self._checkpoints:
            if checkpoint.id in passed:
                jumped.update((name, None) for name in skips[checkpoint.id] if name not in passed)
        return list(jumped)


@lru_cache(maxsize=8192)
def _open(shape: Shape, passed: tuple[str, ...]) -> tuple[int, ...]:
    """The checkpoints that may pass next: not passed, and all that they need has."""
    return tuple(
        k
        for k, id in enumerate(shape.skips)
        if id not in passed and shape.needed[k].issubset(passed)
    )
