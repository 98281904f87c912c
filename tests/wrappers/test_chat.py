"""Chat messages out, raw model text in, as Gymnasium wrappers."""

import json
import warnings

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import cirrus_env  # noqa: F401  # registers the ids
from cirrus_env.errors import OptionError
from cirrus_env.wrappers.chat import ChatMessages, Json, ToolCallText

ID = "Cirrus/ECS-Billing-v0"
CALL = '<tool_call>{"name": "DescribeInstances", "arguments": {}}</tool_call>'


@pytest.mark.parametrize("form", ["json", "objects"])
def test_messages_and_tools_are_those_of_the_episode(form):
    env = ChatMessages(gymnasium.make(ID), form=form)
    episode = env.unwrapped.episode
    read = json.loads if form == "json" else (lambda value: value)
    observation, _ = env.reset(seed=7)
    for action, new in (
        (None, 2),
        ("Which one is it?", 1),
        (
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "function": {"name": "DescribeInstances", "arguments": "{}"}},
                    {"id": "b", "function": {"name": "DescribeInstances", "arguments": "{}"}},
                ],
            },
            2,
        ),
    ):
        if action is not None:
            observation = env.step(action)[0]
        assert read(observation["messages"]) == episode.messages
        assert read(observation["tools"]) == episode.chat_tools
        assert observation["new"] == new
        assert observation in env.observation_space


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: ChatMessages(env),
        lambda env: ChatMessages(env, form="objects"),
        lambda env: ToolCallText(env, format="kimi"),
    ],
)
def test_wrapped_environments_pass_the_checker_and_come_back_from_their_spec(wrap):
    env = wrap(gymnasium.make(ID))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(env, skip_render_check=True)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert type(again) is type(env)
    assert again.spec.additional_wrappers == env.spec.additional_wrappers
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    assert json.dumps(first, default=int) == json.dumps(second, default=int)


def test_raw_text_becomes_the_familys_action_and_other_actions_pass():
    env = ToolCallText(gymnasium.make(ID), format="hermes")
    env.reset(seed=7)
    assert env.step(CALL + CALL)[-1]["tool_calls"] == 2
    assert env.step({"role": "assistant", "content": "Which one is it?"})[-1]["turn"] == 1
    info = env.step("<tool_call>{}</tool_call>")[-1]
    assert info["invalid"] == 1


def test_both_wrappers_work_in_vector_environments():
    def make():
        return ToolCallText(ChatMessages(gymnasium.make(ID)), format="hermes")

    envs = gymnasium.vector.SyncVectorEnv([make, make])
    observation, _ = envs.reset(seed=[7, 7])
    assert observation["messages"][0] == observation["messages"][1]
    observation = envs.step((CALL, "Which one is it?"))[0]
    assert [json.loads(m)[-1]["role"] for m in observation["messages"]] == ["tool", "user"]
    envs.close()


def test_what_cannot_be_wrapped_is_refused():
    with pytest.raises(OptionError, match="did you mean mistral"):
        ToolCallText(gymnasium.make(ID), format="mistrl")
    with pytest.raises(OptionError, match="form is json or objects"):
        ChatMessages(gymnasium.make(ID), form="text")
    for env in (gymnasium.make(ID, seat="customer"), gymnasium.make("CartPole-v1")):
        for wrapper in (ChatMessages, ToolCallText):
            with pytest.raises(OptionError, match="learner as the assistant"):
                wrapper(env)


def test_the_space_of_json_values():
    space = Json()
    assert space.sample() in space
    assert [{"a": None}] in space
    assert float("nan") not in space
    assert {1} not in space
    assert space == Json()
    assert space != gymnasium.spaces.Discrete(2)
    assert repr(space) == "Json()"
    assert not space.is_np_flattenable
