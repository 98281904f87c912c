"""A message of the Tinker cookbook's renderers as an action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cirrus_env.engine.parsers import from_message
from cirrus_env.wire import AssistantAction


def action_of(message: Mapping[str, Any]) -> AssistantAction:
    """Read what a renderer parsed.

    Args:
        message: ``content`` is text or a list of parts, of which ``thinking`` is hidden;
            ``tool_calls`` are objects; a call in ``unparsed_tool_calls`` makes the message a
            counted mistake, of which nothing is run.

    Raises:
        InvalidAction: If it is no message of the assistant.
    """
    content = message.get("content") or ""
    hidden = ""
    if not isinstance(content, str):
        hidden = "".join(part["thinking"] for part in content if part["type"] == "thinking")
        content = "".join(part["text"] for part in content if part["type"] == "text")
    action = from_message(
        {
            "role": message["role"],
            "content": content,
            "reasoning_content": hidden,
            "tool_calls": list(message.get("tool_calls") or ()),
        }
    )
    broken = message.get("unparsed_tool_calls") or ()
    if not broken:
        return action
    return replace(action, fault=f"a tool call can't be read: {broken[0].error}")
