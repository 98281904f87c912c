"""Import OpenAI chat JSONL: one ``{"messages": [...], "tools": [...]}`` a line.

The form of OpenAI's fine-tuning files. ``tools`` is optional: functions that nobody describes are
inferred from the calls of all lines. Recorded calls are evidence one to one, and what a reply took
from their results; in a conversation without calls the figures, addresses and labels that a reply
gives. Every line is a ticket.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.chat import Conversation, read_messages
from cirrus_env.adapters.dialogue import Dialogue, language_of, one_line, slug
from cirrus_env.adapters.functions import given_functions
from cirrus_env.adapters.report import ImportReport
from cirrus_env.adapters.source import files_of, read_json, read_lines
from cirrus_env.adapters.write import Progress, Record, write_tickets
from cirrus_env.errors import ImportFormatError

FREE_TEXT: Final = ("thought", "summary", "message", "body", "description", "subject", "comment")
"""Argument names whose wording differs from run to run and never decides whether a call matches."""

_ROLE: Final[Mapping[str, str]] = {
    "en": "You are an assistant. Help the user, and say only what you know.",
    "zh": "你是一名助手。请帮助用户，只说你确知的内容。",
}


def import_openai(source: Path, out: Path, progress: Progress | None = None) -> ImportReport:
    """Turn chat records into ticket files.

    Args:
        source: A ``.jsonl`` file (or a ``.json`` file with one record or a list), or a folder.
        out: The folder for the tickets.
        progress: Told how far it is.

    Raises:
        ImportFormatError: If there is no file to read.
        StoreError: If the folder can't be written.
    """
    records: list[Record] = []
    tools: list[Any] = []
    for path in files_of(source, ".jsonl", ".json"):
        for place, value in _values(path):
            if isinstance(value, ImportFormatError):
                records.append(Record(place, value))
                continue
            try:
                records.append(Record(place, read_record(value, place, path.stem)))
                tools += value.get("tools") or ()
            except ImportFormatError as error:
                records.append(Record(place, error))
    functions, _ = given_functions(tools)
    return write_tickets("openai", records, functions, out, progress)


def _values(path: Path) -> list[tuple[str, Any | ImportFormatError]]:
    try:
        if path.suffix == ".jsonl":
            return list(read_lines(path))
        value = read_json(path)
    except ImportFormatError as error:
        return [(path.name, error)]
    if isinstance(value, list):
        return [(f"{path.name}[{number}]", item) for number, item in enumerate(value)]
    return [(path.name, value)]


def read_record(value: Any, place: str, stem: str) -> Dialogue:
    """One record.

    Args:
        value: Its JSON.
        place: The file and the record's place.
        stem: What ids begin with.

    Raises:
        ImportFormatError: If it is none.
    """
    if not isinstance(value, Mapping):
        raise ImportFormatError(f"{place}: not an object")
    if "messages" not in value:
        raise ImportFormatError(f"{place}: no 'messages'")
    tools = value.get("tools") or []
    if not isinstance(tools, list):
        raise ImportFormatError(f"{place}: tools: not a list")
    talk = read_messages(value["messages"], place)
    _, wrong = given_functions(tools)
    number = place.rpartition(":")[2] if ":" in place else place.rpartition("[")[2].rstrip("]")
    id = value.get("id")
    name = str(id) if isinstance(id, str | int) and str(id).strip() else number
    return dialogue_of(talk, slug(stem, name) if name != place else slug(stem), wrong)


def dialogue_of(talk: Conversation, stem: str, dropped: list[str] | None = None) -> Dialogue:
    """A conversation as a dialogue whose every call and reply counts."""
    texts = (talk.opening, *(text for turn in talk.turns for _, text in turn.replies))
    language = language_of(texts)
    failed = {call.name for turn in talk.turns for _, call in turn.calls if call.error}
    return Dialogue(
        stem=stem,
        title=one_line(talk.opening, 80),
        opening=talk.opening,
        exchanges=tuple(turn.exchange() for turn in talk.turns),
        role=talk.system or _ROLE[language],
        language=language,
        ignorable=FREE_TEXT,
        dropped=(
            *talk.dropped,
            *(dropped or ()),
            *(f"the failed call of {name} is served, but not asked for" for name in sorted(failed)),
        ),
    )
