"""What a customer's or judge's code raises ends the episode or comes out with its owner's name."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from cirrus_env.customers.protocol import Reaction
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import CustomerFailed, EndpointError, EpisodeNotRunning, JudgeFailed
from cirrus_env.judging.judge import Assessment
from cirrus_env.wire import AssistantAction, CustomerAction


class TimedOut(EndpointError):
    pass


class Mind(NamedTuple):
    satisfaction: Any = 500_000


OPENS = ("Hello", (), Mind())


class Caller:
    """Opens, then does what it was given."""

    name = "caller"

    def __init__(self, does: Any, opens: Any = OPENS) -> None:
        self.does, self.opens = does, opens

    def begin(self, scenario):
        if isinstance(self.opens, Exception):
            raise self.opens
        return self.opens

    def react(self, mind, view):
        if isinstance(self.does, Exception):
            raise self.does
        return self.does


class Grader:
    name = "grader"

    def __init__(self, gives: Any) -> None:
        self.gives = gives

    def assess(self, scenario, text, acts):
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


SAYS = Reaction(CustomerAction("say", "Yes."), (), Mind())


def running(**settings) -> TicketEpisode:
    episode = TicketEpisode("ECS-Billing", **settings)
    episode.reset(seed=1)
    return episode


def last(episode):
    record = episode.records[-1]
    return record.action["kind"], {e.kind: (e.name, e.value) for e in record.events}


@pytest.mark.parametrize(
    "action", [AssistantAction("reply", "Hi."), AssistantAction("close", "Bye.")]
)
def test_a_customer_whose_endpoint_fails_ends_the_episode_as_nobodys_number(action):
    episode = running(customer=Caller(TimedOut("sk-canary-1")))
    step = episode.step(action)
    assert (step.reward, step.terminated, step.truncated) == (None, False, True)
    assert (step.info["outcome"], step.info["ending"], step.info["valid"]) == (
        "customer_error", "failure", 0,
    )  # fmt: skip
    assert last(episode)[1]["failed"] == ("customer", "TimedOut")
    assert "sk-canary-1" not in str([record.to_json() for record in episode.records])
    with pytest.raises(EpisodeNotRunning):
        episode.step("Hello?")


def test_a_judge_whose_endpoint_fails_ends_the_episode_and_keeps_what_was_said():
    episode = running(judge=Grader(TimedOut()))
    step = episode.step("It was kept running.")
    assert (step.info["outcome"], step.info["valid"]) == ("judge_error", 0)
    assert episode.records[-1].action["text"] == "It was kept running."
    assert last(episode)[1]["failed"] == ("judge", "TimedOut")
    assert episode.metrics()["success"] is not True


@pytest.mark.parametrize(
    ("does", "problem"),
    [
        (ValueError("x"), "the customer failed: ValueError"),
        (None, "failed: AttributeError"),
        (SAYS._replace(action=CustomerAction("dance")), "an action of kind 'dance'"),
        (SAYS._replace(action=CustomerAction("say", "\ud800")), "a lone surrogate"),
        (SAYS._replace(action=CustomerAction("say", 7)), "failed: AttributeError"),
        (SAYS._replace(action=CustomerAction("console", "", "fly")), "a console action 'fly'"),
        (SAYS._replace(acts=[]), "acts that are no tuple"),
        (SAYS._replace(mind=Mind(0.5)), "a satisfaction that is no integer"),
        (SAYS._replace(mind=Mind(2_000_000)), "a satisfaction that is no integer"),
    ],
)
def test_a_customer_with_a_fault_in_its_code_is_named_and_the_caller_may_end_the_episode(
    does, problem
):
    episode = running(customer=Caller(does))
    with pytest.raises(CustomerFailed, match=problem):
        episode.step("Hello.")
    assert episode.outcome is None
    assert episode.truncate("customer_error").info["outcome"] == "customer_error"


@pytest.mark.parametrize(
    ("opens", "problem"),
    [
        (TimedOut(), "failed to begin: TimedOut"),
        (("Hello", ()), "failed to begin: ValueError"),
        (("\ud800", (), Mind()), "began with words that hold a lone surrogate"),
    ],
)
def test_a_customer_that_cannot_begin_fails_the_reset_and_the_episode_can_be_ended(opens, problem):
    episode = TicketEpisode("ECS-Billing", customer=Caller(SAYS, opens))
    with pytest.raises(CustomerFailed, match=problem):
        episode.reset(seed=1)
    assert episode.truncate("customer_error").truncated
    assert [record.action for record in episode.records] == [{"kind": "stopped"}]


@pytest.mark.parametrize("gives", [KeyError("slot"), None, Assessment(("a",), (("b",),))])
def test_a_judge_with_a_fault_in_its_code_is_named_and_nothing_has_changed(gives):
    episode = running(judge=Grader(gives))
    before = episode.snapshot()
    with pytest.raises(JudgeFailed, match="the judge failed"):
        episode.step("It was kept running.")
    assert len(episode.records) == len(before.state.records)
    assert len(episode.messages) == len(before.state.messages)
    assert episode.state.cloud.now == before.state.cloud.now


def test_reasoning_that_has_no_utf8_form_is_an_invalid_action_not_a_broken_record():
    episode = running()
    step = episode.step(AssistantAction("reply", "Hello.", reasoning="\ud800"))
    assert step.info["invalid"] == 1
    assert "reasoning" not in episode.records[-2].action
