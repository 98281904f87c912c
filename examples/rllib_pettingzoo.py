"""Two PPO learners, one on each seat, through RLlib's own ``PettingZooEnv``.

    pip install torch "cirrus-env[rllib]"
    python examples/rllib_pettingzoo.py --iterations 12

The assistant learns to follow its script to the end instead of closing at once, the customer to
tell what it is asked for: both get the share of checkpoints passed. What they learned is compared
with random moves on seeds that were not trained on.
"""

from __future__ import annotations

import argparse
import os
from statistics import mean
from typing import Any

import numpy as np

from cirrus_env.adapters.two_seats import TwoSeats
from cirrus_env.world import Stream

SEATS = ("assistant_0", "customer_0")
HELD_OUT = range(1000, 1020)


def make(config: dict[str, Any]) -> Any:
    """The environment as RLlib wants it."""
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

    return PettingZooEnv(TwoSeats(**config))


def trainer(ticket: str, seed: int) -> Any:
    """PPO with one policy for each seat, all in this process."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.tune.registry import register_env

    register_env("cirrus_two_seats", make)
    settings = {"ticket": ticket, "reward": {"progress": 1.0}, "seeds": tuple(range(32))}
    return (
        PPOConfig()
        .environment("cirrus_two_seats", env_config=settings)
        .multi_agent(policies=set(SEATS), policy_mapping_fn=lambda agent, *_, **__: agent)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64], fcnet_activation="tanh"))
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(lr=3e-3, gamma=0.99, entropy_coeff=0.01, train_batch_size_per_learner=512,
                  minibatch_size=128, num_epochs=6)
        .debugging(seed=seed)
        .build_algo()
    )  # fmt: skip


def learned(algorithm: Any) -> Any:
    """The most likely move of each seat's module."""
    import torch

    modules = {agent: algorithm.get_module(agent) for agent in SEATS}

    def act(agent: str, observation: Any, info: dict[str, Any]) -> int:
        batch = {"obs": torch.from_numpy(observation[None])}
        with torch.no_grad():
            logits = modules[agent].forward_inference(batch)["action_dist_inputs"]
        return int(logits.argmax())

    return act


def evaluate(ticket: str, act: Any) -> float:
    """The mean share of checkpoints passed on held-out seeds."""
    env = TwoSeats(ticket, reward={"progress": 1.0}, seeds=HELD_OUT)
    shares = []
    for _ in HELD_OUT:
        env.reset()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            env.step(None if terminated or truncated else act(agent, observation, info))
        shares.append(env.episode.metrics()["tpr"])
    env.close()
    return mean(shares)


def random_moves(seed: int) -> Any:
    """Moves that the seat has, each as likely as another."""
    stream = Stream(seed, "examples:random")

    def act(agent: str, observation: Any, info: dict[str, Any]) -> int:
        possible = np.flatnonzero(info["action_mask"])
        return int(possible[stream.below(len(possible))])

    return act


def main() -> None:
    """Train, print the curve, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticket", default="ECS-Billing")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        algorithm = trainer(arguments.ticket, arguments.seed)
        for iteration in range(arguments.iterations):
            found = algorithm.train()["env_runners"]
            reached = found["agent_episode_returns_mean"]["assistant_0"]
            print(f"iteration {iteration}: {found['num_episodes']:.0f} episodes, "
                  f"assistant's mean return {reached:.3f}", flush=True)  # fmt: skip
        before = evaluate(arguments.ticket, random_moves(arguments.seed))
        after = evaluate(arguments.ticket, learned(algorithm))
        algorithm.stop()
    finally:
        ray.shutdown()
    print(f"checkpoints passed on held-out seeds: random {before:.3f}, learned {after:.3f}")


if __name__ == "__main__":
    main()
