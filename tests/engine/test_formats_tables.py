"""Each family's format: what is a call, what is words, and what is a counted mistake."""

import json

import pytest

from cirrus_env.engine.formats import FORMATS, deepseek, glm, qwen3_coder, render_calls
from cirrus_env.engine.formats.jsoncall import is_json
from cirrus_env.engine.parsers import PARSERS
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, ToolCall

STRING = {"type": "string"}
TOOLS = {
    "Find": {
        "type": "object",
        "properties": {
            "Id": STRING,
            "Count": {"type": "integer"},
            "Deep": {"type": "boolean"},
            "Box": {"type": "object"},
            "Tags": {"type": "array"},
            "Note": {"anyOf": [STRING, {"type": "null"}]},
            "Size": {"type": ["number", "null"]},
        },
    },
    "Stop": {"type": "object", "properties": {"Id": STRING}},
}


def read(form: str, text: str, tools=TOOLS) -> AssistantAction:
    return PARSERS[form](text, tools)


def called(action: AssistantAction) -> list:
    assert action.kind == "call", action
    return [(call.name, json.loads(call.arguments)) for call in action.calls]


FIND = ("Find", {"Id": "i-1", "Count": 2})
STOP = ("Stop", {"Id": "i-2"})
XML_FIND = (
    "<tool_call>\n<function=Find>\n<parameter=Id>\ni-1\n</parameter>\n"
    "<parameter=Count>\n2\n</parameter>\n</function>\n</tool_call>"
)
XML_STOP = "<tool_call><function=Stop><parameter=Id>i-2</parameter></function></tool_call>"
GLM_FIND = (
    "<tool_call>Find\n<arg_key>Id</arg_key>\n<arg_value>i-1</arg_value>\n"
    "<arg_key>Count</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"
)
GLM_STOP = "<tool_call>Stop<arg_key>Id</arg_key><arg_value>i-2</arg_value></tool_call>"
J_FIND = '{"name": "Find", "arguments": {"Id": "i-1", "Count": 2}}'
J_STOP = '{"name": "Stop", "arguments": {"Id": "i-2"}}'
P_FIND, P_STOP = J_FIND.replace("arguments", "parameters"), J_STOP.replace("args", "parameters")
A_FIND, A_STOP = '{"Id": "i-1", "Count": 2}', '{"Id": "i-2"}'
DS, DC, DE = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
DX, DZ = "<｜tool▁sep｜>", "<｜tool▁calls▁end｜>"
KS, KC = "<|tool_calls_section_begin|>", "<|tool_call_begin|>"
KA, KE, KZ = "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>"
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="Find">\n'
    '<｜DSML｜parameter name="Id" string="true">i-1</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="Count" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    '<｜DSML｜invoke name="Stop">\n<｜DSML｜parameter name="Id">i-2</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
)

