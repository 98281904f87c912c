"""TicketEnv: Gymnasium's contract, the info schema, options, seats and seeds."""

from __future__ import annotations

import json
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import cirrus_env
from cirrus_env.envs import conformance
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import EpisodeNotRunning, OptionError, UnknownTicket
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled

ALL = cirrus_env.ids(with_pools=True)
BILLING = "Cirrus/ECS-Billing-v0"
REPLY = {"type": 0, "text": "Could you tell me which server it is?", "tool": 0, "arguments": ""}
CLOSE = {"type": 2, "text": "Goodbye.", "tool": 0, "arguments": ""}


@pytest.fixture
def env():
    made = gymnasium.make(BILLING)
    yield made
    made.close()


@pytest.mark.parametrize("name", ALL)
def test_every_id_makes_resets_and_steps(name):
    env = gymnasium.make(name)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert cirrus_env.ids().count(info["ticket"]) == 1
    for action in (REPLY, env.action_space.sample(mask=info["action_mask"]), CLOSE):
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in env.observation_space
        assert isinstance(reward, float)
        if terminated or truncated:
            break
    assert info["outcome"] or name


@pytest.mark.parametrize("name", ALL)
def test_gymnasiums_own_check_finds_nothing(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped)


SHAPES = [
    *((e["env_id"], {"language": language}) for e in index() for language in e["languages"]),
    *((pool, {}) for pool in cirrus_env.pools()),
    (BILLING, {"seat": "customer"}),
    (BILLING, {"tools": ["DescribeInstances"], "max_tool_calls": 1}),
    (BILLING, {"max_turns": 1}),
]


@pytest.mark.parametrize(("name", "arguments"), SHAPES)
def test_conformance(name, arguments):
    report = conformance.check(lambda: gymnasium.make(name, **arguments), seeds=(3,))
    assert report.problems == ()
    assert report.require().ended == 1


def test_the_same_seed_gives_the_same_bytes(env):
    first = env.reset(seed=7)
    env.step(REPLY)
    second = env.reset(seed=7)
    assert data_equivalence(first, second, exact=True)
    assert env.reset(seed=8)[0] != first[0]


def test_resets_without_a_seed_follow_the_last_seed(env):
    env.reset(seed=3)
    drawn = [env.reset()[1]["seed"] for _ in range(5)]
    env.reset(seed=3)
    assert [env.reset()[1]["seed"] for _ in range(5)] == drawn
    assert len(set(drawn)) == 5
    again = env.reset(seed=drawn[0])
    env.reset(seed=3)
    assert data_equivalence(env.reset(), again, exact=True)


def test_an_unseeded_environment_reports_a_seed_that_repeats_it():
    one, other = gymnasium.make(BILLING), gymnasium.make(BILLING)
    observation, info = one.reset()
    assert other.reset(seed=info["seed"])[0] == observation


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7)])
def test_numpy_seeds_are_integers(env, seed):
    assert env.reset(seed=seed)[0] == env.reset(seed=7)[0]


@pytest.mark.parametrize("seed", ["7", 1.5, None.__class__])
def test_other_seeds_raise(env, seed):
    with pytest.raises(OptionError, match="integer"):
        env.reset(seed=seed)


def test_np_random_follows_the_seed(env):
    env.reset(seed=5)
    first = env.unwrapped.np_random.bit_generator.state
    env.reset(seed=5)
    assert env.unwrapped.np_random.bit_generator.state == first


def test_the_observation(env):
    observation, _ = env.reset(seed=7)
    assert list(observation) == ["message", "role", "transcript", "tools", "turn", "budget"]
    chat = json.loads(observation["transcript"])
    assert [message["role"] for message in chat] == ["system", "user"]
    assert chat[1]["content"] == observation["message"]
    assert observation["role"] == "user"
    tools = json.loads(observation["tools"])
    assert {tool["type"] for tool in tools} == {"function"}
    assert "DescribeInstances" in [tool["function"]["name"] for tool in tools]
    assert (observation["turn"], observation["budget"]) == (0, 30)


def test_the_transcript_grows_and_never_changes(env):
    observation, _ = env.reset(seed=7)
    seen = json.loads(observation["transcript"])
    call = {"type": 1, "text": "", "tool": 0, "arguments": "{}"}
    for action in (REPLY, call, REPLY):
        observation, *_ = env.step(action)
        chat = json.loads(observation["transcript"])
        assert chat[: len(seen)] == seen
        assert len(chat) > len(seen)
        seen = chat
    assert chat == env.unwrapped.episode.messages


