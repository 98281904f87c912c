"""DeepSeek: V3 and R1 (fenced JSON), V3.1 (bare JSON), V3.2 and later (DSML).

The marks are written with fullwidth bars and U+2581; plain bars and underscores are read too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from cirrus_env.engine.formats import typed
from cirrus_env.engine.formats.found import UNNAMED, Found, Tools
from cirrus_env.engine.formats.jsoncall import body
from cirrus_env.engine.formats.scan import Block, Source, scan, split_reasoning
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.wire import ToolCall, canonical, strict_loads

_BAR: Final = r"[｜|]"
_GAP: Final = r"[▁_]"


def _mark(name: str) -> str:
    return f"<{_BAR}{name.replace(' ', _GAP)}{_BAR}>"


_SECTION: Final = (
    f"{_mark('tool calls begin')}|{_mark('tool calls end')}"
    rf"|</?{_BAR}DSML{_BAR}(?:function|tool)_calls>"
)
_BEGIN: Final = _mark("tool call begin")
_INVOKE: Final = rf'<{_BAR}DSML{_BAR}invoke name="(?P<invoked>[^"<>\n]*)">'
_TAGS: Final = re.compile(
    f"(?P<sep>{_mark('tool sep')})|(?P<close>{_mark('tool call end')})|{_BEGIN}|{_SECTION}"
)
_PARAMETER: Final = re.compile(
    rf'\s*<{_BAR}DSML{_BAR}parameter name="([^"<>\n]*)"(?: string="(true|false)")?>'
)
_PARAMETER_END: Final = re.compile(
    rf"(?P<close></{_BAR}DSML{_BAR}parameter>)|</{_BAR}DSML{_BAR}invoke>"
)
_INVOKE_END: Final = re.compile(rf"\s*</{_BAR}DSML{_BAR}invoke>")
_INVOKE_TAGS: Final = re.compile(
    rf"(?P<close></{_BAR}DSML{_BAR}invoke>)|<{_BAR}DSML{_BAR}invoke |{_SECTION}"
)


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text; the generations are told apart by their marks."""

    def read(source: Source, mark: re.Match[str]) -> Block:
        if "DSML" in mark[0] and "invoke" in mark[0]:
            return _invoke(source, mark, tools)
        return _call(source, mark) if re.fullmatch(_BEGIN, mark[0]) else Block(mark.end())

    found = scan(text, f"{_SECTION}|{_BEGIN}|{_INVOKE}", read)
    if not found.calls and not found.fault and re.search(_SECTION, split_reasoning(text)[1]):
        return Found(found.text, (), found.reasoning, "a section of tool calls holds none")
    return found


def _call(source: Source, mark: re.Match[str]) -> Block:
    text = source.text
    tag = source.search(_TAGS, mark.end())
    if tag is None or tag.lastgroup != "sep":
        end = len(text) if tag is None else tag.start()
        raw = text[mark.end() : end].strip()
        after = tag.end() if tag is not None and tag.lastgroup == "close" else end
        return Block(after, (ToolCall("", UNNAMED, raw),), "a tool call has no separator")
    name = text[mark.end() : tag.start()].strip()
    inside, end, closed = body(source, _TAGS, tag.end())
    inside = inside.strip()
    if name == "function":
        name, inside = _fenced(inside)
    if not name:
        return Block(end, (ToolCall("", UNNAMED, inside),), "a tool call can't be read")
    call = ToolCall("", name, inside)
    if closed or inside:
        return Block(end, (call,))
    return Block(end, (call,), f"the call of {name} is cut short")


def _fenced(body: str) -> tuple[str, str]:
    """The name and arguments of V3's ``name`` and fenced JSON, or of a tool named function."""
    if body.startswith("{"):
        return "function", body
    name, fence, rest = body.partition("```")
    return name.strip() if fence else "", rest.removeprefix("json").removesuffix("```").strip()


def _invoke(source: Source, mark: re.Match[str], tools: Tools | None) -> Block:
    text, name, at = source.text, mark["invoked"].strip(), mark.end()
    known = typed.properties(name, tools)
    given: dict[str, Any] = {}
    fault = "" if name else "a tool call names no tool"
    while parameter := _PARAMETER.match(text, at):
        end = source.search(_PARAMETER_END, parameter.end())
        if end is None or not end.lastgroup:
            fault = fault or f"the value of {parameter[1]} isn't closed"
            at = end.start() if end else parameter.end()
            break
        raw, at = text[parameter.end() : end.start()], end.end()
        if parameter[1] in given:
            fault = fault or f"{name} is given {parameter[1]} twice"
        elif parameter[2] == "false":
            try:
                given[parameter[1]] = strict_loads(raw)
            except MalformedText as error:
                fault = fault or f"the value of {parameter[1]} is malformed: {error}"
        elif parameter[2] == "true":
            given[parameter[1]] = raw
        else:
            given[parameter[1]] = typed.value(raw, known.get(parameter[1]))
    close = _INVOKE_END.match(text, at)
    if close and not fault:
        return Block(close.end(), (ToolCall("", name, canonical(given)),))
    tag = source.search(_INVOKE_TAGS, at)
    stop = len(text) if tag is None else tag.start()
    after = tag.end() if tag is not None and tag.lastgroup else stop
    call = ToolCall("", name or UNNAMED, text[mark.end() : stop].strip())
    return Block(after, (call,), (fault or f"the call of {name} is cut short or malformed")[:200])


def write_v3(calls: Sequence[ToolCall]) -> str:
    """The calls as V3 and R1 have them."""
    parts = [
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call.name}\n```json\n"
        f"{call.arguments or '{}'}\n```<｜tool▁call▁end｜>"
        for call in calls
    ]
    return f"<｜tool▁calls▁begin｜>{chr(10).join(parts)}<｜tool▁calls▁end｜>"


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as V3.1 has them."""
    parts = [
        f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{call.arguments or '{}'}<｜tool▁call▁end｜>"
        for call in calls
    ]
    return f"<｜tool▁calls▁begin｜>{''.join(parts)}<｜tool▁calls▁end｜>"


def write_dsml(calls: Sequence[ToolCall]) -> str:
    """The calls as V3.2 has them.

    Raises:
        OptionError: If a name or value holds the format's own tags.
    """
    lines = ["<｜DSML｜function_calls>"]
    for call in calls:
        lines.append(f'<｜DSML｜invoke name="{call.name}">')
        for key, found in strict_loads(call.arguments or "{}").items():
            raw = typed.written(found)
            if set(key) & set('"<>\n') or _PARAMETER_END.search(raw):
                raise OptionError(f"{key!r} can't be written in this format"[:200])
            kind = "true" if isinstance(found, str) else "false"
            lines.append(
                f'<｜DSML｜parameter name="{key}" string="{kind}">{raw}</｜DSML｜parameter>'
            )
        lines.append("</｜DSML｜invoke>")
    return "\n".join([*lines, "</｜DSML｜function_calls>"])
