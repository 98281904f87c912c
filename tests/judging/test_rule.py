"""The rule judge and the table of judges."""

import pytest

from cirrus_env.errors import OptionError
from cirrus_env.judging.judge import Assessment, judge
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.wire import Act
from tests.judging.builders import scenario, told

JUDGE = RuleJudge()


def assess(*acts):
    return JUDGE.assess(scenario(), "", acts)


def test_exactly_the_right_value_is_told():
    assert assess(told("cause", "halted"), told("daily", "2400")) == (("cause", "daily"), ())


def test_saying_it_twice_is_telling_it_once():
    assert assess(told("cause", "halted"), told("cause", "halted")) == (("cause",), ())


def test_a_second_value_spoils_the_slot_and_is_wrong():
    assert assess(told("cause", "halted"), told("cause", "kept")) == ((), (("cause", "kept"),))
    assert assess(told("cause", "kept"), told("cause", "halted")) == ((), (("cause", "kept"),))


def test_every_wrong_value_is_reported_once_in_the_order_told():
    acts = [told("cause", v) for v in ("prepaid", "kept", "prepaid", "halted")]
    assert assess(*acts) == ((), (("cause", "prepaid"), ("cause", "kept")))


def test_a_wrong_number_and_a_denied_statement_are_wrong():
    assert assess(told("daily", "2500"), told("loss", "denied")) == (
        (),
        (("daily", "2500"), ("loss", "denied")),
    )


def test_a_wrong_slot_leaves_the_others_right():
    assert assess(told("daily", "1"), told("loss", "said")) == (("loss",), (("daily", "1"),))


def test_a_slot_without_a_right_value_can_only_be_told_wrongly():
    assert assess(told("none", "a")) == ((), (("none", "a"),))
    assert assess(told("none", "")) == ((), (("none", ""),))


def test_other_acts_and_unknown_slots_are_no_verdict():
    assert assess(Act("asked", "cause"), told("mood", "angry")) == ((), ())
    assert assess() == Assessment()


def test_judges_are_found_by_name_or_given():
    assert isinstance(judge("rule"), RuleJudge)
    assert judge(JUDGE) is JUDGE


@pytest.mark.parametrize(
    ("spec", "message"),
    [("rul", "did you mean 'rule'"), ("oracle of delphi", "there are rule"), (3, "got 3")],
)
def test_a_wrong_judge_is_named(spec, message):
    with pytest.raises(OptionError, match=message):
        judge(spec)
