"""Export runs in the layout that CirrusBench's published analysis code reads.

``OUT/results_withtool/<agent>/result_<id>.json`` and ``results_notool`` hold one file an episode:
``task`` (with ``messages``: the reference dialogue, and the checkpoints as ``seperate_indices`` and
``seperate_indices_by_llm``), ``subtasks`` (one a checkpoint, in listed order), ``tool_calls`` (all
that the agent called), ``tool_mocks`` (what the reference called), ``skip`` (logical jumps) and
``trajectory``. ``OUT/data`` holds the task files and tool schemas that the code looks for.

How our runs fill it: a checkpoint that passed has score 1, one that was jumped too (the paper
counts it as passed) and is marked ``skipped``; ``skip`` is truly counted. An episode is one attempt
at each checkpoint, so there is one trial. Of a run of teacher-forced turns (``--mode single-turn``)
the second attempt is the second trial where the first didn't pass, and the published arithmetic
gives what ``judging.paper`` gives as published. The layout can't say that an episode failed
although every checkpoint passed, so ``success`` and ``outcome`` stand beside it. Episodes that
failed for outside reasons are written with every score 0 (the floor), never left out; tickets
without evidence have no checkpoint, which the published code would count as passed, and are left
out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.cirrusbench_results import episode_result, scene_result
from cirrus_env.adapters.reference_dialogue import Reference, reference_of
from cirrus_env.adapters.write import Progress
from cirrus_env.errors import CirrusError, StoreError, UnknownTicket
from cirrus_env.runner.files import write_whole
from cirrus_env.runner.modes import SINGLE_TURN
from cirrus_env.runner.store import read_episodes, read_manifest
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import canonical

WITH_TOOLS: Final = "withtool"
WITHOUT: Final = "notool"
_TASKS: Final[Mapping[str, str]] = {
    WITH_TOOLS: "data/task/en_tasks_with_tool.jsonl",
    WITHOUT: "data/task/en_tasks_without_tool.jsonl",
}
_SCHEMAS: Final = "data/tool_schema_v2.jsonl"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(slots=True)
class ExportReport:
    """What an export wrote.

    Attributes:
        folder: Where.
        written: How many episodes, by agent.
        invalid: How many of them failed for outside reasons and are written as failures.
        left_out: ``(episode, why)`` of the others.
    """

    folder: str
    written: dict[str, int] = field(default_factory=dict)
    invalid: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "format": "cirrusbench",
            "folder": self.folder,
            "written": sum(self.written.values()),
            "agents": dict(self.written),
            "invalid": self.invalid,
            "left_out": [{"episode": episode, "why": why} for episode, why in self.left_out],
        }


def export_cirrusbench(
    run: Path, out: Path, tickets: Iterable[Ticket] = (), progress: Progress | None = None
) -> ExportReport:
    """Write a run's episodes.

    Args:
        run: The run's folder.
        out: Where; made if missing.
        tickets: Tickets that don't ship with the package, such as imported ones.
        progress: Told how far it is.

    Raises:
        StoreError: If the run can't be read or the folder can't be written.
    """
    read_manifest(run)
    episodes = list(read_episodes(run))
    known = {ticket.digest: ticket for ticket in tickets}
    report = ExportReport(str(out))
    exporter = _Exporter(out)
    advance = progress(len(episodes)) if progress is not None else lambda: None
    for episode in episodes:
        name = canonical(episode["key"])
        try:
            exporter.add(episode, _ticket(episode, known))
        except StoreError:
            raise
        except CirrusError as error:
            report.left_out.append((name, str(error)))
        else:
            agent = str(episode["agent"])
            report.written[agent] = report.written.get(agent, 0) + 1
            report.invalid += not episode["valid"]
        advance()
    exporter.finish()
    return report


def _ticket(episode: Mapping[str, Any], known: Mapping[str, Ticket]) -> Ticket:
    """The ticket that an episode was played on.

    Raises:
        CirrusError: If it isn't at hand in the same version.
    """
    ticket = known.get(episode["digest"])
    if ticket is not None:
        return ticket
    try:
        ticket = bundled(episode["ticket"])
    except UnknownTicket:
        raise CirrusError("its ticket is not at hand; name its file or folder") from None
    if ticket.digest != episode["digest"]:
        raise CirrusError("its ticket has another text now")
    return ticket


class _Exporter:
    """Writes the files of one export.

    Args:
        out: The folder.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._references: dict[str, Reference] = {}
        self._tasks: dict[str, dict[str, dict[str, Any]]] = {WITH_TOOLS: {}, WITHOUT: {}}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._folders: dict[str, str] = {}

    def add(self, episode: Mapping[str, Any], ticket: Ticket) -> None:
        """Write one episode.

        Raises:
            CirrusError: If it has no checkpoints.
            StoreError: If it can't be written.
        """
        seed, language = episode["seed"], episode["language"]
        scenario = make_scenario(
            ticket, seed, variant=episode["variant"] or None, language=language
        )
        if not scenario.gold.scored or not scenario.gold.checkpoints:
            raise CirrusError("its ticket is unscored: it has no checkpoint")
        parts = (scenario.variant, language, seed)
        id = ".".join((f"{ticket.id}-v{ticket.version}", *map(str, parts)))
        key = f"{ticket.digest} {id}"
        if key not in self._references:
            self._references[key] = reference_of(scenario)
        reference = self._references[key]
        kind = WITH_TOOLS if scenario.public.services else WITHOUT
        task = {
            "id": id,
            "product_name": _product(ticket),
            "messages": reference.messages,
            "seperate_indices": reference.listed,
            "seperate_indices_by_llm": reference.listed,
        }
        fill = scene_result if episode.get("mode") == SINGLE_TURN else episode_result
        result = fill(episode, scenario.gold.checkpoints, reference)
        result = {"task": task, **result, "tool_mocks": reference.mocks}
        folder = self._out / f"results_{kind}" / self._folder(str(episode["agent"]))
        _write(
            folder / f"result_{_UNSAFE.sub('_', id)}.json",
            json.dumps(result, ensure_ascii=False, indent=1),
        )
        self._tasks[kind][id] = task
        for schema in reference.schemas:
            self._schemas.setdefault(schema["function"]["name"], schema)

    def _folder(self, agent: str) -> str:
        """A folder's name for an agent; two agents never share one."""
        if agent not in self._folders:
            name = _UNSAFE.sub("_", agent).strip(".")[:80] or "agent"
            if name in self._folders.values() or name != agent:
                name += "-" + blake2b(agent.encode("utf-8", "replace"), digest_size=4).hexdigest()
            self._folders[agent] = name
        return self._folders[agent]

    def finish(self) -> None:
        """Write the task files and the tool schemas."""
        for kind, tasks in self._tasks.items():
            if tasks:
                lines = [json.dumps(task, ensure_ascii=False) for task in tasks.values()]
                _write(self._out / _TASKS[kind], "\n".join(lines) + "\n")
        if self._schemas:
            lines = [json.dumps(schema, ensure_ascii=False) for schema in self._schemas.values()]
            _write(self._out / _SCHEMAS, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise StoreError(f"can't write {path}: {error.strerror or error}") from None


def _product(ticket: Ticket) -> str:
    if "imported" in ticket.data:
        return str(ticket.data["imported"].get("format", "imported"))
    return ticket.id.partition("-")[0]
