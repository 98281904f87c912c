"""Customers that are awaited: the same episodes, many at once, with failures told as ever."""

from __future__ import annotations

import asyncio

import pytest

from cirrus_env.customers.mind import FULL
from cirrus_env.customers.protocol import AsyncCustomer, awaited
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions, reference_turns
from cirrus_env.engine.replay import trajectory
from cirrus_env.errors import CustomerFailed, EndpointError, EpisodeNotRunning, OptionError
from cirrus_env.wire import AssistantAction

HELLO = "Which instance is it, please?"


class Awaited(SimulatedCustomer):
    """The simulated customer behind an await; fails as it was told to."""

    name = "simulated"

    def __init__(self, opens=None, fails=None) -> None:
        self.opens, self.fails = opens, fails
        self.asked = 0

    async def abegin(self, scenario):
        await asyncio.sleep(0)
        if isinstance(self.opens, Exception):
            raise self.opens
        return self.begin(scenario) if self.opens is None else self.opens

    async def areact(self, mind, view):
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(self.fails, Exception):
            raise self.fails
        found = self.react(mind, view)
        return found if self.fails is None else self.fails(found)


async def play_oracle(episode: TicketEpisode, seed: int, **options):
    await episode.areset(seed=seed, options=options)
    for action in reference_actions(episode.scenario):
        if episode.outcome is None:
            await episode.astep(action)
    return trajectory(episode).lines()


def test_a_customer_says_by_its_methods_whether_it_is_awaited():
    assert isinstance(Awaited(), AsyncCustomer)
    assert awaited(Awaited()) is not None
    assert awaited(SimulatedCustomer()) is awaited(None) is None


@pytest.mark.parametrize("ticket", ["ECS-Billing", "Billing-Refund", "ECS-Locked"])
def test_an_awaited_episode_is_the_synchronous_one_byte_for_byte(ticket):
    for seed in range(4):
        plain, waiting = TicketEpisode(ticket), TicketEpisode(ticket, customer=Awaited())
        expected = asyncio.run(play_oracle(plain, seed))
        assert asyncio.run(play_oracle(waiting, seed)) == expected
        plain.reset(seed=seed)
        for action in reference_actions(plain.scenario):
            if plain.outcome is None:
                plain.step(action)
        assert trajectory(plain).lines() == expected


def test_an_awaited_episode_can_begin_after_some_turns():
    plain, waiting = TicketEpisode("ECS-Billing"), TicketEpisode("ECS-Billing", customer=Awaited())
    expected, _ = plain.reset(seed=3, options={"turn": 2})
    messages, info = asyncio.run(waiting.areset(seed=3, options={"turn": 2}))
    assert messages == expected
    assert info["turn"] == 2
    with pytest.raises(OptionError, match="the reference has only"):
        asyncio.run(waiting.areset(seed=3, options={"turn": 99}))


@pytest.mark.parametrize("variant", ["halted-in-guest", "kept-charging"])
def test_a_beginning_that_waits_for_the_cloud_is_the_synchronous_one(variant):
    plain, waiting = TicketEpisode("ECS-Billing"), TicketEpisode("ECS-Billing", customer=Awaited())
    plain.reset(seed=3, options={"variant": variant})
    turns = len(reference_turns(plain.scenario))
    calls = sum(bool(action.calls) for action in reference_actions(plain.scenario))
    for turn in (turns - 1, turns):  # the customer accepts before the reference closes
        options = {"variant": variant, "turn": turn}
        for episode in (plain, waiting):
            with pytest.raises(OptionError, match=f"the reference ends within {turn} turns"):
                asyncio.run(episode.areset(seed=3, options=options))
        assert waiting.messages == plain.messages
        assert sum(m["role"] == "tool" for m in plain.messages) > calls  # it has looked again


def test_what_never_gets_ready_is_looked_at_a_bounded_number_of_times(monkeypatch):
    for module in ("awaiting", "play"):
        monkeypatch.setattr(f"cirrus_env.engine.{module}.again", lambda *looked: True)
        monkeypatch.setattr(f"cirrus_env.engine.{module}.PATIENCE", 1)
    plain, waiting = TicketEpisode("ECS-Billing"), TicketEpisode("ECS-Billing", customer=Awaited())
    expected, _ = plain.reset(seed=3, options={"turn": 1})
    messages, _ = asyncio.run(waiting.areset(seed=3, options={"turn": 1}))
    assert messages == expected
    assert [m["role"] for m in messages] == ["system", "user"] + ["assistant", "user"] * 2


