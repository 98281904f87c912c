"""``CirrusEnvironment``: one session of tickets on an OpenEnv server."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from cirrus_env._version import __version__
from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.openenv.models import CirrusAction, CirrusObservation, CirrusState
from cirrus_env.adapters.session import Reply, Session
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.errors import EpisodeNotRunning, OptionError

try:
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import EnvironmentMetadata
except ImportError as error:
    raise MissingExtra("openenv", error) from None


class CirrusEnvironment(Environment[CirrusAction, CirrusObservation, CirrusState]):
    """Support tickets of Cirrus Cloud.

    ``reset`` and ``step`` of a session wait for models that play the customer without holding other
    sessions up. What a client gets wrong raises a typed error that the server sends back; the
    session goes on.

    Args:
        tasks: The tasks; None for the package's train and test tickets.
        **arguments: Arguments of ``TicketEpisode``, such as ``parser`` or ``max_turns``.

    Raises:
        OptionError: For an argument that can't be used.
    """

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True

    def __init__(self, tasks: Tasks | None = None, **arguments: Any) -> None:
        super().__init__()
        self._session = Session(tasks or Tasks(), **arguments)
        self._episode_id: str | None = None

    # -- playing -------------------------------------------------------------------------------

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> CirrusObservation:
        """Begin an episode.

        Args:
            seed: The scenario's seed.
            episode_id: The client's name for it, repeated by the state.
            **options: ``split`` and ``index`` of a task, or ``ticket``; ``variant``, ``turn``,
                ``language``.

        Raises:
            OptionError: For what can't be used; the episode before goes on.
        """
        if not (episode_id is None or isinstance(episode_id, str)):
            raise OptionError(f"episode_id must be a text, not {episode_id!r}"[:200])
        reply = await self._session.reset(seed=seed, **options)
        self._episode_id = episode_id
        return _observation(reply)

    async def step_async(
        self, action: CirrusAction, timeout_s: float | None = None, **options: Any
    ) -> CirrusObservation:
        """The assistant acts; see ``CirrusAction``.

        Raises:
            EpisodeNotRunning: Before ``reset`` or after the end.
        """
        return _observation(await self._session.step(action.message()))

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> CirrusObservation:
        """``reset_async`` outside an event loop."""
        return asyncio.run(self.reset_async(seed, episode_id, **options))

    def step(
        self, action: CirrusAction, timeout_s: float | None = None, **options: Any
    ) -> CirrusObservation:
        """``step_async`` outside an event loop."""
        return asyncio.run(self.step_async(action, timeout_s, **options))

    @property
    def state(self) -> CirrusState:
        """Where the episode is."""
        try:
            info = self._session.episode.info()
        except EpisodeNotRunning:
            return CirrusState()
        return CirrusState(
            episode_id=self._episode_id,
            step_count=self._session.steps,
            ticket=info["ticket"],
            seed=info["seed"],
            turn=info["turn"],
            tool_calls=info["tool_calls"],
            outcome=info["outcome"],
            valid=bool(info["valid"]),
        )

    def close(self) -> None:
        """Let the episode go."""
        self._session.close()

    def get_metadata(self) -> EnvironmentMetadata:
        """What this is."""
        return EnvironmentMetadata(
            name="cirrus",
            description="Support tickets of a mock cloud, worked on in dialogue and by tool calls.",
            version=__version__,
        )

    # -- tasks: how many there are, and which -----------------------------------------------------

    def list_splits(self) -> list[str]:
        """The splits' names."""
        return list(self._session.tasks.splits)

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has.

        Raises:
            IndexError: For an unknown split.
        """
        return self._session.tasks.count(split)

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """All tasks of a split."""
        return self.get_task_range(split)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One task: ``id``, ``split``, ``index``, ``ticket`` and ``seed``.

        Raises:
            IndexError: For an unknown split or an index past its end.
        """
        return self._session.tasks.get(split, index).to_json()

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """The tasks of a slice of a split."""
        return [task.to_json() for task in self._session.tasks.span(split, start, stop)]


def _observation(reply: Reply) -> CirrusObservation:
    return CirrusObservation(
        done=reply.done,
        reward=reply.reward,
        messages=reply.messages,
        tools=reply.tools,
        terminated=reply.terminated,
        truncated=reply.truncated,
        info=reply.info,
    )
