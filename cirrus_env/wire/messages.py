"""Chat messages in the OpenAI form: plain dicts, built here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cirrus_env.wire.actions import ToolCall
from cirrus_env.wire.jsontext import quoted

Message = dict[str, Any]
"""``role`` (system, user, assistant, tool), ``content``, and for tools ``tool_calls``,
``tool_call_id`` and ``name``."""

ENVIRONMENT = "environment"
"""The ``name`` of a user message that is a notice about an invalid action, not the customer."""


def system(content: str) -> Message:
    """The first message of a transcript."""
    return {"role": "system", "content": content}


def customer(content: str) -> Message:
    """What the customer says."""
    return {"role": "user", "content": content}


def notice(content: str) -> Message:
    """What the environment says of an action that it could not use."""
    return {"role": "user", "name": ENVIRONMENT, "content": content}


def assistant(content: str, calls: Sequence[ToolCall] = ()) -> Message:
    """What the assistant sent."""
    message: Message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def tool_result(call: ToolCall, content: str) -> Message:
    """The answer to one tool call."""
    return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content}


def written(message: Message) -> str:
    """A message of this module as JSON, keys in their order."""
    parts = []
    for key, value in message.items():
        if key == "tool_calls":
            calls = [
                f'{{"id": {quoted(call["id"])}, "type": "function", "function": '
                f'{{"name": {quoted(call["function"]["name"])}, '
                f'"arguments": {quoted(call["function"]["arguments"])}}}}}'
                for call in value
            ]
            parts.append(f'"tool_calls": [{", ".join(calls)}]')
        else:
            parts.append(f'"{key}": {quoted(value)}')
    return "{" + ", ".join(parts) + "}"
