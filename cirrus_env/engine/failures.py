"""Whose fault it is when the code of a customer or a judge fails.

- It raises ``EndpointError``: what stands behind it, such as a model's endpoint, failed for good.
  The episode ends ``customer_error`` or ``judge_error``, invalid; the event ``failed`` holds what
  may be stored of it. Nothing is raised: a trainer's loop goes on with the next episode.
- It raises anything else, or gives what it can't: a fault in that code. ``CustomerFailed`` or
  ``JudgeFailed`` is raised from it, so that whoever wrote it sees where; the runner ends such an
  episode with the same outcome and goes on. From ``begin`` even an ``EndpointError`` comes out
  this way, because a reset can't give an episode that has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cirrus_env.customers.protocol import AsyncCustomer, Customer, Reaction, View
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.errors import CustomerFailed, EndpointError, JudgeFailed
from cirrus_env.judging.judge import Assessment, Judge
from cirrus_env.judging.outcome import Outcome
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import CUSTOMER_KINDS, Act, CustomerAction, Event, encodes


def opening(customer: Customer, scenario: Scenario) -> tuple[CustomerAction, tuple[Act, ...], Any]:
    """The customer's opening words, acts and mind.

    Raises:
        CustomerFailed: If it raised, or opened with what it can't.
    """
    try:
        words, acts, mind = customer.begin(scenario)
        action = CustomerAction("say", words)
        problem = _problem(action, acts, mind, scenario)
    except Exception as error:
        raise CustomerFailed(f"the customer failed to begin: {type(error).__name__}") from error
    if problem:
        raise CustomerFailed(f"the customer began with {problem}")
    return action, acts, mind


async def aopening(
    customer: AsyncCustomer, scenario: Scenario
) -> tuple[CustomerAction, tuple[Act, ...], Any]:
    """``opening`` of a customer that is awaited."""
    try:
        words, acts, mind = await customer.abegin(scenario)
        action = CustomerAction("say", words)
        problem = _problem(action, acts, mind, scenario)
    except Exception as error:
        raise CustomerFailed(f"the customer failed to begin: {type(error).__name__}") from error
    if problem:
        raise CustomerFailed(f"the customer began with {problem}")
    return action, acts, mind


def reaction(stage: Stage, customer: Customer, view: View) -> Reaction:
    """What the customer does now.

    Raises:
        EndpointError: What stands behind it failed for good.
        CustomerFailed: It raised something else, or did what it can't.
    """
    try:
        found = customer.react(stage.state.mind, view)
        problem = _problem(found.action, found.acts, found.mind, stage.scenario)
    except EndpointError:
        raise
    except Exception as error:
        raise CustomerFailed(f"the customer failed: {type(error).__name__}") from error
    if problem:
        raise CustomerFailed(f"the customer answered with {problem}")
    return found


async def areaction(stage: Stage, customer: AsyncCustomer, view: View) -> Reaction:
    """``reaction`` of a customer that is awaited."""
    try:
        found = await customer.areact(stage.state.mind, view)
        problem = _problem(found.action, found.acts, found.mind, stage.scenario)
    except EndpointError:
        raise
    except Exception as error:
        raise CustomerFailed(f"the customer failed: {type(error).__name__}") from error
    if problem:
        raise CustomerFailed(f"the customer answered with {problem}")
    return found


def _problem(action: CustomerAction, acts: tuple[Act, ...], mind: Any, scenario: Scenario) -> str:
    if action.kind not in CUSTOMER_KINDS:
        return f"an action of kind {action.kind!r}"[:100]
    if not encodes(action.text):
        return "words that hold a lone surrogate"
    if action.kind == "console" and action.console not in scenario.private.console:
        return f"a console action {action.console!r} that it doesn't have"[:100]
    if not isinstance(acts, tuple):
        return "acts that are no tuple"
    feels = getattr(mind, "satisfaction", 0)
    if type(feels) is not int or not 0 <= feels <= 1_000_000:
        return "a satisfaction that is no integer in [0, 1,000,000]"
    return ""


def assessed(judge: Judge, scenario: Scenario, text: str, acts: Sequence[Act]) -> Assessment:
    """The judge's verdict.

    Raises:
        EndpointError: What stands behind it failed for good.
        JudgeFailed: It raised something else, or gave no verdict.
    """
    try:
        found = judge.assess(scenario, text, acts)
        told, wrong = found
        if told or wrong:
            return Assessment(tuple(told), tuple((slot, value) for slot, value in wrong))
    except EndpointError:
        raise
    except Exception as error:
        raise JudgeFailed(f"the judge failed: {type(error).__name__}") from error
    return found


def fail(move: Move, who: str, error: EndpointError) -> Move:
    """End the move's episode as invalid: ``who`` is ``customer`` or ``judge``."""
    move.events.append(Event("failed", who, error.kept))
    move.outcome = Outcome(f"{who}_error", "failure", None)
    return move
