"""Every ticket that ships: what holds without running an episode."""

import pytest

from cirrus_env.nlu.evidence import Evidence, holds
from cirrus_env.tickets.index import index
from cirrus_env.tickets.lint import lint
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario

IDS = [entry["id"] for entry in index()]
CASES = [
    (e["id"], v, language) for e in index() for v in e["variants"] for language in e["languages"]
]


@pytest.mark.parametrize("id", IDS)
def test_lint_finds_nothing(id):
    assert lint(bundled(id)) == []


@pytest.mark.parametrize(("id", "variant", "language"), CASES)
def test_nothing_holds_at_the_opening(id, variant, language):
    for seed in range(5):
        scenario = make_scenario(bundled(id), seed, variant=variant, language=language)
        evidence = Evidence()
        for checkpoint in scenario.gold.checkpoints:
            assert not holds(checkpoint.evidence, evidence, scenario.cloud), checkpoint.id
        for name, predicate in scenario.gold.must_flip:
            assert not holds(predicate, evidence, scenario.cloud), name
        for name, predicate in scenario.gold.must_hold:
            assert holds(predicate, evidence, scenario.cloud), name
        assert not holds(scenario.private.satisfied, evidence, scenario.cloud)


@pytest.mark.parametrize(("id", "variant", "language"), CASES)
def test_the_reference_calls_succeed_and_flip_what_must_flip(id, variant, language):
    for seed in range(5):
        scenario = make_scenario(bundled(id), seed, variant=variant, language=language)
        cloud = scenario.cloud.fork()
        for checkpoint in scenario.gold.checkpoints:
            for name, arguments in checkpoint.reference.calls:
                cloud.advance(60)
                result = cloud.call(name, dict(arguments))
                assert result.ok, (checkpoint.id, name, result.result)
        cloud.advance(60)
        for name, predicate in scenario.gold.must_flip:
            assert holds(predicate, Evidence(), cloud) or _by_customer(scenario), name


def _by_customer(scenario):
    """Whether the customer has to do something itself before the assertions can hold."""
    return any(action.operation for action in scenario.private.console.values())


@pytest.mark.parametrize(("id", "variant", "language"), CASES)
def test_what_may_change_is_there_or_may_come(id, variant, language):
    scenario = make_scenario(bundled(id), 1, variant=variant, language=language)
    for kind, record, _ in scenario.gold.may_change:
        assert kind in scenario.cloud.catalogue.kinds
        if record != "*" and kind != "account.verification":
            assert scenario.cloud.find(kind, record) is not None, (kind, record)


@pytest.mark.parametrize("id", IDS)
def test_texts_of_seeds_differ(id):
    for language in bundled(id).languages:
        said = set()
        for seed in range(30):
            private = make_scenario(bundled(id), seed, language=language).private
            said.add((private.opening, *(fact.text for fact in private.facts.values())))
        assert len(said) >= 28
        assert len({words[0] for words in said}) >= 4


@pytest.mark.parametrize(("id", "variant", "language"), CASES)
def test_tenants_never_share_a_resource(id, variant, language):
    scenario = make_scenario(bundled(id), 2, variant=variant, language=language)
    seen = set()
    for tenant in scenario.cloud.tenants():
        for kind in scenario.cloud.catalogue.kinds:
            for record in scenario.cloud.records(kind, tenant).values():
                assert record.tenant == tenant
                assert (kind, record.id) not in seen
                seen.add((kind, record.id))
