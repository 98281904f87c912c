"""Where an episode lost its return."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cirrus_env.baselines import policy
from cirrus_env.customers.registry import customer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.regret import regrets, stored_regrets
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import AssistantAction, ToolCall, canonical

SMALL = load_ticket(Path(__file__).with_name("small.toml"))


def played(name: str, ticket="ECS-Billing", seed=3, **settings) -> TicketEpisode:
    episode = TicketEpisode(ticket, **settings)
    episode.reset(seed=seed)
    who, view = policy(name, episode), AssistantView()
    who.reset(seed)
    while episode.outcome is None:
        episode.step(who.act(view.observe(episode)))
    return episode


@pytest.mark.parametrize(("name", "jumps"), [("oracle", False), ("jump-oracle", True)])
def test_the_oracle_regrets_nothing(name, jumps):
    found = regrets(played(name), jumps=jumps)
    assert [each.regret_micro for each in found.actions] == [0] * len(found.actions)
    assert (found.success, found.lost_at) == (True, None)


def test_a_wrong_act_shows_its_regret_at_exactly_that_action():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    oracle, view = policy("oracle", episode), AssistantView()
    instance = episode.scenario.values["instance"]
    for _ in range(3):
        episode.step(oracle.act(view.observe(episode)))
    wrong = ToolCall("", "DeleteInstance", canonical({"InstanceId": instance}))
    at = len(episode.records)
    episode.step(AssistantAction("call", calls=(wrong,)))
    while episode.outcome is None:
        episode.step(oracle.act(view.observe(episode)))
    found = regrets(episode)
    assert [each.i for each in found.actions if each.regret_micro] == [at]
    assert found.lost_at is not None
    assert (found.lost_at.i, found.lost_at.action.calls[0].name) == (at, "DeleteInstance")
    assert found.lost_at.regret > 0.9
    assert [each.winnable for each in found.actions] == [e.i <= at for e in found.actions]


@settings(max_examples=12)
@given(
    st.integers(0, 1000),
    st.sampled_from(("keyword", "random", "oracle:filler", "do-nothing", "oracle:late-consent")),
    st.booleans(),
    st.sampled_from(("cirrus", "sparse", "shaped")),
)
def test_regrets_add_up_to_what_was_lost(seed, name, jumps, reward):
    episode = played(name, seed=seed, reward=reward)
    found = regrets(episode, jumps=jumps)
    total = sum(each.regret_micro for each in found.actions)
    assert found.actions[0].value_micro == found.return_micro + total
    assert all(each.regret_micro >= 0 for each in found.actions)
    assert found.return_micro == trajectory(episode).last["return_micro"]
    assert sum(found.by_turn().values()) == pytest.approx(total / 1e6)


def test_a_stored_trajectory_has_the_regrets_of_its_episode(tmp_path):
    episode = played("keyword", SMALL, reward="sparse")
    found = regrets(episode)
    assert regrets(trajectory(episode), SMALL, reward="sparse") == found
    jobs = jobs_for([find_agent("keyword")], [SMALL], [3])
    run_jobs(jobs, settings={"reward": "sparse"}, folder=tmp_path)
    run = StoredRun(tmp_path)
    assert stored_regrets(run, run[0]) == found
    assert json.loads(json.dumps(found.to_json()))["return"] == found.return_micro / 1e6


def test_reset_options_and_a_stop_are_played_again():
    simulated = customer("simulated")
    episode = TicketEpisode(bundled("ECS-Billing"), customer="external")
    options = {"variant": "kept-charging", "turn": 1, "customer": simulated, "language": "zh"}
    episode.reset(seed=5, options=options)
    episode.step("请稍等。")
    going = regrets(episode)
    assert len(going.actions) == 1
    assert going.success
    episode.truncate()
    found = regrets(episode)
    assert (found.return_micro, found.success) == (trajectory(episode).last["return_micro"], False)
    assert found.lost_at == found.actions[0]
    stopped = trajectory(episode)
    header = {**stopped.header, "customer": "simulated"}
    assert regrets(replace(stopped, header=header)) == found


def test_what_says_nothing_has_no_regret():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    episode.truncate("agent_error")
    for failed in (episode, trajectory(episode)):
        with pytest.raises(OptionError, match="outside reasons"):
            regrets(failed)
    with pytest.raises(OptionError, match="no whole episode"):
        regrets(replace(trajectory(episode), records=()))


class Moody:
    """Says something else each time that it is asked."""

    name = "moody"

    def __init__(self):
        self.inner = customer("simulated")
        self.times = 0

    def begin(self, scenario):
        return self.inner.begin(scenario)

    def react(self, mind, view):
        self.times += 1
        found = self.inner.react(mind, view)
        return found._replace(action=replace(found.action, text=f"No. {self.times}"))


def test_a_customer_that_changes_its_words_is_refused():
    episode = TicketEpisode("ECS-Billing", customer=Moody())
    episode.reset(seed=3)
    episode.step("Which one?")
    with pytest.raises(OptionError, match="otherwise"):
        regrets(episode)
