"""Pairs on the same prompt: the better return is chosen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cirrus_env.adapters.preferences import (
    export_preferences,
    fork_preferences,
    regret_preferences,
)
from cirrus_env.customers.registry import customer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.parsers import from_message
from cirrus_env.engine.plan import reference_actions
from cirrus_env.errors import ComparisonError, EndpointError, OptionError
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.regret import stored_regrets
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.load import load_ticket
from cirrus_env.wire import AssistantAction, ToolCall

SMALL = load_ticket(Path(__file__).parents[1] / "runner" / "small.toml")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(folder: Path, *agents: str | Agent, seeds=(1, 2), **settings) -> Path:
    found = [find_agent(a) if isinstance(a, str) else a for a in agents]
    run_jobs(jobs_for(found, [SMALL], seeds), settings=settings, folder=folder)
    return folder


def scripted(name: str, *actions) -> Agent:
    class Plays:
        def reset(self, seed):
            self.left = list(actions)

        def act(self, observation):
            action = self.left.pop(0)
            if isinstance(action, Exception):
                raise action
            return action

    Plays.name = name
    return Agent(name, lambda _: Plays())


def test_the_better_return_is_chosen_on_the_common_prompt(tmp_path):
    folder = run(tmp_path / "run", "keyword", "oracle")
    report = export_preferences(folder, tmp_path / "x.jsonl")
    assert (report.written, report.ties, report.invalid) == ({"oracle": 2}, 0, 0)
    returns = {(s.row.agent, s.row.seed): s.row.return_micro / 1e6 for s in StoredRun(folder)}
    for row in lines(tmp_path / "x.jsonl"):
        seed = row["meta"]["chosen"]["seed"]
        assert row["meta"]["rejected"]["seed"] == seed
        assert row["margin"] == pytest.approx(returns["oracle", seed] - returns["keyword", seed])
        assert row["margin"] > 0
        assert row["prompt"][0]["role"] == "system"
        assert [m["role"] for m in row["chosen"] + row["rejected"]] == ["assistant"] * 2
        assert row["chosen"] != row["rejected"]
        assert row["prompt"][-1]["role"] in ("user", "tool")


def test_all_that_followed_comes_with_masks(tmp_path):
    folder = run(tmp_path / "run", "keyword", "oracle", seeds=(1,))
    export_preferences(folder, tmp_path / "x.jsonl", whole=True)
    [row] = lines(tmp_path / "x.jsonl")
    for side in ("chosen", "rejected"):
        assert len(row[side]) == len(row[f"{side}_mask"])
        roles = {m["role"] for m, keep in zip(row[side], row[f"{side}_mask"], strict=True) if keep}
        assert roles == {"assistant"}
    assert row["chosen"][-1]["tool_calls"][0]["function"]["name"] == "close_ticket"


def test_ties_small_margins_and_equal_behaviour_are_no_pairs(tmp_path):
    bye = AssistantAction("close", "Goodbye.")
    look = AssistantAction("call", "", (ToolCall("mine", "DescribeInstances", "{}"),))
    same = AssistantAction("call", "", (ToolCall("other", "DescribeInstances", "{}"),))
    folder = run(
        tmp_path / "run", scripted("a", bye), scripted("b", "Hello.", bye), "oracle", "keyword",
        seeds=(1,),
    )  # fmt: skip
    report = export_preferences(folder, tmp_path / "x.jsonl")
    margins = [row["margin"] for row in lines(tmp_path / "x.jsonl")]
    assert report.ties == 1
    assert len(margins) + report.ties + report.alike == 6
    report = export_preferences(folder, tmp_path / "y.jsonl", min_margin=0.5)
    assert [row["margin"] for row in lines(tmp_path / "y.jsonl")] == [m for m in margins if m > 0.5]
    with pytest.raises(OptionError, match="margin"):
        export_preferences(folder, tmp_path / "z.jsonl", min_margin=-0.1)
    # ids of calls are no difference: these two part at the second action
    wrong = AssistantAction("call", "", (ToolCall("", "NoSuchTool", "{}"),))
    folder = run(
        tmp_path / "ids", scripted("a", look, bye), scripted("b", same, wrong, bye), seeds=(1,)
    )
    export_preferences(folder, tmp_path / "ids.jsonl")
    [row] = lines(tmp_path / "ids.jsonl")
    assert row["prompt"][-1]["role"] == "tool"
    assert row["chosen"][0]["tool_calls"][0]["function"]["name"] == "close_ticket"
    assert row["margin"] == pytest.approx(0.02)


def test_what_was_sampled_twice_is_one_pair(tmp_path):
    bye = AssistantAction("close", "Goodbye.")
    folder = run(tmp_path / "run", scripted("a", bye), scripted("b", bye), "oracle", seeds=(1,))
    report = export_preferences(folder, tmp_path / "x.jsonl")
    assert (report.written, report.ties, report.alike) == ({"oracle": 1}, 1, 1)


def test_two_runs_are_paired_only_under_one_reward(tmp_path):
    one, two = run(tmp_path / "1", "oracle"), run(tmp_path / "2", "keyword")
    report = export_preferences(one, tmp_path / "x.jsonl", other=two)
    assert (report.written, report.episodes) == ({"oracle": 2}, 4)
    assert export_preferences(one, tmp_path / "y.jsonl").to_json()["written"] == 0
    three = run(tmp_path / "3", "keyword", reward="sparse")
    with pytest.raises(ComparisonError):
        export_preferences(one, tmp_path / "z.jsonl", other=three)


def test_other_limits_make_another_group(tmp_path):
    one, two = run(tmp_path / "1", "oracle"), run(tmp_path / "2", "keyword", max_turns=9)
    assert export_preferences(one, tmp_path / "x.jsonl", other=two).written == {}


def test_episodes_that_failed_are_in_no_pair_and_counted(tmp_path):
    down = scripted("down", "Hello.", EndpointError("down"))
    folder = run(tmp_path / "run", down, "oracle", "keyword", seeds=(1,))
    ticked = []
    report = export_preferences(
        folder, tmp_path / "x.jsonl", progress=lambda n: lambda: ticked.append(n)
    )
    assert (report.written, report.invalid, ticked) == ({"oracle": 1}, 1, [3] * 3)
    report = regret_preferences(
        folder, tmp_path / "y.jsonl", progress=lambda n: lambda: ticked.append(n)
    )
    assert (report.invalid, len(ticked)) == (1, 6)
    assert "down" not in report.written


def test_gold_in_the_prompt_is_left_out(tmp_path):
    folder = run(tmp_path / "run", "oracle", "keyword", seeds=(1,), mode="oracle-plan")
    for export in (export_preferences, regret_preferences):
        report = export(folder, tmp_path / "x.jsonl").to_json()
        assert (report["written"], len(report["left_out"])) == (0, 2)


def test_a_regret_is_a_pair_of_the_oracles_action_and_the_agents(tmp_path):
    folder = run(tmp_path / "run", "oracle", "keyword")
    report = regret_preferences(folder, tmp_path / "x.jsonl")
    assert set(report.written) == {"keyword"}
    stored = StoredRun(folder)
    lost = [
        (found.regret, found)
        for episode in stored
        for found in stored_regrets(stored, episode).actions
        if found.regret_micro
    ]
    rows = lines(tmp_path / "x.jsonl")
    assert [row["margin"] for row in rows] == [regret for regret, _ in lost]
    for row, (_, found) in zip(rows, lost, strict=True):
        assert from_message(row["rejected"][0]).kind == found.action.kind
        assert from_message(row["chosen"][0]).text == found.best.text
        assert row["chosen"] != row["rejected"]
    few = regret_preferences(folder, tmp_path / "y.jsonl", min_margin=0.5)
    assert few.to_json()["written"] == sum(regret > 0.5 for regret, _ in lost)


def test_a_customer_that_nobody_can_play_again_has_no_regrets(tmp_path):
    class Mine(type(customer("simulated"))):
        name = "mine"

    folder = run(tmp_path / "run", "keyword", seeds=(1,), customer=Mine())
    report = regret_preferences(folder, tmp_path / "x.jsonl").to_json()
    assert (report["written"], len(report["left_out"])) == (0, 1)


def test_forks_at_hand_are_paired(tmp_path):
    start = TicketEpisode(SMALL)
    start.reset(seed=1)
    start.step("Which instance is it, please?")
    ends = []
    for actions in (["Hello.", "Hello.", "Hello."], []):
        fork = start.fork()
        for action in actions:
            fork.step(action)
        fork.play_through(reference_actions(fork.scenario))
        ends.append(fork)
    failed = start.fork()
    failed.truncate("agent_error")
    other = TicketEpisode(SMALL)
    other.reset(seed=2)
    other.step(AssistantAction("close", "Goodbye."))
    rows, report = fork_preferences([*ends, failed, other], names=("slow", "fast", "bad", "other"))
    assert (report.episodes, report.invalid, report.written) == (4, 1, {"fast": 1})
    [row] = rows
    assert row["prompt"][2]["content"] == "Which instance is it, please?"
    assert row["rejected"][0]["content"] == "Hello."
    assert row["meta"]["chosen"]["agent"] == "fast"
    assert fork_preferences(ends)[1].written == {"1": 1}
    with pytest.raises(OptionError, match="not ended"):
        fork_preferences([start])


def test_another_customer_is_no_choice_of_the_agents(tmp_path):
    """Where the customer's words differ first, the two did not stand at the same point."""

    class Curt(type(customer("simulated"))):
        name = "simulated"

        def react(self, mind, view):
            found = super().react(mind, view)
            return found._replace(action=replace(found.action, text="Well."))

    ends = []
    for who in (customer("simulated"), Curt()):
        episode = TicketEpisode(SMALL, customer=who)
        episode.reset(seed=1)
        episode.step("Which instance is it, please?")
        if ends:
            episode.step(AssistantAction("call", "", (ToolCall("", "NoSuchTool", "{}"),)))
        episode.step(AssistantAction("close", "Goodbye."))
        ends.append(episode)
    rows, report = fork_preferences(ends)
    assert (rows, report.alike) == ([], 1)
