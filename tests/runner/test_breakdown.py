"""Success over several trials, and by kinds of ticket."""

from dataclasses import replace

import pytest

from cirrus_env.errors import OptionError
from cirrus_env.runner.breakdown import KINDS, breakdown, passes
from cirrus_env.runner.compare import compare
from cirrus_env.runner.rows import Row

METRICS = {
    "tpr": 0.5, "nei": None, "efficiency": 0.0, "mtl": 12.0, "tokens": 60, "turns": 5,
    "policy_violations": 0, "invalid_action_rate": 0.0, "incorrect_action_rate": None, "cost": 0,
    "satisfaction": 0.25, "checkpoints": 6,
}  # fmt: skip


def row(ticket="Cirrus/ECS-Billing-v0", seed=0, success=True, agent="a", **changes) -> Row:
    base = Row(
        agent=agent, ticket=ticket, digest="d", seed=seed, variant="subscription", language="en",
        outcome="success" if success else "closed_early", success=success, valid=True,
        return_micro=0, metrics=METRICS,
    )  # fmt: skip
    return replace(base, **changes)


def test_pass_hat_k_and_pass_at_k_are_means_over_tickets():
    rows = [row("A", s, s < 3) for s in range(4)] + [row("B", s, s < 1) for s in range(4)]
    found = passes(rows)
    assert [p.k for p in found] == [1, 2, 3, 4]
    assert found[0].hat == found[0].at == (3 / 4 + 1 / 4) / 2
    assert found[1].hat == (3 / 6 + 0) / 2
    assert found[1].at == ((1 - 0) + (1 - 3 / 6)) / 2
    assert found[3].hat == 0
    assert found[3].at == 1


def test_k_goes_no_further_than_the_fewest_trials_and_unscored_tickets_have_none():
    rows = [row("A", s) for s in range(5)] + [row("B", s) for s in range(2)]
    assert [p.k for p in passes([*rows, row("C", 0, None)])] == [1, 2]
    assert passes([row("C", 0, None)]) == ()


def test_an_invalid_episode_is_a_failed_trial():
    rows = [row("A", 0), row("A", 1, None, valid=False, outcome="agent_error")]
    assert passes(rows)[0].hat == 0.5


def test_success_by_ending_tools_service_language_and_checkpoints():
    rows = [
        row(seed=0),
        row(seed=1, success=False, language="zh", variant="kept-charging"),
        row("Cirrus/ECS-Renewal-v0", 2, variant="released", metrics={**METRICS, "checkpoints": 3}),
        row("Imported/Mine-v0", 3, variant="recorded"),
    ]
    parts = {
        (part.by, part.value): (part.rates.sr.mean, part.rates.sr.n)
        for part in breakdown(rows, list(KINDS))
    }
    assert parts["ending", "guide"] == (1.0, 1)
    assert parts["ending", "resolve"] == (0.0, 1)
    assert parts["ending", "refuse"] == (1.0, 1)
    assert parts["ending", "-"] == (1.0, 1)
    assert parts["tools", "without tools"] == (1.0, 1)
    assert parts["tools", "with tools"] == (0.5, 2)
    assert parts["service", "ECS"] == (pytest.approx(2 / 3), 3)
    assert parts["service", "Imported"] == (1.0, 1)
    assert parts["language", "zh"] == (0.0, 1)
    assert parts["checkpoints", "3"] == (1.0, 1)
    assert parts["split", "train"] == (pytest.approx(2 / 3), 3)


def test_an_unknown_kind_is_told():
    with pytest.raises(OptionError, match="service, ending"):
        breakdown([row()], ["colour"])


def test_a_comparison_carries_passes_and_parts_into_its_json():
    rows = [row(seed=s, success=s < 2) for s in range(4)]
    rows += [row(seed=s, success=False, agent="b") for s in range(4)]
    told = compare(rows, by=["ending"]).to_json()
    assert told["agents"][0]["pass^k"]["2"] == pytest.approx(1 / 6)
    assert told["agents"][0]["pass@k"]["2"] == pytest.approx(5 / 6)
    assert told["agents"][1]["sr_against_first"]["difference"]["mean"] == -0.5
    assert [part["agent"] for part in told["breakdown"]] == ["a", "b"]
