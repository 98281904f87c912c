"""One episode from the installed wheel: the oracle resolves a ticket through ``gym.make``."""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium

import cirrus_env
from cirrus_env.baselines import oracle_for

if Path(cirrus_env.__file__).is_relative_to(sys.argv[1]):
    sys.exit(f"{cirrus_env.__file__} is the checkout, not the wheel")
env = gymnasium.make("cirrus_env:Cirrus/ECS-Billing-v0")
observation, info = env.reset(seed=0)
policy = oracle_for(env)
policy.reset(0)
total, done = 0.0, False
while not done:
    observation, reward, terminated, truncated, info = env.step(policy.act(observation))
    total += float(reward)
    done = terminated or truncated
print(f"one episode from the wheel: {info['outcome']}, return {total:.3f}")
sys.exit(0 if info["outcome"] == "success" else 1)
