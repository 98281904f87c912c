"""Scrambled names: what is shown and written is swapped, what is recorded is not."""

import json
import pickle

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.cloud.catalogue import GENERAL, SERVICES, catalogue
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.names import Names
from cirrus_env.engine.replay import replay, rescore, trajectory
from cirrus_env.envs.aec_env import TicketAECEnv
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import OptionError
from cirrus_env.tickets.index import index
from cirrus_env.wire import AssistantAction, ToolCall

ECS = catalogue((*GENERAL, "ecs"))
NAMES = Names(ECS, 7)
BETWEEN = ("\\n", "\\u7528", "\\u", "\\", " ", ",", "用")
EVERY = tuple(catalogue(tuple(SERVICES)).operations)


def episode(ticket="ECS-Billing", seed=3, **arguments):
    made = TicketEpisode(ticket, **({"scramble": 7} | arguments))
    made.reset(seed=seed)
    return made


def played(ticket, language, **arguments):
    made = episode(ticket, language=language, **arguments)
    policy, view = oracle_for(made), AssistantView()
    while made.outcome is None:
        made.step(policy.act(view.observe(made)))
    return made


SCENES = [(entry["id"], language) for entry in index() for language in entry["languages"]]


@pytest.mark.parametrize(("ticket", "language"), SCENES)
def test_records_and_metrics_keep_the_true_names(ticket, language):
    plain, scrambled = (played(ticket, language, scramble=seed) for seed in (None, 7))
    assert scrambled.records == plain.records
    assert trajectory(scrambled).last == trajectory(plain).last


@pytest.mark.parametrize(("ticket", "language"), SCENES)
def test_no_true_name_is_shown(ticket, language):
    made = played(ticket, language, mode="oracle-plan")
    shown = json.dumps(made.messages, ensure_ascii=False) + made.tools_json
    assert [name for name in EVERY if name in shown] == []


def test_schemas_tell_the_same_under_other_names():
    plain, scrambled = episode(scramble=None), episode()
    assert len(scrambled.tools) == len(plain.tools)
    for one, other in zip(plain.tools, scrambled.tools, strict=True):
        name = other["function"]["name"]
        assert name == NAMES.shown[one["function"]["name"]]
        assert name in scrambled.tool_names
        assert NAMES.function(other["function"]) == one["function"]
        assert scrambled.tool_arguments[name] == other["function"]["parameters"]
        properties = other["function"]["parameters"]["properties"]
        assert properties.keys() == one["function"]["parameters"]["properties"].keys()


def test_a_shown_name_is_called_and_a_true_one_is_unknown():
    made = episode()
    shown = NAMES.shown["DescribeInstances"]
    step = made.step(AssistantAction("call", calls=(ToolCall("a", shown, "{}"),)))
    assert step.delta[0]["name"] == shown
    assert "Instances" in json.loads(step.delta[0]["content"])
    assert made.records[-1].events[0].name == "DescribeInstances"
    step = made.step(AssistantAction("call", calls=(ToolCall("b", "DescribeInstances", "{}"),)))
    assert json.loads(step.delta[0]["content"]) == {
        "Code": "UnknownTool", "Message": "there is no tool 'DescribeInstances'",
    }  # fmt: skip
    assert made.records[-1].action["calls"] == [["b", shown, "{}"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "true"),
    [
        ("GetArticle", '{"ArticleId": "%s"}', "StopInstance"),
        ("GetArticle", r'{"ArticleId": "\u7528%s"}', "用StopInstance"),
        ("DescribeInstances", '{"%s": 1}', "StopInstance"),
    ],
)
def test_what_results_repeat_of_a_call_is_swapped_back(tool, arguments, true):
    made = episode()
    shown = NAMES.shown["StopInstance"]
    call = ToolCall("a", NAMES.shown[tool], arguments % shown)
    step = made.step(AssistantAction("call", calls=(call,)))
    assert made.messages[-2]["tool_calls"][0]["function"]["arguments"] == arguments % shown
    assert shown in step.delta[0]["content"]
    assert "StopInstance" not in step.delta[0]["content"]
    assert json.loads(made.records[-1].action["calls"][0][2]).popitem() in (
        ("ArticleId", true), (true, 1),
    )  # fmt: skip


