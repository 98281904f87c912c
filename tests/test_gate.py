"""The coverage law's own script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_coverage.py"


def check(tmp_path, files: dict[str, dict], total: float) -> tuple[int, str]:
    for file in files.values():
        file.setdefault("missing_lines", [])
        file.setdefault("missing_branches", [])
        file["summary"] = {"percent_covered": 90.0}
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"files": files, "totals": {"percent_covered": total}}))
    done = subprocess.run([sys.executable, SCRIPT, report], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_all_covered_is_fine(tmp_path):
    code, out = check(tmp_path, {"cirrus_env/engine/a.py": {}, "cirrus_env/nlu/b.py": {}}, 95.1)
    assert code == 0
    assert "every branch" in out


def test_a_missing_branch_of_the_core_is_named(tmp_path):
    files = {
        "cirrus_env/engine/a.py": {"missing_branches": [[7, 9], [12, -1]]},
        "cirrus_env/judging/b.py": {"missing_lines": [3]},
        "cirrus_env/cloud/ledger.py": {},
        "cirrus_env/cloud/kernel.py": {"missing_lines": [5]},
    }
    code, out = check(tmp_path, files, 99.0)
    assert code == 1
    assert "cirrus_env/engine/a.py:7: never went on to line 9" in out
    assert "cirrus_env/engine/a.py:12: never went on to the end" in out
    assert "cirrus_env/judging/b.py:3: never run" in out
    assert "kernel" not in out


def test_too_little_over_all_names_the_least_covered(tmp_path):
    code, out = check(tmp_path, {"cirrus_env/nlu/b.py": {}}, 94.9)
    assert code == 1
    assert "below 95 %" in out
    assert "90.0 % cirrus_env/nlu/b.py" in out
