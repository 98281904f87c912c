"""From recorded trajectories to the teacher-forced turns that ``paper.py`` scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cirrus_env.errors import MalformedText
from cirrus_env.judging.matching import PaperCall
from cirrus_env.judging.paper import Attempt, PaperTicket, PaperTurn
from cirrus_env.judging.tokens import visible_tokens
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.wire import ASSISTANT, Record, strict_loads


@dataclass(slots=True)
class SpokenTurn:
    """One assistant turn of a trajectory, with what the customer's answer to it brought.

    Attributes:
        calls: All calls; those that could not be read have the arguments ``{"": text}``.
        said: Slots told rightly and facts asked for, as ``told:<slot>`` and ``asked:<fact>``.
        passed: Checkpoints.
        tokens: Visible tokens.
        violations: Minefields touched and ordering pairs broken.
    """

    calls: list[PaperCall] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    passed: list[str] = field(default_factory=list)
    tokens: int = 0
    violations: int = 0


def split_turns(records: Iterable[Record]) -> list[SpokenTurn]:
    """The assistant's turns; what happens before the first belongs to none.

    Args:
        records: A trajectory, or the part of one that a fork has added.
    """
    turns: list[SpokenTurn] = []
    over = True
    for record in records:
        if record.seat == ASSISTANT:
            if over:
                turns.append(SpokenTurn())
                over = False
            turn = turns[-1]
            turn.tokens += visible_tokens(record.action)
            turn.calls.extend(_calls(record))
            turn.said.update("asked:" + act.name for act in record.acts if act.kind == "asked")
            malformed = "fault" in record.action
            over = record.action["kind"] != "call" and not malformed
        if turns:
            _note(turns[-1], record)
    return turns


def _note(turn: SpokenTurn, record: Record) -> None:
    for event in record.events:
        if event.kind == "verdict":
            turn.said.add("told:" + event.name)
        elif event.kind == "passed":
            turn.passed.append(event.name)
        elif event.kind in ("minefield", "order"):
            turn.violations += 1


def _calls(record: Record) -> list[PaperCall]:
    """The record's calls, with the engine's word on each that it ran."""
    ran = [event for event in record.events if event.kind == "called"]
    calls = []
    for _, name, text in record.action.get("calls", ()):
        if ran and ran[0].name == name and _is(ran[0].value["arguments"], text):
            event = ran.pop(0)
            calls.append(PaperCall(name, _object(text), event.value["ok"]))
        else:
            calls.append(PaperCall(name, _object(text), ok=False))
    return calls


def _is(canonical: Any, text: str) -> bool:
    """Whether the arguments that the engine ran are among the ones written."""
    written = _object(text)
    return isinstance(canonical, Mapping) and all(key in written for key in canonical)


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = strict_loads(text or "{}")
    except MalformedText:
        return {"": text}
    return value if isinstance(value, dict) else {"": text}


def paper_ticket(
    id: str,
    checkpoints: tuple[Checkpoint, ...],
    reference: Sequence[SpokenTurn],
    samples: Sequence[Sequence[SpokenTurn]],
    *,
    tools: bool = True,
) -> PaperTicket:
    """A ticket to score.

    Args:
        id: The ticket and seed.
        checkpoints: The scenario's.
        reference: The reference dialogue's turns.
        samples: For each of them, the agent's one or two attempts at that turn.
        tools: Whether the ticket offers tools.
    """
    turns = []
    for wanted, attempts in zip(reference, samples, strict=True):
        turns.append(
            PaperTurn(
                reference=tuple(call for call in wanted.calls if call.ok),
                says=bool(wanted.said),
                attempts=tuple(_attempt(wanted, attempt) for attempt in attempts),
            )
        )
    return PaperTicket(id, checkpoints, tuple(turns), tools)


def _attempt(wanted: SpokenTurn, made: SpokenTurn) -> Attempt:
    return Attempt(
        calls=tuple(made.calls),
        passed=tuple(made.passed),
        carries=bool(wanted.said) and wanted.said <= made.said,
        tokens=made.tokens,
        violations=made.violations,
    )
