"""Export runs in the layout that CirrusBench's published analysis code reads.

``OUT/results_withtool/<agent>/result_<id>.json`` and ``results_notool`` hold one file an episode:
``task`` (with ``messages``: the reference dialogue, and the checkpoints as ``seperate_indices`` and
``seperate_indices_by_llm``), ``subtasks`` (one a checkpoint, in listed order), ``tool_calls`` (all
that the agent called), ``tool_mocks`` (what the reference called), ``skip`` (logical jumps) and
``trajectory``. ``OUT/data`` holds the task files and tool schemas that the code looks for.

How our episodes fill it: a checkpoint that passed has score 1, one that was jumped too (the paper
counts it as passed) and is marked ``skipped``; an episode is one attempt at each, so there is one
trial. ``skip`` is truly counted. The layout can't say that an episode failed although every
checkpoint passed, so ``success`` and ``outcome`` stand beside it. Episodes that failed for outside
reasons are written with every score 0 (the floor), never left out; tickets without evidence have no
checkpoint, which the published code would count as passed, and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.reference_dialogue import Reference, passed_at, reference_of
from cirrus_env.adapters.transcripts import Said, said
from cirrus_env.adapters.write import Progress
from cirrus_env.errors import CirrusError, StoreError, UnknownTicket
from cirrus_env.judging.shape import shape_of
from cirrus_env.runner.files import write_whole
from cirrus_env.runner.store import read_episodes, read_manifest
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Record, canonical
from cirrus_env.wire.jsontext import strict_loads

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
            CirrusError: If it has no checkpoints, or nothing of it was kept.
            StoreError: If it can't be written.
        """
        trajectory = episode.get("trajectory")
        if not trajectory:
            raise CirrusError("no trajectory of it was kept")
        header = trajectory["header"]
        scenario = make_scenario(
            ticket, header["seed"], variant=header["variant"], language=header["language"]
        )
        if not scenario.gold.scored or not scenario.gold.checkpoints:
            raise CirrusError("its ticket is unscored: it has no checkpoint")
        parts = (header["variant"], header["language"], header["seed"])
        id = ".".join((f"{ticket.id}-v{ticket.version}", *map(str, parts)))
        key = f"{ticket.digest} {id}"
        if key not in self._references:
            self._references[key] = reference_of(ticket, header)
        reference = self._references[key]
        kind = WITH_TOOLS if scenario.public.services else WITHOUT
        task = {
            "id": id,
            "product_name": _product(ticket),
            "messages": reference.messages,
            "seperate_indices": reference.listed,
            "seperate_indices_by_llm": reference.listed,
        }
        records = [Record.from_json(record) for record in trajectory["records"]]
        result = _result(episode, scenario.gold.checkpoints, records)
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


def _result(
    episode: Mapping[str, Any], checkpoints: Sequence[Checkpoint], records: Sequence[Record]
) -> dict[str, Any]:
    spoken = said(records)
    passed = passed_at(records) if episode["valid"] else {}
    skips = shape_of(checkpoints).skips
    jumped = {name for later in passed if later in skips for name in skips[later]} - passed.keys()
    segments = _segments(spoken, checkpoints, passed)
    subtasks = []
    for number, checkpoint in enumerate(checkpoints, 1):
        score = int(checkpoint.id in passed or checkpoint.id in jumped)
        trial = {"trial": 1, "score": score, "sub_task_messages": segments.get(checkpoint.id, [])}
        subtask = {"subtask_id": number, "pass": bool(score), "score": score, "simulation": [trial]}
        subtask["checkpoint"] = checkpoint.id
        subtask["skipped"] = checkpoint.id in jumped
        subtasks.append(subtask)
    return {
        "subtasks": subtasks,
        "skip": len(jumped),
        "tool_calls": _tool_calls(spoken),
        "trajectory": [_stamped(each, turn) for turn, each in enumerate(spoken)],
        "success": episode["success"],
        "outcome": episode["outcome"],
        "valid": episode["valid"],
    }


def _segments(
    spoken: Sequence[Said], checkpoints: Sequence[Checkpoint], passed: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Checkpoint -> the assistant's messages that led to it; the rest to the first that failed."""
    found: dict[str, list[dict[str, Any]]] = {}
    reached = -1
    mine = [each for each in spoken if each.message["role"] in ("assistant", "tool")]
    for step, name in sorted((step, name) for name, step in passed.items()):
        if step > reached:
            found[name] = [_stamped(each) for each in mine if reached < each.step <= step]
            reached = step
    rest = [_stamped(each) for each in mine if each.step > reached]
    failed = next((c.id for c in checkpoints if c.id not in passed), None)
    if failed is not None and rest:
        found.setdefault(failed, rest)
    return found


def _stamped(each: Said, turn: int | None = None) -> dict[str, Any]:
    """A message with the fields that the analysis code looks at."""
    message: dict[str, Any] = {**each.message, "turn_idx": turn, "timestamp": None}
    if message["role"] == "assistant":
        tokens = each.tokens
        message["cost"] = None
        message["usage"] = {
            "usage": {
                "prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens,
            },
            "raw_response_data": {
                "tokenInfo": {
                    "inputTokenNum": 0, "outputTokenNum": tokens, "allTokenNum": tokens,
                }
            },
        }  # fmt: skip
        if "tool_calls" in message:
            message["tool_calls"] = [_readable(call) for call in message["tool_calls"]]
    return message


def _readable(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call whose arguments are a JSON object: the analysis code reads them without a check."""
    function = call["function"]
    try:
        arguments = strict_loads(function["arguments"] or "{}")
    except CirrusError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"": function["arguments"]}
    text = json.dumps(arguments, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _tool_calls(spoken: Sequence[Said]) -> list[dict[str, Any]]:
    """Every call of the agent with its result, one call an entry."""
    found = []
    for index, each in enumerate(spoken):
        for k, call in enumerate(each.message.get("tool_calls", ())):
            message = {"role": "assistant", "content": None, "tool_calls": [_readable(call)]}
            found.append({"tool_call": message, "result": spoken[index + 1 + k].message})
    return found
