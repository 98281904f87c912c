"""The customer's seat: what it sees, does and gains; the assistant plays by itself."""

from __future__ import annotations

import json

import pytest

from cirrus_env.engine.plan import reference_turns
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import InvalidAction, OptionError
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import CustomerAction

SAY = {"type": 0, "text": "What do you mean?", "console": 0}


@pytest.fixture
def env():
    return TicketEnv("ECS-Billing", seat="customer")


def chat(observation):
    return json.loads(observation["transcript"])


def test_it_sees_its_profile_and_the_words_but_no_tool_traffic(env):
    observation, info = env.reset(seed=1)
    system = json.loads(chat(observation)[0]["content"])
    private = env.episode.scenario.private
    assert system["seat"] == "customer"
    assert system["patience"] == observation["budget"] == private.patience
    told = {fact["name"] for fact in system["facts"]}
    assert told == {f.name for f in private.facts.values() if f.when != "never"}
    assert chat(observation)[1] == {"role": "assistant", "content": private.opening}
    done = False
    while not done:
        assert observation in env.observation_space
        assert {m["role"] for m in chat(observation)} <= {"system", "user", "assistant"}
        called = [r for r in env.episode.records if r.action["kind"] == "call"]
        for record in called:
            for _, _, arguments in record.action["calls"]:
                assert arguments == "{}" or arguments not in observation["transcript"]
        if observation["role"] == "user":
            assert observation["message"] == env.episode.state.words
        observation, _, terminated, truncated, info = env.step(SAY)
        done = terminated or truncated
    assert called
    assert info["outcome"]
    assert info["customer"] == "external"


def test_its_rewards_sum_to_its_satisfaction(env):
    env.reset(seed=1)
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, _ = env.step(SAY)
        total += reward
        done = terminated or truncated
    assert total == pytest.approx(env._seat._satisfied)
    assert 0 <= total <= 1


@pytest.mark.parametrize("turns", [1, 2])
def test_the_reference_goes_on_from_where_the_episode_starts(env, turns):
    observation, info = env.reset(seed=1, options={"turn": turns})
    reference = reference_turns(env.episode.scenario)
    words = [turn[-1].text for turn in reference[: turns + 1]]
    heard = [m["content"] for m in chat(observation) if m["role"] == "user"]
    assert heard == words
    said = [m["content"] for m in chat(observation) if m["role"] == "assistant"]
    assert len(said) == turns + 1
    assert (info["customer"], info["turn"]) == ("external", turns + 1)
    again = env.snapshot()
    observation, *_ = env.step(SAY)
    env.restore(again)
    assert env.step(SAY)[0] == observation


def test_leaving_and_accepting(env):
    env.reset(seed=1)
    *_, info = env.step({"type": 3, "text": "", "console": 0})
    assert (info["outcome"], info["ending"]) == ("abandoned", "leave")
    env.reset(seed=1)
    *_, info = env.step(CustomerAction("accept", "Fine."))
    assert (info["outcome"], info["ending"]) == ("closed_early", "accept")


def test_unusable_words_pass_the_turn(env):
    before, _ = env.reset(seed=1)
    for action in ("a\ud800", "x" * 30_000, {"type": 1, "text": "", "console": 255}):
        env.reset(seed=1)
        observation, *_ = env.step(action)
        assert observation in env.observation_space
        notices = [m for m in chat(observation) if m.get("name") == "environment"]
        assert len(notices) == 1
        assert notices[0]["content"].startswith("[invalid action]")
        own = [m for m in chat(observation) if m["role"] == "assistant"]
        assert own == [m for m in chat(before) if m["role"] == "assistant"]


def test_console_actions_report_what_came_of_them(env):
    found = set()
    for variant in bundled("ECS-Billing").variants:
        observation, info = env.reset(seed=1, options={"variant": variant})
        console = env.episode.scenario.private.console
        names = [tool["function"]["name"] for tool in json.loads(observation["tools"])]
        assert names == list(console)
        assert info["action_mask"]["console"].sum() == len(names)
        assert info["action_mask"]["type"].tolist() == [1, int(bool(names)), 1, 1]
        for i, name in enumerate(names):
            env.reset(seed=1, options={"variant": variant})
            observation, _, terminated, _, info = env.step({"type": 1, "text": "", "console": i})
            ok = env.episode.state.console == (name, True)
            assert observation["message"] == (console[name].says if ok else console[name].fails)
            assert (observation["role"], terminated) == ("tool", False)
            assert observation in env.observation_space
            assert info["action_mask"]["type"].tolist() == [1, 0, 1, 1]
            found.add(ok)
            # a second one in the same turn is nothing usable, and the turn passes
            observation, *_ = env.step({"type": 1, "text": "", "console": i})
            assert chat(observation)[-2]["content"].startswith("[invalid action]")
    assert True in found


@pytest.mark.parametrize(
    "action",
    [
        None,
        7,
        {},
        {"type": 0, "text": "x"},
        {"type": 4, "text": "x", "console": 0},
        {"type": True, "text": "x", "console": 0},
        {"type": 0, "text": b"x", "console": 0},
        {"type": 0, "text": "x", "console": 256},
        {"type": 0, "text": "x", "console": 0, "tool": 0},
    ],
)
def test_a_programmers_mistake_raises_and_changes_nothing(env, action):
    env.reset(seed=1)
    before = len(env.episode.records)
    with pytest.raises(InvalidAction):
        env.step(action)
    assert len(env.episode.records) == before


def test_an_assistant_object_plays_the_other_seat():
    class Polite:
        def __init__(self):
            self.seeds = []
            self.seen = []

        def reset(self, seed):
            self.seeds.append(seed)

        def act(self, observation):
            self.seen.append(observation["message"])
            return "Thank you. Which server is it?"

    polite = Polite()
    env = TicketEnv("ECS-Billing", seat="customer", assistant=polite)
    observation, _ = env.reset(seed=4)
    assert observation["message"] == "Thank you. Which server is it?"
    env.step("My server")
    assert polite.seeds == [4]
    assert polite.seen == [env.episode.scenario.private.opening, "My server"]


def test_nobody_else_may_play_the_learner(env):
    with pytest.raises(OptionError, match="learner plays the customer"):
        env.reset(options={"customer": "simulated"})
