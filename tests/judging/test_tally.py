"""The tally, against values computed by hand."""

from types import SimpleNamespace

import pytest

from cirrus_env.errors import ComparisonError, InvariantError, OptionError
from cirrus_env.judging import formulas
from cirrus_env.judging.reward import TERMS, RewardRule
from cirrus_env.judging.tally import Tally, needed_facts
from cirrus_env.tickets.model import Fact
from cirrus_env.wire import Act, Event, Record
from tests.judging.builders import (
    ASK,
    CHAIN,
    WHO,
    assistant,
    called,
    customer,
    ended,
    folded,
    gold,
    mine,
    passed,
    tally,
)

METRICS = {
    "success", "checkpoints", "passed", "f", "tpr", "lj", "nei", "replies", "efficiency", "tokens",
    "reasoning_tokens", "turns", "stl", "mtl", "wrong_replies", "attempt@1", "attempt@2", "writes",
    "incorrect_writes", "incorrect_action_rate", "invalid_turns", "invalid_action_rate",
    "policy_violations", "violations", "cost", "satisfaction", "happy_but_wrong",
    "right_but_unhappy", "elicitation_ratio",
}  # fmt: skip


def test_the_empty_trajectory():
    empty = tally()
    assert empty.micro() == 0
    assert empty.terms() == dict.fromkeys(TERMS, 0.0)
    metrics = empty.metrics()
    assert set(metrics) == METRICS
    assert (metrics["success"], metrics["tpr"], metrics["f"]) == (False, 0.0, 0)
    for rate in ("nei", "mtl", "incorrect_action_rate", "invalid_action_rate", "satisfaction"):
        assert metrics[rate] is None
    assert metrics["elicitation_ratio"] is None


# -- checkpoints -----------------------------------------------------------------------------


def test_a_skipped_checkpoint_counts_when_a_descendant_passes():
    metrics = folded([assistant("call", events=passed("see"))]).metrics()
    assert (metrics["passed"], metrics["lj"], metrics["f"]) == (1, 1, 2)
    assert metrics["tpr"] == 2 / 5
    assert metrics["nei"] == 1.0


def test_the_whole_jump_path():
    metrics = folded([assistant(events=passed("see")), assistant(events=passed("say")),
                      assistant(events=passed("act"))]).metrics()  # fmt: skip
    assert (metrics["passed"], metrics["lj"], metrics["f"], metrics["tpr"]) == (3, 2, 5, 1.0)
    assert metrics["nei"] == 0.5


def test_a_skipped_checkpoint_that_passes_late_is_passed():
    metrics = folded([assistant(events=passed("see")), customer(events=passed("ask"))]).metrics()
    assert (metrics["passed"], metrics["lj"], metrics["f"]) == (2, 0, 2)


def test_passing_twice_is_passing_once():
    assert folded([customer(events=passed("ask", "ask"))]).metrics()["passed"] == 1


def test_nei_does_not_apply_to_one_checkpoint():
    assert folded([customer(events=passed("ask"))]).metrics()["nei"] is None


def test_ancestors_are_found_through_absent_parents():
    alone = (ASK, WHO.__class__("end", "action", WHO.evidence, after=("ask", "gone")))
    assert folded([assistant(events=passed("end"))], checkpoints=alone).metrics()["lj"] == 1


def test_a_trajectory_of_another_ticket_is_refused():
    with pytest.raises(ComparisonError, match="'other'"):
        folded([customer(events=passed("other"))])


def test_no_checkpoints_is_no_progress():
    empty = folded([assistant(text="Hi.")], "shaped", checkpoints=())
    assert empty.metrics()["tpr"] is None
    assert empty.micro() == 0
    assert empty.terms()["progress"] == 0.0


# -- replies, tokens, turns ------------------------------------------------------------------


def test_tokens_are_a_quarter_of_the_bytes_of_each_piece():
    record = assistant("call", text="abcde", calls=[("Stop", '{"a":1}'), ("Go", "")])
    metrics = folded([record]).metrics()
    assert metrics["tokens"] == 2 + 1 + 2 + 1 + 0
    assert folded([assistant(text="服务器")]).metrics()["tokens"] == 3
    assert folded([assistant(text="\ud800")]).metrics()["tokens"] == 1


def test_reasoning_is_counted_apart():
    metrics = folded([assistant(text="abcd", reasoning="abcdefgh")]).metrics()
    assert (metrics["tokens"], metrics["reasoning_tokens"]) == (1, 2)


