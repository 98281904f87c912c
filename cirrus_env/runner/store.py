"""A run's folder: ``manifest.json``, ``episodes.jsonl`` and ``lock`` (law R3).

The manifest says what the run is and is written once, whole. Every episode is one line that is
appended and synchronised before the next one starts::

    {"sha256":"<64 hex digits>","episode":{...}}

The checksum covers the bytes of the episode's JSON. A line is there whole or not at all: a torn
last line, left by a crash, is cut off by the next runner and overlooked by readers; a broken line
anywhere else is an error. Of two lines with the same key the later one counts, so an episode that
failed for outside reasons can be tried again. The lock is the kernel's and dies with its process.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cirrus_env.errors import RunLocked, StoreError, StoreFull
from cirrus_env.runner.files import sync_folder, write_whole
from cirrus_env.wire import canonical, digest

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
EPISODES: Final = "episodes.jsonl"
LOCK: Final = "lock"

_HEAD = b'{"sha256":"'
_MIDDLE = b'","episode":'
_START = len(_HEAD) + 64 + len(_MIDDLE)


def encode(episode: Mapping[str, Any]) -> bytes:
    """An episode as one checksummed line."""
    body = canonical(episode).encode()
    return _HEAD + digest(body).encode() + _MIDDLE + body + b"}\n"


def decode(line: bytes) -> dict[str, Any] | None:
    """The episode of a line; None where the line is torn or broken."""
    body = line[_START:-2]
    if line != _HEAD + digest(body).encode() + _MIDDLE + body + b"}\n":
        return None
    episode: dict[str, Any] = json.loads(body)
    return episode


def key_of(episode: Mapping[str, Any]) -> str:
    """What makes two lines the same episode."""
    return canonical(episode["key"])


def read_manifest(folder: Path) -> dict[str, Any]:
    """The run's manifest.

    Raises:
        StoreError: If the folder holds no run, or one of another format.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{folder} holds no run: there is no {MANIFEST}") from None
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreError(f"{path} is not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} is no manifest of format {FORMAT}")
    return manifest


def read_episodes(folder: Path) -> Iterator[dict[str, Any]]:
    """The run's episodes in the order of their lines, the latest of each key only.

    Raises:
        StoreError: If the file can't be read or a line other than the last is broken.
    """
    path = folder / EPISODES
    latest = {key: offset for key, offset, _ in _lines(path)[0]}
    if not latest:
        return
    with path.open("rb") as file:
        for offset in sorted(latest.values()):
            file.seek(offset)
            episode = decode(file.readline())
            if episode is None:
                raise StoreError(f"{path} has changed while it was read")
            yield episode


def _lines(path: Path) -> tuple[list[tuple[str, int, bool]], int]:
    """(key, offset, valid) of every line, and where the last whole line ends."""
    found: list[tuple[str, int, bool]] = []
    end = offset = 0
    broken = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if broken:
                    raise StoreError(
                        f"{path}: line {broken} is damaged; restore the file from a copy, "
                        "or delete that line to run its episode again"
                    )
                episode = decode(line)
                if episode is None:
                    broken = number
                else:
                    found.append((key_of(episode), offset, bool(episode["valid"])))
                    end = offset + len(line)
                offset += len(line)
    except FileNotFoundError:
        return [], 0
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from error
    return found, end


class RunStore:
    """The folder of one run, held by this process until it is closed.

    Args:
        folder: Where; made if missing.
        manifest: What the run is: JSON. Where the folder already holds a run, that must be the
            same one.
        resume: Whether a run that is already there is gone on with.

    Raises:
        RunLocked: Another runner holds the folder.
        StoreFull: The disk is full or read-only.
        StoreError: The folder holds a run and ``resume`` is false, or another run.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        self._data = self._lock = -1
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(folder)
            self._begin({"format": FORMAT, **manifest}, resume)
            path = folder / EPISODES
            lines, self._end = _lines(path)
            self._done = {key: valid for key, _, valid in lines}
            self._data = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            if os.fstat(self._data).st_size > self._end:
                os.ftruncate(self._data, self._end)
            os.fsync(self._data)
            sync_folder(folder)
        except OSError as error:
            self.close()
            raise _typed(error, folder) from error

    def _begin(self, manifest: dict[str, Any], resume: bool) -> None:
        path = self.folder / MANIFEST
        if not path.exists():
            if (self.folder / EPISODES).exists():
                raise StoreError(f"{self.folder} has {EPISODES} but no {MANIFEST}")
            write_whole(path, canonical(manifest).encode() + b"\n")
            return
        if not resume:
            raise StoreError(f"{self.folder} already holds a run; resume it or name another folder")
        there = read_manifest(self.folder)
        other = sorted(k for k in {*there, *manifest} if there.get(k) != manifest.get(k))
        if other:
            raise StoreError(
                f"{self.folder} holds another run: its {', '.join(other)} differ; "
                "name another folder"
            )

    def done(self) -> frozenset[str]:
        """Keys of the episodes that stand and need no second try."""
        return frozenset(key for key, valid in self._done.items() if valid)

    def append(self, episode: Mapping[str, Any]) -> None:
        """Write one episode; when this returns it is on the disk.

        Args:
            episode: JSON with at least ``key`` (a list of JSON values) and ``valid``.

        Raises:
            StoreFull: The disk is full or read-only; the file is as it was.
            StoreError: Something else is wrong with the disk, or the store is closed.
        """
        if self._data < 0:
            raise StoreError(f"{self.folder}: this store is closed")
        line = encode(episode)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._data, rest) :]
            os.fsync(self._data)
        except OSError as error:
            self._cut()
            raise _typed(error, self.folder) from error
        self._end += len(line)
        self._done[key_of(episode)] = bool(episode["valid"])

    def _cut(self) -> None:
        """Take back half a line; where even that fails the next runner does it."""
        try:
            os.ftruncate(self._data, self._end)
        except OSError:
            self.close()

    def close(self) -> None:
        """Let the folder go."""
        for descriptor in (self._data, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._data = self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _take_lock(folder: Path) -> int:
    import fcntl  # on POSIX only; reading a run works everywhere

    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
        os.close(descriptor)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        raise RunLocked(f"{folder} is held by another runner (process {holder or '?'})") from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})


def _typed(error: OSError, folder: Path) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if error.errno in _NO_ROOM:
        return StoreFull(f"{folder} can't be written ({error.strerror}); what was there is kept")
    return StoreError(f"{folder} can't be used: {error.strerror or error}")
