"""Runs that die at a chosen system call: ``python crashing.py FOLDER FIRST END``.

For each seed a forked child runs a small run and dies, as by a power cut, at a write point that the
seed chooses: a write after any part of its bytes, any other call before or after it. Some seeds
kill the child that resumes, too. Then this process resumes to the end. One line of JSON a seed says
where the child died and whether the folder is as if nothing had happened.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.lines import scan
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import EPISODES, read_episodes
from cirrus_env.tickets.load import load_ticket
from cirrus_env.wire import digest

CALLS = ("open", "mkdir", "write", "fsync", "ftruncate", "replace", "unlink")
JOBS = jobs_for(
    [find_agent("do-nothing"), find_agent("always-refuse")],
    [load_ticket(Path(__file__).with_name("small.toml"))],
    range(2),
)


def play(folder: Path) -> None:
    run_jobs(JOBS, folder=folder, resume=True)


def digests(folder: Path) -> list[str]:
    return sorted(digest(episode) for episode in read_episodes(folder))


class Dying:
    """Counts the calls that change a disk, and dies at one of them.

    Args:
        at: The number of the call; -1 for never.
        chance: Chooses how much of it is done.
    """

    def __init__(self, at: int, chance: random.Random) -> None:
        self.at, self.chance, self.count = at, chance, 0

    def patch(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        for name in CALLS:
            yield name, self.wrapped(name, getattr(os, name))

    def wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*arguments: Any, **more: Any) -> Any:
            self.count += 1
            if self.count - 1 != self.at:
                return call(*arguments, **more)
            how = self.chance.random()
            if name == "write":
                descriptor, data = arguments
                call(descriptor, data[: int(how * (len(data) + 1))])
            elif how < 0.5:
                call(*arguments, **more)
            os.write = real_write
            os.write(report, f"{name} {how:.2f}".encode())
            os._exit(9)

        return dying


real_write, report = os.write, -1


def die(folder: Path, at: int, chance: random.Random) -> str:
    """Run in a child that dies there; returns where it died, empty if it came to its end."""
    global report
    read, report = os.pipe()
    child = os.fork()
    if child == 0:
        for name, call in Dying(at, chance).patch():
            setattr(os, name, call)
        play(folder)
        os._exit(0)
    os.close(report)
    where = os.read(read, 100).decode()
    os.close(read)
    os.waitpid(child, 0)
    return where


def points(folder: Path) -> int:
    """How many calls change the disk in a run that nothing interrupts."""
    counting = Dying(-1, random.Random(0))
    real = {name: getattr(os, name) for name in CALLS}
    for name, call in counting.patch():
        setattr(os, name, call)
    play(folder)
    for name, call in real.items():
        setattr(os, name, call)
    return counting.count


def main(folder: Path, first: int, end: int) -> None:
    calls = points(folder / "whole")
    whole = digests(folder / "whole")
    for seed in range(first, end):
        chance = random.Random(seed)
        here = folder / str(seed)
        deaths = [die(here, chance.randrange(calls), chance) for _ in range(1 + seed % 3)]
        play(here)
        keys = [line.key for line in scan(here / EPISODES)[0]]
        print(
            json.dumps(
                {
                    "seed": seed,
                    "deaths": deaths,
                    "same": digests(here) == whole,
                    "lines": len(keys),
                    "episodes": len(set(keys)),
                    "files": sorted(path.name for path in here.iterdir()),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
