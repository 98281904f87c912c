"""Tickets as a SkyRL text environment; needs ``pip install "cirrus-env[skyrl]"``.

    skyrl_gym.register("cirrus", entry_point="cirrus_env.adapters.skyrl:CirrusTextEnv")

A data set's row gives ``ticket`` and ``seed``; members of a group share the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.scores import score_of
from cirrus_env.adapters.textloop import earned, with_tools
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.wire import Message

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv
except ImportError as error:
    raise MissingExtra("skyrl", error) from None


class CirrusTextEnv(BaseTextEnv):
    """One episode. Its opening takes the place of the row's prompt.

    Args:
        env_config: Arguments of ``TicketEpisode``; ``parser`` (``hermes``) is also the format that
            the prompt tells.
        extras: The row: ``ticket`` and ``seed``.
    """

    def __init__(
        self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        row = extras or {}
        arguments = {"parser": "hermes", **dict(env_config or {})}
        self._form, self._seed = arguments["parser"], row.get("seed")
        self._episode = TicketEpisode(row["ticket"], **arguments)

    def init(self, prompt: Any = None) -> tuple[list[Message], dict[str, Any]]:
        """Begin; gives the opening, with the functions on offer, and the info."""
        opening, info = self._episode.reset(seed=self._seed)
        return with_tools(opening, self._episode.chat_tools, self._form), info

    def step(self, action: str) -> dict[str, Any]:
        """The model's text; raises ``EndpointError`` where the episode became invalid."""
        step = self._episode.step(action)
        done = step.terminated or step.truncated
        known = {"reward": earned(step), "done": done, "metadata": step.info}
        return {"observations": step.delta, "postprocessed_action": None, **known}

    def get_metrics(self) -> dict[str, Any]:
        """The ticket's metrics once it has ended; before that none."""
        return {} if self._episode.outcome is None else dict(score_of(self._episode).metrics)

    def close(self) -> None:
        """Let the episode go."""
        self._episode.close()
