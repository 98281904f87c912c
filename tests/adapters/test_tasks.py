"""Numbered tasks: what an index means, and what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.envs.registration import pools
from cirrus_env.errors import CirrusError, OptionError, UnknownTicket
from cirrus_env.tickets.load import bundled

TASKS = Tasks(seeds=5, first_seed=40)


def test_the_splits_are_the_pools_in_their_order():
    assert TASKS.splits == ("train", "test")
    for split in TASKS.splits:
        names = [ticket.id for ticket in TASKS.members(split)]
        assert names == pools()[f"Cirrus/{split.capitalize()}-v0"]
        assert {ticket.split for ticket in TASKS.members(split)} == {split}


def test_every_ticket_comes_once_before_any_comes_twice():
    count = len(TASKS.members("test"))
    assert TASKS.count("test") == 5 * count
    first, again = TASKS.get("test", 0), TASKS.get("test", count)
    assert first.ticket is again.ticket
    assert (first.seed, again.seed) == (40, 41)
    assert len({task.id for task in TASKS.span("test")}) == 5 * count


@given(st.integers(0, 5 * len(TASKS.members("train")) - 1))
def test_a_task_says_itself_where_it_stands(index):
    task = TASKS.get("train", index)
    told = task.to_json()
    assert json.loads(json.dumps(told)) == told
    assert told["index"] == index
    assert told["id"] == f"{told['ticket']}:{told['seed']}"
    assert bundled(told["ticket"]) == task.ticket


@given(
    st.none() | st.integers(-40, 40),
    st.none() | st.integers(-40, 40),
)
def test_a_range_is_a_slice(start, stop):
    whole = list(TASKS.span("test"))
    assert list(TASKS.span("test", start, stop)) == whole[start:stop]


@pytest.mark.parametrize("index", [-1, 20, 10**30, True, "0", 1.0, None])
def test_an_index_outside_is_refused(index):
    with pytest.raises(IndexError):
        TASKS.get("test", index)


@pytest.mark.parametrize("split", ["", "Train", "validation", None, 3, ["train"]])
def test_an_unknown_split_is_refused(split):
    for ask in (TASKS.count, TASKS.members, lambda each: TASKS.get(each, 0)):
        with pytest.raises(IndexError, match="split"):
            ask(split)


def test_a_ticket_is_found_by_name_in_any_split_or_in_one():
    assert TASKS.find("ECS-Billing") is TASKS.find("Cirrus/ECS-Billing-v0", "train")
    with pytest.raises(OptionError, match="no ticket"):
        TASKS.find("ECS-Billing", "test")
    with pytest.raises(OptionError, match="no ticket"):
        TASKS.find("ECS-Biling")


def test_splits_of_ones_own():
    mine = Tasks({"mine": ["ECS-Billing", bundled("VPC-Nat")]}, seeds=1)
    assert [task.ticket.id for task in mine.span("mine")] == ["ECS-Billing", "VPC-Nat"]


@pytest.mark.parametrize(
    "arguments",
    [{"seeds": 0}, {"seeds": True}, {"seeds": 1.5}, {"first_seed": -1}, {"first_seed": "0"}],
)
def test_numbers_that_are_none_are_refused(arguments):
    with pytest.raises(OptionError):
        Tasks(**arguments)


@pytest.mark.parametrize("splits", [{}, {"train": []}])
def test_a_split_without_tickets_is_refused(splits):
    with pytest.raises(OptionError, match="at least one"):
        Tasks(splits)


def test_an_unknown_ticket_is_named():
    with pytest.raises(UnknownTicket, match="ECS-Billing"):
        Tasks({"mine": ["ECS-Biling"]}).members("mine")


def test_a_missing_extra_is_both_a_failed_import_and_an_error_of_ours():
    error = MissingExtra("openenv", ImportError("no", name="uvicorn"))
    assert isinstance(error, ImportError)
    assert isinstance(error, CirrusError)
    assert str(error) == 'uvicorn is missing: pip install "cirrus-env[openenv]"'
