"""One finished episode as results know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What statistics need of one episode.

    Attributes:
        agent: The agent's name.
        ticket: The ticket's registered name.
        digest: The ticket's digest.
        seed: The seed.
        variant: The root cause that was played.
        language: The language.
        outcome: An outcome of METRICS section 3.
        success: None for an unscored ticket and for an invalid episode.
        valid: False where the infrastructure failed: the episode says nothing about the agent.
        return_micro: The return in millionths; None for an invalid episode.
        metrics: METRICS section 2, with constant keys.
        error: What failed, if anything did: a type and a place, never a message.
        mode: How it was played: ``normal``, or a mode whose results are never mixed with others.
    """

    agent: str
    ticket: str
    digest: str
    seed: int
    variant: str
    language: str
    outcome: str
    success: bool | None
    valid: bool
    return_micro: int | None
    metrics: Mapping[str, Any]
    error: str = ""
    mode: str = "normal"

    @classmethod
    def from_episode(cls, episode: Mapping[str, Any]) -> Row:
        """The row of a stored episode."""
        return cls(**{name: episode[name] for name in cls.__slots__ if name in episode})

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}
