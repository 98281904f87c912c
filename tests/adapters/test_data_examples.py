"""Examples that need no trainer run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_branching_finds_where_members_lost_and_a_search_that_succeeds():
    printed = run("branching.py", "--ticket", "VPC-Eip", "--seed", "1", "--group", "3")
    members = re.findall(r"^ +(\w+) +return +(-?[\d.]+)", printed, re.M)
    assert [name for name, _ in members] == ["oracle", "keyword", "random"]
    assert float(members[0][1]) > 0.8 > float(members[1][1])
    assert printed.count("lost at step") == 2
    assert "outcome success" in printed


def test_finetuning_data_writes_every_file(tmp_path):
    printed = run("finetuning_data.py", "--seeds", "2", "--out", str(tmp_path))
    for name in ("sft", "sft-turns", "pairs", "regret", "forks"):
        lines = (tmp_path / f"{name}.jsonl").read_text("utf-8").splitlines()
        assert f"{name}.jsonl: {len(lines)} lines" in printed
        assert lines
        wanted = {"sft": "mask", "sft-turns": "completion"}.get(name, "margin")
        assert all(wanted in json.loads(line) for line in lines)
