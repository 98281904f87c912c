"""ToolTalk conversations become tickets that validate, run, and say what was dropped."""

import json
from pathlib import Path

import pytest

from cirrus_env.adapters.tooltalk import import_tooltalk
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.errors import ImportFormatError, StoreError
from cirrus_env.tickets.load import load_ticket

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples" / "tooltalk"


def turn(i, role, text, *apis):
    return {"index": i, "role": role, "text": text} | ({"apis": list(apis)} if apis else {})


def api(name, response, exception=None, **parameters):
    request = {"api_name": name, "parameters": {"session_token": "tok-1", **parameters}}
    return {"request": request, "response": response, "exception": exception}


LAMP = {
    "name": "Lamp-1",
    "scenario": "The user wants lamp readings (ReadLamp) and a reset (ResetLamp).",
    "user": {"name": "Kim Vale", "email": "kim@example.com", "password": "open {sesame}"},
    "metadata": {
        "timestamp": "2024-02-03 09:30:00",
        "location": "Oslo",
        "username": "kim",
        "session_token": "tok-1",
    },
    "conversation": [
        turn(0, "user", "How warm is my {lamp}?"),
        turn(1, "assistant", "Sure, which lamp number is it?"),
        turn(2, "user", "Number 12"),
        turn(3, "assistant", "It reads 47.5 degrees.", api("GetLamp", {"warmth": "47.5"}, lamp=12)),
        turn(4, "user", "Too warm, reset it."),
        turn(
            5,
            "assistant",
            "Done.",
            api("ResetLamp", None, "The lamp is locked.", lamp=12),
            api("UnlockLamp", {"ok": True}, lamp=12),
            api("ResetLamp", {"ok": True}, lamp=12, message="cool down"),
        ),
        turn(6, "user", "Thanks!"),
    ],
}
CHAT = {
    "name": "Chat-1",
    "conversation": [turn(0, "user", "Hi"), turn(1, "assistant", "Hello."), turn(2, "user", "Bye")],
}


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "Lamp-1.json").write_text(json.dumps(LAMP))
    (source / "Chat-1.json").write_text(json.dumps(CHAT))
    (source / "broken.json").write_text("{")
    return source


@pytest.fixture
def report(folder, tmp_path):
    return import_tooltalk(folder, tmp_path / "out")


def lamp(tmp_path) -> TicketEpisode:
    return TicketEpisode(load_ticket(tmp_path / "out" / "Lamp-1.toml"))


def play(episode, actions):
    for action in actions:
        step = episode.step(action)
        if step.terminated or step.truncated:
            return step
    raise AssertionError("the episode goes on")


