"""Recorded words while they fit, the simulated customer's where they don't."""

from customer_fakes import FACTS, scenario, view

from cirrus_env.customers.handover import HandoverCustomer
from cirrus_env.customers.protocol import speaking
from cirrus_env.customers.replay import ReplayCustomer
from cirrus_env.tickets.model import RecordedTurn
from cirrus_env.wire import Act

CUSTOMER = HandoverCustomer()
TURNS = (
    RecordedTurn("It is in Hangzhou.", needs_asked=("region",)),
    RecordedTurn("Good, and the bill?", needs_passed=("c1",)),
    RecordedTurn("Thanks.", needs_passed=("c2",)),
)


def begin(*turns):
    made = scenario(recorded=turns)
    return made, CUSTOMER.begin(made)[2]


def play(made, mind, *views):
    """(speaker, kind, text) of each reaction."""
    seen = []
    for acts, more in views:
        reaction = CUSTOMER.react(mind, view(made, *acts, **more))
        mind = reaction.mind
        seen.append((CUSTOMER.speaker(mind), reaction.action.kind, reaction.action.text))
    return seen, mind


def test_recorded_words_come_first_and_come_back_when_they_fit_again():
    made, mind = begin(*TURNS)
    assert CUSTOMER.speaker(mind) == "replay"
    seen, mind = play(
        made, mind,
        ([Act("asked", "region")], {}),
        ([], {"text": "A moment."}),
        ([], {"passed": ("c1",)}),
        ([], {"passed": ("c1", "c2")}),
    )  # fmt: skip
    assert seen[0] == ("replay", "say", "It is in Hangzhou.")
    assert seen[1][:2] == ("simulated", "say")
    assert seen[2:] == [("replay", "say", "Good, and the bill?"), ("replay", "say", "Thanks.")]


def test_an_answer_given_out_of_turn_is_not_given_twice():
    turns = (RecordedTurn("x", needs_passed=("c0",)), *TURNS)
    made, mind = begin(*turns)
    seen, mind = play(
        made, mind,
        ([Act("asked", "region")], {}),
        ([], {"passed": ("c0",)}),
        ([], {"passed": ("c0", "c1")}),
    )  # fmt: skip
    assert seen[0][0] == "simulated"
    assert "Hangzhou" in seen[0][2]
    assert seen[1:] == [("replay", "say", "x"), ("replay", "say", "Good, and the bill?")]


def test_it_accepts_at_the_end_of_the_recording_only_if_its_goal_is_met():
    made, mind = begin(RecordedTurn("Thanks."))
    seen, mind = play(made, mind, ([], {}), ([], {}))
    assert seen[0] == ("replay", "say", "Thanks.")
    assert seen[1][:2] == ("simulated", "say")
    seen, mind = play(made, mind, ([], {"satisfied": True}))
    assert seen == [("replay", "accept", "")]
    assert mind.satisfaction == 1_000_000


def test_a_last_entry_without_words_guards_the_acceptance():
    made, mind = begin(RecordedTurn("", needs_passed=("end",)))
    seen, _ = play(made, mind, ([], {"passed": ("end",)}))
    assert seen[0][:2] == ("simulated", "say")
    seen, _ = play(made, mind, ([], {"passed": ("end",), "satisfied": True}))
    assert seen == [("replay", "accept", "")]


def test_the_simulated_customer_has_its_patience():
    made, mind = begin(*TURNS)
    seen, _ = play(made, mind, *[([], {"text": f"Well {i}."}) for i in range(4)])
    assert [kind for _, kind, _ in seen] == ["say", "say", "say", "leave"]


def test_a_ticket_without_a_recording_is_the_simulated_customers():
    made, mind = begin()
    words, acts, _ = CUSTOMER.begin(made)
    assert made.private.opening in words
    assert acts == (Act("volunteered", FACTS[0].name),)
    seen, _ = play(made, mind, ([Act("asked", "region")], {}))
    assert (seen[0][0], "Hangzhou" in seen[0][2]) == ("simulated", True)


def test_closing_words_go_to_who_spoke_last():
    made, mind = begin(*TURNS)
    assert CUSTOMER.react(mind, view(made, closing=True)).mind == mind
    _, mind = play(made, mind, ([], {}))
    after = CUSTOMER.react(mind, view(made, closing=True)).mind
    assert after.speaker == "simulated"
    assert after.satisfaction <= 300_000


def test_other_customers_speak_under_their_own_name():
    assert speaking(ReplayCustomer(), None) == "replay"
