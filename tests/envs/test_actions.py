"""What a caller may send: raised mistakes, counted mistakes, and every accepted form."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cirrus_env.envs.actions import assistant_action
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import InvalidAction
from cirrus_env.wire import AssistantAction, ToolCall

TOOLS = ("DescribeInstances", "StopInstance")
FULL = {"type": 0, "text": "hi", "tool": 0, "arguments": ""}


def dict_action(**changes):
    return {**FULL, **changes}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (dict_action(), AssistantAction("reply", "hi")),
        (dict_action(arguments="ignored", tool=9), AssistantAction("reply", "hi")),
        (dict_action(type=2), AssistantAction("close", "hi")),
        (
            dict_action(type=3, arguments="security"),
            AssistantAction("escalate", "hi", queue="security"),
        ),
        (
            dict_action(type=1, tool=1, arguments="{}"),
            AssistantAction("call", "hi", (ToolCall("", "StopInstance", "{}"),)),
        ),
        (
            dict_action(type=1, tool=2),
            AssistantAction("call", "hi", (ToolCall("", "tool_2", ""),)),
        ),
        (
            dict_action(type=np.int64(1), tool=np.array(0), text=np.str_("hi")),
            AssistantAction("call", "hi", (ToolCall("", "DescribeInstances", ""),)),
        ),
    ],
)
def test_dict_actions(action, expected):
    assert assistant_action(action, TOOLS) == expected


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"type": 0},
        dict_action(extra=1),
        {k: v for k, v in FULL.items() if k != "tool"},
        {1: 2, "type": 0},
        dict_action(type=4),
        dict_action(type=-1),
        dict_action(type="reply"),
        dict_action(type=1.0),
        dict_action(type=True),
        dict_action(type=None),
        dict_action(type=2**70),
        dict_action(type=np.bool_(True)),
        dict_action(type=np.float64(1)),
        dict_action(tool=256),
        dict_action(tool="0"),
        dict_action(text=None),
        dict_action(text=b"hi"),
        dict_action(text=["hi"]),
        dict_action(arguments={}),
        dict_action(arguments=None),
        None,
        7,
        b"hi",
        ["hi"],
        ("hi",),
        object(),
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": 7},
        {"role": "assistant", "tool_calls": [{}]},
        {"role": "assistant", "tool_calls": "x"},
    ],
)
def test_a_programmers_mistake_raises_and_changes_nothing(action):
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    before = len(env.episode.records), len(env.episode.messages)
    with pytest.raises(InvalidAction):
        env.step(action)
    assert (len(env.episode.records), len(env.episode.messages)) == before
    env.step("still running")


def chat(*calls, content=None):
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": a}}
            for i, (n, a) in enumerate(calls)
        ],
    }


@pytest.mark.parametrize(
    "action",
    [
        "",
        "   ",
        "a\ud800",
        "x" * 20_001,
        dict_action(text=""),
        dict_action(text="\udfff"),
        dict_action(type=1, arguments="{"),
        dict_action(type=1, arguments="NaN"),
        dict_action(type=1, arguments='{"a": 1, "a": 2}'),
        dict_action(type=1, arguments="[" * 1000),
        dict_action(type=1, arguments="\ud800"),
        dict_action(type=1, arguments="[]"),
        dict_action(type=1, tool=200),
        dict_action(type=3, arguments="no-such-queue"),
        chat(("NoSuchTool", "{}")),
        chat(("close_ticket", "{}")),
        chat(("DescribeInstances", '{"NoSuchField": 1}')),
        chat(("DescribeInstances", "{}"), ("close_ticket", '{"message": "bye"}')),
        AssistantAction("call"),
        AssistantAction("reply", "x", fault="the parser says no"),
    ],
)
def test_what_is_wrong_in_a_text_is_counted_and_visible(action):
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    before = env.episode.state.cloud.dump()
    observation, reward, terminated, truncated, info = env.step(action)
    assert (info["invalid"], terminated, truncated) == (1, False, False)
    assert reward == -0.02
    assert observation["role"] in ("tool", "environment")
    assert observation["message"]
    assert observation in env.observation_space
    assert env.episode.state.cloud.dump()["records"] == before["records"]


def test_chat_messages_as_dicts_and_objects_do_the_same():
    as_dict = chat(("DescribeInstances", "{}"), content="Looking.")
    as_object = SimpleNamespace(
        role="assistant",
        content="Looking.",
        tool_calls=[
            SimpleNamespace(
                id="c0", function=SimpleNamespace(name="DescribeInstances", arguments="{}")
            )
        ],
    )
    results = []
    for action in (as_dict, as_object):
        env = TicketEnv("ECS-Billing")
        env.reset(seed=1)
        results.append(env.step(action)[0])
    assert results[0] == results[1]


def test_the_parser_reads_strings():
    env = TicketEnv("ECS-Billing", parser="openai")
    env.reset(seed=1)
    observation, *_ = env.step('{"role": "assistant", "content": "Which server is it?"}')
    assert observation["role"] == "user"
    assert env.episode.state.words == "Which server is it?"
