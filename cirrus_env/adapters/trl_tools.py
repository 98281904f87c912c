"""Tickets as TRL's environment objects: every public method is a tool.

TRL makes a tool's schema from a method's type hints and its Google docstring, and calls the method
with what the model wrote. So each set of tools is a class of its own, built from the operations'
schemas. A completion without a call ends TRL's rollout, so the customer is spoken to by a tool too.
"""

from __future__ import annotations

import inspect
import keyword
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.prompt import REPLY
from cirrus_env.errors import CustomerFailed, JudgeFailed, OptionError
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Message, canonical

_log = logging.getLogger(__name__)

REPLY_FUNCTION: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "function",
        "function": {
            "name": REPLY,
            "description": "Write to the customer and wait for the answer, which is returned.",
            "parameters": {
                "type": "object",
                "properties": {"message": {"type": "string", "minLength": 1}},
                "required": ["message"],
                "additionalProperties": False,
            },
        },
    }
)

OVER: Final = canonical(
    {"Code": "EpisodeEnded", "Message": "The ticket is over; nothing can be done any more."}
)

_NOTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": f"Whatever you do is a function call; {REPLY} writes to the customer. A message"
        " without a call reaches nobody and ends your work.",
        "zh": f"所有动作都通过函数调用完成; 用 {REPLY} 回复客户。"
        "不含函数调用的消息不会送达任何人, 并会结束你的工作。",
    }
)


def tools_of(episode: TicketEpisode) -> list[dict[str, Any]]:
    """The function schemas of a running episode in this view: all that can be done is a call."""
    return [*episode.chat_tools, dict(REPLY_FUNCTION)]


def opening(messages: Sequence[Message], language: str) -> tuple[str, str]:
    """The system text of this view, and the customer's opening."""
    note = _NOTES.get(language, _NOTES["en"])
    said = [message["content"] for message in messages[1:]]
    return f"{messages[0]['content']}\n\n{note}", "\n\n".join(said)


class TicketTools:
    """One ticket as TRL sees it; ``environment_class`` adds the tools. Reused after ``reset``."""

    _tickets: Mapping[str, Ticket]
    _arguments: Mapping[str, Any]

    def __init__(self) -> None:
        self._episodes: dict[str, TicketEpisode] = {}
        self._episode: TicketEpisode | None = None
        self._reward = 0.0

    def reset(self, **row: Any) -> str:
        """Begin the row's episode; nothing of an earlier one is left.

        Args:
            **row: A row of ``CirrusSpec.train_dataset``: ``ticket`` and ``seed`` are used.

        Returns:
            The customer's opening, which TRL appends to the prompt's last message.
        """
        self._episode, self._reward = None, 0.0
        name = str(row.get("ticket"))
        if name not in self._tickets:
            raise OptionError(f"a row names its ticket, one of {', '.join(self._tickets)}"[:400])
        episode = self._episodes.get(name)
        if episode is None:
            episode = self._episodes[name] = TicketEpisode(self._tickets[name], **self._arguments)
        messages, _ = episode.reset(seed=row["seed"])
        self._episode = episode
        return opening(messages, episode.scenario.public.language)[1]

    def get_reward(self) -> float | None:
        """The return of the rollout, which ends here; None for a failed one, which TRL leaves out.

        An episode that the model left open is stopped: outcome ``stopped``.
        """
        episode = self._episode
        if episode is None:
            return None
        if episode.outcome is None:
            self._reward += episode.truncate().reward or 0.0
        return self._reward if episode.info()["valid"] else None

    @property
    def episode(self) -> TicketEpisode:
        """The episode, gold included: for reward functions and logs.

        Raises:
            OptionError: Before the first ``reset``.
        """
        if self._episode is None:
            raise OptionError("call reset first")
        return self._episode

    def _act(self, name: str, arguments: Mapping[str, Any]) -> str:
        episode = self.episode
        if episode.outcome is not None:
            return OVER
        call = {"function": {"name": name, "arguments": canonical(arguments)}}
        try:
            step = episode.step({"role": "assistant", "content": "", "tool_calls": [call]})
        except (CustomerFailed, JudgeFailed) as error:
            # TRL would show it to the model as a tool's error and go on
            _log.warning("an episode of %s is invalid: %s", episode.ticket.env_id, error)
            failed = "customer_error" if isinstance(error, CustomerFailed) else "judge_error"
            episode.truncate(failed)
            return OVER
        self._reward += step.reward or 0.0
        return "\n\n".join(message["content"] for message in step.delta) or OVER