def test_several_tool_results_come_as_one_message(env):
    env.reset(seed=7)
    calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for i, name in enumerate(["DescribeInstances", "NoSuchTool"])
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    observation, _, _, _, info = env.step(message)
    chat = json.loads(observation["transcript"])
    assert observation["role"] == "tool"
    assert observation["message"] == "\n".join(m["content"] for m in chat[-2:])
    assert (info["tool_calls"], info["invalid"]) == (2, 1)


def test_a_notice_comes_from_the_environment(env):
    env.reset(seed=7)
    observation, reward, *_ = env.step("")
    assert observation["role"] == "environment"
    assert observation["message"].startswith("[invalid action]")
    assert reward < 0


def test_after_the_end_nobody_speaks_and_nothing_steps(env):
    env.reset(seed=7)
    observation, _, terminated, truncated, info = env.step(CLOSE)
    assert (terminated, truncated) == (True, False)
    assert (observation["message"], observation["role"]) == ("", "")
    assert info["outcome"] == "closed_early"
    assert info["variant"] in bundled("ECS-Billing").variants
    assert info["metrics"]["success"] is False
    with pytest.raises(EpisodeNotRunning):
        env.step(REPLY)
    env.reset(seed=7)


def test_stepping_before_reset_raises():
    with pytest.raises(EpisodeNotRunning, match="reset"):
        TicketEnv("ECS-Billing").step("hello")


def test_info_holds_no_gold_before_the_end(env):
    _, info = env.reset(seed=7)
    assert info.keys() == conformance.INFO.keys()
    *_, info = env.step(REPLY)
    assert info.keys() == conformance.INFO.keys()


def test_spaces_are_equal_for_all_and_the_same_object_for_one():
    one, other = gymnasium.make(ALL[0]), gymnasium.make(ALL[-1])
    assert one.observation_space == other.observation_space
    assert one.action_space == other.action_space
    inner = one.unwrapped
    assert inner.action_space is inner.action_space
    assert inner.action_space is not other.unwrapped.action_space
    customer = TicketEnv("ECS-Billing", seat="customer")
    assert customer.observation_space == one.observation_space
    assert not {"observation", "action_mask"} & set(one.observation_space.spaces)


def test_the_mask_follows_tools_and_limits():
    env = TicketEnv("ECS-Billing", tools=["DescribeInstances", "StopInstance"], max_tool_calls=1)
    observation, info = env.reset(seed=1)
    assert len(json.loads(observation["tools"])) == 2
    assert info["action_mask"]["tool"].tolist() == [1, 1] + [0] * 254
    assert info["action_mask"]["type"].tolist() == [1, 1, 1, 1]
    *_, info = env.step({"type": 1, "text": "", "tool": 0, "arguments": "{}"})
    assert info["action_mask"]["type"].tolist() == [1, 0, 1, 1]


def test_a_tool_beyond_the_list_is_counted(env):
    env.reset(seed=7)
    observation, _, _, _, info = env.step({"type": 1, "text": "", "tool": 255, "arguments": ""})
    assert json.loads(observation["message"])["Code"] == "UnknownTool"
    assert info["invalid"] == 1


@pytest.mark.parametrize("key", ["tickets", "varient", "Turn", "costumer"])
def test_a_misspelt_option_raises(env, key):
    with pytest.raises(OptionError, match="did you mean"):
        env.reset(options={key: 1})


def test_unknown_options_are_ignored(env):
    assert env.reset(seed=1, options={"options": 1, "zzz": 2})[0] == env.reset(seed=1)[0]


def test_the_variant_option(env):
    for variant in bundled("ECS-Billing").variants:
        env.reset(seed=1, options={"variant": variant})
        *_, info = env.step(CLOSE)
        assert info["variant"] == variant
    with pytest.raises(OptionError, match="no variant"):
        env.reset(options={"variant": "nothing"})


def test_the_turn_option_starts_within_the_reference(env):
    observation, info = env.reset(seed=1, options={"turn": 1})
    assert observation["turn"] == 1
    assert info["turn"] == 1
    assert observation in env.observation_space
    assert len(json.loads(observation["transcript"])) > 2
    with pytest.raises(OptionError):
        env.reset(seed=1, options={"turn": 500})


