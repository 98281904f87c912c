"""The shape of a scenario's checkpoints: what each one's passing skips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cirrus_env.tickets.model import Checkpoint


@dataclass(frozen=True, slots=True)
class Shape:
    """What the metrics need to know of the checkpoints' graph.

    Attributes:
        skips: Checkpoint -> its skippable ancestors, in listed order.
        identities: Checkpoints of kind ``identity``.
    """

    skips: Mapping[str, tuple[str, ...]]
    identities: frozenset[str]


def shape_of(checkpoints: Sequence[Checkpoint]) -> Shape:
    """The shape of checkpoints listed in a topological order; unknown parents are absent ones."""
    skips: dict[str, tuple[str, ...]] = {}
    skippable = {c.id for c in checkpoints if c.skippable}
    for checkpoint in checkpoints:
        above: dict[str, None] = {}
        for parent in checkpoint.after:
            above.update(dict.fromkeys(skips.get(parent, ())))
            if parent in skippable:
                above[parent] = None
        skips[checkpoint.id] = tuple(above)
    return Shape(skips, frozenset(c.id for c in checkpoints if c.kind == "identity"))
