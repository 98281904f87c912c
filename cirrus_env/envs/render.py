"""A seat's transcript for a terminal or a page; nothing in it can run or move a cursor."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from cirrus_env.wire import ASSISTANT, CUSTOMER

_NAMES: Final = {
    ASSISTANT: {"system": "system", "user": "customer", "assistant": "assistant", "tool": "tool"},
    CUSTOMER: {"system": "system", "user": "assistant", "assistant": "customer", "tool": "console"},
}
_STYLE: Final = (
    "section.cirrus{font:15px/1.5 system-ui,sans-serif;max-width:48em}"
    "section.cirrus p{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em 0 .9em}"
    "section.cirrus b{color:#456}section.cirrus code{font-size:13px}"
)


def messages(transcript: str) -> list[dict[str, Any]]:
    """The chat messages of an observation's ``transcript``."""
    result: list[dict[str, Any]] = json.loads(transcript)
    return result


def plain(text: str) -> str:
    r"""The text without control and formatting characters, but with its line breaks.

    >>> plain("a\x1b[31mb\u202ec\r\nd\t\x07e")
    'a[31mbc\nd    e'
    """
    text = text.replace("\t", "    ")
    return "".join([c for c in text if c == "\n" or c.isprintable() or c == "\u3000"])


def ansi(transcript: str, seat: str) -> str:
    """The transcript that a seat sees as plain text, one paragraph a message."""
    return ansi_of(messages(transcript), seat)


def ansi_of(chat: Sequence[dict[str, Any]], seat: str) -> str:
    """Chat messages as plain text."""
    return "\n".join([f"[{who}] {text}" for who, text in _parts(chat, seat)])


def html(transcript: str, seat: str, title: str) -> str:
    """The transcript that a seat sees as an HTML section; every text is escaped."""
    body = "".join(
        f"<div><b>{escaping.escape(who)}</b><p>{escaping.escape(text)}</p></div>"
        for who, text in _parts(messages(transcript), seat)
    )
    heading = escaping.escape(plain(title))
    return f'<section class="cirrus"><style>{_STYLE}</style><h1>{heading}</h1>{body}</section>'


def _parts(chat: Sequence[dict[str, Any]], seat: str) -> Iterator[tuple[str, str]]:
    """Who, and what, for each message."""
    for message in chat:
        name = plain(str(message.get("name", "")))
        who = _NAMES[seat].get(message["role"], "unknown")
        if message["role"] == "tool":
            who = f"{who} {name}"
        elif name:
            who = name
        lines = [plain(message.get("content") or "")]
        for call in message.get("tool_calls", ()):
            function = call["function"]
            lines.append(f"-> {plain(function['name'])} {plain(function['arguments'])}")
        yield who, "\n".join(line for line in lines if line)
