"""The speed table's own arithmetic and scenes; the numbers themselves are for a quiet machine."""

from __future__ import annotations

import json
import sys

import pytest

import benchmarks.__main__ as program
from benchmarks import measures, scenes
from benchmarks.rows import Row
from cirrus_env.engine.episode import TicketEpisode


@pytest.mark.parametrize(
    ("value", "goal", "better", "ratio", "met"),
    [
        (30, 10, "more", 3.0, True),
        (5, 10, "more", 0.5, False),
        (5, 10, "less", 0.5, True),
        (15, 10, "less", 1.5, False),
        (0, 0, "less", None, True),
        (1, 0, "less", None, False),
        (5, None, "more", None, True),
    ],
)
def test_a_row_knows_whether_its_goal_is_met(value, goal, better, ratio, met):
    row = Row("x", value, "u", goal, better)
    assert (row.ratio, row.met) == (ratio, met)
    assert row.to_json()["met"] == met


def test_recorded_actions_play_the_same_episode_again():
    episode = TicketEpisode(scenes.ENV)
    recorded = scenes.oracle_actions(_Env(episode), range(2))
    assert scenes.seconds_a_step(episode, recorded) > 0
    assert episode.outcome.success


class _Env:
    """As much of an environment as recording needs."""

    def __init__(self, episode):
        from cirrus_env.envs.ticket_env import TicketEnv

        self._env = TicketEnv(episode.ticket)

    def __getattr__(self, name):
        return getattr(self._env, name)


def test_a_crowded_world_has_so_many_more_resources():
    few, many = (TicketEpisode(scenes.crowded(count)) for count in (5, 105))
    sizes = []
    for episode in (few, many):
        episode.reset(seed=0)
        sizes.append(len(episode.scenario.cloud.records("disk.disk")))
    assert sizes[1] - sizes[0] == 100


def test_the_patient_customer_never_leaves():
    episode = TicketEpisode("ECS-Billing", customer=scenes.Patient(), max_turns=60)
    episode.reset(seed=0)
    for number in range(59):
        for action in scenes.turn(number):
            episode.step(action)
    assert episode.outcome is None


def measure_nothing():
    yield Row("a row", 1234.5, "u/s", 1000)
    yield Row("another", 2.0, "ms", 1, "less")


def test_the_table_names_missed_goals_and_exits_1(monkeypatch, capsys):
    monkeypatch.setattr(program, "ALL", (measure_nothing,))
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    assert program.main() == 1
    out = capsys.readouterr().out
    assert ">= 1,000" in out
    assert "1,234" in out or "1,235" in out
    assert "MISSED" in out


def test_json_and_names(monkeypatch, capsys):
    monkeypatch.setattr(program, "ALL", (measure_nothing, measures.imports))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--json", "measure_nothing"])
    program.main()
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == ["a row", "another"]
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nothing"])
    with pytest.raises(SystemExit) as stopped:
        program.main()
    assert stopped.value.code == 2
    assert "there is no measurement 'nothing'" in capsys.readouterr().err
