"""A language model behind an OpenAI-compatible endpoint, as a policy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from cirrus_env.baselines.policy import Observation
from cirrus_env.endpoints.client import Completion
from cirrus_env.engine.parsers import from_message
from cirrus_env.engine.prompt import pseudo_functions
from cirrus_env.wire import AssistantAction, Message


class Client(Protocol):
    """What answers a chat with tools, such as ``endpoints.client.ChatClient``."""

    def complete(
        self, messages: list[Message], *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """The model's answer.

        Raises:
            EndpointError: If there is none for good.
        """
        ...


class ModelPolicy:
    """Asks a chat model for every action.

    It sends the transcript as it is, with the tools on offer and two functions that close the
    ticket and hand it over. What the model writes is played as it is: broken calls, unknown tools
    and a message that was cut off are its own mistakes and counted as such. Hidden reasoning is
    kept apart and never sent back.

    Args:
        client: Where the model is.
        name: As results name it.
    """

    def __init__(self, client: Client, name: str = "model") -> None:
        self.client = client
        self.name = name

    def reset(self, seed: int = 0) -> None:
        """Begin an episode; nothing is kept from the one before."""

    def act(self, observation: Observation) -> AssistantAction:
        """The model's answer to the transcript.

        Raises:
            EndpointError: If the model can't be reached for good.
        """
        tools = [*json.loads(observation["tools"]), *pseudo_functions(())]
        messages = json.loads(observation["transcript"])
        return from_message(self.client.complete(messages, tools=tools).message)
