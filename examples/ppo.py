"""PPO on the candidate-action view: learn on the train split, report what was learnt.

    pip install "cirrus-env[sb3]"
    python examples/ppo.py --out ppo-run             # about a quarter of an hour on one CPU core
    python examples/ppo.py --out smoke --quick       # half a minute, learns nothing

It trains sb3-contrib's MaskablePPO, or Stable-Baselines3's PPO with ``--algorithm ppo``, on the
eleven families of ``Cirrus/Train-v0``, without one variant of some of them, and writes into
``--out``:

- ``report.json`` and a table on the screen: success rates with 95 % intervals (clustered by ticket)
  on seeds that training never used, for the trained families, the variants held out, and the test
  families, beside a random policy over the same candidates and the keyword agent;
- ``curve.png`` and ``curve.csv``: success in training against steps, the mean over the variants;
- ``model.zip``: the weights, for ``--load``.

The same command with the same ``--seed`` on the same machine gives the same weights and numbers.
What was held out and the test families stay near zero: their findings are entries of the handbook
that training never rewards, and nothing in an index tells what the entry says.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import cirrus_env  # noqa: F401  # registers the ids
from cirrus_env.baselines.registry import policy as baseline
from cirrus_env.envs.registration import pools
from cirrus_env.judging.aggregate import estimate
from cirrus_env.tickets.index import index
from cirrus_env.world import Stream
from cirrus_env.wrappers.candidates import CandidateActions

TRAIN, TEST = "Cirrus/Train-v0", "Cirrus/Test-v0"
HELD_OUT = (("Disk-Resize", "order-unpaid"), ("ECS-Ssh", "old-address"), ("VPC-Eip", "on-gateway"))
"""Variants that training never sees, of families that it does."""
TRAINING_SEEDS = 100_000
"""Training draws its seeds below this number, evaluation from here on."""
REWARD = {"progress": 0.5, "resolution": 0.5}
"""What the learner gets: half for checkpoints, half for success."""


class Case(NamedTuple):
    """What may be played: a ticket's variant."""

    ticket: str
    variant: str


def cases(env_id: str) -> list[Case]:
    """All variants of a pool's tickets."""
    variants = {entry["id"]: entry["variants"] for entry in index()}
    return [Case(name, variant) for name in pools()[env_id] for variant in variants[name]]


class Draws:
    """Draws each episode's case and seed: the seldomer a case is solved, the oftener it comes.

    Attributes:
        rates: How often each case was solved lately, as a moving average.
    """

    def __init__(self, among: Sequence[Case], seed: int) -> None:
        self.rates = dict.fromkeys(among, 0.0)
        self._stream = Stream(seed, "ppo:episodes")

    def next(self) -> tuple[Case, int]:
        """A case and a seed."""
        shares = list(accumulate(round(1_000 * (1.2 - rate)) for rate in self.rates.values()))
        case = list(self.rates)[bisect(shares, self._stream.below(shares[-1]))]
        return case, self._stream.below(TRAINING_SEEDS)

    def note(self, case: Case, success: bool) -> None:
        """An episode of this case has ended."""
        self.rates[case] += (success - self.rates[case]) / 20


