"""What a chat-completion response says, whatever the server that wrote it leaves out or adds."""

from __future__ import annotations

import json
import time
from typing import Any, Final, NamedTuple

from cirrus_env.wire import Message

LARGEST: Final = 64_000_000
"""Bytes that an answer may have."""


class Usage(NamedTuple):
    """Tokens of one call, as the endpoint counts them; 0 where it doesn't say.

    Attributes:
        prompt_tokens: Of the messages and tools.
        completion_tokens: Of the answer, reasoning included.
        reasoning_tokens: Of the reasoning.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0


class Completion(NamedTuple):
    """A model's answer.

    Attributes:
        message: An OpenAI chat message of the assistant: ``role``, ``content`` (a string) and,
            where there are any, ``tool_calls`` and ``reasoning_content``; as the model wrote it.
        finish_reason: Why it ended, such as ``stop``, ``tool_calls`` or ``length``.
        usage: Its tokens.
        attempts: How many attempts it took.
    """

    message: Message
    finish_reason: str
    usage: Usage
    attempts: int


class Unusable(Exception):
    """A response that is no completion; its text says why and nothing of what came."""


class Body:
    """A response's body as it comes in, in time and of a size that can be.

    Args:
        timeout: Seconds from now until it must be whole.
    """

    def __init__(self, timeout: float) -> None:
        self._until = time.monotonic() + timeout
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        """The next bytes.

        Raises:
            Unusable: If they come too late or are too many.
        """
        self._size += len(chunk)
        if time.monotonic() > self._until:
            raise Unusable("no answer in time")
        if self._size > LARGEST:
            raise Unusable("the answer is too large")
        self._parts.append(chunk)

    def read(self, attempts: int) -> Completion:
        """The completion that it holds.

        Args:
            attempts: How many it took.

        Raises:
            Unusable: If it holds none.
        """
        try:
            data = json.loads(b"".join(self._parts))
        except (ValueError, RecursionError):
            raise Unusable("the answer is no JSON") from None
        try:
            choice = data["choices"][0]
            message = _message(choice["message"])
        except (KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise Unusable("the answer holds no message") from None
        reason = choice.get("finish_reason")
        finish = reason if isinstance(reason, str) else ""
        return Completion(message, finish, _usage(data.get("usage")), attempts)


def _message(given: Any) -> Message:
    message: Message = {"role": "assistant", "content": _text(given.get("content"))}
    if calls := given.get("tool_calls"):
        message["tool_calls"] = [_called(call) for call in calls]
    reasoning = given.get("reasoning_content") or given.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        message["reasoning_content"] = reasoning
    return message


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise TypeError("content is a text or a list of parts")
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def _called(call: Any) -> dict[str, Any]:
    function = call["function"]
    name, arguments = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError("a name is a text")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    id = call.get("id")
    return {
        "id": id if isinstance(id, str) else "",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("completion_tokens_details")
    return Usage(
        _number(given.get("prompt_tokens")),
        _number(given.get("completion_tokens")),
        _number(details.get("reasoning_tokens")) if isinstance(details, dict) else 0,
    )


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
