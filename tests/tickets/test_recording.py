"""The ``[imported]`` table of a ticket file, and predicates on recorded calls."""

import json
from pathlib import Path

import pytest
import tomli_w

from cirrus_env.errors import TicketError
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.predicates import Recorded
from cirrus_env.tickets.scenario import make_scenario

FUNCTION = {"name": "find", "effect": "read", "parameters": {
    "type": "object", "properties": {"number": {"type": "integer"}}}}  # fmt: skip
CALLS = [
    {"name": "find", "arguments": {"number": 1}, "result": {"box": "a"}, "error": "", "code": ""},
    {"name": "lost", "arguments": {}, "result": {}, "error": "", "code": ""},
]
TICKET = {
    "id": "One",
    "version": 0,
    "family": "one",
    "split": "test",
    "uses": [],
    "title": "One",
    "languages": ["en"],
    "ending": "resolve",
    "variants": [{"name": "recorded"}],
    "imported": {"format": "test", "source": "x", "role": "", "functions": json.dumps([FUNCTION]),
                 "calls": json.dumps(CALLS)},
    "customer": {"mood": "recorded", "patience": 6, "opening": {"en": "Hi"},
                 "satisfied": [{"recorded": 0}]},
    "checkpoints": [{"id": "c", "kind": "diagnosis", "evidence": {"recorded": 0, "times": 2}}],
}  # fmt: skip


def ticket(imported=None, evidence=None):
    data = {**TICKET, "imported": {**TICKET["imported"], **(imported or {})}}
    if evidence is not None:
        data["checkpoints"] = [{**TICKET["checkpoints"][0], "evidence": evidence}]
    return load_ticket(tomli_w.dumps(data), file="one.toml")


def test_a_recorded_call_is_named_by_its_number():
    (checkpoint,) = make_scenario(ticket(), 0).gold.checkpoints
    assert checkpoint.evidence == Recorded("find", 'find {"number":1}', 2)


@pytest.mark.parametrize(
    "evidence",
    [{"recorded": 1}, {"recorded": 2}, {"recorded": -1}, {"recorded": True}, {"recorded": "0"},
     {"recorded": 0, "times": 0}, {"recorded": 0, "times": "2"}, {"recorded": 0, "with": {}}],
)  # fmt: skip
def test_a_number_that_names_no_offered_call_is_an_error(evidence):
    with pytest.raises(TicketError, match=r"checkpoints\[0\]"):
        ticket(evidence=evidence)


def test_a_ticket_without_a_recording_has_no_recorded_calls():
    text = (Path(__file__).parents[1] / "runner" / "small.toml").read_text()
    assert "evidence = " in text
    head, _, tail = text.partition("evidence = ")
    with pytest.raises(TicketError, match="no recorded call"):
        load_ticket(f"{head}evidence = {{ recorded = 0 }} #{tail}", file="small.toml")


@pytest.mark.parametrize(
    "imported",
    [{"functions": "["}, {"functions": "{}"}, {"functions": "[3]"}, {"functions": '[{"name": 3}]'},
     {"functions": "[{}]"}, {"calls": '[{"name": "find"}]'}, {"calls": '[{"odd": 1}]'},
     {"lookups": '[{"function": "find"}]'}, {"lookups": '[{"function": 1, "result": "a"}]'},
     {"functions": 3}, {"functions": '[{"name": "a", "effect": "odd"}]'},
     {"functions": '[{"name": "a", "parameters": {"properties": 3}}]'},
     {"functions": '[{"name": "a", "parameters": {"$ref": "file:///etc/passwd"}}]'},
     {"functions": '[{"name": "a", "parameters": {"type": "object", "pattern": "(("}}]'},
     {"calls": '[{"name": "find", "arguments": []}]'}, {"ignorable": 3}, {"worded": [3]}],
)  # fmt: skip
def test_a_table_that_holds_no_recording_is_an_error(imported):
    with pytest.raises(TicketError, match="imported"):
        ticket(imported)


@pytest.mark.parametrize(
    ("constants", "kept"),
    [({"shortest": 3, "tokens": 40}, {"shortest": 3, "tokens": 40}), ({"shortest": -1}, {}),
     ({"tokens": True, "other": 5}, {}), ({"wrong_replies": 2.5}, {}), ("text", {})],
)  # fmt: skip
def test_measured_constants_come_from_the_file(constants, kept):
    made = ticket({"constants": constants})
    assert made.constants == ({"recorded": {"en": kept}} if kept else {})
    assert make_scenario(made, 0).gold.shortest == kept.get("shortest", 0)