class Drawn(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Plays what is drawn."""

    def __init__(self, env: CandidateActions, draws: Draws) -> None:
        super().__init__(env)
        self._draws = draws
        self._case, _ = draws.next()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """An episode of the next case."""
        self._case, drawn = self._draws.next()
        ticket, variant = self._case
        return self.env.reset(seed=drawn, options={"ticket": ticket, "variant": variant})

    def step(self, action: Any) -> Any:
        """A step."""
        result = self.env.step(action)
        if result[4]["outcome"]:
            self._draws.note(self._case, bool(result[4]["metrics"]["success"]))
        return result

    def action_masks(self) -> Any:
        """What is on offer."""
        return self.env.get_wrapper_attr("action_masks")()


def training_env(draws: Draws) -> Callable[[], gymnasium.Env[Any, Any]]:
    """A factory, as vector environments want it."""
    return lambda: Drawn(CandidateActions(gymnasium.make(TRAIN, reward=REWARD)), draws)


class Curve(BaseCallback):
    """Notes now and then how much is solved: the mean over the cases, all alike."""

    def __init__(self, every: int, draws: Draws) -> None:
        super().__init__()
        self.points: list[tuple[int, float]] = []
        self._every, self._next, self._draws = every, every, draws

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self._every
            rates = self._draws.rates.values()
            self.points.append((self.num_timesteps, sum(rates) / len(rates)))
            print(f"{self.points[-1][0]:>9} steps  {self.points[-1][1]:6.1%}", flush=True)
        return True


# -- measuring ------------------------------------------------------------------------------------

Act = Callable[[Any, Any], int]
"""From an observation and a mask to an action."""


def learned(model: Any, masked: bool) -> Act:
    """The trained policy without exploration."""

    def act(observation: Any, mask: Any) -> int:
        given = {"action_masks": mask} if masked else {}
        return int(model.predict(observation, deterministic=True, **given)[0])

    return act


def at_random(seed: int) -> Act:
    """A policy that draws from what is on offer."""
    stream = Stream(seed, "ppo:random")
    return lambda observation, mask: int(stream.choice(np.flatnonzero(mask).tolist()))


def successes(
    env_id: str, among: Iterable[Case], seeds: Iterable[int], act: Act
) -> dict[Any, bool]:
    """Whether each episode succeeds, by case and seed."""
    env = CandidateActions(gymnasium.make(env_id))
    found = {}
    for case in among:
        for seed in seeds:
            options = {"ticket": case.ticket, "variant": case.variant}
            observation, info = env.reset(seed=seed, options=options)
            while not info["outcome"]:
                observation, _, _, _, info = env.step(act(observation, info["action_mask"]))
            found[case, seed] = bool(info["metrics"]["success"])
    return found


def keyword_successes(env_id: str, among: Iterable[Case], seeds: Iterable[int]) -> dict[Any, bool]:
    """The same for the embedded keyword agent, which writes its own text."""
    env = gymnasium.make(env_id)
    agent, found = baseline("keyword"), {}
    for case in among:
        for seed in seeds:
            options = {"ticket": case.ticket, "variant": case.variant}
            observation, info = env.reset(seed=seed, options=options)
            agent.reset(seed)
            while not info["outcome"]:
                observation, _, _, _, info = env.step(agent.act(observation))
            found[case, seed] = bool(info["metrics"]["success"])
    return found


def summary(found: dict[Any, bool]) -> dict[str, Any]:
    """The rate with its interval: whole tickets are resampled, as their episodes are alike."""
    numbered: dict[tuple[str, int], float] = {}
    for count, ((case, _), success) in enumerate(found.items()):
        numbered[case.ticket, count] = float(success)
    rate = estimate(numbered)
    by_case: dict[str, list[bool]] = {}
    for (case, _), success in found.items():
        by_case.setdefault("/".join(case), []).append(success)
    return {
        "rate": rate.mean, "low": rate.low, "high": rate.high, "episodes": len(found),
        "cases": {name: sum(values) / len(values) for name, values in by_case.items()},
    }  # fmt: skip


# -- the run --------------------------------------------------------------------------------------


def train(
    options: argparse.Namespace, among: Sequence[Case]
) -> tuple[Any, list[tuple[int, float]]]:
    """A trained model and its curve."""
    torch.set_num_threads(1)
    draws = Draws(among, options.seed)
    venv = DummyVecEnv([training_env(draws)] * options.envs)
    kind = MaskablePPO if options.algorithm == "maskable" else PPO
    model = kind(
        "MlpPolicy", venv, seed=options.seed, device="cpu", n_steps=128, batch_size=256,
        n_epochs=5, learning_rate=lambda left: 3e-4 + 12e-4 * left, gamma=0.97, gae_lambda=0.9,
        ent_coef=options.entropy, policy_kwargs={"net_arch": [256, 256]},
    )  # fmt: skip
    curve = Curve(max(1, options.steps // 40), draws)
    model.learn(options.steps, callback=curve)
    return model, curve.points


def plot(points: Sequence[tuple[int, float]], rows: dict[str, Any], path: Path) -> None:
    """The learning curve, and beside it what was measured afterwards, with 95 % intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.5, 4), sharey=True, width_ratios=(3, 2), layout="constrained"
    )
    left.plot([steps / 1_000 for steps, _ in points], [100 * rate for _, rate in points])
    left.set(xlabel="thousand steps", ylabel="success rate (%)", ylim=(-2, 102))
    left.set_title("in training, exploring")
    for shift, (who, colour) in enumerate((("PPO", "C0"), ("keyword", "C1"), ("random", "C2"))):
        for place, row in enumerate(rows.values()):
            got = row[who]
            low, rate, high = (100 * (got[key] or 0.0) for key in ("low", "rate", "high"))
            x = place + (shift - 1) * 0.22
            right.errorbar(
                x, rate, [[max(0, rate - low)], [max(0, high - rate)]], fmt="o", color=colour,
                capsize=3, clip_on=False, label=who if place == 0 else None,
            )  # fmt: skip
            if who == "PPO":
                right.annotate(f"{rate:.0f}", (x, rate), (-6, 4), textcoords="offset points",
                               ha="right", fontsize=9)  # fmt: skip
    right.set_xticks(range(len(rows)), [name.replace(" ", "\n") for name in rows])
    right.set(xlim=(-0.6, len(rows) - 0.4))
    right.set_title("afterwards, new seeds, greedy")
    right.legend(loc="upper right", fontsize=9)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("ppo-run"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--algorithm", choices=("maskable", "ppo"), default="maskable")
    parser.add_argument("--steps", type=int, default=700_000)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--episodes", type=int, default=10, help="per case, in measuring")
    parser.add_argument("--load", type=Path, help="measure these weights instead of training")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    options = parser.parse_args(arguments)
    if options.quick:
        options.steps, options.episodes = 8_192, 1
    return options


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, measure, write; returns the report."""
    options = parsed(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    start, start_cpu = time.perf_counter(), time.process_time()
    known = [case for case in cases(TRAIN) if case not in HELD_OUT]
    masked = options.algorithm == "maskable"
    if options.load:
        model, points = (MaskablePPO if masked else PPO).load(options.load, device="cpu"), []
    else:
        model, points = train(options, known)
        model.save(options.out / "model.zip")
    trained, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    seeds = range(TRAINING_SEEDS, TRAINING_SEEDS + options.episodes)
    rows: dict[str, Any] = {}
    for name, env_id, among in (
        ("train families", TRAIN, known),
        ("held-out variants", TRAIN, [Case(*pair) for pair in HELD_OUT]),
        ("test families", TEST, cases(TEST)),
    ):
        rows[name] = {
            "PPO": summary(successes(env_id, among, seeds, learned(model, masked))),
            "random": summary(successes(env_id, among, seeds, at_random(options.seed))),
            "keyword": summary(keyword_successes(env_id, among, seeds)),
        }
    chosen = {key: str(value) for key, value in vars(options).items()}
    spent = {"training_seconds": trained, "training_cpu_seconds": cpu}
    report = {"options": chosen, **spent, "results": rows}
    (options.out / "report.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if points:
        with (options.out / "curve.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("steps", "success"), *points])
        plot(points, rows, options.out / "curve.png")
    print(f"\ntrained in {trained:.0f} s ({cpu:.0f} s of CPU); success with 95 % intervals:")
    for name, row in rows.items():
        for who, got in row.items():
            interval = f"[{got['low']:.1%}, {got['high']:.1%}]" if got["low"] is not None else ""
            print(f"{name:18} {who:8} {got['rate']:6.1%} {interval} of {got['episodes']}")
    return report


if __name__ == "__main__":
    main()
