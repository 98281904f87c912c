"""Gymnasium wrappers: each changes one thing, and they stack in any order.

======================  ============================================================================
wrapper                 what it does
======================  ============================================================================
``ChatMessages``        observations are chat messages and tool schemas
``ToolCallText``        actions are the raw text of a model of some family
``CandidateActions``    ``Discrete`` actions with masks and a ``Box`` observation
``CustomReward``        the ticket's return under another rule
``ToolFaults``          seeded throttling, lost answers, stale reads, partial pages
``DistractionTools``    tools of services that the ticket doesn't need
``ScrambledNames``      tools under names that mean nothing; metrics keep the true ones
``TokenBudget``         budgets of visible tokens for a turn and for an episode
``EarlyStop``           stops an episode that gets nowhere
``RecordTrajectories``  hands every finished episode to a sink, such as a run's folder
======================  ============================================================================

``CandidateActions`` alone goes straight onto ``gymnasium.make``'s environment, with the others over
it. Each comes back from ``env.spec``, and refuses what it can't work with (``OptionError``) when it
is made. They load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cirrus_env.wrappers.candidates.view import CandidateActions
    from cirrus_env.wrappers.chat import ChatMessages, ToolCallText
    from cirrus_env.wrappers.custom_reward import CustomReward
    from cirrus_env.wrappers.distraction_tools import DistractionTools
    from cirrus_env.wrappers.early_stop import EarlyStop
    from cirrus_env.wrappers.record_trajectories import RecordTrajectories
    from cirrus_env.wrappers.scrambled_names import ScrambledNames
    from cirrus_env.wrappers.token_budget import TokenBudget
    from cirrus_env.wrappers.tool_faults import ToolFaults

__all__ = [
    "CandidateActions",
    "ChatMessages",
    "CustomReward",
    "DistractionTools",
    "EarlyStop",
    "RecordTrajectories",
    "ScrambledNames",
    "TokenBudget",
    "ToolCallText",
    "ToolFaults",
]

_LAZY: Final = {
    "CandidateActions": "cirrus_env.wrappers.candidates.view",
    "ChatMessages": "cirrus_env.wrappers.chat",
    "CustomReward": "cirrus_env.wrappers.custom_reward",
    "DistractionTools": "cirrus_env.wrappers.distraction_tools",
    "EarlyStop": "cirrus_env.wrappers.early_stop",
    "RecordTrajectories": "cirrus_env.wrappers.record_trajectories",
    "ScrambledNames": "cirrus_env.wrappers.scrambled_names",
    "TokenBudget": "cirrus_env.wrappers.token_budget",
    "ToolCallText": "cirrus_env.wrappers.chat",
    "ToolFaults": "cirrus_env.wrappers.tool_faults",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
