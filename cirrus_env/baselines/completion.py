"""The oracle's completion: the best known way on from any moment of an episode.

A state's value is estimated from below: gold knows the ticket's reference, so what is left of it is
played on forks, and the best return counts. Tried are

- what is left to do: the reference without the checkpoints that have passed, from any action of
  its next checkpoint on (what leads to it may have been done already),
- the whole reference from any action on up to there (words and looks may have to be repeated),
- ending at once,
- with ``jumps`` also each later start, and what is left without what may be skipped.

Nothing is searched beyond these, so another way on may be better still: the value is a lower bound.
From the opening it is the plain oracle's return, or with ``jumps`` the jump oracle's, and on the
path of that oracle it stays what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import (
    PATIENCE,
    PlanStep,
    checkpoint_actions,
    closing_action,
    to_repeat,
    with_waits,
)
from cirrus_env.errors import EndpointError, EpisodeNotRunning, OptionError
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import ASSISTANT, AssistantAction

_Steps = tuple[PlanStep, ...]


class Completion(NamedTuple):
    """The best known end of an episode.

    Attributes:
        micro: The whole episode's return, what has been gained so far included, in millionths.
        success: Whether it ends in success.
        actions: The assistant's actions from here to that end.
    """

    micro: int
    success: bool
    actions: tuple[AssistantAction, ...]

    @property
    def value(self) -> float:
        """The whole episode's return."""
        return self.micro / 1_000_000


def complete(episode: TicketEpisode, *, jumps: bool = False) -> Completion:
    """The best known end of an episode, played on forks; the episode itself stays as it is.

    Args:
        episode: A running episode at the assistant's turn, or one that has ended: then its own end.
        jumps: Whether the way on may skip what only finds things out. Gold knows the cause; an
            honest agent has to look, and this would count its looking as a loss.

    Raises:
        EpisodeNotRunning: Before ``reset``, or at the customer's turn.
        OptionError: If nobody plays the customer (``external``).
        EndpointError: If the customer or the judge is a model and failed on every way on.
    """
    if episode.outcome is not None:
        return _end_of(episode, ())
    if episode.to_move != ASSISTANT:
        raise EpisodeNotRunning("it is not the assistant's turn: nothing to complete")
    if episode.snapshot().setting.customer is None:
        raise OptionError("nobody answers here: completing an episode needs a customer of its own")
    best: Completion | None = None
    for steps in _ways_on(episode, jumps):
        found = _played(episode, steps)
        if found is not None and (best is None or _rank(found) > _rank(best)):
            best = found
    if best is None:
        raise EndpointError("the customer or the judge failed on every way on")
    return best


def return_micro(episode: TicketEpisode) -> int:
    """The return since the agent took over, in millionths."""
    return sum(record.reward_micro for record in episode.records[episode.header["start"] :])


def _rank(found: Completion) -> tuple[int, bool, int]:
    """More return, then success, then fewer actions."""
    return found.micro, found.success, -len(found.actions)


def _ways_on(episode: TicketEpisode, jumps: bool) -> Iterator[_Steps]:
    """Each way once: what is left to do first, ending at once last."""
    scenario = episode.scenario
    passed = frozenset(episode.state.evidence.passed)
    left_outs = [passed, frozenset[str]()]
    if jumps:
        left_outs.append(passed | {c.id for c in scenario.gold.checkpoints if c.skippable})
    ways: dict[_Steps, None] = {}
    for left_out in left_outs:
        steps, first = _reference(scenario, left_out, passed)
        for start in range(len(steps) if jumps else first):
            ways[steps[start:]] = None
    ways[(PlanStep(closing_action(scenario), False),)] = None
    yield from ways


def _reference(
    scenario: Scenario, left_out: Collection[str], passed: Collection[str]
) -> tuple[_Steps, int]:
    """The reference without some checkpoints.

    Returns:
        Its steps, and how many there are up to the last of the first checkpoint not passed: to
        begin later would skip that checkpoint.
    """
    blocks = [(c.id, checkpoint_actions(c)) for c in scenario.gold.checkpoints]
    # whether a look waits is said by the whole reference: the agent may have set things going
    marked = with_waits(scenario, (action for _, actions in blocks for action in actions))
    steps: list[PlanStep] = []
    first = 0
    for id, actions in blocks:
        own = list(islice(marked, len(actions)))
        if id not in left_out:
            steps += own
            first = first or (len(steps) if id not in passed else 0)
    steps.append(PlanStep(closing_action(scenario), False))
    return tuple(steps), first or len(steps)


def _played(episode: TicketEpisode, steps: _Steps) -> Completion | None:
    """How these steps end, played on a fork; None where the infrastructure failed."""
    fork = episode.fork()
    played: list[AssistantAction] = []
    for step in steps:
        for _ in range(PATIENCE + 1):
            delta = fork.step(fork.as_shown(step.action)).delta
            played.append(step.action)
            outcome = fork.outcome
            if outcome is not None:
                return _end_of(fork, tuple(played)) if outcome.valid else None
            if not any(to_repeat(step, message["content"]) for message in delta):
                break
    fork.truncate()  # an ending that was refused as malformed: no way to end it
    return _end_of(fork, tuple(played))


def _end_of(episode: TicketEpisode, actions: tuple[AssistantAction, ...]) -> Completion:
    outcome = episode.outcome
    success = outcome is not None and outcome.success is True
    return Completion(return_micro(episode), success, actions)
