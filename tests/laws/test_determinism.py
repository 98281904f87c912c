"""Law R1: the same ticket, seed and actions give the same bytes, anywhere.

``python tests/laws/law_digests.py > tests/laws/golden.json`` rewrites the golden file; a change
there means a new version of the ticket.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from law_digests import digests

HERE = Path(__file__).resolve().parent
GOLDEN = json.loads((HERE / "golden.json").read_text())


@pytest.fixture(scope="module")
def here():
    return digests()


def test_the_golden_digests_hold(here):
    assert {name: here[name] for name in GOLDEN} == GOLDEN
    assert sorted(here) == sorted(GOLDEN)


def test_every_scenario_reads_differently(here):
    assert len(set(here.values())) == len(here)


@pytest.mark.parametrize(
    ("flags", "setting"),
    [
        ((), {"PYTHONHASHSEED": "0"}),
        ((), {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai", "LANG": "C", "LC_ALL": "C"}),
        (("-O",), {"PYTHONHASHSEED": "2", "TZ": "UTC", "LANG": "C.UTF-8"}),
        ((), {"PYTHONHASHSEED": "random", "TZ": "America/St_Johns"}),
    ],
)
def test_a_fresh_process_gives_the_same_bytes(flags, setting, tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "COV"))}
    run = subprocess.run(
        [sys.executable, *flags, str(HERE / "law_digests.py")],
        env={**environment, **setting},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert json.loads(run.stdout) == GOLDEN