PARALLEL = {
    "hermes": f"<tool_call>\n{J_FIND}\n</tool_call>\n<tool_call>{J_STOP}</tool_call>",
    "qwen": f"<tool_call>{J_FIND}</tool_call><tool_call>{J_STOP}<|im_end|>",
    "qwen3-coder": f"{XML_FIND}\n{XML_STOP}",
    "llama3-json": f"<|python_tag|>{P_FIND}; {P_STOP}<|eom_id|>",
    "llama3-pythonic": "<|python_start|>[Find(Id='i-1', Count=2), Stop(Id=\"i-2\")]<|python_end|>",
    "pythonic": "[Find(Id='i-1', Count=2), Stop(Id=\"i-2\")]",
    "mistral": f"[TOOL_CALLS] [{J_FIND}, {J_STOP}]</s>",
    "deepseek": f"{DS}{DC}Find{DX}{A_FIND}{DE}{DC}Stop{DX}{A_STOP}{DE}{DZ}<｜end▁of▁sentence｜>",
    "glm": f"{GLM_FIND}\n{GLM_STOP}<|observation|>",
    "kimi": f"{KS}{KC}functions.Find:0{KA}{A_FIND}{KE}{KC}functions.Stop:1{KA}{A_STOP}{KE}{KZ}",
    "json": f"```json\n[{J_FIND}, {J_STOP}]\n```",
}
OTHERS = [
    ("pythonic", "Find(Id='i-1', Count=2)\nStop(Id='i-2')"),
    ("pythonic", "<function_calls>\nFind(Id='i-1', Count=2)\nStop(Id='i-2')\n</function_calls>"),
    ("pythonic", "```tool_code\nFind(Id='i-1', Count=2); Stop(Id='i-2')\n```"),
    ("qwen3-coder", XML_FIND.replace("</tool_call>", "") + XML_STOP.replace("<tool_call>", "")),
    ("mistral", f"[TOOL_CALLS]Find{A_FIND}[TOOL_CALLS]Stop{A_STOP}"),
    ("mistral", f"[TOOL_CALLS]Find[CALL_ID]abc1[ARGS]{A_FIND}[TOOL_CALLS]Stop[ARGS]{A_STOP}"),
    ("mistral", f"[TOOL_CALLS]{J_FIND}[TOOL_CALLS] {J_STOP}"),
    (
        "deepseek",
        f"{DS}{DC}function{DX}Find\n```json\n{A_FIND}\n```{DE}\n"
        f"{DC}function{DX}Stop\n```json\n{A_STOP}\n```{DE}{DZ}",
    ),
    ("deepseek", DSML),
    ("deepseek", DSML.replace("｜", "|").replace("function_calls", "tool_calls")),
    ("json", f"{J_FIND}\n{J_STOP}"),
    (
        "json",
        '{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "Find", "arguments":'
        ' "{\\"Id\\": \\"i-1\\", \\"Count\\": 2}"}}, {"function": ' + J_STOP + "}]}",
    ),
    ("json", '{"tool": "Find", "args": {"Id": "i-1", "Count": 2}}\n' + J_STOP),
]
BOTH = [*PARALLEL.items(), *OTHERS]


@pytest.mark.parametrize(("form", "text"), BOTH)
def test_parallel_calls_keep_their_order_and_arguments(form, text):
    assert called(read(form, text)) == [FIND, STOP]


@pytest.mark.parametrize(("form", "text"), BOTH)
def test_auto_reads_every_family(form, text):
    assert called(read("auto", text)) == [FIND, STOP]


@pytest.mark.parametrize(("form", "text"), BOTH)
def test_words_before_the_calls_stay_beside_them_and_reasoning_is_apart(form, text):
    action = read(form, f"<think>So. [a]</think>\n\nOne moment.\n{text}")
    assert called(action) == [FIND, STOP]
    assert (action.text, action.reasoning) == ("One moment.", "So. [a]")


@pytest.mark.parametrize("form", ["hermes", "qwen3-coder", "mistral", "glm", "llama3-json"])
def test_words_after_the_calls_stay_beside_them(form):
    action = read(form, PARALLEL[form].removesuffix("</s>").split("<|")[0] + "\nDone?")
    if form == "llama3-json":
        action = read(form, f"Well: {P_FIND}; {P_STOP} Done?")
    assert called(action) == [FIND, STOP]
    assert action.text.endswith("Done?")


@pytest.mark.parametrize(("form", "text"), BOTH)
def test_calls_inside_reasoning_do_nothing(form, text):
    for hidden in (f"<think>{text}</think>Hi", f"{text}\n</think>\nHi", f"[THINK]{text}[/THINK]Hi"):
        action = read(form, hidden)
        assert (action.kind, action.text, action.calls, action.fault) == ("reply", "Hi", (), "")
        assert action.reasoning


@pytest.mark.parametrize(("form", "text"), BOTH)
def test_a_cut_call_is_a_counted_mistake_and_the_first_one_stays(form, text):
    whole = read(form, text)
    cut = text[: text.rindex("i-2") + 1]
    action = read(form, cut)
    assert action.kind == "call"
    assert len(action.calls) <= 2
    broken = action.calls[-1].arguments
    assert action.fault or not is_json(broken), action
    assert whole.fault == ""


LOOKALIKES = [
    "OK(thanks)",
    "OK()",
    "Please call us (Mon-Fri).",
    'The body was {"name": "web-01", "arguments": "none"} as you can see.',
    "Run this:\n```python\nprint(client.describe(id='i-1'))\n```\nand tell me.",
    'An example:\n```json\n{"name": "Find", "arguments": {"Id": "i-1"}}\n```\nDoes it work?',
    "[docs](https://example.com) and [note(1)]",
    "true",
    "null",
    "[]",
    "{}",
    '{"a": 1}',
    'print("x")',
    "if a == 1: f(x)",
    "I would use the <tool_call> tag, or `<tool_call>{}</tool_call>`.",
    "Find(Id='i-1') is what I ran.",
    "Mistral's models write the [TOOL_CALLS] mark.",
    "退款(100元)可以吗?",
]


