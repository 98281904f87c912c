"""A remote session without any protocol: whose episode it is, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from cirrus_env.adapters.session import Session
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError, EpisodeNotRunning, InvalidAction, OptionError

TASKS = Tasks(seeds=10)


def reset(session, **options):
    return asyncio.run(session.reset(**options))


def step(session, action):
    return asyncio.run(session.step(action))


def test_a_session_plays_the_episode_that_the_core_plays():
    session = Session(TASKS, max_turns=4)
    episode = TicketEpisode("ECS-Billing", max_turns=4)
    opening, info = episode.reset(seed=5)
    begun = reset(session, seed=5, ticket="ECS-Billing")
    assert (begun.messages, begun.info, begun.tools) == (opening, info, episode.chat_tools)
    assert (begun.reward, begun.done) == (None, False)
    for text in ("Which instance?", "Since when?", "And now?", "Sorry?"):
        mine, core = step(session, text), episode.step(text)
        assert mine.messages == core.delta
        assert (mine.reward, mine.terminated, mine.truncated, mine.info) == core[1:]
        assert mine.tools == []
    assert mine.done
    assert session.steps == 4


def test_a_task_is_its_ticket_and_its_seed():
    session = Session(TASKS)
    task = TASKS.get("test", 6)
    info = reset(session, split="test", index=6).info
    assert (info["ticket"], info["seed"]) == (task.ticket.env_id, task.seed)
    assert reset(session, split="test", index=6, seed=77).info["seed"] == 77
    assert reset(session, index=0).info["ticket"] == TASKS.get("train", 0).ticket.env_id


def test_without_a_task_the_seed_draws_the_ticket_of_the_split():
    session = Session(TASKS)
    drawn = [reset(session, seed=seed, split="test").info["ticket"] for seed in range(12)]
    assert drawn == [reset(session, seed=seed, split="test").info["ticket"] for seed in range(12)]
    assert set(drawn) == {ticket.env_id for ticket in TASKS.members("test")}


def test_a_given_seed_starts_the_stream_of_the_later_ones():
    def three():
        session = Session(TASKS)
        return [reset(session, **given).info["seed"] for given in ({"seed": 3}, {}, {})]

    assert three() == three()
    first, second, third = three()
    assert len({first, second, third}) == 3
    free = Session(TASKS)
    assert reset(free).info["seed"] != reset(free).info["seed"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": "3"},
        {"seed": True},
        {"seed": 1.0},
        {"index": -1},
        {"index": "0"},
        {"index": 10**6},
        {"index": 0, "split": "no"},
        {"index": 0, "ticket": "ECS-Billing"},
        {"split": "no"},
        {"ticket": "ECS-Biling"},
        {"ticket": 5},
        {"ticket": "ECS-Billing", "split": "test"},
        {"ticket": "ECS-Billing", "variant": "no"},
        {"ticket": "ECS-Billing", "varient": "no"},
        {"ticket": "ECS-Billing", "language": "fr"},
        {"ticket": "ECS-Billing", "turn": 500},
        {"customer": "external"},
        {"customer": SimulatedCustomer()},
    ],
)
def test_a_refused_reset_leaves_the_episode_before_as_it_was(wrong):
    session = Session(TASKS)
    reset(session, seed=2, ticket="ECS-Billing")
    step(session, "Which instance?")
    with pytest.raises(OptionError):
        reset(session, **wrong)
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=2)
    episode.step("Which instance?")
    assert step(session, "Since when?").messages == episode.step("Since when?").delta
    assert session.steps == 2


def test_a_wrong_action_changes_nothing():
    session = Session(TASKS)
    reset(session, seed=2, ticket="ECS-Billing")
    for wrong in (None, 5, {"role": "user", "content": "x"}, object()):
        with pytest.raises(InvalidAction):
            step(session, wrong)
    assert session.steps == 0
    assert step(session, "Hello?").messages


def test_actions_out_of_turn_are_refused():
    session = Session(TASKS)
    with pytest.raises(EpisodeNotRunning, match="reset"):
        step(session, "Hello?")
    reset(session, seed=1)
    assert session.truncate().done
    with pytest.raises(EpisodeNotRunning, match="ended"):
        step(session, "Hello?")


class Failing(SimulatedCustomer):
    name = "failing"

    def react(self, mind, view):
        raise EndpointError("down")


def test_a_failed_customer_gives_no_reward_rather_than_zero():
    session = Session(TASKS, customer=Failing())
    reset(session, seed=1)
    reply = step(session, "Hello?")
    assert (reply.reward, reply.truncated, reply.info["valid"]) == (None, True, 0)


def test_closing_lets_the_episode_go_and_a_reset_begins_again():
    session = Session(TASKS)
    reset(session, seed=1)
    gone = weakref.ref(session.episode)
    session.close()
    gc.collect()
    assert gone() is None
    assert session.steps == 0
    assert reset(session, seed=1).messages


def test_arguments_are_checked_when_the_session_is_made():
    with pytest.raises(OptionError, match="max_turns"):
        Session(TASKS, max_turns=0)
