"""The stored episodes of a run, in the order of its jobs, each with what scoring needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.engine.replay import Trajectory
from cirrus_env.errors import OptionError, StoreError
from cirrus_env.runner.lines import decode, scan
from cirrus_env.runner.manifest import tickets_of
from cirrus_env.runner.rows import Row
from cirrus_env.runner.store import EPISODES, read_manifest
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Record, canonical


class Stored(NamedTuple):
    """One stored episode.

    Attributes:
        number: Its place among the run's jobs, from 0: the same however it was played; in a
            recorded run its place in the file.
        key: Its job's key, ``[agent, ticket, seed, variant, language]``; a recorded one's number
            comes after these.
        row: As results know it.
        trajectory: Without records where nothing was played.
    """

    number: int
    key: tuple[Any, ...]
    row: Row
    trajectory: Trajectory

    @property
    def name(self) -> str:
        """What it is, in words."""
        row = self.row
        parts = (row.agent, f"on {row.ticket}", f"seed {row.seed}", row.variant, row.language)
        return ", ".join(part for part in parts if part)


class StoredRun:
    """A run's folder, for reading; nothing in it changes.

    Args:
        folder: Where.

    Raises:
        StoreError: If it holds no run, or something in it is damaged: names file and line.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)
        self._path = folder / EPISODES
        latest = {line.key: line for line in scan(self._path)[0]}
        jobs = self.manifest["jobs"]
        self._keys = [json.loads(key) for key in latest] if jobs is None else jobs
        numbers = {canonical(key): number for number, key in enumerate(self._keys)}
        self._offsets = {numbers[key]: line for key, line in latest.items() if key in numbers}
        self._tickets: dict[str, Ticket] | None = None

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def missing(self) -> int:
        """How many of the run's episodes are not there."""
        return len(self._keys) - len(self._offsets)

    @property
    def tickets(self) -> Mapping[str, Ticket]:
        """The run's tickets by registered name, as they were when it was played.

        Raises:
            StoreError: If this package ships another text of one of them.
        """
        if self._tickets is None:
            self._tickets = tickets_of(self.manifest)
        return self._tickets

    def __iter__(self) -> Iterator[Stored]:
        for number in sorted(self._offsets):
            yield self[number]

    def __getitem__(self, number: int) -> Stored:
        line = self._offsets.get(number)
        if line is None:
            raise OptionError(f"{self.folder} has no episode {number}")
        with self._path.open("rb") as file:
            file.seek(line.offset)
            episode = decode(file.readline())
        if episode is None:
            raise StoreError(f"{self._path}: line {line.number} has changed while it was read")
        stored = episode["trajectory"]
        return Stored(
            number,
            tuple(episode["key"]),
            Row.from_episode(episode),
            Trajectory(
                stored["header"], tuple(map(Record.from_json, stored["records"])), stored["last"]
            ),
        )

    def find(self, text: str) -> Stored:
        """The episode that a text means.

        Args:
            text: Its number; or parts that only its job has, such as ``oracle/ECS-Billing/3``: each
                part is the agent, the ticket, the seed, the root cause or the language.

        Raises:
            OptionError: If none or several fit; names some.
        """
        if text.isascii() and text.isdigit() and len(text) < 10:
            return self[int(text)]
        parts = [part for part in text.split("/") if part and part != "Cirrus"]
        fitting = [
            number
            for number in sorted(self._offsets)
            if parts and all(_says(self._keys[number], part) for part in parts)
        ]
        if len(fitting) == 1:
            return self[fitting[0]]
        if not fitting:
            raise OptionError(
                f"{self.folder} has no episode {text!r}; name its number, or parts such as "
                "oracle/ECS-Billing/3"
            )
        some = "; ".join(f"{number}: {self[number].name}" for number in fitting[:5])
        raise OptionError(f"{len(fitting)} episodes fit {text!r}: {some}")


def _says(key: list[Any], part: str) -> bool:
    agent, ticket, seed, variant, language = key[:5]
    name = ticket.partition("/")[2]
    return part in (agent, ticket, name, name.rpartition("-v")[0], str(seed), variant, language)
