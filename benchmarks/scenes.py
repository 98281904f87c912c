"""What the benchmarks play: recorded oracle actions, and tickets widened for one question each."""

from __future__ import annotations

import time
from typing import Any

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Act, AssistantAction, ToolCall

ENV = "Cirrus/ECS-Billing-v0"


def oracle_actions(env: Any, seeds: range) -> dict[int, list[Any]]:
    """The oracle's actions for each seed, so that only the environment is timed."""
    recorded = {}
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        policy = oracle_for(env)
        actions, done = [], False
        while not done:
            actions.append(policy.act(observation))
            observation, _, terminated, truncated, info = env.step(actions[-1])
            done = terminated or truncated
        if info["outcome"] != "success":
            raise SystemExit(f"the oracle ends with {info['outcome']} on seed {seed}")
        recorded[seed] = actions
    return recorded


def seconds_a_step(env: Any, recorded: dict[int, list[Any]]) -> float:
    """Mean seconds of one step over the recorded episodes; resets are left out."""
    spent, steps = 0.0, 0
    for seed, actions in recorded.items():
        env.reset(seed=seed)
        start = time.perf_counter()
        for action in actions:
            env.step(action)
        spent += time.perf_counter() - start
        steps += len(actions)
    return spent / steps


class Patient(SimulatedCustomer):
    """The simulated customer with patience for any number of turns."""

    name = "patient"

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Any]:
        """As the simulated customer, with a mind that doesn't tire."""
        words, acts, mind = super().begin(scenario)
        return words, acts, mind._replace(patience=1_000_000)


def crowded(disks: int) -> Ticket:
    """ECS-Billing with so many more disks in the account."""
    extra = f'\n[[distractors]]\nkind = "disk.disk"\ncount = {disks}\n'
    return load_ticket(bundled("ECS-Billing").text + extra)


def turn(number: int) -> list[AssistantAction]:
    """A read and a reply, unlike those of other turns."""
    call = ToolCall("", "DescribeInstances", f'{{"PageNumber":1,"PageSize":{10 + number % 40}}}')
    return [
        AssistantAction("call", calls=(call,)),
        AssistantAction("reply", f"I am still looking into it, note {number}. One moment, please."),
    ]
