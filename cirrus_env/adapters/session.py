"""One remote session: episodes of numbered tasks, one after another, as plain values.

What a server of any protocol needs of an environment, without the protocol. Each session has its
own world; nothing is shared but the immutable tickets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cirrus_env.adapters.tasks import Tasks, TicketTask
from cirrus_env.engine.episode import Step, TicketEpisode
from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.wire import Message
from cirrus_env.world import Stream
from cirrus_env.world.entropy import fresh_seed


class Reply(NamedTuple):
    """What goes back over the wire; no gold before the end.

    Attributes:
        messages: New chat messages: after a reset the opening, after a step what came back.
        tools: After a reset the functions on offer, ``close_ticket`` and ``escalate_ticket`` among
            them; else empty.
        reward: The change of the return; None after a reset, and where the episode became invalid.
        terminated: Whether the ticket ended by itself.
        truncated: Whether a limit or a failure ended it.
        info: As ``TicketEpisode.info``.
    """

    messages: list[Message]
    tools: list[dict[str, Any]]
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated


class Session:
    """Episodes of tasks, one at a time, each in a world of its own.

    Args:
        tasks: The tasks that may be chosen.
        **arguments: Arguments of ``TicketEpisode``, such as ``parser`` or ``max_turns``.

    Raises:
        OptionError: For an argument that can't be used.
    """

    def __init__(self, tasks: Tasks, **arguments: Any) -> None:
        self.tasks = tasks
        self._arguments = arguments
        self._seeds: Stream | None = None
        self._episode: TicketEpisode | None = None
        self.steps = 0
        TicketEpisode(tasks.get(tasks.splits[0], 0).ticket, **arguments)

    @property
    def episode(self) -> TicketEpisode:
        """The episode being played, gold included: not for clients.

        Raises:
            EpisodeNotRunning: Before the first reset and after ``close``.
        """
        if self._episode is None:
            raise EpisodeNotRunning("call reset first")
        return self._episode

    async def reset(
        self,
        *,
        seed: int | None = None,
        split: str | None = None,
        index: int | None = None,
        **options: Any,
    ) -> Reply:
        """Begin an episode.

        Args:
            seed: The scenario's seed; None for the task's own, or without a task the next one of a
                stream that the last given seed started.
            split: Where the ticket is drawn from; None for the first split.
            index: The task's number in the split; None to draw a ticket by the seed.
            **options: ``ticket``, ``variant``, ``turn``, ``language``; others are ignored, but a
                near-miss isn't.

        Raises:
            OptionError: For what can't be used; the episode before, if any, goes on.
        """
        if options.get("customer") is not None:
            raise OptionError("who plays the customer is the server's choice")
        task = self._task(seed, split, index, options.pop("ticket", None))
        episode = TicketEpisode(task.ticket, **self._arguments)
        opening, info = await episode.areset(seed=task.seed, options=options)
        if seed is not None:
            self._seeds = Stream(task.seed, "seeds")
        self.close()
        self._episode = episode
        return Reply(opening, episode.chat_tools, None, False, False, info)

    async def step(self, action: Any) -> Reply:
        """The assistant acts.

        Args:
            action: As ``TicketEpisode.step``.

        Raises:
            InvalidAction: For a wrong type; nothing has changed.
            EpisodeNotRunning: Before ``reset`` or after the end.
        """
        return self._reply(await self.episode.astep(action))

    def truncate(self, reason: str = "stopped") -> Reply:
        """The caller stops the episode; see ``TicketEpisode.truncate``."""
        return self._reply(self.episode.truncate(reason))

    def close(self) -> None:
        """Let the episode go; the session can be reset again."""
        self._episode, self.steps = None, 0

    def _task(self, seed: Any, split: str | None, index: Any, ticket: Any) -> TicketTask:
        """The task that a client asks for."""
        name = self.tasks.splits[0] if split is None else split
        try:
            if index is not None:
                if ticket is not None:
                    raise OptionError("a task has its ticket: give index or ticket, not both")
                task = self.tasks.get(name, index)
                return task if seed is None else task._replace(seed=_whole(seed))
            number = self._next() if seed is None else _whole(seed)
            if ticket is not None:
                return TicketTask(name, -1, self.tasks.find(ticket, split), number)
            drawn = Stream(number, "pool").choice(self.tasks.members(name))
            return TicketTask(name, -1, drawn, number)
        except IndexError as error:
            raise OptionError(str(error)) from None

    def _next(self) -> int:
        if self._seeds is None:
            self._seeds = Stream(fresh_seed(), "seeds")
        return self._seeds.below(2**31)

    def _reply(self, step: Step) -> Reply:
        self.steps += 1
        return Reply(step.delta, [], step.reward, step.terminated, step.truncated, step.info)


def _whole(seed: Any) -> int:
    """A seed from the wire.

    Raises:
        OptionError: If it is no integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise OptionError(f"a seed is an integer, not {seed!r}"[:200])
    return seed
