"""Read ticket files: from text or a path, or those that ship with the package."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from cirrus_env.cloud.catalogue import GENERAL, SERVICES
from cirrus_env.errors import TicketError, UnknownTicket
from cirrus_env.tickets.index import DATA, index
from cirrus_env.tickets.recording import recorded_constants
from cirrus_env.tickets.schema import MAX_DEPTH, depth, schema_errors
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire.jsontext import digest, encodes

MAX_BYTES = 2_000_000


def load_ticket(source: Path | str, *, file: str = "") -> Ticket:
    """Read one ticket and check it whole: schema, names, types, every variant and language.

    Args:
        source: A path, or the file's text (a string with a line break).
        file: The name used in errors; the path's own where there is one.

    Raises:
        TicketError: If it can't be read as a ticket; names file, path and mend.
    """
    if isinstance(source, Path) or "\n" not in source:
        path = Path(source)
        text = _read(path)
        file = file or str(path)
    else:
        text, file = source, file or "<text>"
    data = _parse(text, file)
    errors = schema_errors(data, file)
    if errors:
        raise errors[0]
    _check_names(data, file)
    ticket = _ticket(data, text, file)
    for variant in ticket.variants:
        for language in ticket.languages:
            ticket.plan(variant, language)
    return ticket


def bundled(name: str) -> Ticket:
    """A ticket that ships with the package, by ``ECS-Billing`` or ``Cirrus/ECS-Billing-v0``.

    Raises:
        UnknownTicket: With near names.
    """
    for entry in index():
        if name in (entry["id"], entry["env_id"]):
            return _bundled(entry["file"])
    raise UnknownTicket(name, [entry["id"] for entry in index()])


@lru_cache(maxsize=4096)
def _bundled(file: str) -> Ticket:
    """A shipped ticket. Its digest is in the index, so its schema has been checked before."""
    text = _read(DATA / file)
    entry = next(entry for entry in index() if entry["file"] == file)
    if entry["digest"] != digest(text):
        load_ticket(DATA / file, file=file)
    return _ticket(_parse(text, file), text, file, entry)


def restore(id: str, wanted: str, file: str, text: str) -> Ticket:
    """Rebuild a pickled ticket: a shipped one by its name, another from its text.

    Raises:
        TicketError: If the shipped ticket is another version than the pickled one.
    """
    if text:
        return _ticket(_parse(text, file), text, file)
    ticket = bundled(id)
    if ticket.digest != wanted:
        raise TicketError(file, "", "this package ships another text of the ticket", "run again")
    return ticket


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TicketError(str(path), "", "the file is too large", "2 MB at most")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise TicketError(str(path), "", f"not UTF-8: {error.reason}", "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        raise TicketError(str(path), "", f"can't be read: {error}", "check the path") from None


def _parse(text: str, file: str) -> dict[str, Any]:
    if not encodes(text):
        raise TicketError(file, "", "the text holds a lone surrogate", "save it as UTF-8")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TicketError(file, "", f"not TOML: {error}", "mend the line") from None
    except (ValueError, OverflowError) as error:  # such as an impossible date
        raise TicketError(file, "", f"not TOML: {error}", "mend the value") from None
    except RecursionError:
        raise TicketError(file, "", "nested too deep", f"{MAX_DEPTH} levels at most") from None
    if depth(data) > MAX_DEPTH:
        raise TicketError(file, "", "nested too deep", f"{MAX_DEPTH} levels at most")
    return data


def _check_names(data: Mapping[str, Any], file: str) -> None:
    names = [variant["name"] for variant in data["variants"]]
    if len(set(names)) != len(names):
        raise TicketError(file, "variants", "two variants have one name", "rename one")
    offered = [name for name in SERVICES if name not in GENERAL]
    for i, name in enumerate(data.get("uses", ())):
        if name not in offered:
            mend = f"there are {', '.join(offered)}"
            raise TicketError(file, f"uses[{i}]", f"no service {name!r}", mend)


def _ticket(
    data: dict[str, Any], text: str, file: str, entry: Mapping[str, Any] | None = None
) -> Ticket:
    title = data["title"]
    return Ticket(
        id=data["id"],
        version=data["version"],
        family=data["family"],
        split=data["split"],
        title=title if isinstance(title, str) else title.get(data["languages"][0], data["id"]),
        languages=tuple(data["languages"]),
        variants=tuple(variant["name"] for variant in data["variants"]),
        uses=tuple(data.get("uses", ())),
        digest=digest(text),
        file=file,
        text=text,
        data=data,
        constants=entry["constants"] if entry else recorded_constants(data),
        bundled=entry is not None,
    )
