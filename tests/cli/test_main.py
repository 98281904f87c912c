from __future__ import annotations

import io
import subprocess
import sys

import click
import pytest
from cli_calls import call

from cirrus_env.cli.command import execute
from cirrus_env.cli.main import COMMANDS, main
from cirrus_env.cli.streams import Streams
from cirrus_env.errors import OptionError


def test_help_names_every_command():
    code, out, err = call("--help")
    assert (code, err) == (0, "")
    assert all(f"  {name} " in out for name in COMMANDS)


def test_no_arguments_is_bad_input_with_the_overview():
    code, out, _ = call()
    assert code == 2
    assert "Usage: cirrus-env COMMAND" in out


def test_version():
    assert call("--version")[:2] == (0, "cirrus-env 0.1.0\n")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("lst", "'list'?"), ("comapre", "'compare'?"), ("\x1b[2J\n", "commands: list")],
)
def test_an_unknown_command_is_one_line_with_a_hint(name, hint):
    code, out, err = call(name)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert hint in err
    assert "\x1b" not in err


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(name):
    code, out, err = call(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: cirrus-env {name}")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_refuses_an_unknown_option_in_one_line(name):
    code, out, err = call(name, "--jsn")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "--jsn" in err


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "cirrus_env", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "cirrus-env 0.1.0\n", "")


def test_a_closed_pipe_is_no_traceback():
    code = "import sys; from cirrus_env.cli.main import main; sys.exit(main(['list']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert error == b""


def raising(error: BaseException) -> tuple[int, str, str]:
    @click.command("demo")
    def command() -> None:
        raise error

    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = execute(command, [], streams)
    return code, streams.out.getvalue(), streams.err.getvalue()


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (OptionError("no such thing\nhere"), 2, "cirrus-env demo: no such thing here\n"),
        (KeyboardInterrupt(), 1, "cirrus-env demo: interrupted\n"),
        (BrokenPipeError(), 1, ""),
        (click.exceptions.Exit(0), 0, ""),
    ],
)
def test_what_a_command_raises_becomes_an_exit_code(error, code, text):
    assert raising(error) == (code, "", text)


def test_a_fault_of_the_package_is_one_line_unless_a_traceback_is_asked_for(monkeypatch):
    code, _, err = raising(ZeroDivisionError("x"))
    assert code == 1
    assert "please report it: ZeroDivisionError: x" in err
    monkeypatch.setenv("CIRRUS_ENV_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError("x"))


def test_a_reader_that_leaves_during_the_overview_is_no_traceback(monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(["--version"]) == 1


def test_main_uses_the_processs_arguments_and_streams(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cirrus-env", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == "cirrus-env 0.1.0\n"
