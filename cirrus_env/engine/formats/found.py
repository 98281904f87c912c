"""What a reader of model text found, and the action that this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cirrus_env.engine.prompt import CLOSE, ESCALATE, REPLY
from cirrus_env.errors import MalformedText
from cirrus_env.wire import AssistantAction, ToolCall, strict_loads

Tools = Mapping[str, Mapping[str, Any]]
"""The tools on offer: name -> JSON Schema of the arguments."""

UNNAMED: Final = "invalid"
"""The name of a call whose own can't be read; its message is a fault, so it is never run."""

MOST_CALLS: Final = 1_000
"""More calls than this in one text are counted, not kept."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one text holds.

    Attributes:
        text: The words outside calls and reasoning.
        calls: The tool calls in order, broken ones included.
        reasoning: The hidden text.
        fault: Why the message can't be used at all; empty where it can.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    fault: str = ""


def schemas(tools: Tools | Sequence[Mapping[str, Any]] | None) -> Tools | None:
    """The tools by name, from a mapping or from a list of OpenAI function schemas."""
    if tools is None or isinstance(tools, Mapping):
        return tools
    functions = [tool.get("function", tool) for tool in tools]
    return {function["name"]: function.get("parameters", {}) for function in functions}


def action_of(found: Found) -> AssistantAction:
    """The assistant's action: a reply, calls, or a close or hand-over called as a function."""
    text, calls, reasoning, fault = found.text, found.calls, found.reasoning, found.fault
    if len(calls) > MOST_CALLS:
        fault, calls = f"{len(calls)} calls in one message", ()
    if not calls:
        return AssistantAction("reply", text, reasoning=reasoning, fault=fault)
    special = [call for call in calls if call.name in (CLOSE, ESCALATE, REPLY)]
    if special and not fault:
        if len(calls) == 1:
            return _special(calls[0], text, reasoning)
        fault = f"{special[0].name} must be the only call of its message"
    return AssistantAction("call", text, calls, reasoning=reasoning, fault=fault)


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
