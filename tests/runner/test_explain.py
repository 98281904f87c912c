"""An explanation names what was read, what passed and why, and what was missing at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cirrus_env.baselines.registry import ATTACKS
from cirrus_env.customers.protocol import Reaction
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError, OptionError
from cirrus_env.judging.judge import Assessment
from cirrus_env.judging.reward import reward_rule
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.explain import explain
from cirrus_env.runner.playback import acted_again
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.stored import StoredRun
from cirrus_env.runner.why import Past, reasons, words
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import AssistantAction, CustomerAction, ToolCall, canonical

SMALL = load_ticket(Path(__file__).with_name("small.toml"))


def call(name: str, **arguments: Any) -> AssistantAction:
    return AssistantAction("call", calls=(ToolCall("", name, canonical(arguments)),))


def script(*actions: Any) -> Agent:
    """An agent that plays these; ``{id}`` is the instance's id."""

    class Plays:
        name = "plays"

        def __init__(self, episode):
            self.id = episode.scenario.values["instance"]

        def reset(self, seed):
            self.left = list(actions)

        def act(self, observation):
            action = self.left.pop(0) if self.left else AssistantAction("close", "Goodbye.")
            if isinstance(action, str):
                return action.replace("{id}", self.id)
            kind, text, calls, *rest = (getattr(action, n) for n in action.__slots__)
            calls = tuple(
                ToolCall(c.id, c.name, c.arguments.replace("{id}", self.id)) for c in calls
            )
            return AssistantAction(kind, text, calls, *rest)

    return Agent("plays", Plays)


def explained(folder: Path, agent: Agent, ticket=SMALL, **settings) -> dict[str, Any]:
    run_jobs(jobs_for([agent], [ticket], [1]), settings=settings, folder=folder)
    run = StoredRun(folder)
    found = explain(run, run[0])
    assert json.loads(json.dumps(found)) == found
    return found


def notes(found: dict[str, Any]) -> dict[str, list[str]]:
    """Open checkpoints with what they lacked."""
    return {
        c["checkpoint"]: [reason["note"] for reason in c["evidence"] if not reason["holds"]]
        for c in found["checkpoints"]
        if c["status"] == "open"
    }


def test_the_oracles_success_has_a_reason_for_every_checkpoint(tmp_path):
    found = explained(tmp_path, find_agent("oracle"))
    assert found["reproduced"]
    assert {c["status"] for c in found["checkpoints"]} == {"passed"}
    because = {
        each["checkpoint"]: each["because"] for step in found["steps"] for each in step["passed"]
    }
    assert list(because) == [c["checkpoint"] for c in found["checkpoints"]]
    assert all(reason["holds"] for each in because.values() for reason in each)
    assert because["explain"][0]["text"] == "told cause = halted-in-guest"
    assert because["stop"][0]["note"].startswith("at ")
    assert [c["met"] for c in found["success"]] == [True] * 4
    assert found["reward"]["return_micro"] == sum(s["reward_micro"] for s in found["steps"])
    assert all(assertion["holds"] for assertion in found["assertions"])


def test_what_a_do_nothing_lacks_is_that_it_did_nothing(tmp_path):
    found = explained(tmp_path, find_agent("do-nothing"))
    assert notes(found) == {
        "ask_instance": ["never asked"],
        "see_state": ["never called"],
        "explain": ["never told"],
        "agree_stop": ["never proposed"],
        "stop": ["never called"],
        "see_stopped": ["never called"],
    }
    waits = {c["checkpoint"]: c["waits_for"] for c in found["checkpoints"]}
    assert waits["ask_instance"] == waits["see_state"] == []
    assert waits["stop"] == ["see_state", "explain", "agree_stop"]
    (flip,) = (a for a in found["assertions"] if a["assertion"] == "computing_costs_nothing")
    assert not flip["holds"]
    assert flip["because"][0]["note"].startswith("it is ")
    met = {c["text"]: (c["met"], c["note"]) for c in found["success"]}
    assert not met["every required checkpoint passed"][0]
    assert "agree_stop" in met["every required checkpoint passed"][1]


