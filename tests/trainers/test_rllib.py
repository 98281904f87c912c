"""RLlib: both seats through its own PettingZoo wrapper, and a few real iterations of PPO."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cirrus_env.adapters.two_seats import TwoSeats
from cirrus_env.envs.aec_env import TicketAECEnv

pytest.importorskip("ray")

pytestmark = pytest.mark.trainer

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_pettingzoo.py"
SEATS = {"assistant_0", "customer_0"}


def wrapped(env):
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

    return PettingZooEnv(env)


def played(env, act):
    """Play to the end; gives the last step and how many there were."""
    observations, _ = env.reset(seed=3)
    for number in range(1, 500):
        [agent] = observations
        observations, *rest = env.step({agent: act(agent, observations[agent])})
        terminated, truncated = rest[1], rest[2]
        if terminated["__all__"] or truncated["__all__"]:
            return (observations, *rest), number
    raise AssertionError("the wrapper never ended the episode")


@pytest.mark.parametrize(("settings", "moves", "flag"), [
    ({}, {"assistant_0": 3, "customer_0": 2}, "terminated"),        # the assistant closes
    ({}, {"assistant_0": 1, "customer_0": 4}, "terminated"),        # the customer leaves
    ({"max_turns": 4}, {"assistant_0": 1, "customer_0": 2}, "truncated"),
])  # fmt: skip
def test_all_seats_end_with_the_same_flag(settings, moves, flag):
    env = wrapped(TwoSeats("ECS-Billing", **settings))
    (observations, rewards, terminated, truncated, infos), _ = played(env, lambda a, _: moves[a])
    assert set(observations) == set(rewards) == set(infos) == SEATS
    ends = {"terminated": terminated, "truncated": truncated}
    assert ends.pop(flag) == dict.fromkeys((*SEATS, "__all__"), True)
    assert ends.popitem()[1] == dict.fromkeys((*SEATS, "__all__"), False)


def test_the_text_environment_goes_through_the_wrapper_too():
    env = wrapped(TicketAECEnv("ECS-Billing"))
    assert set(env.observation_space.spaces) == set(env.action_space.spaces) == SEATS
    says = {"assistant_0": "Which one?", "customer_0": {"type": 3, "text": "", "console": 0}}
    (observations, _, terminated, _, infos), number = played(env, lambda agent, _: says[agent])
    assert number == 2
    assert terminated["__all__"]
    assert infos["assistant_0"]["outcome"] == "abandoned"
    for agent in SEATS:
        assert env.observation_space[agent].contains(observations[agent])


def test_two_learners_learn_and_ray_leaves_nothing_behind():
    command = [sys.executable, "-W", "ignore", str(EXAMPLE), "--iterations", "12"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    printed, _ = process.communicate(timeout=540)
    assert process.returncode == 0, printed
    found = re.search(r"random (\d\.\d+), learned (\d\.\d+)", printed)
    assert found, printed
    before, after = map(float, found.groups())
    assert before < 0.1
    assert after > before + 0.2
    curve = [float(value) for value in re.findall(r"mean return (-?\d\.\d+)", printed)]
    assert len(curve) == 12
    assert sum(curve[-3:]) > sum(curve[:3])
    assert session(process.pid) == []


def session(leader: int) -> list[str]:
    """What still runs of a session that this test started."""
    left = []
    for entry in Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        name, _, rest = stat.rpartition(")")
        state, _, _, number = rest.split()[:4]
        if int(number) == leader and state != "Z":
            left.append(name)
    return left
