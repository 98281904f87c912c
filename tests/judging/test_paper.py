"""The paper's arithmetic, strict and as published, by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.model import Operation, Service
from cirrus_env.errors import OptionError
from cirrus_env.judging.matching import (
    Canonical,
    PaperCall,
    distinct,
    equal,
    exactly_matched,
    names_matched,
)
from cirrus_env.judging.paper import (
    Attempt,
    PaperTicket,
    PaperTurn,
    Score,
    nei_paper,
    paper_scores,
    tpr_paper,
)
from cirrus_env.judging.paper_turns import paper_ticket, split_turns
from cirrus_env.wire import Act, Event
from tests.judging.builders import CHAIN, assistant, called, customer, mine, passed

LOOK, LOOK_2 = PaperCall("Look", {"Id": "i-1"}), PaperCall("Look", {"Id": "i-2"})
STOP = PaperCall("Stop", {"Id": "i-1"})
FAILED = PaperCall("Stop", {"Id": "i-1"}, ok=False)
EMPTY = PaperCall("Look", {})

STRICT = {
    "TIA", "TIA_precision", "TIA_recall", "TSA", "TSA_precision", "TEV", "TEV_precision", "RR",
    "SR@1", "SR@2", "TPR", "NEI", "AMTL",
}  # fmt: skip
PUBLISHED = {
    f"{name}_paper" for name in ("TIA", "TSA", "TEV", "RR", "SR@1", "SR@2", "TPR", "NEI", "AMTL")
}


def turn(reference=(), *attempts, says=False):
    return PaperTurn(tuple(reference), says, attempts or (Attempt(),))


def ticket(*turns, checkpoints=(), tools=True, id="t"):
    return PaperTicket(id, tuple(checkpoints), turns, tools)


def made(*calls, **more):
    return Attempt(calls=calls, **more)


def scores(*tickets):
    return {name: score.value for name, score in paper_scores(tickets).items()}


def test_nothing_is_one_on_an_empty_set():
    got = paper_scores([])
    assert set(got) == STRICT | PUBLISHED
    assert set(got.values()) == {Score(None, 0)}
    empty = scores(ticket(turn()))
    assert {name for name, value in empty.items() if value is not None} == {
        "AMTL", "AMTL_paper", "TIA_paper",
    }  # fmt: skip
    assert empty["TIA_paper"] == 0.0


def test_invocation_is_f1_over_turns():
    got = scores(
        ticket(
            turn([LOOK], made(LOOK)),  # needed and made
            turn([LOOK], made(FAILED)),  # needed, only a failed call
            turn([], made(STOP)),  # not needed, made
            turn([], made()),
        )
    )
    assert (got["TIA_precision"], got["TIA_recall"], got["TIA"]) == (0.5, 0.5, 0.5)


def test_selection_and_execution_match_one_to_one():
    got = scores(ticket(turn([LOOK, LOOK_2, STOP], made(LOOK, PaperCall("Look", {"Id": "i-3"})))))
    assert (got["TSA"], got["TSA_precision"]) == (2 / 3, 1.0)
    assert (got["TEV"], got["TEV_precision"]) == (1 / 3, 0.5)


def test_one_call_answers_one_reference_call_but_all_of_them_in_the_paper():
    got = scores(ticket(turn([LOOK, LOOK_2], made(LOOK))))
    assert (got["TSA"], got["TSA_paper"]) == (0.5, 1.0)
    assert (got["TEV"], got["TEV_paper"]) == (0.5, 0.5)


def test_published_invocation_is_the_share_of_tool_tickets_with_a_call():
    got = scores(
        ticket(turn([LOOK], made()), turn([], made(STOP)), id="a"),
        ticket(turn([LOOK], made()), id="b"),
        ticket(turn(), id="c", tools=False),
    )
    assert got["TIA_paper"] == 0.5


def test_published_execution_compares_what_was_written():
    got = scores(ticket(turn([STOP], made(PaperCall("Stop", {"Id": "i-1", "ClientToken": "x"})))))
    assert (got["TEV"], got["TEV_paper"]) == (1.0, 0.0)


def test_replies_carry_the_evidence():
    got = scores(
        ticket(
            turn([], made(carries=True, included=True), says=True),
            turn([], made(included=False), made(carries=True, included=True), says=True),
            turn([], made()),
        )
    )
    assert (got["RR"], got["RR_paper"]) == (0.5, 2 / 3)


ALL = ("ask", "see", "calm", "say", "act")


def test_success_within_attempts():
    first = ticket(turn([], made(passed=ALL)), checkpoints=CHAIN, id="a")
    second = ticket(
        turn([], made(passed=("ask", "see")), made(passed=ALL)), checkpoints=CHAIN, id="b"
    )
    got = scores(first, second)
    assert (got["SR@1"], got["SR@2"]) == (0.5, 1.0)
    assert (got["SR@1_paper"], got["SR@2_paper"]) == (0.5, 1.0)


def test_the_published_second_attempt_looks_at_the_last_checkpoint_only():
    got = scores(ticket(turn([], made(), made(passed=("act",))), checkpoints=CHAIN))
    assert (got["SR@2"], got["SR@2_paper"]) == (0.0, 1.0)


def test_violations_of_any_attempt_count():
    bad = ticket(turn([], made(passed=ALL), made(violations=1)), checkpoints=CHAIN)
    got = scores(bad)
    assert (got["SR@1"], got["SR@2"], got["SR@1_paper"]) == (1.0, 0.0, 1.0)


def test_progress_and_jumps():
    got = scores(ticket(turn([], made(passed=("see", "act"))), checkpoints=CHAIN))
    # Passed see and act, jumped ask and calm; say is missing.
    assert (got["TPR"], got["NEI"]) == (4 / 5, 2 / 3)
    assert (got["TPR_paper"], got["NEI_paper"]) == (3 / 5, 2 / 3)
    one = scores(ticket(turn([], made(passed=("ask",))), checkpoints=CHAIN))
    assert (one["TPR"], one["NEI"], one["NEI_paper"]) == (1 / 5, None, 1.0)


def test_published_formulas():
    assert tpr_paper([True, False, True]) == Fraction(1, 3)
    assert tpr_paper([]) is None
    assert [nei_paper(0, 0), nei_paper(1, 0), nei_paper(3, 1)] == [0, 1, Fraction(1, 2)]


def test_turn_length_by_ticket_and_pooled():
    a = ticket(turn([], made(tokens=10)), turn([], made(tokens=30)), id="a")
    b = ticket(turn([], made(tokens=50), made(tokens=110)), id="b")
    got = scores(a, b)
    assert (got["AMTL"], got["AMTL_paper"]) == (35.0, 50.0)
    assert scores(ticket())["AMTL"] is None


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (PaperTicket("t", (), (PaperTurn((), False, ()),)), "no attempt"),
        (ticket(turn([], made(passed=("zzz",))), checkpoints=CHAIN), "unknown 'zzz'"),
    ],
)
def test_what_cannot_be_scored_is_refused(bad, message):
    with pytest.raises(OptionError, match=message):
        paper_scores([bad])


# -- matching --------------------------------------------------------------------------------

CALLS = st.builds(
    PaperCall,
    st.sampled_from(["Look", "Stop"]),
    st.sampled_from([{}, {"Id": "i-1"}, {"Id": "i-2"}]),
    st.booleans(),
)
JUNK = st.one_of(
    st.builds(PaperCall, st.sampled_from(["Look", "Stop"]), st.just({"Id": "i-1"}), st.just(False)),
    st.builds(PaperCall, st.sampled_from(["Look", "Stop"]), st.just({})),
)
WANTED = st.builds(
    PaperCall, st.sampled_from(["Look", "Stop"]), st.sampled_from([{"Id": "i-1"}, {"Id": "i-2"}])
)


@given(st.lists(WANTED, max_size=4), st.lists(CALLS, max_size=4), JUNK, st.data())
def test_junk_calls_never_help(reference, calls, junk, data):
    copied = [call for call in calls if call.ok]
    extra = data.draw(st.sampled_from([junk, *copied]))
    before = scores(ticket(turn(reference, made(*calls))))
    after = scores(ticket(turn(reference, made(*calls, extra))))
    for name in STRICT | PUBLISHED:
        assert (after[name] or 0) <= (before[name] or 0), name


@given(st.lists(WANTED, max_size=4), st.lists(CALLS, max_size=6))
def test_scores_lie_in_the_unit_interval(reference, calls):
    for name, value in scores(ticket(turn(reference, made(*calls)))).items():
        assert value is None or 0 <= value <= 1 or name.startswith("AMTL")


def test_empty_arguments_match_empty_arguments_only():
    assert names_matched([EMPTY], [LOOK]) == 0
    assert names_matched([EMPTY, LOOK], [EMPTY, LOOK_2]) == 2
    assert names_matched([LOOK], [EMPTY]) == 1
    got = scores(ticket(turn([EMPTY], made(EMPTY))))
    assert (got["TIA"], got["TSA"], got["TEV"], got["TEV_paper"]) == (1.0, 1.0, 1.0, 1.0)


def test_a_failed_call_does_not_hide_its_success():
    how = Canonical()
    assert distinct([FAILED, STOP, STOP, FAILED], how) == [FAILED, STOP]


def test_true_is_not_one():
    assert not equal(PaperCall("Stop", {"Force": True}), PaperCall("Stop", {"Force": 1}))


def test_arguments_are_compared_in_the_schemas_canonical_form():
    schema = {
        "type": "object",
        "properties": {"Force": {"type": "boolean", "default": False}, "N": {"type": "integer"}},
    }
    operation = Operation("Stop", "", "write", schema, lambda work, given: {})
    how = Canonical(Catalogue([Service("test", (), (operation,))]), {"Stop": frozenset({"Reason"})})
    a = PaperCall("Stop", {"N": 1.0, "Force": False, "Reason": "so"})
    assert exactly_matched([a], [PaperCall("Stop", {"N": 1})], how) == 1
    assert exactly_matched([a], [PaperCall("Stop", {"N": 1, "Force": True})], how) == 0
    other = PaperCall("Unknown", {"N": 1.0, "Reason": "so"})
    assert exactly_matched([other], [PaperCall("Unknown", {"N": 1, "Reason": "so"})], how) == 1


# -- from trajectories -----------------------------------------------------------------------


def reference_records():
    return [
        customer("Help!", events=passed()),
        assistant(text="Which one?", acts=(Act("asked", "id"), Act("question"))),
        customer("It is i-1.", events=(Event("fact", "id"), *passed("ask"))),
        assistant("call", calls=[("Look", '{"Id":"i-1"}'), ("Look", "{")],
                  events=(called("Look", effect="read"), Event("invalid", "Look", "x"),
                          *passed("see"))),
        assistant("call", calls=[("Stop", '{"Id":"i-1"}'), ("Stop", "[]"), ("Gone", "")],
                  events=(called("Stop", ok=False), mine(), Event("order", "identity"))),
        assistant(text="x", fault="no"),
        assistant(text="It is halted.", events=(Event("verdict", "cause", True), *passed("say"))),
    ]  # fmt: skip


def test_a_trajectory_is_split_into_turns():
    first, second = split_turns(reference_records())
    assert (first.calls, first.said, first.passed) == ([], {"asked:id"}, ["ask"])
    assert second.calls == [
        LOOK,
        PaperCall("Look", {"": "{"}, ok=False),
        PaperCall("Stop", {"Id": "i-1"}, ok=False),
        PaperCall("Stop", {"": "[]"}, ok=False),
        PaperCall("Gone", {}, ok=False),
    ]
    assert (second.said, second.passed, second.violations) == (
        {"told:cause"},
        ["see", "say"],
        2,
    )
    assert second.tokens == 1 + 3 + 1 + 1 + 1 + 3 + 1 + 1 + 1 + 1 + 4


def test_the_reference_agrees_with_itself():
    turns = split_turns(reference_records())
    got = paper_scores([paper_ticket("t", CHAIN, turns, [[turn] for turn in turns])])
    assert (got["TIA"].value, got["TEV"].value, got["RR"].value) == (1.0, 1.0, 1.0)
    assert got["TPR"] == Score(4 / 5, 1)


def test_a_silent_sample_carries_nothing():
    turns = split_turns(reference_records())
    silent = split_turns([assistant(text="Hello.")])
    got = paper_scores([paper_ticket("t", CHAIN, turns, [silent, silent])])
    assert (got["RR"].value, got["TSA"].value, got["TPR"].value) == (0.0, 0.0, 0.0)
    nothing = paper_ticket("t", CHAIN, silent, [silent])
    assert nothing.turns[0].attempts[0].carries is False
