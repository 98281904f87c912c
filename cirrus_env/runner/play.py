"""One episode of one agent; whatever fails is attributed, never counted as a number.

===============  ============================================================================
outcome          what failed
===============  ============================================================================
agent_error      the policy raised, or gave what is no action
customer_error   the customer raised or did what it can't, or its endpoint failed for good
judge_error      the judge raised, or its endpoint failed for good
backend_error    anything else: the package, the episode's process, what can't be stored
===============  ============================================================================

Such an episode is invalid: it has no return, and ``--resume`` plays it again. Only a wrong setting
(``OptionError``) and Ctrl-C stop a run. What failed is kept as a type and a place; a message may
hold a secret and is left out (law R7).
"""

from __future__ import annotations

import traceback
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from cirrus_env._version import __version__
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.modes import NORMAL
from cirrus_env.engine.storing import as_stored, failure
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import (
    CustomerFailed,
    EndpointError,
    InvalidAction,
    JudgeFailed,
    OptionError,
    StoreError,
)
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.lines import Encoded, encode
from cirrus_env.runner.modes import SINGLE_TURN, episode_settings
from cirrus_env.runner.rows import Row
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import canonical

AGENT, CUSTOMER, JUDGE, BACKEND = "agent_error", "customer_error", "judge_error", "backend_error"

ESCAPING: Final = (Exception, SystemExit, CancelledError)
"""What code from outside may raise; Ctrl-C is nobody's failure."""


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


class Played(NamedTuple):
    """An episode that has been played: its row, and its line where episodes are kept."""

    row: Row
    line: Encoded | None


def play_job(job: Job, settings: Mapping[str, Any], *, keep: bool) -> Played:
    """Play one episode to its end, whatever happens.

    Args:
        job: What to play.
        settings: Keyword arguments of ``TicketEpisode``.
        keep: Whether its line is wanted.

    Raises:
        OptionError: For a wrong setting, which is nobody's failure.
    """
    mode = settings.get("mode", NORMAL)
    try:
        episode = _player(settings)(job, episode_settings(settings))
        line = encode(episode) if keep else None
    except OptionError:
        raise
    except StoreError as error:
        return unplayed(job, describe(error), keep=keep, mode=mode)
    except ESCAPING as error:
        return unplayed(job, describe(error), keep=keep, mode=mode)
    return Played(Row.from_episode(episode), line)


def _player(settings: Mapping[str, Any]) -> Callable[[Job, Mapping[str, Any]], dict[str, Any]]:
    """What plays a job in the mode that the settings name."""
    if settings.get("mode") != SINGLE_TURN:
        return play
    from cirrus_env.runner.single_turn import play_scene  # it builds on this module

    return play_scene


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
    try:
        episode.reset(seed=job.seed, options=options)
    except CustomerFailed as error:
        return as_json(job, episode, _fail(episode, CUSTOMER, error))
    return as_json(job, episode, drive(job.agent, episode, job.seed))


def drive(agent: Agent, episode: TicketEpisode, seed: int) -> str:
    """Let the agent play a running episode to its end.

    Returns:
        What failed, as a type and a place; empty where nothing did.
    """
    try:
        policy = agent.make(episode)
        policy.reset(seed)
    except ESCAPING as error:
        return _fail(episode, AGENT, error)
    view = AssistantView()
    while episode.outcome is None:
        try:
            action = policy.act(view.observe(episode))
        except ESCAPING as error:
            return _fail(episode, AGENT, error)
        try:
            episode.step(action)
        except InvalidAction as error:  # the policy gave what is no action
            return _fail(episode, AGENT, error)
        except CustomerFailed as error:
            return _fail(episode, CUSTOMER, error)
        except JudgeFailed as error:
            return _fail(episode, JUDGE, error)
        except ESCAPING as error:
            return _fail(episode, BACKEND, error)
    return failure(episode)


def as_json(job: Job, episode: TicketEpisode, error: str = "") -> dict[str, Any]:
    """An ended episode as it is stored.

    Raises:
        CirrusError: If it has not ended.
    """
    return as_stored(episode, job.agent.name, job.key, error)


def unplayed(job: Job, error: str, *, keep: bool, mode: str = NORMAL) -> Played:
    """An episode of which nothing but its failure can be told: ``backend_error``, no records."""
    language = job.language or job.ticket.languages[0]
    episode: dict[str, Any] = {
        "key": job.key,
        "agent": job.agent.name,
        "ticket": job.ticket.env_id,
        "digest": job.ticket.digest,
        "seed": job.seed,
        "variant": job.variant or "",
        "language": language,
        "outcome": BACKEND,
        "success": None,
        "valid": False,
        "return_micro": None,
        "metrics": {},
        "error": error,
        **({} if mode == NORMAL else {"mode": mode}),
        "trajectory": {"header": {"version": __version__}, "records": [], "last": {}},
    }
    return Played(Row.from_episode(episode), encode(episode) if keep else None)


def _fail(episode: TicketEpisode, reason: str, error: BaseException) -> str:
    if episode.outcome is None:
        episode.truncate(reason)
    return describe(error)


def describe(error: BaseException) -> str:
    """A failure as a type and a place; its message may hold a secret and is left out (law R7)."""
    if isinstance(error, CustomerFailed | JudgeFailed | StoreError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, EndpointError) and error.kept != type(error).__name__:
        return error.kept
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
