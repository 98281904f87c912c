"""Teacher-forced turns: the agent speaks once at every turn of a scenario's reference.

The reference is played once: the oracle with the ticket's own customer, or the recorded dialogue of
an imported ticket. At each of its turns the episode is forked, and the agent makes its turn there
(its calls, up to and including a reply, a closing or a hand-over), with the reference's turns so
far as the transcript. A second attempt is a fork at the same point with a fresh policy and another
seed, and without feedback. ``judging/paper.py`` scores the turns (METRICS section 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from cirrus_env._version import __version__
from cirrus_env.baselines.oracle import Oracle
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_turns
from cirrus_env.engine.storing import failure
from cirrus_env.errors import CustomerFailed, InvalidAction, JudgeFailed
from cirrus_env.judging.paper_turns import SpokenTurn, paper_ticket, split_turns
from cirrus_env.runner.modes import SINGLE_TURN
from cirrus_env.runner.play import (
    AGENT,
    BACKEND,
    CUSTOMER,
    ESCAPING,
    JUDGE,
    Job,
    describe,
)
from cirrus_env.runner.turn_scores import ticket_to_json
from cirrus_env.runner.turns import play_turn
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.wire import Record
from cirrus_env.world import Stream

PLAYED: Final = "single_turn"
"""The outcome of a scene in which every attempt was made."""

_WITHOUT_LIMIT: Final = 1_000_000


class Attempted(NamedTuple):
    """One attempt at a turn.

    Attributes:
        records: What it added to the reference so far.
        outcome: Empty; or whose failure it was, as an invalid episode's outcome.
        error: What failed, as a type and a place.
    """

    records: tuple[Record, ...]
    outcome: str = ""
    error: str = ""


def play_scene(job: Job, settings: Mapping[str, Any], attempts: int = 2) -> dict[str, Any]:
    """Let the agent speak at every turn of one scenario's reference.

    Args:
        job: Who, and which scenario.
        settings: Keyword arguments of ``TicketEpisode``.
        attempts: How often at each turn.

    Returns:
        The scene as JSON, as ``runner.play.as_json`` gives an episode: its ``metrics`` hold the
        turns as they are scored, its ``turns`` the records of every attempt. It is invalid where an
        attempt failed for outside reasons, whatever the others came to.

    Raises:
        CirrusError: If the reference itself can't be played.
    """
    scenario = make_scenario(job.ticket, job.seed, variant=job.variant, language=job.language)
    limits = {
        "max_turns": max(30, len(reference_turns(scenario)) + 1),
        "max_tool_calls": _WITHOUT_LIMIT,
    }
    episode = TicketEpisode(job.ticket, language=job.language, **(limits | dict(settings)))
    episode.reset(seed=job.seed, options={"variant": scenario.variant})
    teacher = Oracle(episode)
    wanted: list[SpokenTurn] = []
    made: list[list[Attempted]] = []
    while episode.outcome is None:
        made.append([_attempt(job, episode, number) for number in range(attempts)])
        start = len(episode.records)
        play_turn(teacher, episode)
        wanted.append(_spoken(episode.records[start:]))
    gold = episode.scenario.gold
    ticket = paper_ticket(
        f"{job.ticket.env_id} {job.seed} {scenario.variant}",
        gold.checkpoints if gold.scored else (),
        wanted,
        [[_spoken(attempt.records) for attempt in turn] for turn in made],
        tools=bool(episode.tool_names),
    )
    failed = [attempt for turn in made for attempt in turn if attempt.outcome]
    return {
        "key": job.key,
        "agent": job.agent.name,
        "ticket": job.ticket.env_id,
        "digest": job.ticket.digest,
        "seed": job.seed,
        "variant": scenario.variant,
        "language": scenario.public.language,
        "outcome": failed[0].outcome if failed else PLAYED,
        "success": None,
        "valid": not failed,
        "return_micro": None,
        "metrics": ticket_to_json(ticket, scenario.cloud.catalogue),
        "error": failed[0].error if failed else "",
        "mode": SINGLE_TURN,
        "turns": [[[r.to_json() for r in a.records] for a in turn] for turn in made],
        "trajectory": {
            "header": {**episode.header, "version": __version__}, "records": [], "last": {},
        },
    }  # fmt: skip


def _attempt(job: Job, reference: TicketEpisode, number: int) -> Attempted:
    """The agent's turn in a fork of the reference."""
    episode = reference.fork()
    start = len(episode.records)
    seed = job.seed if not number else Stream(job.seed, f"attempt:{number}").below(2**31)
    agent = _Guarded()
    outcome = error = ""
    try:
        agent.begin(job, episode, seed)
        play_turn(agent, episode)
    except CustomerFailed as failed:
        outcome, error = CUSTOMER, describe(failed)
    except JudgeFailed as failed:
        outcome, error = JUDGE, describe(failed)
    except InvalidAction as failed:  # the policy gave what is no action
        outcome, error = AGENT, describe(failed)
    except _AgentFailed as failed:
        outcome, error = AGENT, describe(failed.cause)
    except ESCAPING as failed:
        outcome, error = BACKEND, describe(failed)
    ended = episode.outcome
    if not outcome and ended is not None and not ended.valid:
        outcome, error = ended.name, failure(episode)
    return Attempted(tuple(episode.records[start:]), outcome, error)


def _spoken(records: Sequence[Record]) -> SpokenTurn:
    """What the records are as one turn; an empty one where the agent did nothing."""
    turns = split_turns(records)
    return turns[0] if turns else SpokenTurn()


class _AgentFailed(Exception):
    def __init__(self, cause: BaseException) -> None:
        super().__init__()
        self.cause = cause


class _Guarded:
    """The agent's policy; what it raises is told from what the package raises."""

    name = ""

    def begin(self, job: Job, episode: TicketEpisode, seed: int) -> None:
        """Make the policy and begin."""
        try:
            self._policy = job.agent.make(episode)
            self._policy.reset(seed)
        except ESCAPING as error:
            raise _AgentFailed(error) from error

    def reset(self, seed: int) -> None:
        """It has begun already."""

    def act(self, observation: Mapping[str, Any]) -> Any:
        """The policy's next action."""
        try:
            return self._policy.act(observation)
        except ESCAPING as error:
            raise _AgentFailed(error) from error
