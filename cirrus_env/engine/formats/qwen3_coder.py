"""Qwen3-Coder: ``<tool_call><function=name><parameter=x>value</parameter></function></tool_call>``.

A value is everything between its tags but one line break at each end. The outer tags may be
missing, and so may the closing tag of a value before the next one, as serving engines have it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats import typed
from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.scan import Block, Source, scan, talked_about
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.wire import ToolCall, strict_loads

_FUNCTION: Final = re.compile(r"\s*<function=([^<>\n]+)>")
_PARAMETER: Final = re.compile(r"\s*<parameter=([^<>\n]+)>")
_VALUE_END: Final = re.compile(
    r"(?P<close></parameter>)|^[ \t]*(?=<parameter=)"
    r"|(?=</function>\s*(?:</tool_call>|<function=|\Z))"
    r"|(?P<cut></tool_call>\s*(?=<tool_call>|\Z))",
    re.MULTILINE,
)
_CLOSE: Final = re.compile(r"\s*(?:</function>|(?=</tool_call>))")
_OUTER: Final = re.compile(r"\s*</tool_call>")
_TAG: Final = re.compile(r"(?P<close></tool_call>)|<tool_call>")


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; values are typed by the tools' schemas."""

    def read(source: Source, mark: re.Match[str]) -> Block | None:
        return _read(source, mark, tools)

    return scan(text, "<tool_call>|<function=", read)


def _read(source: Source, mark: re.Match[str], tools: Tools | None) -> Block | None:
    text = source.text
    at = mark.end() if mark[0] == "<tool_call>" else mark.start()
    calls: list[ToolCall] = []
    while function := _FUNCTION.match(text, at):
        name = function[1].strip()
        pairs, at, fault = _pairs(source, function.end())
        if not fault:
            try:
                arguments = typed.arguments(pairs, name, tools)
            except MalformedText as error:
                fault = str(error)
        if fault:
            block = _broken(source, function, at, name, f"the call of {name}: {fault}")
            return block._replace(calls=(*calls, *block.calls))
        calls.append(ToolCall("", name, arguments))
    if not calls:
        if talked_about(text, mark.start(), mark.end()):
            return None
        return _broken(source, mark, at, UNNAMED, "a tool call begins with <function=NAME>")
    outer = _OUTER.match(text, at)
    return Block(outer.end() if outer else at, tuple(calls))


def _pairs(source: Source, at: int) -> tuple[list[tuple[str, str]], int, str]:
    """The parameters, where the text goes on, and what is wrong."""
    text = source.text
    pairs: list[tuple[str, str]] = []
    while parameter := _PARAMETER.match(text, at):
        end = source.search(_VALUE_END, parameter.end())
        if end is None or end.lastgroup == "cut":
            at = end.start() if end else parameter.end()
            return pairs, at, f"the value of {parameter[1]} isn't closed"
        raw = text[parameter.end() : end.start()]
        pairs.append((parameter[1].strip(), raw.removeprefix("\n").removesuffix("\n")))
        at = end.end()
    close = _CLOSE.match(text, at)
    if close is None:
        return pairs, at, "it is cut short or malformed"
    return pairs, close.end(), ""


def _broken(source: Source, head: re.Match[str], at: int, name: str, fault: str) -> Block:
    tag = source.search(_TAG, at)
    stop = tag.start() if tag else len(source.text)
    end = tag.end() if tag and tag.lastgroup else stop
    raw = source.text[head.end() : stop].strip()
    return Block(end, (ToolCall("", name, raw),), fault[:200])


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as this format has them.

    Raises:
        OptionError: If a name or value holds the format's own tags.
    """
    parts = []
    for call in calls:
        lines = ["<tool_call>", f"<function={call.name}>"]
        for key, found in strict_loads(call.arguments or "{}").items():
            raw = typed.written(found)
            if set(key) & set("<>\n") or key != key.strip() or _VALUE_END.search(f"\n{raw}\n"):
                raise OptionError(f"{key!r} can't be written in this format"[:200])
            lines += [f"<parameter={key}>", raw, "</parameter>"]
        parts.append("\n".join([*lines, "</function>", "</tool_call>"]))
    return "\n".join(parts)
