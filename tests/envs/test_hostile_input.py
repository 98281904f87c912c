"""Laws R4 and R7 at the environment's edge: bad input is typed, and gold stays hidden."""

from __future__ import annotations

import json

import gymnasium
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cirrus_env
from cirrus_env.envs import conformance
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import InvalidAction
from cirrus_env.tickets.index import index

TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["{}", "[]", "null", "NaN", '{"a":1,"a":2}', "\ud800", "\0", "[" * 2000, "x" * 20_001,
         '{"InstanceId": 1e400}', "1" * 5000, '{"RegionId": "\\ud800"}', '"' * 50, " ", ""]
    ),
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.binary(max_size=5)
)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)
DICTS = st.fixed_dictionaries(
    {
        "type": st.integers(-1, 4) | SCALARS,
        "text": TEXTS | SCALARS,
        "tool": st.integers(0, 60) | SCALARS,
        "arguments": TEXTS | SCALARS,
    }
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": TEXTS | st.none(),
            "function": st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS | JUNK}) | JUNK,
        }
    ),
    max_size=4,
)
CHATS = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "user", None]), "content": TEXTS | JUNK},
    optional={"tool_calls": CALLS | JUNK, "reasoning_content": TEXTS | JUNK},
)
ACTIONS = st.one_of(TEXTS, DICTS, CHATS, JUNK)


@settings(max_examples=400)
@given(seat=st.sampled_from(["assistant", "customer"]), actions=st.lists(ACTIONS, max_size=4))
def test_whatever_comes_in_only_typed_results_come_out(seat, actions):
    env = TicketEnv("ECS-Billing", seat=seat)
    env.reset(seed=1)
    for action in actions:
        before = len(env.episode.records)
        try:
            observation, reward, terminated, truncated, info = env.step(action)
        except InvalidAction:
            assert len(env.episode.records) == before
            continue
        assert observation in env.observation_space
        assert type(reward) is float
        assert info.keys() >= conformance.INFO.keys()
        json.loads(observation["transcript"])
        if terminated or truncated:
            break


def hidden(scenario):
    """Gold texts that no seat may see before the end, as far as this scenario has them."""
    gold = scenario.gold
    for checkpoint in gold.checkpoints:
        if checkpoint.reference.reply:
            yield checkpoint.reference.reply
        yield from checkpoint.near_misses
    yield gold.closing.text
    yield from gold.must_pass
    yield from (f.text for f in scenario.private.facts.values() if f.when == "never" and f.text)


@pytest.mark.parametrize("name", cirrus_env.ids())
@pytest.mark.parametrize("seed", [0, 1])
def test_gold_never_shows(name, seed):
    env = gymnasium.make(name, render_mode="ansi")
    observation, info = env.reset(seed=seed)
    told = {f.text for f in env.unwrapped.episode.scenario.private.facts.values()}
    secrets = [t for t in hidden(env.unwrapped.episode.scenario) if len(t) > 12]
    assert secrets
    for action in conformance.probes(env, seed, 6):
        shown = [*map(str, observation.values()), str(info), env.render(), repr(env), str(env.spec)]
        shown.append(repr(env.unwrapped.snapshot()))
        for secret in secrets:
            assert not any(secret in text for text in shown), secret
        unasked = told - {m["content"] for m in json.loads(observation["transcript"])}
        assert len(unasked) >= len(told) - 2 * info["turn"] - 2
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break


@pytest.mark.parametrize("entry", index(), ids=lambda entry: entry["id"])
def test_never_told_facts_and_tool_traffic_stay_from_the_customer(entry):
    for variant in entry["variants"]:
        env = TicketEnv(entry["id"], seat="customer")
        observation, _ = env.reset(seed=1, options={"variant": variant})
        facts = env.episode.scenario.private.facts.values()
        never = [f.text for f in facts if f.when == "never" and f.text]
        for action in conformance.probes(env, 1, 3):
            assert not any(text in observation["transcript"] for text in never)
            assert '"Code"' not in observation["transcript"]
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                break