def test_a_value_that_is_called_as_a_tool_has_its_name_in_schemas_arguments_and_results():
    made = episode("ECS-Upgrade", distractions="all", mode="oracle-plan")
    shown = NAMES.shown["ResizeDisk"]
    (schema,) = (t for t in made.tools if t["function"]["name"] == NAMES.shown["QueryOrders"])
    kinds = schema["function"]["parameters"]["properties"]["OrderType"]["enum"]
    assert shown in kinds
    assert "ResizeDisk" not in kinds
    for value, invalid in ((shown, False), ("ResizeDisk", True)):
        arguments = json.dumps({"OrderType": value})
        made.step(
            AssistantAction("call", calls=(ToolCall("", NAMES.shown["QueryOrders"], arguments),))
        )
        assert (made.records[-1].events[0].kind == "invalid") is invalid


def test_an_id_that_is_made_of_a_name_goes_with_it():
    made = episode(parser="kimi")
    id = f"functions.{NAMES.shown['DescribeInstances']}:0"
    made.step(
        "<|tool_calls_section_begin|><|tool_call_begin|>"
        f"{id}<|tool_call_argument_begin|>{{}}<|tool_call_end|><|tool_calls_section_end|>"
    )
    assert made.messages[-2]["tool_calls"][0]["id"] == made.messages[-1]["tool_call_id"] == id
    (call,) = made.records[-1].action["calls"]
    assert call == ["functions.DescribeInstances:0", "DescribeInstances", "{}"]


def test_queues_and_thoughts_are_recorded_under_true_names_and_shown_under_others():
    made = episode()
    shown = NAMES.shown["StopInstance"]
    step = made.step(AssistantAction("escalate", "Facts.", queue=shown, reasoning=f"{shown}?"))
    assert f"there is no queue '{shown}'" in step.delta[0]["content"]
    assert made.records[-1].action["reasoning"] == "StopInstance?"


def test_texts_and_chat_messages_are_read_by_the_shown_names():
    made = episode(parser="hermes")
    shown = NAMES.shown["DescribeInstances"]
    call = json.dumps({"name": shown, "arguments": {}})
    assert made.step(f"<tool_call>{call}</tool_call>").delta[0]["name"] == shown
    function = {"name": shown, "arguments": "{}"}
    message = {"role": "assistant", "tool_calls": [{"id": "x", "function": function}]}
    assert made.step(message).delta[0]["name"] == shown
    assert made.messages[-2]["tool_calls"][0]["function"] == function
    assert [r.events[0].name for r in made.records[-2:]] == ["DescribeInstances"] * 2


def test_reading_an_action_twice_is_reading_it_once():
    made = episode()
    action = AssistantAction("call", calls=(ToolCall("", NAMES.shown["DescribeInstances"], "{}"),))
    assert made.read(made.read(action)) == action


def test_the_same_name_in_every_ticket_and_another_with_another_seed():
    assert Names(catalogue((*GENERAL, "billing")), 7).shown == NAMES.shown
    other = Names(ECS, 8).shown
    assert not set(other.values()) & set(NAMES.shown.values())
    assert len(set(other.values())) == len(EVERY) == len(other)


@given(st.text() | st.lists(st.sampled_from([*EVERY, *NAMES.shown.values(), *BETWEEN])))
def test_swapping_twice_gives_back_every_byte(text):
    text = "".join(text)
    assert NAMES.text(NAMES.text(text)) == text


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("StopInstance, then", "{} , then"),
        ("先调用StopInstance。", "先调用{} 。"),
        (r'{"Content":"first\nStopInstance"}', r'{{"Content":"first\n{} "}}'),
        (r'{"Content":"\u7528StopInstance"}', r'{{"Content":"\u7528{} "}}'),
        ("StopInstances and MyStopInstance", "StopInstances and MyStopInstance"),
    ],
)
def test_names_in_texts_are_whole_words(text, swapped):
    shown = NAMES.shown["StopInstance"]
    assert NAMES.text(text) == swapped.replace("{} ", shown).replace("{{", "{").replace("}}", "}")


