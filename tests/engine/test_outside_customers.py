"""A customer played from outside answers what it was asked, as the simulated one does."""

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.wire import CustomerAction


def asked(question, answer, variant="kept"):
    episode = TicketEpisode("ECS-Renewal", customer="external")
    episode.reset(seed=1, options={"variant": variant})
    episode.step(question)
    text = answer.format(**{n: f.text for n, f in episode.scenario.private.facts.items()})
    episode.apply("customer_0", CustomerAction("say", text))
    return sorted(episode.state.evidence.asked)


def test_an_answer_counts_when_it_gives_the_figures_that_the_customer_knows():
    date = "Which end date does the mail give?"
    assert asked(date, "{end_date}") == ["end_date"]
    assert asked(date, "Some day, I forgot.") == []
    assert asked(date, "") == []
    assert asked("One moment, please.", "{end_date}") == []


def test_words_without_figures_answer_what_has_none():
    assert asked("What kind of product is it, please?", "A server, what else.") == ["product"]


def test_what_is_never_told_is_no_answer():
    assert asked("Did you switch the reminders off?", "I had switched them off myself.") == []


@pytest.mark.parametrize("variant", ["still-running", "kept", "released"])
def test_a_ticket_that_must_be_asked_about_can_be_solved_with_an_outside_customer(variant):
    episode = TicketEpisode("ECS-Renewal", customer="external")
    episode.reset(seed=1, options={"variant": variant})
    known = " ".join(f.text for f in episode.scenario.private.facts.values() if f.when == "asked")
    for action in reference_actions(episode.scenario):
        episode.step(action)
        if episode.outcome is None:
            episode.apply("customer_0", CustomerAction("say", known))
    assert episode.outcome.success