@pytest.mark.parametrize("form", [*PARALLEL, "auto"])
@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_merely_looks_like_a_call_stays_text(form, text):
    assert read(form, text) == AssistantAction("reply", text)


def test_an_example_among_words_is_no_call_but_a_fenced_call_alone_is():
    fenced = f"```xml\n{PARALLEL['hermes']}\n```"
    assert read("hermes", f"You would write\n{fenced}\nthere.").kind == "reply"
    assert read("llama3-json", f"You would write\n```\n{P_FIND}\n```\nthere.").kind == "reply"
    assert called(read("hermes", fenced)) == [FIND, STOP]


BROKEN = [
    ("hermes", '<tool_call>{"name": "Find", "arguments": {"Id": NaN}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {"Id": "a",}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {"Deep": True}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {"Id": "a", "Id": "b"}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {"Id": "a"}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": }</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": 5</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find\\ud800", "arguments": {}}</tool_call>'),
    ("hermes", "<tool_call>{'name': 'Find', 'arguments': {}}</tool_call>"),
    ("hermes", "<tool_call>Find(Id='a')</tool_call>"),
    ("hermes", "<tool_call></tool_call>"),
    ("hermes", "<tool_call>[1]</tool_call>"),
    ("hermes", '<tool_call>{"name": "", "arguments": {}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find"}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "Id": "a"}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {}, "parameters": {}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "Find", "arguments": {}} and more</tool_call>'),
    ("qwen3-coder", f"<tool_call>{J_FIND}</tool_call>"),
    ("qwen3-coder", XML_STOP.replace("</parameter>", "</parameter>?")),
    ("qwen3-coder", XML_STOP.replace("</parameter></function>", "")),
    ("qwen3-coder", XML_STOP.replace("</function>", "<parameter=Id>b</parameter></function>")),
    ("qwen3-coder", XML_STOP.replace("</function></tool_call>", "")),
    ("glm", GLM_STOP.replace("</arg_value>", "")),
    (
        "glm",
        GLM_STOP.replace(
            "</tool_call>", "<arg_key>Id</arg_key><arg_value>b</arg_value></tool_call>"
        ),
    ),
    ("glm", f"<tool_call>{J_FIND}</tool_call>"),
    ("glm", GLM_STOP.replace("<arg_value>", "")),
    ("llama3-json", '{"name": "Find", "parameters": {"Id": "a",}}'),
    ("llama3-json", '{"name": "Find"}'),
    ("llama3-json", '{"name": "Other", "parameters": {"Id": nan}}'),
    ("llama3-json", 'Well {"name": "Find", "parameters": {"Id": '),
    ("llama3-json", "{'name': 'Find', 'parameters': {}}"),
    ("llama3-json", "<|python_tag|>print(1)"),
    ("json", '{"name": "Find", "arguments": {"Id": "a",}}'),
    ("json", '{"name": "Other", "arguments": {"Id": "a"}'),
    ("pythonic", "[Find('i-1')]"),
    ("pythonic", "Find('i-1')"),
    ("pythonic", "Find(i-1)"),
    ("pythonic", "[Find(Id=x)]"),
    ("pythonic", "[Find(Id='a', Id='b')]"),
    ("pythonic", "[Find(Id='a'"),
    ("pythonic", "[Find(Id='a')"),
    ("pythonic", "[Find(**{})]"),
    ("pythonic", "[Find(Count=1e999)]"),
    ("pythonic", "[Find(Tags=(1, 2))]"),
    ("pythonic", "[Find(Id=f'{x}')]"),
    ("pythonic", "Let me look.\n[Find(Id=x)]"),
    ("pythonic", "<|python_tag|>hello"),
    ("mistral", "[TOOL_CALLS]"),
    ("mistral", "[TOOL_CALLS][]"),
    ("mistral", f"[TOOL_CALLS][{J_FIND},]"),
    ("mistral", f"[TOOL_CALLS][{J_FIND}"),
    ("mistral", "[TOOL_CALLS][1]"),
    ("mistral", "[TOOL_CALLS]Find"),
    ("mistral", '[TOOL_CALLS]Find[ARGS]{"Id": x}'),
    ("deepseek", f"{DS}{DZ}"),
    ("deepseek", f"{DC}Find{DE}"),
    ("deepseek", f"{DC}{DX}{{}}{DE}"),
    ("deepseek", f"{DC}Find{DX}"),
    ("deepseek", f"{DC}Find"),
    ("deepseek", f"{DC}function{DX}Find {{}}{DE}"),
    ("deepseek", DSML.replace('name="Find"', 'name=""')),
    ("deepseek", DSML.replace(">2<", ">NaN<")),
    ("deepseek", DSML.replace('"Count"', '"Id"')),
    ("deepseek", DSML.replace("</｜DSML｜parameter>\n</｜DSML｜invoke>", "</｜DSML｜invoke>")),
    ("deepseek", DSML[: DSML.index("2</")]),
    ("deepseek", DSML.replace("</｜DSML｜parameter>\n<", "</｜DSML｜parameter>so\n<", 1)),
    ("kimi", f"{KS}{KZ}"),
    ("kimi", f"{KC}functions.Find:0{KE}"),
    ("kimi", f"{KC}functions.Find:0"),
    ("kimi", f"{KC}{KA}{{}}{KE}"),
    ("kimi", f"{KC}functions.Find:0{KA}"),
    ("kimi", f'{KC}functions.Find:0{KA}{{"Id": {KE}'),
]


