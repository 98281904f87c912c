from __future__ import annotations

from dataclasses import replace

import pytest

from cirrus_env.errors import ComparisonError
from cirrus_env.runner.compare import compare
from cirrus_env.runner.rows import Row

METRICS = {
    "tpr": 0.5,
    "nei": None,
    "efficiency": 0.0,
    "mtl": 12.0,
    "tokens": 60,
    "turns": 5,
    "policy_violations": 0,
    "invalid_action_rate": 0.0,
    "incorrect_action_rate": None,
    "cost": 0,
    "satisfaction": 0.25,
}


def row(agent: str, seed: int, success: bool | None = False, **changes) -> Row:
    base = Row(
        agent=agent,
        ticket=changes.pop("ticket", "Cirrus/A-v0"),
        digest="d",
        seed=seed,
        variant="v",
        language="en",
        outcome="success" if success else "closed_early",
        success=success,
        valid=True,
        return_micro=1_000_000 if success else 25_000,
        metrics={**METRICS, **changes.pop("metrics", {})},
    )
    return replace(base, **changes)


def invalid(agent: str, seed: int) -> Row:
    return row(
        agent, seed, None, outcome="agent_error", valid=False, return_micro=None, error="KeyError"
    )


def test_rates_and_means_of_each_agent():
    rows = [row("a", s, s < 3, metrics={"nei": 0.5, "efficiency": 0.8}) for s in range(4)]
    rows += [row("b", s, False) for s in range(4)]
    first, second = compare(rows).summaries
    assert first.rates.sr.mean == 0.75
    assert first.nei.mean == 0.5
    assert first.nei.n == 3, "NEI is averaged over successes"
    assert first.means["return"].mean == pytest.approx((3 * 1 + 0.025) / 4)
    assert first.endings == {"closed_early": 1, "success": 3}
    assert first.against_first is None
    assert second.rates.sr.mean == 0
    assert second.nei.mean is None
    assert second.against_first.difference.mean == -0.75


def test_amtl_is_a_mean_over_tickets_of_tokens_over_turns():
    rows = [
        row("a", 0, metrics={"tokens": 100, "turns": 10}),
        row("a", 1, metrics={"tokens": 20, "turns": 2}),
        row("a", 0, ticket="Cirrus/B-v0", metrics={"tokens": 90, "turns": 3}),
    ]
    (summary,) = compare(rows).summaries
    assert summary.amtl == pytest.approx((120 / 12 + 30) / 2)


def test_invalid_episodes_are_outside_the_rate_and_failures_in_the_floor():
    rows = [row("a", s, True) for s in range(99)] + [invalid("a", 99)]
    (summary,) = compare(rows).summaries
    assert summary.rates.sr.mean == 1.0
    assert summary.rates.sr_floor.mean == pytest.approx(0.99)
    assert summary.invalid_rate == pytest.approx(0.01)
    assert summary.means["return"].n == 99


def test_more_than_two_percent_invalid_is_refused_unless_forced():
    rows = [row("a", s, True) for s in range(30)] + [invalid("a", 30)]
    with pytest.raises(ComparisonError, match=r"1 of 31 episodes of a are invalid .*KeyError"):
        compare(rows)
    assert compare(rows, force=True).summaries[0].rates.invalid == 1


def test_other_digests_are_refused_unless_forced():
    rows = [row("a", 0), row("b", 0, digest="other")]
    with pytest.raises(ComparisonError, match="two texts of Cirrus/A-v0"):
        compare(rows)
    assert len(compare(rows, force=True).summaries) == 2


def test_unscored_tickets_are_counted_apart():
    rows = [row("a", 0, True), row("a", 1, None, outcome="unscored", ticket="Imported/x-v0")]
    (summary,) = compare(rows).summaries
    assert summary.rates.sr.n == 1
    assert summary.rates.unscored == 1


def test_episodes_pair_by_ticket_variant_language_and_seed():
    rows = []
    for agent in ("a", "b"):
        for variant in ("v", "w"):
            rows.append(row(agent, 0, agent == "a" or variant == "w", variant=variant))
    _, second = compare(rows).summaries
    assert second.against_first.difference.n == 2
    assert second.against_first.difference.mean == -0.5


def test_the_comparison_is_json():
    import json

    data = json.loads(json.dumps(compare([row("a", 3, True), row("b", 3)]).to_json()))
    assert data["tickets"] == {"Cirrus/A-v0": "d"}
    assert data["seeds"] == [3]
    assert [agent["sr"]["mean"] for agent in data["agents"]] == [1.0, 0.0]
    assert data["agents"][1]["sr_against_first"]["difference"]["mean"] == -1.0


def test_nothing_compares_to_nothing():
    assert compare([]).summaries == ()


def test_an_unscored_episode_is_no_part_of_the_return():
    rows = [row("a", 0, True), row("a", 1, None, outcome="unscored")]
    assert compare(rows).summaries[0].means["return"].mean == 1
