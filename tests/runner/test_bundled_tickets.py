"""Law R8 on every bundled ticket: one seed with each change, more in the long set."""

from __future__ import annotations

import pytest

from cirrus_env.runner.audit import Case, audit, cases_of
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled

CASES = list(cases_of([bundled(row["id"]) for row in index()], [0]))


def problems(cases: list[Case]) -> list[str]:
    return [f"{f.check}: {f.where}: {f.problem}" for f in audit(cases).findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_bundled_ticket_is_proved(case):
    assert problems([case]) == []


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_bundled_ticket_is_proved_on_many_seeds(case):
    assert problems([case._replace(seed=seed) for seed in range(1, 40)]) == []
