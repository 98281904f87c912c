"""Running a click command with given streams: an exit code comes back, nothing escapes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import redirect_stdout

import click

from cirrus_env.cli.streams import Streams, leave_pipe
from cirrus_env.errors import CirrusError

OK = 0
FAILED = 1
BAD_INPUT = 2


def execute(command: click.Command, arguments: Sequence[str], streams: Streams) -> int:
    """Run a command.

    Args:
        command: Its callback takes the streams as its object and returns an exit code.
        arguments: What follows the command's name.
        streams: Where it reads and writes.

    Returns:
        0 when all went well, 1 when the command found a failure, 2 for bad input.
    """
    name = f"cirrus-env {command.name}"
    for argument in arguments:
        if not _passable(argument):
            streams.error(f"{name}: {argument[:80]!r} can't be an argument")
            return BAD_INPUT
    try:
        with redirect_stdout(streams.out):  # click writes help to standard output
            code = command.main(list(arguments), name, standalone_mode=False, obj=streams)
        streams.out.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        streams.error(f"{name}: interrupted")
        return FAILED
    except click.ClickException as error:
        streams.error(f"{name}: {error.format_message()} Try '{name} --help'.")
        return BAD_INPUT
    except CirrusError as error:
        streams.error(f"{name}: {error}")
        return BAD_INPUT
    except BrokenPipeError:
        return leave_pipe(streams)
    except Exception as error:
        if os.environ.get("CIRRUS_ENV_TRACEBACK"):
            raise
        streams.error(
            f"{name}: a fault of this package, please report it: {type(error).__name__}: {error} "
            "(CIRRUS_ENV_TRACEBACK=1 shows where)"
        )
        return FAILED
    return code if isinstance(code, int) else OK


def _passable(argument: str) -> bool:
    """Whether an argument could have come from a shell, and so may name a file."""
    try:
        return b"\0" not in os.fsencode(argument)
    except UnicodeEncodeError:
        return False
