"""``cirrus-env export`` for training files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_calls import call

from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import load_ticket

SMALL = load_ticket(Path(__file__).parents[1] / "runner" / "small.toml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    agents = [find_agent(name) for name in ("oracle", "keyword")]
    run_jobs(jobs_for(agents, [SMALL], [1, 2]), folder=folder)
    return folder


def test_sft_writes_the_successes(folder, tmp_path):
    out = tmp_path / "x.jsonl"
    code, said, err = call("export", str(folder), "--format", "sft", "--out", str(out))
    assert (code, err) == (0, "")
    assert said.splitlines()[0] == "oracle: 2 lines"
    assert "of 4 episodes: 0 failed for outside reasons, 2 without success" in said
    assert len(out.read_text().splitlines()) == 2
    args = ("--min-return", "-1", "--per-turn", "--text-arguments", "--json")
    found = call("export", str(folder), "--format", "sft", "--out", str(out), *args).json
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert found["written"] == len(rows) == sum(found["agents"].values())
    texts = [c["function"]["arguments"] for r in rows for c in r["completion"][0].get("tool_calls", ())]  # fmt: skip  # noqa: E501
    assert texts
    assert all(isinstance(text, str) for text in texts)


@pytest.mark.parametrize("form", ["preferences", "regret"])
def test_pairs(folder, tmp_path, form):
    out = tmp_path / "x.jsonl"
    found = call("export", str(folder), "--format", form, "--out", str(out), "--json").json
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert found["written"] == len(rows) > 0
    assert all(row["margin"] > 0 for row in rows)
    more = ("--min-margin", "99")
    code, said, _ = call("export", str(folder), "--format", form, "--out", str(out), *more)
    assert code == 1  # nothing to write
    assert said.startswith("0 lines")


def test_an_option_of_another_format_or_a_target_of_the_wrong_kind_is_refused(folder, tmp_path):
    out = tmp_path / "x.jsonl"
    for form, flag in (("regret", "--per-turn"), ("sft", "--whole"), ("cirrusbench", "--with")):
        more = (flag, str(folder)) if flag == "--with" else (flag,)
        code, _, err = call("export", str(folder), "--format", form, "--out", str(out), *more)
        assert (code, out.exists()) == (2, False)
        assert f"{flag} is no option of the format {form}" in err
    code, _, err = call("export", str(folder), "--format", "sft", "--out", str(tmp_path))
    assert code == 2
    assert "is written to a file" in err
    out.write_text("")
    code, _, err = call("export", str(folder), "--format", "cirrusbench", "--out", str(out))
    assert code == 2
    assert "is written to a folder" in err
