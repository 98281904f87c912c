"""Changing how episodes are played: checked at once, in force from the next reset on."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import pytest

import cirrus_env  # noqa: F401  # registers the ids
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs import conformance
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import OptionError

BILLING = "Cirrus/ECS-Billing-v0"
WORDS = "Could you tell me which server it is?"
CLOSE = {"type": 2, "text": "Goodbye.", "tool": 0, "arguments": ""}
CHANGES = {"reward": "dense", "faults": "harsh", "max_turns": 7, "language": "zh", "system": "Hi."}


def header(env):
    return {k: v for k, v in env.episode.header.items() if k != "seed"}


def whole(env, seed):
    conformance.play(env, seed, list(conformance.probes(env, seed, 4)))
    return trajectory(env.episode).lines()


def test_changes_are_those_of_an_environment_made_with_them():
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    env.configure(**CHANGES)
    assert whole(env, 3) == whole(TicketEnv("ECS-Billing", **CHANGES), 3)
    env.configure(language=None, faults=None, system=None, reward="cirrus", max_turns=30)
    assert whole(env, 3) == whole(TicketEnv("ECS-Billing"), 3)


@pytest.mark.parametrize("tickets", ["ECS-Billing", ["ECS-Billing", "ECS-Upgrade"]])
def test_an_episode_in_progress_goes_on_as_it_is(tickets):
    env, other = TicketEnv(tickets), TicketEnv(tickets)
    env.reset(seed=3)
    other.reset(seed=3)
    env.configure(**CHANGES)
    for action in (WORDS, CLOSE):
        env.step(action)
        other.step(action)
    assert trajectory(env.episode).lines() == trajectory(other.episode).lines()
    assert env.reset()[0]["budget"] == 7
    assert other.reset()[1]["seed"] == env.episode.scenario.seed  # the stream of seeds is kept
    assert env.episode.header["limits"]["max_turns"] == 7


def test_snapshots_lead_back_to_how_it_was_played():
    env = TicketEnv(["ECS-Billing"])
    env.reset(seed=3)
    before = header(env)
    then = env.snapshot()
    env.step(WORDS)
    reward = env.step(CLOSE)[1]
    env.configure(reward="sparse", max_turns=7)
    for begin_another in (False, True):
        if begin_another:
            env.reset(seed=4)
            env.step(WORDS)
            now = env.snapshot()
        observation, _ = env.restore(then)
        assert observation["budget"] == 30
        env.step(WORDS)
        assert env.step(CLOSE)[1] == reward
        assert header(env) == before
    assert env.restore(now)[0]["budget"] == 6
    assert env.restore(pickle.loads(pickle.dumps(then)))[0]["budget"] == 30
    assert env.reset()[0]["budget"] == 7


@pytest.mark.parametrize(
    "copied", [TicketEnv.fork, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
def test_copies_know_the_changes(copied):
    env = TicketEnv("ECS-Billing")
    env.reset(seed=3)
    env.configure(max_turns=7)
    other = copied(env)
    assert other.step(WORDS)[0]["budget"] == 29
    assert other.reset()[0]["budget"] == 7
    assert copied(other).step(WORDS)[0]["budget"] == 6
    assert env.step(WORDS)[0]["budget"] == 29
    assert copied(env).reset()[1]["seed"] == env.reset()[1]["seed"]


def test_names_of_tools_may_come_from_an_iterator():
    env = TicketEnv("ECS-Billing", tools=iter(["DescribeInstances"]))
    env.configure(tools=iter(["DescribeDisks"]))
    for _ in range(2):
        env.reset(seed=1)
        assert env.episode.tool_names == ("DescribeDisks",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_turn": 3}, "did you mean|max_turns"),
        ({"seat": "customer"}, "no argument 'seat'"),
        ({"reward": "sparce"}, "sparse"),
        ({"reward": "sparse", "faults": "mildly"}, "mild"),
        ({"max_turns": 0}, "positive"),
        ({"max_turns": 10**9}, "goes up to"),
        ({"max_turns": "3"}, "positive"),
        ({"max_chars": 10**9}, "goes up to"),
        ({"customer": "nobody"}, "nobody"),
        ({"judge": 3}, "judge"),
        ({"parser": "hermess"}, "hermes"),
        ({"system": 3}, "system"),
        ({"language": "de"}, "language"),
        ({"tools": "DescribeInstances"}, "tools are the names"),
        ({"tools": 3}, "tools are the names"),
        ({"scramble": "x"}, "scramble"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_changes(changes, message):
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    with pytest.raises(OptionError, match=message):
        env.configure(**changes)
    assert whole(env, 3) == whole(TicketEnv("ECS-Billing"), 3)


def test_the_customers_seat_stays_the_learners():
    env = gymnasium.make(BILLING, seat="customer").unwrapped
    with pytest.raises(OptionError, match="nobody else can"):
        env.configure(customer="simulated")
    env.configure(max_turns=2)
    env.reset(seed=1)
    assert env.episode.header["limits"]["max_turns"] == 2


def test_closing_lets_the_episode_in_progress_go():
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    env.configure(max_turns=7)
    env.close()
    assert env.episode.to_move == ""
    assert env.reset()[0]["budget"] == 7
