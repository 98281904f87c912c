"""Law R4 for the command line: any arguments give exit 0, 1 or 2 and no traceback."""

from __future__ import annotations

import subprocess
import sys
from unittest import mock

import pytest
from cli_calls import call
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cirrus_env.cli.main import COMMANDS
from cirrus_env.runner.audit import Report

_OPTIONS = (
    "--help", "--json", "--seeds", "--tickets", "--split", "--agent", "--agents", "--out",
    "--force", "--resume", "--seed", "--variant", "--language", "--customer", "--reward",
    "--workers", "--gold", "--judge", "--wrong", "--write", "--every-variant", "--version", "-h",
    "--jobs", "--full", "--", "-", "--=", "--seeds=",
)  # fmt: skip
_VALUES = (
    "0", "0:2", "-1", "1e9", "NaN", "", " ", "*", "[", "ECS-Billing", "Cirrus/ECS-Billing-v0",
    "train", "oracle", "do-nothing", "json:loads", "x.py:Y", ":", "en", "zh", "tooltalk", "run",
    "nul\0", "half\ud83d", "\x1b[2J", "中文", "x" * 300, "{}", "%s%n", "a\nb", "data.toml",
)  # fmt: skip
_TOKENS = st.sampled_from(_OPTIONS) | st.sampled_from(_VALUES) | st.text(
    st.characters(exclude_characters="/."), max_size=12
)  # fmt: skip


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(list(COMMANDS)) | _TOKENS, st.lists(_TOKENS, max_size=6))
@example("import", ["tooltalk", ".", "--out", "o"])
@example("list", ["\0"])
@example("show", ["a" * 4000 + ".toml"])
@example("lint", ["half\ud83d.toml"])
def test_any_arguments_give_an_exit_code_and_no_traceback(tmp_path, monkeypatch, command, rest):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    nothing = Report((), (), ())
    with (
        mock.patch("cirrus_env.cli.run.run_jobs", return_value=[]),
        mock.patch("cirrus_env.cli.compare.run_jobs", return_value=[]),
        mock.patch("cirrus_env.cli.audit.audit", return_value=nothing),
        mock.patch("cirrus_env.cli.audit.measured", return_value={}),
        mock.patch("cirrus_env.cli.audit.write_index"),
        mock.patch("cirrus_env.cli.judge.sets", return_value={}),
    ):
        code, out, err = call(command, *rest)
    assert code in (0, 1, 2)
    assert "Traceback" not in out + err
    assert "please report it" not in err
    assert "\x1b" not in out + err
    if code == 2 and out == "":
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["list", "half\udcff"], ["show", "\x1b[31mred"], ["\udcff"], ["play", "x\n"]]
)
def test_the_program_itself_survives_what_a_shell_can_pass(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "cirrus_env", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"\x1b" not in done.stderr
