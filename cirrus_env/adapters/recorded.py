"""From a recorded dialogue to a ticket file: what every importer shares.

A dialogue is the customer's and the assistant's messages in turn, with the calls that the assistant
made before each of its replies. The ticket asks an agent to make the same calls, turn by turn, and
to tell the same facts (figures, times, addresses) that a recorded reply took from their results.
Where a dialogue has neither there is no evidence, and the ticket is unscored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomli_w

from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError, MalformedText, StoreError, TicketError
from cirrus_env.tickets.load import load_ticket
from cirrus_env.wire.jsontext import canonical, strict_loads

_READING: Final = ("get", "query", "search", "find", "list", "describe", "current", "check", "read")
_FACT: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+|\d[\d:.,/-]*\d")
_WORD: Final = re.compile(r"[a-z][a-z'-]{3,}")
# fmt: off
_COMMON: Final = frozenset({
    "what", "when", "where", "which", "would", "could", "should", "your", "yours", "you're",
    "please", "have", "that", "this", "with", "like", "need", "want", "tell", "give", "okay",
    "sure", "great", "anything", "else", "help", "there", "about", "also", "from", "them", "they",
    "does", "will", "shall", "may", "might", "must", "been", "were", "much", "many", "very",
    "just", "only", "more", "some", "into", "than", "then", "here", "know", "what's", "that's",
    "let's", "i'll", "i've", "got", "thanks", "thank", "yeah",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Exchange:
    """One assistant message of a recording, with what came before and after it.

    Attributes:
        calls: The calls that it made first, in order.
        reply: Its words.
        answer: The customer's next words; empty at the end.
    """

    calls: tuple[RecordedCall, ...]
    reply: str
    answer: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A recorded conversation, read from a foreign file.

    Attributes:
        stem: The ticket's id.
        title: One line.
        opening: The customer's first words.
        exchanges: What followed.
        role: What the assistant is told about its place and the user.
        now: The opening moment, ISO-8601; empty if unknown.
        ignorable: Argument names that never count.
        dropped: What was left out, a sentence each.
    """

    stem: str
    title: str
    opening: str
    exchanges: tuple[Exchange, ...]
    role: str
    now: str = ""
    ignorable: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one file.

    Attributes:
        source: The foreign file.
        ticket: The ticket's environment id; empty if none was written.
        path: The ticket file; empty if none was written.
        scored: Whether it has evidence to judge by.
        dropped: What was left out, or why nothing was written.
    """

    source: str
    ticket: str
    path: str
    scored: bool
    dropped: tuple[str, ...]


@dataclass(slots=True)
class ImportReport:
    """What an import wrote and what it dropped.

    Attributes:
        format: The foreign format.
        files: One entry a foreign file, in order of name.
    """

    format: str
    files: list[Imported] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON: ``written``, ``failed``, ``unscored`` and each file's entry."""
        written = [entry for entry in self.files if entry.ticket]
        return {
            "format": self.format,
            "written": len(written),
            "failed": len(self.files) - len(written),
            "unscored": sum(not entry.scored for entry in written),
            "files": [
                {
                    "source": entry.source,
                    "ticket": entry.ticket,
                    "path": entry.path,
                    "scored": entry.scored,
                    "dropped": list(entry.dropped),
                }
                for entry in self.files
            ],
        }


def write_tickets(
    form: str,
    dialogues: Iterable[tuple[Path, Dialogue | ImportFormatError]],
    functions: Sequence[Mapping[str, Any]],
    out: Path,
) -> ImportReport:
    """Write one ticket a dialogue, each checked by loading it again.

    Args:
        form: The foreign format.
        dialogues: Each file with what was read from it, or why it couldn't be.
        functions: All functions on offer, those of other dialogues included.
        out: The folder for the tickets; made where it doesn't exist.

    Raises:
        StoreError: If the folder can't be written.
    """
    report = ImportReport(form)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"can't make the folder {out}: {error}") from None
    for source, dialogue in dialogues:
        if isinstance(dialogue, ImportFormatError):
            report.files.append(Imported(source.name, "", "", False, (str(dialogue),)))
            continue
        report.files.append(_write(form, source, dialogue, functions, out))
    return report


