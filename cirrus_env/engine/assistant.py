"""The assistant's moves: words, tool calls, close, escalate, and what is malformed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from cirrus_env.cloud.kernel import CallResult
from cirrus_env.engine.failures import assessed, fail
from cirrus_env.engine.modes import NOBODY_ANSWERS, SOLO
from cirrus_env.engine.setting import MAX_CALLS_A_MESSAGE, SECONDS_A_CALL, SECONDS_A_REPLY
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.errors import EndpointError, MalformedText
from cirrus_env.judging.judge import Assessment
from cirrus_env.judging.minefields import touched_by_call, touched_by_text, touched_by_words
from cirrus_env.judging.outcome import Outcome, changed_fields, outside, record_of
from cirrus_env.judging.tokens import count_tokens
from cirrus_env.nlu.evidence import Call
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import CUSTOMER, Act, AssistantAction, Event, ToolCall, canonical, encodes
from cirrus_env.wire import messages as build
from cirrus_env.wire.jsontext import strict_loads


def take(stage: Stage, action: AssistantAction) -> tuple[AssistantAction, Move]:
    """The assistant acts.

    Returns:
        The action as it is stored (with call ids filled in and unstorable text withheld), and what
        it came to.
    """
    action = _with_ids(stage, action)
    fault = action.fault or _fault(stage, action)
    if fault:
        stored = _storable(stage, action, fault)
        move = _malformed(stage, stored)
    elif action.kind == "call":
        stored, move = action, _calls(stage, action)
    else:
        stored, move = action, _words(stage, action)
    _count(stage, stored, move)
    return stored, move


def _with_ids(stage: Stage, action: AssistantAction) -> AssistantAction:
    for call in action.calls:
        if not call.id:
            break
    else:
        return action
    step = len(stage.state.records)
    calls = tuple(
        call if call.id else ToolCall(f"call_{step}_{k}", call.name, call.arguments)
        for k, call in enumerate(action.calls)
    )
    return AssistantAction(
        action.kind, action.text, calls, action.queue, action.reasoning, action.fault
    )


def _fault(stage: Stage, action: AssistantAction) -> str:
    limit = stage.setting.limits.max_chars
    size = len(action.text) + len(action.queue)
    sound = encodes(action.text) and encodes(action.queue) and encodes(action.reasoning)
    for c in action.calls:
        size += len(c.id) + len(c.name) + len(c.arguments)
        sound = sound and encodes(c.name) and encodes(c.arguments) and encodes(c.id)
    if size > limit:
        return f"a message of {size} characters is longer than the limit of {limit}"
    if not sound:
        return "the text holds a lone surrogate"
    if action.kind == "call":
        if not action.calls:
            return "a tool call names no tool"
        if len(action.calls) > MAX_CALLS_A_MESSAGE:
            return f"more than {MAX_CALLS_A_MESSAGE} calls in one message"
        return ""
    if not action.text.strip():
        return "the message is empty"
    if action.kind == "reply" and stage.setting.mode == SOLO:
        return NOBODY_ANSWERS
    queues = stage.scenario.public.queues
    if action.kind == "escalate" and queues and action.queue not in queues:
        return f"there is no queue {action.queue[:80]!r}; there are {', '.join(queues)}"
    return ""


def _storable(stage: Stage, action: AssistantAction, fault: str) -> AssistantAction:
    limit = stage.setting.limits.max_chars
    texts = [action.text, action.queue, action.reasoning, fault]
    texts += [part for call in action.calls for part in (call.id, call.name, call.arguments)]
    if sum(map(len, texts)) <= 2 * limit and all(map(encodes, texts)):
        return replace(action, fault=fault)
    kept = fault if encodes(fault) and len(fault) <= limit else "the message can't be stored"
    return AssistantAction(action.kind, fault=kept)


def _malformed(stage: Stage, action: AssistantAction) -> Move:
    stage.say(build.assistant(action.text, action.calls))
    text = canonical({"Code": "InvalidAction", "Message": action.fault})
    for call in action.calls:
        stage.say(build.tool_result(call, text))
    if not action.calls:
        stage.say(build.notice(f"[invalid action] {action.fault}"))
    return Move(events=[Event("invalid", "", action.fault)])


def _count(stage: Stage, action: AssistantAction, move: Move) -> None:
    state, limits = stage.state, stage.setting.limits
    state.tokens += count_tokens(action.text)
    for call in action.calls:
        state.tokens += count_tokens(call.name) + count_tokens(call.arguments)
    for event in move.events:
        if event.kind == "invalid":
            state.invalid += 1
            state.invalid_run += 1
            break
    else:
        state.invalid_run = 0
    if move.outcome is not None or move.how:
        return
    if state.invalid_run >= limits.max_invalid:
        move.outcome = Outcome("invalid_limit", "limit", False)
    elif limits.max_tokens is not None and state.tokens > limits.max_tokens:
        move.outcome = Outcome("token_limit", "limit", False)
    elif state.tool_calls > limits.max_tool_calls:
        move.outcome = Outcome("turn_limit", "limit", False)


# -- words -----------------------------------------------------------------------------------


def _words(stage: Stage, action: AssistantAction) -> Move:
    state, scenario = stage.state, stage.scenario
    step = len(state.records)
    text = action.text
    acts = stage.reader.read(text, state.heard)
    failed = None
    try:
        assessment = assessed(stage.setting.judge, scenario, text, acts)
    except EndpointError as error:
        assessment, failed = Assessment(), error
    state.cloud.advance(SECONDS_A_REPLY)
    stage.say(build.assistant(text))
    if failed is not None:
        return fail(Move(acts), "judge", failed)
    events = []
    for slot in assessment.told:
        if slot not in state.evidence.told:
            state.evidence.told[slot] = step
        events.append(Event("verdict", slot, True))
    if action.kind == "escalate":
        state.evidence.handed = dict.fromkeys(assessment.told, step)
    for slot, value in assessment.wrong:
        events.append(Event("wrong", slot, value))
    for act in acts:
        if act.kind == "proposed" and not _welcome(scenario, act):
            events.append(Event("wrong", "proposal", f"{act.name} {act.value}"))
    move = Move(acts, events)
    _touch(stage, move, touched_by_words(scenario.gold, assessment.wrong, state.touched))
    _touch(stage, move, touched_by_text(scenario.gold, text, state.evidence, state.cloud))
    state.turn += 1
    state.spoken, state.words, state.spoken_at = acts, text, step
    if move.outcome is not None:
        return move
    if action.kind == "reply":
        state.to_move = CUSTOMER
    else:
        move.how = "close" if action.kind == "close" else "escalate"
        move.queue = action.queue
    return move


def _welcome(scenario: Scenario, proposal: Act) -> bool:
    """Whether the customer would agree to the proposed operation on this resource at all."""
    return any(
        consent.operation == proposal.name and consent.id == proposal.value
        for consent in scenario.private.consents
    )


def _touch(stage: Stage, move: Move, mines: tuple[tuple[str, str, str], ...]) -> None:
    """Record minefields: (policy, effect, key), each key once."""
    state = stage.state
    for policy, effect, key in mines:
        if (policy, key) in state.touched:
            continue
        state.touched[policy, key] = effect
        move.events.append(Event("minefield", policy, {"effect": effect, "key": key}))
        if effect != "cost":
            state.void = True
        if effect == "fatal":
            move.outcome = Outcome("violated", "minefield", False)


# -- tool calls ------------------------------------------------------------------------------


def _calls(stage: Stage, action: AssistantAction) -> Move:
    move = Move()
    stage.say(build.assistant(action.text, action.calls))
    state, limit = stage.state, stage.setting.limits.max_tool_calls
    for call in action.calls:
        state.tool_calls += 1
        if state.tool_calls > limit or move.outcome is not None:
            why = {"Code": "NotRun", "Message": "The episode ended before this call."}
            stage.say(build.tool_result(call, canonical(why)))
            continue
        state.cloud.advance(SECONDS_A_CALL)
        _call(stage, call, move)
    return move


_NOTHING: Final = ("", "{}")
"""How a call without arguments is mostly written."""


def _call(stage: Stage, call: ToolCall, move: Move) -> None:
    try:
        arguments = {} if call.arguments in _NOTHING else strict_loads(call.arguments)
    except MalformedText as error:
        _bad_call(stage, call, move, "MalformedArguments", str(error))
        return
    if call.name not in stage.tools.known:
        _bad_call(stage, call, move, "UnknownTool", f"there is no tool {call.name[:80]!r}")
        return
    result = stage.state.cloud.call(call.name, arguments)
    if result.arguments is None:
        _bad_call(stage, call, move, result.code, str(result.result["Message"]))
        return
    text = stage.state.cloud.written(result.result)
    stage.say(build.tool_result(call, text))
    stage.state.heard.add_source(text)
    move.events.append(Event("called", call.name, _settle(stage, call, result, text, move)))


def _bad_call(stage: Stage, call: ToolCall, move: Move, code: str, why: str) -> None:
    stage.say(build.tool_result(call, canonical({"Code": code, "Message": why})))
    move.events.append(Event("invalid", call.name, f"{code}: {why}"))


def _settle(
    stage: Stage, call: ToolCall, result: CallResult, text: str, move: Move
) -> dict[str, Any]:
    """Consent, evidence and minefields of one well-formed call; returns the event's value."""
    state, scenario = stage.state, stage.scenario
    given = result.arguments or {}
    operation = state.cloud.catalogue.operations[call.name]
    done = result.ok or bool(result.changed)  # a fault may lose the answer of what was done
    value: dict[str, Any] = {
        "arguments": given,
        "ok": done,
        "code": result.code,
        "result": result.result,
        "effect": operation.effect,
        "consent": False,
        "changed": [],
        "outside": False,
        "duplicate": False,
    }
    if not done:
        return value
    key = (call.name, canonical(given) if given else "{}")
    value["duplicate"] = key in state.called
    state.called.add(key)
    consented = operation.effect == "read"
    if not consented:
        resource = operation.target(given)
        unusual = state.cloud.catalogue.schema(call.name).unusual(given)
        live = state.consents.covering(call.name, resource, given, unusual)
        value["consent"] = live is not None
        consented = live is not None or not _needs_consent(stage, call.name, operation.effect)
        state.consents.use(call.name, resource)
        _note_changes(stage, result, value, live.proposal if live is not None else None)
    step = len(state.records)
    state.evidence.calls.append(Call(step, call.name, given, result.result, consented, text))
    _touch(
        stage,
        move,
        touched_by_call(scenario.gold, call.name, value, consented, state.evidence, state.cloud),
    )
    return value


def _needs_consent(stage: Stage, operation: str, effect: str) -> bool:
    if effect == "irreversible":
        return True
    return any(consent.operation == operation for consent in stage.scenario.private.consents)


def _note_changes(
    stage: Stage, result: CallResult, value: dict[str, Any], proposal: int | None
) -> None:
    state, gold = stage.state, stage.scenario.gold
    touched = set()
    for entry in result.changed:
        record = record_of(entry)
        touched.add(record.id)
        state.evidence.touched.add((record.kind, record.id))
        value["changed"].append([record.kind, record.id, list(changed_fields(entry))])
        if (gold.may_change or gold.shortest) and outside(entry, gold):
            value["outside"] = True
    state.consents.changed(touched, proposal)
