"""The data half: tickets times seeds as tasks, and how their episodes are played."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise MissingExtra("verifiers", error) from None


class CirrusData(vf.TaskData):
    """One task: a ticket and a seed. The opening is not in it: the customer speaks first."""

    ticket: str
    """The ticket's id, or a ticket file's path."""
    seed: int
    """The scenario's seed; all rollouts of a task share it."""


class CirrusTaskConfig(vf.TaskConfig):
    """How episodes are played, under ``--env.taskset.task.*``; see ``TicketEpisode``."""

    reward: str | dict[str, float] = "cirrus"
    """A preset's name, or weights."""
    customer: str | None = None
    """Who plays the customer; None for the ticket's own."""
    variant: str | None = None
    """The root cause to play; None to draw one by the seed."""
    language: str | None = None
    """``en`` or ``zh``; None for the ticket's first."""
    tools: list[str] | None = None
    """Names of the tools to offer; None for all."""
    faults: str | dict[str, float] | None = None
    """The cloud's seeded faults."""
    max_turns: int = Field(30, ge=1)
    """Turns of the assistant; a model call that only calls tools is none."""
    max_tool_calls: int = Field(60, ge=1)
    """Tool calls in all."""
    max_invalid: int = Field(3, ge=1)
    """Invalid actions in a row."""

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``TicketEpisode``."""
        chosen = {name: getattr(self, name) for name in CirrusTaskConfig.__annotations__}
        chosen.pop("variant")
        return chosen


class CirrusState(vf.State):
    """What the environment tells the harness; never stored."""

    tools: list[dict[str, Any]] = Field(default_factory=list)
    """The functions on offer, as OpenAI function schemas."""


class CirrusTask(vf.Task[CirrusData, CirrusState, CirrusTaskConfig]):
    """A ticket and a seed."""

    @property
    def key(self) -> str:
        """The task's lasting name, such as ``Cirrus/ECS-Billing-v0:7``."""
        return str(self.data.id)

    def episode(self) -> TicketEpisode:
        """The task's episode, not yet begun."""
        return TicketEpisode(
            self.data.ticket, system=self.data.system_prompt, **self.config.arguments()
        )

    def options(self) -> dict[str, Any]:
        """The episode's reset options."""
        variant = self.config.variant
        return {} if variant is None else {"variant": variant}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the ticket's reference solves it, for ``vf-validate``."""
        episode = self.episode()
        episode.reset(seed=self.data.seed, options=self.options())
        episode.play_through(reference_actions(episode.scenario))
        return episode.outcome is not None and episode.outcome.success is True


class CirrusTasksetConfig(vf.TasksetConfig):
    """Which tickets and seeds, under ``--env.taskset.*``."""

    split: Literal["train", "test"] = "train"
    """Which of the package's tickets."""
    tickets: list[str] = Field(default_factory=list)
    """These tickets instead: names, env ids or ticket files' paths."""
    seeds: int = Field(4, ge=1)
    """Seeds a ticket."""
    first_seed: int = Field(0, ge=0)
    """The first of them: give evaluation other seeds than training."""
    task: CirrusTaskConfig = CirrusTaskConfig()
    """How episodes are played."""


class CirrusTaskset(vf.Taskset[CirrusTask, CirrusTasksetConfig]):
    """Every ticket with its first seed, then with its second, and so on."""

    def load(self) -> Iterator[CirrusTask]:
        """The tasks, in an order that never changes."""
        config = self.config
        named = config.tickets
        tasks = Tasks(
            {config.split: named} if named else None,
            seeds=config.seeds,
            first_seed=config.first_seed,
        )
        for task in tasks.span(config.split):
            ticket = named[task.number % len(named)] if named else task.ticket.env_id
            data = CirrusData(id=task.id, name=task.id, ticket=ticket, seed=task.seed)
            yield CirrusTask(data, config.task)
