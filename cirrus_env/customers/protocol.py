"""What a customer is: stateless behaviour over an immutable mind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from cirrus_env.nlu.evidence import Call
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act, CustomerAction


class View(NamedTuple):
    """What a customer may know at its turn.

    Attributes:
        scenario: Use ``.private`` and ``.public`` only.
        text: The assistant's delivered words.
        acts: The dialogue acts read from them.
        told: Slots told rightly so far -> the step.
        satisfied: ``private.satisfied`` on the true state, now; for a customer whose
            ``checks_when_asked`` is True only where the assistant claims to be done, asks whether
            anything remains, or closes, else False.
        closing: Whether the assistant is closing with these words.
        console: The console action just done and whether it worked; None otherwise.
        turn: The assistant's turn, from 1.
        calls: Successful calls so far, oldest first. A simulated customer looks at the operations'
            names only, to know what the assistant has seen when it confronts it.
        passed: Checkpoints passed or skipped so far; only the replayed customer looks at them.
    """

    scenario: Scenario
    text: str
    acts: tuple[Act, ...]
    told: Mapping[str, int]
    satisfied: bool
    closing: bool = False
    console: tuple[str, bool] | None = None
    turn: int = 1
    calls: Sequence[Call] = ()
    passed: Collection[str] = ()


class Reaction(NamedTuple):
    """One action of the customer.

    Attributes:
        action: What it does.
        acts: What its words mean: ``answered``, ``volunteered``, ``agreed``, ``declined``, ``did``,
            ``complained``.
        mind: Its mind afterwards.
        diverged: Whether a recorded customer can't go on (the action is then ``leave``).
    """

    action: CustomerAction
    acts: tuple[Act, ...]
    mind: Any
    diverged: bool = False


@runtime_checkable
class Customer(Protocol):
    """A customer. One object serves any number of episodes at once.

    One that changes hands may have ``speaker(mind) -> str``, the name of who spoke last.

    A mind is an immutable value with an integer ``satisfaction`` in [0, 1,000,000].
    """

    name: str

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Any]:
        """The opening words, what they volunteer, and the first mind."""
        ...

    def react(self, mind: Any, view: View) -> Reaction:
        """Answer the assistant's words with one action.

        After a ``console`` action it is asked again, with ``view.console`` set, the same words and
        acts, and the mind that it returned.
        """
        ...


@runtime_checkable
class AsyncCustomer(Customer, Protocol):
    """A customer that can also be awaited, such as one that a model plays.

    Inside an event loop (``astep``, ``areset``, a vector environment) these are used instead, and
    many episodes wait at once.
    """

    async def abegin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Any]:
        """``begin``, awaited."""
        ...

    async def areact(self, mind: Any, view: View) -> Reaction:
        """``react``, awaited."""
        ...


def awaited(customer: Customer | None) -> AsyncCustomer | None:
    """The customer as one to await; None where it can't be."""
    # asking the protocol itself would look up all its members, each time
    if customer is None or not hasattr(customer, "areact"):
        return None
    return cast("AsyncCustomer", customer)


def speaking(customer: Customer, mind: Any) -> str:
    """The name of who speaks: the customer's own, unless it says another."""
    speaker = getattr(customer, "speaker", None)
    return str(speaker(mind)) if speaker is not None else customer.name
