"""Law R3: whatever stops a run, going on gives what never stopping would have given."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import killed
import pytest

from cirrus_env.errors import StoreFull
from cirrus_env.runner.lines import scan
from cirrus_env.runner.run import run_jobs
from cirrus_env.runner.store import EPISODES, MANIFEST, read_episodes
from cirrus_env.wire import digest

HERE = Path(__file__).parent


def digests(folder: Path) -> list[str]:
    return sorted(digest(episode) for episode in read_episodes(folder))


def crash(folder: Path, first: int, end: int) -> None:
    """Die at seeded write points, and resume each time."""
    done = subprocess.run(
        [sys.executable, str(HERE / "crashing.py"), str(folder), str(first), str(end)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["seed"] for each in found] == list(range(first, end))
    for each in found:
        assert each["same"], each
        assert each["lines"] == each["episodes"] == 4, each  # nothing lost, nothing doubled
        assert each["files"] == ["episodes.jsonl", "lock", "manifest.json"], each
    died = [where.partition(" ")[0] for each in found for where in each["deaths"]]
    assert sum(map(bool, died)) >= end - first
    assert {"write", "fsync", "open", "replace"} <= set(died)


def test_20_crash_points_lose_double_and_tear_nothing(tmp_path):
    crash(tmp_path, 0, 20)


@pytest.mark.long
def test_100_crash_points_lose_double_and_tear_nothing(tmp_path):
    crash(tmp_path, 20, 120)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("whole")
    run_jobs(killed.JOBS, folder=folder)
    return digests(folder)


def kill(folder: Path, times: int, whole: list[str]) -> None:
    """Kill a run again and again at a random moment; every second one has two processes."""
    chance = random.Random(times)
    for number in range(times):
        process = subprocess.Popen(
            [sys.executable, str(HERE / "killed.py"), str(folder), str(1 + number % 2)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(1 + chance.randrange(3)):
            process.stdout.readline()
        for _ in range(chance.randrange(200_000)):
            pass
        process.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=60)  # to the pipes' end: no worker outlives its parent
        assert process.returncode == -signal.SIGKILL, err.decode()
    before = len(scan(folder / EPISODES)[0])
    assert times <= before < len(whole)
    played, kept = [], []
    run_jobs(killed.JOBS, folder=folder, resume=True, on_done=played.append, on_kept=kept.append)
    assert (len(kept), len(played)) == (before, len(whole) - before)
    assert digests(folder) == whole
    keys = [line.key for line in scan(folder / EPISODES)[0]]
    assert len(keys) == len(set(keys))


def test_3_real_kills_lose_double_and_tear_nothing(tmp_path, whole):
    kill(tmp_path, 3, whole)


@pytest.mark.long
@pytest.mark.parametrize("number", range(4))
def test_20_real_kills_lose_double_and_tear_nothing(tmp_path, whole, number):
    kill(tmp_path, 5, whole)


def limited_run(folder: Path, size: int) -> subprocess.CompletedProcess[str]:
    """The run in a process whose files may not grow beyond ``size`` bytes."""
    return subprocess.run(
        [
            sys.executable, "-m", "cirrus_env", "run", "--agent", "do-nothing", "--tickets",
            str(HERE / "small.toml"), "--seeds", "0:12", "--out", str(folder), "--resume",
        ],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip


def test_a_full_disk_stops_the_run_with_a_typed_error_and_keeps_what_was_there(tmp_path):
    first = limited_run(tmp_path, 20_000)
    assert first.returncode == 1
    assert "can't be written (File too large); what was there is kept" in first.stderr
    kept = len(list(read_episodes(tmp_path)))
    assert 0 < kept < 12
    assert f"{kept} of 12 episodes are kept in {tmp_path}" in first.stderr
    assert "--resume goes on" in first.stderr
    before = (tmp_path / EPISODES).read_bytes()
    done = limited_run(tmp_path, 10_000_000)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / EPISODES).read_bytes().startswith(before)
    assert len(list(read_episodes(tmp_path))) == 12


def test_a_disk_without_room_for_the_manifest_starts_nothing(tmp_path):
    done = limited_run(tmp_path / "run", 10)
    assert done.returncode == 2
    assert "can't be written" in done.stderr
    assert not (tmp_path / "run" / MANIFEST).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root; see test_store")
def test_a_read_only_folder_is_a_typed_error_and_is_read_all_the_same(tmp_path):
    folder = tmp_path / "run"
    run_jobs(killed.JOBS[:3], folder=folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in (*folder.iterdir(), folder):
        path.chmod(0o500)
    with pytest.raises(StoreFull, match="can't be written"):
        run_jobs(killed.JOBS[:3], folder=folder, resume=True)
    assert len(digests(folder)) == 3
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    folder.chmod(0o700)
