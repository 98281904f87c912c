"""Stored trajectories as chat messages, without playing them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cirrus_env.judging.tokens import visible_tokens
from cirrus_env.wire import ASSISTANT, Message, Record, ToolCall, canonical
from cirrus_env.wire import messages as build

_NOT_RUN = {"Code": "NotRun", "Message": "The episode ended before this call."}


class Said(NamedTuple):
    """One message of a trajectory.

    Attributes:
        step: The record that it comes from.
        message: In the OpenAI form.
        tokens: The assistant's visible tokens in it; 0 for others.
    """

    step: int
    message: Message
    tokens: int = 0


def said(records: Iterable[Record]) -> list[Said]:
    """Every message but the system's, in order."""
    found: list[Said] = []
    for record in records:
        action = record.action
        if record.seat == ASSISTANT:
            found += _assistant(record)
        elif action["kind"] != "console" and action.get("text"):
            found.append(Said(record.i, build.customer(action["text"])))
    return found


def _assistant(record: Record) -> list[Said]:
    action = record.action
    if action["kind"] == "stopped":
        return []
    calls = tuple(ToolCall(*call) for call in action.get("calls", ()))
    message = build.assistant(action.get("text", ""), calls)
    found = [Said(record.i, message, visible_tokens(action))]
    happened = [e for e in record.events if e.kind in ("called", "invalid")]
    for call in calls:
        event = next((e for e in happened if e.name == call.name), None)
        content: Any = _NOT_RUN
        if "fault" in action:
            content = {"Code": "InvalidAction", "Message": action["fault"]}
        elif event is not None:
            happened.remove(event)
            content = event.value["result"] if event.kind == "called" else _refused(event.value)
        found.append(Said(record.i, build.tool_result(call, canonical(content))))
    if "fault" in action and not calls:
        found.append(Said(record.i, build.notice(f"[invalid action] {action['fault']}")))
    return found


def _refused(why: str) -> Mapping[str, str]:
    code, _, message = why.partition(": ")
    return {"Code": code, "Message": message}
