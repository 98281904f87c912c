"""What a policy is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from cirrus_env.wire import AssistantAction

Observation = Mapping[str, Any]
"""``message``, ``role``, ``transcript`` (JSON chat messages), ``tools`` (JSON schemas), ``turn``,
``budget``."""


@runtime_checkable
class Policy(Protocol):
    """Maps observations to actions; never sees ``info``."""

    name: str

    def reset(self, seed: int) -> None:
        """Begin an episode.

        Args:
            seed: Where its own chance comes from, if it has any.
        """
        ...

    def act(self, observation: Observation) -> AssistantAction | str:
        """The next action; a string is a reply."""
        ...