def test_the_ticket_option_takes_members_only():
    pool = gymnasium.make("Cirrus/Train-v0")
    for member in cirrus_env.pools()["Cirrus/Train-v0"]:
        for name in (member, bundled(member).env_id, bundled(member)):
            assert pool.reset(seed=1, options={"ticket": name})[1]["ticket"] == (
                bundled(member).env_id
            )
    with pytest.raises(OptionError, match="draws from ECS-Billing, not from 'Billing-Refund'"):
        gymnasium.make(BILLING).reset(options={"ticket": "Billing-Refund"})
    with pytest.raises(OptionError, match="a name or a Ticket"):
        pool.reset(options={"ticket": 7})


def test_a_pool_draws_its_ticket_by_the_seed():
    pool = gymnasium.make("Cirrus/Train-v0")
    members = {bundled(name).env_id for name in cirrus_env.pools()["Cirrus/Train-v0"]}
    drawn = [pool.reset(seed=seed)[1]["ticket"] for seed in range(150)]
    assert set(drawn) == members
    assert [gymnasium.make("Cirrus/Train-v0").reset(seed=s)[1]["ticket"] for s in range(5)] == (
        drawn[:5]
    )
    single = gymnasium.make(drawn[0]).reset(seed=0)
    assert data_equivalence(pool.reset(seed=0), single, exact=True)


def test_a_failed_reset_says_why_and_the_next_one_works(env):
    env.reset(seed=7)
    with pytest.raises(OptionError):
        env.reset(seed=7, options={"variant": "nothing"})
    assert env.reset(seed=7)[1]["seed"] == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": "judge"}, "seat"),
        ({"reward": "cirus"}, "reward"),
        ({"parser": "xml"}, "parser"),
        ({"language": "fr"}, "language"),
        ({"render_mode": "rgb_array"}, "render mode"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": 10**9}, "max_turns"),
        ({"max_chars": 10**9}, "max_chars"),
        ({"seat": "customer", "assistant": "nobody"}, "assistant"),
        ({"seat": "customer", "assistant": 7}, "act"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(OptionError, match=message):
        TicketEnv("ECS-Billing", **arguments)


def test_bad_tickets():
    with pytest.raises(UnknownTicket, match="ECS-Billing"):
        TicketEnv("ECS-Biling")
    with pytest.raises(OptionError, match="at least one"):
        TicketEnv([])


def test_limits_truncate():
    env = TicketEnv("ECS-Billing", max_invalid=2)
    env.reset(seed=1)
    env.step("")
    _, _, terminated, truncated, info = env.step("")
    assert (terminated, truncated, info["outcome"]) == (False, True, "invalid_limit")


def test_chinese():
    env = TicketEnv("ECS-Billing", language="zh")
    observation, _ = env.reset(seed=1)
    assert any("\u4e00" <= c <= "\u9fff" for c in observation["message"])
    assert observation["message"] in observation["transcript"]


def test_a_stopped_and_a_failed_episode(env):
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.unwrapped.truncate()
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["outcome"], info["valid"]) == ("stopped", 1)
    env.reset(seed=1)
    env.step("")
    _, reward, terminated, truncated, info = env.unwrapped.truncate("agent_error")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["outcome"], info["valid"]) == ("agent_error", 0)


def test_inside_an_event_loop():
    import asyncio

    async def two():
        one, other = TicketEnv("ECS-Billing"), TicketEnv("ECS-Billing")
        await asyncio.gather(one.areset(seed=1), other.areset(seed=1))
        results = await asyncio.gather(one.astep("Which server?"), other.astep("Which server?"))
        customer = TicketEnv("ECS-Billing", seat="customer")
        await customer.areset(seed=1)
        await customer.astep("hello")
        return results

    first, second = asyncio.run(two())
    assert data_equivalence(first, second, exact=True)
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    assert data_equivalence(env.step("Which server?"), first, exact=True)


def test_the_time_limit_wrapper():
    env = gymnasium.make(BILLING, max_episode_steps=1)
    env.reset(seed=1)
    *_, truncated, info = env.step(REPLY)
    assert truncated is True
    assert info["outcome"] == ""


def test_wide_limits_stay_in_the_space():
    env = TicketEnv("ECS-Billing", max_turns=400)
    env.reset(seed=1)
    observation, *_ = env.step("x" * 20_000)
    assert observation in env.observation_space
    *_, info = env.step("x" * 20_001)
    assert info["invalid"] == 1
