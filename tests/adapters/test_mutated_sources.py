"""Mutated foreign files: a report or an ``ImportFormatError`` comes out, and nothing else."""

import copy
import json
import random
import re
from pathlib import Path

import pytest
from adapter_cases import HERE, call, close, entries, episode
from test_taubench import TRAJECTORIES
from test_tooltalk import CHAT, DATABASES, DAY, LAMP

from cirrus_env.adapters.cirrusbench import import_cirrusbench
from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.adapters.taubench import import_taubench
from cirrus_env.adapters.tooltalk import import_tooltalk
from cirrus_env.errors import ImportFormatError

DEEP = "[" * 70 + "]" * 70
ODD = (
    None, True, 0, -1, 1.5, 2**80, "", " ", "x", "\x00", "\ud800", "\u202e{now}{", "../../x",
    "/etc/passwd", "-", "a" * 25_000, "{'", "é" * 40, [], {}, [[]], {"": ""}, [None], [1, "a"],
    json.loads(DEEP), "会话", "error: no", "2024-13-45 99:99:99",
)  # fmt: skip


def rows(name):
    return [json.loads(line) for line in (HERE / "cirrusbench" / name).read_text().splitlines()]


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def mutated(value, chance):
    """The value with one to three changes."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(list(places(value)))
        if not path:
            if chance.random() < 0.05:
                return chance.choice(ODD)
            continue
        parent = value
        for step in path[:-1]:
            parent = parent[step]
        key, kind = path[-1], chance.random()
        if kind < 0.25:
            del parent[key]
        elif kind < 0.4 and isinstance(parent, list):
            parent.insert(chance.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
        elif kind < 0.5 and isinstance(parent, dict):
            parent[chance.choice(("", "x" * 300, "\x07", "é", "a.b", str(key) + "?"))] = parent.pop(
                key
            )
        else:
            parent[key] = copy.deepcopy(chance.choice(ODD))
    return value


def text_of(value, chance):
    text = json.dumps(value)
    if chance.random() < 0.1:
        cut = chance.randrange(len(text) + 1)
        text = text[:cut] + chance.choice(("", "\x00", '"', "}", "\n", ",")) + text[cut + 1 :]
    return text


def tooltalk(folder, chance):
    (folder / "databases").mkdir()
    for name, value in (("Lamp-1", LAMP), ("Day-1", DAY), ("Chat-1", CHAT)):
        (folder / f"{name}.json").write_text(text_of(mutated(value, chance), chance))
    for name, value in DATABASES.items():
        changed = mutated(value, chance) if chance.random() < 0.5 else value
        (folder / "databases" / f"{name}.json").write_text(text_of(changed, chance))
    return import_tooltalk


def cirrusbench(folder, chance):
    for name in ("en_tasks_with_tool.jsonl", "en_tasks_without_tool.jsonl", "tool_schema.jsonl"):
        lines = [text_of(mutated(row, chance), chance) for row in rows(name)]
        (folder / name).write_text("\n".join(lines))
    (folder / "references_w-001.json").write_text(text_of(mutated([{"a": ["b"]}], chance), chance))
    return import_cirrusbench


def openai(folder, chance):
    records = rows("en_tasks_with_tool.jsonl") + rows("en_tasks_without_tool.jsonl")
    tools = rows("tool_schema.jsonl")
    lines = [text_of(mutated({**row, "tools": tools}, chance), chance) for row in records]
    (folder / "chat.jsonl").write_text("\n".join(lines))
    return import_openai


def taubench(folder, chance):
    (folder / "runs.json").write_text(text_of(mutated(TRAJECTORIES, chance), chance))
    return import_taubench


SOURCES = (tooltalk, cirrusbench, openai, taubench)


def check(prepare, tmp_path, seed):
    """Import one mutated source; what was written must play."""
    chance = random.Random(f"{prepare.__name__}:{seed}")
    folder, out = tmp_path / f"in{seed}", tmp_path / f"out{seed}"
    folder.mkdir()
    importer = prepare(folder, chance)
    try:
        report = importer(folder, out)
    except ImportFormatError:
        return 0
    json.dumps(report.to_json())
    written = [entry for entry in entries(report).values() if entry["ticket"]]
    for entry in report.to_json()["files"]:
        assert bool(entry["ticket"]) != bool(entry["why"]) or not entry["scored"]
        assert re.fullmatch(r"(Imported/[A-Za-z][A-Za-z0-9-]*-v0)?", entry["ticket"])
    assert {Path(entry["path"]).parent for entry in written} <= {out}
    assert sorted(p.name for p in out.iterdir()) == sorted(Path(e["path"]).name for e in written)
    for entry in written[:2]:
        running = episode(entry)
        names = running.tool_names
        for action in (call(names[0]) if names else "Hm.", "What is it?", close()):
            if running.outcome is None:
                running.step(action)
        assert running.outcome is not None
        assert running.outcome.success is not True
    return len(written)


@pytest.mark.parametrize("prepare", SOURCES)
def test_mutated_files_give_a_report_and_tickets_that_play(prepare, tmp_path):
    assert sum(check(prepare, tmp_path, seed) for seed in range(12)) > 5


@pytest.mark.long
@pytest.mark.parametrize("prepare", SOURCES)
def test_many_mutated_files(prepare, tmp_path):
    assert sum(check(prepare, tmp_path, seed) for seed in range(12, 1500)) > 700


def told(importer, source, out):
    """The report, or an empty one where the source as a whole was refused."""
    try:
        return importer(source, out).to_json()
    except ImportFormatError:
        return {"written": 0, "files": []}


@pytest.mark.parametrize(
    "importer", [import_tooltalk, import_cirrusbench, import_openai, import_taubench]
)
@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\xff\xfe", b"{}", b"[]", b"null", b"[" * 5000, b'"' * 9]
)
def test_a_file_of_nothing_is_told(importer, data, tmp_path):
    for suffix in (".json", ".jsonl"):
        source = tmp_path / f"odd{suffix}"
        source.write_bytes(data)
        facts = told(importer, source, tmp_path / "out")
        assert facts["written"] == 0
        assert all(entry["why"] for entry in facts["files"])


@pytest.mark.parametrize(
    "importer", [import_tooltalk, import_cirrusbench, import_openai, import_taubench]
)
def test_a_file_that_cannot_be_read_is_told(importer, tmp_path):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(ImportFormatError):
        importer(tmp_path, tmp_path / "out")
    facts = importer(tmp_path / "missing.jsonl", tmp_path / "out").to_json()
    assert (facts["written"], facts["failed"]) == (0, 1)
