"""A finished episode as numbers."""

from __future__ import annotations

import json

import pytest

from cirrus_env.adapters.scores import score_of
from cirrus_env.baselines import policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EpisodeNotRunning


def test_the_value_is_the_return_that_the_steps_added_up_to():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    oracle, total = policy("oracle", episode), 0.0
    while episode.outcome is None:
        total += episode.step(oracle.act({"message": episode.messages[-1]["content"]})).reward
    score = score_of(episode)
    assert score.value == pytest.approx(total, abs=1e-6)
    assert score.value > 0.9
    assert score.metrics["success"] == 1.0
    assert all(type(value) is float for value in score.metrics.values())
    assert score.facts["outcome"] == "success"
    assert score.facts["variant"] == episode.scenario.variant
    assert json.loads(json.dumps(score.facts)) == score.facts


def test_a_stopped_episode_has_what_it_got_so_far():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    got = episode.step("Which instance is it?").reward
    assert got > 0
    got += episode.truncate().reward
    assert score_of(episode).value == pytest.approx(got, abs=1e-6)
    metrics = score_of(episode).metrics
    assert metrics["success"] == 0.0
    assert episode.metrics()["incorrect_action_rate"] is None
    assert "incorrect_action_rate" not in metrics, "a rate of nothing is no number"


@pytest.mark.parametrize("reason", ["agent_error", "customer_error", "judge_error"])
def test_a_failure_has_no_value_and_no_metrics(reason):
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    episode.step("Which instance is it?")
    episode.truncate(reason)
    score = score_of(episode)
    assert (score.value, score.metrics) == (None, {})
    assert (score.facts["outcome"], score.facts["valid"]) == (reason, False)


def test_an_episode_that_goes_on_has_none():
    episode = TicketEpisode("ECS-Billing")
    with pytest.raises(EpisodeNotRunning):
        score_of(episode)
    episode.reset(seed=3)
    with pytest.raises(EpisodeNotRunning):
        score_of(episode)
