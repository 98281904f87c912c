"""From dialogues to ticket files, each proven by loading it and playing its own reference."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import tomli_w

from cirrus_env.adapters.dialogue import Dialogue, one_line
from cirrus_env.adapters.evidence import Evidence, evidence_of
from cirrus_env.adapters.functions import MOST, offered
from cirrus_env.adapters.report import Imported, ImportReport
from cirrus_env.baselines.plans import plan
from cirrus_env.cloud.recorded import RecordedCatalogue, Recording, recorded_catalogue
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import CirrusError, ImportFormatError, StoreError, TicketError
from cirrus_env.judging.assess import words_of
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.runner.files import write_whole
from cirrus_env.tickets.load import MAX_BYTES, load_ticket
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire.jsontext import canonical

Progress = Callable[[int], Callable[[], None]]
"""Told how many conversations there are; gives what to call after each one."""

_ORPHAN: Final = "nothing in it proves anything: no recorded call with arguments, no fact told"
_CLOSING: Final[Mapping[str, str]] = {"en": "Thank you, and goodbye.", "zh": "谢谢，再见。"}


class Record(NamedTuple):
    """One conversation of a source.

    Attributes:
        source: The file, with the record's place where it holds several.
        dialogue: What was read, or why it couldn't be.
    """

    source: str
    dialogue: Dialogue | ImportFormatError


def write_tickets(
    form: str,
    records: Iterable[Record],
    functions: Sequence[Mapping[str, Any]],
    out: Path,
    progress: Progress | None = None,
) -> ImportReport:
    """Write one ticket a conversation, each checked by loading it and playing its reference.

    Args:
        form: The foreign format.
        records: What was read.
        functions: Functions that the source describes; others are inferred from all calls.
        out: The folder for the tickets; made where it doesn't exist.
        progress: Told how far it is.

    Raises:
        ImportFormatError: If nothing was read at all.
        StoreError: If the folder can't be written.
    """
    records = list(records)
    if not records:
        raise ImportFormatError("the source holds no conversation")
    report = ImportReport(form)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"can't make the folder {out}: {error}") from None
    good = [record.dialogue for record in records if isinstance(record.dialogue, Dialogue)]
    every = offered(functions, (call for dialogue in good for call in dialogue.calls))
    advance = progress(len(records)) if progress is not None else lambda: None
    taken: set[str] = set()
    for record in records:
        source = record.source.encode("utf-8", "replace").decode()
        report.files.append(_import(form, record._replace(source=source), every, out, taken))
        advance()
    return report


def _import(
    form: str,
    record: Record,
    functions: Sequence[Mapping[str, Any]],
    out: Path,
    taken: set[str],
) -> Imported:
    dialogue = record.dialogue
    if isinstance(dialogue, ImportFormatError):
        return Imported(record.source, why=one_line(str(dialogue), 500))
    try:
        if dialogue.stem.lower() in taken:
            raise ImportFormatError(
                f"{record.source}: another one is named {dialogue.stem} already"
            )
        return _write(form, record.source, dialogue, functions, out, taken)
    except StoreError:
        raise
    except CirrusError as error:
        why = one_line(str(error), 500)
        return Imported(record.source, why=why, used=dialogue.used, dropped=dialogue.dropped)


def _write(
    form: str,
    source: str,
    dialogue: Dialogue,
    functions: Sequence[Mapping[str, Any]],
    out: Path,
    taken: set[str],
) -> Imported:
    path = out / f"{dialogue.stem}.toml"
    _may_replace(path, form, source)
    made = Maker(form, source, dialogue, functions).make()
    try:
        write_whole(path, made.text.encode())
    except OSError as error:
        raise StoreError(f"can't write {path}: {error}") from None
    taken.add(dialogue.stem.lower())
    return Imported(
        source,
        made.ticket.env_id,
        str(path),
        scored=bool(made.checkpoints),
        checkpoints=made.checkpoints,
        why=made.why,
        used=dialogue.used,
        dropped=tuple(dict.fromkeys((*dialogue.dropped, *made.dropped))),
    )


def _may_replace(path: Path, form: str, source: str) -> None:
    """Refuse to replace a file that no import of this source wrote.

    Raises:
        TicketError: If such a one is there.
    """
    if not path.exists():
        return
    with contextlib.suppress(TicketError):
        before = load_ticket(path).data.get("imported", {})
        if before.get("format") == form and _file(str(before.get("source"))) == _file(source):
            return
    raise TicketError(path.name, "", "another file of this name is there", "import elsewhere")


def _file(source: str) -> str:
    """The file of a record's place, such as ``a.jsonl:3`` or ``a.json[3]``."""
    return source.partition(":")[0].partition("[")[0]