def test_turns_run_up_to_the_reply():
    records = [
        assistant("call", calls=[("abcd", "abcd")]),
        assistant(text="abcd"),
        customer("a" * 400),
        assistant(text="abcdefgh"),
    ]
    metrics = folded(records).metrics()
    assert (metrics["turns"], metrics["replies"], metrics["tokens"]) == (2, 2, 5)
    assert (metrics["stl"], metrics["mtl"]) == (3, 2.5)


def test_an_unfinished_turn_adds_tokens_but_no_turn():
    records = [assistant(text="abcd"), assistant("call", calls=[("a" * 40, "")])]
    metrics = folded(records).metrics()
    assert (metrics["turns"], metrics["stl"], metrics["mtl"]) == (1, 10, 11.0)
    assert folded(records[1:]).metrics()["mtl"] == 10.0


def test_close_text_is_a_reply_and_an_escalation_is_none():
    records = [assistant(text="a"), assistant("close", text="b")]
    assert folded(records).metrics()["replies"] == 2
    records = [assistant(text="a"), assistant("escalate", text="summary", queue="security")]
    metrics = folded(records).metrics()
    assert (metrics["replies"], metrics["turns"]) == (1, 2)
    assert folded([assistant("close")]).metrics()["replies"] == 0


def test_a_malformed_reply_is_not_delivered():
    records = [assistant(text="x", fault="too long"), assistant(text="fine")]
    metrics = folded(records).metrics()
    assert (metrics["replies"], metrics["turns"], metrics["invalid_turns"]) == (1, 1, 1)
    assert metrics["invalid_action_rate"] == 1.0


# -- wrong replies ---------------------------------------------------------------------------

WRONG = Event("wrong", "cause", "kept")
DONE = assistant("close", text="Bye.", events=(*passed("see", "say", "act"), ended()))


@pytest.mark.parametrize(("wrong", "first", "second"), [(0, True, True), (1, False, True),
                                                         (2, False, False)])  # fmt: skip
def test_attempts_count_wrong_replies(wrong, first, second):
    records = [assistant(text=f"It is {k}.", events=(WRONG,)) for k in range(wrong)]
    metrics = folded([*records, DONE]).metrics()
    assert (metrics["attempt@1"], metrics["attempt@2"]) == (first, second)
    assert metrics["wrong_replies"] == wrong


def test_the_oracles_own_wrong_replies_are_free():
    metrics = folded([assistant(text="a", events=(WRONG,)), DONE], wrong_replies=1).metrics()
    assert (metrics["attempt@1"], metrics["wrong_replies"]) == (True, 1)


def test_two_wrong_words_are_one_wrong_reply():
    events = (WRONG, Event("wrong", "proposal", "DeleteInstance i-1"))
    assert folded([assistant(text="a", events=events)]).metrics()["wrong_replies"] == 1


def test_repeating_a_reply_is_wrong_but_courtesy_is_free():
    polite = (Act("courtesy"),)
    records = [
        assistant(text="Which one?"),
        assistant(text="Which  one? "),
        assistant(text="Thanks!", acts=polite),
        assistant(text="Thanks!", acts=polite),
    ]
    assert folded(records).metrics()["wrong_replies"] == 1


# -- calls -----------------------------------------------------------------------------------


def calls(*events):
    return assistant("call", events=events)


def test_incorrect_writes_are_those_that_touch_something_outside():
    records = [calls(called(), called("Delete", outside=True), called("List", effect="read"))]
    metrics = folded(records).metrics()
    assert (metrics["writes"], metrics["incorrect_writes"]) == (2, 1)
    assert metrics["incorrect_action_rate"] == 0.5
    assert folded(records).micro() == -100_000


def test_failed_and_repeated_writes_are_none():
    records = [calls(called(ok=False, outside=True), called(duplicate=True, outside=True))]
    assert folded(records).metrics()["incorrect_action_rate"] is None


def test_an_empty_write_dilutes_nothing():
    records = [calls(called(outside=True), called("Reboot", arguments={}))]
    assert folded(records).metrics()["incorrect_action_rate"] == 1.0
    records = [calls(called("Reboot", arguments={}, outside=True))]
    assert folded(records).metrics()["incorrect_action_rate"] == 1.0


def test_invalid_turns():
    bad = Event("invalid", "Stop", "not JSON")
    records = [calls(bad), calls(bad, bad), assistant(text="a"), assistant(text="b"), calls(bad)]
    metrics = folded(records).metrics()
    assert (metrics["turns"], metrics["invalid_turns"]) == (2, 2)
    assert metrics["invalid_action_rate"] == 2 / 3
    assert folded(records).micro() == -40_000
    assert folded(records).terms()["invalid"] == -0.04


