"""Law R8 by agents that are not part of the package: none succeeds or returns more than 0.05."""

from __future__ import annotations

import pytest
from reward_attacks import ATTACKS, Attack

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions, reference_turns
from cirrus_env.errors import OptionError
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import CustomerAction

MOST = 50_000
"""What an unsuccessful episode may return, in millionths (METRICS section 7)."""

CASES = [
    (entry["id"], variant, language)
    for entry in index()
    for variant in entry["variants"]
    for language in entry["languages"]
]
FEW = CASES[:: max(1, len(CASES) // 16)]
"""A spread of them for each change: the rest is in the long set."""


def episodes(cases, seeds):
    made: dict[str, TicketEpisode] = {}
    for name, variant, language in cases:
        episode = made.setdefault(name, TicketEpisode(name))
        for seed in seeds:
            episode.reset(seed=seed, options={"variant": variant, "language": language})
            yield f"{name}/{variant}/{language}/{seed}", episode


def play(episode: TicketEpisode, attack: Attack) -> bool:
    """Play the attack to its end; whether it applies."""
    actions = attack(episode)
    if actions is None:
        return False
    episode.play_through(actions)
    if episode.outcome is None:
        episode.truncate()
    return True


def holes(attack: Attack, cases, seeds) -> list[str]:
    found = []
    for where, episode in episodes(cases, seeds):
        if play(episode, attack) and (episode.outcome.success or episode.state.micro > MOST):
            found.append(f"{where}: {episode.outcome.name} {episode.state.micro / 1e6}")
    return found


@pytest.mark.parametrize("name", ATTACKS)
def test_a_cheap_agent_never_pays(name):
    assert holes(ATTACKS[name], FEW, [1]) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ATTACKS)
def test_a_cheap_agent_never_pays_anywhere(name):
    assert holes(ATTACKS[name], CASES, range(2, 7)) == []


def test_every_attack_applies_somewhere():
    for name, attack in ATTACKS.items():
        assert any(attack(episode) is not None for _, episode in episodes(CASES, [1])), name


def test_a_start_within_the_reference_pays_nothing_by_itself_and_stays_flagged():
    for where, episode in episodes(FEW, [1]):
        language, variant = episode.header["language"], episode.header["variant"]
        for turn in range(1, len(reference_turns(episode.scenario)) - 1):
            options = {"variant": variant, "language": language, "turn": turn}
            try:
                episode.reset(seed=1, options=options)
            except OptionError:
                break  # the reference is over by then: its customer has accepted
            start = episode.state.micro
            missing = [
                c.id
                for c in episode.scenario.gold.checkpoints
                if not c.skippable and c.id not in episode.state.evidence.passed
            ]
            step = episode.step({"role": "assistant", "content": "..."})
            gained = step.reward
            assert gained <= MOST / 1e6, where
            if episode.outcome is None:
                episode.truncate()
            assert episode.header["turn"] == turn
            assert not (missing and episode.outcome.success), where
            assert episode.state.micro - start <= MOST or episode.outcome.success, where


def test_a_customer_that_accepts_everything_can_not_make_a_success():
    for name, variant, language in FEW:
        episode = TicketEpisode(name, customer="external")
        episode.reset(seed=1, options={"variant": variant, "language": language})
        episode.step("It is solved. Is there anything else?")
        episode.apply("customer_0", CustomerAction("accept", "Yes, I accept, all is well!"))
        assert episode.outcome.name != "success"
        assert episode.state.micro <= MOST


def test_no_tools_no_success_where_tools_are_needed():
    for name, variant, language in FEW:
        if bundled(name).uses:
            episode = TicketEpisode(name, tools=[], max_invalid=100)
            episode.reset(seed=1, options={"variant": variant, "language": language})
            for action in reference_actions(episode.scenario):
                if episode.outcome is None:
                    episode.step(action)
            assert not episode.outcome.success
