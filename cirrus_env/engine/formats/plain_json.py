"""JSON calls without marks: Llama 3's ``{"name": ..., "parameters": {...}}``, and bare JSON.

Both read objects of exactly that shape. Llama 3 writes them anywhere, several with ``;`` between;
the tolerant reader for small models wants them bare or fenced, alone or at the end of the text, and
also reads OpenAI's nesting and other usual names of the two keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.hermes import json_call
from cirrus_env.engine.formats.jsoncall import from_value, is_json, read_call
from cirrus_env.engine.formats.scan import Fences, Source, scan
from cirrus_env.errors import MalformedText
from cirrus_env.wire import ToolCall, strict_loads

_NAMES: Final = ("name", "function", "tool", "tool_name", "action")
_GIVEN: Final = ("arguments", "parameters", "args", "params", "input", "action_input")
_CANDIDATE: Final = re.compile(r"""\{\s*+["']""")
_BROKEN: Final = re.compile(
    rf"""\{{\s*+["'](?:{"|".join(_NAMES)})["']\s*+:\s*+["'](?P<name>[^"'\\\n]++)["']"""
    rf"""(?P<given>\s*+,\s*+["'](?:{"|".join(_GIVEN)})["']\s*+:)?"""
)
_NESTED: Final = re.compile(
    r"""\{\s*+["'](?:tool_calls|type|id|function)["']\s*+:\s*+(?:\[|\{|["'](?:function|call_))"""
)
_PYTHON_TAG: Final = re.compile(re.escape("<|python_tag|>"))
_NOTHING: Final = re.compile(r"(?:```\w*+|[\s;,\[\]])*+")
_KEYS: Final = frozenset({"name", "arguments", "parameters", "id", "type"})
_MESSAGE: Final = frozenset({"tool_calls", "role", "content"})


@dataclass(frozen=True, slots=True)
class _Item:
    start: int
    end: int
    call: ToolCall
    fault: str = ""


def find_llama(text: str, tools: Tools | None = None) -> Found:
    """Read a text of Llama 3; objects in a sentence are calls if they name tools on offer."""
    found = _without_reasoning(text)
    words = found.text
    tag = _PYTHON_TAG.search(words)
    body = _PYTHON_TAG.sub(" ", words) if tag else words
    items = _items(body, tolerant=False, tools=tools)
    if tag and not items:
        call = ToolCall("", UNNAMED, words[tag.end() :].strip())
        fault = "no JSON call follows <|python_tag|>"
        return Found(words[: tag.start()].strip(), (call,), found.reasoning, fault)
    rest = _rest(body, items)
    if tools is not None and not tag and any(map(_is_words, rest)):
        items = [item for item in items if item.call.name in tools]
        rest = _rest(body, items)
    return _made(found, items, rest)


def find_json(text: str, tools: Tools | None = None) -> Found:
    """Read a text of a small model; see the module for where a call may stand."""
    found = _without_reasoning(text)
    items = _items(found.text, tolerant=True, tools=tools)
    rest = _rest(found.text, items)
    if not items or _is_words(rest[-1]):
        return found
    known = tools is not None and all(item.call.name in tools for item in items)
    if any(map(_is_words, rest[:-1])) and not (known and _on_lines(found.text, items)):
        return found
    return _made(found, items, rest)


def _without_reasoning(text: str) -> Found:
    """The reasoning apart, but for a text of calls alone, whose strings may name the marks."""
    found = scan(text)
    if found.text == text:
        return found
    items = _items(text, tolerant=True, tools=None)
    return found if not items or any(map(_is_words, _rest(text, items))) else Found(text)


def _made(found: Found, items: Sequence[_Item], rest: Sequence[str]) -> Found:
    if not items:
        return found
    words = [piece.strip(" \t\r\n;,[]") for piece in rest if _is_words(piece)]
    fault = next((item.fault for item in items if item.fault), "")
    said = "\n".join(re.sub(r"\s*```\w*\s*\Z", "", piece) for piece in words)
    return Found(said, tuple(item.call for item in items), found.reasoning, fault)


def _rest(text: str, items: Sequence[_Item]) -> list[str]:
    """What stands before, between and after the calls."""
    starts = [item.start for item in items] + [len(text)]
    ends = [0] + [item.end for item in items]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _is_words(piece: str) -> bool:
    return _NOTHING.fullmatch(piece) is None


def _on_lines(text: str, items: Sequence[_Item]) -> bool:
    """Whether the first call begins a line."""
    start = items[0].start
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return not _is_words(line)


def _items(text: str, *, tolerant: bool, tools: Tools | None) -> list[_Item]:
    source, fences = Source(text), Fences(text)
    items: list[_Item] = []
    at, clean = 0, True
    while candidate := _CANDIDATE.search(text, at):
        start = candidate.start()
        end = source.object_end(start)
        clean = clean and not _is_words(text[items[-1].end if items else 0 : start])
        quoted = text[start - 1 : start] == "`" or (fences.around(start) and not tolerant)
        found: list[_Item] = []
        value = _loaded(text[start:end]) if end >= 0 else None
        if not quoted and value is not None:
            found = _whole(value, text[start:end], start, tolerant=tolerant, tools=tools)
        elif not quoted:
            found = _broken(text, start, end if end >= 0 else len(text), tools, clean=clean)
        items += found
        clean = bool(found)
        at = end if value is not None else found[-1].end if found else candidate.end()
    return items


def _loaded(block: str) -> dict[str, Any] | None:
    try:
        value: dict[str, Any] = strict_loads(block)
    except MalformedText:
        return None
    return value


def _whole(
    value: dict[str, Any], block: str, start: int, *, tolerant: bool, tools: Tools | None
) -> list[_Item]:
    """The calls that a readable object is: none where it has another shape."""
    end, text = start + len(block), block
    inner = value.get("tool_calls")
    if tolerant and isinstance(inner, list) and not set(value) - _MESSAGE:
        made = [_plain(one) for one in inner if isinstance(one, dict)]
        return [_Item(start, end, *from_value(one)) for one in made]
    if tolerant:
        plain = _plain(value)
        value, text = plain, block if plain == value else ""
    name = value.get("name")
    if not isinstance(name, str) or set(value) - _KEYS:
        return []
    given = [value[key] for key in ("arguments", "parameters") if key in value]
    if not all(isinstance(one, dict) or one is None or _holds_object(one) for one in given):
        return []
    if not given and not (tools is not None and name in tools):
        return []
    return [_Item(start, end, *from_value(value, text))]


def _holds_object(given: Any) -> bool:
    return isinstance(given, str) and given.lstrip().startswith("{") and is_json(given)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with the usual names of its keys."""
    inner = value.get("function")
    if isinstance(inner, Mapping):
        outer = {key: value[key] for key in ("id", "type") if key in value}
        return {**outer, **inner} if not set(value) - {"function", "id", "type"} else {}
    result = dict(value)
    for usual, names in (("name", _NAMES), ("arguments", _GIVEN)):
        given = [key for key in names if key in result]
        if len(given) == 1 and not (usual == "arguments" and given[0] == "parameters"):
            result[usual] = result.pop(given[0])
    return result


def _broken(text: str, start: int, end: int, tools: Tools | None, *, clean: bool) -> list[_Item]:
    """An object that was meant as a call and can't be read."""
    head = _BROKEN.match(text, start, end)
    if head is None and clean and _NESTED.match(text, start, end):
        call = ToolCall("", UNNAMED, text[start:end])
        return [_Item(start, end, call, "a tool call can't be read")]
    if head is None:
        return []
    known = tools is not None and head["name"] in tools
    if not known and not (clean and head["given"]):
        return []
    block = text[start:end]
    call, fault = read_call(block)
    if fault:
        call = ToolCall("", head["name"], block)
    return [_Item(start, end, call, fault)]


def write_llama(calls: Sequence[ToolCall]) -> str:
    """The calls as Llama 3 has them."""
    return "; ".join(json_call(call, "parameters") for call in calls)


def write_json(calls: Sequence[ToolCall]) -> str:
    """The calls as bare JSON, one a line."""
    return "\n".join(map(json_call, calls))
