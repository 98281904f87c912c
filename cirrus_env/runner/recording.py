"""``RunRecorder``: a run's folder that grows while somebody else plays, such as a trainer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cirrus_env.errors import OptionError, StoreError
from cirrus_env.runner.lines import encode
from cirrus_env.runner.store import MANIFEST, RunStore, read_manifest
from cirrus_env.wrappers.record_trajectories import name_of

ONE_RUN: Final = ("version", "reward", "settings")
"""What all episodes of a run have in common."""


class RunRecorder:
    """A sink of ``RecordTrajectories``: every episode goes into a run's folder.

    The folder is read like that of any run: ``cirrus-env compare``, ``rescore``, ``explain``,
    ``regret`` and ``export`` take it, also while it grows. Its manifest has no list of jobs
    (``jobs`` is null): an episode's number is its place in the file. An episode is on the disk
    before the step that ended it returns, whole or not at all.

    ```python
    with RunRecorder(Path("runs/training"), agent="step-400") as recorder:
        env = RecordTrajectories(gymnasium.make("Cirrus/Train-v0"), recorder)
        ...  # train
        env.close()
    ```

    One recorder can serve any number of environments of one process. A copy of it is itself; one
    that has been pickled opens the folder anew, which only one process can at a time.

    Args:
        folder: Where; made with the first episode.
        agent: As results name who played; None for the name that each episode brings.
        resume: Whether episodes may be added to what was recorded there before.

    Raises:
        OptionError: For a name that can't be stored.
        StoreError: If the folder holds a run and ``resume`` is false, or a run of another kind.
    """

    def __init__(
        self, folder: str | Path, *, agent: str | None = None, resume: bool = False
    ) -> None:
        self.folder = Path(folder)
        self._agent = None if agent is None else name_of(agent)
        self._resume = resume
        self._store: RunStore | None = None
        self._manifest: dict[str, Any] = {}
        self._process = 0
        self._there()

    def __call__(self, episode: Mapping[str, Any]) -> None:
        """Store one episode; when this returns it is on the disk.

        Raises:
            OptionError: If it is none of ``RecordTrajectories``.
            RunLocked: Another process writes into the folder.
            StoreFull: The disk is full or read-only; what was there is kept.
            StoreError: If the episode belongs to another run: another version of the package,
                reward or system text, or another ticket of the same name.
        """
        if not isinstance(episode, Mapping) or not {"run", "trajectory"} <= episode.keys():
            raise OptionError("a recorder takes the episodes that RecordTrajectories hands over")
        stored = dict(episode)
        run = stored.pop("run")
        agent = stored["agent"] if self._agent is None else self._agent
        store = self._opened(stored, run)
        key = [agent, *stored["key"][1:5], len(store)]
        line = encode({**stored, "agent": agent, "key": key})
        manifest = self._with(self._manifest, stored, run)
        if manifest != self._manifest:
            store.describe(manifest)
            self._manifest = manifest
        store.extend([line])

    def close(self) -> None:
        """Let the folder go; another episode takes it again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.folder, self._agent)

    # -- inside --------------------------------------------------------------------------------

    def _there(self) -> dict[str, Any] | None:
        """The manifest of what has been recorded before."""
        if not (self.folder / MANIFEST).exists():
            return None
        if not self._resume:
            raise StoreError(f"{self.folder} already holds a run; resume it or name another folder")
        manifest = read_manifest(self.folder)
        if manifest.get("jobs") is not None:
            raise StoreError(f"{self.folder} holds a run that was not recorded: it has its jobs")
        return manifest

    def _opened(self, episode: Mapping[str, Any], run: Mapping[str, Any]) -> RunStore:
        if self._store is None:
            manifest = self._there() or self._with(_nothing(run), episode, run)
            self._store = RunStore(self.folder, manifest, resume=self._resume)
            self._manifest, self._resume, self._process = manifest, True, os.getpid()
        if self._process != os.getpid():  # a forked one has the lock, too
            raise StoreError(f"{self.folder} is written by another process (the parent)")
        return self._store

    def _with(
        self, manifest: dict[str, Any], episode: Mapping[str, Any], run: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The manifest with the episode's ticket.

        Raises:
            StoreError: If the episode belongs to another run.
        """
        name, digest = episode["ticket"], episode["digest"]
        other = [part for part in ONE_RUN if manifest[part] != run[part]]
        if manifest["tickets"].get(name, digest) != digest:
            other.append(f"ticket {name}")
        elif manifest["constants"].get(name, run["constants"]) != run["constants"]:
            other.append(f"constants of {name}")
        if other:
            raise StoreError(
                f"{self.folder} holds episodes of another run: {', '.join(other)} differ; "
                "record these in another folder"
            )
        if name in manifest["tickets"]:
            return manifest
        text = {} if run["source"] is None else {name: run["source"]}
        return {
            **manifest,
            "tickets": {**manifest["tickets"], name: digest},
            "constants": {**manifest["constants"], name: run["constants"]},
            "sources": {**manifest["sources"], **text},
        }


def _nothing(run: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run without episodes."""
    common = {part: run[part] for part in ONE_RUN}
    return {**common, "tickets": {}, "constants": {}, "sources": {}, "jobs": None}


def _reopened(folder: Path, agent: str | None) -> RunRecorder:
    return RunRecorder(folder, agent=agent, resume=True)  # the original may have begun
