"""Actions, messages and records as data."""

from __future__ import annotations

import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.wire import messages
from cirrus_env.wire.actions import (
    ASSISTANT_KINDS,
    CUSTOMER_KINDS,
    AssistantAction,
    CustomerAction,
    ToolCall,
)
from cirrus_env.wire.records import Act, Event, Record

words = st.text(max_size=6)
calls = st.lists(st.builds(ToolCall, words, words, words), max_size=3).map(tuple)
assistant_actions = st.builds(
    AssistantAction, st.sampled_from(ASSISTANT_KINDS), words, calls, words, words, words
)
customer_actions = st.builds(CustomerAction, st.sampled_from(CUSTOMER_KINDS), words, words)
records = st.builds(
    Record,
    st.integers(0, 99),
    st.sampled_from(["assistant_0", "customer_0"]),
    assistant_actions.map(AssistantAction.to_json),
    st.lists(st.builds(Act, words, words, words, st.lists(words).map(tuple))).map(tuple),
    st.lists(st.builds(Event, words, words, st.none() | st.integers() | words)).map(tuple),
    st.integers(-(10**6), 10**6),
    st.integers(0, 10**6),
)


@given(assistant_actions)
def test_an_assistants_action_goes_to_json_and_back(action):
    assert AssistantAction.from_json(json.loads(json.dumps(action.to_json()))) == action
    assert pickle.loads(pickle.dumps(action)) == action


@given(customer_actions)
def test_a_customers_action_goes_to_json_and_back(action):
    assert CustomerAction.from_json(json.loads(json.dumps(action.to_json()))) == action


@given(records)
def test_a_record_goes_to_json_and_back(record):
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_empty_parts_are_left_out():
    assert AssistantAction("reply", "hi").to_json() == {"kind": "reply", "text": "hi"}
    assert CustomerAction("leave").to_json() == {"kind": "leave"}
    call = AssistantAction("call", calls=(ToolCall("1", "Stop", "{}"),), reasoning="r")
    assert call.to_json() == {"kind": "call", "calls": [["1", "Stop", "{}"]], "reasoning": "r"}


def test_messages_have_the_form_of_chat_messages():
    call = ToolCall("c1", "StopInstance", '{"InstanceId": "i-1"}')
    assert messages.system("s") == {"role": "system", "content": "s"}
    assert messages.customer("u") == {"role": "user", "content": "u"}
    assert messages.notice("n") == {"role": "user", "name": "environment", "content": "n"}
    assert messages.assistant("a") == {"role": "assistant", "content": "a"}
    assert messages.assistant("", [call])["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "StopInstance", "arguments": '{"InstanceId": "i-1"}'},
        }
    ]
    assert messages.tool_result(call, "{}") == {
        "role": "tool", "tool_call_id": "c1", "name": "StopInstance", "content": "{}",
    }  # fmt: skip
