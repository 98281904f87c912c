"""Tools of other services beside the ticket's own: they work, and change nothing unless called."""

import json
import pickle

import pytest

from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.cloud.catalogue import SERVICES, catalogue, widened
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import replay, rescore, trajectory
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import OptionError
from cirrus_env.tickets.index import index
from cirrus_env.wire import AssistantAction, ToolCall, canonical

EVERY = catalogue(tuple(SERVICES))
WITH_TOOLS = [entry["id"] for entry in index() if entry["tools"]]
WITHOUT_TOOLS = [entry["id"] for entry in index() if not entry["tools"]]


def episode(ticket="ECS-Billing", seed=3, variant=None, **arguments):
    made = TicketEpisode(ticket, **arguments)
    made.reset(seed=seed, options={"variant": variant})
    return made


def played(ticket, seed=3, variant=None, **arguments):
    made = episode(ticket, seed, variant, **arguments)
    policy, view = oracle_for(made), AssistantView()
    while made.outcome is None:
        made.step(policy.act(view.observe(made)))
    return made


def extra(ticket, count):
    own = set(episode(ticket).tool_names)
    return [name for name in episode(ticket, distractions=count).tool_names if name not in own]


@pytest.mark.parametrize("ticket", WITH_TOOLS)
def test_three_are_among_ten_and_ten_among_all(ticket):
    own = len(episode(ticket).tool_names)
    few, more, most = (set(extra(ticket, count)) for count in (3, 10, "all"))
    assert (len(few), len(more)) == (3, min(10, len(most)))
    assert few < more <= most
    offered = [o for o in EVERY.operations.values() if o.actor == "assistant"]
    assert len(most) == len(offered) - own
    assert extra(ticket, 10_000) == extra(ticket, "all")


def test_other_seeds_and_languages_get_the_same_tools():
    first = episode(distractions=3, seed=0).tools
    assert episode(distractions=3, seed=99, language="zh").tools == first


def test_a_tools_place_does_not_tell_whose_it_is():
    names = episode("VPC-Nat", distractions=10).tool_names
    order = list(EVERY.operations)
    assert list(names) == sorted(names, key=order.index)
    assert extra("VPC-Nat", 10) != list(names)[-10:]


@pytest.mark.parametrize("ticket", WITHOUT_TOOLS)
def test_a_ticket_without_tools_stays_without(ticket):
    assert episode(ticket, distractions="all").tool_names == ()


@pytest.mark.parametrize("count", [-1, True, 1.5, "some", None])
def test_what_is_no_count_is_refused(count):
    with pytest.raises(OptionError, match="distractions is a number of tools from 0"):
        TicketEpisode("ECS-Billing", distractions=count)


@pytest.mark.parametrize("ticket", [entry["id"] for entry in index()])
def test_who_calls_none_of_them_plays_the_same_episode(ticket):
    plain, beside = played(ticket), played(ticket, distractions="all")
    assert beside.records == plain.records
    assert beside.messages == plain.messages
    assert trajectory(beside).last == trajectory(plain).last


@pytest.mark.parametrize("ticket", WITH_TOOLS)
def test_each_of_them_answers_in_every_ticket(ticket):
    """Empty arguments and ids of this world: a result or the provider's error, whatever it is."""
    made = episode(ticket, distractions="all", max_tool_calls=10_000, max_invalid=10_000)
    cloud = made.state.cloud
    dangling = cloud.dangling()  # what the ticket left out of its world
    ids = [id for kind in cloud.catalogue.kinds for id in cloud.records(kind)][:3]
    answered = 0
    for name in extra(ticket, "all"):
        schema = EVERY.operations[name].parameters
        needed = schema.get("required", ())
        texts = [k for k in needed if schema["properties"][k].get("type") == "string"]
        for arguments in ({}, *(dict.fromkeys(texts, id) for id in ids)):
            before = len(made.records)
            made.step(AssistantAction("call", calls=(ToolCall("", name, canonical(arguments)),)))
            (event,) = (e for e in made.records[before].events if e.kind in ("called", "invalid"))
            assert event.name == name
            answered += event.kind == "called"
        if made.outcome is not None:
            break
    assert answered >= len(extra(ticket, "all"))
    assert set(cloud.dangling()) <= set(dangling)


def test_what_they_change_is_damage():
    made = episode("ECS-Ssh", distractions="all")
    assert "CreateDisk" in extra("ECS-Ssh", "all")
    call = ToolCall("", "CreateDisk", canonical({"Size": 40, "ZoneId": "cn-hangzhou-h"}))
    made.step(AssistantAction("call", calls=(call,)))
    (event,) = (e for e in made.records[-1].events if e.kind == "called")
    assert event.value["ok"], event.value
    assert event.value["outside"]


def test_stored_episodes_replay_and_rescore():
    made = played("ECS-Billing", distractions=10)
    stored = trajectory(made)
    assert stored.header["distractions"] == 10
    again = replay(stored)
    assert trajectory(again) == stored
    assert again.tool_names == made.tool_names
    assert rescore(stored.header, stored.records)[0] == stored.last["metrics"]


def test_forks_pickles_and_snapshots_keep_them():
    made = episode(distractions=10)
    tools = made.tools
    other = episode()
    other.restore(made.snapshot())
    for copy in (made.fork(), pickle.loads(pickle.dumps(made)), other):
        assert copy.tools == tools
        (name, *_) = extra("ECS-Billing", 3)
        copy.step(AssistantAction("call", calls=(ToolCall("", name, "{}"),)))
        assert "UnknownTool" not in copy.messages[-1]["content"]


def test_offered_tools_may_be_few_and_the_distractions_come_on_top():
    made = episode(tools=["DescribeInstances"], distractions=3)
    assert set(made.tool_names) == {"DescribeInstances", *extra("ECS-Billing", 3)}


def test_a_widened_catalogue_is_named_by_what_it_holds():
    wide = widened(("account", "knowledge", "ecs"), ("CreateNatGateway",))
    assert pickle.loads(pickle.dumps(wide)) is wide
    assert wide.names == ("account", "knowledge", "ecs")
    assert wide.service_of["CreateNatGateway"] == "nat"
    assert wide.handlers == catalogue(("account", "knowledge", "ecs")).handlers


def test_an_imported_ticket_has_only_what_was_recorded(tmp_path):
    functions = [{"name": "lookup", "parameters": {"type": "object", "properties": {}}}]
    call = {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "What is my balance?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": '{"balance": 12}'},
        {"role": "assistant", "content": "It is 12."},
    ]
    tools = [{"type": "function", "function": function} for function in functions]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages, "tools": tools}))
    report = import_openai(tmp_path / "chat.json", tmp_path / "out")
    (path,) = [entry["path"] for entry in report.to_json()["files"]]
    with pytest.raises(OptionError, match="is imported: there is nothing but its recorded tools"):
        TicketEpisode(path, distractions=3)
    assert TicketEpisode(path, distractions=0).ticket.env_id.startswith("Imported/")
