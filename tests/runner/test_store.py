from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.errors import RunLocked, StoreError, StoreFull
from cirrus_env.runner.files import write_whole
from cirrus_env.runner.lines import decode, encode
from cirrus_env.runner.lock import LOCK
from cirrus_env.runner.store import EPISODES, MANIFEST, RunStore, read_episodes, read_manifest

PLAN = {"agents": ["oracle"], "version": "0.1.0"}


def episode(seed: int, *, valid: bool = True, text: str = "hello") -> dict[str, object]:
    return {"key": ["oracle", "Cirrus/X-v0", seed], "valid": valid, "text": text}


def seeds(folder: Path) -> list[int]:
    return [e["key"][2] for e in read_episodes(folder)]


def test_what_is_appended_is_read_back_in_order(tmp_path):
    with RunStore(tmp_path / "a" / "run", PLAN) as store:
        store.append(episode(1))
        store.append(episode(0, text="机器 é\n\x1b[31m"))
    folder = tmp_path / "a" / "run"
    assert list(read_episodes(folder)) == [episode(1), episode(0, text="机器 é\n\x1b[31m")]
    assert read_manifest(folder) == PLAN
    assert json.loads((folder / MANIFEST).read_text())["format"] == 1
    assert sorted(p.name for p in folder.iterdir()) == [EPISODES, LOCK, MANIFEST]


def test_each_line_is_json_of_its_own(tmp_path):
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(3))
    (line,) = (tmp_path / EPISODES).read_text().splitlines()
    assert json.loads(line)["episode"] == episode(3)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(
    st.characters(exclude_categories=["Cs"])), lambda x: st.lists(x) | st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])), x), max_leaves=8))  # fmt: skip
def test_a_line_gives_its_episode_back(value):
    episode = {"key": [1], "valid": True, "value": value}
    assert decode(encode(episode).data) == episode


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_or_a_shorter_line_is_noticed(place, flip):
    line = bytearray(encode(episode(5)).data)
    place %= len(line)
    assert decode(bytes(line[:place])) is None
    line[place] ^= flip
    assert decode(bytes(line)) is None


def test_an_existing_run_is_not_overwritten(tmp_path):
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
    with pytest.raises(StoreError, match="already holds a run"):
        RunStore(tmp_path, PLAN)
    assert seeds(tmp_path) == [0]


def test_resuming_skips_what_stands_and_retries_what_was_invalid(tmp_path):
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
        store.append(episode(1, valid=False))
    with RunStore(tmp_path, PLAN, resume=True) as store:
        assert store.done() == {'["oracle","Cirrus/X-v0",0]'}
        store.append(episode(1))
        assert len(store.done()) == 2
    assert list(read_episodes(tmp_path)) == [episode(0), episode(1)]


def test_resuming_nothing_starts(tmp_path):
    with RunStore(tmp_path, PLAN, resume=True) as store:
        store.append(episode(0))
    assert seeds(tmp_path) == [0]


def test_another_run_is_refused_and_the_difference_named(tmp_path):
    RunStore(tmp_path, PLAN).close()
    with pytest.raises(StoreError, match="its agents differ"):
        RunStore(tmp_path, {**PLAN, "agents": ["parrot"]}, resume=True)


def test_a_torn_last_line_is_cut_off_at_every_length(tmp_path):
    path = tmp_path / EPISODES
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
        whole = path.stat().st_size
        store.append(episode(1))
    data = path.read_bytes()
    for length in range(whole, len(data), 7):
        path.write_bytes(data[:length])
        assert seeds(tmp_path) == [0]
        with RunStore(tmp_path, PLAN, resume=True) as store:
            store.append(episode(1))
        assert path.read_bytes() == data


def test_damage_in_the_middle_is_an_error_with_its_line(tmp_path):
    path = tmp_path / EPISODES
    with RunStore(tmp_path, PLAN) as store:
        for seed in range(3):
            store.append(episode(seed))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"hello", b"hullo", 1))
    with pytest.raises(StoreError, match="line 1 is damaged"):
        list(read_episodes(tmp_path))
    with pytest.raises(StoreError, match="line 1 is damaged"):
        RunStore(tmp_path, PLAN, resume=True)


