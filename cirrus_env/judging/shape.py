"""The shape of a scenario's checkpoints: what stands above each, and what its passing skips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cirrus_env.tickets.model import Checkpoint

Outline = tuple[tuple[str, str, bool, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)  # one object an outline: equal where identical
class Shape:
    """What the metrics need to know of the checkpoints' graph.

    Attributes:
        skips: Checkpoint -> its skippable ancestors, in listed order.
        identities: Checkpoints of kind ``identity``.
        above: Each checkpoint's ancestors, in the listed order of checkpoints.
        needed: Those of them that are not skippable.
        outline: What it was made of: id, kind, whether it may be skipped, parents.
    """

    skips: Mapping[str, tuple[str, ...]]
    identities: frozenset[str]
    above: tuple[frozenset[str], ...]
    needed: tuple[frozenset[str], ...]
    outline: Outline

    def __deepcopy__(self, memo: object) -> Shape:
        return self

    def __reduce__(self) -> tuple[object, tuple[Outline]]:
        return shape, (self.outline,)


def shape_of(checkpoints: Sequence[Checkpoint]) -> Shape:
    """The shape of checkpoints listed in a topological order; unknown parents are absent ones."""
    return shape(tuple([(c.id, c.kind, c.skippable, c.after) for c in checkpoints]))


@lru_cache(maxsize=1024)
def shape(outline: Outline) -> Shape:
    """One shape serves all seeds of a variant."""
    ancestors: dict[str, dict[str, None]] = {}
    skips: dict[str, tuple[str, ...]] = {}
    skippable = {id for id, _, skip, _ in outline if skip}
    for id, _, _, after in outline:
        above: dict[str, None] = {}
        for parent in after:
            if parent in ancestors:
                above.update(ancestors[parent])
                above[parent] = None
        ancestors[id] = above
        skips[id] = tuple(name for name in above if name in skippable)
    return Shape(
        skips,
        frozenset(id for id, kind, _, _ in outline if kind == "identity"),
        tuple(frozenset(above) for above in ancestors.values()),
        tuple(frozenset(above) - skippable for above in ancestors.values()),
        outline,
    )
