"""The customer of an imported ticket: its recorded words, as long as the dialogue fits them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    Where the assistant has come further than that, it follows: turns that need nothing, and answers
    to questions that turned out to be needless, are left out. After the last turn it accepts.
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
        place = next_turn(turns, mind.next, view)
        if place is None:
            return Reaction(CustomerAction("leave"), (), mind, diverged=True)
        return speak(turns, place)


def speak(turns: Sequence[RecordedTurn], place: int) -> Reaction:
    """One recorded turn; a last one without words is an acceptance."""
    turn = turns[place]
    acts = tuple(Act("answered", fact) for fact in turn.needs_asked)
    if not turn.text:
        return Reaction(CustomerAction("accept"), acts, ReplayMind(FULL, place + 1))
    played = ReplayMind(FULL * (place + 1) // (len(turns) + 1), place + 1)
    return Reaction(CustomerAction("say", turn.text), acts, played)


def next_turn(
    turns: Sequence[RecordedTurn], start: int, view: View, said: Collection[str] = ()
) -> int | None:
    """Which recorded turn follows the assistant's reply.

    Args:
        turns: All of them.
        start: The first that was not spoken yet.
        view: What the customer may know.
        said: Facts told already, so that nobody has to ask for them.

    Returns:
        Its index; None where the recording doesn't fit.
    """
    unneeded: int | None = None
    unasked = False
    for place in range(start, len(turns)):
        turn = turns[place]
        if turn.needs_asked and all(fact in said for fact in turn.needs_asked):
            continue
        if not (turn.needs_passed or turn.needs_asked or turn.needs_calls):
            if unneeded is None and not unasked:
                unneeded = place
            continue
        ahead = unasked or unneeded is not None
        if fits(turn, view) and (turn.needs_passed or not ahead):
            return place
        if not _reached(turn, view):
            break
        unasked = True
    return unneeded


def fits(turn: RecordedTurn, view: View) -> bool:
    """Whether the recorded turn may follow what the assistant has done."""
    asked = {act.name for act in view.acts if act.kind == "asked"}
    return all(fact in asked for fact in turn.needs_asked) and _reached(turn, view)


def _reached(turn: RecordedTurn, view: View) -> bool:
    """Whether all has happened that the turn needs, but for the questions that it answers."""
    if any(checkpoint not in view.passed for checkpoint in turn.needs_passed):
        return False
    return all(
        any(
            call.operation == operation and same(dict(call.arguments), dict(arguments))
            for call in view.calls
        )
        for operation, arguments in turn.needs_calls
    )
