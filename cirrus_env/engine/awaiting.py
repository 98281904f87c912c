"""``engine.play`` for customers that are awaited: the same moves, many episodes at once."""

from __future__ import annotations

from collections.abc import Iterable

from cirrus_env.customers.protocol import AsyncCustomer
from cirrus_env.engine import assistant
from cirrus_env.engine.failures import aopening, areaction, fail
from cirrus_env.engine.plan import PATIENCE, with_waits
from cirrus_env.engine.play import (
    again,
    answer,
    customers_turn,
    feel,
    gone,
    last_view,
    record,
    serve,
    view_of,
)
from cirrus_env.engine.stage import Stage
from cirrus_env.errors import EndpointError
from cirrus_env.wire import ASSISTANT, AssistantAction


async def abegin(stage: Stage, customer: AsyncCustomer) -> None:
    """``play.begin``, awaited."""
    serve(stage, *await aopening(customer, stage.scenario))


async def aplay(stage: Stage, customer: AsyncCustomer, action: AssistantAction) -> None:
    """``play.play``, awaited."""
    stored, move = assistant.take(stage, action)
    if move.how:
        try:
            feel(stage, move, await areaction(stage, customer, last_view(stage)))
        except EndpointError as error:
            fail(move, "customer", error)
    record(stage, ASSISTANT, stored.to_json(), move)
    await aserve(stage, customer)


async def aserve(stage: Stage, customer: AsyncCustomer) -> None:
    """The customer acts until it is the assistant's turn."""
    while customers_turn(stage):
        try:
            found = await areaction(stage, customer, view_of(stage))
        except EndpointError as error:
            gone(stage, error)
        else:
            answer(stage, found)


async def aplay_through(
    stage: Stage, customer: AsyncCustomer, actions: Iterable[AssistantAction]
) -> None:
    """``play.play_through``, awaited."""
    for step in with_waits(stage.scenario, actions):
        for _ in range(PATIENCE + 1):
            if stage.state.outcome is not None:
                return
            start = len(stage.state.messages) + 1
            await aplay(stage, customer, step.action)
            if not again(stage, step, start):
                break
