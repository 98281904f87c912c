"""Laws over all formats: round trips, typed results for any text, linear time."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cirrus_env.engine.formats import FORMATS, deepseek, mistral, pythonic, render_calls
from cirrus_env.engine.parsers import PARSERS
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, ToolCall, canonical, encodes
from cirrus_env.world import Stream

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
MARKS = st.sampled_from(
    [
        "</think>",
        "<tool_call>",
        "[TOOL_CALLS]",
        "```\n",
        "<|im_end|>",
        "\\",
        '"',
        "'",
        "{",
        "]",
        "\n",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, MARKS), max_size=4).map("".join)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
RESERVED = {"close_ticket", "escalate_ticket", "reply_to_customer", "True", "False", "None"}
CALLS = st.lists(
    st.tuples(
        NAMES.filter(lambda n: n not in RESERVED), st.dictionaries(NAMES, VALUES, max_size=3)
    ),
    min_size=1,
    max_size=3,
)
KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array",
         dict: "object", type(None): "null"}  # fmt: skip
WRITERS = [(name, form.write) for name, form in FORMATS.items()]
WRITERS += [
    ("pythonic", pythonic.write_bare),
    ("mistral", mistral.write_named),
    ("deepseek", deepseek.write_v3),
    ("deepseek", deepseek.write_dsml),
]


def schemas(calls):
    """What the tools' schemas would say of these calls: each parameter's type where it has one."""
    tools = {}
    for name, arguments in calls:
        known = tools.setdefault(name, {"properties": {}})["properties"]
        for key, value in arguments.items():
            kind = KINDS[type(value)]
            if known.setdefault(key, {"type": kind}) != {"type": kind}:
                return None
    return tools


@pytest.mark.parametrize(("name", "write"), WRITERS)
@settings(max_examples=25, deadline=None)
@given(calls=CALLS)
def test_what_is_written_is_read_back(name, write, calls):
    tools = schemas(calls)
    if tools is None:
        return
    given_calls = [ToolCall("", tool, canonical(arguments)) for tool, arguments in calls]
    try:
        text = write(given_calls)
    except OptionError:
        return  # a value holds the format's own tags
    action = PARSERS[name](text, tools)
    assert action.kind == "call"
    assert action.fault == ""
    read = [(call.name, json.loads(call.arguments)) for call in action.calls]
    assert [(n, canonical(a)) for n, a in read] == [(n, canonical(a)) for n, a in calls]


PIECES = [
    "<think>", "</think>", "[THINK]", "<tool_call>", "</tool_call>", "<function=Stop>",
    "</function>", "<parameter=Id>", "</parameter>", "<arg_key>Id</arg_key>", "<arg_value>",
    "</arg_value>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[", "]", "{", "}", '{"name": "Stop"',
    ', "arguments": ', '{"Id": "i-1"}', "Stop", "Stop(", "Id='i-1'", ")", "(", ",", ";", "\n", " ",
    "```", "```json\n", "`", '"', "'", "\\", "\\ud800", "\ud800", "é", "退款", "<|python_tag|>",
    "<|python_start|>", "<|python_end|>", "<function_calls>", "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "function",
    '<｜DSML｜invoke name="Stop">', '<｜DSML｜parameter name="Id" string="false">',
    "</｜DSML｜parameter>", "</｜DSML｜invoke>", "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>", "functions.Stop:0", "<|tool_call_argument_begin|>", "<|tool_call_end|>",
    "<|im_end|>", "NaN", "True", "null", "1e999", "[" * 70, "OK(thanks)", "Hello.", "Id=",
]  # fmt: skip
STOP = {"Stop": {"properties": {"Id": {"type": "string"}}}}


@pytest.mark.parametrize("name", PARSERS)
def test_any_text_gives_a_typed_result(name):
    stream = Stream(5, f"formats {name}")
    parser = PARSERS[name]
    for _ in range(800):
        text = "".join(PIECES[stream.below(len(PIECES))] for _ in range(stream.below(14)))
        for action in (parser(text), parser(text, STOP) if name in FORMATS else parser(text)):
            assert isinstance(action, AssistantAction)
            assert action.kind in ("reply", "call", "close", "escalate")
            assert bool(action.calls) == (action.kind == "call")
            assert all(call.name for call in action.calls)
            if action.kind == "reply" and not action.fault and "think" not in text.lower():
                assert action.text.strip() in text
            if encodes(text) and "\\ud800" not in text:
                assert encodes(action.text + action.fault + action.reasoning)


HOSTILE = [
    ("", "{"), ("", '{"'), ("", '{"name":"f","parameters":{"'), ("", '{"name":'), ("", " "),
    ("x", "\n"), ("[", "\n"), ("", "<tool_call>"), ("", '<tool_call>{"a":["'),
    ("", "<tool_call>f<arg_key>a</arg_key><arg_value>"), ("", "</think>"), ("", "<think>"),
    ("", "<tool_call><function=f><parameter=x>"), ("", "</function> "), ("", "`<tool_call>"),
    ("", "[TOOL_CALLS]["), ("", '[TOOL_CALLS]f{"a":x"}'), ("", "f("), ("", "[f(a="), ("f(a=", "["),
    ('f(a="', "\\"), ("", '\\"'), ("", "a."), ("<|python_tag|>", "-"), ("a\n```\n", "<tool_call>"),
    ("", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f```"),
    ("", '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a">'),
    ("", '<|tool_call_begin|>f<|tool_call_argument_begin|>{"a":"'), ("", "\n```"), ("", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "unit"), HOSTILE)
def test_reading_takes_time_in_proportion_to_the_text(before, unit):
    def spent(size):
        text = before + unit * (size // len(unit))
        start = time.process_time()
        for name in ("hermes", "qwen3-coder", "glm", "mistral", "deepseek", "kimi", "pythonic",
                     "json", "plain"):  # fmt: skip
            PARSERS[name](text, STOP) if name != "plain" else PARSERS[name](text)
        return time.process_time() - start

    small, large = spent(4_000), spent(32_000)
    assert large < 40 * small + 0.3  # eight times the text; quadratic would be sixty-four times


def test_megabytes_are_read_without_recursion():
    for name in FORMATS:
        for text in ("[" * 1_000_000, '{"a":' * 20_000, "f(a=" + "[" * 50_000):
            assert PARSERS[name](text, STOP).kind in ("reply", "call")


def test_an_unknown_format_is_refused_with_near_names():
    with pytest.raises(OptionError, match="did you mean hermes"):
        render_calls("hermse", [])
    with pytest.raises(OptionError, match="there are hermes, qwen"):
        render_calls(7, [])
