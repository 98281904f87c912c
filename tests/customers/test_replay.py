import pytest
from customer_fakes import scenario, view

from cirrus_env.customers.replay import ReplayCustomer
from cirrus_env.nlu.evidence import Call
from cirrus_env.tickets.model import RecordedTurn
from cirrus_env.wire import Act

CUSTOMER = ReplayCustomer()
CALLED = Call(1, "GetAlarm", {"id": "a1", "limit": 3}, {}, False, "{}")


def play(*turns):
    made = scenario(recorded=turns)
    return made, CUSTOMER.begin(made)[2]


def test_speaks_the_recorded_turns_then_accepts():
    made, mind = play(RecordedTurn("one"), RecordedTurn("two"))
    seen = []
    for _ in range(3):
        reaction = CUSTOMER.react(mind, view(made))
        seen.append((reaction.action.kind, reaction.action.text, reaction.mind.satisfaction))
        mind = reaction.mind
    assert seen == [("say", "one", 333_333), ("say", "two", 666_666), ("accept", "", 1_000_000)]


@pytest.mark.parametrize(
    ("turn", "fitting", "misfit"),
    [
        (
            RecordedTurn("x", needs_calls=(("GetAlarm", {"id": "a1", "limit": 3}),)),
            {"calls": [CALLED]},
            {"calls": [CALLED._replace(arguments={})]},
        ),
        (RecordedTurn("x", needs_passed=("c1",)), {"passed": {"c1": 2}}, {"passed": {"c2": 2}}),
    ],
)
def test_goes_diverged_where_the_recording_does_not_fit(turn, fitting, misfit):
    made, mind = play(turn)
    assert CUSTOMER.react(mind, view(made, **fitting)).action.text == "x"
    gone = CUSTOMER.react(mind, view(made, **misfit))
    assert gone.action.kind == "leave"
    assert gone.diverged


def test_a_turn_that_answers_follows_only_a_question():
    made, mind = play(RecordedTurn("At nine.", needs_asked=("time",)))
    assert CUSTOMER.react(mind, view(made)).diverged
    reaction = CUSTOMER.react(mind, view(made, Act("asked", "time")))
    assert reaction.acts == (Act("answered", "time"),)
    assert not reaction.diverged


def test_a_last_entry_without_words_guards_the_acceptance():
    made, mind = play(RecordedTurn("", needs_passed=("end",)))
    assert CUSTOMER.react(mind, view(made)).diverged
    assert CUSTOMER.react(mind, view(made, passed=("end",))).action.kind == "accept"


def test_closing_words_change_nothing():
    made, mind = play(RecordedTurn("one"))
    assert CUSTOMER.react(mind, view(made, closing=True)).mind == mind


def test_follows_an_assistant_that_had_no_need_to_ask():
    turns = (
        RecordedTurn("At nine.", needs_asked=("time",)),
        RecordedTurn("Thanks.", (), (), ("c",)),
    )
    made, mind = play(*turns)
    reaction = CUSTOMER.react(mind, view(made, passed=("c",)))
    assert (reaction.action.text, reaction.acts, reaction.mind.next) == ("Thanks.", (), 2)


def test_does_not_answer_a_later_question_before_the_one_that_is_due():
    turns = (RecordedTurn("At nine.", needs_asked=("time",)), RecordedTurn("Bo.", (), ("name",)))
    made, mind = play(*turns)
    assert CUSTOMER.react(mind, view(made, Act("asked", "name"))).diverged


def test_small_talk_is_left_out_when_the_assistant_has_come_further():
    turns = (RecordedTurn("Nice day."), RecordedTurn("Bo.", needs_passed=("c",)))
    made, mind = play(*turns)
    assert CUSTOMER.react(mind, view(made)).action.text == "Nice day."
    assert CUSTOMER.react(mind, view(made, passed=("c",))).action.text == "Bo."


def test_small_talk_comes_before_the_answer_to_a_later_question():
    turns = (RecordedTurn("Nice day."), RecordedTurn("Bo.", needs_asked=("name",)))
    made, mind = play(*turns)
    assert CUSTOMER.react(mind, view(made, Act("asked", "name"))).action.text == "Nice day."


def test_small_talk_after_an_unanswered_question_does_not_save_the_recording():
    turns = (RecordedTurn("At nine.", needs_asked=("time",)), RecordedTurn("Nice day."))
    made, mind = play(*turns)
    assert CUSTOMER.react(mind, view(made)).diverged
