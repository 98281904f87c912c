"""Chat messages in the OpenAI form, read as a conversation of turns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cirrus_env.adapters.dialogue import Exchange
from cirrus_env.adapters.functions import function_name
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError, MalformedText
from cirrus_env.wire.jsontext import strict_loads

_STOP: Final = re.compile(r"#{3}[A-Z-]{2,30}#{3}")
_FAILED: Final = re.compile(r"error\b", re.I)


@dataclass(slots=True)
class Turn:
    """The assistant's messages up to the customer's next one.

    Attributes:
        calls: (index of the message, call), in order.
        replies: (index of the message, words), in order.
        answer: The customer's next words.
    """

    calls: list[tuple[int, RecordedCall]] = field(default_factory=list)
    replies: list[tuple[int, str]] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)

    def exchange(self, **more: Any) -> Exchange:
        """The turn as an exchange."""
        return Exchange(
            tuple(call for _, call in self.calls),
            "\n".join(text for _, text in self.replies),
            "\n".join(self.answer),
            **more,
        )


@dataclass(slots=True)
class Conversation:
    """Messages as turns.

    Attributes:
        system: The system message.
        opening: The customer's first words.
        turns: What followed.
        dropped: What was left out, a sentence each.
    """

    system: str = ""
    opening: str = ""
    turns: list[Turn] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def read_messages(messages: Any, place: str) -> Conversation:
    """Read chat messages.

    Args:
        messages: A list of ``{role, content, tool_calls, tool_call_id}``.
        place: The file and record, for errors.

    Raises:
        ImportFormatError: If they are no messages, or one side says nothing.
    """
    if not isinstance(messages, list):
        raise ImportFormatError(f"{place}: messages: not a list")
    reader = _Reader(place)
    for index, message in enumerate(messages):
        reader.add(index, message)
    return reader.finish()


class _Reader:
    def __init__(self, place: str) -> None:
        self._place = place
        self._made = Conversation()
        self._open: dict[int, tuple[str, str, dict[str, Any]]] = {}
        self._order: list[tuple[Turn, int, int]] = []
        self._results: dict[int, RecordedCall] = {}

    def add(self, index: int, message: Any) -> None:
        where = f"{self._place}: messages[{index}]"
        if not isinstance(message, Mapping):
            raise ImportFormatError(f"{where}: not an object")
        role = message.get("role")
        text = self._text(message.get("content"), where)
        if role in ("system", "developer"):
            self._system(text)
        elif role == "user":
            self._user(text)
        elif role == "assistant":
            self._assistant(index, message, text, where)
        elif role in ("tool", "function"):
            self._result(message, text)
        else:
            raise ImportFormatError(f"{where}.role: {str(role)[:40]!r} is no role")

    def finish(self) -> Conversation:
        made = self._made
        if not made.opening.strip():
            raise ImportFormatError(f"{self._place}: the user says nothing")
        for turn, index, number in self._order:
            call = self._results.get(number)
            if call is not None:
                turn.calls.append((index, call))
            else:
                self._drop(f"the call of {self._open[number][1]}, which has no result")
        made.turns = [turn for turn in made.turns if turn.calls or turn.replies]
        if not made.turns:
            raise ImportFormatError(f"{self._place}: the assistant says nothing")
        made.dropped = list(dict.fromkeys(made.dropped))
        return made

    def _drop(self, what: str) -> None:
        self._made.dropped.append(what)

    def _text(self, content: Any, where: str) -> str:
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        if not isinstance(content, list):
            raise ImportFormatError(f"{where}.content: neither text nor a list of parts")
        texts = []
        for part in content:
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                texts.append(part["text"])
            else:
                self._drop("a part of a message that is no text")
        return "\n".join(texts)

    def _system(self, text: str) -> None:
        if self._made.opening:
            self._drop("a system message after the user's first")
        else:
            self._made.system = f"{self._made.system}\n{text}".strip()

    def _user(self, text: str) -> None:
        made = self._made
        words = _STOP.sub("", text).strip()
        if words != text.strip():
            self._drop("a stop token in the user's words")
        if not words:
            return
        if made.turns and not made.turns[-1].replies:  # they came while the assistant was at work
            waiting = made.turns.pop()
            self._say(words)
            made.turns.append(waiting)
        else:
            self._say(words)

    def _say(self, words: str) -> None:
        made = self._made
        if made.turns:
            made.turns[-1].answer.append(words)
        else:
            made.opening = f"{made.opening}\n{words}".strip()

    def _assistant(self, index: int, message: Mapping[str, Any], text: str, where: str) -> None:
        made = self._made
        if not made.opening:
            self._drop("an assistant message before the user's first")
            return
        if not made.turns or made.turns[-1].answer:
            made.turns.append(Turn())
        turn = made.turns[-1]
        calls = message.get("tool_calls") or []
        if message.get("function_call"):
            calls = [{"function": message["function_call"]}]
        if not isinstance(calls, list):
            raise ImportFormatError(f"{where}.tool_calls: not a list")
        for call in calls:
            self._call(turn, index, call, where)
        if text.strip():
            if calls:
                self._drop("words beside tool calls, which nobody was sent")
            else:
                turn.replies.append((index, text.strip()))

    def _call(self, turn: Turn, index: int, call: Any, where: str) -> None:
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ImportFormatError(f"{where}.tool_calls: a call without a name")
        name = function_name(function["name"])
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = strict_loads(arguments or "{}")
            except MalformedText as error:
                self._drop(f"a call of {name} whose arguments are not JSON: {error}")
                return
        if not isinstance(arguments, dict):
            self._drop(f"a call of {name} whose arguments are no object")
            return
        number = len(self._open)
        self._open[number] = (str(call.get("id") or ""), name, arguments)
        self._order.append((turn, index, number))

    def _result(self, message: Mapping[str, Any], text: str) -> None:
        id = str(message.get("tool_call_id") or "")
        waiting = [number for number in self._open if number not in self._results]
        fitting = [number for number in waiting if id and self._open[number][0] == id]
        name = message.get("name")
        if not fitting and not id:
            fitting = [n for n in waiting if not name or self._open[n][1] == name]
        if not fitting:
            self._drop("a tool result that belongs to no call")
            return
        number = fitting[0]
        _, name, arguments = self._open[number]
        value = result_of(text)
        failed = message.get("is_error") is True or _FAILED.match(text.lstrip()) is not None
        failed = failed or (isinstance(value, dict) and bool(value.get("error")))
        self._results[number] = RecordedCall(
            name, arguments, None if failed else value, (text.strip() or "error") if failed else ""
        )


def result_of(text: str) -> Any:
    """A tool result's JSON; its text where it is none."""
    try:
        value = strict_loads(text)
    except MalformedText:
        return text
    return value if isinstance(value, dict | list) else text


def documents(value: Any, most: int) -> tuple[str, bool]:
    """Help documents as plain text, and whether something had to be cut off."""
    lines: list[str] = []
    _flatten(value, lines)
    text = "\n".join(line for line in lines if line.strip())
    return text[:most], len(text) > most


def _flatten(value: Any, lines: list[str]) -> None:
    if isinstance(value, str):
        lines.append(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str | int | float):
                lines.append(item if isinstance(item, str) and "\n" in item else f"{key}: {item}")
            else:
                _flatten(item, lines)
    elif isinstance(value, Sequence):
        for item in value:
            _flatten(item, lines)
    elif value is not None:
        lines.append(json.dumps(value))
