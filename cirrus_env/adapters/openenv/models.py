"""What goes over the wire: typed action, observation and state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.errors import InvalidAction
from cirrus_env.wire import Message, canonical, encodes

try:
    from openenv.core.env_server.types import Action, Observation, State
except ImportError as error:
    raise MissingExtra("openenv", error) from None


class Function(BaseModel):
    """The function of a call."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="A function's name; it is checked, and a wrong one is answered.")
    arguments: str | dict[str, Any] = Field(default="{}", description="JSON text, or the object.")


class FunctionCall(BaseModel):
    """One tool call in the OpenAI form."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(default="", description="Repeated by the result; given where it is empty.")
    type: Literal["function"] = "function"
    function: Function


class CirrusAction(Action):
    """One turn of the assistant.

    Text alone is raw model text, read by the server's parser: with ``plain`` a reply to the
    customer, with a family's parser perhaps tool calls. With ``tool_calls`` or ``reasoning`` it is
    a chat message as it stands. ``close_ticket`` and ``escalate_ticket`` end the episode.
    """

    text: str = Field(description="What the assistant writes.")
    tool_calls: list[FunctionCall] = Field(
        default_factory=list, description="Calls, answered in their order."
    )
    reasoning: str = Field(default="", description="Hidden text, counted apart and never shown.")

    @classmethod
    def model_validate(cls, obj: Any, **how: Any) -> CirrusAction:
        """Read an action from the wire.

        Raises:
            InvalidAction: If it holds a text without a UTF-8 form, such as half a surrogate pair:
                the server's own report would repeat that text, and end the session.
            pydantic.ValidationError: If it is none otherwise.
        """
        if isinstance(obj, Mapping) and not _writable(obj):
            raise InvalidAction("the action holds a text that has no UTF-8 form")
        return super().model_validate(obj, **how)  # type: ignore[no-any-return, unused-ignore]

    def message(self) -> str | Message:
        """The action as ``TicketEpisode.step`` takes it."""
        if not self.tool_calls and not self.reasoning:
            return self.text
        return {
            "role": "assistant",
            "content": self.text,
            "reasoning_content": self.reasoning,
            "tool_calls": [call.model_dump() for call in self.tool_calls],
        }

    @classmethod
    def of(cls, action: str | Mapping[str, Any]) -> CirrusAction:
        """An action from raw text or from an OpenAI chat message."""
        if isinstance(action, str):
            return cls(text=action)
        given = {
            "text": action.get("content") or "",
            "tool_calls": list(action.get("tool_calls") or ()),
            "reasoning": action.get("reasoning_content") or action.get("reasoning") or "",
        }
        return cls.model_validate(given)


class CirrusObservation(Observation):
    """What came back. ``reward`` is None after a reset and where the episode became invalid."""

    messages: list[dict[str, Any]] = Field(
        default_factory=list,
        description="New chat messages since the action: tool results in call order, then the "
        "customer's; after a reset the system message and the opening.",
    )
    tools: list[dict[str, Any]] = Field(
        default_factory=list, description="After a reset: OpenAI function schemas; then empty."
    )
    terminated: bool = Field(default=False, description="The ticket ended by itself.")
    truncated: bool = Field(default=False, description="A limit or a failure ended it.")
    info: dict[str, Any] = Field(
        default_factory=dict,
        description="Ticket, seed, outcome, turns, rewards; after the end variant and metrics.",
    )


class CirrusState(State):
    """Where the episode is; nothing of what would solve it."""

    ticket: str = Field(default="", description="The ticket's id; empty before the first reset.")
    seed: int | None = Field(default=None, description="The scenario's seed.")
    turn: int = Field(default=0, description="Turns of the assistant so far.")
    tool_calls: int = Field(default=0, description="Tool calls so far.")
    outcome: str = Field(default="", description="How it ended; empty while it goes on.")
    valid: bool = Field(default=True, description="False where a failure ended it.")


def _writable(value: Mapping[str, Any]) -> bool:
    try:
        return encodes(canonical(dict(value)))
    except (TypeError, ValueError, RecursionError):
        return True  # no text at fault: the model says what is wrong
