"""Hermes and Qwen: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, any number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.jsoncall import body, read_call
from cirrus_env.engine.formats.scan import Block, Source, scan, talked_about
from cirrus_env.wire import ToolCall, canonical

_TAGS: Final = re.compile("<tool_call>|(?P<close></tool_call>)")


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; a call that the end of the text leaves untagged counts if it is whole."""
    return scan(text, "<tool_call>", _read)


def _read(source: Source, mark: re.Match[str]) -> Block | None:
    inside, end, _ = body(source, _TAGS, mark.end())
    inside = inside.strip()
    if not inside.startswith(("{", "[")):
        if talked_about(source.text, mark.start(), mark.end()):
            return None
        fault = "a tool call is a JSON object with name and arguments"
        return Block(end, (ToolCall("", UNNAMED, inside),), fault)
    call, fault = read_call(inside)
    return Block(end, (call,), fault)


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as this format has them."""
    return "\n".join(f"<tool_call>\n{json_call(call)}\n</tool_call>" for call in calls)


def json_call(call: ToolCall, key: str = "arguments") -> str:
    """A call as one JSON object, its arguments as they are."""
    return f'{{"name": {canonical(call.name)}, "{key}": {call.arguments or "{}"}}}'
