"""The vector environment equals single ones in every mode, and awaits its models together."""

from __future__ import annotations

import asyncio
import json

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import cirrus_env
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.envs.vector_env import TicketVectorEnv
from cirrus_env.errors import EndpointError, EpisodeNotRunning, InvalidAction, OptionError

TICKETS = ["ECS-Billing", "ECS-Renewal", "Billing-Refund"]
MODES = list(AutoresetMode)

ONE = st.one_of(
    st.sampled_from(
        [
            "Which instance is it, please?", "It is done. Is there anything else?", "",
            {"type": 2, "text": "Bye.", "tool": 0, "arguments": ""},
            {"type": 3, "text": "Please look.", "tool": 0, "arguments": "security"},
            {"role": "assistant", "content": "One moment."},
        ]
    ),
    st.builds(
        lambda tool, arguments: {"type": 1, "text": "", "tool": tool, "arguments": arguments},
        st.integers(0, 12), st.sampled_from(["{}", "{", '{"RegionId":"cn-hangzhou"}']),
    ),
)  # fmt: skip


class Awaited(SimulatedCustomer):
    """The simulated customer, as one that has to be awaited; counts who waits at once."""

    name = "awaited"

    def __init__(self) -> None:
        self.now = self.most = 0
        self.broken = ""

    async def abegin(self, scenario):
        await self._wait()
        return self.begin(scenario)

    async def areact(self, mind, view):
        await self._wait()
        if self.broken and self.broken in view.text:
            raise EndpointError("the model is gone")
        return self.react(mind, view)

    async def _wait(self) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):
            await asyncio.sleep(0)
        self.now -= 1


def singles(rounds, seed, mode):
    """What the same actions give in single environments, driven by Gymnasium's rules."""
    envs = [TicketEnv(TICKETS) for _ in rounds[0]]
    moments = [[env.reset(seed=seed + i) for i, env in enumerate(envs)]]
    ended = [False] * len(envs)
    for actions in rounds:
        moment = []
        for i, env in enumerate(envs):
            if ended[i] and mode is AutoresetMode.NEXT_STEP:
                observation, info = env.reset()
                moment.append((observation, 0.0, False, False, info, None))
                ended[i] = False
                continue
            observation, reward, terminated, truncated, info = env.step(actions[i])
            ended[i] = terminated or truncated
            final = None
            if ended[i] and mode is not AutoresetMode.NEXT_STEP:
                final = (observation, info)
                if mode is AutoresetMode.SAME_STEP:
                    observation, info = env.reset()
            moment.append((observation, reward, terminated, truncated, info, final))
            if ended[i] and mode is AutoresetMode.DISABLED:
                env.reset()
        moments.append(moment)
    return moments


def one(batch, i):
    """One sub-environment's part of a batch of observations."""
    return {key: value[i] for key, value in batch.items()}


def one_info(infos, i):
    found = {}
    for key, value in infos.items():
        if not key.startswith("_") and infos[f"_{key}"][i]:
            found[key] = one_info(value, i) if isinstance(value, dict) else value[i]
    return found


def as_text(value):
    return json.dumps(value, sort_keys=True, default=lambda other: other.tolist())


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(ONE, min_size=3, max_size=3), min_size=1, max_size=7),
    st.integers(0, 10**6),
    st.sampled_from(MODES),
    st.booleans(),
)
def test_it_equals_single_environments_byte_for_byte(rounds, seed, mode, awaits):
    customer = Awaited() if awaits else None
    envs = TicketVectorEnv(TICKETS, 3, autoreset_mode=mode, customer=customer)
    expected = singles(rounds, seed, mode)
    observations, infos = envs.reset(seed=seed)
    for i in range(3):
        assert as_text(one(observations, i)) == as_text(expected[0][i][0])
    for actions, moment in zip(rounds, expected[1:], strict=True):
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        assert observations in envs.observation_space
        for i, (seen, reward, over, cut, info, final) in enumerate(moment):
            assert as_text(one(observations, i)) == as_text(seen)
            assert (rewards[i], terminated[i], truncated[i]) == (reward, over, cut)
            found = one_info(infos, i)
            told = found.pop("final_info", None), found.pop("final_obs", None)
            if final is not None and mode is AutoresetMode.SAME_STEP:
                assert as_text(told[1]) == as_text(final[0])
            if awaits:
                found["customer"] = info["customer"]
            assert as_text(found) == as_text(info)
        ended = terminated | truncated
        if mode is AutoresetMode.DISABLED and ended.any():
            envs.reset(options={"reset_mask": ended})
    envs.close()


