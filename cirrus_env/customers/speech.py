"""How the simulated customer puts what it has decided to say."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cirrus_env.customers.consent import Verdict
from cirrus_env.customers.facts import Telling
from cirrus_env.customers.mind import Reply
from cirrus_env.customers.protocol import View
from cirrus_env.customers.wording import TONES, Stock, Wording, topic
from cirrus_env.customers.words_en import ENGLISH
from cirrus_env.customers.words_zh import CHINESE
from cirrus_env.tickets.model import Private, Scenario
from cirrus_env.wire import Act
from cirrus_env.world import Stream

WORDINGS: Final = MappingProxyType({"en": ENGLISH, "zh": CHINESE})


def tone(private: Private) -> str:
    """The tone of the customer's mood: hot, worried or calm."""
    return TONES.get(private.mood, "calm")


class Speech:
    """One message in the making; every choice of words comes from one labelled stream.

    Args:
        scenario: Gives language, seed and what the customer knows.
        label: The turn or purpose, part of the stream's label.
    """

    __slots__ = ("_parts", "_private", "_stream", "_words")

    def __init__(self, scenario: Scenario, label: str) -> None:
        self._private = scenario.private
        self._words: Wording = WORDINGS.get(scenario.public.language, ENGLISH)
        self._stream = Stream(scenario.seed, "customer:" + label)
        self._parts: list[str] = []

    def text(self) -> str:
        """The message."""
        return self._words.space.join(part for part in self._parts if part)

    def add(self, text: str) -> None:
        """Say just this."""
        self._parts.append(text)

    def say(self, purpose: str) -> None:
        """Say a sentence of the stock for a purpose."""
        stock: Stock = getattr(self._words, purpose)
        self._parts.append(self._stream.choice(stock))

    def report(
        self, reports: tuple[tuple[str, bool], ...], instructed: tuple[str, ...],
        done: tuple[str, ...],
    ) -> list[Act]:  # fmt: skip
        """Tell what came of the console actions."""
        acts = []
        for name, worked in reports:
            action = self._private.console[name]
            self.say("did" if worked else "failed")
            self.add(action.says if worked else action.fails)
            if worked:
                acts.append(Act("did", name))
        if not reports and any(name in done for name in instructed):
            self.say("did_already")
        return acts

    def tell(self, telling: Telling, said: tuple[str, ...]) -> list[Act]:
        """Answer what was asked, and let slip what slips out."""
        acts = []
        for position, fact in enumerate(telling.answered):
            if fact.name in said:
                self.say("again")
            elif position == 0:
                self.say("lead")
            self.add(fact.text)
            acts.append(Act("answered", fact.name))
        for fact in telling.admitted:
            self.add(fact.text)
            acts.append(Act("volunteered", fact.name))
        if telling.left:
            self.say("one_at_a_time")
        if telling.dodged:
            self.say("dodge")
        return acts

    def consent(self, verdicts: tuple[Verdict, ...]) -> list[Act]:
        """Agree, decline, or ask for what a proposal left out."""
        acts = []
        voiced: set[str] = set()
        for verdict in verdicts:
            operation, id = verdict.proposal.name, verdict.proposal.value
            kind = "agreed" if verdict.answer == "agree" else "declined"
            acts.append(Act(kind, operation, id))
            if verdict.answer in ("agree", "decline"):
                if id + verdict.answer not in voiced:
                    voiced.add(id + verdict.answer)
                    self._name(verdict.answer, id)
                continue
            about = topic(verdict.missing) if verdict.missing else verdict.answer
            if about not in voiced:
                voiced.add(about)
                if verdict.missing:
                    self.add(self._stream.choice(self._words.missing[about]))
                else:
                    self.say(about)
        return acts

    def _name(self, purpose: str, id: str) -> None:
        stock: Stock = getattr(self._words, purpose)
        self.add(self._stream.choice(stock).replace("{id}", id or self._words.it))

    def remark(
        self, view: View, reply: Reply, *, busy: bool, news: bool, productive: bool, left: int
    ) -> list[Act]:
        """What it says of the turn as a whole: that it understood, that it is losing patience.

        Args:
            view: What it sees.
            reply: The reply's acts, sorted.
            busy: Whether it has answered a question, a proposal or an instruction.
            news: Whether something was newly told rightly.
            productive: Whether the turn brought anything.
            left: The patience left.
        """
        bare = not self._parts
        if reply.claim and not (view.satisfied or busy):
            self.say("unsolved")
        elif reply.refused and not news:
            self.say("objects")
        elif productive:
            if bare:
                self.say("noted")
        elif bare and reply.questions:
            self.say("unknown")
        elif bare and left > self._half:
            self.say("waiting")
        if productive or (left > 1 and (left > self._half or not bare)):
            return []
        return self._complain(left)

    @property
    def _half(self) -> int:
        return max(1, self._private.patience // 2)

    def _complain(self, left: int) -> list[Act]:
        self.add(self._stream.choice(self._words.heat[tone(self._private)]))
        self.say("threat" if left == 1 else "complaint")
        return [Act("complained", "no_progress")]
