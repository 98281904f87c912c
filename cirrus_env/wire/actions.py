"""Actions of the two seats, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

ASSISTANT: Final = "assistant_0"
CUSTOMER: Final = "customer_0"
SEATS: Final = (ASSISTANT, CUSTOMER)

AssistantKind = Literal["reply", "call", "close", "escalate"]
ASSISTANT_KINDS: Final[tuple[AssistantKind, ...]] = ("reply", "call", "close", "escalate")
CustomerKind = Literal["say", "console", "accept", "leave"]
CUSTOMER_KINDS: Final[tuple[CustomerKind, ...]] = ("say", "console", "accept", "leave")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as the model wrote it.

    Attributes:
        id: The caller's id, echoed in the result; the engine gives one where it is empty.
        name: The tool's name.
        arguments: JSON text, unread.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AssistantAction:
    """What the assistant does.

    Attributes:
        kind: reply, call (one or more tool calls), close or escalate.
        text: The visible text: the reply, the closing words, the hand-over summary, or text beside
            tool calls (kept and counted, neither delivered nor judged).
        calls: The tool calls of a ``call``.
        queue: Where an ``escalate`` hands over to.
        reasoning: Hidden text; counted apart, shown to nobody.
        fault: Why the action is malformed, as a short sentence; such an action is counted as
            invalid and changes nothing.
    """

    kind: AssistantKind
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    queue: str = ""
    reasoning: str = ""
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        """The action as JSON, without empty parts."""
        result: dict[str, Any] = {"kind": self.kind}
        if self.text:
            result["text"] = self.text
        if self.calls:
            result["calls"] = [[c.id, c.name, c.arguments] for c in self.calls]
        if self.queue:
            result["queue"] = self.queue
        if self.reasoning:
            result["reasoning"] = self.reasoning
        if self.fault:
            result["fault"] = self.fault
        return result

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> AssistantAction:
        """The inverse of ``to_json``."""
        return cls(
            kind=data["kind"],
            text=data.get("text", ""),
            calls=tuple(ToolCall(*call) for call in data.get("calls", ())),
            queue=data.get("queue", ""),
            reasoning=data.get("reasoning", ""),
            fault=data.get("fault", ""),
        )


@dataclass(frozen=True, slots=True)
class CustomerAction:
    """What the customer does.

    Attributes:
        kind: say, console (something only the customer can do), accept or leave.
        text: The words; on ``console`` the customer's report of what it saw.
        console: The name of the ticket's console action.
    """

    kind: CustomerKind
    text: str = ""
    console: str = ""

    def to_json(self) -> dict[str, Any]:
        """The action as JSON, without empty parts."""
        result: dict[str, Any] = {"kind": self.kind}
        if self.text:
            result["text"] = self.text
        if self.console:
            result["console"] = self.console
        return result

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CustomerAction:
        """The inverse of ``to_json``."""
        return cls(data["kind"], data.get("text", ""), data.get("console", ""))
