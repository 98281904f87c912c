"""``cirrus-env run``: an agent on tickets, every episode kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cirrus_env.cli import select, tables
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.progress import progress
from cirrus_env.cli.streams import Streams
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.compare import compare
from cirrus_env.runner.run import jobs_for, run_jobs


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Run an agent; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("run")
@click.option("--agent", "agents", multiple=True, required=True, help="A name or module:Class.")
@select.patterns
@select.split
@select.seeds("0:5")
@select.languages
@click.option("--every-variant", is_flag=True, help="Each root cause with each seed.")
@select.customer
@click.option("--reward", default="cirrus", show_default=True, help="A preset's name.")
@select.workers
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder that keeps the run.",
)
@click.option("--resume", is_flag=True, help="Go on with the run that the folder holds.")
@select.as_json
@click.pass_obj
def _command(
    streams: Streams,
    agents: tuple[str, ...],
    patterns: tuple[str, ...],
    split: str | None,
    seeds: tuple[int, ...],
    languages: tuple[str, ...],
    every_variant: bool,
    customer: str | None,
    reward: str,
    workers: int,
    out: Path,
    resume: bool,
    as_json: bool,
) -> int:
    """Run agents on tickets and seeds; every episode is on the disk before the next result."""
    jobs = jobs_for(
        [find_agent(name) for name in agents],
        select.tickets(patterns, split),
        seeds,
        languages=languages or None,
        every_variant=every_variant,
    )
    with progress(streams, "episodes", len(jobs)) as advance:
        rows = run_jobs(
            jobs,
            settings={"reward": reward} | ({"customer": customer} if customer else {}),
            folder=out,
            resume=resume,
            workers=workers,
            on_done=lambda _: advance(),
        )
    result = compare(rows, force=True)
    if as_json:
        streams.json({"folder": str(out), **result.to_json()})
    else:
        tables.print_comparison(streams, result)
        streams.line(f"{len(rows)} episodes kept in {out}")
    invalid = [row for row in rows if not row.valid]
    if invalid:
        streams.error(
            f"{len(invalid)} of {len(rows)} episodes are invalid (first: {invalid[0].outcome}, "
            f"{invalid[0].error}); --resume tries them again"
        )
    return FAILED if invalid else OK
