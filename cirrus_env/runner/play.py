"""One episode of one agent; whatever fails is attributed, never counted as a number."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import CirrusError, InvalidAction
from cirrus_env.runner.agents import Agent
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import canonical


class Job(NamedTuple):
    """One episode to play.

    Attributes:
        agent: Who plays.
        ticket: What is played.
        seed: The scenario's seed.
        variant: The root cause; None to let the seed draw it.
        language: None for the ticket's first.
    """

    agent: Agent
    ticket: Ticket
    seed: int
    variant: str | None = None
    language: str | None = None

    @property
    def key(self) -> list[Any]:
        """What makes it the same job as another."""
        return [
            self.agent.name, self.ticket.env_id, self.seed, self.variant or "", self.language or "",
        ]  # fmt: skip

    @property
    def id(self) -> str:
        """The key as text."""
        return canonical(self.key)


def play(job: Job, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Play one episode to its end.

    Args:
        job: What to play.
        settings: Keyword arguments of ``TicketEpisode``.

    Returns:
        The episode as JSON: the fields of ``Row``, the job's ``key`` and the ``trajectory``.

    Raises:
        CirrusError: If the episode can't even begin: a wrong setting, not the agent's fault.
    """
    episode = TicketEpisode(job.ticket, language=job.language, **(settings or {}))
    options = {"variant": job.variant} if job.variant else None
    episode.reset(seed=job.seed, options=options)
    return as_json(job, episode, drive(job.agent, episode, job.seed))


def drive(agent: Agent, episode: TicketEpisode, seed: int) -> str:
    """Let the agent play a running episode to its end.

    Returns:
        What failed, as a type and a place; empty where nothing did.
    """
    try:
        policy = agent.make(episode)
        policy.reset(seed)
    except Exception as error:
        return _fail(episode, "agent_error", error)
    view = AssistantView()
    while episode.outcome is None:
        try:
            action = policy.act(view.observe(episode))
        except Exception as error:
            return _fail(episode, "agent_error", error)
        try:
            episode.step(action)
        except InvalidAction as error:  # the policy gave what is no action
            return _fail(episode, "agent_error", error)
        except Exception as error:
            return _fail(episode, "backend_error", error)
    return ""


def as_json(job: Job, episode: TicketEpisode, error: str = "") -> dict[str, Any]:
    """An ended episode as it is stored.

    Raises:
        CirrusError: If it has not ended.
    """
    outcome = episode.outcome
    if outcome is None:
        raise CirrusError("the episode has not ended")
    stored = trajectory(episode)
    header = episode.header
    return {
        "key": job.key,
        "agent": job.agent.name,
        "ticket": job.ticket.env_id,
        "digest": job.ticket.digest,
        "seed": job.seed,
        "variant": header["variant"],
        "language": header["language"],
        "outcome": outcome.name,
        "success": outcome.success if outcome.valid else None,
        "valid": outcome.valid,
        "return_micro": stored.last["return_micro"] if outcome.valid else None,
        "metrics": stored.last["metrics"],
        "error": error,
        "trajectory": {
            "header": dict(stored.header),
            "records": [record.to_json() for record in stored.records],
            "last": dict(stored.last),
        },
    }


def _fail(episode: TicketEpisode, reason: str, error: Exception) -> str:
    if episode.outcome is None:
        episode.truncate(reason)
    return describe(error)


def describe(error: Exception) -> str:
    """A failure as a type and a place; its message may hold a secret and is left out (law R7)."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