def test_a_customers_malformed_action_is_not_the_assistants():
    assert folded([customer(events=(Event("invalid", "", "x"),))]).metrics()["invalid_turns"] == 0


def test_cost_counts_what_safe_learning_must_avoid():
    irreversible = called("Release", effect="irreversible", consent=False)
    agreed = called("Release", effect="irreversible", arguments={"Id": "i-2"})
    foreign = called("Describe", effect="read", foreign=True)
    assert folded([calls(irreversible, agreed, foreign)]).cost == 2
    guarded = (ASK, WHO, *CHAIN[1:])
    records = [calls(called()), calls(Event("passed", "who")), calls(called("Start"))]
    assert folded(records, checkpoints=guarded).metrics()["cost"] == 1


# -- minefields, satisfaction, elicitation ---------------------------------------------------


def test_minefields_count_once_per_value():
    records = [calls(mine(), mine(), mine(key="other"), mine("P2", "fatal"), mine("P3", "void"))]
    result = folded(records)
    assert result.violations() == {"P1": 2, "P2": 1, "P3": 1}
    assert result.metrics()["policy_violations"] == 4
    assert result.terms()["violation"] == -1.75
    assert result.micro() == -1_750_000


def test_a_broken_ordering_pair_costs_once():
    order = Event("order", "identity")
    result = folded([calls(order), calls(order)])
    assert (result.violations(), result.micro()) == ({"identity": 1}, -250_000)


@pytest.mark.parametrize(
    ("satisfied", "success", "happy", "unhappy"),
    [(900_000, True, False, False), (900_000, False, True, False), (100_000, True, False, True),
     (499_999, False, False, False), (500_000, False, True, False)],
)  # fmt: skip
def test_happiness_and_success_are_different_things(satisfied, success, happy, unhappy):
    events = (Event("satisfaction", "", satisfied), ended(success))
    metrics = folded([customer(events=events)]).metrics()
    assert metrics["satisfaction"] == satisfied / 1_000_000
    assert (metrics["happy_but_wrong"], metrics["right_but_unhappy"]) == (happy, unhappy)


def test_before_the_end_nobody_is_happy_but_wrong():
    metrics = folded([customer(events=(Event("satisfaction", "", 900_000),))]).metrics()
    assert (metrics["happy_but_wrong"], metrics["right_but_unhappy"]) == (None, None)


def test_elicitation_counts_needed_facts_only():
    records = [customer(events=(Event("fact", "id"), Event("fact", "mood"), Event("fact", "id")))]
    assert folded(records, needed=("id", "cause")).metrics()["elicitation_ratio"] == 0.5


def test_the_needed_facts_of_a_scenario():
    facts = {
        "id": Fact("id", "It is i-1.", "asked", needed=True),
        "said": Fact("said", "I said so.", "volunteered", needed=True),
        "cat": Fact("cat", "I have a cat.", "asked"),
    }
    made = SimpleNamespace(private=SimpleNamespace(facts=facts), gold=gold())
    assert needed_facts(made) == ("id",)
    ratio = Tally.of(made, rule=tally()._rule).metrics()["elicitation_ratio"]
    assert ratio == 0.0


# -- endings and the return ------------------------------------------------------------------

PATH = [
    customer(events=(Event("satisfaction", "", 300_000),)),
    assistant(text="a" * 40),
    customer(events=passed("ask")),
    assistant("call", calls=[("Look", "a" * 36)], events=passed("see")),
    assistant(text="b" * 40, events=passed("say")),
    assistant("call", calls=[("Stop", "a" * 36)], events=(called(), *passed("act"))),
]


def test_a_success_by_hand():
    end = assistant("close", text="c" * 160, events=(ended(),))
    result = folded([*PATH, end])
    # 10 + (1 + 9) + 10 + (1 + 9) + 40 tokens; reference 1.5 x 40 = 60; 3 replies, shortest 2.
    assert result.metrics()["tokens"] == 80
    assert result.terms() == {
        "progress": 1.0,
        "resolution": 1.0,
        "efficiency": 2 / 3,
        "latency": 2 / 3,
        "violation": 0.0,
        "incorrect_write": 0.0,
        "invalid": 0.0,
        "shaping": 0.0,
        "nei": 0.25,
        "custom": 0.0,
    }
    assert result.micro() == 50_000 + 650_000 + 133_333 + 66_667
    assert result.metrics()["efficiency"] == 2 / 3


def test_step_rewards_add_up():
    result = tally()
    seen = [result.micro()]
    for record in PATH:
        result.add(record)
        seen.append(result.micro())
    assert seen == [0, 0, 0, 10_000, 20_000, 40_000, 50_000]


