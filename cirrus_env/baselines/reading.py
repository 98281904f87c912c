"""Reading an observation: what any policy without gold can see."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from cirrus_env.baselines.policy import Observation
from cirrus_env.wire import AssistantAction, ToolCall, canonical
from cirrus_env.wire.messages import ENVIRONMENT

_ID: Final = re.compile(r"(?<![\w-])(?:[a-z]{1,4}-[0-9a-z]{6,}|\d{12,16})(?![\w-])")
_NAMED: Final = re.compile(r'"(\w+)":"([a-z]{1,4}-[0-9a-z]{6,}|\d{12,16})"')
_CJK: Final = re.compile(r"[\u4e00-\u9fff]")
_QUEUES: Final = re.compile(r"^(?:Queues for a hand-over|可转交的队列)[:：] ?(.+)$", re.MULTILINE)


class Tool(NamedTuple):
    """A tool on offer.

    Attributes:
        name: Its name.
        parameters: The JSON Schema of its arguments.
    """

    name: str
    parameters: dict[str, Any]

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that it needs."""
        return tuple(self.parameters.get("required", ()))

    @property
    def reads(self) -> bool:
        """Whether its name says that it only reads."""
        return self.name.startswith(("Describe", "Get", "Query", "List", "Search", "Inquiry"))


def chat(observation: Observation) -> list[dict[str, Any]]:
    """The transcript's messages."""
    messages: list[dict[str, Any]] = json.loads(observation["transcript"])
    return messages


def tools(observation: Observation) -> tuple[Tool, ...]:
    """The tools on offer."""
    return tuple(
        Tool(schema["function"]["name"], schema["function"]["parameters"])
        for schema in json.loads(observation["tools"])
    )


def customer_words(observation: Observation) -> tuple[str, ...]:
    """Everything that the customer said, oldest first."""
    return tuple(
        message["content"]
        for message in chat(observation)
        if message["role"] == "user" and message.get("name") != ENVIRONMENT
    )


def results(observation: Observation) -> tuple[str, ...]:
    """All tool results, oldest first."""
    return tuple(m["content"] for m in chat(observation) if m["role"] == "tool")


def system(observation: Observation) -> str:
    """The system message."""
    first = chat(observation)[0]
    return str(first["content"]) if first["role"] == "system" else ""


def queues(observation: Observation) -> tuple[str, ...]:
    """The queues that the system message names."""
    found = _QUEUES.search(system(observation))
    return tuple(found.group(1).split(", ")) if found else ()


def ids(observation: Observation) -> tuple[str, ...]:
    """Everything that looks like an id in the customer's words and the tool results."""
    text = "\n".join((*customer_words(observation), *results(observation)))
    return tuple(dict.fromkeys(_ID.findall(text)))


def named_ids(observation: Observation) -> tuple[tuple[str, str], ...]:
    """Ids with the name under which a tool result shows them; an empty name from the customer."""
    said = [("", id) for id in ids_in("\n".join(customer_words(observation)))]
    shown = [pair for result in results(observation) for pair in _NAMED.findall(result)]
    return tuple(dict.fromkeys((*said, *shown)))


def ids_in(text: str) -> tuple[str, ...]:
    """Everything that looks like an id in a text."""
    return tuple(dict.fromkeys(_ID.findall(text)))


def language(observation: Observation) -> str:
    """``zh`` where the customer writes Chinese, ``en`` otherwise."""
    words = customer_words(observation)
    return "zh" if words and _CJK.search(words[0]) else "en"


def call(name: str, arguments: Any) -> AssistantAction:
    """One tool call."""
    return AssistantAction("call", calls=(ToolCall("", name, canonical(arguments)),))


def calls(pairs: list[tuple[str, Any]]) -> AssistantAction:
    """Several tool calls in one message."""
    made = tuple(ToolCall("", name, canonical(arguments)) for name, arguments in pairs)
    return AssistantAction("call", calls=made)