@pytest.mark.parametrize(("form", "text"), BROKEN)
def test_a_broken_call_is_a_typed_mistake_never_chat(form, text):
    action = read(form, text)
    assert action.fault or not all(is_json(call.arguments) for call in action.calls), action
    assert action.calls or "holds none" in action.fault


def test_a_broken_call_beside_a_whole_one_is_one_of_two():
    for broken in (
        '<tool_call>{"name": "Find, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "Find", "arguments": {"Id": "a}}</tool_call>',
        '<tool_call>{"name": "Find", "arguments": {"Id": "a"}',
    ):
        for text in (broken + f"<tool_call>{J_STOP}</tool_call>",
                     f"<tool_call>{J_STOP}</tool_call>" + broken):  # fmt: skip
            names = [call.name for call in read("hermes", text).calls]
            assert len(names) == 2
            assert "Stop" in names
    cut = XML_STOP.replace("</parameter></function>", "")
    assert [c.name for c in read("qwen3-coder", f"{cut}\n{XML_FIND}").calls] == ["Stop", "Find"]
    cut = GLM_STOP.replace("</arg_value>", "")
    assert [c.name for c in read("glm", f"{cut}\n{GLM_FIND}").calls] == ["Stop", "Find"]
    mixed = f'[TOOL_CALLS]Find{{"Id": x"}}[TOOL_CALLS]Stop{A_STOP}'
    assert [c.name for c in read("mistral", mixed).calls] == ["Find", "Stop"]


def test_marks_inside_arguments_are_text():
    inner = "</tool_call><tool_call></think>`[TOOL_CALLS]` \n```"
    text = json.dumps({"name": "Stop", "arguments": {"Id": inner}})
    assert called(read("hermes", f"<tool_call>{text}</tool_call>")) == [("Stop", {"Id": inner})]
    assert called(read("hermes", f"<tool_call>{text}")) == [("Stop", {"Id": inner})]
    assert called(read("mistral", f"[TOOL_CALLS][{text}]")) == [("Stop", {"Id": inner})]
    assert called(read("json", text)) == [("Stop", {"Id": inner})]


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("01234", "Id", "01234"),
        ("5", "Id", "5"),
        ("null", "Id", "null"),
        ("true", "Id", "true"),
        ('"quoted"', "Id", '"quoted"'),
        (" a\nb ", "Id", " a\nb "),
        ("5", "Count", 5),
        ("5.5", "Count", 5.5),
        ("five", "Count", "five"),
        ("NaN", "Count", "NaN"),
        ("True", "Deep", True),
        ("false", "Deep", False),
        ("yes", "Deep", "yes"),
        ('{"a": [1, {"b": null}]}', "Box", {"a": [1, {"b": None}]}),
        ("{'a': True}", "Box", {"a": True}),
        ("{'a': x}", "Box", "{'a': x}"),
        ("[1, 2]", "Tags", [1, 2]),
        ("null", "Note", None),
        ("None", "Note", None),
        ("nothing", "Note", "nothing"),
        ('"x"', "Note", '"x"'),
        ("1.5", "Size", 1.5),
        ("null", "Size", None),
        ("7", "Unknown", 7),
        ("007", "Unknown", "007"),
        ("None", "Unknown", "None"),
        ("True", "Unknown", "True"),
        ("true", "Unknown", True),
        ("null", "Unknown", None),
    ],
)
def test_values_without_quotes_are_typed_by_the_schema(written, name, value):
    xml = f"<function=Find><parameter={name}>\n{written}\n</parameter></function>"
    glm = f"<tool_call>Find<arg_key>{name}</arg_key><arg_value>{written}</arg_value></tool_call>"
    dsml = (
        f'<｜DSML｜invoke name="Find">\n<｜DSML｜parameter name="{name}">'
        f"{written}</｜DSML｜parameter>"
        "</｜DSML｜invoke>"
    )
    for form, text in (("qwen3-coder", xml), ("glm", glm), ("deepseek", dsml)):
        [(_, arguments)] = called(read(form, text))
        assert arguments == {name: value}
        assert type(arguments[name]) is type(value)


