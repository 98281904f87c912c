"""What an environment promises, as checks that anyone can run on a ticket of their own.

>>> import gymnasium, cirrus_env
>>> from cirrus_env.envs import conformance
>>> report = conformance.check(lambda: gymnasium.make("Cirrus/ECS-Billing-v0"), seeds=(0,))
>>> report.problems
()
>>> "the episode's end" in report.checked
True
"""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any, Final

import gymnasium
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env, data_equivalence

from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import CirrusError
from cirrus_env.judging.reward import TERMS

Make = Callable[[], gymnasium.Env[Any, Any]]
Moment = tuple[Any, Any, bool, bool, dict[str, Any]]
"""An observation, reward, terminated, truncated and info."""

INFO: Final[dict[str, type]] = {
    "ticket": str,
    "seed": int,
    "outcome": str,
    "ending": str,
    "valid": int,
    "turn": int,
    "tool_calls": int,
    "invalid": int,
    "tokens": int,
    "cost": int,
    "reward_terms": dict,
    "customer": str,
    "action_mask": dict,
}
"""Keys and types of every ``info``."""

INFO_AT_THE_END: Final[dict[str, type]] = {"variant": str, "metrics": dict}
"""What comes with them once the episode has ended."""

_WORDS: Final = (
    "Could you tell me which resource this is about?",
    "谢谢，我来看一下。",
    "I am looking into it.",
)


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked and what was wrong.

    Attributes:
        checked: The checks that ran.
        problems: What was wrong, one line each; empty where all is well.
        episodes: Episodes played.
        ended: How many of them reached their end.
    """

    checked: tuple[str, ...]
    problems: tuple[str, ...]
    episodes: int
    ended: int

    def require(self) -> Report:
        """Return the report, or raise if anything was wrong or the end was never reached.

        Raises:
            CirrusError: Listing the problems.
        """
        if self.problems:
            raise CirrusError("the environment breaks its promises:\n" + "\n".join(self.problems))
        if not self.ended:
            raise CirrusError(f"none of {self.episodes} episodes ended: their end was not checked")
        return self


def check(make: Make, *, seeds: Sequence[int] = (0, 1), steps: int = 8) -> Report:
    """Play episodes and hold the environment to its promises.

    Args:
        make: Makes a fresh environment, such as ``lambda: gymnasium.make("Cirrus/...")``.
        seeds: One episode each.
        steps: Actions before the closing one.

    Returns:
        The report. ``problems`` says what is wrong; it also says so when no episode ended.
    """
    problems: list[str] = []
    checked = ["gymnasium's check_env"]
    problems += _gymnasium(make())
    ended = 0
    for seed in seeds:
        actions = list(probes(make(), seed, steps))
        first = play(make(), seed, actions)
        ended += first[-1][2] or first[-1][3]
        for where, moment in enumerate(first):
            problems += [f"seed {seed}, step {where}: {p}" for p in _moment(make(), moment)]
        if not _same(first, play(make(), seed, actions)):
            problems.append(f"seed {seed}: the same seed and actions gave another episode")
        problems += [f"seed {seed}: {p}" for p in _going_back(make, seed, actions, first)]
    checked += ["spaces", "info", "masks", "determinism", "snapshot", "fork", "pickle", "deepcopy"]
    if ended:
        checked.append("the episode's end")
    else:
        problems.append(f"no episode ended within {steps + 1} actions: ends were not checked")
    return Report(tuple(checked), tuple(problems), len(seeds), ended)


def probes(env: gymnasium.Env[Any, Any], seed: int, steps: int) -> Iterator[dict[str, Any]]:
    """Valid actions that go on for a while, and one that ends: words and calls in turn.

    Args:
        env: The environment they are for.
        seed: Varies them.
        steps: How many before the last.
    """
    space = env.action_space
    if not isinstance(space, spaces.Dict):
        raise CirrusError(f"an action space is a Dict, not {space}")
    blank: dict[str, Any] = {
        key: "" if isinstance(part, spaces.Text) else 0 for key, part in space.spaces.items()
    }
    for i in range(steps):
        if "tool" in blank and i % 2:
            yield {**blank, "type": 1, "tool": (seed + i) % 7, "arguments": "{}"}
        else:
            yield {**blank, "text": _WORDS[(seed + i) % len(_WORDS)]}
    yield {**blank, "type": 2, "text": _WORDS[-1]}


def play(env: gymnasium.Env[Any, Any], seed: int, actions: Sequence[Any]) -> list[Moment]:
    """One episode's moments, the reset's first; stops where the episode ends."""
    observation, info = env.reset(seed=seed)
    return [(observation, 0.0, False, False, info), *_play_on(env, actions)]


def _play_on(env: gymnasium.Env[Any, Any], actions: Sequence[Any]) -> list[Moment]:
    moments: list[Moment] = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        moments.append((observation, reward, terminated, truncated, info))
        if terminated or truncated:
            break
    return moments


def _same(a: Sequence[Moment], b: Sequence[Moment]) -> bool:
    return bool(data_equivalence(list(a), list(b), exact=True))


def _gymnasium(env: gymnasium.Env[Any, Any]) -> list[str]:
    # its check of the render mode "human" prints
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            check_env(env.unwrapped, skip_render_check=env.spec is None)
        except Exception as error:  # whatever a foreign environment raises is the finding
            return [f"check_env: {error!r}"]
    return [f"check_env warns: {warning.message}" for warning in caught]


def _moment(env: gymnasium.Env[Any, Any], moment: Moment) -> Iterator[str]:
    observation, reward, terminated, truncated, info = moment
    if observation not in env.observation_space:
        yield "the observation is outside its space"
    if type(reward) is not float or type(terminated) is not bool or type(truncated) is not bool:
        yield "reward, terminated and truncated are a float and two bools"
    if terminated and truncated:
        yield "terminated and truncated at once"
    ended = terminated or truncated
    wanted = {**INFO, **INFO_AT_THE_END} if ended else INFO
    if info.keys() != wanted.keys():
        yield f"info has the keys {sorted(info)}, not {sorted(wanted)}"
        return
    for key, kind in wanted.items():
        if type(info[key]) is not kind:
            yield f"info[{key!r}] is {type(info[key]).__name__}, not {kind.__name__}"
    if list(info["reward_terms"]) != list(TERMS):
        yield "info['reward_terms'] has other terms"
    if bool(info["outcome"]) != ended:
        yield f"the outcome is {info['outcome']!r} although ended is {ended}"
    try:
        sample = env.action_space.sample(mask=info["action_mask"])
    except (AssertionError, ValueError) as error:
        yield f"the action mask doesn't fit the action space: {error}"
    else:
        if sample not in env.action_space:
            yield "a masked sample is outside the action space"


def _going_back(
    make: Make, seed: int, actions: Sequence[Any], whole: Sequence[Moment]
) -> Iterator[str]:
    """Every way to leave an episode in the middle and go on must give the same rest."""
    middle = (len(whole) - 1) // 2
    rest, expected = actions[middle:], whole[middle + 1 :]

    def half_way() -> gymnasium.Env[Any, Any]:
        env = make()
        play(env, seed, actions[:middle])
        return env

    env = half_way()
    for name, copied in (
        ("deepcopy", lambda: copy.deepcopy(env)),
        ("pickle", lambda: pickle.loads(pickle.dumps(env))),
    ):
        if not _same(_play_on(copied(), rest), expected):
            yield f"going on after {name} gives another episode"
    inner = env.unwrapped
    if isinstance(inner, TicketEnv):
        snapshot = inner.snapshot()
        if not _same(_play_on(inner.fork(), rest), expected):
            yield "a fork gives another episode"
        for _ in range(2):
            if not _same(_play_on(inner, rest), expected):
                yield "going on after fork, snapshot or restore gives another episode"
            inner.restore(snapshot)
