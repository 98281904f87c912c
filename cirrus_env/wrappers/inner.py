"""What is under the wrappers: the ticket environment and the episode that it plays."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import OptionError

Result = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]
"""What a step gives."""


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


def amount(name: str, value: Any) -> int | None:
    """A wrapper's argument that is a number of something, or None.

    Raises:
        OptionError: If it is neither.
    """
    if value is not None and (type(value) is not int or value < 1):
        raise OptionError(f"{name} must be a positive integer or None, not {value!r}")
    return value


def stopped(env: TicketEnv, last: Result) -> Result:
    """Stop the episode after a step: its outcome is ``stopped``, a truncation.

    Args:
        env: The ticket environment.
        last: What the step gave as the wrappers so far made it; its observation stays, since
            stopping says nothing.

    Returns:
        What the step gives now.
    """
    observation, reward, _, _, info = last
    _, more, terminated, truncated, end = env.truncate("stopped")
    mask = {"action_mask": info["action_mask"]} if "action_mask" in info else {}
    return observation, float(reward) + more, terminated, truncated, {**info, **end, **mask}
