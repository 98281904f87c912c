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
from cirrus_env.tickets.predicates import All, Asked, CustomerDid, Predicate, Told

EVENT_KINDS: Final = frozenset({"action", "consent", "verification"})
"""Kinds that need the event itself after their ancestors, not a state or an older event."""


class Progress:
    """The checkpoints of one scenario with their ancestors.

    Args:
        checkpoints: In listed order, a topological order of ``after``.
    """

    __slots__ = ("_checkpoints", "_first", "_shape")

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._checkpoints = tuple(checkpoints)
        self._shape = shape_of(self._checkpoints)
        self._first = [_first_needed(c.evidence) for c in self._checkpoints]

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
        happened = (evidence.told, evidence.asked, evidence.did)
        for k in _open(self._shape, tuple(passed)):
            first = self._first[k]
            if first is not None and first[1] not in happened[first[0]]:
                continue
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


def _first_needed(evidence: Predicate) -> tuple[int, str] | None:
    """Something without which the predicate can't hold, cheap to look up; None where there is none.

    Returns:
        Whether it is told (0), asked (1) or done by the customer (2), and its name.
    """
    if isinstance(evidence, Told):
        return 0, evidence.slot
    if isinstance(evidence, Asked):
        return 1, evidence.fact
    if isinstance(evidence, CustomerDid):
        return 2, evidence.action
    if isinstance(evidence, All):
        for part in evidence.parts:
            found = _first_needed(part)
            if found is not None:
                return found
    return None


@lru_cache(maxsize=8192)
def _open(shape: Shape, passed: tuple[str, ...]) -> tuple[int, ...]:
    """The checkpoints that may pass next: not passed, and all that they need has."""
    return tuple(
        k
        for k, id in enumerate(shape.skips)
        if id not in passed and shape.needed[k].issubset(passed)
    )
