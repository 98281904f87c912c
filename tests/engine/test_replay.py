"""Law R2: a stored trajectory plays again to the same bytes and scores to the same numbers."""

import json

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.replay import Trajectory, replay, rescore, trajectory
from cirrus_env.errors import StoreError
from cirrus_env.wire import AssistantAction, ToolCall


def played(seed: int, **options) -> TicketEpisode:
    made = TicketEpisode("ECS-Billing")
    made.reset(seed=seed, options=options)
    made.step("")
    made.step(AssistantAction("call", "hm", (ToolCall("", "DescribeDisks", '{"Size": NaN}'),)))
    for action in reference_actions(made.scenario)[options.get("turn", 0) :]:
        if made.to_move:
            made.step(action)
    return made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("turn", [0, 1])
def test_replaying_reproduces_every_byte(seed, turn):
    stored = trajectory(played(seed, turn=turn))
    again = Trajectory.from_lines(stored.lines())
    assert again == stored
    assert trajectory(replay(again)).lines() == stored.lines()
    assert again.digest == stored.digest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("turn", [0, 1])
def test_rescoring_without_an_environment_gives_the_same_numbers(seed, turn):
    made = played(seed, turn=turn)
    stored = Trajectory.from_lines(trajectory(made).lines())
    metrics, micro = rescore(stored.header, stored.records)
    assert metrics == made.metrics() == stored.last["metrics"]
    assert micro == stored.last["return_micro"]


def test_a_stopped_trajectory_replays_as_stopped():
    made = TicketEpisode("ECS-Billing")
    made.reset(seed=1)
    made.step("Which instance is it?")
    made.truncate()
    assert replay(trajectory(made)).outcome == made.outcome


@pytest.mark.parametrize("lines", [[], ["{}"], ["{}", "[]", "{}"], ["nonsense", "{}"]])
def test_what_is_no_trajectory_is_told(lines):
    with pytest.raises(StoreError, match="not a trajectory"):
        Trajectory.from_lines(lines)


def test_the_last_line_holds_outcome_metrics_return_and_state():
    last = json.loads(trajectory(played(3)).lines()[-1])
    assert sorted(last) == ["metrics", "outcome", "return_micro", "state"]
    assert len(last["state"]) == 64
