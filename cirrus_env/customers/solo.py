"""The customer of the solo mode: it says all that it would ever tell at once, then nothing."""

from __future__ import annotations

from typing import Any

from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.customers.speech import Speech
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act, CustomerAction


class SoloCustomer:
    """A customer that nobody can reach after its first message.

    The message holds the opening and every fact that it would volunteer or tell when asked, true or
    false; of a recorded customer, all of its recorded words. What it would tell only when
    confronted, or never, stays untold. It agrees beforehand to what the ticket says it agrees to,
    and to nothing else.
    """

    name = "solo"

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Any]:
        """All that it has to say, with the consents given."""
        private = scenario.private
        told = [f for f in private.facts.values() if f.when in ("volunteered", "asked")]
        speech = Speech(scenario, "opening")
        speech.add(private.opening)
        texts = [turn.text for turn in private.recorded] or [fact.text for fact in told]
        for text in texts:
            speech.add(text)
        acts = [Act("answered", fact.name) for fact in told]
        acts += [Act("agreed", consent.operation, consent.id) for consent in private.consents]
        return speech.text(), tuple(acts), None

    def react(self, mind: Any, view: View) -> Reaction:
        """Nothing: it is only asked how it likes the closing."""
        return Reaction(CustomerAction("say"), (), mind)
