"""One turn of a policy: its calls, and the words that end it."""

from __future__ import annotations

from typing import Final

from cirrus_env.baselines.policy import Policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView

MOST_CALLS: Final = 60
"""Calls, and actions of any kind, after which an attempt is cut off without a reply."""


def play_turn(policy: Policy, episode: TicketEpisode) -> None:
    """Let a policy act until it has spoken, the episode has ended, or it has called too often."""
    state = episode.state
    turn, most = state.turn, state.tool_calls + MOST_CALLS
    view = AssistantView()
    for _ in range(MOST_CALLS):
        episode.step(policy.act(view.observe(episode)))
        state = episode.state
        if state.outcome is not None or state.turn > turn or state.tool_calls >= most:
            return