@pytest.mark.parametrize("mode", MODES)
def test_it_says_what_gymnasiums_own_says(mode):
    name = "Cirrus/ECS-Billing-v0"
    mine = gymnasium.make_vec(name, num_envs=3, autoreset_mode=mode)
    other = SyncVectorEnv([lambda: gymnasium.make(name)] * 3, autoreset_mode=mode)
    assert mine.metadata["autoreset_mode"] is mode
    assert mine.single_action_space == other.single_action_space
    assert mine.observation_space == other.observation_space
    moments = []
    for envs in (mine, other):
        seen = [envs.reset(seed=4)]
        for kind in (0, 2, 0):
            actions = {
                "type": np.array([0, kind, 1]), "text": ("Hello.", "Bye.", ""),
                "tool": np.array([0, 0, 1]), "arguments": ("", "", "{}"),
            }  # fmt: skip
            seen.append(envs.step(actions))
            if mode is AutoresetMode.DISABLED and kind:
                mask = np.array([False, True, False])
                seen.append(envs.reset(seed=[None, 5, None], options={"reset_mask": mask}))
        moments.append(seen)
        envs.close()
    for my, their in zip(*moments, strict=True):
        assert data_equivalence(my[0], their[0], exact=True)
        assert all(np.array_equal(a, b) for a, b in zip(my[1:-1], their[1:-1], strict=True))
        assert my[-1].keys() == their[-1].keys()
        for key in ("seed", "outcome", "turn", "_final_info", "_metrics"):
            if key in my[-1]:
                assert my[-1][key].tolist() == their[-1][key].tolist()
                assert my[-1][key].dtype == their[-1][key].dtype


def test_make_vec_of_a_pool_mixes_its_tickets():
    envs = gymnasium.make_vec("Cirrus/Train-v0", num_envs=12)
    _, infos = envs.reset(seed=0)
    assert isinstance(envs.unwrapped, TicketVectorEnv)
    assert len(set(infos["ticket"])) > 4
    assert envs.spec.id == "Cirrus/Train-v0"
    envs.close()


def test_pending_calls_are_awaited_at_once_and_a_loop_may_run_already():
    customer = Awaited()
    envs = TicketVectorEnv("ECS-Billing", 5, customer=customer)
    envs.reset(seed=1)
    assert customer.most == 5
    customer.most = 0
    envs.step(["Which instance is it, please?"] * 5)
    assert customer.most == 5

    async def inside():
        with pytest.raises(EpisodeNotRunning, match="areset and astep"):
            envs.reset(seed=1)
        with pytest.raises(EpisodeNotRunning, match="areset and astep"):
            envs.step(["Hello."] * 5)
        await envs.areset(seed=1)
        observations, *_ = await envs.astep(["Which instance is it, please?"] * 5)
        return observations["turn"].tolist()

    assert asyncio.run(inside()) == [1] * 5
    envs.close()
    envs.close()


def test_a_reset_may_bring_the_customer_that_is_awaited():
    customer = Awaited()
    envs = TicketVectorEnv("ECS-Billing", 2)
    envs.reset(seed=1, options={"customer": customer})
    assert customer.most == 2
    envs.reset(seed=1, options={"customer": "simulated"})
    assert customer.most == 2
    envs.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_failing_endpoint_ends_its_own_episode_only(mode):
    customer = Awaited()
    customer.broken = "break"
    envs = TicketVectorEnv("ECS-Billing", 3, customer=customer, autoreset_mode=mode)
    envs.reset(seed=1)
    _, rewards, terminated, truncated, infos = envs.step(["Hello.", "Please break.", "Hello."])
    assert truncated.tolist() == [False, True, False]
    assert not terminated.any()
    assert rewards[1] == 0.0
    last = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert (last["outcome"][1], last["valid"][1]) == ("customer_error", 0)
    envs.close()


