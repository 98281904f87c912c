"""Fine-tuning files: one JSON object a line, and what was written and what wasn't."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.engine.replay import Trajectory
from cirrus_env.errors import StoreError
from cirrus_env.runner.files import write_whole
from cirrus_env.runner.rows import Row
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.ticket import Ticket


class Played(NamedTuple):
    """A finished episode, stored or just played.

    Attributes:
        row: As results know it.
        trajectory: Its records.
        ticket: Its ticket.
        system: The system text it was played with, if it wasn't the ticket's.
    """

    row: Row
    trajectory: Trajectory
    ticket: Ticket
    system: str | None

    @property
    def name(self) -> str:
        """What it is, in words."""
        row = self.row
        return f"{row.agent}, on {row.ticket}, seed {row.seed}, {row.language}"


def played_of(run: StoredRun) -> Iterator[Played]:
    """A stored run's episodes, in the order of its jobs."""
    system = run.manifest["settings"].get("system")
    for stored in run:
        yield Played(stored.row, stored.trajectory, run.tickets[stored.row.ticket], system)


@dataclass(slots=True)
class JsonlReport:
    """What an export wrote.

    Attributes:
        format: ``sft`` or ``preferences``.
        file: Where.
        written: How many lines, by agent.
        episodes: How many episodes there were.
        invalid: Those that failed for outside reasons: in no line.
        below: Those whose return was too low, or that did not succeed.
        ties: Pairs whose returns differ too little, in no line.
        alike: Pairs that differ in nothing that an agent did at first, in no line.
        left_out: ``(episode, why)`` of what can't be written.
    """

    format: str
    file: str
    written: dict[str, int] = field(default_factory=dict)
    episodes: int = 0
    invalid: int = 0
    below: int = 0
    ties: int = 0
    alike: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def count(self, agent: str, lines: int) -> None:
        """So many lines of this agent were written."""
        if lines:
            self.written[agent] = self.written.get(agent, 0) + lines

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "format": self.format,
            "file": self.file,
            "written": sum(self.written.values()),
            "agents": dict(self.written),
            "episodes": self.episodes,
            "invalid": self.invalid,
            "below": self.below,
            "ties": self.ties,
            "alike": self.alike,
            "left_out": [{"episode": episode, "why": why} for episode, why in self.left_out],
        }


def meta_of(row: Row) -> dict[str, Any]:
    """What a line says of its episode; the root cause is gold and isn't said."""
    return {
        "agent": row.agent,
        "ticket": row.ticket,
        "digest": row.digest,
        "seed": row.seed,
        "language": row.language,
        "outcome": row.outcome,
        "success": row.success,
        "return": None if row.return_micro is None else row.return_micro / 1_000_000,
    }


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a whole file, or nothing.

    Raises:
        StoreError: If it can't be written.
    """
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise StoreError(f"can't write {path}: {error.strerror or error}") from None
