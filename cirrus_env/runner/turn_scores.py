"""Scores of teacher-forced turns, agent by agent, from stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from cirrus_env._version import __version__
from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.judging.matching import Canonical, PaperCall
from cirrus_env.judging.paper import Attempt, PaperTicket, PaperTurn, Score, paper_scores
from cirrus_env.runner.rows import Row
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.tickets.predicates import All
from cirrus_env.wire import canonical

FLOORED: Final = ("TIA", "TSA", "TEV", "RR", "SR@1", "SR@2", "TPR")
"""Scores that have a floor: what they are if every invalid scene was answered wrongly."""

_JUNK: Final = PaperCall("", {"": ""})


@dataclass(frozen=True, slots=True)
class TurnScores:
    """One agent's teacher-forced scores.

    Attributes:
        agent: Its name.
        scenes: Scenarios, each with all turns of its reference.
        invalid: Those in which an attempt failed for outside reasons: in no score.
        turns: Turns in the valid ones.
        scores: METRICS section 5, strict and as published (``*_paper``), and STL, the mean tokens
            of a turn's first attempt.
        floor: The strict scores with every invalid scene answered wrongly.
    """

    agent: str
    scenes: int
    invalid: int
    turns: int
    scores: Mapping[str, Score]
    floor: Mapping[str, float | None]

    def to_json(self) -> dict[str, Any]:
        """The scores as JSON, each with how many turns, calls or scenes it covers."""
        return {
            "agent": self.agent,
            "scenes": self.scenes,
            "invalid": self.invalid,
            "turns": self.turns,
            "scores": {name: score._asdict() for name, score in self.scores.items()},
            "floor": dict(self.floor),
        }


def turn_scores(rows: Iterable[Row]) -> tuple[TurnScores, ...]:
    """Every agent's scores, in the order of the agents.

    Args:
        rows: Rows of the mode ``single-turn``.
    """
    agents: dict[str, list[Row]] = {}
    for row in rows:
        agents.setdefault(row.agent, []).append(row)
    return tuple(_scores(agent, mine) for agent, mine in agents.items())


def scores_json(rows: Sequence[Row]) -> dict[str, Any]:
    """All agents' scores as JSON, with what they were scored on."""
    return {
        "version": __version__,
        "mode": "single-turn",
        "tickets": dict(sorted({row.ticket: row.digest for row in rows}.items())),
        "seeds": sorted({row.seed for row in rows}),
        "agents": [scores.to_json() for scores in turn_scores(rows)],
    }


def _scores(agent: str, rows: Sequence[Row]) -> TurnScores:
    canon = _Written()
    valid: list[PaperTicket] = []
    floor: list[PaperTicket] = []
    for row in rows:
        if not row.metrics:  # it never began
            continue
        ticket = _ticket(row.metrics, canon)
        if row.valid:
            valid.append(ticket)
        floor.append(ticket if row.valid else _answered_wrongly(ticket))
    begun = len(floor) == len(rows)
    worst = paper_scores(floor, canon)
    tokens = [turn.attempts[0].tokens for ticket in valid for turn in ticket.turns]
    return TurnScores(
        agent=agent,
        scenes=len(rows),
        invalid=sum(not row.valid for row in rows),
        turns=len(tokens),
        scores={
            **paper_scores(valid, canon),
            "STL": Score(
                float(Fraction(sum(tokens), len(tokens))) if tokens else None, len(tokens)
            ),
        },
        # of a scene that never began not even the turns are known
        floor={name: worst[name].value if begun else 0.0 for name in FLOORED},
    )


def _answered_wrongly(ticket: PaperTicket) -> PaperTicket:
    """The same turns with nothing right: no call where one is needed, one where none is."""
    return replace(
        ticket,
        turns=tuple(
            replace(turn, attempts=(Attempt(calls=() if turn.reference else (_JUNK,)),))
            for turn in ticket.turns
        ),
    )


# -- as JSON ---------------------------------------------------------------------------------


def ticket_to_json(ticket: PaperTicket, catalogue: Catalogue) -> dict[str, Any]:
    """A scene's turns as they are scored; each call also in the catalogue's canonical form."""
    canon = Canonical(catalogue)

    def call(made: PaperCall) -> list[Any]:
        return [made.name, dict(made.arguments), made.ok, canon(made.name, made.arguments)]

    def attempt(made: Attempt) -> dict[str, Any]:
        return {
            "calls": [call(each) for each in made.calls],
            "passed": list(made.passed),
            "carries": made.carries,
            "tokens": made.tokens,
            "violations": made.violations,
        }

    return {
        "tools": ticket.tools,
        "checkpoints": [
            {"id": c.id, "kind": c.kind, "after": list(c.after), "skippable": c.skippable}
            for c in ticket.checkpoints
        ],
        "turns": [
            {
                "reference": [call(each) for each in turn.reference],
                "says": turn.says,
                "attempts": [attempt(each) for each in turn.attempts],
            }
            for turn in ticket.turns
        ],
    }


class _Written:
    """Canonical arguments as they were stored beside the written ones."""

    def __init__(self) -> None:
        self._forms: dict[tuple[str, str], Mapping[str, Any]] = {}

    def read(self, stored: Sequence[Any]) -> PaperCall:
        """A stored call."""
        name, arguments, ok, form = stored
        self._forms[name, canonical(arguments)] = form
        return PaperCall(name, arguments, ok)

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that count."""
        return self._forms.get((name, canonical(arguments)), arguments)


def _ticket(stored: Mapping[str, Any], canon: _Written) -> PaperTicket:
    return PaperTicket(
        id="",
        checkpoints=tuple(
            Checkpoint(c["id"], c["kind"], All(()), tuple(c["after"]), c["skippable"])
            for c in stored["checkpoints"]
        ),
        turns=tuple(
            PaperTurn(
                reference=tuple(map(canon.read, turn["reference"])),
                says=turn["says"],
                attempts=tuple(_attempt(a, turn["says"], canon) for a in turn["attempts"]),
            )
            for turn in stored["turns"]
        ),
        tools=stored["tools"],
    )


def _attempt(stored: Mapping[str, Any], says: bool, canon: _Written) -> Attempt:
    return Attempt(
        calls=tuple(map(canon.read, stored["calls"])),
        passed=tuple(stored["passed"]),
        carries=stored["carries"],
        # the judge's verdict: it includes what the reference's reply brings, or it does not
        included=stored["carries"] if says else None,
        tokens=stored["tokens"],
        violations=stored["violations"],
    )
