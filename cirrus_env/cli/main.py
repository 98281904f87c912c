"""``cirrus-env``: looks a command up and runs it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module

from cirrus_env._version import __version__
from cirrus_env.cli.streams import Streams, leave_pipe, one_line

COMMANDS = {
    "list": ("cirrus_env.cli.list", "the tickets and what each one is"),
    "show": ("cirrus_env.cli.show", "one ticket: what it asks, offers and checks"),
    "play": ("cirrus_env.cli.play", "take the assistant's seat yourself"),
    "run": ("cirrus_env.cli.run", "run an agent on tickets and keep every episode"),
    "rescore": ("cirrus_env.cli.rescore", "score a stored run again, without playing it"),
    "explain": ("cirrus_env.cli.explain", "why a stored episode came out as it did"),
    "regret": ("cirrus_env.cli.regret", "what each action of a stored episode lost"),
    "compare": ("cirrus_env.cli.compare", "compare agents on the same tickets and seeds"),
    "lint": ("cirrus_env.cli.lint", "check ticket files without running them"),
    "audit": ("cirrus_env.cli.audit", "prove tickets by running episodes"),
    "judge": ("cirrus_env.cli.judge", "the judge's agreement with labelled pairs"),
    "import": ("cirrus_env.cli.import_", "turn recorded conversations into tickets"),
    "export": ("cirrus_env.cli.export", "write a run in the layout of another program"),
}
"""Command -> its module, which has ``run(arguments, streams) -> exit code``, and one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What follows the program's name; the process's own if None.

    Returns:
        The exit code: 0, 1 or 2.
    """
    streams = Streams.standard()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments, streams)
        streams.out.flush()
    except BrokenPipeError:
        return leave_pipe(streams)
    return code


def run(arguments: Sequence[str], streams: Streams) -> int:
    """As ``main``, with given streams."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        streams.line(overview())
        return 0 if arguments else 2
    name, *rest = arguments
    if name == "--version":
        streams.line(f"cirrus-env {__version__}")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"commands: {', '.join(COMMANDS)}"
        streams.error(f"cirrus-env: there is no command '{one_line(name)[:80]}'; {hint}")
        return 2
    code: int = import_module(COMMANDS[name][0]).run(rest, streams)
    return code


def overview() -> str:
    """The help of the whole program."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(
        [
            "cirrus-env: cloud-support tickets as reinforcement-learning environments",
            "",
            "Usage: cirrus-env COMMAND [ARGUMENTS]",
            "",
            *rows,
            "",
            "'cirrus-env COMMAND --help' says more; '--version' prints the version.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
