"""The recorded backend serves what was recorded and nothing else."""

from __future__ import annotations

import copy
import pickle

import pytest

from cirrus_env.cloud.recorded import RecordedCall, RecordedCloud, Recording

FUNCTIONS = [
    {
        "name": "SearchInbox",
        "description": "Search mails.",
        "parameters": {
            "type": "object",
            "properties": {
                "session_token": {"type": "string"},
                "query": {"type": "string"},
                "limit": {"type": "integer", "default": 10},
                "unread": {"type": "boolean"},
            },
        },
    },
    {
        "name": "AddAlarm",
        "effect": "write",
        "parameters": {
            "type": "object",
            "properties": {"time": {"type": "string"}},
            "required": ["time"],
            "additionalProperties": False,
        },
    },
]
CALLS = [
    RecordedCall("SearchInbox", {"query": "flight", "session_token": "one"}, {"emails": [1]}),
    RecordedCall("SearchInbox", {"query": "flight", "session_token": "two"}, {"emails": [1, 2]}),
    RecordedCall("SearchInbox", {"limit": 10}, {"emails": []}),
    RecordedCall("SearchInbox", {"unread": True}, ["only", "unread"]),
    RecordedCall("AddAlarm", {"time": "16:00"}, None, "The clock is broken."),
    RecordedCall("AddAlarm", {"time": "16:00"}, {"alarm_id": "a"}),
    RecordedCall("AddAlarm", {"at": "soon"}, None, "time is missing", "TypeError"),
    RecordedCall("Unknown", {}, {}),
]


@pytest.fixture
def cloud() -> RecordedCloud:
    return RecordedCloud(Recording.of(FUNCTIONS, CALLS, ["session_token"]), "acct", 1_796_025_600)


def test_equal_calls_are_served_in_their_order_and_the_last_read_again(cloud):
    seen = [cloud.call("SearchInbox", {"query": "flight"}).result["emails"] for _ in range(4)]
    assert seen == [[1], [1, 2], [1, 2], [1, 2]]


def test_a_recorded_failure_is_served_as_one_and_the_next_call_succeeds(cloud):
    first, second = (cloud.call("AddAlarm", {"time": "16:00"}) for _ in range(2))
    assert (first.ok, first.code, first.result["Message"]) == (
        False, "RecordedError", "The clock is broken.",
    )  # fmt: skip
    assert second.ok
    assert second.result == {"alarm_id": "a"}


def test_a_change_is_not_served_more_often_than_it_was_recorded(cloud):
    results = [cloud.call("AddAlarm", {"time": "16:00"}) for _ in range(3)]
    assert results[2].code == "NotRecorded"
    assert results[2].result["HttpStatus"] == 404


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "flights"},
        {"query": "flight", "limit": 5},
        {"query": "flight", "unread": False},
        {"session_token": "one"},
    ],
)
def test_any_difference_is_not_recorded(cloud, arguments):
    result = cloud.call("SearchInbox", arguments)
    assert result.code == "NotRecorded"
    assert not result.ok


def test_no_arguments_never_match_some_even_if_those_are_defaults(cloud):
    assert cloud.call("SearchInbox", {}).code == "NotRecorded"
    assert cloud.call("SearchInbox", {"limit": 10.0}).ok


def test_ignorable_arguments_and_defaults_do_not_count(cloud):
    asked = {"query": "flight", "limit": 10, "session_token": "other"}
    assert cloud.call("SearchInbox", asked).ok


@pytest.mark.parametrize("value", [1, "true", None, 1.0])
def test_true_is_nothing_but_true(cloud, value):
    assert cloud.call("SearchInbox", {"unread": value}).code == "InvalidParameter"
    assert cloud.call("SearchInbox", {"unread": True}).result == {"result": ["only", "unread"]}


def test_wrong_arguments_are_told_so_unless_they_were_recorded(cloud):
    assert cloud.call("AddAlarm", {}).code == "MissingParameter"
    assert cloud.call("AddAlarm", {"at": "soon"}).code == "TypeError"
    assert cloud.call("AddAlarm", {"at": "late"}).code in ("MissingParameter", "InvalidParameter")


@pytest.mark.parametrize("arguments", [None, [], "x", {1: 2}, {"time": {1, 2}}, {"time": "\ud800"}])
def test_what_is_no_json_object_is_refused(cloud, arguments):
    assert cloud.call("AddAlarm", arguments).code in ("InvalidParameter", "MissingParameter")


def test_unknown_functions_and_other_actors_are_refused(cloud):
    assert cloud.call("Unknown", {}).code == "InvalidAction.NotFound"
    refused = cloud.call("SearchInbox", {"query": "flight"}, "customer")
    assert refused.code == "InvalidAction.NotFound"


def test_snapshots_forks_copies_and_pickles_remember_what_was_served(cloud):
    mark = cloud.snapshot()
    cloud.call("SearchInbox", {"query": "flight"})
    fork = cloud.fork()
    twins = [fork, copy.deepcopy(cloud), pickle.loads(pickle.dumps(cloud))]
    for twin in twins:
        assert isinstance(twin, RecordedCloud)
        assert twin.dump() == cloud.dump()
        assert twin.call("SearchInbox", {"query": "flight"}).result == {"emails": [1, 2]}
    cloud.restore(mark)
    assert cloud.call("SearchInbox", {"query": "flight"}).result == {"emails": [1]}


def test_it_has_the_surface_of_a_cloud(cloud):
    cloud.advance(3600)
    assert cloud.now == 1_796_029_200
    assert cloud.find("ecs.instance", "i-1") is None
    assert dict(cloud.records("ecs.instance")) == {}
    assert list(cloud.audit) == []
    assert cloud.catalogue.operations["AddAlarm"].effect == "write"
