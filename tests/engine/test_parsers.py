"""What callers send becomes an action, a counted fault, or the programmer's error."""

from types import SimpleNamespace

import pytest

from cirrus_env.engine.parsers import PARSERS, from_message, to_action
from cirrus_env.errors import InvalidAction
from cirrus_env.wire import AssistantAction, ToolCall

PLAIN = PARSERS["plain"]
OPENAI = PARSERS["openai"]


def call(name: str, arguments: object, identifier: str = "c1") -> dict:
    return {
        "id": identifier,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def message(*calls: dict, content: str | None = None) -> dict:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


@pytest.mark.parametrize(
    "text",
    ["Hello", '{"tool": "x"}', "OK(thanks)", "<tool_call>{}</tool_call>", "true", "null", ""],
)
def test_plain_text_stays_text_whatever_it_looks_like(text):
    assert to_action(text, PLAIN) == AssistantAction("reply", text)


def test_a_message_with_calls_keeps_their_order_ids_and_text_beside_them():
    action = from_message(message(call("A", "{}"), call("B", '{"x":1}', "c2"), content="wait"))
    assert action == AssistantAction(
        "call", "wait", (ToolCall("c1", "A", "{}"), ToolCall("c2", "B", '{"x":1}'))
    )


def test_arguments_given_as_an_object_are_written_as_json():
    assert from_message(message(call("A", {"b": 1, "a": None}))).calls[0].arguments == (
        '{"a":null,"b":1}'
    )


def test_an_object_with_the_same_attributes_reads_like_a_dict():
    function = SimpleNamespace(name="A", arguments="{}")
    sent = SimpleNamespace(
        role="assistant",
        content=None,
        tool_calls=[SimpleNamespace(id="c1", type="function", function=function)],
    )
    assert from_message(sent) == from_message(message(call("A", "{}")))


def test_content_parts_are_joined_and_reasoning_kept_apart():
    sent = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "reasoning_content": "hm",
    }
    assert from_message(sent) == AssistantAction("reply", "ab", reasoning="hm")


def test_the_pseudo_functions_are_actions():
    assert from_message(message(call("close_ticket", '{"message":"bye"}'))) == AssistantAction(
        "close", "bye"
    )
    escalated = from_message(
        message(call("escalate_ticket", '{"queue":"security","summary":"locked"}'))
    )
    assert escalated == AssistantAction("escalate", "locked", queue="security")
    assert from_message(message(call("reply_to_customer", '{"message":"hi"}'))) == (
        AssistantAction("reply", "hi")
    )


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (message(call("close_ticket", "{}")), "close_ticket takes exactly message"),
        (message(call("close_ticket", '{"message":1}')), "are texts"),
        (message(call("close_ticket", '{"message"')), "malformed"),
        (message(call("close_ticket", '{"message":"a"}'), call("A", "{}")), "only call"),
        (message(call("escalate_ticket", '{"summary":"s"}')), "takes exactly queue, summary"),
    ],
)
def test_a_malformed_pseudo_call_is_a_fault_not_an_exception(sent, fault):
    assert fault in from_message(sent).fault


@pytest.mark.parametrize(
    "sent",
    [
        None,
        7,
        object(),
        [],
        {},
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": 3},
        {"role": "assistant", "content": [{"type": "image"}]},
        {"role": "assistant", "content": "", "tool_calls": "A"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {}}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]},
        {"role": "assistant", "content": "x", "reasoning_content": 5},
        message(call("A", {1, 2})),
    ],
)
def test_a_wrong_python_type_is_the_programmers_error(sent):
    with pytest.raises(InvalidAction):
        to_action(sent, PLAIN)


def test_the_openai_parser_reads_json_text_and_counts_what_it_cannot_read():
    assert OPENAI('{"role":"assistant","content":"hi"}') == AssistantAction("reply", "hi")
    for text in ("hi", "[1]", '{"role":"user","content":"x"}', '{"a":NaN}', '{"a":1,"a":2}'):
        action = OPENAI(text)
        assert action.kind == "reply"
        assert action.fault.startswith("not a chat message")
