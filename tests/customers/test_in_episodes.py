import pytest

from cirrus_env.baselines import oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.wire import AssistantAction

CASES = [
    (variant, language)
    for variant in ("halted-in-guest", "kept-charging", "economical-leftovers", "subscription")
    for language in ("en", "zh")
]


def satisfaction(episode):
    last = [e for e in episode.records[-1].events if e.kind == "satisfaction"]
    return last[0].value


def test_an_early_close_leaves_it_unhappy():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=1)
    episode.step(AssistantAction("close", "Bye."))
    assert satisfaction(episode) <= 300_000


def test_idle_talk_makes_it_leave_within_its_patience():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=1)
    turns = 0
    while episode.outcome is None:
        episode.step(f"Let me see, item {turns}.")
        turns += 1
    assert episode.outcome.name == "abandoned"
    assert turns <= episode.scenario.private.patience


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_the_oracle_keeps_it_from_leaving_and_pleases_it(variant, language):
    episode = TicketEpisode("ECS-Billing", language=language)
    episode.reset(seed=2, options={"variant": variant})
    oracle = oracle_for(episode)
    while episode.outcome is None:
        episode.step(oracle.act({"message": str(episode.messages[-1]["content"])}))
    assert episode.outcome.ending in ("close", "accept")
    assert satisfaction(episode) >= 800_000


def test_other_seeds_read_otherwise():
    openings = set()
    for seed in range(12):
        episode = TicketEpisode("ECS-Billing")
        episode.reset(seed=seed)
        openings.add(episode.step("Which instance is it, please?").delta[0]["content"])
    assert len(openings) == 12
