"""Episodes as checksummed lines of ``episodes.jsonl``, one line an episode.

::

    {"sha256":"<64 hex digits>","episode":{...}}

The checksum covers the bytes of the episode's canonical JSON, so it is the episode's digest too.
A line counts from its line break on: what follows the last break is a line that a crash tore, and
is overlooked. A whole line whose checksum is wrong has been damaged, wherever it stands.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.errors import StoreError
from cirrus_env.wire import canonical, digest

_HEAD = b'{"sha256":"'
_MIDDLE = b'","episode":'
_START = len(_HEAD) + 64 + len(_MIDDLE)


class Encoded(NamedTuple):
    """An episode ready to be written.

    Attributes:
        key: What makes two lines the same episode, as canonical JSON.
        valid: Whether it says something about the agent; if not, it may be tried again.
        data: The line.
    """

    key: str
    valid: bool
    data: bytes


class Line(NamedTuple):
    """Where an episode stands in the file: ``number`` from 1, ``offset`` in bytes."""

    key: str
    valid: bool
    number: int
    offset: int


def key_of(episode: Mapping[str, Any]) -> str:
    """What makes two lines the same episode."""
    return canonical(episode["key"])


def encode(episode: Mapping[str, Any]) -> Encoded:
    """An episode as its line.

    Args:
        episode: JSON with at least ``key`` (a list) and ``valid`` (a boolean).

    Raises:
        StoreError: If it holds what JSON in UTF-8 can't.
    """
    try:
        body = canonical(episode).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"the episode can't be stored: {type(error).__name__}") from error
    data = _HEAD + digest(body).encode() + _MIDDLE + body + b"}\n"
    return Encoded(key_of(episode), bool(episode["valid"]), data)


def decode(line: bytes) -> dict[str, Any] | None:
    """The episode of a line; None where the line is torn or damaged."""
    body = line[_START:-2]
    if line != _HEAD + digest(body).encode() + _MIDDLE + body + b"}\n":
        return None
    episode: dict[str, Any] = json.loads(body)
    return episode


def scan(path: Path) -> tuple[list[Line], int]:
    """All lines of the file, and where the last whole one ends; a missing file has none.

    Raises:
        StoreError: If the file can't be read, or a line is damaged: names file and line.
    """
    found: list[Line] = []
    end = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                episode = decode(line)
                if episode is None:
                    raise StoreError(
                        f"{path}: line {number} is damaged; restore the file from a copy, "
                        "or delete that line to run its episode again"
                    )
                found.append(Line(key_of(episode), bool(episode["valid"]), number, end))
                end += len(line)
    except FileNotFoundError:
        return [], 0
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from error
    return found, end