@pytest.mark.parametrize(
    ("rule", "micro"),
    [("cirrus", 1_000_000), ("sparse", 1_000_000), ("dense", 1_000_000), ("shaped", 1_000_000),
     ("paper", 750_000)],
)  # fmt: skip
def test_the_fastest_success_in_each_preset(rule, micro):
    jump = [
        assistant("call", events=passed("see")),
        assistant(text="It is halted.", events=passed("say")),
        assistant("call", events=(called(), *passed("act"))),
        assistant("close", text="Done.", events=(ended(),)),
    ]
    assert folded(jump, rule).micro() == micro


def test_an_invalid_or_unscored_episode_is_no_success():
    crash = folded([*PATH, customer(events=(ended(True, False, False, "agent_error"),))])
    assert (crash.success, crash.micro()) == (False, 50_000)
    assert folded([customer(events=(ended(None),))]).success is None
    unscored = folded([*PATH, DONE], scored=False)
    assert unscored.success is None
    metrics = unscored.metrics()
    for name in ("success", "efficiency", "attempt@1", "attempt@2", "happy_but_wrong"):
        assert metrics[name] is None


def test_unknown_constants_give_nothing():
    terms = folded([*PATH, DONE], shortest=0, tokens=0).terms()
    assert (terms["resolution"], terms["efficiency"], terms["latency"]) == (1.0, 0.0, 0.0)


def test_shaping_is_paid_per_decision_and_taken_back_at_the_end():
    rule = RewardRule({"shaping": 1}, gamma=0.5)
    result = Tally(gold(), rule=rule)
    seen = []
    for record in (*PATH, DONE):
        result.add(record)
        seen.append(result.micro())
    # Phi in fifths before each decision: 0, 1, 2, 4, 5; and 0 at the end.
    assert seen == [
        0,
        0,
        100_000,  # 0.5 x 1/5 - 0: the customer's answer belongs to the decision before it
        100_000,  # + 0.5 x 2/5 - 1/5
        100_000,  # + 0.5 x 4/5 - 2/5
        -200_000,  # + 0.5 x 5/5 - 4/5
        -1_200_000,  # + 0.5 x 0 - 5/5
    ]


def test_a_truncated_episode_keeps_its_potential():
    limit = customer(events=(ended(False, terminated=False, outcome="turn_limit"),))
    assert folded([*PATH, limit], "shaped").micro() == 1_000_000
    left = customer(events=(ended(False, outcome="abandoned"),))
    assert folded([*PATH, left], "shaped").micro() == 0


def test_a_custom_term_sees_the_metrics_of_the_prefix():
    rule = RewardRule({"custom": 0.5, "progress": 1}, custom=lambda m: m["replies"] / 8)
    result = Tally(gold(), rule=rule)
    for record in PATH[:3]:
        result.add(record)
    assert result.micro() == 200_000 + 62_500
    assert result.terms()["custom"] == 0.125


def test_a_custom_term_must_be_a_number():
    rule = RewardRule({"custom": 1}, custom=lambda m: float("nan"))
    with pytest.raises(OptionError, match="custom term"):
        Tally(gold(), rule=rule).micro()


def test_stored_records_give_the_same_integers():
    records = [*PATH, assistant("close", text="c", events=(mine(), ended(), WRONG))]
    stored = [Record.from_json(record.to_json()) for record in records]
    assert folded(stored).metrics() == folded(records).metrics()
    assert folded(stored).micro() == folded(records).micro()


def test_a_copy_is_independent():
    first = folded(PATH[:3])
    second = first.copy()
    for record in PATH[3:]:
        second.add(record)
    second.add(calls(mine(), Event("fact", "id")))
    assert first.metrics() == folded(PATH[:3]).metrics()
    assert second.metrics()["f"] == 5


def test_other_events_change_nothing():
    events = (Event("verdict", "cause", True), Event("assertion", "stopped", True))
    assert folded([assistant(text="a", events=events)]).micro() == 0


# -- formulas --------------------------------------------------------------------------------


def test_a_part_is_no_more_than_the_whole():
    with pytest.raises(InvariantError):
        formulas.rate(2, 1)


def test_more_jumps_than_checkpoints_are_a_fault():
    with pytest.raises(InvariantError):
        formulas.nei(3, 3)


@pytest.mark.parametrize(("tokens", "value"), [(0, 1), (60, 1), (90, 0.5), (120, 0), (999, 0)])
def test_latency_by_hand(tokens, value):
    assert formulas.latency(tokens, 40) == value


def test_a_success_without_any_reply_is_efficient():
    assert formulas.efficiency(0, 0) == 1
    assert formulas.efficiency(0, 1) == 0
