"""Many environments at once: what batching costs, and what waiting together gains."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import gymnasium

from benchmarks import scenes
from benchmarks.rows import Row
from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.envs.vector_env import TicketVectorEnv
from cirrus_env.tickets.model import Scenario

NUMBER = 256
ROUNDS = 5
WAITING = 32
SECONDS_A_CALL = 0.2


class Distant(SimulatedCustomer):
    """The simulated customer, answering as late as a model does."""

    name = "distant"

    async def abegin(self, scenario: Scenario) -> tuple[str, tuple[Any, ...], Any]:
        """As ``begin``; the opening takes no call."""
        return self.begin(scenario)

    async def areact(self, mind: Any, view: View) -> Reaction:
        """As ``react``, after the time of a call."""
        await asyncio.sleep(SECONDS_A_CALL)
        return self.react(mind, view)


def vector() -> Iterator[Row]:
    """Steps a second of 256 environments together, over those of one."""
    env = gymnasium.make(scenes.ENV)
    recorded = scenes.oracle_actions(env, range(NUMBER))
    most = min(map(len, recorded.values())) - 1  # nobody has ended by then
    first = {seed: actions[:most] for seed, actions in recorded.items()}
    envs = gymnasium.make_vec(scenes.ENV, num_envs=NUMBER)
    alone, together = [], []
    for _ in range(ROUNDS):
        alone.append(scenes.seconds_a_step(env, first))
        envs.reset(seed=0)
        start = time.perf_counter()
        for k in range(most):
            envs.step([first[seed][k] for seed in range(NUMBER)])
        together.append((time.perf_counter() - start) / (NUMBER * most))
    yield Row(f"oracle, vector environment of {NUMBER}", 1 / min(together), "steps/s")
    yield Row(f"vector of {NUMBER} over single", min(alone) / min(together), "x", 0.8)


def gathered() -> Iterator[Row]:
    """What waiting together gains where a model plays each customer, at 200 ms a call."""
    customer = Distant()
    env = TicketEnv("ECS-Billing", customer=customer)
    envs = TicketVectorEnv("ECS-Billing", WAITING, customer=customer)
    reply = "Which instance is it, please?"

    async def single() -> float:
        await env.areset(seed=0)
        start = time.perf_counter()
        await env.astep(reply)
        return time.perf_counter() - start

    alone = asyncio.run(single())
    envs.reset(seed=0)
    start = time.perf_counter()
    envs.step([reply] * WAITING)
    together = (time.perf_counter() - start) / WAITING
    envs.close()
    name = f"vector of {WAITING} over single, customers of 200 ms"
    yield Row(name, alone / together, "x", 0.8 * WAITING)
