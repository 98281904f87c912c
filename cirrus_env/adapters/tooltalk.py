"""Import ToolTalk conversations (``name``, ``user``, ``metadata``, ``conversation`` with ``apis``).

Source of the form: the public ToolTalk data, one JSON file a conversation. ToolTalk's API
descriptions are not in those files, so functions are inferred from the recorded calls of all
conversations imported together; each ticket offers all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.recorded import (
    Dialogue,
    Exchange,
    ImportReport,
    infer_functions,
    read_json,
    write_tickets,
)
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError

IGNORABLE: Final = ("session_token", "message", "body", "description", "subject")
"""Tokens and free text: they differ from run to run and never decide whether a call matches."""


def import_tooltalk(source: Path, out: Path) -> ImportReport:
    """Turn conversations into ticket files.

    Args:
        source: One conversation's file, or a folder of them (not searched in depth).
        out: The folder for the tickets.

    Returns:
        What was written and what was dropped, file by file.

    Raises:
        ImportFormatError: If there is nothing that could be a conversation.
        StoreError: If the folder can't be written.
    """
    paths = sorted(source.glob("*.json")) if source.is_dir() else [source]
    if not paths:
        raise ImportFormatError(f"{source}: no .json file in this folder")
    read: list[tuple[Path, Dialogue | ImportFormatError]] = []
    for path in paths:
        try:
            read.append((path, read_conversation(path)))
        except ImportFormatError as error:
            read.append((path, error))
    calls = [
        call
        for _, dialogue in read
        if isinstance(dialogue, Dialogue)
        for exchange in dialogue.exchanges
        for call in exchange.calls
    ]
    return write_tickets("tooltalk", read, infer_functions(calls, ("session_token",)), out)


def read_conversation(path: Path) -> Dialogue:
    """One conversation.

    Raises:
        ImportFormatError: If the file is no ToolTalk conversation.
    """
    data = read_json(path, "a ToolTalk conversation")
    if not isinstance(data, Mapping) or not isinstance(data.get("conversation"), list):
        raise ImportFormatError(f"{path.name}: not a ToolTalk conversation: no 'conversation'")
    try:
        return _dialogue(path.stem, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ImportFormatError(f"{path.name}: not a ToolTalk conversation: {error!r}") from None


def _dialogue(stem: str, data: Mapping[str, Any]) -> Dialogue:
    turns = list(data["conversation"])
    dropped = []
    while turns and turns[0]["role"] != "user":
        dropped.append("an assistant message before the user's first")
        turns.pop(0)
    if not turns:
        raise ImportFormatError(f"{stem}: the user says nothing")
    opening = str(turns[0]["text"])
    exchanges: list[Exchange] = []
    for turn in turns[1:]:
        if turn["role"] == "assistant":
            calls = tuple(_call(api) for api in turn.get("apis") or ())
            exchanges.append(Exchange(calls, str(turn["text"]), ""))
        elif not exchanges:
            opening = f"{opening}\n{turn['text']}"
        else:
            last = exchanges.pop()
            answer = f"{last.answer}\n{turn['text']}".strip()
            exchanges.append(Exchange(last.calls, last.reply, answer))
    for exchange in exchanges:
        for call in exchange.calls:
            if call.error:
                dropped.append(f"the failed call of {call.name} is served, but not asked for")
    if data.get("scenario"):
        dropped.append("the scenario text, which names the intended calls")
    metadata = data.get("metadata") or {}
    return Dialogue(
        stem=re.sub(r"[^A-Za-z0-9_.-]+", "-", stem),
        title=str(data.get("name") or stem)[:200],
        opening=opening,
        exchanges=tuple(exchanges),
        role=_role(data.get("user") or {}, metadata),
        now=_moment(str(metadata.get("timestamp", ""))),
        ignorable=IGNORABLE,
        dropped=tuple(dict.fromkeys(dropped)),
    )


def _role(user: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """The system message's opening; the user's password never goes into it."""
    lines = [
        "You are an assistant who acts for one user through the tools below.",
        "Do what the user asks, ask for what you need to know, and report what you have done.",
        "It is {now} (UTC).",
    ]
    if metadata.get("username"):
        lines.append(f"The user is signed in as {metadata['username']}.")
        if metadata.get("session_token"):
            lines.append(f"The session token is {metadata['session_token']}.")
        if user.get("name"):
            lines.append(f"Name: {user['name']}. Email: {user.get('email', 'unknown')}.")
    if metadata.get("location"):
        lines.append(f"Location: {metadata['location']}.")
    return "\n".join(lines)


def _moment(text: str) -> str:
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d)?", text)
    return f"{match[1]}T{match[2]}Z" if match else ""


def _call(api: Mapping[str, Any]) -> RecordedCall:
    request = api["request"]
    return RecordedCall(
        name=str(request["api_name"]),
        arguments=dict(request.get("parameters") or {}),
        result=api.get("response"),
        error=str(api.get("exception") or ""),
    )