def test_a_value_is_closed_by_the_next_one_where_its_tag_is_missing():
    text = XML_FIND.replace("i-1\n</parameter>", "i-1")
    assert called(read("qwen3-coder", text)) == [FIND]
    assert called(read("qwen3-coder", XML_STOP.replace("</parameter>", ""))) == [STOP]
    assert called(read("qwen3-coder", XML_STOP.replace("</function>", ""))) == [STOP]


def test_unknown_tools_are_kept_as_calls():
    for form, text in BOTH:
        action = read(form, text.replace("Find", "Fetch"), TOOLS)
        expected = ["Fetch", "Stop"]
        assert [call.name for call in action.calls] == expected, (form, action)


def test_the_ids_that_models_write_are_the_calls_ids():
    assert [c.id for c in read("kimi", PARALLEL["kimi"]).calls] == [
        "functions.Find:0",
        "functions.Stop:1",
    ]
    assert [c.id for c in read("mistral", OTHERS[5][1]).calls] == ["abc1", ""]
    text = '<tool_call>{"id": "z", "name": "Stop", "arguments": "{}"}</tool_call>'
    assert [(c.id, c.arguments) for c in read("hermes", text).calls] == [("z", "{}")]
    text = '<tool_call>{"name": "Stop", "arguments": null}</tool_call>'
    assert called(read("hermes", text)) == [("Stop", {})]


def test_pseudo_functions_are_actions_in_every_format():
    close = ToolCall("", "close_ticket", '{"message":"Bye"}')
    for name in FORMATS:
        text = render_calls(name, [close])
        assert PARSERS[name](text) == AssistantAction("close", "Bye")
        twice = PARSERS[name](render_calls(name, [close, close]))
        assert "only call" in twice.fault
        assert len(twice.calls) == 2


def test_a_tool_named_function_is_one_in_both_deepseek_generations():
    tools = {"function": STRING}
    for text in (f"{DC}function{DX}{{}}{DE}", f"{DC}function{DX}function\n```json\n{{}}\n```{DE}"):
        assert called(read("deepseek", text, tools)) == [("function", {})]


def test_more_calls_than_anyone_makes_are_counted_and_not_kept():
    action = read("hermes", f"<tool_call>{J_STOP}</tool_call>" * 1001)
    assert (action.calls, action.fault) == ((), "1001 calls in one message")


def test_tools_may_be_openai_schemas():
    named = [{"name": name, "parameters": schema} for name, schema in TOOLS.items()]
    listed = [{"type": "function", "function": function} for function in named]
    text = GLM_STOP.replace("i-2", "007")
    for tools in (listed, named, TOOLS):
        assert called(read("glm", text, tools)) == [("Stop", {"Id": "007"})]
    assert called(read("glm", GLM_STOP.replace("i-2", "7"), None)) == [("Stop", {"Id": 7})]


@pytest.mark.parametrize(
    ("write", "value"),
    [
        (glm.write, "</arg_value>"),
        (qwen3_coder.write, "a</parameter>"),
        (deepseek.write_dsml, "</｜DSML｜parameter>"),
    ],
)
def test_what_a_format_cannot_say_is_refused(write, value):
    call = ToolCall("", "Stop", json.dumps({"Id": value}))
    with pytest.raises(OptionError, match="'Id' can't be written in this format"):
        write([call])
