"""The formats inside an episode: schemas, reasoning and what the engine answers."""

import gymnasium
import pytest

import cirrus_env  # noqa: F401  # registers the ids
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.formats.literals import literal
from cirrus_env.engine.formats.typed import kinds_of
from cirrus_env.engine.parsers import find_parser, from_message, to_action
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.wire import AssistantAction


def begun(parser):
    episode = TicketEpisode("ECS-Billing", parser=parser)
    episode.reset(seed=7)
    return episode


def test_each_call_is_answered_in_order_and_a_broken_one_by_its_own_error():
    step = begun("hermes").step(
        'Looking.<tool_call>{"name": "DescribeInstances", "arguments": {}}</tool_call>'
        '<tool_call>{"name": "DescribeInstances", "arguments": {"a": NaN}}</tool_call>'
        '<tool_call>{"name": "NoSuchTool", "arguments": {}}</tool_call>'
    )
    assert [message["role"] for message in step.delta] == ["tool"] * 3
    assert "Instances" in step.delta[0]["content"]
    assert "MalformedArguments" in step.delta[1]["content"]
    assert "UnknownTool" in step.delta[2]["content"]
    assert (step.info["tool_calls"], step.info["invalid"]) == (3, 1)


def test_a_format_is_given_the_tickets_own_schemas():
    episode = begun("qwen3-coder")
    name, key = next(
        (tool["function"]["name"], key)
        for tool in episode.tools
        for key, schema in tool["function"]["parameters"].get("properties", {}).items()
        if schema.get("type") == "string"
    )
    episode.step(f"<function={name}><parameter={key}>01234</parameter></function>")
    assert f'"{key}":"01234"' in episode.records[-1].action["calls"][0][2]
    assert begun("json").step('{"name": "NoSuch", "arguments": {}}').info["invalid"] == 1


def test_reasoning_reaches_nobody_and_is_counted_apart():
    for parser in ("plain", "hermes", "pythonic"):
        episode = begun(parser)
        episode.step("<think>the customer is SECRETLY wrong</think>Which instance is it?")
        shown = [m for m in episode.messages if "SECRETLY" in str(m)]
        assert shown == []
        metrics = episode.metrics()
        assert metrics["reasoning_tokens"] == len("the customer is SECRETLY wrong") // 4 + 1
        assert metrics["tokens"] == 6
        assert episode.info()["tokens"] == 6
        told = episode.records[-2].action
        assert told["reasoning"] == "the customer is SECRETLY wrong"


def test_a_model_cut_while_reasoning_said_nothing():
    step = begun("plain").step("<think>let me see")
    assert step.info["invalid"] == 1


@pytest.mark.parametrize(
    ("text", "reasoning", "said"),
    [
        ("a</think>b", "a", "b"),
        ("<think>a</think>b", "a", "b"),
        ("<think>\n\n</think>\n\nb", "", "b"),
        ("<think>a<think>b</think>c</think>d", "abc", "d"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("x <think>a</think> y", "a", "x\ny"),
        ("◁think▷a◁/think▷b", "a", "b"),
        ("<seed:think>a</seed:think>b", "a", "b"),
        ("<|channel|>analysis<|message|>a<|end|>b", "a", "b"),
        ("the `<think>` tag", "", "the `<think>` tag"),
        (" b ", "", " b "),
    ],
)
def test_families_mark_reasoning_in_their_own_ways(text, reasoning, said):
    parser = find_parser("plain")
    assert to_action(text, parser) == AssistantAction("reply", said, reasoning=reasoning)
    message = {"role": "assistant", "content": text}
    assert from_message(message) == AssistantAction("reply", said, reasoning=reasoning)


def test_reasoning_in_content_joins_the_servers_own():
    message = {"role": "assistant", "content": "<think>a</think>b", "reasoning_content": "c"}
    assert from_message(message).reasoning == "c\na"
    message["reasoning_content"] = "a"
    assert from_message(message).reasoning == "a"


def test_an_unknown_parser_is_refused_with_near_names():
    with pytest.raises(OptionError, match=r"'hermess' \(did you mean hermes\?\); there are plain"):
        TicketEpisode("ECS-Billing", parser="hermess")
    with pytest.raises(OptionError, match="no parser 3"):
        gymnasium.make("Cirrus/ECS-Billing-v0", parser=3).reset()


def test_a_parser_of_ones_own_is_given_the_text_alone():
    episode = begun(lambda text: AssistantAction("reply", text.upper()))
    episode.step("which one?")
    assert episode.records[-2].action["text"] == "WHICH ONE?"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, -2.5, .5, 1., 1_000, 1e3, +3, -0,]", [1, -2.5, 0.5, 1.0, 1000, 1000.0, 3, 0]),
        ("{'a': \"b\", }", {"a": "b"}),
        (r"'\n\t\x41\u0042\U00000043\101\'\"\\\q'", "\n\tABCA'\"\\\\q"),
        ("'''a'b\n'''", "a'b\n"),
        ('"""a"b\n"""', 'a"b\n'),
        ("'a\\\nb'", "ab"),
        ("[True, false, None, null]", [True, False, None, None]),
        ("''", ""),
    ],
)
def test_literals_mean_what_python_means(text, value):
    assert literal(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "01", "1x", "1j", "(1,)", "{1}", "{1: 2}", "{'a': 1, 'a': 2}", "{'a'}", "'a",
        "'a\nb'", "b'a'", "[1 2]", "[1", "1 2", "1e999", r"'\N{DASH}'", r"'\U00110000'", "[" * 100,
        "1" * 5000, "...", "inf", "__import__('os')",
    ],
)  # fmt: skip
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(MalformedText):
        literal(text)


def test_a_schemas_types_are_found_in_its_parts():
    text, number = {"type": "string"}, {"type": "integer"}
    everything = kinds_of({})
    assert kinds_of({"type": ["integer", "null"]}) == {"number", "null"}
    assert kinds_of({"enum": [1, "a", None, True, [], {}]}) == everything
    assert kinds_of({"const": "a"}) == {"string"}
    assert kinds_of({"oneOf": [text, number]}) == {"string", "number"}
    assert kinds_of({"allOf": [text, {}]}) == {"string"}
    for odd in (None, {"enum": []}, {"anyOf": []}, {"type": []}, {"$ref": "#/x"}):
        assert kinds_of(odd) == everything
    nested = text
    for _ in range(20):
        nested = {"anyOf": [nested]}
    assert kinds_of(nested) == everything