def call(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": function}]}


def test_the_report_says_what_was_written_and_what_was_dropped(report):
    facts = report.to_json()
    assert (facts["written"], facts["failed"], facts["unscored"]) == (2, 1, 1)
    by_name = {entry["source"]: entry for entry in facts["files"]}
    assert by_name["Lamp-1.json"]["ticket"] == "Imported/Lamp-1-v0"
    assert any("ResetLamp" in d for d in by_name["Lamp-1.json"]["dropped"])
    assert "not a ToolTalk conversation" in by_name["broken.json"]["dropped"][0]
    assert by_name["Chat-1.json"]["scored"] is False


def test_the_reference_succeeds_with_the_recorded_customer(report, tmp_path):
    episode = lamp(tmp_path)
    messages, info = episode.reset(seed=1)
    assert info["customer"] == "replay"
    assert messages[-1] == {"role": "user", "content": "How warm is my {lamp}?"}
    step = play(episode, reference_actions(episode.scenario))
    assert (step.info["outcome"], step.terminated) == ("success", True)


def test_functions_of_other_conversations_are_offered_too(report, tmp_path):
    episode = lamp(tmp_path)
    episode.reset(seed=1)
    assert episode.tool_names == ("GetLamp", "ResetLamp", "UnlockLamp")
    assert "session_token" not in episode.tools[0]["function"]["parameters"]["required"]


def test_secrets_and_the_plan_stay_out_of_the_prompt(report, tmp_path):
    episode = lamp(tmp_path)
    messages, _ = episode.reset(seed=1)
    assert "Kim Vale" in messages[0]["content"]
    assert "2024-02-03T09:30Z" in messages[0]["content"]
    assert "sesame" not in json.dumps(messages)
    assert "wants lamp readings" not in json.dumps(messages)


def test_empty_arguments_match_no_recorded_call(report, tmp_path):
    episode = lamp(tmp_path)
    episode.reset(seed=1)
    episode.step("Which lamp number is it?")
    step = episode.step(call("GetLamp"))
    assert step.info["invalid"] == 1
    step = episode.step(call("GetLamp", lamp=13))
    assert '"NotRecorded"' in step.delta[0]["content"]
    assert step.info["invalid"] == 1


def test_the_recorded_customer_diverges_when_its_question_was_not_asked(report, tmp_path):
    episode = lamp(tmp_path)
    episode.reset(seed=1)
    step = episode.step("Lamps are nice.")
    assert (step.info["outcome"], step.truncated, step.info["valid"]) == ("diverged", True, 1)


def test_a_figure_must_be_told_and_a_wrong_one_is_not(report, tmp_path):
    for words, outcome in (("It reads 47.5 degrees.", ""), ("It reads 46 degrees.", "diverged")):
        episode = lamp(tmp_path)
        episode.reset(seed=1)
        episode.step("Which lamp number is it?")
        episode.step(call("GetLamp", lamp=12))
        assert episode.step(words).info["outcome"] == outcome


def test_a_dialogue_without_evidence_is_unscored_never_passed(report, tmp_path):
    episode = TicketEpisode(load_ticket(tmp_path / "out" / "Chat-1.toml"))
    episode.reset(seed=1)
    step = episode.step("Hello.")
    assert step.info["outcome"] == ""
    step = episode.step({"role": "assistant", "tool_calls": [
        {"function": {"name": "close_ticket", "arguments": '{"message": "Bye"}'}}]})  # fmt: skip
    assert step.info["outcome"] == "unscored"
    assert step.info["metrics"]["success"] is None


@pytest.mark.parametrize(
    "call",
    [
        {"request": {"api_name": "Find", "parameters": {"n": float("nan")}}, "response": {}},
        {"request": {"api_name": "Find", "parameters": ["ab", "c"]}, "response": {}},
        {"request": {"api_name": "Find", "parameters": 5}, "response": {}},
        {"request": None},
    ],
)
def test_a_call_that_no_ticket_can_hold_is_reported(tmp_path, call):
    said = [
        {"role": "user", "text": "Find it."},
        {"role": "assistant", "text": "Here.", "apis": [call]},
    ]
    source = tmp_path / "odd.json"
    source.write_text(json.dumps({"name": "odd", "conversation": said}))
    entry = import_tooltalk(source, tmp_path / "out").to_json()["files"][0]
    assert (entry["ticket"], len(entry["dropped"])) == ("", 1)


@pytest.mark.parametrize(
    "content",
    ["[]", "3", "{}", '{"conversation": 4}', '{"conversation": [{}]}', '{"conversation": []}',
     '{"conversation": [{"role": "user"}]}', '{"conversation": [{"role":"user","text":"\\ud800"}]}',
     "nonsense", ""],
)  # fmt: skip
def test_a_file_of_another_form_is_reported_and_writes_nothing(tmp_path, content):
    source = tmp_path / "x.json"
    source.write_text(content)
    facts = import_tooltalk(source, tmp_path / "out").to_json()
    assert (facts["written"], facts["failed"]) == (0, 1)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_empty_folder_and_an_impossible_target_are_told(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportFormatError, match=r"no \.json"):
        import_tooltalk(tmp_path / "empty", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't make"):
        import_tooltalk(folder, tmp_path / "file")


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the public samples are not here")
def test_the_public_conversations_import_and_their_references_succeed(tmp_path):
    facts = import_tooltalk(SAMPLES, tmp_path).to_json()
    assert (facts["written"], facts["failed"]) == (4, 0)
    for entry in facts["files"]:
        episode = TicketEpisode(load_ticket(Path(entry["path"])))
        episode.reset(seed=0)
        step = play(episode, reference_actions(episode.scenario))
        assert step.info["outcome"] == "success", entry["source"]