def test_a_flipped_byte_is_named_with_file_and_line_wherever_it_stands(tmp_path):
    """Only the file's very last line break can't be told from a line that a crash tore."""
    path = tmp_path / EPISODES
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
        store.append(episode(1))
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for place in range(len(data) - 1):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        line = 1 if place < first else 2
        with pytest.raises(StoreError, match=rf"{EPISODES}: line {line} is damaged"):
            list(read_episodes(tmp_path))
    with pytest.raises(StoreError, match=rf"{EPISODES}: line 2 is damaged"):
        RunStore(tmp_path, PLAN, resume=True)
    assert path.read_bytes() == flipped
    path.write_bytes(data[:-1] + b"\x0b")
    with RunStore(tmp_path, PLAN, resume=True) as store:
        assert len(store.done()) == 1
        store.append(episode(1))
    assert path.read_bytes() == data


def test_a_flipped_byte_in_the_manifest_is_noticed(tmp_path):
    path = tmp_path / MANIFEST
    RunStore(tmp_path, PLAN).close()
    data = path.read_bytes()
    for place in range(len(data) - 1):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 7
        path.write_bytes(flipped)
        with pytest.raises(StoreError, match=MANIFEST):
            read_manifest(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), "half\ud800", object(), {1: 2, "1": 3}])
def test_what_json_cannot_hold_is_a_typed_error_and_nothing_is_written(tmp_path, value):
    with RunStore(tmp_path, PLAN) as store:
        with pytest.raises(StoreError, match="can't be stored"):
            store.append({**episode(0), "text": value})
        store.append(episode(1))
    assert seeds(tmp_path) == [1]


def test_several_episodes_are_written_at_once_or_not_at_all(tmp_path, monkeypatch):
    two = [encode(episode(0)), encode(episode(1))]
    with RunStore(tmp_path, PLAN) as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", _fails_after(os.write, len(two[0].data) + 9, errno.ENOSPC))
            with pytest.raises(StoreFull):
                store.extend(two)
        assert (seeds(tmp_path), store.done()) == ([], frozenset())
        store.extend(two)
    assert seeds(tmp_path) == [0, 1]


def test_an_interrupt_between_two_writes_leaves_no_half_line(tmp_path, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.append(episode(1))
        store.append(episode(2))
    assert seeds(tmp_path) == [0, 2]


def test_what_a_killed_runner_left_beside_the_manifest_is_removed(tmp_path):
    (tmp_path / f".{MANIFEST}.12345.tmp").write_bytes(b'{"form')
    (tmp_path / LOCK).write_bytes(b"12345\n")
    RunStore(tmp_path, PLAN).close()
    assert sorted(p.name for p in tmp_path.iterdir()) == [EPISODES, LOCK, MANIFEST]


def test_a_lock_file_that_holds_something_else_is_not_quoted(tmp_path):
    with RunStore(tmp_path, PLAN):
        (tmp_path / LOCK).write_bytes(b"\x1b[2Jboo")
        with pytest.raises(RunLocked, match=r"\(process \?\)$"):
            RunStore(tmp_path, PLAN, resume=True)


def test_a_second_runner_is_refused_in_this_process_and_in_another(tmp_path):
    code = (
        "import sys; from pathlib import Path; from cirrus_env.runner.store import RunStore\n"
        "from cirrus_env.errors import RunLocked\n"
        "try: RunStore(Path(sys.argv[1]), {}, resume=True)\n"
        "except RunLocked as error: print(error); sys.exit(7)"
    )
    with RunStore(tmp_path, {}):
        with pytest.raises(RunLocked, match=f"process {os.getpid()}"):
            RunStore(tmp_path, {}, resume=True)
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True)
    assert done.returncode == 7, done.stderr
    RunStore(tmp_path, {}, resume=True).close()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EFBIG, errno.EDQUOT])
def test_a_full_disk_is_a_typed_error_and_keeps_what_was_there(tmp_path, monkeypatch, number):
    store = RunStore(tmp_path, PLAN)
    store.append(episode(0))
    write = os.write
    monkeypatch.setattr(os, "write", _fails_after(write, 60, number))
    with pytest.raises(StoreFull, match="what was there is kept"):
        store.append(episode(1))
    monkeypatch.setattr(os, "write", write)
    assert seeds(tmp_path) == [0]
    store.append(episode(2))
    store.close()
    assert seeds(tmp_path) == [0, 2]


