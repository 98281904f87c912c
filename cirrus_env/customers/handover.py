"""A customer with recorded words that goes on in its own where the recording doesn't fit."""

from __future__ import annotations

from dataclasses import dataclass

from cirrus_env.customers.mind import FULL, Mind, first_mind
from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.customers.replay import ReplayCustomer, ReplayMind, next_turn, speak
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.customers.speech import tone
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act, CustomerAction


@dataclass(frozen=True, slots=True)
class HandoverMind:
    """Both customers' minds, and who spoke last.

    Attributes:
        satisfaction: In millionths, of the one who spoke last.
        next: The index of the next recorded turn.
        speaker: ``replay`` or ``simulated``.
        said: Facts told so far, by either.
        heard: How many slots it had been told rightly.
        simulated: The simulated customer's mind, once it has spoken.
    """

    satisfaction: int
    next: int
    speaker: str
    said: tuple[str, ...] = ()
    heard: int = 0
    simulated: Mind | None = None


class HandoverCustomer:
    """``replay+simulated``: recorded words while they fit, the simulated customer's otherwise.

    Where the recording doesn't fit the simulated customer answers from the same facts, with its own
    limits, and the recorded words come back as soon as what they need has happened. It accepts only
    when its goal is met, the recording played out or not. A ticket without a recording is the
    simulated customer's from the start.
    """

    name = "replay+simulated"
    _replay = ReplayCustomer()
    _simulated = SimulatedCustomer()

    def speaker(self, mind: HandoverMind) -> str:
        """Who spoke last."""
        return mind.speaker

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], HandoverMind]:
        """The recorded opening; the simulated one where nothing was recorded."""
        if scenario.private.recorded:
            words, acts, _ = self._replay.begin(scenario)
            return words, acts, HandoverMind(0, 0, self._replay.name)
        words, acts, mind = self._simulated.begin(scenario)
        after = HandoverMind(mind.satisfaction, 0, self._simulated.name, mind.said, 0, mind)
        return words, acts, after

    def react(self, mind: HandoverMind, view: View) -> Reaction:
        """The recorded turn that fits, or what the simulated customer does."""
        turns = view.scenario.private.recorded
        if view.closing and mind.speaker == self._replay.name:
            last = ReplayMind(mind.satisfaction, mind.next)
            return self._replay.react(last, view)._replace(mind=mind)
        if turns and not view.closing and view.console is None:
            recorded = self._recorded(mind, view)
            if recorded is not None:
                return recorded
        return self._own(mind, view)

    def _recorded(self, mind: HandoverMind, view: View) -> Reaction | None:
        """What was recorded for this moment; acceptance at its end, if the goal is met."""
        turns = view.scenario.private.recorded
        place = next_turn(turns, mind.next, view, mind.said)
        if place is not None:
            if turns[place].text or view.satisfied:
                return self._remember(mind, view, speak(turns, place))
            return None
        told = (turn.needs_asked for turn in turns[mind.next :])
        if view.satisfied and all(asked and set(asked) <= set(mind.said) for asked in told):
            accepted = Reaction(CustomerAction("accept"), (), ReplayMind(FULL, len(turns)))
            return self._remember(mind, view, accepted)
        return None

    def _remember(self, mind: HandoverMind, view: View, reaction: Reaction) -> Reaction:
        said = mind.said + tuple(
            act.name
            for act in reaction.acts
            if act.kind == "answered" and act.name not in mind.said
        )
        after = HandoverMind(
            reaction.mind.satisfaction, reaction.mind.next, self._replay.name, said,
            len(view.told), mind.simulated,
        )  # fmt: skip
        return reaction._replace(mind=after)

    def _own(self, mind: HandoverMind, view: View) -> Reaction:
        private = view.scenario.private
        own = mind.simulated or first_mind(private, tone(private), ())
        own = own._replace(said=mind.said, heard=max(own.heard, mind.heard))
        reaction = self._simulated.react(own, view)
        after = HandoverMind(
            reaction.mind.satisfaction, mind.next, self._simulated.name, reaction.mind.said,
            reaction.mind.heard, reaction.mind,
        )  # fmt: skip
        return reaction._replace(mind=after)
