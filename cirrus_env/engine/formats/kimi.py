"""Kimi K2: ``<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{...}``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.jsoncall import body
from cirrus_env.engine.formats.scan import Block, Source, scan, split_reasoning
from cirrus_env.wire import ToolCall

_SECTION: Final = r"<\|tool_calls?_section_(?:begin|end)\|>"
_ARGUMENT: Final = "<|tool_call_argument_begin|>"
_TAGS: Final = re.compile(
    rf"(?P<argument><\|tool_call_argument_begin\|>)|(?P<close><\|tool_call_end\|>)"
    rf"|<\|tool_call_begin\|>|{_SECTION}"
)
_NAME: Final = re.compile(r"(?:functions\.)?(\S+?)(?::\d+)?")


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; the id that the model writes is the call's id."""
    found = scan(text, rf"{_SECTION}|<\|tool_call_begin\|>", _read)
    if not found.calls and not found.fault and re.search(_SECTION, split_reasoning(text)[1]):
        return Found(found.text, (), found.reasoning, "a section of tool calls holds none")
    return found


def _read(source: Source, mark: re.Match[str]) -> Block:
    if "section" in mark[0]:
        return Block(mark.end())
    tag = source.search(_TAGS, mark.end())
    if tag is None or tag.lastgroup != "argument":
        end = len(source.text) if tag is None else tag.start()
        raw = source.text[mark.end() : end].strip()
        fault = "a tool call is NAME, <|tool_call_argument_begin|> and a JSON object"
        after = tag.end() if tag is not None and tag.lastgroup == "close" else end
        return Block(after, (ToolCall("", UNNAMED, raw),), fault)
    id = source.text[mark.end() : tag.start()].strip()
    inside, end, closed = body(source, _TAGS, tag.end())
    inside = inside.strip()
    name = _NAME.fullmatch(id)
    if name is None:
        return Block(end, (ToolCall("", UNNAMED, inside),), "a tool call names no tool")
    call = ToolCall(id, name[1], inside)
    if closed or inside:
        return Block(end, (call,))
    return Block(end, (call,), f"the call of {name[1]} is cut short")


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as this format has them; a call without an id is numbered."""
    parts = [
        f"<|tool_call_begin|>{call.id or f'functions.{call.name}:{k}'}"
        f"{_ARGUMENT}{call.arguments or '{}'}<|tool_call_end|>"
        for k, call in enumerate(calls)
    ]
    return f"<|tool_calls_section_begin|>{''.join(parts)}<|tool_calls_section_end|>"
