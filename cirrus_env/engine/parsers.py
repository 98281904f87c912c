"""From what a caller sends to an ``AssistantAction``.

A string goes through the episode's parser; a chat message (dict, or an object with the same
attributes) is read by ``from_message``. What is wrong inside a model's text becomes a ``fault``,
counted by the engine; a wrong Python type is the programmer's and raises ``InvalidAction``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cirrus_env.engine.prompt import CLOSE, ESCALATE, REPLY
from cirrus_env.errors import InvalidAction, MalformedText
from cirrus_env.wire import ASSISTANT_KINDS, AssistantAction, ToolCall, canonical, strict_loads

Parser = Callable[[str], AssistantAction]


def plain(text: str) -> AssistantAction:
    """The text is a reply to the customer, whatever it looks like."""
    return AssistantAction("reply", text)


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


PARSERS: Final[Mapping[str, Parser]] = {"plain": plain, "openai": openai}


def to_action(action: Any, parser: Parser) -> AssistantAction:
    """Read whatever ``step`` was given.

    Raises:
        InvalidAction: If it is no string, chat message or ``AssistantAction``.
    """
    if isinstance(action, str):
        action = parser(action)
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
    if not calls:
        return AssistantAction("reply", content, reasoning=reasoning)
    if not isinstance(calls, list | tuple):
        raise InvalidAction("tool_calls must be a list")
    read = tuple(_call(call) for call in calls)
    special = [call for call in read if call.name in (CLOSE, ESCALATE, REPLY)]
    if not special:
        return AssistantAction("call", content, read, reasoning=reasoning)
    if len(read) > 1:
        fault = f"{special[0].name} must be the only call of its message"
        return AssistantAction("call", content, read, reasoning=reasoning, fault=fault)
    return _special(special[0], content, reasoning)


def _special(call: ToolCall, content: str, reasoning: str) -> AssistantAction:
    def bad(why: str) -> AssistantAction:
        return AssistantAction("call", content, (call,), reasoning=reasoning, fault=why)

    try:
        arguments = strict_loads(call.arguments)
    except MalformedText as error:
        return bad(f"the arguments of {call.name} are malformed: {error}")
    wanted = {"queue", "summary"} if call.name == ESCALATE else {"message"}
    if not isinstance(arguments, dict) or set(arguments) != wanted:
        return bad(f"{call.name} takes exactly {', '.join(sorted(wanted))}")
    if not all(isinstance(value, str) for value in arguments.values()):
        return bad(f"the arguments of {call.name} are texts")
    if call.name == ESCALATE:
        return AssistantAction(
            "escalate", arguments["summary"], queue=arguments["queue"], reasoning=reasoning
        )
    if call.name == CLOSE:
        return AssistantAction("close", arguments["message"], reasoning=reasoning)
    return AssistantAction("reply", arguments["message"], reasoning=reasoning)


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
