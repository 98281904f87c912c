"""GLM 4.5 and later: ``<tool_call>name`` with ``<arg_key>`` and ``<arg_value>`` pairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cirrus_env.engine.formats import typed
from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.scan import Block, Source, scan, talked_about
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.wire import ToolCall, strict_loads

_NAME: Final = re.compile(r"\s*([\w.\-/:]+)\s*(?=<arg_key>|</tool_call>)")
_KEY: Final = re.compile(r"\s*<arg_key>([^<]*)</arg_key>\s*<arg_value>")
_VALUE_END: Final = re.compile(r"(?P<close></arg_value>)|</tool_call>\s*(?=<tool_call>|\Z)")
_CLOSE: Final = re.compile(r"\s*</tool_call>")
_TAG: Final = re.compile(r"<tool_call>|</tool_call>")


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; values are typed by the tools' schemas."""

    def read(source: Source, mark: re.Match[str]) -> Block | None:
        return _read(source, mark, tools)

    return scan(text, "<tool_call>", read)


def _read(source: Source, mark: re.Match[str], tools: Tools | None) -> Block | None:
    text = source.text
    name = _NAME.match(text, mark.end())
    if name is None:
        if talked_about(text, mark.start(), mark.end()):
            return None
        return _broken(source, mark, mark.end(), UNNAMED, "a tool call begins with the tool's name")
    at = name.end()
    pairs = []
    while key := _KEY.match(text, at):
        end = source.search(_VALUE_END, key.end())
        if end is None or not end.lastgroup:
            at = end.start() if end else key.end()
            return _broken(source, mark, at, name[1], f"the value of {key[1]} isn't closed")
        pairs.append((key[1].strip(), text[key.end() : end.start()]))
        at = end.end()
    close = _CLOSE.match(text, at)
    if close is None:
        fault = f"the call of {name[1]} is cut short or malformed"
        return _broken(source, mark, at, name[1], fault)
    try:
        arguments = typed.arguments(pairs, name[1], tools)
    except MalformedText as error:
        raw = text[name.end() : close.start()]
        return Block(close.end(), (ToolCall("", name[1], raw),), str(error))
    return Block(close.end(), (ToolCall("", name[1], arguments),))


def _broken(source: Source, mark: re.Match[str], at: int, name: str, fault: str) -> Block:
    tag = source.search(_TAG, at)
    stop = tag.start() if tag else len(source.text)
    end = tag.end() if tag and tag[0][1] == "/" else stop
    raw = source.text[mark.end() : stop].strip()
    return Block(end, (ToolCall("", name, raw),), fault[:200])


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as this format has them.

    Raises:
        OptionError: If a name or value holds the format's own tags.
    """
    parts = []
    for call in calls:
        lines = [f"<tool_call>{call.name}"]
        for key, found in strict_loads(call.arguments or "{}").items():
            raw = typed.written(found)
            if "<" in key or key != key.strip() or _VALUE_END.search(raw):
                raise OptionError(f"{key!r} can't be written in this format"[:200])
            lines += [f"<arg_key>{key}</arg_key>", f"<arg_value>{raw}</arg_value>"]
        parts.append("\n".join([*lines, "</tool_call>"]))
    return "\n".join(parts)
