"""Where an episode lost its return: the regret of each of the assistant's actions.

The value of a moment is the best return known from there: the oracle's completion, or what the
agent itself made of it where that is more. An action's regret is the value before it less the value
after it, so no regret is negative, and

    value of the opening = return + sum of the regrets        (exactly, in millionths)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cirrus_env.baselines.completion import Completion, complete
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import Trajectory, replay
from cirrus_env.errors import OptionError
from cirrus_env.judging.outcome import INVALID
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.runner.manifest import rule_of
from cirrus_env.runner.stored import Stored, StoredRun
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import ASSISTANT, AssistantAction, Record


class ActionRegret(NamedTuple):
    """What one of the assistant's actions lost.

    Attributes:
        i: The step's number, as in its record.
        turn: The assistant's turns before it.
        action: The action.
        value_micro: The best return known before it, in millionths.
        regret_micro: How much less it is after it, in millionths; never negative.
        winnable: Whether a success was known before it.
        best: What the oracle's completion does instead.
    """

    i: int
    turn: int
    action: AssistantAction
    value_micro: int
    regret_micro: int
    winnable: bool
    best: AssistantAction

    @property
    def regret(self) -> float:
        """How much of the return it lost."""
        return self.regret_micro / 1_000_000


@dataclass(frozen=True, slots=True)
class Regrets:
    """What an episode's actions lost.

    Attributes:
        actions: One for each of the assistant's actions, in order.
        return_micro: What the episode came to, in millionths; of one that goes on, what is known
            to be had still.
        success: Whether it succeeded; of one that goes on, whether it still may.
    """

    actions: tuple[ActionRegret, ...]
    return_micro: int
    success: bool

    @property
    def lost_at(self) -> ActionRegret | None:
        """The action after which no success is known any more; None if there is none."""
        ends = [*(action.winnable for action in self.actions[1:]), self.success]
        lost = None
        for action, still in zip(self.actions, ends, strict=True):
            if action.winnable and not still:
                lost = action
        return lost

    def by_turn(self) -> dict[int, float]:
        """The regret of each turn: its calls and the words that end it."""
        turns: dict[int, int] = {}
        for action in self.actions:
            turns[action.turn] = turns.get(action.turn, 0) + action.regret_micro
        return {turn: micro / 1_000_000 for turn, micro in turns.items()}

    def to_json(self) -> dict[str, Any]:
        """As JSON, values in reward units."""
        lost = self.lost_at
        return {
            "return": self.return_micro / 1_000_000,
            "success": self.success,
            "lost_at": None if lost is None else lost.i,
            "actions": [
                {
                    "step": a.i,
                    "turn": a.turn,
                    "action": a.action.to_json(),
                    "value": a.value_micro / 1_000_000,
                    "regret": a.regret,
                    "winnable": a.winnable,
                }
                for a in self.actions
            ],
        }


def regrets(
    played: TicketEpisode | Trajectory,
    ticket: Ticket | None = None,
    *,
    jumps: bool = False,
    reward: str | RewardRule = "cirrus",
) -> Regrets:
    """The regret of every action of an episode.

    It is played again from the start, with a completion before each action.

    Args:
        played: An episode (it stays as it is) or a stored trajectory; ended or not.
        ticket: A trajectory's ticket where it isn't a bundled one.
        jumps: See ``complete``: False measures against the reference, True against who knows the
            cause.
        reward: A trajectory's reward rule; an episode has its own.

    Raises:
        OptionError: If nobody of this package plays the customer, or it answers otherwise when it
            is played again, as a model may; or if the episode is
            invalid or was not played as a whole.
    """
    again = _opening(played, ticket, reward)
    before: list[tuple[Record, int, Completion]] = []
    for record in played.records[len(again.records) :]:
        if record.seat != ASSISTANT or again.outcome is not None:
            continue
        if record.action["kind"] == "stopped":
            again.truncate(record.events[-1].name)
        else:
            before.append((record, again.state.turn, complete(again, jumps=jumps)))
            again.step(again.as_shown(AssistantAction.from_json(record.action)))
    if [r[1:3] for r in again.records] != [r[1:3] for r in played.records]:
        raise OptionError("the customer answers otherwise when the episode is played again")
    return _counted_back(before, complete(again, jumps=jumps))


def stored_regrets(run: StoredRun, episode: Stored, *, jumps: bool = False) -> Regrets:
    """The regrets of a stored run's episode, under the run's own reward.

    Raises:
        OptionError: As ``regrets``.
        StoreError: If this package ships another text of the ticket.
    """
    rule = rule_of(run.manifest) or reward_rule("cirrus")
    ticket = run.tickets[episode.row.ticket]
    return regrets(episode.trajectory, ticket, jumps=jumps, reward=rule)


def _opening(
    played: TicketEpisode | Trajectory, ticket: Ticket | None, reward: str | RewardRule
) -> TicketEpisode:
    """The same episode at its start."""
    if isinstance(played, Trajectory):
        if not played.records:
            raise OptionError("no whole episode was played: there is nothing to go through")
        if played.last["outcome"] in INVALID:
            raise OptionError("the episode failed for outside reasons: nobody lost anything")
        return replay(replace(played, records=(), last={"outcome": ""}), ticket, reward=reward)
    if played.outcome is not None and not played.outcome.valid:
        raise OptionError("the episode failed for outside reasons: nobody lost anything")
    again = played.fork()
    again.reset(seed=played.scenario.seed, options=played.snapshot().options._asdict())
    return again


def _counted_back(before: Sequence[tuple[Record, int, Completion]], end: Completion) -> Regrets:
    """From the end to the opening: what the agent itself reached was known to be there."""
    after, winnable = end.micro, end.success
    actions: list[ActionRegret] = []
    for record, turn, known in reversed(before):
        value = max(known.micro, after)
        winnable = known.success or winnable
        action = AssistantAction.from_json(record.action)
        actions.append(
            ActionRegret(record.i, turn, action, value, value - after, winnable, known.actions[0])
        )
        after = value
    return Regrets(tuple(reversed(actions)), end.micro, end.success)
