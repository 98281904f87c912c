"""What no annotation stops a caller from sending: refused with a type, and nothing has changed."""

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.setting import MAX_CONSOLE_IN_A_ROW
from cirrus_env.errors import InvalidAction, OptionError
from cirrus_env.wire import AssistantAction, CustomerAction, ToolCall, canonical

CALL = ToolCall("", "DescribeInstances", "{}")


def footprint(episode):
    state = episode.state
    return canonical([episode.messages, state.cloud.dump()]), len(episode.records), state.turn


@pytest.fixture
def episode():
    made = TicketEpisode("ECS-Billing", customer="external")
    made.reset(seed=1, options={"variant": "halted-in-guest"})
    return made


@pytest.mark.parametrize(
    "action",
    [
        AssistantAction("accept", "I accept."),
        AssistantAction("foo", "Hello."),
        AssistantAction("reply", None),
        AssistantAction("reply", 5),
        AssistantAction("reply", "Hello.", reasoning=None),
        AssistantAction("reply", "Hello.", fault=5),
        AssistantAction("reply", "Hello.", calls=(CALL,)),
        AssistantAction("close", "Bye.", calls=(CALL,)),
        AssistantAction("escalate", "Facts.", queue=None),
        AssistantAction("escalate", "Facts.", queue=["billing"]),
        AssistantAction("call", "", None),
        AssistantAction("call", "", ("DescribeInstances",)),
        AssistantAction("call", "", [CALL]),
        AssistantAction("call", "", (ToolCall("", "DescribeInstances", {}),)),
        AssistantAction("call", "", (ToolCall(None, "DescribeInstances", "{}"),)),
        CustomerAction("say", "Hello."),
        None,
        5,
        b"Hello.",
    ],
    ids=repr,
)
def test_what_is_no_action_changes_nothing(episode, action):
    before = footprint(episode)
    with pytest.raises(InvalidAction):
        episode.step(action)
    assert footprint(episode) == before


def test_a_parser_that_gives_something_else_is_refused():
    episode = TicketEpisode("ECS-Billing", parser=lambda text: 5)
    episode.reset(seed=1)
    with pytest.raises(InvalidAction):
        episode.step("Hello.")


@pytest.mark.parametrize(
    "action",
    [
        CustomerAction("reply", "Hello."),
        CustomerAction("say", None),
        CustomerAction("say", "\ud800"),
        CustomerAction("say", "x" * 20_001),
        CustomerAction("console", "", "fly"),
        CustomerAction("console", "", []),
        "Hello.",
        None,
    ],
    ids=lambda action: repr(action)[:40],
)
def test_what_is_no_customers_action_changes_nothing(episode, action):
    episode.step("Which instance is it, please?")
    before = footprint(episode)
    with pytest.raises(InvalidAction):
        episode.apply("customer_0", action)
    assert footprint(episode) == before


def test_a_customer_that_keeps_to_its_console_loses_its_turn(episode):
    episode.step("Which instance is it, please?")
    for _ in range(MAX_CONSOLE_IN_A_ROW):
        assert episode.to_move == "customer_0"
        episode.apply("customer_0", CustomerAction("console", "", "try_login"))
    assert episode.to_move == "assistant_0"


@pytest.mark.parametrize(
    "wrong",
    [
        {"ticket": None},
        {"ticket": 5},
        {"system": 5},
        {"system": "\ud800"},
        {"tools": "DescribeInstances"},
        {"tools": 5},
        {"tools": [5]},
    ],
    ids=repr,
)
def test_an_argument_of_the_wrong_type_is_named(wrong):
    with pytest.raises(OptionError):
        TicketEpisode(**{"ticket": "ECS-Billing", **wrong})


@pytest.mark.parametrize(
    "action",
    [
        AssistantAction("reply", "Hello.", queue="q" * 20_001),
        AssistantAction("call", "", (ToolCall("i" * 20_001, "DescribeInstances", "{}"),)),
        AssistantAction("call", "", (ToolCall("", "n" * 20_001, "{}"),)),
    ],
    ids=["queue", "id", "name"],
)
def test_every_part_of_a_message_counts_for_its_length(episode, action):
    assert episode.step(action).info["invalid"] == 1
