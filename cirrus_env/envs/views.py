"""What a seat sees, built from an allow-list and kept up step by step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.tickets.model import Private, Public
from cirrus_env.wire import ASSISTANT, Message, Record, ToolCall
from cirrus_env.wire import messages as build

Observation = dict[str, Any]

ENVIRONMENT: Final = build.ENVIRONMENT
NOTHING_SAID: Final = "[invalid action] nothing usable was said or done; the turn has passed"
_encode: Final[Callable[[Any], str]] = json.JSONEncoder(ensure_ascii=False).encode


class ChatText:
    """Chat messages as one growing JSON text; adding to it doesn't write the old ones again."""

    __slots__ = ("_body",)

    def __init__(self, body: str = "") -> None:
        self._body = body

    def add(self, messages: list[Message]) -> None:
        """Append messages."""
        if not messages:
            return
        # one owner of the text lets CPython extend it in place
        body, self._body = self._body, ""
        if body:
            body += ","
        body += ",".join([build.written(message) for message in messages])
        self._body = body

    def json(self) -> str:
        """The JSON array."""
        return f"[{self._body}]"

    def copy(self) -> ChatText:
        """An independent copy."""
        return ChatText(self._body)


class AssistantView:
    """The assistant's side: the whole chat with tool traffic, and the tools on offer."""

    __slots__ = ("_seen", "_text")

    def __init__(self, text: ChatText | None = None, seen: int = 0) -> None:
        self._text = text if text is not None else ChatText()
        self._seen = seen

    def copy(self) -> AssistantView:
        """An independent copy."""
        return AssistantView(self._text.copy(), self._seen)

    def json(self) -> str:
        """The transcript as last observed."""
        return self._text.json()

    def observe(self, episode: TicketEpisode) -> Observation:
        """The observation now."""
        state = episode.state
        messages = state.messages
        new = messages[self._seen :]
        self._seen = len(messages)
        self._text.add(new)
        message, role = last_words(messages)
        return {
            "message": message,
            "role": role,
            "transcript": self._text.json(),
            "tools": episode.tools_json,
            "turn": state.turn,
            "budget": max(0, episode.setting.limits.max_turns - state.turn),
        }


def last_words(messages: list[Message]) -> tuple[str, str]:
    """What came back since the assistant's last message, and from whom."""
    last = messages[-1]
    role = _sender(last)
    if role == "assistant":
        return "", ""
    if len(messages) < 2 or messages[-2]["role"] in ("assistant", "system"):
        return last["content"], role
    start = len(messages) - 1
    while start and messages[start - 1]["role"] not in ("assistant", "system"):
        start -= 1
    return "\n".join([message["content"] for message in messages[start:]]), role


def _sender(message: Message) -> str:
    return ENVIRONMENT if message.get("name") == ENVIRONMENT else str(message["role"])


class CustomerView:
    """The customer's side: what was said to it, what it said, what it knows and can do.

    It sees no tool traffic, no reasoning, no text beside calls, and no hand-over summary. As for
    any chat model, its own words have the role ``assistant`` and the other's ``user``.
    """

    __slots__ = ("_last", "_seen", "_text")

    def __init__(
        self, text: ChatText | None = None, seen: int = 0, last: tuple[str, str] = ("", "")
    ) -> None:
        self._text = text if text is not None else ChatText()
        self._seen = seen
        self._last = last

    def copy(self) -> CustomerView:
        """An independent copy."""
        return CustomerView(self._text.copy(), self._seen, self._last)

    def json(self) -> str:
        """The transcript as last observed."""
        return self._text.json()

    def observe(self, episode: TicketEpisode) -> Observation:
        """The observation now."""
        scenario = episode.scenario
        private = scenario.private
        if not self._seen:
            self._text.add([build.system(profile(scenario.public, private))])
        records = episode.records
        new = [message for r in records[self._seen :] for message in _as_chat(r, private)]
        self._seen = len(records)
        self._text.add(new)
        for sent in new:
            if sent["role"] != "assistant":
                self._last = sent["content"], _sender(sent)
        message, role = self._last
        return {
            "message": message,
            "role": role,
            "transcript": self._text.json(),
            "tools": _encode(console_schemas(private)),
            "turn": episode.state.turn,
            "budget": max(0, private.patience),
        }


def _as_chat(record: Record, private: Private) -> Iterable[Message]:
    action = record.action
    if record.seat == ASSISTANT:
        if action["kind"] in ("reply", "close") and not action.get("fault"):
            yield {"role": "user", "content": action.get("text", "")}
        return
    name = action.get("console", "")
    if name:
        call = ToolCall(f"console_{record.i}", name, "{}")
        worked = any(e.kind == "console" and e.value["ok"] for e in record.events)
        console = private.console[name]
        yield build.assistant("", [call])
        yield build.tool_result(call, console.says if worked else console.fails)
    elif action.get("text"):
        yield build.assistant(action["text"])
    elif action["kind"] == "say":
        yield build.notice(NOTHING_SAID)


def profile(public: Public, private: Private) -> str:
    """Who the customer is, what it wants and knows, as JSON."""
    return _encode(
        {
            "seat": "customer",
            "name": private.name,
            "mood": private.mood,
            "language": public.language,
            "account": public.account,
            "goal": public.title,
            "patience": private.patience,
            "facts": [
                {"name": f.name, "text": f.text, "when": f.when}
                for f in private.facts.values()
                if f.when != "never"
            ],
            "agrees_to": [{"operation": c.operation, "id": c.id} for c in private.consents],
            "console": list(private.console),
        }
    )


def console_schemas(private: Private) -> list[dict[str, Any]]:
    """The customer's console actions as functions without arguments."""
    nothing: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    return [
        {"type": "function", "function": {"name": name, "parameters": nothing}}
        for name in private.console
    ]
