"""tau-bench trajectories: only what is known to be right gives evidence."""

import copy
import json

import pytest
from adapter_cases import SHARED, call, close, entries, episode, play, reference

from cirrus_env.adapters.taubench import import_taubench

SAMPLES = SHARED / "tau-bench"


def say(text):
    return {"role": "assistant", "content": text}


def user(text):
    return {"role": "user", "content": text}


def made(id, name, result, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "name": name, "content": result},
    ]  # fmt: skip


ACTIONS = [
    {"name": "get_booking", "kwargs": {"code": "QX71"}},
    {"name": "cancel_booking", "kwargs": {"code": "QX71"}},
]
SEAT = {
    "task_id": 4,
    "reward": 1.0,
    "trial": 0,
    "info": {"task": {"actions": ACTIONS, "outputs": ["1250"], "instruction": "You want it gone."}},
    "traj": [
        {"role": "system", "content": "Help with bookings. Today is Monday."},
        user("Please cancel my trip."),
        say("What is the booking code?"),
        user("QX71"),
        *made("a", "get_booking", '{"code": "QX71", "price": 1250}', code="QX71"),
        *made("b", "think", "", thought="It may be cancelled."),
        *made("c", "cancel_booking", "Error: confirm first", code="QX71", sure=False),
        say("It cost 1,250 dollars. Shall I cancel it?"),
        user("Yes."),
        *made("d", "cancel_booking", '{"status": "cancelled"}', code="QX71"),
        say("It is cancelled."),
        user("Thanks ###STOP###"),
    ],
}
LOST = {**copy.deepcopy(SEAT), "reward": 0.0, "trial": 1}
IDLE = {
    "task_id": 5,
    "reward": 1.0,
    "trial": 0,
    "info": {"task": {"actions": [], "outputs": []}},
    "traj": [user("Change my name."), say("I can't do that."), user("###STOP###")],
}
OTHER = {**copy.deepcopy(SEAT), "trial": 2}
OTHER["info"]["task"]["actions"] = [{"name": "cancel_booking", "kwargs": {"code": "ZZ"}}]
TRAJECTORIES = [SEAT, LOST, IDLE, OTHER]


@pytest.fixture
def found(tmp_path):
    source = tmp_path / "seats.json"
    source.write_text(json.dumps(TRAJECTORIES))
    report = import_taubench(source, tmp_path / "out")
    assert report.to_json()["written"] == 4
    return list(entries(report).values())


def test_only_a_rewarded_trajectory_is_scored(found):
    assert [entry["scored"] for entry in found] == [True, False, False, True]
    assert "reward is 0.0" in found[1]["why"]
    assert "changes nothing" in found[2]["why"]
    assert "gold actions that were not called literally" in found[3]["dropped"][-2]


def test_trials_of_one_task_are_one_family(found):
    families = {episode(entry).ticket.family for entry in found}
    assert families == {"taubench-seats-task4", "taubench-seats-task5"}


def test_gold_changes_and_outputs_are_asked_for_and_reads_are_not(found):
    running = episode(found[0])
    assert reference(running) == "success"
    running = episode(found[0])
    asked, cost = "What is the booking code?", "It cost 1250 dollars. Shall I cancel it?"
    cancel = call("cancel_booking", code="QX71")
    step = play(running, [asked, cost, cancel, "It is cancelled.", close()])
    assert step.info["outcome"] == "success"
    running = episode(found[0])
    step = play(
        running, ["What is the booking code?", call("cancel_booking", code="QX71"), close()]
    )
    assert step.info["outcome"] == "closed_early"


def test_a_recorded_failure_is_served_as_one(found):
    running = episode(found[0])
    step = running.step(call("cancel_booking", code="QX71", sure=False))
    assert "confirm first" in step.delta[0]["content"]


def test_the_task_and_the_stop_token_stay_hidden(found):
    running = episode(found[0])
    assert running.messages[0]["content"].startswith("Help with bookings.")
    assert "gone" not in json.dumps(running.messages)
    turns = running.scenario.private.recorded
    assert [turn.text for turn in turns] == ["QX71", "Yes.", "Thanks"]


@pytest.mark.parametrize(
    ("change", "why"),
    [({"traj": 3}, "not a list"), ({"task_id": None}, "task_id"), ({"traj": [3]}, "not an object"),
     ({"info": {"task": {"actions": [3]}}}, "actions"), ({"traj": []}, "says nothing")],
)  # fmt: skip
def test_what_is_no_trajectory_is_reported_with_its_place(tmp_path, change, why):
    source = tmp_path / "one.json"
    source.write_text(json.dumps([{**SEAT, **change}]))
    (entry,) = entries(import_taubench(source, tmp_path / "out")).values()
    assert entry["why"].startswith("one.json[0]")
    assert why in entry["why"]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the public samples are not here")
def test_the_public_trajectories_import_and_the_rewarded_ones_succeed(tmp_path):
    facts = import_taubench(SAMPLES, tmp_path).to_json()
    assert (facts["written"], facts["failed"], facts["unscored"]) == (12, 0, 10)
    for entry in facts["files"]:
        outcome = reference(episode(entry))
        assert outcome == ("success" if entry["scored"] else "unscored")
