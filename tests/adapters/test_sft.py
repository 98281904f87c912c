"""Episodes as chat rows: what is trained is what the agent did, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.adapters.sft import chat_of, collect_sft, export_sft, message_of
from cirrus_env.baselines import policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.parsers import from_message
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import EndpointError, OptionError, StoreError
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import ASSISTANT, AssistantAction, ToolCall

SMALL = load_ticket(Path(__file__).parents[1] / "runner" / "small.toml")


def played(name: str, ticket="ECS-Billing", seed=3, options=None, **kwargs) -> TicketEpisode:
    episode = TicketEpisode(ticket, **kwargs)
    episode.reset(seed=seed, options=options)
    who, view = policy(name, episode), AssistantView()
    who.reset(seed)
    while episode.outcome is None:
        episode.step(who.act(view.observe(episode)))
    return episode


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@settings(max_examples=10)
@given(
    st.integers(0, 99),
    st.sampled_from(("oracle", "keyword", "random", "oracle:filler")),
    st.sampled_from(("ECS-Billing", "ECS-Locked", "Disk-Resize")),
    st.sampled_from(("object", "text")),
)
def test_the_trained_messages_are_the_agents_actions(seed, name, ticket, form):
    episode = played(name, ticket, seed)
    chat = chat_of(trajectory(episode), episode.ticket, arguments=form)
    assert len(chat.messages) == len(chat.mask) == len(chat.steps) == len(episode.messages)
    acted = [
        AssistantAction.from_json(record.action)
        for record in episode.records
        if record.seat == ASSISTANT and not any(e.kind == "invalid" for e in record.events)
    ]
    trained = [m for m, keep in zip(chat.messages, chat.mask, strict=True) if keep]
    for action, message in zip(acted, trained, strict=True):
        again = from_message(message)
        assert (again.kind, again.text, again.queue) == (action.kind, action.text, action.queue)
        assert [(c.id, c.name) for c in again.calls] == [(c.id, c.name) for c in action.calls]
        assert [json.loads(c.arguments) for c in again.calls] == [
            json.loads(c.arguments) for c in action.calls
        ]
    # everything else is word for word what stood in the episode
    for mine, theirs in zip(chat.messages, episode.messages, strict=True):
        if mine["role"] != "assistant":
            assert mine == theirs
    assert chat.tools == episode.chat_tools


def test_weights_say_what_the_mask_says():
    episode = played("oracle", SMALL)
    row = chat_of(trajectory(episode), SMALL).row()
    assert [m.get("weight", 0) for m in row["messages"]] == row["mask"]
    assert all(("weight" in m) == (m["role"] == "assistant") for m in row["messages"])
    assert sum(row["mask"]) == sum(m["role"] == "assistant" for m in row["messages"])


def test_invalid_actions_and_the_references_turns_are_shown_but_not_trained():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3, options={"turn": 2})
    start = len(episode.messages)
    bad = AssistantAction("call", "", (ToolCall("x", "NoSuchTool", "{}"),))
    episode.step(bad)
    episode.step("Bear with me, please.")
    episode.truncate()
    chat = chat_of(trajectory(episode), episode.ticket)
    roles = [(m["role"], keep) for m, keep in zip(chat.messages, chat.mask, strict=True)]
    assert not any(keep for _, keep in roles[:start])
    assert roles[start : start + 3] == [("assistant", False), ("tool", False), ("assistant", True)]
    assert sum(chat.mask) == 1


def test_a_broken_action_is_shown_as_it_was_sent():
    broken = AssistantAction("close", "Bye.", fault="no such thing")
    assert message_of(broken) == {"role": "assistant", "content": "Bye."}
    odd = AssistantAction("call", "", (ToolCall("a", "x", "[1]"), ToolCall("", "y", '{"b": ')))
    calls = message_of(odd, 4)["tool_calls"]
    assert [(c["id"], c["function"]["arguments"]) for c in calls] == [
        ("a", "[1]"),
        ("call_4_1", '{"b": '),
    ]


def test_arguments_come_as_objects_or_as_the_text_written():
    action = AssistantAction("call", "", (ToolCall("a", "x", '{"b":  1}'),))
    assert message_of(action)["tool_calls"][0]["function"]["arguments"] == {"b": 1}
    text = message_of(action, arguments="text")["tool_calls"][0]["function"]["arguments"]
    assert text == '{"b":  1}'
    with pytest.raises(OptionError, match="object or text"):
        chat_of(trajectory(played("oracle", SMALL)), SMALL, arguments="xml")


def test_no_line_holds_gold(tmp_path):
    path = tmp_path / "all.jsonl"
    ticket = bundled("ECS-Billing")
    report = collect_sft([ticket], range(4), path, agent="do-nothing", min_return=-9.0)
    assert report.to_json()["written"] == 4
    names = {id for s in range(4) for id in _gold(ticket, s)}
    text = path.read_text(encoding="utf-8")
    assert names
    assert not [name for name in names if f'"{name}"' in text]


def _gold(ticket, seed):
    episode = TicketEpisode(ticket)
    episode.reset(seed=seed)
    gold = episode.scenario.gold
    return {episode.scenario.variant, *(c.id for c in gold.checkpoints), *gold.slots} - {"region"}


def test_only_successes_are_written_unless_a_return_is_given(tmp_path):
    agents = [find_agent(name) for name in ("oracle", "keyword")]
    run_jobs(jobs_for(agents, [SMALL], range(2)), folder=tmp_path / "run")
    report = export_sft(tmp_path / "run", tmp_path / "x" / "good.jsonl")
    assert (report.written, report.below) == ({"oracle": 2}, 2)
    rows = lines(tmp_path / "x" / "good.jsonl")
    assert [row["meta"]["seed"] for row in rows] == [0, 1]
    assert all(row["meta"]["success"] and row["meta"]["return"] > 0.5 for row in rows)
    ticked = []
    report = export_sft(
        tmp_path / "run", tmp_path / "all.jsonl", progress=lambda n: lambda: ticked.append(n),
        min_return=-5.0,
    )  # fmt: skip
    assert (report.written, report.below) == ({"oracle": 2, "keyword": 2}, 0)
    assert ticked == [4] * 4


def test_straight_from_the_oracle_is_as_from_its_run(tmp_path):
    run_jobs(
        jobs_for([find_agent("oracle")], [SMALL], range(2)),
        settings={"system": "Now {now}."}, folder=tmp_path / "run",
    )  # fmt: skip
    export_sft(tmp_path / "run", tmp_path / "a.jsonl", per_turn=True)
    collect_sft([SMALL], range(2), tmp_path / "b.jsonl", per_turn=True, system="Now {now}.")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert lines(tmp_path / "a.jsonl")[0]["prompt"][0]["content"].startswith("Now ")


def test_a_language_may_be_chosen(tmp_path):
    collect_sft([bundled("ECS-Billing")], [1], tmp_path / "x.jsonl", language="zh")
    [row] = lines(tmp_path / "x.jsonl")
    assert row["meta"]["language"] == "zh"
    assert "工单" in row["messages"][0]["content"]


def test_one_line_an_action_holds_what_came_before(tmp_path):
    collect_sft([SMALL], [1], tmp_path / "whole.jsonl")
    collect_sft([SMALL], [1], tmp_path / "turns.jsonl", per_turn=True)
    [whole] = lines(tmp_path / "whole.jsonl")
    messages = [{k: v for k, v in m.items() if k != "weight"} for m in whole["messages"]]
    rows = lines(tmp_path / "turns.jsonl")
    assert len(rows) == sum(whole["mask"])
    for row in rows:
        at = len(row["prompt"])
        assert row["prompt"] + row["completion"] == messages[: at + 1]
        assert whole["mask"][at] == 1


class Down:
    name = "down"

    def reset(self, seed):
        pass

    def act(self, observation):
        raise EndpointError("down")


def test_what_failed_for_outside_reasons_is_counted_and_left_out(tmp_path):
    agent = Agent("down", lambda _: Down())
    report = collect_sft([SMALL], [1], tmp_path / "x.jsonl", agent=agent, min_return=-9.0)
    assert (report.invalid, report.written, report.episodes) == (1, {}, 1)
    assert (tmp_path / "x.jsonl").read_bytes() == b""


def test_a_mode_that_shows_gold_is_left_out(tmp_path):
    path = tmp_path / "x.jsonl"
    report = collect_sft([SMALL], [1], path, mode="oracle-plan").to_json()
    assert report["written"] == 0
    assert "gold" in report["left_out"][0]["why"]


def test_records_that_come_out_otherwise_are_no_data():
    stored = trajectory(played("oracle", SMALL))
    changed = list(stored.records)
    at = next(i for i, r in enumerate(changed) if r.action["kind"] == "call")
    changed[at] = changed[at]._replace(clock=changed[at].clock + 1)
    with pytest.raises(OptionError, match=f"step {at} "):
        chat_of(replace(stored, records=tuple(changed)), SMALL)
    with pytest.raises(OptionError, match="no whole episode"):
        chat_of(replace(stored, records=()), SMALL)


def test_the_lines_are_chat_records_that_can_be_imported(tmp_path):
    collect_sft([SMALL], [1], tmp_path / "x.jsonl", arguments="text")
    report = import_openai(tmp_path / "x.jsonl", tmp_path / "tickets").to_json()
    assert (report["written"], report["failed"]) == (1, 0)


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't write"):
        collect_sft([SMALL], [1], tmp_path / "file" / "x.jsonl")
