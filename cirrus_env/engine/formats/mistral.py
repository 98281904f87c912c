"""Mistral: ``[TOOL_CALLS][{...}, ...]``, and from v11 on ``[TOOL_CALLS]name[ARGS]{...}``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.hermes import json_call
from cirrus_env.engine.formats.jsoncall import extent, read_call
from cirrus_env.engine.formats.scan import Block, Source, scan, talked_about
from cirrus_env.wire import ToolCall

_MARK: Final = re.compile(re.escape("[TOOL_CALLS]"))
_SPACE: Final = re.compile(r"\s*")
_BETWEEN: Final = re.compile(r"\s*(,?)\s*")
_NAMED: Final = re.compile(
    r"\s*([\w.\-/:]+)\s*(?:\[CALL_ID\]\s*([\w\-]+)\s*)?(?:\[ARGS\]\s*)?(?=\{)"
)


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; both generations are told apart by what follows the mark."""
    return scan(text, _MARK.pattern, _read)


def _read(source: Source, mark: re.Match[str]) -> Block | None:
    text, at = source.text, mark.end()
    named = _NAMED.match(text, at)
    if named:
        end = extent(source, named.end(), _MARK)
        arguments = text[named.end() : end].strip()
        return Block(end, (ToolCall(named[2] or "", named[1], arguments),))
    space = _SPACE.match(text, at)
    at = space.end() if space else at
    if text[at : at + 1] == "[":
        return _list(source, at + 1)
    if text[at : at + 1] == "{":
        end = extent(source, at, _MARK)
        call, fault = read_call(text[at:end])
        return Block(end, (call,), fault)
    if talked_about(text, mark.start(), mark.end()):
        return None
    end = _next(source, at)
    raw = text[at:end].strip()
    return Block(end, (ToolCall("", UNNAMED, raw),), "no call follows [TOOL_CALLS]")


def _next(source: Source, at: int) -> int:
    mark = source.search(_MARK, at)
    return mark.start() if mark else len(source.text)


def _list(source: Source, at: int) -> Block:
    """The calls of a JSON list whose bracket ends at ``at``, each read by itself."""
    text = source.text
    calls: list[ToolCall] = []
    fault = comma = ""
    while True:
        between = _BETWEEN.match(text, at)
        at, comma = (between.end(), between[1]) if between else (at, "")
        if text[at : at + 1] == "]" and not comma and calls:
            return Block(at + 1, tuple(calls), fault)
        if text[at : at + 1] != "{" or bool(comma) != bool(calls):
            what = "the list of tool calls is malformed or empty"
            limit = _next(source, at)
            if calls:
                return Block(limit, tuple(calls), fault or what)
            return Block(limit, (ToolCall("", UNNAMED, text[at:limit].strip()),), what)
        end = extent(source, at, _MARK)
        call, problem = read_call(text[at:end])
        calls.append(call)
        fault = fault or problem
        at = end


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as the older generation has them."""
    return f"[TOOL_CALLS][{', '.join(map(json_call, calls))}]"


def write_named(calls: Sequence[ToolCall]) -> str:
    """The calls as the newer generation has them."""
    return "".join(
        f"[TOOL_CALLS]{call.name}{f'[CALL_ID]{call.id}' if call.id else ''}"
        f"[ARGS]{call.arguments or '{}'}"
        for call in calls
    )
