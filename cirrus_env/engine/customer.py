"""The customer's moves: say, console, accept, leave."""

from __future__ import annotations

from cirrus_env.engine.setting import SECONDS_A_REPLY
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.errors import InvalidAction
from cirrus_env.judging.outcome import record_of
from cirrus_env.wire import ASSISTANT, Act, CustomerAction, Event
from cirrus_env.wire import messages as build


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
        raise InvalidAction(f"this customer has no console action {action.console!r}")
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
    return Move(acts, [Event("console", action.console, {"ok": worked, "result": result})])
