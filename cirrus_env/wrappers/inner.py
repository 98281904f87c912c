"""What is under the wrappers: the ticket environment and the episode that it plays."""

from __future__ import annotations

from typing import Any

import gymnasium

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import OptionError


def ticket_env_of(env: gymnasium.Env[Any, Any]) -> TicketEnv:
    """The ticket environment under any wrappers, whichever seat the learner has.

    Raises:
        OptionError: If there is none.
    """
    inner = env.unwrapped
    if not isinstance(inner, TicketEnv):
        raise OptionError(f"this wraps a ticket environment, not {type(inner).__name__}")
    return inner


def assistant_env_of(env: gymnasium.Env[Any, Any]) -> TicketEnv:
    """The ticket environment under any wrappers, for wrappers about what an assistant does.

    Raises:
        OptionError: If there is none, or the learner isn't the assistant.
    """
    episode_of(env)
    return ticket_env_of(env)


def episode_of(env: gymnasium.Env[Any, Any]) -> TicketEpisode:
    """The episode of a ticket environment under any wrappers.

    Raises:
        OptionError: If it is none, or the learner isn't the assistant.
    """
    episode = getattr(env.unwrapped, "episode", None)
    space = env.unwrapped.action_space
    if not isinstance(episode, TicketEpisode) or "tool" not in getattr(space, "spaces", ()):
        raise OptionError("this wraps a ticket environment with the learner as the assistant")
    return episode
