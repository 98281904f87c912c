"""The measurements. Each is a function that gives rows; ``ALL`` lists them."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import gymnasium

import cirrus_env
from benchmarks import scenes
from benchmarks.rows import Row, best, seconds
from benchmarks.vector import gathered, vector
from benchmarks.views import views
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.tickets.index import index

ROUNDS = 5
CARTPOLE_STEPS = 10_000


def speed() -> Iterator[Row]:
    """Steps and resets a second, with CartPole-v1 in the same rounds."""
    cartpole, env = gymnasium.make("CartPole-v1"), gymnasium.make(scenes.ENV)
    episode = TicketEpisode(scenes.ENV)
    recorded = scenes.oracle_actions(env, range(40))
    costs: dict[str, list[float]] = {
        "cartpole": [], "gym": [], "reset": [], "again": [], "episode": [],
    }  # fmt: skip
    for number in range(ROUNDS):
        costs["cartpole"].append(_cartpole(cartpole))
        costs["gym"].append(scenes.seconds_a_step(env, recorded))
        new = range(500 * (number + 1), 500 * (number + 2))  # no seed comes twice
        costs["reset"].append(seconds(lambda new=new: _resets(env, new)) / 500)
        costs["again"].append(seconds(lambda: _resets(env, [7] * 500)) / 500)
        costs["episode"].append(scenes.seconds_a_step(episode, recorded))
    rate = {name: 1 / min(values) for name, values in costs.items()}
    yield Row("CartPole-v1, through gym.make", rate["cartpole"], "steps/s")
    yield Row("oracle, through gym.make", rate["gym"], "steps/s", rate["cartpole"] / 15)
    yield Row("resets, through gym.make", rate["reset"], "resets/s", 3_000)
    yield Row("resets of one group, through gym.make", rate["again"], "resets/s")
    yield Row("oracle, TicketEpisode", rate["episode"], "steps/s", 20_000)


def _cartpole(env: Any) -> float:
    spent, steps, seed = 0.0, 0, 0
    while steps < CARTPOLE_STEPS:
        env.reset(seed=seed)
        seed += 1
        done = False
        start = time.perf_counter()
        while not done:
            _, _, terminated, truncated, _ = env.step(steps & 1)
            done = terminated or truncated
            steps += 1
        spent += time.perf_counter() - start
    return spent / steps


def _resets(env: Any, seeds: Iterable[int]) -> None:
    for seed in seeds:
        env.reset(seed=seed)


def long_dialogue() -> Iterator[Row]:
    """Does a step cost more at turn 400 than at turn 10?"""
    customer = scenes.Patient()
    env = TicketEnv("ECS-Billing", customer=customer, max_turns=500, max_tool_calls=1_000)

    def window(first: int) -> float:
        start = time.perf_counter()
        for number in range(first, first + 10):
            for action in scenes.turn(number):
                env.step(action)
        return time.perf_counter() - start

    early, late = [], []
    for seed in range(ROUNDS):
        env.reset(seed=seed)
        for number in range(5):
            _play(env, number)
        early.append(window(5))
        for number in range(15, 395):
            _play(env, number)
        late.append(window(395))
    ratio = min(late) / min(early)
    yield Row("step at turn 400 over turn 10", ratio, "x", 1.3, "less")


def _play(env: Any, number: int) -> None:
    for action in scenes.turn(number):
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            raise SystemExit(f"the long dialogue ends at turn {number}: {info['outcome']}")


def large_world() -> Iterator[Row]:
    """Does a step or a reset cost more in an account of 2,000 resources than in one of 20?"""
    small, large = (TicketEnv(scenes.crowded(count)) for count in (10, 1_990))
    recorded = [(env, scenes.oracle_actions(env, range(4))) for env in (small, large)]
    costs: tuple[list[float], list[float]] = ([], [])
    for _ in range(2 * ROUNDS):
        for (env, actions), spent in zip(recorded, costs, strict=True):
            spent.append(scenes.seconds_a_step(env, actions))
    ratio = min(costs[1]) / min(costs[0])
    yield Row("step among 2,000 resources over 20", ratio, "x", 1.2, "less")


def snapshots() -> Iterator[Row]:
    """What going back costs, half way through the oracle's path."""
    env = gymnasium.make(scenes.ENV)
    (actions,) = scenes.oracle_actions(env, range(1)).values()
    episode = TicketEpisode(scenes.ENV)
    episode.reset(seed=0)
    for action in actions[: len(actions) // 2]:
        episode.step(action)
    mark = episode.snapshot()
    save = best(ROUNDS, lambda: seconds(lambda: _repeat(episode.snapshot, 2_000)) / 2_000)
    back = best(
        ROUNDS, lambda: seconds(lambda: _repeat(lambda: episode.restore(mark), 2_000)) / 2_000
    )
    yield Row("snapshot", save * 1e6, "us", 20, "less")
    yield Row("restore", back * 1e6, "us", 20, "less")


def _repeat(work: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        work()


def memory() -> Iterator[Row]:
    """Memory and threads of one environment, and growth over many resets."""
    warm = gymnasium.make(scenes.ENV)
    _resets(warm, range(200))
    threads, before = threading.active_count(), _resident()
    envs = [gymnasium.make(scenes.ENV) for _ in range(200)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    yield Row("memory an environment", (_resident() - before) / 200 / 2**20, "MiB", 0.5, "less")
    yield Row("threads an environment", threading.active_count() - threads, "threads", 0, "less")
    del envs
    _resets(warm, range(1_000))
    _resets(warm, range(200))  # what the last few left in caches is the same before and after
    objects, before = _objects(), _resident()
    _resets(warm, range(1_000, 11_000))
    _resets(warm, range(200))
    yield Row("objects kept by 10,000 resets", _objects() - objects, "objects", 100, "less")
    yield Row("growth over 10,000 resets", (_resident() - before) / 2**20, "MiB", 1, "less")


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def _resident() -> int:
    gc.collect()
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


_IMPORT = """
import sys, time
import gymnasium
text = sys.stdin.buffer.read()
start = time.perf_counter()
import cirrus_env
if text:
    from cirrus_env.tickets.index import read_index
    cirrus_env.register_all(read_index(text))
print(time.perf_counter() - start)
"""


def imports() -> Iterator[Row]:
    """Milliseconds that ``import cirrus_env`` adds to ``import gymnasium``, in new processes."""
    rows = index()
    for count in (len(rows), 2_000):
        more = [
            {**rows[i % len(rows)], "env_id": f"Cirrus/ECS-N{i}-v0"}
            for i in range(count - len(rows))
        ]
        text = json.dumps(more) if more else ""
        spent = [_import_seconds(text) for _ in range(9)]
        yield Row(f"import with {count:,} ids", statistics.median(spent) * 1000, "ms", 50, "less")


def _import_seconds(index: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT], input=index, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


ALL = (speed, views, vector, gathered, long_dialogue, large_world, snapshots, memory, imports)
VERSION = cirrus_env.__version__