def test_stored_episodes_replay_and_rescore():
    made = played("ECS-Billing", "en")
    stored = trajectory(made)
    assert stored.header["scramble"] == 7
    again = replay(stored)
    assert again.messages == made.messages
    assert trajectory(again) == stored
    assert rescore(stored.header, stored.records)[0] == stored.last["metrics"]


def test_forks_pickles_and_snapshots_keep_them():
    made = episode()
    other = episode(scramble=None)
    other.restore(made.snapshot())
    for copy in (made.fork(), pickle.loads(pickle.dumps(made)), other):
        assert copy.tools == made.tools
        name = NAMES.shown["DescribeInstances"]
        step = copy.step(AssistantAction("call", calls=(ToolCall("", name, "{}"),)))
        assert step.delta[0]["name"] == name


def test_what_is_stored_of_a_restored_episode_tells_how_it_was_played():
    made = episode(distractions=3, faults="mild", tools=["DescribeInstances"], max_turns=9)
    other = episode(scramble=None)
    other.restore(made.snapshot())
    assert other.setting is made.setting
    assert other.header == made.header
    assert (other.header["scramble"], other.header["limits"]["max_turns"]) == (7, 9)
    other.reset(seed=3)
    assert "scramble" not in other.header
    assert other.setting.limits.max_turns == 30
    made.restore(other.snapshot())
    assert "scramble" not in made.header


@pytest.mark.parametrize("seed", [True, 1.5, "seven"])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(OptionError, match="scramble is the seed of the tools' names"):
        TicketEpisode("ECS-Billing", scramble=seed)


def test_a_recordings_plain_words_are_swapped_as_names_only():
    class Recorded:
        operations = {"search": None, "send_email": None}  # noqa: RUF012

    names = Names(Recorded(), 0)
    assert names.name("search") == names.shown["search"] != "search"
    assert (
        names.text("I will search and send_email.")
        == f"I will search and {names.shown['send_email']}."
    )


def test_environments_take_distractions_and_scrambled_names():
    arguments = {"distractions": 3, "scramble": 7}
    env = gymnasium.make("Cirrus/ECS-Billing-v0", **arguments)
    observation, _ = env.reset(seed=0)
    shown = [tool["function"]["name"] for tool in json.loads(observation["tools"])]
    assert tuple(shown) == episode(distractions=3).tool_names
    index = shown.index(NAMES.shown["DescribeInstances"])
    action = {"type": 1, "text": "", "tool": index, "arguments": "{}"}
    observation, *_ = env.step(action)
    assert observation["role"] == "tool"
    assert "Instances" in json.loads(observation["message"])
    aec = TicketAECEnv("ECS-Billing", **arguments)
    aec.reset(seed=0)
    aec.step(action)
    assert aec.observe("assistant_0")["message"] == observation["message"]
    envs = gymnasium.make_vec("Cirrus/ECS-Billing-v0", num_envs=2, **arguments)
    envs.reset(seed=[0, 0])
    observations, *_ = envs.step([action, action])
    assert list(observations["message"]) == [observation["message"]] * 2


def test_two_tools_never_share_a_name(monkeypatch):
    class Alike:
        """A stream that gives the same letters twice, to one tool and to the next."""

        def __init__(self, seed, label):
            self.left = [f"{EVERY.index(label.removeprefix('name:')):06d}", "aaaaaa"]

        def letters(self, length):
            return self.left.pop()

    monkeypatch.setattr("cirrus_env.engine.names.Stream", Alike)
    shown = Names(ECS, 0).shown
    assert shown[EVERY[0]] == "tool_aaaaaa"
    assert shown[EVERY[1]] == "tool_000001"
    assert len(set(shown.values())) == len(EVERY)
