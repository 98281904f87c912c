"""What the assistant is given before it acts: the system message and the tools."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.model import Operation
from cirrus_env.engine.names import Names
from cirrus_env.tickets.model import Public
from cirrus_env.world.clock import iso_minute

CLOSE: Final = "close_ticket"
ESCALATE: Final = "escalate_ticket"
REPLY: Final = "reply_to_customer"

_ROLE: Final = {
    "en": (
        "You are a support engineer of Cirrus Cloud. You talk with one customer about one"
        " ticket.\n"
        "Write to the customer in English. Find out what is really wrong before you change"
        " anything, follow the policies below, and say only what you have verified.\n"
        "Close the ticket when nothing remains to be done, with a last message to the customer."
        " Hand it over to a queue when it is not yours to decide, with a summary of the facts.\n"
        "It is {now} (UTC). The customer's account is {account}."
    ),
    "zh": (
        "你是 Cirrus Cloud 的技术支持工程师, 正在处理一位客户的一张工单。\n"
        "请用中文回复客户。先弄清真实原因, 再做任何改动; 遵守下面的规定; 只说你核实过的事实。\n"
        "没有遗留事项时关闭工单, 并给客户最后一条消息。"
        "不属于你决定的事项, 请转交对应队列并写明事实摘要。\n"
        "现在是 {now}(UTC)。客户账号为 {account}。"
    ),
}
_POLICIES: Final = {"en": "Policies", "zh": "规定"}
_QUEUES: Final = {"en": "Queues for a hand-over", "zh": "可转交的队列"}


def system_text(public: Public, replacement: str | None = None) -> str:
    """The system message: role, logical date, policies and queues in scope.

    Args:
        public: The scenario's public part.
        replacement: Text to use instead; ``{now}`` and ``{account}`` are filled in.
    """
    language = public.language if public.language in _ROLE else "en"
    role = (public.role or _ROLE[language]) if replacement is None else replacement
    text = role.replace("{now}", iso_minute(public.now)).replace("{account}", public.account)
    if replacement is not None:
        return text
    return text + _rules(language, public.policies, public.queues)


@lru_cache(maxsize=256)
def _rules(language: str, policies: tuple[tuple[str, str], ...], queues: tuple[str, ...]) -> str:
    parts = []
    if policies:
        lines = "\n".join(f"{name} {text}" for name, text in policies)
        parts.append(f"\n\n{_POLICIES[language]}:\n{lines}")
    if queues:
        parts.append(f"\n\n{_QUEUES[language]}: {', '.join(queues)}")
    return "".join(parts)


class ToolSet:
    """The tools that an episode offers, in a fixed order.

    Attributes:
        names: Tool names as they are shown; the index is the action space's ``tool``.
        known: The tools' true names.
        schemas: OpenAI function schemas.
        json: The schemas as JSON text.
        arguments: Argument schemas by name, of the tools and of all pseudo-functions.
    """

    __slots__ = ("arguments", "json", "known", "names", "schemas", "special")

    def __init__(
        self, schemas: list[dict[str, Any]], queues: tuple[str, ...], scrambled: Names | None = None
    ) -> None:
        self.known = frozenset(s["function"]["name"] for s in schemas)
        if scrambled is not None:
            schemas = [s | {"function": scrambled.function(s["function"])} for s in schemas]
        self.schemas = schemas
        self.names: tuple[str, ...] = tuple(s["function"]["name"] for s in schemas)
        self.json = json.dumps(schemas, ensure_ascii=False)
        self.special = pseudo_functions(queues)
        self.arguments: dict[str, dict[str, Any]] = {
            REPLY: _object({"message": {"type": "string"}}),
            **{s["function"]["name"]: s["function"]["parameters"] for s in self.special},
            **{s["function"]["name"]: s["function"]["parameters"] for s in schemas},
        }

    def fresh(self, *, special: bool = False) -> list[dict[str, Any]]:
        """The schemas, and perhaps the pseudo-functions, made anew: callers do add to them."""
        schemas: list[dict[str, Any]] = json.loads(self.json)
        return [*schemas, *copy.deepcopy(self.special)] if special else schemas


@lru_cache(maxsize=128)
def tool_set(
    services: Catalogue,
    offered: frozenset[str] | None,
    queues: tuple[str, ...],
    with_tools: bool,
    scrambled: Names | None = None,
) -> ToolSet:
    """The assistant's tools of these services, all or only the offered ones."""
    schemas = [
        function_schema(operation)
        for operation in services.operations.values()
        if with_tools
        and operation.actor == "assistant"
        and (offered is None or operation.name in offered)
    ]
    return ToolSet(schemas, queues, scrambled)


def function_schema(operation: Operation) -> dict[str, Any]:
    """An operation as an OpenAI function."""
    return _function(operation.name, operation.description, operation.parameters)


def pseudo_functions(queues: Collection[str]) -> list[dict[str, Any]]:
    """Close and escalate as functions, for chat models; they are actions, not tools."""
    text = {"type": "string", "minLength": 1}
    queue: dict[str, Any] = {"type": "string"}
    if queues:
        queue["enum"] = list(queues)
    return [
        _function(
            CLOSE,
            "Close the ticket. The message is sent to the customer as the last one.",
            _object({"message": text}),
        ),
        _function(
            ESCALATE,
            "Hand the ticket over to another team. The summary states the facts for that team.",
            _object({"queue": queue, "summary": text}),
        ),
    ]


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _function(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": dict(parameters),
        },
    }
