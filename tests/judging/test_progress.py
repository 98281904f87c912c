"""Checkpoints latch, wait for their ancestors, and want events where events are wanted."""

import pytest

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.judging.progress import Progress
from cirrus_env.nlu.evidence import Call, Evidence
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.tickets.predicates import Asked, Called, Told


@pytest.fixture
def cloud():
    return Cloud(Catalogue([]), 1, "acct", 0)


def plan(*checkpoints: Checkpoint) -> Progress:
    return Progress(checkpoints)


ASK = Checkpoint("ask", "inquiry", Asked("instance"), skippable=True)
SEE = Checkpoint("see", "diagnosis", Called("Describe"), after=("ask",))
SAY = Checkpoint("say", "explanation", Told("cause"), after=("see",))
ACT = Checkpoint("act", "action", Called("Stop"), after=("say",))
VERIFY = Checkpoint("verify", "verification", Called("Describe"), after=("act",))
CHAIN = (ASK, SEE, SAY, ACT, VERIFY)


def called(step: int, operation: str) -> Call:
    return Call(step, operation, {}, {}, True, "{}")


def test_nothing_passes_on_no_evidence(cloud):
    evidence = Evidence()
    assert plan(*CHAIN).newly_passed(evidence, cloud, 0) == []
    assert evidence.passed == {}


def test_a_skippable_ancestor_need_not_pass(cloud):
    evidence = Evidence(calls=[called(1, "Describe")])
    assert plan(*CHAIN).newly_passed(evidence, cloud, 1) == ["see"]


def test_an_ancestor_passes_at_an_earlier_step_than_its_descendant(cloud):
    progress = plan(*CHAIN)
    evidence = Evidence(asked={"instance": 1}, calls=[called(1, "Describe")], told={"cause": 1})
    assert progress.newly_passed(evidence, cloud, 1) == ["ask"]
    assert progress.newly_passed(evidence, cloud, 2) == ["see"]
    assert progress.newly_passed(evidence, cloud, 3) == ["say"]
    assert progress.newly_passed(evidence, cloud, 4) == []
    assert evidence.passed == {"ask": 1, "see": 2, "say": 3}


def test_looking_twice_at_one_step_passes_no_descendant(cloud):
    progress = plan(*CHAIN)
    evidence = Evidence(asked={"instance": 1}, calls=[called(1, "Describe")])
    assert progress.newly_passed(evidence, cloud, 1) == ["ask"]
    assert progress.newly_passed(evidence, cloud, 1) == []
    assert evidence.passed == {"ask": 1}


def test_independent_checkpoints_pass_at_one_step(cloud):
    twins = (
        Checkpoint("a", "explanation", Told("x")),
        Checkpoint("b", "explanation", Told("y")),
    )
    assert plan(*twins).newly_passed(Evidence(told={"x": 2, "y": 2}), cloud, 2) == ["a", "b"]


def test_what_was_told_too_early_passes_when_its_ancestor_has(cloud):
    progress = plan(SEE, SAY)
    evidence = Evidence(told={"cause": 1})
    assert progress.newly_passed(evidence, cloud, 1) == []
    evidence.calls.append(called(2, "Describe"))
    assert progress.newly_passed(evidence, cloud, 2) == ["see"]
    assert progress.newly_passed(evidence, cloud, 3) == ["say"]


def test_an_action_before_its_ancestors_does_not_count_later(cloud):
    progress = plan(SAY, ACT)
    evidence = Evidence(calls=[called(1, "Stop")], told={"cause": 2})
    assert progress.newly_passed(evidence, cloud, 2) == ["say"]
    assert progress.newly_passed(evidence, cloud, 3) == []
    evidence.calls.append(called(4, "Stop"))
    assert progress.newly_passed(evidence, cloud, 4) == ["act"]


def test_a_verification_needs_a_look_after_the_action(cloud):
    progress = plan(ACT, VERIFY)
    evidence = Evidence(calls=[called(1, "Describe"), called(2, "Stop")])
    assert progress.newly_passed(evidence, cloud, 2) == ["act"]
    assert progress.newly_passed(evidence, cloud, 3) == []
    evidence.calls.append(called(5, "Describe"))
    assert progress.newly_passed(evidence, cloud, 5) == ["verify"]


def test_an_unconsented_call_is_no_evidence(cloud):
    evidence = Evidence(calls=[Call(1, "Stop", {}, {}, False, "{}")])
    assert plan(ACT).newly_passed(evidence, cloud, 1) == []


def test_passing_latches(cloud):
    progress = plan(SAY)
    evidence = Evidence(told={"cause": 1})
    assert progress.newly_passed(evidence, cloud, 1) == ["say"]
    evidence.told.clear()
    assert progress.newly_passed(evidence, cloud, 2) == []
    assert evidence.passed == {"say": 1}


def test_a_grandparent_is_waited_for_through_a_skippable_parent(cloud):
    first = Checkpoint("first", "diagnosis", Called("Describe"))
    ask = Checkpoint("ask", "inquiry", Asked("os"), after=("first",), skippable=True)
    last = Checkpoint("last", "explanation", Told("cause"), after=("ask",))
    progress = plan(first, ask, last)
    evidence = Evidence(told={"cause": 1})
    assert progress.newly_passed(evidence, cloud, 1) == []
    evidence.calls.append(called(2, "Describe"))
    assert progress.newly_passed(evidence, cloud, 2) == ["first"]
    assert progress.newly_passed(evidence, cloud, 3) == ["last"]


def test_an_ancestor_of_another_variant_is_ignored(cloud):
    lone = Checkpoint("lone", "explanation", Told("cause"), after=("elsewhere",))
    assert plan(lone).newly_passed(Evidence(told={"cause": 1}), cloud, 1) == ["lone"]


def test_skipped_are_the_skippable_ones_that_a_descendant_left_behind():
    progress = plan(*CHAIN)
    assert progress.skipped(Evidence(passed={})) == []
    assert progress.skipped(Evidence(passed={"ask": 1, "see": 2})) == []
    assert progress.skipped(Evidence(passed={"see": 2})) == ["ask"]
