"""From what a caller sends to an ``AssistantAction``.

A string goes through the episode's parser; a chat message (dict, or an object with the same
attributes) is read by ``from_message``. What is wrong inside a model's text becomes a ``fault`` or
a call that the engine answers with an error, and is counted; a wrong Python type is the
programmer's and raises ``InvalidAction``. Hidden reasoning is split off everywhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

from cirrus_env.engine.formats import FORMATS, TextFormat
from cirrus_env.engine.formats.found import Found, Tools, action_of
from cirrus_env.engine.formats.scan import split_reasoning
from cirrus_env.errors import InvalidAction, MalformedText, OptionError
from cirrus_env.wire import ASSISTANT_KINDS, AssistantAction, ToolCall, canonical, strict_loads

Parser = Callable[[str], AssistantAction]
"""A function of the text; a ``TextFormat`` is given the episode's tools too."""


def plain(text: str) -> AssistantAction:
    """The text is a reply to the customer, whatever it looks like, but for hidden reasoning."""
    reasoning, said = split_reasoning(text)
    return AssistantAction("reply", said, reasoning=reasoning)


def openai(text: str) -> AssistantAction:
    """The text is the JSON of an OpenAI chat message."""
    try:
        data = strict_loads(text)
    except MalformedText as error:
        return AssistantAction("reply", text, fault=f"not a chat message: {error}")
    if not isinstance(data, dict):
        return AssistantAction("reply", text, fault="not a chat message: no JSON object")
    try:
        return from_message(data)
    except InvalidAction as error:
        return AssistantAction("reply", text, fault=f"not a chat message: {error}")


PARSERS: Final[Mapping[str, Parser]] = {"plain": plain, "openai": openai, **FORMATS}


def find_parser(given: str | Parser) -> Parser:
    """The parser of this name.

    Raises:
        OptionError: If there is none; near names are suggested.
    """
    if callable(given):
        return given
    if isinstance(given, str) and given in PARSERS:
        return PARSERS[given]
    near = difflib.get_close_matches(str(given), PARSERS, n=2)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    raise OptionError(f"there is no parser {given!r}{hint}; there are {', '.join(PARSERS)}"[:400])


def to_action(action: Any, parser: Parser, tools: Tools | None = None) -> AssistantAction:
    """Read whatever ``step`` was given.

    Args:
        action: A text, a chat message or an ``AssistantAction``.
        parser: Reads a text.
        tools: Argument schemas of the tools on offer, by name, for parsers that use them.

    Raises:
        InvalidAction: If it is no string, chat message or ``AssistantAction``.
    """
    if isinstance(action, str):
        action = parser(action, tools) if isinstance(parser, TextFormat) else parser(action)
    if isinstance(action, AssistantAction):
        problem = _problem(action)
        if problem:
            raise InvalidAction(problem)
        return action
    return from_message(action)


def _problem(action: AssistantAction) -> str:
    """What no annotation stops a caller from building."""
    if action.kind not in ASSISTANT_KINDS:
        return f"an action's kind is one of {', '.join(ASSISTANT_KINDS)}, not {action.kind!r}"[:200]
    for part in (action.text, action.queue, action.reasoning, action.fault):
        if not isinstance(part, str):
            return f"text, queue, reasoning and fault are texts, not {type(part).__name__}"
    if not action.calls:
        return "" if action.calls == () else "calls is a tuple of ToolCall"
    if action.kind != "call" and not action.fault:
        return f"a {action.kind} carries no tool calls"
    if not isinstance(action.calls, tuple):
        return "calls is a tuple of ToolCall"
    for call in action.calls:
        parts = (call.id, call.name, call.arguments) if isinstance(call, ToolCall) else (None,)
        if not all(isinstance(part, str) for part in parts):
            return "calls is a tuple of ToolCall, each of three texts"
    return ""


def from_message(message: Any) -> AssistantAction:
    """Read an OpenAI chat message of the assistant.

    Args:
        message: A dict, or an object such as the client library's message, with ``content``,
            ``tool_calls`` and perhaps ``reasoning_content``.

    Raises:
        InvalidAction: If it isn't one.
    """
    content = _text(_field(message, "content"))
    reasoning = _field(message, "reasoning_content") or _field(message, "reasoning") or ""
    calls = _field(message, "tool_calls") or ()
    role = _field(message, "role")
    if role not in (None, "assistant"):
        raise InvalidAction(f"a message of role {role!r} is not the assistant's")
    if role is None and content == "" and not calls:
        raise InvalidAction(
            "an action is text, an AssistantAction or a chat message (with 'role': 'assistant'), "
            f"not {type(message).__name__}"
        )
    if not isinstance(reasoning, str):
        raise InvalidAction("reasoning_content must be text")
    hidden, content = split_reasoning(content)
    if hidden and hidden != reasoning:
        reasoning = f"{reasoning}\n{hidden}" if reasoning else hidden
    if not isinstance(calls, list | tuple):
        raise InvalidAction("tool_calls must be a list")
    return action_of(Found(content, tuple(map(_call, calls)), reasoning))


def _field(holder: Any, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [_field(part, "text") for part in content]
        if all(isinstance(part, str) for part in parts):
            return "".join(parts)
    raise InvalidAction("a message's content must be text")


def _call(call: Any) -> ToolCall:
    function = _field(call, "function")
    name = _field(function, "name") if function is not None else None
    if not isinstance(name, str):
        raise InvalidAction("a tool call needs function.name")
    arguments = _field(function, "arguments")
    if arguments is None:
        arguments = "{}"
    if not isinstance(arguments, str):
        try:
            arguments = canonical(arguments)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidAction(f"a tool call's arguments must be JSON: {error}") from None
    identifier = _field(call, "id")
    return ToolCall(identifier if isinstance(identifier, str) else "", name, arguments)
