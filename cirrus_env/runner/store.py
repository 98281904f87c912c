"""A run's folder: ``manifest.json``, ``episodes.jsonl`` and ``lock`` (law R3).

``manifest.json`` says what the run is: one object with ``format``, ``sha256`` (of the canonical
JSON of the rest) and what ``runner.manifest`` puts in. It is written once, whole, before anything
else; only a recorded run (``runner.recording``), whose tickets show one by one, replaces it. Every
episode is one checksummed line of ``episodes.jsonl`` (see ``runner.lines``), appended and
synchronised before it is told to anybody. A line is there whole or not at all: what a crash tore is
cut off by the next runner and overlooked by readers. Of two lines with the same key the later one
counts, so an episode that failed for outside reasons can be tried again. Nothing else is ever
written into the folder, and no name in it depends on what an agent is called or says.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cirrus_env.errors import StoreError, StoreFull
from cirrus_env.runner.files import remove_leftovers, sync_folder, write_all, write_whole
from cirrus_env.runner.lines import Encoded, decode, encode, scan
from cirrus_env.runner.lock import take_lock
from cirrus_env.wire import canonical, digest

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
EPISODES: Final = "episodes.jsonl"


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the run is, without the file's own ``format`` and ``sha256``.

    Raises:
        StoreError: If the folder holds no run, one of another format, or a damaged manifest.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{folder} holds no run: there is no {MANIFEST}") from None
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.pop("format", None) != FORMAT:
        raise StoreError(f"{path} is no manifest of format {FORMAT}")
    if manifest.pop("sha256", None) != digest(manifest):
        raise StoreError(f"{path} is damaged: its checksum is wrong; restore it from a copy")
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write what the run is: the old file is there, or the new one."""
    whole = {"format": FORMAT, "sha256": digest(dict(manifest)), **manifest}
    write_whole(folder / MANIFEST, canonical(whole).encode() + b"\n")


def read_episodes(folder: Path) -> Iterator[dict[str, Any]]:
    """The run's episodes in the order of their lines, the latest of each key only.

    Raises:
        StoreError: If the file can't be read or a line is damaged: names file and line.
    """
    path = folder / EPISODES
    latest = {line.key: line for line in scan(path)[0]}
    if not latest:
        return
    with path.open("rb") as file:
        for line in sorted(latest.values(), key=lambda line: line.offset):
            file.seek(line.offset)
            episode = decode(file.readline())
            if episode is None:
                raise StoreError(f"{path}: line {line.number} has changed while it was read")
            yield episode


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
        StoreError: The folder holds a run and ``resume`` is false, or another run, or a damaged
            one.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        self._data = self._lock = -1
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(folder)
            self._begin(json.loads(canonical(dict(manifest))), resume)
            path = folder / EPISODES
            lines, self._end = scan(path)
            self._done = {line.key: line.valid for line in lines}
            self._data = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            if os.fstat(self._data).st_size > self._end:
                os.ftruncate(self._data, self._end)
            os.fsync(self._data)
            sync_folder(folder)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise _typed(error, folder) from error
            raise

    def _begin(self, manifest: dict[str, Any], resume: bool) -> None:
        path = self.folder / MANIFEST
        remove_leftovers(path)
        if not path.exists():
            if (self.folder / EPISODES).exists():
                raise StoreError(f"{self.folder} has {EPISODES} but no {MANIFEST}")
            write_manifest(self.folder, manifest)
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

    def __len__(self) -> int:
        return len(self._done)

    def describe(self, manifest: Mapping[str, Any]) -> None:
        """Replace what the run is, as a whole, where more of it has become known.

        Raises:
            StoreFull: The disk is full or read-only; the manifest is as it was.
            StoreError: Something else is wrong with the disk.
        """
        try:
            write_manifest(self.folder, manifest)
        except OSError as error:
            raise _typed(error, self.folder) from error

    def append(self, episode: Mapping[str, Any]) -> None:
        """Write one episode; when this returns it is on the disk.

        Args:
            episode: JSON with at least ``key`` (a list of JSON values) and ``valid``.

        Raises:
            StoreFull: The disk is full or read-only; the file is as it was.
            StoreError: Something else is wrong with the disk, or the store is closed.
        """
        self.extend([encode(episode)])

    def extend(self, episodes: Sequence[Encoded]) -> None:
        """Write several episodes, all or none of them, synchronised once."""
        if self._data < 0:
            raise StoreError(f"{self.folder}: this store is closed")
        data = b"".join(episode.data for episode in episodes)
        try:
            write_all(self._data, data)
            os.fsync(self._data)
        except OSError as error:
            self._cut()
            raise _typed(error, self.folder) from error
        except BaseException:  # Ctrl-C between two system calls
            self._cut()
            raise
        self._end += len(data)
        self._done.update((episode.key, episode.valid) for episode in episodes)

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


_NO_ROOM = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
)


def _typed(error: OSError, folder: Path) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if error.errno in _NO_ROOM:
        return StoreFull(f"{folder} can't be written ({error.strerror}); what was there is kept")
    return StoreError(f"{folder} can't be used: {error.strerror or error}")