def _fails_after(write, room, number):
    left = [room]

    def limited(descriptor, data):
        if not left[0]:
            raise OSError(number, os.strerror(number))
        written = write(descriptor, data[: left[0]])
        left[0] -= written
        return written

    return limited


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_folder_that_takes_no_file_is_a_typed_error_at_every_step_of_opening(
    tmp_path, monkeypatch, number
):
    """As a read-only folder and a full disk fail: at any of the files, and each leaves no lock."""
    opened = os.open
    for files in range(4):
        left = [files]

        def limited(path, flags, *mode, left=left):
            if flags & os.O_CREAT:
                left[0] -= 1
                if left[0] < 0:
                    raise OSError(number, os.strerror(number), str(path))
            return opened(path, flags, *mode)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", limited)
            if files < 3:  # the lock, the manifest, the episodes
                with pytest.raises(StoreFull, match="what was there is kept"):
                    RunStore(tmp_path / "run", PLAN, resume=True)
            else:
                RunStore(tmp_path / "run", PLAN, resume=True).close()
    with RunStore(tmp_path / "run", PLAN, resume=True) as store:
        store.append(episode(0))
    assert seeds(tmp_path / "run") == [0]


def test_a_full_disk_while_the_lock_is_written_lets_the_lock_go(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _fails_after(os.write, 0, errno.ENOSPC))
        with pytest.raises(StoreFull):
            RunStore(tmp_path, PLAN)
    RunStore(tmp_path, PLAN).close()


def test_when_even_the_cut_fails_the_next_runner_mends_it(tmp_path, monkeypatch):
    store = RunStore(tmp_path, PLAN)
    store.append(episode(0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _fails_after(os.write, 60, errno.EIO))
        patch.setattr(os, "ftruncate", _raise_io_error)
        with pytest.raises(StoreError, match="can't be used"):
            store.append(episode(1))
    with pytest.raises(StoreError, match="closed"):
        store.append(episode(1))
    with RunStore(tmp_path, PLAN, resume=True) as again:
        again.append(episode(1))
    assert seeds(tmp_path) == [0, 1]


def _raise_io_error(*_):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "not JSON"), ("[]", "no manifest"), ('{"format": 99}', "no manifest")],
)
def test_a_wrong_manifest_is_a_typed_error(tmp_path, text, problem):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(StoreError, match=problem):
        read_manifest(tmp_path)
    with pytest.raises(StoreError):
        RunStore(tmp_path, PLAN, resume=True)


def test_a_folder_without_a_run_is_a_typed_error(tmp_path):
    with pytest.raises(StoreError, match="holds no run"):
        read_manifest(tmp_path / "missing")
    (tmp_path / EPISODES).write_bytes(b"")
    with pytest.raises(StoreError, match="no manifest"):
        RunStore(tmp_path, PLAN)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be used"):
        RunStore(tmp_path / "file", PLAN)
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(StoreError, match="can't be read"):
        read_manifest(tmp_path)
    (tmp_path / EPISODES).unlink()
    (tmp_path / EPISODES).mkdir()
    with pytest.raises(StoreError, match="can't be read"):
        list(read_episodes(tmp_path))


def test_a_failed_replacement_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "index.json"
    write_whole(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _raise_io_error)
        with pytest.raises(OSError, match="error"):
            write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["index.json"]


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path):
    with RunStore(tmp_path, PLAN) as store:
        store.append(episode(0))
        store.append(episode(1, text="hello" * 20_000))  # more than a buffer
    reading = read_episodes(tmp_path)
    assert next(reading) == episode(0)
    path = tmp_path / EPISODES
    path.write_bytes(path.read_bytes().replace(b"hello", b"hullo"))
    with pytest.raises(StoreError, match="has changed while it was read"):
        list(reading)


def test_no_episodes_yet_is_no_error(tmp_path):
    RunStore(tmp_path, PLAN).close()
    assert seeds(tmp_path) == []


def test_a_lock_that_cannot_be_taken_at_all_is_a_typed_error(tmp_path, monkeypatch):
    import fcntl

    monkeypatch.setattr(fcntl, "flock", _raise_io_error)
    with pytest.raises(StoreError, match="can't be used"):
        RunStore(tmp_path, PLAN)
