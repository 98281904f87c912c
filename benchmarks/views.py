"""The views of an episode, one row each, over the same oracle episodes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium

from benchmarks import scenes
from benchmarks.rows import Row
from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.token_episode import TokenEpisode
from cirrus_env.envs.aec_env import TicketAECEnv
from cirrus_env.envs.views import AssistantView
from cirrus_env.wire import ASSISTANT, AssistantAction, CustomerAction, Message
from cirrus_env.world import Stream
from cirrus_env.wrappers.candidates import CandidateActions

ROUNDS = 5
SEEDS = range(20)
WANDERED = range(200)


def views() -> Iterator[Row]:
    """Moves a second with both seats outside, turns as token ids, and steps among candidates."""
    moves = {seed: _moves(seed) for seed in SEEDS}
    yield Row("both seats, TicketAECEnv", 1 / min(_aec(moves) for _ in range(ROUNDS)), "moves/s")
    env = gymnasium.make(scenes.ENV)
    recorded = scenes.oracle_actions(env, SEEDS)
    yield Row("oracle, TokenEpisode", 1 / min(_tokens(recorded) for _ in range(ROUNDS)), "turns/s")
    candidates = CandidateActions(gymnasium.make("Cirrus/Train-v0"))
    chosen = {seed: _wandered(candidates, seed) for seed in WANDERED}
    rate = 1 / min(scenes.seconds_a_step(candidates, chosen) for _ in range(ROUNDS))
    yield Row("random candidates, CandidateActions", rate, "steps/s", 10_000)


def _wandered(env: CandidateActions, seed: int) -> list[int]:
    """What a random policy chooses of the candidates on offer."""
    stream, chosen = Stream(seed, "benchmark:candidates"), []
    _, info = env.reset(seed=seed)
    while not info["outcome"]:
        chosen.append(stream.choice(info["action_mask"].nonzero()[0].tolist()))
        *_, info = env.step(chosen[-1])
    return chosen


def _moves(seed: int) -> list[AssistantAction | CustomerAction]:
    """What both seats do in an oracle episode, the opening left out."""
    episode = TicketEpisode(scenes.ENV)
    episode.reset(seed=seed)
    policy, view = oracle_for(episode), AssistantView()
    while episode.outcome is None:
        episode.step(policy.act(view.observe(episode)))
    return [
        (AssistantAction if record.seat == ASSISTANT else CustomerAction).from_json(record.action)
        for record in episode.records[1:]
    ]


def _aec(moves: dict[int, list[AssistantAction | CustomerAction]]) -> float:
    env = TicketAECEnv(scenes.ENV)
    spent, count = 0.0, 0
    for seed, actions in moves.items():
        env.reset(seed=seed)
        start = time.perf_counter()
        for action in actions:
            env.last()
            if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
                break
            env.step(action)
            count += 1
        spent += time.perf_counter() - start
    return spent / count


class _Numbered:
    """Writes each message as one id, and reads an id as the recorded action of that number."""

    def __init__(self, actions: Sequence[Any]) -> None:
        self._actions = actions

    def prompt(self, messages: Sequence[Message], tools: Any) -> list[int]:
        return [0] * len(messages)

    def delta(self, before: Any, turn: Any, messages: Sequence[Message], tools: Any) -> list[int]:
        return [0] * len(messages)

    def read(self, before: Any, turn: Sequence[int], tools: Any) -> Any:
        return self._actions[turn[0]]


def _tokens(recorded: dict[int, list[Any]]) -> float:
    episode = TicketEpisode(scenes.ENV)
    spent, count = 0.0, 0
    for seed, actions in recorded.items():
        episode.reset(seed=seed)
        rollout = TokenEpisode(episode, _Numbered(actions))
        start = time.perf_counter()
        for number in range(len(actions)):
            rollout.add_model([number], [0.0])
        spent += time.perf_counter() - start
        count += len(actions)
    return spent / count
