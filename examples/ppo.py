"""PPO on the candidate-action view: learn on the train split, report what was learnt.

    pip install "cirrus-env[sb3]"
    python examples/ppo.py --out ppo-run             # about ten minutes on one CPU core
    python examples/ppo.py --out smoke --quick       # one minute, learns little

It trains Stable-Baselines3's PPO (``--algorithm ppo``) or sb3-contrib's MaskablePPO on the eleven
families of ``Cirrus/Train-v0``, without one variant of some of them, and writes into ``--out``:

- ``report.json`` and a table on the screen: success rates with 95 % intervals (clustered by ticket)
  on seeds that training never used, for the trained families, the variants held out, and the test
  families, beside a random policy over the same candidates and the keyword agent;
- ``curve.png`` and ``curve.csv``: success in training against steps;
- ``model.zip``: the weights, for ``--load``.

The same command with the same ``--seed`` on the same machine gives the same numbers.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
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
REWARD = {"progress": 0.5, "resolution": 0.5, "violation": 0.1}
"""What the learner gets: half for checkpoints, half for success."""


class Case(NamedTuple):
    """What may be played: a ticket's variant."""

    ticket: str
    variant: str


def cases(env_id: str) -> list[Case]:
    """All variants of a pool's tickets."""
    variants = {entry["id"]: entry["variants"] for entry in index()}
    return [Case(name, variant) for name in pools()[env_id] for variant in variants[name]]


class Draw(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Draws each episode's case and seed: every case equally often."""

    def __init__(self, env: CandidateActions, among: Sequence[Case], seed: int) -> None:
        super().__init__(env)
        self._among = among
        self._stream = Stream(seed, "ppo:episodes")

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """An episode of the next case."""
        case = self._stream.choice(self._among)
        return self.env.reset(
            seed=self._stream.below(TRAINING_SEEDS),
            options={"ticket": case.ticket, "variant": case.variant},
        )

    def action_masks(self) -> Any:
        """What is on offer."""
        return self.env.get_wrapper_attr("action_masks")()


def training_env(among: Sequence[Case], seed: int) -> Callable[[], gymnasium.Env[Any, Any]]:
    """A factory, as vector environments want it."""
    return lambda: Draw(CandidateActions(gymnasium.make(TRAIN, reward=REWARD)), among, seed)


class Curve(BaseCallback):
    """Notes the success of the last episodes now and then."""

    def __init__(self, every: int, window: int = 500) -> None:
        super().__init__()
        self.points: list[tuple[int, float]] = []
        self._every, self._next = every, every
        self._recent = deque[float](maxlen=window)

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if info["outcome"]:
                self._recent.append(float(bool(info["metrics"]["success"])))
        if self.num_timesteps >= self._next and self._recent:
            self._next += self._every
            self.points.append((self.num_timesteps, sum(self._recent) / len(self._recent)))
            print(f"{self.points[-1][0]:>9} steps  {self.points[-1][1]:6.1%} of the last episodes")
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
                message = agent.act(observation)
                observation, _, _, _, info = env.step(as_message(message))
            found[case, seed] = bool(info["metrics"]["success"])
    return found


def as_message(action: Any) -> dict[str, Any]:
    """An assistant's action as an OpenAI chat message."""
    calls = [(call.name, call.arguments) for call in action.calls]
    if action.kind == "close":
        calls = [("close_ticket", json.dumps({"message": action.text}))]
    elif action.kind == "escalate":
        made = {"queue": action.queue, "summary": action.text}
        calls = [("escalate_ticket", json.dumps(made))]
    if not calls:
        return {"role": "assistant", "content": action.text}
    made_calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": "", "tool_calls": made_calls}


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
    factories = [training_env(among, options.seed * 1_000 + n) for n in range(options.envs)]
    venv = DummyVecEnv(factories)
    kind = MaskablePPO if options.algorithm == "maskable" else PPO
    model = kind(
        "MlpPolicy", venv, seed=options.seed, device="cpu", n_steps=2_048 // options.envs * 2,
        batch_size=512, n_epochs=4, learning_rate=lambda left: 2e-4 + 8e-4 * left, gamma=0.97,
        gae_lambda=0.9, ent_coef=options.entropy, clip_range=0.2, verbose=0,
        policy_kwargs={"net_arch": [256, 128]},
    )  # fmt: skip
    curve = Curve(max(1, options.steps // 40))
    model.learn(options.steps, callback=curve)
    return model, curve.points


def plot(points: Sequence[tuple[int, float]], rows: dict[str, Any], path: Path) -> None:
    """The learning curve, with the final rates as lines."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5))
    axes.plot(
        [steps for steps, _ in points], [rate for _, rate in points],
        label="in training, exploring (last 500 episodes)",
    )  # fmt: skip
    styles = (("train families", "C1"), ("held-out variants", "C2"), ("test families", "C3"))
    for (name, colour), style in zip(styles, ("--", "-.", ":"), strict=True):
        rate = rows[name]["PPO"]["rate"]
        label = f"{name}, new seeds, greedy: {rate:.0%}"
        axes.axhline(rate, color=colour, linestyle=style, label=label)
    axes.set(xlabel="steps", ylabel="success rate", ylim=(-0.02, 1.02))
    axes.set_title("PPO on the candidate-action view")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, measure, write; returns the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("ppo-run"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--algorithm", choices=("maskable", "ppo"), default="maskable")
    parser.add_argument("--steps", type=int, default=600_000)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--episodes", type=int, default=10, help="per case, in measuring")
    parser.add_argument("--load", type=Path, help="measure these weights instead of training")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    options = parser.parse_args(arguments)
    if options.quick:
        options.steps, options.episodes = 8_192, 1
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    known = [case for case in cases(TRAIN) if case not in HELD_OUT]
    masked = options.algorithm == "maskable"
    if options.load:
        model, points = (MaskablePPO if masked else PPO).load(options.load, device="cpu"), []
    else:
        model, points = train(options, known)
        model.save(options.out / "model.zip")
    trained = time.perf_counter() - start
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
    report = {"options": chosen, "training_seconds": trained, "results": rows}
    (options.out / "report.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if points:
        with (options.out / "curve.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("steps", "success"), *points])
        plot(points, rows, options.out / "curve.png")
    print(f"\ntrained in {trained:.0f} s; success with 95 % intervals:")
    for name, row in rows.items():
        for who, got in row.items():
            interval = f"[{got['low']:.1%}, {got['high']:.1%}]" if got["low"] is not None else ""
            print(f"{name:18} {who:8} {got['rate']:6.1%} {interval} of {got['episodes']}")
    return report


if __name__ == "__main__":
    main()
