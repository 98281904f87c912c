"""A snapshot brings back all of its episode, and only its own ticket's."""

import pickle

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError


@pytest.fixture
def episode():
    return TicketEpisode("ECS-Billing")


def test_a_start_within_the_reference_stays_one_after_coming_back(episode):
    episode.reset(seed=1, options={"turn": 3})
    header, snapshot = episode.header, episode.snapshot()
    episode.reset(seed=5)
    episode.restore(snapshot)
    assert episode.header == header
    assert header["turn"] == 3


def test_the_customer_is_the_snapshots_own(episode):
    episode.reset(seed=1, options={"customer": "external"})
    external = episode.snapshot()
    episode.reset(seed=1)
    simulated = episode.snapshot()
    episode.restore(external)
    assert episode.header["customer"] == "external"
    episode.step("Which instance is it, please?")
    assert episode.to_move == "customer_0"
    for snapshot in (simulated, pickle.loads(pickle.dumps(simulated))):
        episode.restore(snapshot)
        assert episode.header["customer"] == "simulated"
        assert episode.step("Which instance is it, please?").delta[-1]["role"] == "user"


@pytest.mark.parametrize("wrong", [None, 5, "snapshot", ()])
def test_no_snapshot_is_no_place_to_go_back_to(episode, wrong):
    episode.reset(seed=1)
    with pytest.raises(OptionError):
        episode.restore(wrong)


def test_another_tickets_snapshot_is_refused_and_tells_nothing_of_it(episode):
    other = TicketEpisode("ECS-Locked")
    other.reset(seed=1)
    episode.reset(seed=1)
    with pytest.raises(OptionError) as refusal:
        episode.restore(other.snapshot())
    assert other.scenario.variant not in str(refusal.value) + repr(other.snapshot())


def test_a_callers_tools_are_its_own(episode):
    episode.reset(seed=1)
    known = episode.chat_tools
    episode.tools.append({})
    episode.tools[0]["function"]["strict"] = True
    episode.chat_tools[-1]["function"]["name"] = "other"
    assert episode.chat_tools == known
    TicketEpisode("ECS-Billing").reset(seed=1)
    assert episode.chat_tools == known
