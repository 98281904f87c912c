"""Import ToolTalk conversations (``name``, ``user``, ``metadata``, ``conversation`` with ``apis``).

Source of the form: the public ToolTalk data, one JSON file a conversation, and the databases that
lie beside them. Each ticket offers all functions of ToolTalk's suites, not only the ones that its
conversation needs. Plain reads that were not recorded are answered from the databases where those
agree with the recording; any other unrecorded call stays ``NotRecorded``. Session tokens are left
out everywhere, and of the databases only public columns are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.dialogue import Dialogue, Exchange, slug
from cirrus_env.adapters.functions import function_name
from cirrus_env.adapters.report import ImportReport
from cirrus_env.adapters.source import files_of, read_json
from cirrus_env.adapters.tooltalk_functions import FUNCTIONS
from cirrus_env.adapters.tooltalk_tables import (
    FOLDER,
    Databases,
    databases_for,
    lookups_for,
    read_databases,
)
from cirrus_env.adapters.write import Progress, Record, write_tickets
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError

IGNORABLE: Final = ("message", "body", "description", "new_description", "subject")
"""Free text: it differs from run to run and never decides whether a call matches."""

WORDED: Final = (
    "name", "new_name", "location", "new_location", "task", "query", "month", "to", "attendees",
    "new_attendees",
)  # fmt: skip
"""Free wording and lists: case, signs, small words and the order of a list don't matter."""

_TOKEN: Final = "session_token"
_WITHHELD: Final = "(kept by the client)"


def import_tooltalk(source: Path, out: Path, progress: Progress | None = None) -> ImportReport:
    """Turn conversations into ticket files.

    Args:
        source: One conversation's file, or a folder of them, searched in depth.
        out: The folder for the tickets.
        progress: Told how far it is.

    Returns:
        What was written, used and dropped, file by file.

    Raises:
        ImportFormatError: If there is nothing that could be a conversation.
        StoreError: If the folder can't be written.
    """
    known: dict[Path, Databases] = {}
    records: list[Record] = []
    for path in files_of(source, ".json", without=(FOLDER,)):
        folder = databases_for(path)
        if folder is not None and folder not in known:
            known[folder] = read_databases(folder)
        databases = known[folder] if folder is not None else Databases({})
        try:
            records.append(Record(path.name, read_conversation(path, databases)))
        except ImportFormatError as error:
            records.append(Record(path.name, error))
    calls = {
        call.name
        for record in records
        if isinstance(record.dialogue, Dialogue)
        for call in record.dialogue.calls
    }
    suites = list(FUNCTIONS.values()) if calls.intersection(FUNCTIONS) else []
    return write_tickets("tooltalk", records, suites, out, progress)


def read_conversation(path: Path, databases: Databases | None = None) -> Dialogue:
    """One conversation.

    Args:
        path: Its file.
        databases: What lies beside it.

    Raises:
        ImportFormatError: If the file is no ToolTalk conversation.
    """
    data = read_json(path)
    if not isinstance(data, Mapping) or not isinstance(data.get("conversation"), list):
        raise ImportFormatError(f"{path.name}: not a ToolTalk conversation: no 'conversation'")
    return _dialogue(path.name, path.stem, data, databases or Databases({}))


def _dialogue(file: str, stem: str, data: Mapping[str, Any], databases: Databases) -> Dialogue:
    user, metadata = _object(data, "user", file), _object(data, "metadata", file)
    reader = _Reader(file)
    for number, turn in enumerate(data["conversation"]):
        reader.add(f"{file}: conversation[{number}]", turn)
    opening, exchanges = reader.finish()
    calls = tuple(call for exchange in exchanges for call in exchange.calls)
    username = str(metadata.get("username") or "")
    moment = _moment(str(metadata.get("timestamp") or ""))
    lookups, used, unused = lookups_for(databases, username, moment, calls)
    dropped = [*reader.dropped, *unused]
    failed = {call.name for call in calls if call.error}
    dropped += [f"the failed call of {n} is served, but not asked for" for n in sorted(failed)]
    if data.get("scenario"):
        dropped.append("the scenario text, which names the intended calls")
    return Dialogue(
        stem=slug(stem),
        title=str(data.get("name") or stem),
        opening=opening,
        exchanges=exchanges,
        role=_role(user, metadata),
        now=f"{moment[:10]}T{moment[11:16]}Z" if moment else "",
        ignorable=IGNORABLE,
        worded=WORDED,
        lookups=lookups,
        used=tuple(used),
        dropped=tuple(dict.fromkeys(dropped)),
    )


