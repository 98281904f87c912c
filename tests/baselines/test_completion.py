"""The oracle goes on from anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cirrus_env.baselines import oracle_for, policy
from cirrus_env.baselines.completion import complete, return_micro
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import EndpointError, EpisodeNotRunning, OptionError
from cirrus_env.judging.judge import Assessment
from cirrus_env.wire import ASSISTANT, AssistantAction, ToolCall, canonical

TICKETS = ("ECS-Billing", "Disk-Rollback", "ECS-Password", "VPC-Nat", "ECS-Port25")
BILLING = TicketEpisode("ECS-Billing").ticket


def started(ticket=BILLING, seed=3, **options) -> TicketEpisode:
    episode = TicketEpisode(ticket)
    episode.reset(seed=seed, options=options)
    return episode


def steps_of(episode: TicketEpisode, who):
    """Let a policy play; yields before each action."""
    view = AssistantView()
    while episode.outcome is None:
        yield
        episode.step(who.act(view.observe(episode)))


@pytest.mark.parametrize("name", TICKETS)
@pytest.mark.parametrize(("mode", "jumps"), [("plain", False), ("jump", True)])
def test_on_an_oracles_path_the_value_stays_its_return(name, mode, jumps):
    for variant in TicketEpisode(name).ticket.variants:
        episode = started(name, variant=variant)
        values = [
            complete(episode, jumps=jumps) for _ in steps_of(episode, oracle_for(episode, mode))
        ]
        assert episode.outcome.name == "success"
        assert {found.micro for found in values} == {return_micro(episode)}
        assert all(found.success for found in values)


def test_looking_without_need_costs_only_against_who_knows_the_cause():
    episode = started()
    assert (complete(episode).micro, complete(episode, jumps=True).micro) == (933_333, 1_000_000)


@settings(max_examples=15)
@given(st.integers(0, 50), st.integers(0, 12), st.sampled_from(("keyword", "random", "oracle")))
def test_the_actions_lead_where_the_completion_says_and_the_episode_stays(seed, steps, name):
    episode = started(seed=seed)
    who = policy(name, episode)
    who.reset(seed)
    for _, _ in zip(range(steps), steps_of(episode, who), strict=False):
        pass
    before = trajectory(episode)
    found = complete(episode)
    assert trajectory(episode) == before
    for action in found.actions:
        episode.step(action)
    assert episode.outcome is not None
    assert (return_micro(episode), episode.outcome.success is True) == (found.micro, found.success)
    assert found.value == found.micro / 1_000_000


def test_what_another_agent_did_in_its_own_words_is_not_done_again():
    episode = started(variant="halted-in-guest")
    oracle = oracle_for(episode, "polite")
    view = AssistantView()
    while "StopInstance" not in [c.name for c in complete(episode).actions[0].calls]:
        episode.step(oracle.act(view.observe(episode)))
    left = complete(episode)
    episode.step(oracle.act(view.observe(episode)))
    after = complete(episode)
    assert (left.success, after.success) == (True, True)
    assert not any(c.name == "StopInstance" for a in after.actions for c in a.calls)


def test_after_a_void_no_success_is_known():
    episode = started()
    instance = episode.scenario.values["instance"]
    arguments = canonical({"InstanceId": instance})
    episode.step(AssistantAction("call", calls=(ToolCall("", "DeleteInstance", arguments),)))
    found = complete(episode)
    assert not found.success
    assert found.micro < 0


def test_an_ended_episode_is_its_own_completion():
    episode = started()
    episode.step(AssistantAction("close", "Goodbye."))
    assert complete(episode) == (return_micro(episode), False, ())


def test_an_ending_that_is_refused_is_cut_off():
    episode = TicketEpisode(BILLING, max_chars=3, max_invalid=100)
    episode.reset(seed=3)
    found = complete(episode)
    assert (found.success, found.micro < 0) == (False, True)


def test_nobody_completes_what_others_must_answer():
    with pytest.raises(EpisodeNotRunning):
        complete(TicketEpisode(BILLING))
    episode = TicketEpisode(BILLING, customer="external")
    episode.reset(seed=3)
    with pytest.raises(OptionError):
        complete(episode)
    episode.apply(ASSISTANT, "Which one?")
    with pytest.raises(EpisodeNotRunning):
        complete(episode)


class Fails:
    name = "fails"

    def assess(self, scenario, text, acts):
        if text:
            raise EndpointError("down")
        return Assessment()


def test_a_judge_that_fails_on_every_way_is_no_value():
    episode = TicketEpisode(BILLING, judge=Fails())
    episode.reset(seed=3)
    with pytest.raises(EndpointError):
        complete(episode)
