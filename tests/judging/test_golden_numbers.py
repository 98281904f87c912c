"""Published numbers, recomputed from counts (METRICS section 9)."""

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from cirrus_env.judging.aggregate import mean_pass, success_rates, wilson
from cirrus_env.judging.paper import tpr_paper

REWARDS = Path(__file__).parents[3] / "shared/samples/tau-bench/derived_gpt-4o-airline_rewards.csv"


@pytest.fixture(scope="module")
def airline():
    if not REWARDS.exists():
        pytest.skip("the public tau-bench sample is not here")
    with REWARDS.open(encoding="utf-8") as file:
        return {
            (row["task_id"], int(row["trial"])): float(row["reward"]) == 1.0
            for row in csv.DictReader(file)
        }


def counts(episodes):
    result = {}
    for (task, _), success in episodes.items():
        successes, trials = result.get(task, (0, 0))
        result[task] = (successes + success, trials + 1)
    return result.values()


@pytest.mark.parametrize(
    ("k", "hat", "at"),
    [(1, 0.420, 0.420), (2, 0.2733, 0.5667), (3, 0.2200, 0.660), (4, 0.2000, 0.720)],
)
def test_tau_bench_airline_gpt_4o(airline, k, hat, at):
    assert len(airline) == 200
    got = mean_pass(counts(airline), k)
    assert got == (pytest.approx(hat, abs=5e-5), pytest.approx(at, abs=5e-5))


def test_tau_bench_airline_success_rate(airline):
    rates = success_rates({key: (success, True) for key, success in airline.items()})
    assert rates.sr.mean == 0.42
    assert rates.sr == rates.sr_floor
    assert rates.sr.low < 0.42 < rates.sr.high


def test_tau_bench_counts_without_the_sample():
    # 50 tasks by how many of 4 trials succeed: 14, 12, 10, 4 and 10 tasks with 0 to 4.
    tasks = [(0, 4)] * 14 + [(1, 4)] * 12 + [(2, 4)] * 10 + [(3, 4)] * 4 + [(4, 4)] * 10
    got = [mean_pass(tasks, k) for k in (1, 2, 3, 4)]
    assert [round(hat, 4) for hat, _ in got] == [0.42, 0.2733, 0.22, 0.2]
    assert [round(at, 4) for _, at in got] == [0.42, 0.5667, 0.66, 0.72]


def test_mtu_bench_gpt_4_multi_turn_single_tool():
    # Success is the share of dialogues with every turn right; 16 of 85.
    rates = success_rates({("mtu", k): (k < 16, True) for k in range(85)})
    assert round(100 * rates.sr.mean, 2) == 18.82
    low, high = wilson(16, 85)
    assert low < 16 / 85 < high


def test_mtu_bench_task_process_is_the_mean_correct_prefix():
    # A dialogue counts its right turns up to the first mistake, over all its turns.
    dialogues = [[True, True, False, True], [False, True], [True, True, True]]
    shares = [tpr_paper(turns) for turns in dialogues]
    assert shares == [Fraction(1, 2), 0, 1]
    # 85 dialogues as (right prefix, turns) that give both published figures: 16 are right
    # throughout, the others break off.
    counted = [(3, 3)] * 16 + [(1, 3)] * 45 + [(2, 7)] + [(0, 3)] * 23
    assert len(counted) == 85
    mean = sum(
        (tpr_paper([True] * right + [False] * (turns - right)) for right, turns in counted),
        Fraction(0),
    ) / len(counted)
    assert round(float(100 * mean), 2) == 36.81
    # (The scorer that never resets its flag calls all of them right.)
    assert sum(right == turns for right, turns in counted) == 16
