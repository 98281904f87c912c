"""Calls in Python's notation: ``[f(a=1), g(b="x")]``, and bare ``f(a=1)``.

Between marks (``<|python_tag|>``, ``<|python_start|>``, ``<function_calls>`` and others) a call is
one. Without marks a text is calls only where it is nothing else, or where its last lines are and
name tools on offer; so ``OK(thanks)`` and a call in a sentence stay words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats import literals
from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.scan import Block, Source, fenced_tail, scan
from cirrus_env.errors import MalformedText
from cirrus_env.wire import ToolCall, canonical, strict_loads

_CLOSERS: Final = {
    "<|python_start|>": "<|python_end|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<function_calls>": "</function_calls>",
    "<|python_tag|>": "<|eom_id|>",
}
_MARKS: Final = "|".join(map(re.escape, _CLOSERS))
_BETWEEN: Final = re.compile(r"[\s;,]*+")
_START: Final = re.compile(rf"^[ \t]*+(?:(\[)\s*+)?({literals.NAME})\s*+\(\s*+", re.MULTILINE)
_KEYWORD: Final = re.compile(r"[^\W\d]\w*\s*=(?!=)")
_LIKE: Final = re.compile(
    rf"\[?\s*+(?:{literals.NAME}\s*+\("
    r"""(?:[^()'"]|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|\([^()]*+\))*+(?:\)|['"].*|\Z)"""
    r"[\s;,]*+)++\]?\s*+",
    re.DOTALL,
)


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; see the module for what is a call."""
    found = scan(text, _MARKS, _marked)
    if found.calls or found.fault:
        return found
    if found.text != text:  # a call's own strings may name the marks of reasoning
        alone = bare(Found(text), tools)
        if alone.calls and not alone.fault and not alone.text:
            return alone
    return bare(found, tools)


def _marked(source: Source, mark: re.Match[str]) -> Block:
    closer = _CLOSERS[mark[0]]
    end = source.text.find(closer, mark.end())
    stop = len(source.text) if end < 0 else end
    calls, fault = read_calls(source.text[mark.end() : stop])
    return Block(stop if end < 0 else end + len(closer), calls, fault)


def bare(found: Found, tools: Tools | None) -> Found:
    """Look for calls without marks among the words of a text."""
    before, body = fenced_tail(found.text)
    body = body.strip()
    start = _START.match(body)
    if start is None and not before and tools is not None:
        start = next((s for s in _START.finditer(body) if s[2] in tools), None)
        if start is None or body.count("```", 0, start.start()) % 2:
            return found
        before, body = body[: start.start()].strip(), body[start.start() :]
        start = _START.match(body)
    if start is None:
        return found
    calls, fault = read_calls(body)
    known = [tools is not None and call.name in tools for call in calls]
    if fault:
        keyword = _KEYWORD.match(body, start.end()) is not None
        meant = (keyword or known[0]) and _LIKE.fullmatch(body) is not None
    else:
        meant = bool(start[1]) or all(
            k or call.arguments != "{}" for k, call in zip(known, calls, strict=True)
        )
    if not meant or (before and not all(known)):
        return found
    return Found(before, calls, found.reasoning, fault)


def read_calls(text: str) -> tuple[tuple[ToolCall, ...], str]:
    """Read a text that is calls and nothing else, in a list or one after another.

    Returns:
        The calls, at least one, and a fault where the text can't be used; a call that can't be
        read holds the rest of the text.
    """
    calls: list[ToolCall] = []
    fault = ""
    body = text.strip()
    at, end = 0, len(body)
    if body.startswith("["):
        at, end = 1, end - 1 if body.endswith("]") else end
        fault = "" if body.endswith("]") else "the list of calls isn't closed"
    while True:
        between = _BETWEEN.match(body, at, end)
        at = between.end() if between else at
        if at >= end and calls:
            return tuple(calls), fault
        try:
            call = literals.read_call(body, at)
        except MalformedText as error:
            name = _START.match(body[at:end])
            known = name[2] if name else UNNAMED
            calls.append(ToolCall("", known, body[at:end]))
            return tuple(calls), f"a call can't be read: {error}"[:200]
        fault = fault or call.problem
        raw = f"({call.raw})" if call.problem else canonical(call.arguments)
        calls.append(ToolCall("", call.name, raw))
        at = call.end


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as a list."""
    return f"[{', '.join(map(_written, calls))}]"


def write_bare(calls: Sequence[ToolCall]) -> str:
    """The calls one a line."""
    return "\n".join(map(_written, calls))


def _written(call: ToolCall) -> str:
    given = strict_loads(call.arguments or "{}")
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
