"""A conversation is written once; what came back is written alone, or an error says why."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest
from byte_chat import END, START, ByteTokenizer, encode

from cirrus_env.engine.render import PrefixRender, RenderersRender
from cirrus_env.errors import RenderError
from cirrus_env.wire import AssistantAction, ToolCall
from cirrus_env.wire import messages as build

ASSISTANT = [START, *encode("assistant\n")]
SAID = [START, *encode("user\nYes."), END, *encode("\n"), *ASSISTANT]


@pytest.mark.parametrize("sampled", [[END], []])
def test_the_customers_words_follow_the_end_of_the_models_turn_sampled_or_not(sampled):
    render = PrefixRender(ByteTokenizer())
    turn = [*encode("Is it?"), *sampled]
    came = render.delta([1, 2], turn, [build.customer("Yes.")], ())
    assert came == [*([] if sampled else [END]), *encode("\n"), *SAID]


def test_results_stand_in_call_order_and_before_the_customers_words():
    render = PrefixRender(ByteTokenizer())
    calls = [ToolCall("c1", "F", "{}"), ToolCall("c2", "G", "{}")]
    back = [build.tool_result(c, c.name.lower()) for c in calls]
    came = render.delta([], [END], [*back, build.customer("Yes.")], ())
    results = [[START, *encode(f"tool\n{letter}"), END, *encode("\n")] for letter in "fg"]
    assert came == [*encode("\n"), *results[0], *results[1], *SAID]


def test_what_is_appended_is_what_the_template_writes_of_the_whole_conversation():
    tokenizer = ByteTokenizer()
    render = PrefixRender(tokenizer, template_kwargs={"thoughts": False})
    tools = [{"type": "function", "function": {"name": "F"}}]
    call = ToolCall("c1", "F", '{"a":1}')
    said, back = build.assistant("Look:", [call]), build.tool_result(call, "{}")
    start = [build.system("s"), build.customer("help")]
    prompt = render.prompt(start, tools)
    sampled = [*encode('Look:{"name": "F", "arguments": {"a": 1}}'), END]
    came = render.delta(prompt, sampled, [back], tools)
    assert [*prompt, *sampled, *came] == render.prompt([*start, said, back], tools)


def test_arguments_that_are_no_json_stay_text_in_a_prompt():
    render = PrefixRender(ByteTokenizer())
    said = build.assistant("", [ToolCall("c1", "F", "{a"), ToolCall("c2", "F", "")])
    text = bytes(i for i in render.prompt([build.customer("x"), said], ()) if i < 256).decode()
    assert '"arguments": "{a"' in text
    assert '"arguments": {}' in text


def test_a_turn_is_read_without_its_end_but_with_other_marks():
    render = PrefixRender(ByteTokenizer())
    assert render.read([], [START, *encode("a"), END, END], ()) == "<|start|>a"
    assert render.read([], [END], ()) == ""
    assert render.read([], [], ()) == ""


@pytest.mark.parametrize(
    ("template", "role", "problem"),
    [
        ("drops", "user", "what came before otherwise"),
        ("last", "user", "what came before otherwise"),
        ("no-tools", "tool", "no such role"),
        ("head", "user", "otherwise where there are tools"),
        ("silent", "tool", "doesn't tell the model of its tools"),
    ],
)
def test_a_template_that_breaks_the_prefix_is_refused_and_the_role_named(template, role, problem):
    with pytest.raises(RenderError, match=problem) as caught:
        PrefixRender(ByteTokenizer(template))
    assert caught.value.role == role
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.role, str(again)) == (role, str(caught.value))
    assert PrefixRender(ByteTokenizer(template), chat_template="plain").stop_ids == {END}


def test_a_template_that_breaks_for_the_user_may_serve_where_only_tools_answer():
    assert PrefixRender(ByteTokenizer("drops"), roles=["tool"]).delta(
        [], [END], [build.tool_result(ToolCall("c", "F", "{}"), "x")], ()
    ) == [*encode("\n"), START, *encode("tool\nx"), END, *encode("\n"), *ASSISTANT]


@pytest.mark.parametrize("eos", [END, None])
def test_a_template_without_ends_of_turns_adds_only_what_came(eos):
    render = PrefixRender(ByteTokenizer("open", eos))
    assert render.stop_ids == ({END} if eos else set())
    back = [START, *encode("user\nYes.\n"), *ASSISTANT]
    assert render.delta([], encode("Is it?"), [build.customer("Yes.")], ()) == back


def test_ends_of_turns_may_be_given():
    render = PrefixRender(ByteTokenizer(eos=None), stop_ids=[END])
    assert render.read([], [*encode("a"), END], ()) == "a"


# -- the package ``renderers``, as its protocol says; the package itself runs with the trainers ----


class Renderer:
    def __init__(self, bridged=None, parsed=None):
        self.bridged, self.parsed, self.asked = bridged, parsed, []

    def get_stop_token_ids(self):
        return [END]

    def render_ids(self, messages, *, tools=None, add_generation_prompt=False):
        self.asked.append((messages, tools, add_generation_prompt))
        return [7]

    def bridge_to_next_turn(self, prompt, completion, new, *, tools=None):
        self.asked.append((prompt, completion, new, tools))
        return None if self.bridged is None else SimpleNamespace(token_ids=self.bridged)

    def parse_response(self, ids, *, tools=None, prompt_ids=None):
        self.asked.append((ids, tools, prompt_ids))
        return self.parsed


def call(name="F", arguments=None, status="ok", raw="<raw>", id=None):
    return SimpleNamespace(name=name, arguments=arguments, status=status, raw=raw, id=id)


def parsed(*calls, content="", reasoning=None):
    return SimpleNamespace(content=content, reasoning_content=reasoning, tool_calls=list(calls))


def test_a_renderer_writes_prompt_and_delta():
    renderer = Renderer(bridged=[1, 2, 3, 9, 9])
    render = RenderersRender(renderer)
    assert render.stop_ids == {END}
    assert render.prompt([build.customer("x")], ()) == [7]
    assert render.delta([1], [2, 3], [build.customer("y")], ({"type": "function"},)) == [9, 9]
    assert renderer.asked == [
        ([build.customer("x")], None, True),
        ([1], [2, 3], [build.customer("y")], [{"type": "function"}]),
    ]


@pytest.mark.parametrize(("bridged", "problem"), [(None, "refuses"), ([1, 5, 3], "otherwise")])
def test_a_renderer_that_refuses_or_rewrites_is_an_error_that_names_the_role(bridged, problem):
    with pytest.raises(RenderError, match=problem) as caught:
        RenderersRender(Renderer(bridged)).delta([1], [2, 3], [build.customer("y")], ())
    assert caught.value.role == "user"


def test_a_renderers_calls_become_a_chat_message():
    calls = [
        call(arguments={"b": 1, "a": 2}, id="k"),
        call(),
        call("G", '{"x": 1}', "unknown_tool"),
    ]
    renderer = Renderer(parsed=parsed(*calls, content="Look.", reasoning="Hm."))
    message = RenderersRender(renderer).read([1], [2], ())
    assert renderer.asked == [([2], None, [1])]
    assert message["content"], message["reasoning_content"] == ("Look.", "Hm.")
    assert [(c["id"], c["function"]) for c in message["tool_calls"]] == [
        ("k", {"name": "F", "arguments": '{"a":2,"b":1}'}),
        ("", {"name": "F", "arguments": "{}"}),
        ("", {"name": "G", "arguments": '{"x": 1}'}),
    ]


@pytest.mark.parametrize("broken", [call(status="invalid_json"), call(name=None, status="ok")])
def test_one_broken_call_makes_the_whole_turn_malformed(broken):
    action = RenderersRender(Renderer(parsed=parsed(call(), broken))).read([], [1], ())
    fault = f"a tool call can't be read: {broken.status}"
    assert action == AssistantAction("reply", "<raw>", fault=fault)
