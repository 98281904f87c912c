"""TicketAECEnv: PettingZoo's own tests, rewards of both seats, ends."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pickle
import subprocess
import sys
import warnings

import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.render_test import render_test

import cirrus_env
from cirrus_env.envs.aec_env import TicketAECEnv
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError
from cirrus_env.wire import ASSISTANT, CUSTOMER

ALLOWED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
    "Action space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}


@pytest.fixture
def env():
    return TicketAECEnv("ECS-Billing")


def play(env, seed):
    """A scripted episode; returns everything that was observed."""
    env.reset(seed=seed)
    seen = []
    words = iter(["Which server?", "i-123", "One moment.", "Hurry up!", "Bye."])
    for agent in env.agent_iter():
        seen.append((agent, *env.last()))
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
        elif (text := next(words)) == "Bye.":
            env.step({"type": 2, "text": text, "tool": 0, "arguments": ""})
        else:
            env.step(text)
    return seen


@pytest.mark.parametrize("name", cirrus_env.ids(with_pools=True))
def test_pettingzoos_api_test_warns_of_text_only(name):
    ticket = cirrus_env.pools().get(name, name)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        api_test(TicketAECEnv(ticket), num_cycles=40)
    assert {str(w.message) for w in caught} <= ALLOWED


def test_pettingzoos_seed_and_render_tests(capsys):
    seed_test(lambda: TicketAECEnv("ECS-Billing"), num_cycles=30)
    render_test(lambda render_mode: TicketAECEnv("ECS-Billing", render_mode=render_mode))
    assert "[customer]" in capsys.readouterr().out


def test_made_through_pettingzoo():
    from pettingzoo import make

    env = make("aec", "Cirrus/ECS-Billing-v0", max_turns=5)
    env.reset(seed=1)
    assert env.possible_agents == [ASSISTANT, CUSTOMER]
    assert env.observe(ASSISTANT)["budget"] == 5


def test_spaces_are_equal_for_both_and_the_same_object_at_each_call(env):
    assert env.observation_space(ASSISTANT) == env.observation_space(CUSTOMER)
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    assert env.action_space(ASSISTANT) != env.action_space(CUSTOMER)


def test_turns_alternate_and_calls_keep_the_move(env):
    env.reset(seed=1)
    assert env.agent_selection == ASSISTANT
    env.step({"type": 1, "text": "", "tool": 0, "arguments": "{}"})
    assert env.agent_selection == ASSISTANT
    env.step("Which server is it?")
    assert env.agent_selection == CUSTOMER
    assert env.observe(CUSTOMER)["message"] == "Which server is it?"
    env.step("It is i-123.")
    assert env.observe(ASSISTANT)["message"] == "It is i-123."
    own = json.loads(env.observe(CUSTOMER)["transcript"])
    assert [m["role"] for m in own] == ["system", "assistant", "user", "assistant"]


def test_both_end_together_with_the_same_flag(env):
    seen = play(env, 1)
    *_, assistant, customer = seen
    assert {assistant[0], customer[0]} == {ASSISTANT, CUSTOMER}
    for _, _, _, terminated, truncated, info in (assistant, customer):
        assert (terminated, truncated) == (True, False)
        assert info["outcome"] == "closed_early"
        assert info["metrics"]["success"] is False
    assert env.agents == []
    with pytest.raises(EpisodeNotRunning):
        env.step("hello")


def test_a_finished_agent_takes_only_none(env):
    env.reset(seed=1)
    env.step({"type": 2, "text": "Bye.", "tool": 0, "arguments": ""})
    with pytest.raises(ValueError, match="None"):
        env.step("hello")
    env.step(None)
    env.step(None)
    assert env.agents == []


@pytest.mark.parametrize("action", [None, 7, {"type": 9, "text": "", "tool": 0, "arguments": ""}])
def test_a_programmers_mistake_raises_and_changes_nothing(env, action):
    env.reset(seed=1)
    with pytest.raises(InvalidAction):
        env.step(action)
    assert env.agent_selection == ASSISTANT
    assert env.infos[ASSISTANT]["turn"] == 0
    env.step("hello")
    with pytest.raises(InvalidAction):
        env.step(action)
    assert env.agent_selection == CUSTOMER


def test_rewards_of_the_others_moves_accumulate(env):
    env.reset(seed=1)
    env.step("")  # an invalid action: -0.02 for the assistant, who keeps the move
    assert env.last()[1] == -0.02
    env.step("Which server is it?")
    assert env._cumulative_rewards[ASSISTANT] == env.rewards[ASSISTANT] == 0.0
    env.step({"type": 3, "text": "", "console": 0})
    assert env.infos[CUSTOMER]["outcome"] == "abandoned"


def test_the_same_seed_gives_the_same_episode(env):
    first = play(env, 3)
    assert data_equivalence(first, play(TicketAECEnv("ECS-Billing"), 3), exact=True)
    assert data_equivalence(first, play(env, 3), exact=True)


def test_copies_in_mid_episode_go_on_alike(env):
    env.reset(seed=2)
    env.step("Which server is it?")
    copies = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    seen = []
    for one in copies:
        one.step("I don't know.")
        one.step({"type": 2, "text": "Bye.", "tool": 0, "arguments": ""})
        seen.append([one.observe(agent) for agent in (ASSISTANT, CUSTOMER)])
    assert seen[0] == seen[1] == seen[2]


def test_options(env):
    env.reset(seed=1, options={"turn": 1, "unknown thing": 1})
    assert env.infos[ASSISTANT]["turn"] == 1
    with pytest.raises(OptionError, match="seat is open"):
        env.reset(options={"customer": "simulated"})
    with pytest.raises(OptionError, match="render mode"):
        TicketAECEnv("ECS-Billing", render_mode="video")
    with pytest.raises(OptionError, match="max_turns"):
        TicketAECEnv("ECS-Billing", max_turns=10**9)


def test_rendering(env, capsys):
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
    page = TicketAECEnv("ECS-Billing", render_mode="html")
    page.reset(seed=1)
    assert page.render().startswith("<section")
    page.close()
    page.reset(seed=1)


def test_importing_it_leaves_the_sound_variable_alone():
    code = (
        "import os, cirrus_env.envs.aec_env\nprint(os.environ.get('SDL_AUDIODRIVER', 'not there'))"
    )
    for value in (None, "alsa"):
        environment = {k: v for k, v in os.environ.items() if k != "SDL_AUDIODRIVER"}
        if value:
            environment["SDL_AUDIODRIVER"] = value
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == (value or "not there")
