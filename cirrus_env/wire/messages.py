"""Chat messages in the OpenAI form: plain dicts, built here and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from cirrus_env.wire.actions import ToolCall

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
    """A message as JSON: no spaces, keys in their order, UTF-8 as it is."""
    try:
        return orjson.dumps(message).decode()
    except TypeError:  # a lone surrogate
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