def environment_class(
    name: str,
    schemas: Sequence[Mapping[str, Any]],
    tickets: Mapping[str, Ticket],
    arguments: Mapping[str, Any],
) -> type[TicketTools]:
    """A class with one typed and documented method for each function.

    Args:
        name: The class's name, under which TRL logs the reward.
        schemas: OpenAI function schemas.
        tickets: By the names that rows use.
        arguments: Keyword arguments of ``TicketEpisode``.
    """
    members: dict[str, Any] = {
        "__doc__": f"Support tickets with {len(schemas)} tools.",
        "_tickets": dict(tickets),
        "_arguments": dict(arguments),
    }
    for schema in schemas:
        function = schema["function"]
        members[function["name"]] = _method(function)
    return type(name, (TicketTools,), members)


def _method(function: Mapping[str, Any]) -> Callable[..., str]:
    name = function["name"]
    parameters = function["parameters"]
    own = _identifiers(parameters.get("properties", {}))
    properties = {mine: parameters["properties"][key] for mine, key in own.items()}
    required = {mine for mine, key in own.items() if key in parameters.get("required", ())}

    def call(self: TicketTools, **arguments: Any) -> str:
        return self._act(name, {own.get(key, key): value for key, value in arguments.items()})

    kinds = {key: _annotation(value) for key, value in properties.items()}
    # what is optional comes last, as Python has it; the call itself takes any names, since wrong
    # ones are for the episode to answer and to count
    order = sorted(properties, key=lambda key: key not in required)
    named = [
        inspect.Parameter(
            key,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if key in required else properties[key].get("default"),
            annotation=kinds[key],
        )
        for key in order
    ]
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__name__ = name
    call.__qualname__ = f"TicketTools.{name}"
    call.__doc__ = _docstring(function["description"], {k: properties[k] for k in order})
    call.__annotations__ = {**{key: kinds[key] for key in order}, "return": str}
    call.__signature__ = inspect.Signature([me, *named], return_annotation=str)  # type: ignore[attr-defined]
    return call


def _identifiers(names: Iterable[str]) -> dict[str, str]:
    """Python's names for parameters such as ``SystemDisk.Size``, with the parameters."""
    result: dict[str, str] = {}
    for name in names:
        mine = re.sub(r"\W", "_", name)
        while mine in result or not mine.isidentifier() or keyword.iskeyword(mine):
            mine = f"_{mine}"
        result[mine] = name
    return result


_TYPES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "string": str,
        "integer": int,
        "number": float,
        "boolean": bool,
        "array": list,
        "object": dict,
    }
)


def _annotation(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return list[_annotation(schema["items"])]  # type: ignore[misc]  # made at run time
    return _TYPES.get(kind, str) if isinstance(kind, str) else str


def _docstring(description: str, properties: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [_flat(description) or "A function."]
    if properties:
        lines += ["", "Args:"]
        lines += [f"    {name}: {_about(name, schema)}" for name, schema in properties.items()]
    return "\n".join([*lines, "", "Returns:", "    What came of it."])


def _about(name: str, schema: Mapping[str, Any]) -> str:
    text = _flat(schema.get("description", "")) or f"The {name}."
    return f"{text} By default {schema['default']}." if "default" in schema else text


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