def test_a_call_too_early_or_without_consent_is_told_apart_from_none(tmp_path):
    found = explained(
        tmp_path,
        script(
            call("StopInstance", InstanceId="{id}", StoppedMode="StopCharging"),
            call("StopInstance", InstanceId="i-bp1nosuchinstance0000"),
            "We keep charging because of the standard stop mode. May I stop {id}?",
        ),
    )
    lacking = notes(found)
    assert "had no consent" in lacking["stop"][0]
    assert lacking["explain"] == ["told wrongly: kept-charging at 3"]
    assert lacking["agree_stop"] == ["proposed at 3, not agreed to"]
    assert lacking["see_state"] == ["never called"]
    judged = [v for step in found["steps"] for v in step["judged"]]
    assert {"slot": "cause", "value": "kept-charging", "right": False} in judged
    what = [e["what"] for step in found["steps"] for e in step["happened"]]
    assert "minefield" in what
    refused = [c for step in found["steps"] for c in step["calls"] if not c["ok"]]
    assert refused[0]["code"]


@pytest.fixture(scope="module")
def past(tmp_path_factory) -> Past:
    """The oracle's past on ECS-Billing's leftovers, and a cloud where it was refused twice."""
    episode = TicketEpisode(SMALL)
    episode.reset(seed=1)
    id = episode.scenario.values["instance"]
    for action in (
        call("DescribeInstances", InstanceIds=f'["{id}"]'),
        call("StartInstance", InstanceId=id),
        call("StopInstance", InstanceId=id, StoppedMode="StopCharging"),
        "Which instance is it, please?",
    ):
        episode.step(action)
    state = episode.state
    return Past(episode.scenario, state.evidence, state.cloud, state.records, 2)


@pytest.mark.parametrize(
    ("predicate", "text", "holds", "note"),
    [
        (p.State("ecs.instance", "{id}", "status", "not", "Running"),
         "status of ecs.instance {id} is not Running", True, "it is Stopp"),
        (p.State("ecs.instance", "i-0", "status", "is", "Running"),
         "status of ecs.instance i-0 is Running", False, "there is no such record"),
        (p.Exists("ecs.instance", "{id}"), "ecs.instance {id} exists", True, ""),
        (p.Absent("ecs.instance", "{id}"), "ecs.instance {id} is gone", False, ""),
        (p.Untouched("ecs.instance", "{id}"), "ecs.instance {id} is as it was", False, ""),
        (p.Measure("compute_charge_per_hour", "{id}", "at_most", 1 << 40),
         "compute_charge_per_hour of {id} <= 1099511627776", True, "it is "),
        (p.Called("DescribeInstances", returned="{id}"),
         "called DescribeInstances returning {id}", False, "too early: it counts after step 2"),
        (p.Called("StartInstance"), "called StartInstance", False, "only refused calls: "),
        (p.Called("StopInstance", {"StoppedMode": "KeepCharging"}),
         'called StopInstance with {"StoppedMode":"KeepCharging"}', False, "had no consent"),
        (p.Called("RebootInstance", not_returned="x", after="explain", before="stop"),
         "called RebootInstance not returning x after explain passed before stop passed", False,
         "never called"),
        (p.Asked("instance"), "asked for instance and answered", True, "at 5"),
        (p.Asked("nothing"), "asked for nothing and answered", False, "never asked"),
        (p.Told("ip_change"), "told ip_change = said", False, "never told"),
        (p.CustomerDid("fly"), "the customer did fly", False, "never told to"),
        (p.Recorded("DescribeInstances", "k", 2),
         "the recorded call of DescribeInstances k made again, 2 in all", False,
         "DescribeInstances was called at 1"),
        (p.Recorded("Nothing", "k"), "the recorded call of Nothing k made again, 1 in all", False,
         "never called"),
        (p.Not((p.Exists("ecs.instance", "{id}"),)), "not (ecs.instance {id} exists)", False,
         "but ecs.instance {id} exists"),
        (p.Not((p.Asked("nothing"), p.Told("cause"))),
         "not (asked for nothing and answered nor told cause = halted-in-guest)", True, ""),
        (p.AnyOf((p.Told("cause"), p.All((p.Asked("nothing"), p.Exists("x", "y"))))),
         "(told cause = halted-in-guest or (asked for nothing and answered and x y exists))", False,
         "told cause = halted-in-guest: never told; asked for nothing and answered: never asked"),
        (p.AnyOf((p.Told("cause"), p.Told("ip_change"))),
         "(told cause = halted-in-guest or told ip_change = said)", False, "never told"),
        (p.AnyOf((p.Told("cause"), p.Asked("instance"))),
         "asked for instance and answered", True, "at 5"),
    ],
)  # fmt: skip
def test_every_kind_of_evidence_has_words_and_a_reason(past, predicate, text, holds, note):
    id = past.scenario.values["instance"]
    (reason,) = reasons(_filled(predicate, id), past)
    assert reason.text == text.replace("{id}", id)
    assert reason.holds is holds
    assert note.replace("{id}", id) in reason.note
    assert bool(note) == bool(reason.note)


