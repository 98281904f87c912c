"""The customer's moves: say, console, accept, leave."""

from __future__ import annotations

from typing import Any

from cirrus_env.engine.setting import MAX_CONSOLE_IN_A_ROW, SECONDS_A_REPLY
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.errors import InvalidAction
from cirrus_env.judging.outcome import record_of
from cirrus_env.nlu.answers import answered
from cirrus_env.wire import ASSISTANT, CUSTOMER_KINDS, Act, CustomerAction, Event, encodes
from cirrus_env.wire import messages as build


def checked(stage: Stage, action: Any) -> CustomerAction:
    """What somebody outside sends for the customer, as it is.

    Raises:
        InvalidAction: If it is no ``CustomerAction``, or holds what can't be said or done.
    """
    if not isinstance(action, CustomerAction):
        raise InvalidAction(f"the customer's action is no {type(action).__name__}")
    if action.kind not in CUSTOMER_KINDS:
        kinds = ", ".join(CUSTOMER_KINDS)
        raise InvalidAction(f"the customer's action is one of {kinds}, not {action.kind!r}"[:200])
    if not (isinstance(action.text, str) and isinstance(action.console, str)):
        raise InvalidAction("the customer's text and console action are texts")
    limit = stage.setting.limits.max_chars
    if len(action.text) > limit:
        raise InvalidAction(f"the customer's words are longer than the limit of {limit}")
    if not encodes(action.text):
        raise InvalidAction("the customer's words hold a lone surrogate")
    return action


def meant(stage: Stage, text: str) -> tuple[Act, ...]:
    """What an outside customer's words answer to the reply just before."""
    if not text:
        return ()
    facts, spoken = stage.scenario.private.facts, stage.state.spoken
    asked = [facts[act.name] for act in spoken if act.kind == "asked" and act.name in facts]
    proposed = tuple(act for act in spoken if act.kind == "proposed")
    return (*answered(text, asked), *stage.reader.read_customer(text, proposed))


def take(stage: Stage, action: CustomerAction, acts: tuple[Act, ...]) -> Move:
    """The customer acts.

    Args:
        stage: The episode.
        action: What it does.
        acts: What its words mean.

    Raises:
        InvalidAction: For a console action that this customer doesn't have.
    """
    if action.kind == "console":
        return _console(stage, action, acts)
    state = stage.state
    state.cloud.advance(SECONDS_A_REPLY if state.records else 0)
    state.console = None
    if action.text:
        stage.say(build.customer(action.text))
        state.heard.add_customer(action.text)
    move = Move(acts, _hear(stage, acts))
    state.to_move = ASSISTANT
    if action.kind == "accept":
        move.how = "accept"
    elif action.kind == "leave":
        move.how = "leave"
    return move


def _hear(stage: Stage, acts: tuple[Act, ...]) -> list[Event]:
    """What the customer's words change: facts obtained, consents given."""
    state = stage.state
    step = len(state.records)
    events = []
    for act in acts:
        if act.kind == "answered":
            if act.name not in state.evidence.asked:
                events.append(Event("fact", act.name))
            state.evidence.asked[act.name] = step
        elif act.kind == "agreed":
            state.evidence.agreed[act.name, act.value] = step
            state.consents.agree(
                act.name, act.value, state.spoken_at, _covers(stage, act.name, act.value)
            )
    return events


def _covers(stage: Stage, operation: str, resource: str) -> dict[str, object]:
    for consent in stage.scenario.private.consents:
        if consent.operation == operation and consent.id == resource:
            return dict(consent.arguments)
    return {}


def _console(stage: Stage, action: CustomerAction, acts: tuple[Act, ...]) -> Move:
    state = stage.state
    console = stage.scenario.private.console.get(action.console)
    if console is None:
        raise InvalidAction(f"this customer has no console action {action.console!r}"[:200])
    state.cloud.advance(SECONDS_A_REPLY)
    worked = True
    result: object = None
    if console.operation:
        outcome = state.cloud.call(console.operation, dict(console.arguments), "customer")
        worked, result = outcome.ok, outcome.result
        changed = {record_of(entry).id for entry in outcome.changed}
        for entry in outcome.changed:
            record = record_of(entry)
            state.evidence.touched.add((record.kind, record.id))
        state.consents.changed(changed, None)
    if worked:
        state.evidence.did[action.console] = len(state.records)
    state.console = (action.console, worked)
    last = state.records[1 - MAX_CONSOLE_IN_A_ROW :]
    if len(last) == MAX_CONSOLE_IN_A_ROW - 1 and all(r.action["kind"] == "console" for r in last):
        state.to_move = ASSISTANT  # it keeps to its console for ever: the turn passes
    return Move(acts, [Event("console", action.console, {"ok": worked, "result": result})])