def _object(data: Mapping[str, Any], key: str, file: str) -> Mapping[str, Any]:
    value = data.get(key) or {}
    if not isinstance(value, Mapping):
        raise ImportFormatError(f"{file}: {key}: not an object")
    return value


class _Reader:
    """The turns of a conversation as exchanges."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._opening: list[str] = []
        self._exchanges: list[tuple[list[RecordedCall], list[str], list[str]]] = []
        self.dropped: list[str] = []

    def add(self, place: str, turn: Any) -> None:
        if not isinstance(turn, Mapping):
            raise ImportFormatError(f"{place}: not an object")
        role, text = turn.get("role"), turn.get("text")
        if not isinstance(text, str):
            raise ImportFormatError(f"{place}: no 'text'")
        if role == "user":
            said = self._exchanges[-1][2] if self._exchanges else self._opening
            if text.strip():
                said.append(text)
        elif role == "assistant":
            self._assistant(place, turn, text)
        else:
            raise ImportFormatError(
                f"{place}: role: {str(role)[:40]!r} is neither user nor assistant"
            )

    def _assistant(self, place: str, turn: Mapping[str, Any], text: str) -> None:
        if not self._opening:
            self.dropped.append("an assistant message before the user's first")
            return
        apis = turn.get("apis") or []
        if not isinstance(apis, list):
            raise ImportFormatError(f"{place}.apis: not a list")
        found = [self._call(f"{place}.apis[{n}]", api) for n, api in enumerate(apis)]
        calls = [call for call in found if call is not None]
        if not self._exchanges or self._exchanges[-1][2]:
            self._exchanges.append(([], [], []))
        self._exchanges[-1][0].extend(calls)
        if text.strip():
            self._exchanges[-1][1].append(text)

    def _call(self, place: str, api: Any) -> RecordedCall | None:
        request = api.get("request") if isinstance(api, Mapping) else None
        if not isinstance(request, Mapping) or not isinstance(request.get("api_name"), str):
            raise ImportFormatError(f"{place}: no request with an api_name")
        given, response = request.get("parameters"), api.get("response")
        if given is None and response is None and not api.get("exception"):
            self.dropped.append(f"a call of {request['api_name']}, of which nothing was recorded")
            return None
        arguments = given or {}
        if not isinstance(arguments, Mapping):
            raise ImportFormatError(f"{place}.request.parameters: not an object")
        if _TOKEN in arguments:
            self.dropped.append("session tokens")
        return RecordedCall(
            name=function_name(request["api_name"]),
            arguments={key: value for key, value in arguments.items() if key != _TOKEN},
            result=_withheld(response),
            error=str(api.get("exception") or ""),
        )

    def finish(self) -> tuple[str, tuple[Exchange, ...]]:
        if not self._opening:
            raise ImportFormatError(f"{self._file}: the user says nothing")
        if not self._exchanges:
            raise ImportFormatError(f"{self._file}: the assistant says nothing")
        exchanges = tuple(
            Exchange(tuple(calls), "\n".join(replies), "\n".join(answers))
            for calls, replies, answers in self._exchanges
        )
        return "\n".join(self._opening), exchanges


def _withheld(value: Any) -> Any:
    """A result without session tokens."""
    if isinstance(value, Mapping):
        return {k: _WITHHELD if k == _TOKEN and v else _withheld(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_withheld(item) for item in value]
    return value


def _role(user: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """The system message's opening; passwords and tokens never go into it."""
    lines = [
        "You are an assistant who acts for one user through the tools below.",
        "Do what the user asks, ask for what you need to know, and report what you have done.",
        "It is {now} (UTC).",
    ]
    if metadata.get("username"):
        lines.append(f"The user is signed in as {metadata['username']}.")
        if user.get("name"):
            lines.append(f"Name: {user['name']}. Email: {user.get('email', 'unknown')}.")
    else:
        lines.append("Nobody is signed in.")
    if metadata.get("location"):
        lines.append(f"Location: {metadata['location']}.")
    return "\n".join(lines)


def _moment(text: str) -> str:
    """``YYYY-MM-DD HH:MM:SS``; empty for anything else."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?", text, re.ASCII)
    return f"{match[1]} {match[2]}{match[3] or ':00'}" if match else ""