def _filled(value: Any, id: str) -> Any:
    """The predicate with the instance's id in it."""
    if isinstance(value, str):
        return value.replace("{id}", id)
    if isinstance(value, tuple):
        return tuple(_filled(part, id) for part in value)
    if hasattr(value, "__slots__"):
        return type(value)(*(_filled(getattr(value, name), id) for name in value.__slots__))
    return value


def test_every_predicate_of_every_bundled_ticket_has_words_and_reasons(past):
    seen = set()
    for name in ("ECS-Billing", "ECS-Locked", "ECS-Renewal", "Billing-Refund"):
        for variant in bundled(name).variants:
            episode = TicketEpisode(name)
            episode.reset(seed=0, options={"variant": variant})
            scenario, state = episode.scenario, episode.state
            here = Past(scenario, state.evidence, state.cloud, state.records)
            gold = scenario.gold
            for predicate in (
                *(c.evidence for c in gold.checkpoints),
                *(predicate for _, predicate in (*gold.must_flip, *gold.must_hold)),
            ):
                seen.add(type(predicate))
                assert words(predicate, scenario)
                found = reasons(predicate, here)
                assert all(reason.holds for reason in found) == here.holds(predicate)
    assert len(seen) >= 6


def test_an_escalations_facts_count_only_in_the_hand_over(tmp_path):
    ticket = bundled("ECS-Locked")
    run_jobs(
        jobs_for([find_agent("oracle")], [ticket], range(2), every_variant=True), folder=tmp_path
    )
    run = StoredRun(tmp_path)
    for each in run:
        found = explain(run, each)
        assert found["reproduced"]
        kinds = {c["kind"]: c for c in found["checkpoints"]}
        if "escalation" in kinds:
            assert kinds["escalation"]["status"] == "passed"
            assert {"text": "the queue is security", "met": True, "note": "security"} in found[
                "success"
            ]
    talks = explained(tmp_path / "talks", find_agent("every-cause"), ticket)
    lacking = notes(talks)
    assert any("told wrongly" in note for each in lacking.values() for note in each)


class Model:
    """A customer and judge that can't be played again: it answers differently every time."""

    name = "model"

    def __init__(self, ends: str = "") -> None:
        self.count = 0
        self.ends = ends

    def begin(self, scenario):
        return "My server costs money.", (), 0

    def react(self, mind, view):
        self.count += 1
        if self.count > 3:
            if self.ends:
                raise EndpointError(self.ends)
            return Reaction(CustomerAction("leave", "Bye."), (), mind)
        return Reaction(CustomerAction("say", f"Answer {self.count}."), (), mind, False)

    def assess(self, scenario, text, acts):
        self.count += 1
        if self.count > 5 and self.ends:
            raise EndpointError(self.ends)
        return Assessment(("cause",), (("ip_change", "x"),)) if self.count % 2 else Assessment()


