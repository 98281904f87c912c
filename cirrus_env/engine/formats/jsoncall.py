"""A call written as a JSON object with a name and arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.engine.formats.found import UNNAMED
from cirrus_env.engine.formats.scan import Source
from cirrus_env.errors import MalformedText
from cirrus_env.wire import ToolCall, canonical, strict_loads

_HEAD: Final = re.compile(r'\s*\{\s*"name"\s*:\s*"([^"\\]{1,200})"\s*(?=[,}]|\Z)')
_GIVEN: Final = re.compile(r',\s*"(?:arguments|parameters)"\s*:\s*')
ARGUMENTS: Final = ("arguments", "parameters")
_KEYS: Final = frozenset({"name", "id", "type", *ARGUMENTS})


def is_json(text: str) -> bool:
    """Whether a text is JSON that would be read."""
    try:
        strict_loads(text)
    except MalformedText:
        return False
    return True


def read_call(block: str) -> tuple[ToolCall, str]:
    """Read one call.

    Args:
        block: The text of the object.

    Returns:
        The call, with arguments as they were written, and a fault where the call can't be used.
        Broken JSON after a readable name is no fault: the call carries it as its arguments, so
        that the engine answers this call with ``MalformedArguments`` and runs the others.
    """
    try:
        value = strict_loads(block)
    except MalformedText as error:
        head = _HEAD.match(block)
        if head is None:
            return ToolCall("", UNNAMED, block), f"a tool call can't be read: {error}"
        return ToolCall("", head[1], _broken(block, head)), ""
    return from_value(value, block)


def from_value(value: Any, block: str = "") -> tuple[ToolCall, str]:
    """Read one call from its parsed object.

    Args:
        value: The parsed JSON.
        block: Its text, to take the arguments from as they were written.
    """
    text = block or canonical(value)
    if not isinstance(value, Mapping):
        return ToolCall("", UNNAMED, text), "a tool call is a JSON object"
    name, id = value.get("name"), value.get("id")
    if not isinstance(name, str) or not name:
        return ToolCall("", UNNAMED, text), "a tool call names no tool"
    call_id = id if isinstance(id, str) else ""
    extra = sorted(set(value) - _KEYS)
    given = [key for key in ARGUMENTS if key in value]
    if extra or len(given) != 1:
        what = f"has unknown keys: {', '.join(extra)}" if extra else "has no arguments"
        if len(given) > 1:
            what = "has both arguments and parameters"
        return ToolCall(call_id, name, text), f"the call of {name} {what}"[:200]
    return ToolCall(call_id, name, _arguments(value, given[0], block)), ""


def _arguments(value: Mapping[str, Any], key: str, block: str) -> str:
    arguments = {} if value[key] is None else value[key]
    if isinstance(arguments, str):  # as OpenAI's messages have it
        return arguments
    head = _HEAD.match(block) if len(value) == 2 and value[key] is not None else None
    given = _GIVEN.match(block, head.end()) if head else None
    if given:
        return block[given.end() :].rstrip()[:-1].rstrip()
    return canonical(arguments)


def _broken(block: str, head: re.Match[str]) -> str:
    """The arguments of a broken object where they are what is broken, else all of it."""
    given = _GIVEN.match(block, head.end())
    if given:
        part = block[given.end() :].rstrip().removesuffix("}").rstrip()
        if not is_json(part):
            return part or block.strip(" \t\r\n")
    return block.strip(" \t\r\n")


def extent(source: Source, start: int, mark: re.Pattern[str]) -> int:
    """Where the JSON object at ``start`` ends; a broken one at the next mark, or with the text."""
    end = source.object_end(start)
    if end >= 0 and is_json(source.text[start:end]):
        return end
    found = source.search(mark, start)
    stop = found.start() if found else len(source.text)
    return end if 0 <= end <= stop else stop


def body(source: Source, tags: re.Pattern[str], start: int) -> tuple[str, int, bool]:
    """The text between two tags, given that JSON in it may hold the tags.

    Args:
        source: The text.
        tags: The tags that end a block; a match with the group ``close`` is the closing tag.
        start: After the opening tag.

    Returns:
        The body, where the text goes on, and whether a closing tag stood there.
    """
    tag = source.search(tags, start)
    stop = tag.start() if tag else len(source.text)
    inside = source.text[start:stop]
    first = inside.lstrip()[:1]
    if first in ("{", "[") and not is_json(inside):
        end = source.object_end(start + inside.index(first))
        cut = tag is None or tag.lastgroup != "close"
        if (end > stop or (cut and end >= 0)) and is_json(source.text[start:end]):
            inside, tag = source.text[start:end], source.search(tags, end)
            if tag is None or source.text[end : tag.start()].strip():
                return inside, end, False
            stop = tag.start()
    closing = tag is not None and tag.lastgroup == "close"
    return inside, tag.end() if tag is not None and closing else stop, closing
