"""Law R6 at everyday size: environments never touch each other."""

from __future__ import annotations

import copy
import pickle
import threading

import gymnasium
import pytest

import cirrus_env
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs import conformance
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.wire import digest

NAMES = [cirrus_env.ids()[i % len(cirrus_env.ids())] for i in range(64)]


def digest_of(env):
    return trajectory(env.unwrapped.episode).digest


def script(env, seed):
    return list(conformance.probes(env, seed, 5))


def alone(name, seed):
    env = gymnasium.make(name)
    conformance.play(env, seed, script(env, seed))
    return digest_of(env)


@pytest.fixture(scope="module")
def expected():
    return [alone(name, seed) for seed, name in enumerate(NAMES)]


def test_sixty_four_interleaved(expected):
    envs = [gymnasium.make(name) for name in NAMES]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    for step in range(6):
        for seed, env in enumerate(envs):
            if env.unwrapped.episode.outcome is None:
                env.step(script(env, seed)[step])
    assert [digest_of(env) for env in envs] == expected


def test_in_threads(expected):
    results = [None] * len(NAMES)

    def work(first):
        for seed in range(first, len(NAMES), 8):
            results[seed] = alone(NAMES[seed], seed)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected


@pytest.mark.parametrize("at", [0, 1, 3, 5])
def test_every_way_out_of_the_middle_and_on(at):
    for seed, name in enumerate(cirrus_env.ids()):
        env = gymnasium.make(name).unwrapped
        actions = script(env, seed)
        conformance.play(env, seed, actions[:at])
        ways = {
            "deepcopy": copy.deepcopy(env),
            "pickle": pickle.loads(pickle.dumps(env)),
            "fork": env.fork(),
        }
        snapshot = env.snapshot()
        for way in ways.values():
            for action in actions[at:]:
                if way.episode.outcome is None:
                    way.step(action)
        for _ in range(2):  # the parent goes on as if nothing had been, and again
            for action in actions[at:]:
                if env.episode.outcome is None:
                    env.step(action)
            ways["parent"] = env.fork()
            env.restore(snapshot)
        assert {digest_of(way) for way in ways.values()} == {alone(name, seed)}


def test_restore_returns_the_moment():
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    moment = env.step("Which server is it?")
    snapshot = env.snapshot()
    env.step("One moment.")
    observation, info = env.restore(snapshot)
    assert observation == moment[0]
    assert info["turn"] == moment[-1]["turn"]
    assert env.fork().step("One moment.")[0] == env.step("One moment.")[0]


def test_a_pools_snapshot_brings_its_ticket_back():
    env = gymnasium.make("Cirrus/Train-v0").unwrapped
    names = cirrus_env.pools()["Cirrus/Train-v0"]
    observation, _ = env.reset(seed=1, options={"ticket": names[0]})
    snapshot = env.snapshot()
    env.reset(seed=2, options={"ticket": names[-1]})
    assert env.restore(snapshot)[0] == observation
    env.close()
    env.reset(seed=2, options={"ticket": names[-1]})
    assert env.restore(snapshot)[0] == observation


def test_forks_draw_the_same_next_seeds_apart():
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    fork = env.fork()
    drawn = [env.reset()[1]["seed"] for _ in range(3)]
    assert [fork.reset()[1]["seed"] for _ in range(3)] == drawn
    assert fork.action_space is not env.action_space


def test_returns_share_nothing_mutable():
    env = TicketEnv("ECS-Billing")
    _, first = env.reset(seed=1)
    *_, second = env.step("Which server is it?")
    first["reward_terms"]["progress"] = 9.0
    first["action_mask"]["tool"][:] = 9
    second["action_mask"]["type"][:] = 9
    *_, third = env.step("One moment.")
    assert third["reward_terms"]["progress"] != 9.0
    assert third["action_mask"]["tool"].max() == 1
    assert third["action_mask"]["type"].max() == 1
    assert digest(env.reset(seed=1)[0]["tools"]) == digest(env.step("Hello.")[0]["tools"])
