"""What both seats' moves work on, and what a move comes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from cirrus_env.engine.names import Names
from cirrus_env.engine.prompt import ToolSet
from cirrus_env.engine.setting import Setting
from cirrus_env.engine.state import State
from cirrus_env.judging.outcome import How, Outcome
from cirrus_env.judging.progress import Progress
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act, Event, Message


@dataclass(slots=True)
class Stage:
    """One running episode as the moves see it.

    Attributes:
        setting: What the caller chose.
        scenario: The facts.
        state: What changes.
        reader: Reads replies.
        progress: Passes checkpoints.
        tools: The tools on offer.
        names: How the tools' names are shown, where they are scrambled.
    """

    setting: Setting
    scenario: Scenario
    state: State
    reader: Reader
    progress: Progress
    tools: ToolSet
    names: Names | None = None

    def say(self, message: Message) -> None:
        """Append a message to the transcript."""
        state = self.state
        state.messages.append(message if self.names is None else self.names.message(message))
        state.length += len(message["content"])
        for call in message.get("tool_calls", ()):
            state.length += len(call["function"]["arguments"])


@dataclass(slots=True)
class Move:
    """What one seat's action came to.

    Attributes:
        acts: The dialogue acts read from it.
        events: What happened.
        how: What it ends the episode by; empty where it goes on.
        queue: Where an escalation went.
        outcome: An outcome that is already certain, such as a limit.
    """

    acts: tuple[Act, ...] = ()
    events: list[Event] = field(default_factory=list)
    how: How = ""
    queue: str = ""
    outcome: Outcome | None = None
