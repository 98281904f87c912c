"""Import CirrusBench task files (arXiv 2603.28569).

JSONL records ``id``, ``messages`` (OpenAI-style, one call a message, a ``tool`` message after it),
``seperate_indices`` and ``seperate_indices_by_llm`` (the checkpoints, as lists of ``{reply_index,
agent_tool_indices}``; a record without tool calls is read by the second) and optional
``product_name``. Beside them may lie ``references_<id>.json`` (help documents, in any folder) and
a JSONL of tool schemas. The data itself is not public; the layout is that of the released code.

Each listed reply is one checkpoint. Its evidence is the calls that the record gives for it, one to
one, and the facts of the reference reply. A listed reply without either can't be checked and is
left out; where that is more than half of them, or where nothing is left that binds, the ticket is
unscored. Other replies lead from one checkpoint to the next. Every tool is offered, no argument of
a recorded call is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from cirrus_env.adapters.chat import Conversation, Turn, documents, read_messages
from cirrus_env.adapters.dialogue import Dialogue, Exchange, language_of, one_line, slug
from cirrus_env.adapters.functions import given_functions
from cirrus_env.adapters.openai_chat import FREE_TEXT
from cirrus_env.adapters.report import ImportReport
from cirrus_env.adapters.source import files_of, read_json, read_lines
from cirrus_env.adapters.write import Progress, Record, write_tickets
from cirrus_env.errors import ImportFormatError

MOST_REFERENCES: Final = 16_000
"""Characters of help documents that the system message holds."""

_ROLE: Final[Mapping[str, str]] = {
    "en": (
        "You are a support engineer of a cloud provider and talk with one customer about one"
        " ticket.\nUse the tools and the help documents before you ask, ask for what they can't"
        " tell you, and say only what you have verified.\nClose the ticket when nothing remains to"
        " be done."
    ),
    "zh": (
        "你是云服务商的技术支持工程师, 正在处理一位客户的一张工单。\n"
        "先用工具和帮助文档查证, 查不到的再询问客户, 只说核实过的事实。\n没有遗留事项时关闭工单。"
    ),
}
_DOCUMENTS: Final[Mapping[str, str]] = {"en": "Help documents", "zh": "帮助文档"}


References = Mapping[str, Sequence[Path]]


class Listed(NamedTuple):
    """One entry of a record's checkpoints.

    Attributes:
        reply: The index of the reply's message.
        calls: The indices of the messages with its calls.
    """

    reply: int
    calls: tuple[int, ...]


def import_cirrusbench(source: Path, out: Path, progress: Progress | None = None) -> ImportReport:
    """Turn task records into ticket files.

    Args:
        source: A folder, searched in depth, or a ``.jsonl`` file, beside which help documents and
            tool schemas are looked for.
        out: The folder for the tickets.
        progress: Told how far it is.

    Raises:
        ImportFormatError: If there is no file to read.
        StoreError: If the folder can't be written.
    """
    files = files_of(source, ".jsonl")
    schemas, found = _beside(source, files)
    references: dict[str, list[Path]] = {}
    for path in found:
        references.setdefault(path.stem, []).append(path)
    records: list[Record] = []
    tools: list[Any] = []
    for path in dict.fromkeys(schemas):
        wanted = path in files
        for place, value in _lines(path):
            if not isinstance(value, ImportFormatError) and _is_tool(value):
                tools.append(value)
            elif wanted:
                records.append(Record(place, _dialogue(value, place, path.stem, references)))
    functions, _ = given_functions(tools)
    return write_tickets("cirrusbench", records, functions, out, progress)


def _beside(source: Path, files: list[Path]) -> tuple[list[Path], list[Path]]:
    """Files that may hold tool schemas, and help documents.

    A folder is searched in depth; beside a file its folder and the one above are looked into, with
    their ``references*`` folders.
    """
    if source.is_dir():
        return files, sorted(source.rglob("references_*.json"))
    schemas, found = list(files), []
    for folder in (source.parent, source.parent.parent):
        schemas += sorted(folder.glob("*.jsonl"))
        found += sorted(folder.glob("references_*.json"))
        found += sorted(folder.glob("references*/references_*.json"))
    return schemas, found


def _lines(path: Path) -> list[tuple[str, Any | ImportFormatError]]:
    try:
        return list(read_lines(path))
    except ImportFormatError as error:
        return [(path.name, error)]


def _is_tool(value: Any) -> bool:
    return isinstance(value, Mapping) and "messages" not in value and (
        isinstance(value.get("function"), Mapping) or {"name", "parameters"} <= value.keys()
    )  # fmt: skip


def _dialogue(
    value: Any, place: str, stem: str, references: References
) -> Dialogue | ImportFormatError:
    if isinstance(value, ImportFormatError):
        return value
    try:
        return read_task(value, place, stem, references)
    except ImportFormatError as error:
        return error


def read_task(value: Any, place: str, stem: str, references: References) -> Dialogue:
    """One task record.

    Args:
        value: Its JSON.
        place: The file and the record's place.
        stem: What ids begin with: records with and without tools may share theirs.
        references: ``references_<id>`` -> its files.

    Raises:
        ImportFormatError: If it is none.
    """
    if not isinstance(value, Mapping):
        raise ImportFormatError(f"{place}: not an object")
    id = value.get("id")
    if not isinstance(id, str | int) or isinstance(id, bool) or not str(id).strip():
        raise ImportFormatError(f"{place}: id: missing")
    talk = read_messages(value.get("messages"), place)
    key, tools = "seperate_indices", any(turn.calls for turn in talk.turns)
    if not tools and value.get(f"{key}_by_llm"):
        key = f"{key}_by_llm"
    listed = _listed(value.get(key), f"{place}: {key}")
    dropped = list(talk.dropped)
    exchanges = _exchanges(talk, listed, dropped)
    language = language_of((talk.opening, *(e.reply for e in exchanges)))
    found = references.get(f"references_{id}", [])
    role, used = _role(talk, language, _nearest(found, tools=tools), dropped)
    product = value.get("product_name")
    title = f"{product}: {talk.opening}" if isinstance(product, str) and product else talk.opening
    return Dialogue(
        stem=slug(stem, str(id)),
        title=one_line(title, 80),
        opening=talk.opening,
        exchanges=exchanges,
        role=role,
        language=language,
        ignorable=FREE_TEXT,
        whole=True,
        unscored="" if listed else f"the record lists no checkpoint ({key})",
        used=used,
        dropped=tuple(dict.fromkeys(dropped)),
    )


def _listed(value: Any, place: str) -> list[Listed]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ImportFormatError(f"{place}: not a list")
    found = []
    for number, entry in enumerate(value):
        if not isinstance(entry, Mapping) or not _is_index(entry.get("reply_index")):
            raise ImportFormatError(f"{place}[{number}]: no reply_index")
        calls = entry.get("agent_tool_indices") or []
        if not isinstance(calls, list) or not all(map(_is_index, calls)):
            raise ImportFormatError(f"{place}[{number}].agent_tool_indices: not a list of numbers")
        found.append(Listed(entry["reply_index"], tuple(calls)))
    return found


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _exchanges(
    talk: Conversation, listed: list[Listed], dropped: list[str]
) -> tuple[Exchange, ...]:
    """The turns, with what the record lists of each."""
    by_turn: dict[int, set[int]] = {}
    for entry in listed:
        number = next((k for k, turn in enumerate(talk.turns) if _replies(turn, entry.reply)), None)
        if number is None:
            dropped.append(f"the checkpoint at message {entry.reply}, which is no reply")
            continue
        here = {index for index, _ in talk.turns[number].calls}
        outside = sorted(set(entry.calls) - here)
        if outside:
            dropped.append(f"the calls of messages {outside}, which lead to no listed reply")
        by_turn.setdefault(number, set()).update(here.intersection(entry.calls))
    exchanges = []
    for number, turn in enumerate(talk.turns):
        wanted = by_turn.get(number, set())
        needed = tuple(
            k for k, (index, call) in enumerate(turn.calls) if index in wanted and not call.error
        )
        exchanges.append(turn.exchange(needed=needed, listed=number in by_turn))
    return tuple(exchanges)


def _replies(turn: Turn, index: int) -> bool:
    return any(index == place for place, _ in turn.replies)


def _nearest(found: Sequence[Path], *, tools: bool) -> Path | None:
    """The help documents of a record's own kind: ``references_withtool`` or ``..._notool``."""
    kind = "withtool" if tools else "notool"
    own = [path for path in found if kind in path.parent.name.replace("_", "")]
    return next(iter([*own, *found]), None)


def _role(
    talk: Conversation, language: str, path: Path | None, dropped: list[str]
) -> tuple[str, tuple[str, ...]]:
    role = talk.system or _ROLE[language]
    if path is None:
        return role, ()
    try:
        text, cut = documents(read_json(path), MOST_REFERENCES)
    except ImportFormatError as error:
        dropped.append(f"the help documents: {error}")
        return role, ()
    if cut:
        dropped.append(f"help documents beyond {MOST_REFERENCES} characters")
    if not text.strip():
        return role, ()
    return f"{role}\n\n{_DOCUMENTS[language]}:\n{text}", (f"help documents of {path.name}",)