@pytest.mark.parametrize("settings", [
    {"customer": Model()}, {"judge": Model()}, {"customer": Model("a"), "judge": Model()},
    {"customer": Model(), "judge": Model("b")}, {"faults": "harsh"}, {"max_turns": 2},
    {"max_chars": 60}, {"system": "Short."}, {"tools": ["DescribeInstances"]},
])  # fmt: skip
@pytest.mark.parametrize("name", ["oracle", "random"])
def test_an_episode_is_acted_again_byte_for_byte_whoever_played(tmp_path, settings, name):
    run_jobs(jobs_for([find_agent(name)], [SMALL], range(3)), settings=settings, folder=tmp_path)
    run = StoredRun(tmp_path)
    for each in run:
        assert explain(run, each)["reproduced"], each.row


@pytest.mark.parametrize("name", [*ATTACKS, "keyword", "random", "jump-oracle"])
def test_every_embedded_agents_episode_is_acted_again_byte_for_byte(tmp_path, name):
    run_jobs(jobs_for([find_agent(name)], [bundled("ECS-Billing")], [3]), folder=tmp_path)
    run = StoredRun(tmp_path)
    trajectory = run[0].trajectory
    moments = acted_again(
        trajectory, run.tickets["Cirrus/ECS-Billing-v0"], rule=reward_rule("cirrus")
    )
    for record, again, _ in moments:
        assert canonical(record.to_json()) == canonical(again.to_json())


def test_what_comes_out_otherwise_is_said(tmp_path):
    run_jobs(jobs_for([find_agent("oracle")], [SMALL], [1]), folder=tmp_path)
    run = StoredRun(tmp_path)
    stored = run[0]
    records = list(stored.trajectory.records)
    last = records[-1]
    records[-1] = last._replace(reward_micro=7)
    other = stored._replace(
        trajectory=type(stored.trajectory)(
            stored.trajectory.header, tuple(records), stored.trajectory.last
        )
    )
    assert not explain(run, other)["reproduced"]


def test_an_agents_failure_is_explained_up_to_where_it_failed(tmp_path):
    class Breaks:
        name = "breaks"

        def reset(self, seed):
            self.turn = 0

        def act(self, observation):
            self.turn += 1
            if self.turn == 2:
                raise RuntimeError("sk-canary-1")
            return "Which instance is it, please?"

    found = explained(tmp_path, Agent("breaks", lambda _: Breaks()))
    assert found["episode"]["outcome"] == "agent_error"
    assert found["steps"][-1]["does"] == "stopped"
    assert found["success"][0]["met"] is False
    assert "sk-canary-1" not in json.dumps(found)


def test_of_an_episode_that_was_never_played_nothing_is_explained(tmp_path, monkeypatch):
    def broken(*arguments, **more):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(TicketEpisode, "reset", broken)
        (row,) = run_jobs(jobs_for([find_agent("oracle")], [SMALL], [1]), folder=tmp_path)
    assert (row.outcome, row.valid) == ("backend_error", False)
    assert row.error.startswith("ZeroDivisionError at test_explain.py:")
    run = StoredRun(tmp_path)
    with pytest.raises(OptionError, match=r"episode 0 .*: nothing of it was played \(ZeroDiv"):
        explain(run, run[0])


def test_a_change_that_nobody_asked_for_is_named(tmp_path):
    found = explained(
        tmp_path,
        script(
            call("DescribeInstances"),
            call("ModifyInstanceAttribute", InstanceId="{id}", InstanceName="mine"),
            call(
                "CreateAutoSnapshotPolicy",
                timePoints='["1"]',
                repeatWeekdays='["1"]',
                retentionDays=7,
            ),
        ),
    )
    (outside,) = (a for a in found["assertions"] if a["assertion"] == "untouched_elsewhere")
    assert not outside["holds"]
    assert outside["because"][0]["text"].startswith("CreateAutoSnapshotPolicy at 3 changed ")


def test_an_unscored_ticket_is_explained_as_such(tmp_path):
    ticket = load_ticket(Path(__file__).with_name("recording.toml"))
    found = explained(tmp_path, find_agent("do-nothing"), ticket)
    assert found["success"] == [
        {"text": "evidence to judge by", "met": False, "note": "this ticket is unscored"}
    ]
    assert found["reproduced"]