class Made(NamedTuple):
    """A finished ticket.

    Attributes:
        ticket: It.
        text: Its file.
        checkpoints: How many it has.
        why: Why it is unscored.
        dropped: What was left out on the way.
    """

    ticket: Ticket
    text: str
    checkpoints: int
    why: str
    dropped: tuple[str, ...]


class Maker:
    """Makes one dialogue's ticket.

    Args:
        form: The foreign format.
        source: Where the dialogue comes from.
        dialogue: It.
        functions: All functions on offer, those of other dialogues included.
    """

    def __init__(
        self, form: str, source: str, dialogue: Dialogue, functions: Sequence[Mapping[str, Any]]
    ) -> None:
        self._form, self._source, self._dialogue = form, source, dialogue
        self._dropped: list[str] = []
        self._functions = self._chosen(functions)
        recording = Recording.of(
            self._functions, dialogue.calls, dialogue.ignorable, dialogue.worded, dialogue.lookups
        )
        self._catalogue: RecordedCatalogue = recorded_catalogue(recording)

    def make(self) -> Made:
        """The ticket with all the evidence that its own reference carries.

        Raises:
            TicketError: If it is no ticket at all.
        """
        evidence = evidence_of(self._dialogue, self._catalogue)
        ticket, text = self._load(evidence)
        without = self._unread(ticket, evidence)
        if without:
            evidence = evidence_of(self._dialogue, self._catalogue, without)
            self._dropped.append(
                f"{len(without)} facts or questions that its own words don't carry"
            )
            ticket, text = self._load(evidence)
        why = self._dialogue.unscored
        if evidence.checkpoints:
            why = self._weak(evidence)
            constants: dict[str, int] = {}
            if not why:
                why, constants = self._played(ticket)
            if why:
                evidence = self._without_evidence(evidence)
                ticket, text = self._load(evidence)
            else:
                ticket, text = self._load(evidence, constants)
        elif not why:
            why = _ORPHAN
        self._dropped += evidence.dropped
        self._dropped += [
            f"message {number}: nothing in it can be checked" for number in evidence.missing
        ]
        return Made(ticket, text, len(evidence.checkpoints), why, tuple(self._dropped))

    def _chosen(self, functions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        if len(functions) <= MOST:
            return list(functions)
        used = {call.name for call in self._dialogue.calls}
        mine = [function for function in functions if function["name"] in used]
        others = [function for function in functions if function["name"] not in used]
        chosen = (mine + others)[:MOST]
        self._dropped.append(
            f"{len(functions) - len(chosen)} functions: {MOST} are offered at most"
        )
        return chosen

    def _load(
        self, evidence: Evidence, constants: Mapping[str, int] | None = None
    ) -> tuple[Ticket, str]:
        data = self._data(evidence, constants or {})
        try:
            text = tomli_w.dumps(data)
        except (TypeError, ValueError, RecursionError) as error:
            raise TicketError(self._source, "", f"it can't be written: {error}") from None
        if len(text.encode()) > MAX_BYTES:
            size = len(text.encode())
            raise TicketError(self._source, "", f"{size:,} bytes are too much for a ticket")
        return load_ticket(text, file=f"{self._dialogue.stem}.toml"), text

    def _data(self, evidence: Evidence, constants: Mapping[str, int]) -> dict[str, Any]:
        dialogue = self._dialogue
        data: dict[str, Any] = {
            "id": dialogue.stem,
            "version": 0,
            "family": (dialogue.family or f"{self._form}-{dialogue.stem}").lower()[:80].rstrip("-"),
            "split": "test",
            "uses": [],
            "title": one_line(dialogue.title) or dialogue.stem,
            "languages": [dialogue.language],
            "ending": "resolve",
            "variants": [{"name": "recorded"}],
            "imported": {
                "format": self._form,
                "source": self._source,
                "role": dialogue.role,
                "functions": canonical([dict(function) for function in self._functions]),
                "calls": canonical([call._asdict() for call in dialogue.calls]),
                "lookups": canonical([lookup.to_json() for lookup in dialogue.lookups]),
                "ignorable": list(dialogue.ignorable),
                "worded": list(dialogue.worded),
                "constants": dict(constants),
                "dropped": list(dialogue.dropped),
            },
        }
        if dialogue.now:
            data["now"] = dialogue.now
        data |= evidence.parts(dialogue)
        data["closings"] = [{dialogue.language: _CLOSING[dialogue.language]}]
        return data

    def _unread(self, ticket: Ticket, evidence: Evidence) -> frozenset[str]:
        """Slots and facts that the recorded replies themselves are not read as telling."""
        scenario = make_scenario(ticket, 0)
        reader, judge, heard = Reader(scenario), RuleJudge(), Heard()
        heard.add_source(scenario.public.role)
        heard.add_customer(scenario.private.opening)
        missing: set[str] = set()
        for i, exchange in enumerate(self._dialogue.exchanges):
            for call in exchange.calls:
                result = call.result if isinstance(call.result, dict) else {"result": call.result}
                heard.add_source(canonical(result))
            words = words_of(scenario, exchange.reply, reader, judge, heard)
            mine = [slot for slot in evidence.slots if slot.startswith(f"fact_{i}_")]
            missing.update(slot for slot in mine if slot not in words.told)
            if f"answer_{i}" in evidence.facts and f"answer_{i}" not in words.asked:
                missing.add(f"answer_{i}")
            heard.add_customer(exchange.answer)
        return frozenset(missing)

    def _weak(self, evidence: Evidence) -> str:
        """Why the evidence is too thin to judge by; empty where it isn't."""
        listed = sum(exchange.listed for exchange in self._dialogue.exchanges)
        if self._dialogue.whole and 2 * len(evidence.missing) > listed:
            return f"{len(evidence.missing)} of its {listed} checkpoints hold nothing to check"
        return ""

    def _played(self, ticket: Ticket) -> tuple[str, dict[str, int]]:
        """Why the reference itself doesn't succeed; else what it needs."""
        episodes = []
        for mode in ("plain", "jump"):
            episode = TicketEpisode(ticket)
            episode.reset(seed=0)
            for step in plan(episode.scenario, mode):
                if episode.outcome is None:
                    episode.step(step.action)
            outcome = episode.outcome
            if outcome is None or not outcome.success:
                ended = "unfinished" if outcome is None else outcome.name
                return f"its own reference ends {ended} ({mode})", {}
            episodes.append(episode.metrics())
        plain, jump = episodes
        constants = {
            "shortest": min(plain["replies"], jump["replies"]),
            "tokens": plain["tokens"],
            "wrong_replies": plain["wrong_replies"],
        }
        return "", constants

    def _without_evidence(self, evidence: Evidence) -> Evidence:
        bare = Evidence(facts=evidence.facts, dropped=evidence.dropped, missing=evidence.missing)
        bare.turns = [
            {key: value for key, value in turn.items() if key != "needs_passed"}
            for turn in evidence.turns
        ]
        return bare
