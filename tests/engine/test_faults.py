"""Episodes in a cloud whose answers are faulty by seed."""

from __future__ import annotations

import json
import pickle

import gymnasium as gym
import pytest

import cirrus_env
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.replay import replay, trajectory
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, ToolCall


def called(episode, name, **arguments):
    action = AssistantAction("call", calls=(ToolCall("c", name, json.dumps(arguments)),))
    return json.loads(episode.step(action).delta[0]["content"])


def an_instance(episode):
    return next(iter(episode.state.cloud.records("ecs.instance")))


def test_none_are_on_by_default():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=1)
    assert episode.header["faults"] == {}
    assert episode.state.cloud.faults is None


@pytest.mark.parametrize("given", ["wild", {"lag": 1}, {"stale": 2}, 3])
def test_faults_that_are_none(given):
    with pytest.raises(OptionError):
        TicketEpisode("ECS-Billing", faults=given)


def test_a_throttled_call_does_nothing_and_passes_nothing():
    episode = TicketEpisode("ECS-Billing", faults={"throttling": 1})
    episode.reset(seed=1)
    assert called(episode, "DescribeInstances")["Code"] == "Throttling.User"
    [event] = episode.records[-1].events
    assert (event.value["ok"], event.value["code"]) == (False, "Throttling.User")


def test_a_change_whose_answer_is_lost_counts_as_made():
    episode = TicketEpisode("ECS-Billing", faults={"timeout": 1})
    episode.reset(seed=1, options={"variant": "kept-charging"})
    id = an_instance(episode)
    assert called(episode, "StartInstance", InstanceId=id)["Code"] == "ServiceUnavailable"
    [event] = [e for e in episode.records[-1].events if e.kind == "called"]
    assert (event.value["ok"], event.value["code"]) == (True, "ServiceUnavailable")
    assert event.value["changed"][0][:2] == ["ecs.instance", id]
    assert episode.state.evidence.calls[-1].operation == "StartInstance"


def test_a_replay_meets_the_same_faults():
    episode = TicketEpisode("ECS-Billing", faults="harsh", max_turns=12)
    observation, _ = episode.reset(seed=5)
    for _ in range(8):
        called(episode, "DescribeInstances")
    episode.step("I am looking into it.")
    stored = trajectory(episode)
    assert json.loads(stored.lines()[0])["faults"]["stale"] == 0.2
    again = trajectory(replay(stored))
    assert again.digest == stored.digest
    assert [m["content"] for m in replay(stored).messages] == [
        m["content"] for m in episode.messages
    ]
    assert observation[0]["role"] == "system"


def test_a_snapshot_goes_on_with_the_same_faults():
    episode = TicketEpisode("ECS-Billing", faults="harsh", max_tool_calls=99)
    episode.reset(seed=5)
    mark, twin = episode.snapshot(), episode.fork()
    first = [called(episode, "DescribeInstances", MaxResults=5) for _ in range(10)]
    assert [called(twin, "DescribeInstances", MaxResults=5) for _ in range(10)] == first
    episode.restore(mark)
    assert [called(episode, "DescribeInstances", MaxResults=5) for _ in range(10)] == first
    assert {answer.get("Code", "") for answer in first} >= {"", "Throttling.User"}


def test_the_environment_takes_them_and_its_spec_is_json():
    cirrus_env.register_all()
    env = gym.make("Cirrus/ECS-Billing-v0", faults={"throttling": 0.5})
    assert env.spec is not None
    json.loads(env.spec.to_json())
    env.reset(seed=1)
    assert env.unwrapped.episode.header["faults"] == {"throttling": 0.5}  # type: ignore[attr-defined]
    setting = env.unwrapped.episode.setting  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(setting.faults)) == setting.faults
    env.close()


def test_what_the_oracle_s_calls_meet_is_recorded():
    """Where an answer is refused, the reference alone is no way to success."""
    made = TicketEpisode("ECS-Billing", faults={"throttling": 1}, max_tool_calls=200)
    made.reset(seed=2)
    made.play_through(reference_actions(made.scenario))
    assert made.outcome is not None
    codes = [e.value["code"] for r in made.records for e in r.events if e.kind == "called"]
    assert set(codes) == {"Throttling.User"}
    assert made.outcome.success is False


def test_the_reference_gets_through_throttling_by_asking_again():
    for seed in range(12):
        made = TicketEpisode("ECS-Billing", faults={"throttling": 0.3}, max_tool_calls=200)
        made.reset(seed=seed)
        made.play_through(reference_actions(made.scenario))
        assert made.outcome is not None
        assert made.outcome.success is True
