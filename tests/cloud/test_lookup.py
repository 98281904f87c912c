"""Tables that came with a recording answer plain reads, and only those that they can."""

import json

import pytest

from cirrus_env.cloud.lookup import Condition, Lookup, Row
from cirrus_env.cloud.recorded import (
    UNRECORDED_WRITES,
    RecordedCall,
    RecordedCloud,
    Recording,
    worded,
)

MAILS = tuple(
    Row({"id": id, "date": date, "sender": sender, "subject": subject}, {})
    for id, date, sender, subject in (
        ("m1", "2024-05-01 09:00:00", "a@example.com", "Lunch on Monday"),
        ("m2", "2024-05-02 09:00:00", "b@example.com", "Monday report"),
        ("m3", "2024-05-03 09:00:00", "a@example.com", "Holiday"),
    )
)
SEARCH = Lookup(
    "SearchMail",
    "mails",
    MAILS,
    where=(
        Condition("query", ("subject",), "words"),
        Condition("sender", ("sender",)),
        Condition("since", ("date",), "at_least", "moment"),
        Condition("until", ("date",), "at_most", "moment"),
    ),
    some=("query", "sender", "since", "until"),
    latest=("date", 2),
    stale=("DropMail",),
)
WEATHER = Lookup(
    "Weather",
    "weather",
    (Row({"high": 20}, {"place": "Oslo"}), Row({"high": 30}, {"place": "Rome"})),
    where=(Condition("place", ("place",), "folded"),),
    one=True,
    alone=("place",),
)


def ids(arguments):
    answer = SEARCH.answer(arguments)
    return None if answer is None else [mail["id"] for mail in answer["mails"]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"query": "monday"}, ["m2", "m1"]),
        ({"query": "monday holiday"}, ["m3", "m2"]),
        ({"query": "monday report", "match_type": "all"}, ["m2"]),
        ({"sender": "a@example.com", "until": "2024-05-02 00:00:00"}, ["m1"]),
        ({"since": "2024-06-01 00:00:00"}, []),
        ({"sender": "a@example.com", "query": None}, ["m3", "m1"]),
    ],
)
def test_rows_that_pass_every_test_are_given_back_latest_first(arguments, expected):
    assert ids(arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": None}, {"query": "  "}, {"since": "2 May"}, {"sender": 3}, {"folder": "x"}],
)
def test_what_the_table_cannot_say_it_does_not_say(arguments):
    assert ids(arguments) is None


def test_one_row_is_found_by_its_key_or_there_is_no_answer():
    assert WEATHER.answer({"place": " OSLO "}) == {"weather": {"high": 20}}
    assert WEATHER.answer({"place": "Paris"}) is None


def test_a_lookup_survives_json():
    for lookup in (SEARCH, WEATHER):
        assert Lookup.from_json(json.loads(json.dumps(lookup.to_json()))) == lookup


@pytest.mark.parametrize(
    "change",
    [{"function": 3}, {"rows": [{}]}, {"where": [{"argument": "a", "fields": ["b"], "test": "no"}]},
     {"where": [{"argument": "a", "fields": ["b"], "form": "no"}]}, {"latest": "x"}],
)  # fmt: skip
def test_other_data_is_no_lookup(change):
    with pytest.raises((KeyError, TypeError, ValueError, IndexError)):
        Lookup.from_json({**SEARCH.to_json(), **change})


def function(name, effect, *arguments):
    properties = {argument: {"type": ["string", "null"]} for argument in arguments}
    return {"name": name, "effect": effect, "parameters": {
        "type": "object", "properties": properties, "additionalProperties": False}}  # fmt: skip


@pytest.fixture
def cloud():
    functions = [
        function("SearchMail", "read", "query", "sender", "since", "until", "match_type"),
        function("DropMail", "write", "id"),
        function("SendMail", "write", "to", "title"),
    ]
    calls = [
        RecordedCall("SearchMail", {"query": "lunch"}, {"mails": ["recorded"]}),
        RecordedCall("SearchMail", {"query": "all"}, {"mails": ["before"]}),
        RecordedCall("DropMail", {"id": "m1"}, {"ok": True}),
        RecordedCall("SearchMail", {"query": "all"}, {"mails": ["after"]}),
        RecordedCall("SendMail", {"to": "a", "title": "The party, on Monday!"}, {"ok": True}),
    ]
    recording = Recording.of(functions, calls, worded=("title",), lookups=(SEARCH,))
    return RecordedCloud(recording, "acct", 0)


def test_a_recorded_read_comes_first_and_the_table_answers_the_rest(cloud):
    assert cloud.call("SearchMail", {"query": "lunch"}).result == {"mails": ["recorded"]}
    assert cloud.call("SearchMail", {"query": "holiday"}).result["mails"][0]["id"] == "m3"
    assert cloud.call("SearchMail", {}).code == "NotRecorded"


def test_a_table_is_silent_once_the_world_has_changed(cloud):
    cloud.call("DropMail", {"id": "m1"})
    assert cloud.call("SearchMail", {"query": "holiday"}).code == "NotRecorded"


def test_a_read_shows_a_recorded_change_only_when_it_was_made(cloud):
    seen = [cloud.call("SearchMail", {"query": "all"}).result["mails"] for _ in range(2)]
    cloud.call("DropMail", {"id": "m1"})
    seen.append(cloud.call("SearchMail", {"query": "all"}).result["mails"])
    assert seen == [["before"], ["before"], ["after"]]


def test_free_wording_counts_by_its_words_and_null_is_left_out(cloud):
    assert worded("The party, on Monday!") == "party monday"
    assert worded("?!") == "?!"
    assert cloud.call("SendMail", {"to": "a", "title": "party at Sunday"}).code == "NotRecorded"
    assert cloud.call("SendMail", {"to": "a", "title": "Party on monday"}).ok
    assert cloud.call("SearchMail", {"query": "lunch", "sender": None}).result == {
        "mails": ["recorded"]
    }


def test_only_well_formed_unrecorded_changes_are_counted(cloud):
    cloud.call("SearchMail", {"query": "nothing"})
    cloud.call("DropMail", {"id": 3})
    assert cloud.measure(UNRECORDED_WRITES, "acct") == 0
    cloud.call("DropMail", {"id": "m2"})
    fork = cloud.fork()
    fork.call("SendMail", {"to": "b"})
    assert (cloud.measure(UNRECORDED_WRITES, ""), fork.measure(UNRECORDED_WRITES, "")) == (1, 2)
