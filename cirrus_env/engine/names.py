"""Scrambled names of tools: what an agent sees and writes is swapped with what the engine knows.

A model may have learnt what ``StopInstance`` does; under a scrambled name it has to read the
description. The swap is its own inverse, so one function serves both directions and no text loses a
byte; records, predicates and metrics keep the true names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.cloud.catalogue import SERVICES, Catalogue, catalogue
from cirrus_env.wire import AssistantAction, Message, ToolCall
from cirrus_env.world import Stream

_WORD: Final = re.compile(r"\\u(?:[0-9A-Fa-f]{4}|[A-Za-z0-9_]*)|\\.|[A-Za-z0-9_]+")
"""An identifier, or an escape of JSON, which is no part of the word after it."""

_MADE_UP: Final = re.compile(r"[a-z0-9][A-Z]|_")
"""A name that is no plain word: ``search`` may stand in any sentence, ``StopInstance`` may not."""


class Names:
    """A swap of each tool's true name with a meaningless one.

    The same seed gives an operation the same name in every ticket.

    Args:
        services: Whose operations get other names, besides all operations of the mock cloud.
        seed: Chooses the names.

    Attributes:
        shown: True name -> the name that is shown.
    """

    __slots__ = ("_made_from", "_swap", "_words", "shown")

    def __init__(self, services: Catalogue, seed: int) -> None:
        self._made_from = services, seed
        known = {**catalogue(tuple(SERVICES)).operations, **services.operations}
        shown: dict[str, str] = {}
        taken = set(known)
        for name in known:
            stream = Stream(seed, f"name:{name}")
            other = f"tool_{stream.letters(6)}"
            while other in taken:
                other = f"tool_{stream.letters(6)}"
            taken.add(other)
            shown[name] = other
        self.shown: Mapping[str, str] = MappingProxyType(shown)
        self._swap = shown | {other: name for name, other in shown.items()}
        words = {name: other for name, other in shown.items() if _MADE_UP.search(name)}
        self._words = words | {other: name for name, other in words.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return scrambled, self._made_from

    def name(self, name: str) -> str:
        """The other name of a tool; anything else as it is."""
        return self._swap.get(name, name)

    def text(self, text: str) -> str:
        """A text with all such names swapped."""
        return _WORD.sub(self._other, text)

    def action(self, action: AssistantAction) -> AssistantAction:
        """An action with the names in its words, of its calls and in their arguments swapped.

        Results repeat arguments, so one that stayed would come back under its other name; and an
        id may be made of a name (``functions.NAME:0``).
        """
        return replace(
            action,
            text=self.text(action.text),
            calls=tuple(
                ToolCall(self.text(c.id), self.name(c.name), self.text(c.arguments))
                for c in action.calls
            ),
            queue=self.text(action.queue),
            reasoning=self.text(action.reasoning),
            fault=self.text(action.fault),
        )

    def message(self, message: Message) -> Message:
        """A chat message with the names in its content and of its calls swapped."""
        other = message | {"content": self.text(message["content"])}
        if message["role"] == "tool":
            other["name"] = self.name(message["name"])
            other["tool_call_id"] = self.text(message["tool_call_id"])
        if "tool_calls" in message:
            other["tool_calls"] = [
                call | {"id": self.text(call["id"]), "function": self._called(**call["function"])}
                for call in message["tool_calls"]
            ]
        return other

    def function(self, function: Mapping[str, Any]) -> dict[str, Any]:
        """A tool's schema under its other name, with the names in it swapped."""
        schema: dict[str, Any] = json.loads(self.text(json.dumps(function, ensure_ascii=False)))
        return schema | {"name": self.name(function["name"])}

    def _called(self, name: str, arguments: str) -> dict[str, str]:
        return {"name": self.name(name), "arguments": self.text(arguments)}

    def _other(self, found: re.Match[str]) -> str:
        word = found[0]
        return self._words.get(word, word)


@lru_cache(maxsize=64)
def scrambled(services: Catalogue, seed: int) -> Names:
    """The swap for an episode's services."""
    return Names(services, seed)
