"""Reading foreign files: strict JSON, and errors that name the file and the place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cirrus_env.errors import ImportFormatError, MalformedText
from cirrus_env.wire.jsontext import strict_loads

LARGEST: Final = 256_000_000
"""Bytes of a foreign file."""

LONGEST_RECORD: Final = 16_000_000
"""Bytes of one record."""


def read_bytes(path: Path) -> bytes:
    """A foreign file's bytes.

    Raises:
        ImportFormatError: If it can't be read or is too large.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise ImportFormatError(f"{path.name}: {size:,} bytes; at most {LARGEST:,} are read")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, ImportFormatError):
            raise
        raise ImportFormatError(f"{path.name}: can't be read: {error}") from None


def parse(data: bytes, place: str) -> Any:
    """One JSON value.

    Raises:
        ImportFormatError: If it is none; names the place.
    """
    try:
        return strict_loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, MalformedText) as error:
        raise ImportFormatError(f"{place}: not JSON: {error}") from None


def read_json(path: Path) -> Any:
    """A foreign JSON file.

    Raises:
        ImportFormatError: If it can't be read; names the file.
    """
    return parse(read_bytes(path), path.name)


def read_lines(path: Path) -> Iterator[tuple[str, Any | ImportFormatError]]:
    """The records of a JSON Lines file, each with its place, or why it is none.

    Raises:
        ImportFormatError: If the file can't be read at all.
    """
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{path.name}:{number}"
        try:
            if len(line) > LONGEST_RECORD:
                raise ImportFormatError(f"{place}: a record of {len(line):,} bytes is too long")
            yield place, parse(line, place)
        except ImportFormatError as error:
            yield place, error


def files_of(source: Path, *suffixes: str, without: tuple[str, ...] = ()) -> list[Path]:
    """The file, or all of a folder's files in depth with these suffixes, sorted.

    Args:
        source: A file or a folder.
        suffixes: Such as ``.json``.
        without: Names of folders that are not looked into.

    Raises:
        ImportFormatError: If there is none.
    """
    if not source.is_dir():
        return [source]
    found: list[Path] = []
    try:
        for path in sorted(source.rglob("*")):
            parents = path.relative_to(source).parts[:-1]
            if (
                path.suffix in suffixes
                and path.is_file()
                and not set(parents).intersection(without)
            ):
                found.append(path)
    except OSError as error:
        raise ImportFormatError(f"{source}: can't be read: {error}") from None
    if not found:
        raise ImportFormatError(f"{source}: no {' or '.join(suffixes)} file in this folder")
    return found
