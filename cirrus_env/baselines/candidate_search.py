"""Is a ticket solvable through the candidate view? A search that reads gold, for measuring only.

It goes on step by step with the candidate that passes most, looking two steps ahead where one step
brings nothing; a call that stays on offer because something is under way is repeated until that is
over. What it finds is a lower bound of what the handbook can solve.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import OptionError
from cirrus_env.wrappers.candidates import CandidateActions, handbook
from cirrus_env.wrappers.candidates.view import CandidateSnapshot

_STEPS: Final = 60
_BLIND: Final = 12
"""How many steps may be taken only for what they may lead to."""
_POLLS: Final = 16
"""How often a call may be repeated while something is under way."""


class Found(NamedTuple):
    """What a search came to.

    Attributes:
        success: Whether the ticket was solved.
        names: The candidates chosen, in order.
        passed: Checkpoints passed or jumped.
        checkpoints: Checkpoints in all.
    """

    success: bool
    names: tuple[str, ...]
    passed: int
    checkpoints: int


class _Score(NamedTuple):
    """How far an episode is; greater is better."""

    success: bool
    clean: int
    passed: int
    right: int
    open: bool


def search(env: CandidateActions) -> Found:
    """Solve the running episode if the search can; the environment is left at the end.

    Args:
        env: After ``reset``.
    """
    chosen: list[str] = []
    book = handbook()
    score = _score(env)
    blind = 0
    while score.open and len(chosen) < _STEPS:
        here = env.snapshot()
        path = _next(env, here, score)
        if not path:
            path, blind = _preparation(env, here, score), blind + 1
        if not path or blind > _BLIND:
            break
        env.restore(here)
        for number in path:
            chosen += [book[number].name] * _patiently(env, number)
        score = _score(env)
    metrics = _episode(env).metrics()
    return Found(score.success, tuple(chosen), score.passed, metrics["checkpoints"])


def _patiently(env: CandidateActions, number: int) -> int:
    """Take a step, and again while it is still on offer; gives how often."""
    env.step(number)
    for count in range(1, _POLLS):
        if _episode(env).outcome is not None or not env.action_masks()[number]:
            return count
        env.step(number)
    return _POLLS


def _next(env: CandidateActions, here: CandidateSnapshot, score: _Score) -> tuple[int, ...]:
    """The best one or two steps that bring something; none where nothing does."""
    offered = [int(number) for number in env.action_masks().nonzero()[0]]
    tried: list[tuple[_Score, int, CandidateSnapshot]] = []
    for number in offered:
        env.restore(here)
        _patiently(env, number)
        tried.append((_score(env), number, env.snapshot()))
    best = max(tried, key=lambda entry: entry[0])
    if best[0].success or (best[0].open and _better(best[0], score)):
        return (best[1],)
    pairs: list[tuple[_Score, int, int]] = []
    for first, number, after in tried:
        if not first.open or first.clean < score.clean or first.right < score.right:
            continue
        env.restore(after)
        for second in (int(n) for n in env.action_masks().nonzero()[0]):
            env.restore(after)
            _patiently(env, second)
            pairs.append((_score(env), number, second))
    if not pairs:
        return ()
    last = max(pairs, key=lambda entry: entry[0])
    if last[0].success or (last[0].open and _better(last[0], score)):
        return last[1:]
    return ()


def _preparation(env: CandidateActions, here: CandidateSnapshot, score: _Score) -> tuple[int, ...]:
    """A question that brings facts, or a call after which more is on offer than before."""
    offered = env.action_masks()
    book = handbook()
    best: tuple[int, ...] = ()
    most = (0, 0)
    for number in (int(n) for n in offered.nonzero()[0]):
        kind = book[number].kind
        if kind not in ("ask", "call"):
            continue
        env.restore(here)
        before = len(here.notes.facts)
        _patiently(env, number)
        after = _score(env)
        if not after.open or after.clean < score.clean or after.right < score.right:
            continue
        growth = int((env.action_masks() > offered).sum())
        gain = (len(env.snapshot().notes.facts) - before, growth if kind == "call" else 0)
        if gain > most:
            best, most = (number,), gain
    return best


def _better(new: _Score, old: _Score) -> bool:
    return (new.clean, new.passed) > (old.clean, old.passed)


def _score(env: CandidateActions) -> _Score:
    episode = _episode(env)
    metrics = episode.metrics()
    outcome = episode.outcome
    return _Score(
        outcome is not None and outcome.success is True,
        -metrics["policy_violations"] - metrics["incorrect_writes"],
        metrics["f"],
        -metrics["wrong_replies"],
        outcome is None,
    )


def _episode(env: CandidateActions) -> TicketEpisode:
    inner = env.unwrapped
    if not isinstance(inner, TicketEnv):
        raise OptionError(f"a search needs a TicketEnv inside, not {type(inner).__name__}")
    return inner.episode
