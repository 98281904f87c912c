"""``cirrus-env rescore``: a stored run scored again, without playing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from cirrus_env.cli import select, tables
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.progress import progress
from cirrus_env.cli.rewards import read_reward
from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.runner.compare import compare
from cirrus_env.runner.rescore import Rescored, rescore_run
from cirrus_env.runner.stored import StoredRun

SHOWN: Final = 10
"""Differences that are printed."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Rescore a run; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("rescore")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--reward",
    callback=read_reward,
    help="Another reward: a preset's name, or weights as JSON. By default the run's own.",
)
@select.as_json
@click.pass_obj
def _command(
    streams: Streams, folder: Path, reward: str | dict[str, Any] | None, as_json: bool
) -> int:
    """Score the run in FOLDER again from its records; nothing is played and nothing is changed.

    Every metric, and under the run's own reward every step's reward, must be exactly what is
    stored: exits 1 where one is not.
    """
    stored = StoredRun(folder)
    found: list[Rescored] = []
    with progress(streams, "episodes", len(stored)) as meter:
        for each in rescore_run(stored, reward):
            found.append(each)
            meter(each.row)
    other = [each for each in found if each.differences]
    result = compare([each.row for each in found], force=True)
    if as_json:
        streams.json(
            {
                "folder": str(folder),
                "reward": reward,
                "episodes": len(found),
                "missing": stored.missing,
                "different": {each.number: list(each.differences) for each in other},
                **result.to_json(),
            }
        )
    else:
        tables.print_comparison(streams, result)
        missing = f"; {stored.missing} are missing" if stored.missing else ""
        streams.line(
            f"{tables.counted(len(found), 'episode')} scored again{missing}: "
            f"{len(found) - len(other)} as stored"
        )
        for each in other[:SHOWN]:
            name = f"episode {each.number} ({each.row.agent} on {each.row.ticket})"
            streams.line(one_line(f"{name}: {each.differences[0]}"))
        if len(other) > SHOWN:
            streams.line(f"... and {len(other) - SHOWN} more; --json names all")
    return FAILED if other else OK
