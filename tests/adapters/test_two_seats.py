"""Both seats on arrays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

from cirrus_env.adapters.two_seats import CONSOLE, CUSTOMER_MOVES, FACTS, TwoSeats
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.registration import ids
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import ASSISTANT, CUSTOMER

FIRST_FACT = len(CUSTOMER_MOVES)
FIRST_CONSOLE = FIRST_FACT + FACTS


def play(env: TwoSeats, act, seed=3) -> dict[str, float]:
    env.reset(seed=seed)
    total = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        total[agent] += reward
        env.step(None if terminated or truncated else act(agent))
    return total


def moves(assistant: int, customer: int):
    return lambda agent: assistant if agent == ASSISTANT else customer


def test_pettingzoos_own_checks_pass():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Agents have different|Observations are different")
        api_test(TwoSeats("ECS-Billing", max_turns=6), num_cycles=60)
    seed_test(lambda: TwoSeats("ECS-Billing", max_turns=6), num_cycles=20)


def test_telling_what_is_asked_passes_more_than_not_knowing():
    env = TwoSeats("ECS-Billing", reward={"progress": 1.0})
    facts = [f.name for f in _facts(env, 3)]
    useful = play(env, moves(0, FIRST_FACT + 1))
    useless = play(env, moves(0, CUSTOMER_MOVES.index("unsure")))
    assert len(facts) > 1
    assert useful[ASSISTANT] > useless[ASSISTANT] + 0.2
    assert useful[CUSTOMER] == useful[ASSISTANT]


def _facts(env, seed):
    env.reset(seed=seed)
    return [f for f in env.episode.scenario.private.facts.values() if f.when != "never"]


def test_what_the_customer_tells_is_its_own_fact():
    env = TwoSeats("ECS-Billing")
    fact = _facts(env, 3)[1]
    env.step(0)
    before = env.observe(CUSTOMER)
    env.step(FIRST_FACT + 1)
    assert env.episode.messages[-1]["content"] == fact.text
    after = env.observe(CUSTOMER)
    assert (before[2 + 1], after[2 + 1]) == (0.0, 1.0)


def test_each_move_does_what_its_name_says():
    env = TwoSeats("ECS-Billing")
    said = []
    for move in ("agree", "decline", "unsure"):
        env.reset(seed=3)
        env.step(1)
        env.step(CUSTOMER_MOVES.index(move))
        said.append(env.episode.messages[-1]["content"])
    assert said == ["Yes, please go ahead.", "No, I don't want that.", "I don't know."]
    for move, outcome in (("accept", "closed_early"), ("leave", "abandoned")):
        env.reset(seed=3)
        env.step(2)
        env.step(CUSTOMER_MOVES.index(move))
        assert env.infos[ASSISTANT]["outcome"] == outcome
        assert env.terminations == {ASSISTANT: True, CUSTOMER: True}
    env.reset(seed=3)
    env.step(3)
    assert env.episode.records[-1].action["kind"] == "close"


def test_what_the_customer_lacks_comes_to_not_knowing():
    env = TwoSeats("ECS-Billing")
    env.reset(seed=3)
    env.step(1)
    mask = env.infos[CUSTOMER]["action_mask"]
    for missing in (FIRST_FACT + FACTS - 1, FIRST_CONSOLE + CONSOLE - 1):
        assert not mask[missing]
        env.step(missing)
        assert env.episode.messages[-1]["content"] == "I don't know."
        env.step(1)


def test_a_console_action_keeps_the_move_and_comes_once_a_turn():
    with_console = next(name for name in ids() if _console(name))
    env = TwoSeats(with_console)
    env.reset(seed=1)
    env.step(1)
    env.step(FIRST_CONSOLE)
    assert env.episode.records[-1].action["kind"] == "console"
    assert env.agent_selection == CUSTOMER
    assert not env.infos[CUSTOMER]["action_mask"][FIRST_CONSOLE]
    env.step(FIRST_CONSOLE)
    assert env.agent_selection == ASSISTANT


def _console(name):
    episode = TicketEpisode(bundled(name))
    episode.reset(seed=1)
    return episode.scenario.private.console


@pytest.mark.parametrize("name", ids())
def test_no_ticket_has_more_than_there_are_moves_for(name):
    episode = TicketEpisode(bundled(name))
    for variant in episode.ticket.variants:
        episode.reset(seed=0, options={"variant": variant})
        private = episode.scenario.private
        assert len(private.facts) <= FACTS
        assert len(private.console) <= CONSOLE


def test_chinese_tickets_are_spoken_to_in_chinese():
    env = TwoSeats("ECS-Billing", language="zh")
    env.reset(seed=3)
    env.step(1)
    assert env.episode.messages[-1]["content"] == "请问是哪个资源？请提供它的ID。"
    env.step(0)
    assert env.episode.messages[-1]["content"] == "好的，请操作。"


@settings(max_examples=15)
@given(st.integers(0, 1000), st.lists(st.integers(0, 28), min_size=4, max_size=40))
def test_whatever_is_moved_the_same_moves_give_the_same_and_all_end_alike(seed, choices):
    env = TwoSeats("ECS-Locked", max_turns=8, shared=False)

    def run():
        left = iter(choices * 20)
        seen = []

        def act(agent):
            seen.append(env.observe(agent).tolist())
            return next(left) % env.action_space(agent).n

        total = play(env, act, seed)
        assert env.terminations == env.truncations == {}
        return total, seen, env.episode.outcome.name

    assert run() == run()


def test_seats_keep_their_own_rewards_unless_they_share():
    env = TwoSeats("ECS-Billing", shared=False, reward={"progress": 1.0})
    total = play(env, moves(0, FIRST_FACT + 1))
    assert total[ASSISTANT] > 0.2
    assert total[CUSTOMER] != total[ASSISTANT]


def test_given_seeds_come_in_order_and_over_again():
    env = TwoSeats("ECS-Billing", seeds=(4, 9))
    found = []
    for _ in range(3):
        env.reset(seed=1)
        found.append(env.episode.scenario.seed)
    assert found == [4, 9, 4]
    with pytest.raises(OptionError):
        TwoSeats("ECS-Billing", seeds=())


def test_moves_outside_the_space_and_out_of_time_are_refused():
    env = TwoSeats("ECS-Billing", render_mode="ansi")
    with pytest.raises(EpisodeNotRunning):
        env.step(0)
    env.reset(seed=3)
    for wrong in (4, -1, "0", None, np.float32(1.0)):
        with pytest.raises(InvalidAction):
            env.step(wrong)
    env.step(np.int64(1))
    assert "Which resource" in env.render()
    env.close()
