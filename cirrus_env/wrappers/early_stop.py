"""``EarlyStop``: an episode that gets nowhere ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.wire import ASSISTANT, Record
from cirrus_env.wrappers.inner import Result, amount, assistant_env_of, stopped
from cirrus_env.wrappers.turns import played, turns_of


class EarlyStop(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Hopeless episodes are stopped, so that a trainer doesn't pay for the rest of them.

    ## Episode End
    Beside the environment's own ends, after an action at which one of the counts is reached. The
    outcome is then ``stopped``: a truncation, valid, and no success. It is the trainer's decision
    and not the ticket's end, so a learner that bootstraps should treat it as any other truncation.

    ``info["early_stop"]`` says what was reached, and is empty otherwise: counts that look at
    checkpoints are told to nobody before.

    >>> import gymnasium, cirrus_env
    >>> env = EarlyStop(gymnasium.make("Cirrus/ECS-Billing-v0"), unproductive=2)
    >>> _ = env.reset(seed=7)
    >>> for _ in range(2):
    ...     _, _, terminated, truncated, info = env.step("I see. One moment.")
    >>> terminated, truncated, info["outcome"], info["early_stop"]
    (False, True, 'stopped', 'unproductive')

    Args:
        env: A ticket environment, learner in the assistant's seat.
        unproductive: Turns in a row in which no further checkpoint passed.
        invalid: Invalid actions in all.
        violations: Policies violated, as the metrics count them.
        repeats: Times in a row that the assistant does again what it did just before, word for
            word. Looking again whether a slow operation has finished is such a repeat, too: the
            reference does it up to 12 times.

    Raises:
        OptionError: For no count, one that is no positive integer, or another environment.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        unproductive: int | None = None,
        invalid: int | None = None,
        violations: int | None = None,
        repeats: int | None = None,
    ) -> None:
        inner = assistant_env_of(env)
        given = {
            "unproductive": unproductive,
            "invalid": invalid,
            "violations": violations,
            "repeats": repeats,
        }
        limits = {name: amount(name, value) for name, value in given.items()}
        if not any(limits.values()):
            raise OptionError(f"stopping early needs one of {', '.join(given)}")
        RecordConstructorArgs.__init__(
            self,
            unproductive=unproductive,
            invalid=invalid,
            violations=violations,
            repeats=repeats,
        )
        gymnasium.Wrapper.__init__(self, env)
        self._inner = inner
        self._limits = {name: limit for name, limit in limits.items() if limit is not None}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        info["early_stop"] = ""
        return observation, info

    def step(self, action: Any) -> Result:
        """Act, and stop the episode if it gets nowhere."""
        last = self.env.step(action)
        why = "" if last[2] or last[3] else self._reached()
        if why:
            last = stopped(self._inner, last)
        last[4]["early_stop"] = why
        return last

    def _reached(self) -> str:
        episode = self._inner.episode
        for name, limit in self._limits.items():
            if COUNTS[name](episode) >= limit:
                return name
        return ""


def _unproductive(episode: TicketEpisode) -> int:
    """Complete turns since the last one in which a checkpoint passed."""
    count = 0
    for turn in turns_of(played(episode)):
        if any(event.kind == "passed" for record in turn.records for event in record.events):
            count = 0
        else:
            count += turn.complete
    return count


def _invalid(episode: TicketEpisode) -> int:
    return episode.state.invalid


def _violations(episode: TicketEpisode) -> int:
    return len(episode.state.touched)


def _repeats(episode: TicketEpisode) -> int:
    """How many times in a row the last action repeated the one before."""
    own = [_content(record) for record in played(episode) if record.seat == ASSISTANT]
    count = 0
    for before, after in pairwise(own):
        count = count + 1 if before == after else 0
    return count


def _content(record: Record) -> dict[str, Any]:
    """What an action says and does: without its calls' ids and hidden reasoning."""
    action = dict(record.action)
    action.pop("reasoning", None)
    if "calls" in action:
        action["calls"] = [call[1:] for call in action["calls"]]
    return action


COUNTS: Final[Mapping[str, Callable[[TicketEpisode], int]]] = {
    "unproductive": _unproductive,
    "invalid": _invalid,
    "violations": _violations,
    "repeats": _repeats,
}
"""What each limit of ``EarlyStop`` counts."""
