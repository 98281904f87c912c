"""Which checkpoints pass, and when (METRICS section 1): passing latches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from cirrus_env.cloud.kernel import Cloud
from cirrus_env.nlu.evidence import Evidence, holds
from cirrus_env.tickets.model import Checkpoint

EVENT_KINDS: Final = frozenset({"action", "consent", "verification"})
"""Kinds that need the event itself after their ancestors, not a state or an older event."""


_Open = tuple[tuple[Checkpoint, tuple[str, ...]], ...]


class Progress:
    """The checkpoints of one scenario with their ancestors.

    Args:
        checkpoints: In listed order, a topological order of ``after``.
    """

    __slots__ = ("_opened", "_plan")

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        ancestors: dict[str, tuple[str, ...]] = {}
        skippable = {c.id for c in checkpoints if c.skippable}
        plan = []
        for checkpoint in checkpoints:
            above: dict[str, None] = {}
            for parent in checkpoint.after:
                if parent in ancestors:
                    above.update(dict.fromkeys(ancestors[parent]))
                    above[parent] = None
            ancestors[checkpoint.id] = tuple(above)
            needed = tuple(a for a in above if a not in skippable)
            plan.append((checkpoint, needed, tuple(above)))
        self._plan = tuple(plan)
        self._opened: dict[tuple[str, ...], _Open] = {}  # by what has passed: only a memory

    def newly_passed(self, evidence: Evidence, cloud: Cloud, step: int) -> list[str]:
        """The checkpoints that pass at this step; writes them into ``evidence.passed``.

        A checkpoint passes only when every ancestor has passed at an earlier step or is skippable.
        An escalation's facts count as told only where the hand-over summary tells them.
        """
        passed = evidence.passed
        new: list[str] = []
        for checkpoint, above in self._open(passed):
            if above and any(passed.get(a) == step or a in new for a in above):
                continue
            since = -1
            if above and checkpoint.kind in EVENT_KINDS:
                since = max((passed[a] for a in above if a in passed), default=-1)
            known = evidence
            if checkpoint.kind == "escalation":
                if not evidence.handed:
                    continue
                known = replace(evidence, told=evidence.handed)
            if holds(checkpoint.evidence, known, cloud, since):
                new.append(checkpoint.id)
        for name in new:
            passed[name] = step
        return new

    def _open(self, passed: Mapping[str, int]) -> _Open:
        """The checkpoints that may pass next: not passed, and all that they need has."""
        names = tuple(passed)
        found = self._opened.get(names)
        if found is None:
            found = self._opened[names] = tuple(
                (checkpoint, above)
                for checkpoint, needed, above in self._plan
                if checkpoint.id not in passed and all(name in passed for name in needed)
            )
        return found

    def skipped(self, evidence: Evidence) -> list[str]:
        """Skippable checkpoints that were not passed although a descendant was."""
        passed = evidence.passed
        jumped: dict[str, None] = {}
        for checkpoint, needed, above in self._plan:
            if checkpoint.id in passed:
                jumped.update((a, None) for a in above if a not in passed and a not in needed)
        return list(jumped)
