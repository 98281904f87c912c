"""Tickets as a message environment of the Tinker cookbook.

Needs ``pip install "cirrus-env[tinker]"``. ``EnvFromMessageEnv(renderer, CirrusMessageEnv(...))``
is what the cookbook's training loop takes; the members of a group get the same ticket and seed.
"""

from __future__ import annotations

from typing import Any

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.scores import score_of
from cirrus_env.adapters.textloop import earned
from cirrus_env.adapters.tinker_calls import action_of
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.source import TicketLike

try:
    from tinker_cookbook.rl.message_env import MessageEnv, MessageStepResult
except ImportError as error:
    raise MissingExtra("tinker", error) from None


class CirrusMessageEnv(MessageEnv):
    """One episode.

    Args:
        renderer: The cookbook's renderer of the model: it writes the functions on offer.
        ticket: As ``TicketEpisode``.
        seed: The scenario's seed.
        **arguments: Further arguments of ``TicketEpisode``.
    """

    def __init__(self, renderer: Any, ticket: TicketLike, *, seed: int, **arguments: Any) -> None:
        self._renderer, self._seed = renderer, seed
        self._episode = TicketEpisode(ticket, **arguments)
        self.example_id = f"{self._episode.ticket.env_id}:{seed}"
        self._history: list[Any] = []

    async def initial_observation(self) -> list[Any]:
        """Begin; gives the conversation so far."""
        (system, *rest), _ = await self._episode.areset(seed=self._seed)
        tools = [tool["function"] for tool in self._episode.chat_tools]
        prefix = self._renderer.create_conversation_prefix_with_tools(tools, system["content"])
        self._history = [*prefix, *rest]
        return list(self._history)

    async def step(self, message: Any) -> MessageStepResult:
        """The model's message; raises ``EndpointError`` where the episode became invalid."""
        step = await self._episode.astep(action_of(message))
        self._history += [message, *step.delta]
        done = step.terminated or step.truncated
        metrics = score_of(self._episode).metrics if done and step.info["valid"] else {}
        logs = {"ticket": self.example_id, "outcome": step.info["outcome"]}
        return MessageStepResult(earned(step), done, list(self._history), metrics, logs)
