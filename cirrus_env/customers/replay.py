"""The customer of an imported ticket: its recorded words, as long as the dialogue fits them."""

from __future__ import annotations

from dataclasses import dataclass

from cirrus_env.cloud.arguments import same
from cirrus_env.customers.mind import FULL
from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.tickets.model import RecordedTurn, Scenario
from cirrus_env.wire import Act, CustomerAction


@dataclass(frozen=True, slots=True)
class ReplayMind:
    """How far the recording has come.

    Attributes:
        satisfaction: In millionths: the share of the recording that was played.
        next: The index of the next recorded turn.
    """

    satisfaction: int = 0
    next: int = 0


class ReplayCustomer:
    """Speaks the recorded turns in order.

    The next turn follows iff what the recorded reply before it served has happened: its
    checkpoints are passed or skipped, its calls have succeeded, the facts that the turn answers
    were asked. Otherwise the recording doesn't fit any longer and the customer goes, ``diverged``.
    After the last turn it accepts.
    """

    name = "replay"

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], ReplayMind]:
        """The recorded opening."""
        return scenario.private.opening, (), ReplayMind()

    def react(self, mind: ReplayMind, view: View) -> Reaction:
        """The next recorded turn, acceptance at the end, or ``diverged``."""
        turns = view.scenario.private.recorded
        if view.closing:
            return Reaction(CustomerAction("say"), (), mind)
        if mind.next >= len(turns):
            return Reaction(CustomerAction("accept"), (), ReplayMind(FULL, mind.next))
        turn = turns[mind.next]
        if not fits(turn, view):
            return Reaction(CustomerAction("leave"), (), mind, diverged=True)
        after = ReplayMind(FULL * (mind.next + 1) // (len(turns) + 1), mind.next + 1)
        acts = tuple(Act("answered", fact) for fact in turn.needs_asked)
        if not turn.text:
            final = ReplayMind(FULL, mind.next + 1)
            return Reaction(CustomerAction("accept"), acts, final)
        return Reaction(CustomerAction("say", turn.text), acts, after)


def fits(turn: RecordedTurn, view: View) -> bool:
    """Whether the recorded turn may follow what the assistant has done."""
    if any(checkpoint not in view.passed for checkpoint in turn.needs_passed):
        return False
    asked = {act.name for act in view.acts if act.kind == "asked"}
    if any(fact not in asked for fact in turn.needs_asked):
        return False
    return all(
        any(
            call.operation == operation and same(dict(call.arguments), dict(arguments))
            for call in view.calls
        )
        for operation, arguments in turn.needs_calls
    )
