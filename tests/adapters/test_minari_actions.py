"""Actions as Minari stores them, without Minari."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from cirrus_env.adapters.minari import collect, rows, space_actions
from cirrus_env.envs.spaces import assistant_action_space
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, ToolCall

TOOLS = ("look", "stop")


def test_each_kind_of_action_is_in_the_space():
    space = assistant_action_space()
    reply, call, close, escalate = (
        space_actions(action, TOOLS)
        for action in (
            "Which one?",
            AssistantAction("call", "Wait.", (ToolCall("a", "stop", '{"Id": 1}'),)),
            AssistantAction("close", "Bye."),
            AssistantAction("escalate", "All facts.", queue="security"),
        )
    )
    assert reply == [{"type": 0, "text": "Which one?", "tool": 0, "arguments": ""}]
    assert call == [{"type": 1, "text": "Wait.", "tool": 1, "arguments": '{"Id": 1}'}]
    assert close == [{"type": 2, "text": "Bye.", "tool": 0, "arguments": ""}]
    assert escalate == [{"type": 3, "text": "All facts.", "tool": 0, "arguments": "security"}]
    assert all(space.contains(each) for each in (*reply, *call, *close, *escalate))


def test_calls_of_one_action_come_one_by_one_and_an_unknown_tool_stays_unknown():
    calls = (ToolCall("", "look", "{}"), ToolCall("", "fly", "[]"))
    found = space_actions(AssistantAction("call", "Now.", calls), TOOLS)
    assert [(a["text"], a["tool"], a["arguments"]) for a in found] == [
        ("Now.", 0, "{}"),
        ("", 255, "[]"),
    ]
    assert space_actions(AssistantAction("call"), TOOLS)[0]["tool"] == 255


def test_columns_become_rows_of_plain_values():
    columns = {"text": ["a", "b"], "turn": np.array([0, 1])}
    found = list(rows(columns))
    assert found == [{"text": "a", "turn": 0}, {"text": "b", "turn": 1}]
    assert type(found[1]["turn"]) is int


def test_what_is_missing_is_named():
    with pytest.raises(OptionError, match="hdf5 or arrow"):
        collect("Cirrus/ECS-Billing-v0", "cirrus/x-v0", seeds=[1], data_format="csv")
    if importlib.util.find_spec("minari") is None:
        with pytest.raises(OptionError, match=r"cirrus-env\[minari\]"):
            collect("Cirrus/ECS-Billing-v0", "cirrus/x-v0", seeds=[1])
