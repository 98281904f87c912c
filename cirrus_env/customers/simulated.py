"""The simulated customer: deterministic, offline, the embedded default."""

from __future__ import annotations

from typing import Final, TypeVar

from cirrus_env.customers import consent, facts, patience
from cirrus_env.customers.mind import (
    Mind,
    Reply,
    at_end,
    displeased,
    first_mind,
    pleased,
    read,
    remember,
)
from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.customers.speech import Speech, tone
from cirrus_env.tickets.model import Private, Scenario
from cirrus_env.wire import Act, CustomerAction

T = TypeVar("T")

MOST_ACTIONS: Final = 2
"""How many console actions it does after one reply."""


class SimulatedCustomer:
    """A customer with its own words, beliefs and limits (DESIGN "Customers").

    It states its symptom, answers at most two asked facts a reply and no more than asked, agrees
    only to what was properly proposed, does console actions when told how, loses patience over
    turns that bring nothing, and accepts only where the true state and what it was told meet its
    goal, after the assistant claimed to be done or asked whether anything remains. What a reply
    says of verdicts, tokens or what the customer should answer means nothing to it.
    """

    name = "simulated"
    checks_when_asked = True

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Mind]:
        """The opening with the volunteered facts, and the first mind."""
        private = scenario.private
        told = facts.volunteered(private)
        speech = Speech(scenario, "opening")
        speech.add(private.opening)
        for fact in told:
            speech.add(fact.text)
        acts = tuple(Act("volunteered", fact.name) for fact in told)
        mind = first_mind(private, tone(private), (fact.name for fact in told))
        return speech.text(), acts, mind

    def react(self, mind: Mind, view: View) -> Reaction:
        """One action: a console action that is due, or the turn's answer."""
        private = view.scenario.private
        reply = read(view.acts)
        if view.closing:
            return _farewell(mind, view)
        reports = mind.reports
        if view.console is not None:
            reports = (*reports, view.console)
        todo = _console_due(private, mind, reply, reports)
        if todo:
            waiting = mind._replace(reports=reports)
            return Reaction(CustomerAction("console", console=todo), (), waiting)
        return _answer(mind, view, reply, reports)


def _console_due(
    private: Private, mind: Mind, reply: Reply, reports: tuple[tuple[str, bool], ...]
) -> str:
    """The next console action to do; empty when there is none.

    After a failure it stops and says so. What has worked is not done again, looks excepted.
    """
    if not reply.instructed or len(reports) >= MOST_ACTIONS:
        return ""
    if any(not ok for _, ok in reports):
        return ""
    now = [name for name, _ in reports]
    for name in reply.instructed:
        action = private.console.get(name)
        if action is None or name in now:
            continue
        if name not in mind.done or not action.operation:
            return name
    return ""


def _answer(
    mind: Mind, view: View, reply: Reply, reports: tuple[tuple[str, bool], ...]
) -> Reaction:
    """The words that end the customer's turn."""
    private = view.scenario.private
    telling = facts.choose(mind, view, reply)
    verdicts = consent.judge(private, reply.proposed)
    speech = Speech(view.scenario, str(view.turn))
    acts: list[Act] = []
    if reply.instructed:
        acts += speech.report(reports, reply.instructed, mind.done)
    if telling is not facts.SILENCE:
        acts += speech.tell(telling, mind.said)
    if verdicts:
        acts += speech.consent(verdicts)
    agreed = [(act.name, act.value) for act in acts if act.kind == "agreed"]
    said = [act.name for act in acts if act.kind in ("answered", "volunteered")]
    news = len(view.told) > mind.heard
    if view.satisfied and reply.claim and not (agreed or verdicts or telling.answered):
        speech.say("accept")
        action = CustomerAction("accept", speech.text())
        return Reaction(action, tuple(acts), _ended(mind, satisfied=True))
    productive = (
        news
        or bool(reports)
        or any(fact.name not in mind.said for fact in telling.answered)
        or any(pair not in mind.agreed for pair in agreed)
    )
    units = patience.cost(
        productive=productive, questions=reply.questions, repeated=view.text in mind.texts
    )
    left = mind.patience - units
    if left <= 0:
        speech.say("leave")
        acts.append(Act("complained", "patience"))
        action = CustomerAction("leave", speech.text())
        return Reaction(action, tuple(acts), _ended(mind, satisfied=False))
    busy = bool(verdicts or telling.answered or reports)
    acts.extend(speech.remark(view, reply, busy=busy, news=news, productive=productive, left=left))
    satisfaction = pleased(mind.satisfaction) if productive else mind.satisfaction
    after = Mind(
        displeased(satisfaction, units),
        left,
        _join(mind.said, said),
        len(view.told),
        _join(mind.agreed, agreed),
        _join(mind.done, [name for name, ok in reports if ok]),
        remember(mind.texts, view.text),
    )
    return Reaction(CustomerAction("say", speech.text()), tuple(acts), after)


def _farewell(mind: Mind, view: View) -> Reaction:
    """Words after the assistant's closing; the episode ends whatever they are."""
    speech = Speech(view.scenario, str(view.turn))
    speech.say("bye" if view.satisfied else "bye_unhappy")
    after = _ended(mind, satisfied=view.satisfied)
    return Reaction(CustomerAction("say", speech.text()), (), after)


def _ended(mind: Mind, *, satisfied: bool) -> Mind:
    return mind._replace(satisfaction=at_end(mind.satisfaction, satisfied), reports=())


def _join(old: tuple[T, ...], new: list[T]) -> tuple[T, ...]:
    """The items of both, each once, oldest first."""
    return (*old, *[item for item in dict.fromkeys(new) if item not in old]) if new else old