def test_many_episodes_wait_at_once():
    async def all_of_them():
        episodes = [TicketEpisode("ECS-Billing", customer=Awaited()) for _ in range(5)]
        return await asyncio.gather(*(play_oracle(e, i) for i, e in enumerate(episodes)))

    alone = [asyncio.run(play_oracle(TicketEpisode("ECS-Billing"), seed)) for seed in range(5)]
    assert asyncio.run(all_of_them()) == alone


def test_nobody_else_moves_while_a_step_is_awaited():
    episode = TicketEpisode("ECS-Billing", customer=Awaited())

    async def both():
        await episode.areset(seed=1)
        mark = episode.snapshot()
        first = asyncio.create_task(episode.astep(HELLO))
        await asyncio.sleep(0)
        for call in (
            lambda: episode.step(HELLO), episode.truncate, episode.snapshot, episode.fork,
            lambda: episode.restore(mark), lambda: episode.reset(seed=2),
            lambda: episode.apply("assistant_0", HELLO),
        ):  # fmt: skip
            with pytest.raises(EpisodeNotRunning, match="still awaited"):
                call()
        with pytest.raises(EpisodeNotRunning, match="still awaited"):
            await episode.astep(HELLO)
        step = await first
        assert step.info["turn"] == 1
        episode.step(HELLO)

    asyncio.run(both())


def test_a_cancelled_step_leaves_the_customer_to_answer():
    episode = TicketEpisode("ECS-Billing", customer=Awaited())

    async def cancel():
        await episode.areset(seed=1)
        mark = episode.snapshot()
        task = asyncio.create_task(episode.astep(HELLO))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert episode.to_move == "customer_0"
        fork = episode.fork()
        assert fork.truncate("stopped").info["outcome"] == "stopped"
        episode.restore(mark)
        return await episode.astep(HELLO)

    expected = TicketEpisode("ECS-Billing")
    expected.reset(seed=1)
    assert asyncio.run(cancel()).delta == expected.step(HELLO).delta


def test_failures_of_an_awaited_customer_are_told_as_ever():
    async def step(customer, action=HELLO):
        episode = TicketEpisode("ECS-Billing", customer=customer)
        await episode.areset(seed=1)
        return await episode.astep(action)

    gone = asyncio.run(step(Awaited(fails=EndpointError("gone"))))
    assert (gone.reward, gone.truncated, gone.info["outcome"]) == (None, True, "customer_error")
    close = AssistantAction("close", "Bye.")
    gone = asyncio.run(step(Awaited(fails=EndpointError("gone")), close))
    assert (gone.reward, gone.info["outcome"]) == (None, "customer_error")
    with pytest.raises(CustomerFailed, match="ZeroDivisionError"):
        asyncio.run(step(Awaited(fails=ZeroDivisionError())))
    half = lambda found: found._replace(mind=found.mind._replace(satisfaction=0.5))  # noqa: E731
    wrong = Awaited(fails=half)
    with pytest.raises(CustomerFailed, match="no integer"):
        asyncio.run(step(wrong))
    left = asyncio.run(step(Awaited(fails=lambda found: found._replace(diverged=True))))
    assert left.info["outcome"] == "diverged"


def test_an_awaited_customer_that_cannot_begin():
    for opens, message in (
        (ZeroDivisionError(), "failed to begin: ZeroDivisionError"),
        (("Hi \ud800", (), None), "began with words that hold a lone surrogate"),
    ):
        episode = TicketEpisode("ECS-Billing", customer=Awaited(opens=opens))
        with pytest.raises(CustomerFailed, match=message):
            asyncio.run(episode.areset(seed=1))


def test_a_reset_may_bring_an_awaited_customer():
    customer = Awaited()
    episode = TicketEpisode("ECS-Billing")

    async def play():
        await episode.areset(seed=1, options={"customer": customer})
        return await episode.astep(HELLO)

    step = asyncio.run(play())
    assert customer.asked == 1
    assert step.info["valid"] == 1
    assert 0 <= episode.state.mind.satisfaction <= FULL
