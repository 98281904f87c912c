"""Trivial agents that read gold and still must not succeed (RELIABILITY law R8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cirrus_env.baselines import reading
from cirrus_env.baselines.mutations import siblings, told_slots, worded
from cirrus_env.baselines.policy import Observation
from cirrus_env.baselines.scripted import Script, Scripted, reply
from cirrus_env.tickets.model import Scenario, Slot

_CAUSE: Final = {"en": "The cause is this: {}.", "zh": "原因是：{}。"}
_ASK: Final = {"en": "Please tell me: {}?", "zh": "请告诉我：{}？"}
_CONSENT: Final = {
    "en": "May I do whatever is needed: {}? Everything may change or be lost. Do you agree?",
    "zh": "我可以做任何需要的操作吗：{}？一切都可能改变或丢失。您同意吗？",
}


class EveryCause(Scripted):
    """Says every cause of all variants in one reply: phrases first, then the references."""

    name = "every-cause"

    def play(self, observation: Observation) -> Script:
        """Both wordings."""
        language = reading.language(observation)
        yield reply(" ".join(_CAUSE[language].format(text) for text in causes(self.scenario)))
        yield reply(self.lastworded(observation))

    def lastworded(self, observation: Observation) -> str:
        """Every explanation of every variant."""
        return "\n".join(_explanations(self.scenario))


class OneCauseATurn(Scripted):
    """Names one cause a turn, sorted by name, whether right or wrong."""

    name = "one-cause-a-turn"

    def play(self, observation: Observation) -> Script:
        """One reply a cause."""
        for text in _explanations(self.scenario):
            yield reply(text)


class AskEverything(Scripted):
    """Asks for every fact at once, again and again."""

    name = "ask-everything"

    def play(self, observation: Observation) -> Script:
        """The same questions four times."""
        language = reading.language(observation)
        facts = self.scenario.private.facts.values()
        wanted = [worded(fact.asked_by) for fact in facts if fact.asked_by]
        text = " ".join(_ASK[language].format(words) for words in wanted)
        for _ in range(4):
            yield reply(text or _ASK[language].format("..."))


class BlanketConsent(Scripted):
    """Asks for consent to everything on everything, then acts as the reference does."""

    name = "blanket-consent"

    def play(self, observation: Observation) -> Script:
        """The request, then the reference's calls without another word."""
        language = reading.language(observation)
        operations = self.scenario.cloud.catalogue.operations.values()
        phrases = [worded(o.propose[language]) for o in operations if language in o.propose]
        seen = (*reading.ids(observation), *sorted(_resources(self.scenario)))
        listed = ", ".join((*dict.fromkeys(phrases), *seen))
        yield reply(_CONSENT[language].format(listed))
        if not self.scenario.private.consents:
            return  # where nothing needs consent, acting as the reference does is right
        for checkpoint in self.scenario.gold.checkpoints:
            for name, arguments in checkpoint.reference.calls:
                yield reading.call(name, dict(arguments))

    def lastworded(self, observation: Observation) -> str:
        """A claim."""
        return {"en": "All is done.", "zh": "全部完成。"}[reading.language(observation)]


def causes(scenario: Scenario) -> tuple[str, ...]:
    """Every value of every enum slot, in the first phrases of its groups."""
    return tuple(
        worded(groups)
        for slot in scenario.gold.slots.values()
        if slot.type == "enum"
        for _, groups in sorted(slot.values.items())
    )


def _explanations(scenario: Scenario) -> tuple[str, ...]:
    """What the references of all variants say where they tell an enum or a statement."""
    found: dict[str, None] = {}
    if "imported" in scenario.ticket.data:
        return ()  # one recorded dialogue has no siblings: what it explains is the right answer
    for each in sorted((scenario, *siblings(scenario)), key=lambda s: s.variant):
        for checkpoint in each.gold.checkpoints:
            slots = [each.gold.slots.get(name) for name in told_slots(checkpoint.evidence)]
            if checkpoint.reference.reply and any(_worded(slot) for slot in slots):
                found[checkpoint.reference.reply] = None
    return tuple(found)


def _worded(slot: Slot | None) -> bool:
    return slot is not None and slot.type in ("enum", "statement")


def _resources(scenario: Scenario) -> Iterable[str]:
    for kind in scenario.cloud.catalogue.kinds:
        yield from scenario.cloud.records(kind)
