"""Tickets from recorded conversations run in the same environments."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.registration import registry

import cirrus_env
from cirrus_env.adapters.tooltalk import import_tooltalk
from cirrus_env.envs import conformance

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "tooltalk"


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not here")
    before = dict(registry)
    folder = tmp_path_factory.mktemp("imported")
    import_tooltalk(SAMPLES, folder)
    yield cirrus_env.register_tickets(folder)
    registry.clear()
    registry.update(before)


@pytest.mark.parametrize("arguments", [{}, {"customer": "replay"}, {"seat": "customer"}])
def test_conformance_of_an_imported_ticket(imported, arguments):
    report = conformance.check(lambda: gymnasium.make(imported[0], **arguments), seeds=(0,))
    assert report.problems == ()
    assert report.require().ended == 1


def test_each_imported_ticket_plays_under_its_id(imported):
    assert imported == cirrus_env.ids("Imported")
    for name in imported:
        env = gymnasium.make(name, customer="replay")
        observation, info = env.reset(seed=0)
        assert observation in env.observation_space
        assert (info["ticket"], info["customer"]) == (name, "replay")
        *_, info = env.step("I will look into it.")
        assert info["turn"] == 1


def test_an_imported_ticket_speaks_as_it_was_recorded_unless_told_otherwise(imported):
    assert gymnasium.make(imported[0]).reset(seed=1)[1]["customer"] == "replay"
