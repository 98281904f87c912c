"""Vector environments: Sync, and Async in both memory modes and in processes not forked."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import cirrus_env  # noqa: F401  # registers the ids

NAMES = ("Cirrus/ECS-Billing-v0", "Cirrus/Train-v0", "Cirrus/ECS-Billing-v0")


def maker(name, **arguments):
    # the prefix makes a fresh process import the package, and so register the ids
    return lambda: gymnasium.make(f"cirrus_env:{name}", **arguments)


def batch(*actions):
    return {
        "type": np.array([a[0] for a in actions]),
        "text": tuple(a[1] for a in actions),
        "tool": np.array([a[2] for a in actions]),
        "arguments": tuple(a[3] for a in actions),
    }


SCRIPT = (
    batch((0, "Which server?", 0, ""), (1, "", 0, "{}"), (1, "", 2, "{")),
    batch((1, "", 1, "{}"), (0, "请问是哪台服务器？🙂", 0, ""), (0, "x", 0, "")),
    batch((2, "Bye.", 0, ""), (0, "One moment.", 0, ""), (0, "", 0, "")),
    batch((0, "Hello again.", 0, ""), (2, "Bye.", 0, ""), (1, "", 0, "{}")),
    batch((0, "Hello?", 0, ""), (0, "Hello?", 0, ""), (0, "Hello?", 0, "")),
)


def rollout(envs):
    moments = [envs.reset(seed=[3, 4, 5])]
    for actions in SCRIPT:
        moments.append(envs.step(actions))
        assert moments[-1][0] in envs.observation_space
    envs.close()
    return moments


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_async_sees_what_sync_sees_in_both_memory_modes(mode):
    makers = [maker(name) for name in NAMES]
    sync = rollout(SyncVectorEnv(makers, autoreset_mode=mode))
    assert len({str(m[0]["message"]) for m in sync}) == len(sync)
    for shared in (True, False):
        other = rollout(AsyncVectorEnv(makers, shared_memory=shared, autoreset_mode=mode))
        for mine, theirs in zip(sync, other, strict=True):
            assert data_equivalence(mine[0], theirs[0], exact=True)
            assert all(np.array_equal(a, b) for a, b in zip(mine[1:-1], theirs[1:-1], strict=True))
            assert mine[-1].keys() == theirs[-1].keys()


def test_without_copies_the_shared_view_is_live():
    envs = AsyncVectorEnv([maker(NAMES[0])] * 2, copy=False)
    first, _ = envs.reset(seed=1)
    opening = first["message"][0]
    after, *_ = envs.step(batch((0, "Which server?", 0, ""), (1, "", 0, "{}")))
    assert after["message"] is first["message"]
    assert after["message"][0] != opening
    assert after in envs.observation_space
    envs.close()


def test_a_process_that_was_not_forked_knows_the_ids():
    envs = AsyncVectorEnv([maker(NAMES[0])], context="spawn")
    observation, infos = envs.reset(seed=[7])
    expected, info = gymnasium.make(NAMES[0]).reset(seed=7)
    assert observation["message"] == (expected["message"],)
    assert infos["seed"].tolist() == [info["seed"]] == [7]
    envs.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec(mode):
    envs = gymnasium.make_vec(NAMES[0], num_envs=2, vectorization_mode=mode, max_turns=4)
    observation, infos = envs.reset(seed=1)
    assert observation["budget"].tolist() == [4, 4]
    assert infos["seed"].tolist() == [1, 2]
    actions = envs.action_space.sample()
    assert actions in envs.action_space
    envs.step(actions)
    envs.close()


def test_infos_keep_their_types_from_step_to_step():
    envs = SyncVectorEnv([maker(name) for name in NAMES])
    _, first = envs.reset(seed=1)
    for actions in SCRIPT[:2]:
        *_, infos = envs.step(actions)
        assert infos.keys() == first.keys()
        for key in ("seed", "valid", "turn", "tool_calls", "invalid", "tokens", "cost"):
            assert infos[key].dtype == np.int64
            assert infos[f"_{key}"].all()
        assert infos["reward_terms"]["progress"].dtype == np.float64
        assert infos["action_mask"]["tool"].shape == (3, 256)
        assert infos["action_mask"]["type"].dtype == np.int8
    envs.close()


def test_a_reset_mask_restarts_some():
    envs = SyncVectorEnv([maker(NAMES[0])] * 2, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=[1, 2])
    _, _, terminated, *_ = envs.step(batch((2, "Bye.", 0, ""), (0, "Hello.", 0, "")))
    assert terminated.tolist() == [True, False]
    observation, _ = envs.reset(seed=[9, None], options={"reset_mask": np.array([True, False])})
    assert observation["turn"].tolist() == [0, 1]
    envs.close()


@pytest.mark.filterwarnings("ignore:.*Worker-0")
@pytest.mark.filterwarnings("ignore:.*Raising the last exception")
@pytest.mark.filterwarnings("ignore:.*Traceback")
def test_a_text_beyond_the_shared_room_is_a_loud_error():
    envs = AsyncVectorEnv([maker(NAMES[0], system="退" * 400_000)])
    with pytest.raises(ValueError, match="shared_memory=False"):
        envs.reset(seed=1)
    envs.close(terminate=True)
