"""ToolTalk conversations become tickets that validate, run, and say what was used and dropped."""

import json

import pytest
from adapter_cases import SHARED, call, close, entries, episode, play, reference

from cirrus_env.adapters.tooltalk import import_tooltalk
from cirrus_env.errors import ImportFormatError, StoreError
from cirrus_env.tickets.load import load_ticket

SAMPLES = SHARED / "tooltalk"
TOKEN = "tok-1-secret"


def turn(i, role, text, *apis):
    return {"index": i, "role": role, "text": text} | ({"apis": list(apis)} if apis else {})


def api(name, response, exception=None, **parameters):
    request = {"api_name": name, "parameters": {"session_token": TOKEN, **parameters}}
    return {"request": request, "response": response, "exception": exception}


METADATA = {
    "timestamp": "2024-02-03 09:30:00",
    "location": "Oslo",
    "username": "kim",
    "session_token": TOKEN,
}
USER = {"name": "Kim Vale", "email": "kim@example.com", "password": "open {sesame}"}
LAMP = {
    "name": "Lamp-1",
    "scenario": "The user wants lamp readings (ReadLamp) and a reset (ResetLamp).",
    "user": USER,
    "metadata": METADATA,
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
DAY = {
    "name": "Day_1",
    "user": USER,
    "metadata": METADATA,
    "conversation": [
        turn(0, "user", "What is in my calendar on Sunday?"),
        turn(
            1,
            "assistant",
            "You have one event: Chess club, at 6:30 PM.",
            api(
                "QueryCalendar",
                {"events": [{"event_id": "e2", "name": "Chess club", "event_type": "event",
                             "start_time": "2024-02-04 18:30:00", "end_time": "2024-02-04 20:00:00",
                             "location": None, "description": None, "attendees": None}]},
                start_time="2024-02-04 00:00:00",
                end_time="2024-02-04 23:59:59",
            ),
        ),
        turn(2, "user", "Wake me at 7 that day and write to bo that I will come."),
        turn(
            3,
            "assistant",
            "The alarm is set and Bo knows.",
            api("AddAlarm", {"alarm_id": "a-9"}, time="07:00:00"),
            api("SendMessage", {"message_id": "m-1"}, receiver="bo", message="I will come."),
        ),
        turn(4, "user", "Thank you."),
    ],
}  # fmt: skip
CHAT = {
    "name": "Chat-1",
    "conversation": [turn(0, "user", "Hi"), turn(1, "assistant", "Hello."), turn(2, "user", "Bye")],
}
OUT = {
    "name": "Out-1",
    "metadata": METADATA,
    "conversation": [
        turn(0, "user", "Sign me out."),
        turn(1, "assistant", "You are signed out.", api("LogoutUser", {"status": "success"})),
    ],
}
EVENTS = (
    ("e1", "Lunch", "2024-02-03 12:00:00", "2024-02-03 13:00:00"),
    ("e2", "Chess club", "2024-02-04 18:30:00", "2024-02-04 20:00:00"),
)
DATABASES = {
    "Account": {
        "kim": {"username": "kim", "email": "kim@example.com", "phone": "555-0100",
                "name": "Kim Vale", "password": "pw-secret-1", "session_token": None},
        "bo": {"username": "bo", "email": "bo@example.com", "phone": "555-0101", "name": "Bo Ek",
               "password": "pw-secret-2", "session_token": "tok-secret-2"},
    },
    "Calendar": {
        "kim": {
            id: {"event_id": id, "name": name, "event_type": "event", "start_time": start,
                 "end_time": end, "location": None, "description": None, "attendees": None}
            for id, name, start, end in EVENTS
        }
    },
    "Alarm": {"kim": {"a-1": {"alarm_id": "a-1", "time": "08:00:00"}}},
    "Weather": {
        "oslo": {
            f"2024-02-0{day}": {"date": f"2024-02-0{day}", "high": day, "low": -day,
                                "conditions": "Snow"}
            for day in (3, 4, 5, 6)
        }
    },
    "Email": {"kim": "not an object"},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "source"
    (source / "easy").mkdir(parents=True)
    (source / "databases").mkdir()
    for name, value in (("Lamp-1", LAMP), ("Chat-1", CHAT), ("Out-1", OUT), ("easy/Day_1", DAY)):
        (source / f"{name}.json").write_text(json.dumps(value))
    for name, value in DATABASES.items():
        (source / "databases" / f"{name}.json").write_text(json.dumps(value))
    (source / "databases" / "Reminder.json").write_text("[1]")
    (source / "broken.json").write_text("{")
    return source


@pytest.fixture
def found(folder, tmp_path):
    report = import_tooltalk(folder, tmp_path / "out")
    assert report.to_json()["written"] == 4
    return entries(report)


def test_the_report_says_what_was_written_used_and_dropped(found):
    assert found["Lamp-1.json"]["ticket"] == "Imported/Lamp-1-v0"
    assert any("ResetLamp" in what for what in found["Lamp-1.json"]["dropped"])
    assert "session tokens" in found["Lamp-1.json"]["dropped"]
    assert "not JSON" in found["broken.json"]["why"]
    assert "Alarm.json answers FindAlarms (1 rows)" in found["Day_1.json"]["used"]
    assert any("Reminder.json" in what for what in found["Day_1.json"]["dropped"])
    assert "signed in" in " ".join(found["Chat-1.json"]["dropped"])


def test_the_reference_succeeds_with_the_recorded_customer(found):
    for name in ("Lamp-1.json", "Day_1.json"):
        running = episode(found[name])
        assert running.info()["customer"] == "replay"
        assert reference(running) == "success"
        assert sum(record.reward_micro for record in running.records) >= 800_000


def test_the_opening_is_the_recorded_one_braces_and_all(found):
    running = episode(found["Lamp-1.json"])
    assert running.messages[-1] == {"role": "user", "content": "How warm is my {lamp}?"}


def test_all_functions_of_the_suites_are_offered_and_those_of_other_conversations(found):
    names = episode(found["Lamp-1.json"]).tool_names
    assert {"GetLamp", "ResetLamp", "UnlockLamp", "DeleteAccount", "SearchInbox"} <= set(names)
    tools = {
        tool["function"]["name"]: tool["function"] for tool in episode(found["Day_1.json"]).tools
    }
    create = tools["CreateEvent"]["parameters"]
    assert create["required"] == ["name", "event_type", "start_time", "end_time"]
    assert create["properties"]["event_type"] == {"type": "string", "enum": ["event", "meeting"]}


def test_secrets_and_the_plan_stay_out_of_the_ticket_and_the_prompt(found):
    for name in ("Lamp-1.json", "Day_1.json"):
        running = episode(found[name])
        assert "Kim Vale" in running.messages[0]["content"]
        assert "2024-02-03T09:30Z" in running.messages[0]["content"]
        text = load_ticket(running.ticket.text).text + json.dumps(running.messages)
        for secret in ("sesame", "secret", "wants lamp readings", TOKEN):
            assert secret not in text
        assert "session_token" not in json.dumps(running.tools)


def test_plain_reads_are_answered_from_the_databases(found):
    running = episode(found["Day_1.json"])
    for name, arguments, expected in (
        ("QueryUser", {"username": "bo"}, '"email":"bo@example.com"'),
        ("QueryCalendar", {"start_time": "2024-02-03 00:00:00", "end_time": "2024-02-03 23:59:59"},
         '"Lunch"'),
        ("CurrentWeather", {"location": "Oslo"}, '"high":3'),
        ("ForecastWeather", {"location": "oslo "}, '"high":6'),
        ("FindAlarms", {"start_range": "07:00:00"}, '"a-1"'),
        ("GetAccountInformation", {}, '"phone":"555-0100"'),
    ):  # fmt: skip
        step = running.step(call(name, **arguments))
        assert expected in step.delta[0]["content"]
    for name, arguments in (
        ("QueryUser", {}),
        ("CurrentWeather", {"location": "Atlantis"}),
        ("SearchInbox", {"query": "chess"}),
        ("GetReminders", {}),
    ):
        assert '"NotRecorded"' in running.step(call(name, **arguments)).delta[0]["content"]
    assert running.info()["invalid"] == 0


def test_a_table_that_the_recording_contradicts_is_not_used(folder, tmp_path):
    wrong = {"kim": {"e1": DATABASES["Calendar"]["kim"]["e1"]}}
    (folder / "databases" / "Calendar.json").write_text(json.dumps(wrong))
    entry = entries(import_tooltalk(folder, tmp_path / "out"))["Day_1.json"]
    assert "the table for QueryCalendar: the recording says otherwise" in entry["dropped"]
    asked = call("QueryCalendar", start_time="2024-02-03 00:00:00", end_time="2024-02-03 23:59:59")
    assert '"NotRecorded"' in episode(entry).step(asked).delta[0]["content"]


def test_a_call_with_other_free_text_is_the_recorded_one_and_another_time_is_not(found):
    for time, outcome in (("07:00:00", "success"), ("07:30:00", "diverged")):
        running = episode(found["Day_1.json"])
        step = play(running, [
            call("QueryCalendar", start_time="2024-02-04 00:00:00", end_time="2024-02-04 23:59:59"),
            "On Sunday there is Chess club at 18:30.",
            call("SendMessage", receiver="bo", message="I'm coming!"),
            call("AddAlarm", time=time),
            "All done.",
            close(),
        ])  # fmt: skip
        assert step.info["outcome"] == outcome


def test_a_change_that_nobody_recorded_forbids_success(found):
    running = episode(found["Day_1.json"])
    running.step(call("DeleteAlarm", alarm_id="a-1"))
    assert reference(running) == "closed_early"
    assert dict(running.outcome.assertions)["nothing_else_changed"] is False


def test_empty_arguments_match_no_recorded_call(found):
    running = episode(found["Lamp-1.json"])
    running.step("Which lamp number is it?")
    assert running.step(call("GetLamp")).info["invalid"] == 1
    step = running.step(call("GetLamp", lamp=13))
    assert '"NotRecorded"' in step.delta[0]["content"]
    assert step.info["invalid"] == 1


def test_the_recorded_customer_diverges_when_the_recording_does_not_fit(found):
    step = episode(found["Lamp-1.json"]).step("Lamps are nice.")
    assert (step.info["outcome"], step.truncated, step.info["valid"]) == ("diverged", True, 1)


def test_the_simulated_customer_takes_over_where_it_is_asked_to(found):
    running = episode(found["Lamp-1.json"], customer="replay+simulated")
    speakers = [running.info()["customer"]]
    for action in ("Lamps are nice.", "Which lamp number is it?", call("GetLamp", lamp=12),
                   "It reads 47.5 degrees."):  # fmt: skip
        step = running.step(action)
        speakers.append(step.info["customer"])
    assert speakers == ["replay", "simulated", "replay", "replay", "replay"]
    assert step.delta[-1]["content"] == "Too warm, reset it."
    step = play(running, [call("ResetLamp", lamp=12), call("UnlockLamp", lamp=12),
                          call("ResetLamp", lamp=12), "Done.", close()])  # fmt: skip
    assert step.info["outcome"] == "success"


def test_a_figure_must_be_told_and_a_wrong_one_is_not(found):
    for words, outcome in (("It reads 47.5 degrees.", ""), ("It reads 47.55 degrees.", "diverged")):
        running = episode(found["Lamp-1.json"])
        running.step("Which lamp number is it?")
        running.step(call("GetLamp", lamp=12))
        assert running.step(words).info["outcome"] == outcome


def test_a_needless_question_may_be_skipped(found):
    running = episode(found["Lamp-1.json"])
    step = play(running, [call("GetLamp", lamp=12), "It reads 47.5 degrees."])
    assert step.delta[-1]["content"] == "Too warm, reset it."
    step = play(running, [call("ResetLamp", lamp=12), call("UnlockLamp", lamp=12),
                          call("ResetLamp", lamp=12), "Done.", close()])  # fmt: skip
    assert step.info["outcome"] == "success"
    assert step.info["metrics"]["lj"] == 1


@pytest.mark.parametrize("name", ["Chat-1.json", "Out-1.json"])
def test_a_dialogue_without_evidence_is_unscored_never_passed(found, name):
    assert found[name]["scored"] is False
    assert "nothing in it proves" in found[name]["why"]
    running = episode(found[name])
    step = play(running, [call("LogoutUser"), "You are signed out.", close("Bye")])
    assert step.info["outcome"] in ("unscored", "closed_early")
    assert step.info["metrics"]["success"] is None


@pytest.mark.parametrize(
    "content",
    ["[]", "3", "{}", '{"conversation": 4}', '{"conversation": [{}]}', '{"conversation": []}',
     '{"conversation": [{"role": "user"}]}', '{"conversation": [{"role":"user","text":"\\ud800"}]}',
     '{"conversation": [{"role": "user", "text": "Hi"}]}', '{"user": 3, "conversation": []}',
     '{"conversation": [{"role": "system", "text": "Hi"}]}', "nonsense", ""],
)  # fmt: skip
def test_a_file_of_another_form_is_reported_and_writes_nothing(tmp_path, content):
    source = tmp_path / "x.json"
    source.write_text(content)
    facts = import_tooltalk(source, tmp_path / "out").to_json()
    assert (facts["written"], facts["failed"]) == (0, 1)
    assert facts["files"][0]["why"].startswith("x.json")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "api_call",
    [
        {"request": {"api_name": "Find", "parameters": {"n": float("nan")}}, "response": {}},
        {"request": {"api_name": "Find", "parameters": ["ab", "c"]}, "response": {}},
        {"request": {"api_name": "Find", "parameters": 5}, "response": {}},
        {"request": None},
    ],
)
def test_a_call_that_no_ticket_can_hold_is_reported(tmp_path, api_call):
    said = [
        {"role": "user", "text": "Find it."},
        {"role": "assistant", "text": "Here.", "apis": [api_call]},
    ]
    source = tmp_path / "odd.json"
    source.write_text(json.dumps({"name": "odd", "conversation": said}))
    entry = entries(import_tooltalk(source, tmp_path / "out"))["odd.json"]
    assert entry["ticket"] == ""
    assert entry["why"].startswith("odd.json")


def test_a_call_of_which_nothing_was_recorded_is_left_out(tmp_path):
    blank = {"request": {"api_name": "AddAlarm", "parameters": None}, "response": None}
    said = [turn(0, "user", "Wake me at 7."), turn(1, "assistant", "Done.", blank)]
    source = tmp_path / "blank.json"
    source.write_text(json.dumps({"name": "blank", "conversation": said}))
    entry = entries(import_tooltalk(source, tmp_path / "out"))["blank.json"]
    assert not entry["scored"]
    assert "a call of AddAlarm, of which nothing was recorded" in entry["dropped"]


def test_an_empty_folder_and_an_impossible_target_are_told(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportFormatError, match=r"no \.json"):
        import_tooltalk(tmp_path / "empty", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't make"):
        import_tooltalk(folder, tmp_path / "file")


def test_a_second_import_replaces_its_own_tickets_and_no_others(folder, tmp_path, found):
    own = tmp_path / "out" / "Lamp-1.toml"
    before = own.read_bytes()
    (tmp_path / "out" / "Day-1.toml").write_text("mine = true\n")
    again = entries(import_tooltalk(folder, tmp_path / "out"))
    assert own.read_bytes() == before
    assert "another file" in again["Day_1.json"]["why"]
    assert (tmp_path / "out" / "Day-1.toml").read_text() == "mine = true\n"
    assert [p.name for p in (tmp_path / "out").iterdir() if p.name.startswith(".")] == []


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the public samples are not here")
def test_the_public_conversations_import_and_their_references_succeed(tmp_path):
    facts = import_tooltalk(SAMPLES, tmp_path).to_json()
    assert (facts["written"], facts["failed"], facts["unscored"]) == (4, 0, 0)
    for entry in facts["files"]:
        assert any("answers" in what for what in entry["used"])
        assert reference(episode(entry)) == "success", entry["source"]