def _write(
    form: str,
    source: Path,
    dialogue: Dialogue,
    functions: Sequence[Mapping[str, Any]],
    out: Path,
) -> Imported:
    data = ticket_data(form, source.name, dialogue, functions)
    text = tomli_w.dumps(data)
    path = out / f"{dialogue.stem}.toml"
    try:
        ticket = load_ticket(text, file=path.name)
        path.write_text(text, encoding="utf-8")
    except TicketError as error:
        return Imported(source.name, "", "", False, (*dialogue.dropped, str(error)))
    except OSError as error:
        raise StoreError(f"can't write {path}: {error}") from None
    return Imported(
        source.name, ticket.env_id, str(path), bool(data.get("checkpoints")), dialogue.dropped
    )


def ticket_data(
    form: str, source: str, dialogue: Dialogue, functions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The ticket of a dialogue, as the data of its TOML file."""
    data: dict[str, Any] = {
        "id": dialogue.stem,
        "version": 0,
        "family": f"{form}-{dialogue.stem}".lower().replace("_", "-"),
        "split": "test",
        "uses": [],
        "title": dialogue.title,
        "languages": ["en"],
        "ending": "resolve",
        "variants": [{"name": "recorded"}],
        "imported": {
            "format": form,
            "source": source,
            "role": dialogue.role,
            "functions": canonical(list(functions)),
            "calls": canonical(
                [call._asdict() for exchange in dialogue.exchanges for call in exchange.calls]
            ),
            "ignorable": list(dialogue.ignorable),
            "dropped": list(dialogue.dropped),
        },
    }
    if dialogue.now:
        data["now"] = dialogue.now
    evidence = _Evidence(dialogue)
    data |= evidence.parts()
    closing = next((e.reply for e in reversed(dialogue.exchanges) if e.reply), "")
    if closing:
        data["closings"] = [{"en": literal(closing)}]
    return data


class _Evidence:
    """Checkpoints, slots, facts and recorded turns of a dialogue, exchange by exchange."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self.checkpoints: list[dict[str, Any]] = []
        self.slots: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.turns: list[dict[str, Any]] = []
        for i, exchange in enumerate(dialogue.exchanges):
            self._add(i, exchange)

    def parts(self) -> dict[str, Any]:
        """The tables of the ticket file."""
        customer: dict[str, Any] = {
            "mood": "recorded",
            "patience": 6,
            "opening": {"en": [literal(self._dialogue.opening)]},
            "recorded": self.turns,
            "facts": self.facts,
            "satisfied": [self._satisfied()],
        }
        parts: dict[str, Any] = {"customer": customer}
        if self.checkpoints:
            parts["checkpoints"] = self.checkpoints
        if self.slots:
            parts["slots"] = self.slots
        return parts

    def _satisfied(self) -> dict[str, Any]:
        evidence = [c["evidence"] for c in self.checkpoints]
        if evidence:
            return {"all": evidence}
        self.facts["unsaid"] = {"en": ["-"], "when": "never"}
        return {"not": [{"asked": "unsaid"}]}

    def _add(self, i: int, exchange: Exchange) -> None:
        names = []
        calls = [call for call in exchange.calls if not call.error]
        if calls:
            names.append(self._called(i, calls))
        told = self._told(i, exchange, calls)
        if told:
            names.append(told)
        turn: dict[str, Any] = {"text": literal(exchange.answer)}
        asked = self._asked(i, exchange)
        if asked:
            turn["needs_asked"] = [asked]
            self._inquiry(i, asked, exchange.reply)
        if names:
            turn["needs_passed"] = names
        self.turns.append(turn)

    def _inquiry(self, i: int, fact: str, reply: str) -> None:
        self.checkpoints.append(
            {
                "id": f"asks_{i}",
                "kind": "inquiry",
                "after": [c["id"] for c in self.checkpoints[-1:]],
                "evidence": {"asked": fact},
                "reference": {"en": literal(reply)},
            }
        )

    def _called(self, i: int, calls: Sequence[RecordedCall]) -> str:
        parts = [{"called": call.name, "with": self._counting(call)} for call in calls]
        exchange = self._dialogue.exchanges[i]
        reference = [{"call": c.name, "with": literals(c.arguments)} for c in exchange.calls]
        reply = exchange.reply
        entry: dict[str, Any] = {
            "id": f"calls_{i}",
            "kind": "action",
            "after": [c["id"] for c in self.checkpoints[-1:]],
            "evidence": parts[0] if len(parts) == 1 else {"all": parts},
            "reference": {"calls": reference},
        }
        if reply and not self._figures(reply, calls):
            entry["reference"]["en"] = literal(reply)
        self.checkpoints.append(entry)
        return str(entry["id"])

    def _told(self, i: int, exchange: Exchange, calls: Sequence[RecordedCall]) -> str:
        figures = self._figures(exchange.reply, calls)
        if not figures:
            return ""
        slot = f"facts_{i}"
        self.slots[slot] = {
            "type": "statement",
            "values": {"said": {"en": [[figure.lower()] for figure in figures]}},
        }
        entry = {
            "id": f"tells_{i}",
            "kind": "explanation",
            "after": [c["id"] for c in self.checkpoints[-1:]],
            "evidence": {"told": slot},
            "reference": {"en": literal(exchange.reply)},
        }
        self.checkpoints.append(entry)
        return str(entry["id"])

    @staticmethod
    def _figures(reply: str, calls: Sequence[RecordedCall]) -> list[str]:
        """The figures, times and addresses of a reply that its calls' results brought."""
        results = json.dumps([call.result for call in calls], ensure_ascii=False)
        return [f for f in dict.fromkeys(_FACT.findall(reply)) if f in results]

    def _asked(self, i: int, exchange: Exchange) -> str:
        """The fact that a recorded question asks for; empty where the reply asks none."""
        questions = re.findall(r"[^.!?]*\?", exchange.reply)
        words = [
            word
            for question in questions
            for word in _WORD.findall(question.lower())
            if word not in _COMMON
        ]
        if exchange.calls or not words or not exchange.answer:
            return ""
        name = f"answer_{i}"
        self.facts[name] = {
            "en": [literal(exchange.answer)],
            "when": "asked",
            "needed": True,
            "asked_by": {"en": [list(dict.fromkeys(words))]},
        }
        return name

    def _counting(self, call: RecordedCall) -> dict[str, Any]:
        ignored = self._dialogue.ignorable
        return literals({k: v for k, v in call.arguments.items() if k not in ignored})


def literal(text: str) -> str:
    """Text for a ticket file: braces are no placeholders."""
    return text.replace("{", "{{").replace("}", "}}")


def literals(value: Any) -> Any:
    """A value in depth with ``literal`` texts; None, which TOML lacks, is left out of tables."""
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, Mapping):
        return {key: literals(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [literals(item) for item in value if item is not None]
    return value


def infer_functions(
    calls: Iterable[RecordedCall], optional: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Schemas of the functions that some recorded calls used: argument names and JSON types.

    Args:
        calls: All calls of all dialogues.
        optional: Argument names that are never required.
    """
    grouped: dict[str, list[RecordedCall]] = {}
    for call in calls:
        grouped.setdefault(call.name, []).append(call)
    return [_function(name, grouped[name], frozenset(optional)) for name in sorted(grouped)]


def _function(name: str, calls: Sequence[RecordedCall], optional: frozenset[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key in sorted({key for call in calls for key in call.arguments}):
        types = sorted({_json_type(c.arguments[key]) for c in calls if key in c.arguments})
        properties[key] = {"type": types[0] if len(types) == 1 else types}
    required = [k for k in properties if k not in optional and all(k in c.arguments for c in calls)]
    reading = name.lower().startswith(_READING)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return {
        "name": name,
        "description": f"{words[:1].upper()}{words[1:]}.",
        "effect": "read" if reading else "write",
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {str: "string", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), "string")


def read_json(path: Path, what: str) -> Any:
    """A foreign JSON file.

    Raises:
        ImportFormatError: If it can't be read; names the file.
    """
    try:
        return strict_loads(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError, MalformedText) as error:
        raise ImportFormatError(f"{path.name}: not {what}: {error}") from None