def test_a_customers_own_fault_comes_out_when_the_others_are_through():
    class Wrong(Awaited):
        async def areact(self, mind, view):
            found = await super().areact(mind, view)
            return 1 / 0 if "wrong" in view.text else found

    envs = TicketVectorEnv("ECS-Billing", 2, customer=Wrong())
    envs.reset(seed=1)
    with pytest.raises(cirrus_env.errors.CustomerFailed):
        envs.step(["You are wrong.", "Which instance is it, please?"])
    assert [env.episode.state.turn for env in envs.envs] == [1, 1]
    assert envs.envs[1].episode.to_move == "assistant_0"
    envs.close()


def test_a_wrong_action_names_its_environment_and_changes_nothing():
    envs = TicketVectorEnv("ECS-Billing", 2)
    with pytest.raises(EpisodeNotRunning, match="call reset"):
        envs.step(["a", "b"])
    envs.reset(seed=1)
    before = [len(env.episode.records) for env in envs.envs]
    for actions, message in (
        (["Hello.", 3], "environment 1: "),
        (["Hello."], "1 actions for 2"),
        ("Hello.", "not str"),
        ({"type": np.array([0, 0])}, "exactly the keys arguments, text, tool, type"),
    ):
        with pytest.raises(InvalidAction, match=message):
            envs.step(actions)
    assert [len(env.episode.records) for env in envs.envs] == before


def test_an_ended_one_must_be_reset_where_nobody_else_does_it():
    envs = TicketVectorEnv("ECS-Billing", 2, autoreset_mode="Disabled")
    envs.reset(seed=1)
    bye = {"type": 2, "text": "Bye.", "tool": 0, "arguments": ""}
    envs.step(["Hello.", bye])
    with pytest.raises(EpisodeNotRunning, match=r"\[1\]"):
        envs.step(["Hello.", "Hello."])
    envs.reset(options={"reset_mask": np.array([False, True])})
    observations, *_ = envs.step(["Hello.", "Hello."])
    assert observations["turn"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_envs": True}, "num_envs"),
        ({"num_envs": 2, "autoreset_mode": "Never"}, "NextStep, SameStep, Disabled"),
        ({"num_envs": 2, "max_turns": 0}, "max_turns"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(OptionError, match=message):
        TicketVectorEnv("ECS-Billing", **arguments)


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        ([1], None, "1 seeds for 2"),
        ("ab", None, "seed is an integer"),
        (1.5, None, "seed is an integer"),
        (None, {"reset_mask": [True, False]}, "reset_mask is a boolean array"),
        (None, {"reset_mask": np.array([False, False])}, "at least one True"),
        (None, {"reset_mask": np.array([1, 0])}, "reset_mask is a boolean array"),
        (None, {"reset_mask": np.array([True, False])}, "leaves out 1"),
        (None, {"variant": "no-such"}, "no variant"),
    ],
)
def test_wrong_resets(seed, options, message):
    envs = TicketVectorEnv("ECS-Billing", 2)
    with pytest.raises(OptionError, match=message):
        envs.reset(seed=seed, options=options)


def test_seeds_beyond_64_bits_and_mixed_infos_go_into_object_arrays():
    from cirrus_env.envs.vector_info import merged

    envs = TicketVectorEnv("ECS-Billing", 2)
    _, infos = envs.reset(seed=2**70)
    assert infos["seed"].tolist() == [2**70, 2**70 + 1]
    found = merged([{"a": 1, "b": np.zeros(2)}, {"a": None, "b": np.zeros(3)}, None])
    assert found["a"].tolist() == [1, None, None]
    assert found["_a"].tolist() == [True, True, False]
    assert found["b"].dtype == object
    assert merged([None, None]) == {}
    assert merged([{"a": 2}, None])["a"].tolist() == [2, 0]
    assert merged([{"a": np.ones(2, np.int8)}, None])["a"].tolist() == [[1, 1], [0, 0]]


def test_the_customers_seat_in_many_environments():
    envs = TicketVectorEnv("ECS-Billing", 2, seat="customer")
    envs.reset(seed=1)
    observations, *_ = envs.step(["It is this one.", "I don't know."])
    assert len(observations["message"]) == 2
    with pytest.raises(InvalidAction, match="environment 0"):
        envs.step([5, "Hello."])
