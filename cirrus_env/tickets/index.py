"""The index of the tickets that ship with the package: what is known without parsing TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

DATA: Final = Path(__file__).parent / "data"
INDEX_FILE: Final = DATA / "index.json"


def index() -> list[dict[str, Any]]:
    """One entry a ticket, sorted by id.

    Keys: ``id``, ``env_id``, ``version``, ``file``, ``family``, ``split``, ``title``, ``tools``,
    ``languages``, ``variants``, ``endings`` (variant -> ending), ``digest`` and ``constants``
    (variant -> language -> what audit measured; empty until it has).
    """
    return read_index(_text())


def read_index(text: bytes) -> list[dict[str, Any]]:
    """The entries of an index's JSON; an import waits for this."""
    result: list[dict[str, Any]] = orjson.loads(text)
    return result


@lru_cache(maxsize=1)
def _text() -> bytes:
    return INDEX_FILE.read_bytes()


def entry_of(file: str, text: str, constants: Mapping[str, Any]) -> dict[str, Any]:
    """The index entry of a ticket's text."""
    from cirrus_env.tickets.load import load_ticket

    ticket = load_ticket(text, file=file)
    default = ticket.data.get("ending", "resolve")
    return {
        "id": ticket.id,
        "env_id": ticket.env_id,
        "version": ticket.version,
        "file": file,
        "family": ticket.family,
        "split": ticket.split,
        "title": ticket.title,
        "tools": bool(ticket.uses),
        "languages": list(ticket.languages),
        "variants": list(ticket.variants),
        "endings": {v["name"]: v.get("ending", default) for v in ticket.data["variants"]},
        "digest": ticket.digest,
        "constants": dict(constants),
    }


def build_index(constants: Mapping[str, Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The index of the files as they are.

    Args:
        constants: Ticket id -> what audit measured just now. Where none is given, what the stored
            index has is kept as long as the ticket's text is the same.
    """
    stored = {e["file"]: e for e in json.loads(INDEX_FILE.read_text("utf-8"))} if (
        INDEX_FILE.exists()
    ) else {}  # fmt: skip
    entries = []
    for path in sorted(DATA.glob("*/*.toml")):
        file = path.relative_to(DATA).as_posix()
        entry = entry_of(file, path.read_bytes().decode("utf-8"), {})
        known = stored.get(file, {})
        if constants and entry["id"] in constants:
            entry["constants"] = dict(constants[entry["id"]])
        elif known.get("digest") == entry["digest"]:
            entry["constants"] = known["constants"]
        entries.append(entry)
    return sorted(entries, key=lambda entry: str(entry["id"]))


def write_index(constants: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Write ``index.json`` from the files; see ``build_index``."""
    text = json.dumps(build_index(constants), ensure_ascii=False, indent=1, sort_keys=True)
    INDEX_FILE.write_text(text + "\n", "utf-8")
    _text.cache_clear()


if __name__ == "__main__":
    write_index()
