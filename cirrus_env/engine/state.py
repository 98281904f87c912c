"""Everything of an episode that changes, in one place, so that a snapshot is one copy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cirrus_env.cloud.kernel import Cloud, Mark
from cirrus_env.engine.consents import Consents
from cirrus_env.engine.options import ResetOptions
from cirrus_env.engine.setting import Setting
from cirrus_env.judging.outcome import Outcome
from cirrus_env.judging.tally import Tally
from cirrus_env.nlu.evidence import Evidence
from cirrus_env.nlu.heard import Heard
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import CUSTOMER, Act, Message, Record


@dataclass(slots=True)
class State:
    """The mutable part of one episode.

    Attributes:
        cloud: The world, a fork of the scenario's.
        tally: Metrics and reward so far.
        mind: The customer's mind, an immutable value.
        messages: The transcript, system message first.
        records: The trajectory.
        evidence: What predicates ask for.
        heard: What was said to the assistant: the customer's words and all sources.
        consents: Agreements not used yet.
        spoken: The acts of the assistant's last delivered words.
        words: The assistant's last delivered words.
        spoken_at: The step of those words.
        touched: Minefields touched so far, by (policy, key).
        void: Whether success has become impossible.
        called: Successful calls by (operation, canonical arguments), for duplicates.
        to_move: The seat whose turn it is.
        turn: Assistant turns so far.
        tool_calls: Tool calls so far.
        invalid: Invalid actions so far.
        invalid_run: Invalid actions in a row.
        tokens: The assistant's visible tokens.
        length: Characters of the transcript.
        micro: The return so far in millionths.
        moved: Whether a checkpoint passed at the step before: its descendants may pass now.
        audited: How many changes of the world checkpoints have been looked at for.
        opened: The clock at the opening.
        console: The console action just done and whether it worked.
        outcome: How the episode ended; None while it goes on.
    """

    cloud: Cloud
    tally: Tally
    mind: Any
    opened: int
    messages: list[Message] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    heard: Heard = field(default_factory=Heard)
    consents: Consents = field(default_factory=Consents)
    spoken: tuple[Act, ...] = ()
    words: str = ""
    spoken_at: int = 0
    touched: dict[tuple[str, str], str] = field(default_factory=dict)
    void: bool = False
    called: set[tuple[str, str]] = field(default_factory=set)
    to_move: str = CUSTOMER
    turn: int = 0
    tool_calls: int = 0
    invalid: int = 0
    invalid_run: int = 0
    tokens: int = 0
    length: int = 0
    micro: int = 0
    moved: bool = True
    audited: int = 0
    console: tuple[str, bool] | None = None
    outcome: Outcome | None = None

    def copy(self, cloud: Cloud) -> State:
        """An independent state over ``cloud``; messages and records are shared, never changed."""
        return State(
            cloud=cloud,
            tally=self.tally.copy(),
            mind=self.mind,
            opened=self.opened,
            messages=self.messages.copy(),
            records=self.records.copy(),
            evidence=self.evidence.copy(),
            heard=self.heard.copy(),
            consents=self.consents.copy(),
            spoken=self.spoken,
            words=self.words,
            spoken_at=self.spoken_at,
            touched=self.touched.copy(),
            void=self.void,
            called=self.called.copy(),
            to_move=self.to_move,
            turn=self.turn,
            tool_calls=self.tool_calls,
            invalid=self.invalid,
            invalid_run=self.invalid_run,
            tokens=self.tokens,
            length=self.length,
            micro=self.micro,
            moved=self.moved,
            audited=self.audited,
            console=self.console,
            outcome=self.outcome,
        )


class Snapshot(NamedTuple):
    """An episode at one moment; opaque. Good for any number of restores, in any order."""

    scenario: Scenario
    state: State
    mark: Mark
    setting: Setting
    options: ResetOptions
    start: int

    def __repr__(self) -> str:
        return f"<Snapshot of {self.scenario.ticket.env_id} at step {len(self.state.records)}>"
