"""``cirrus-env run``: an agent on tickets, every episode kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from cirrus_env.cli import select, tables, turns
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.progress import Meter, progress
from cirrus_env.cli.rewards import read_distractions, read_faults, read_reward
from cirrus_env.cli.streams import Streams
from cirrus_env.engine.modes import NORMAL, SOLO
from cirrus_env.errors import RunError, StoreError
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.compare import compare
from cirrus_env.runner.modes import MODES, SINGLE_TURN, solvable_alone
from cirrus_env.runner.play import Job
from cirrus_env.runner.protocol import protocol as find_protocol
from cirrus_env.runner.rows import Row
from cirrus_env.runner.run import jobs_for, run_jobs


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Run an agent; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("run")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    required=True,
    help="A name, model:NAME[@URL], module:Class or file.py:Class.",
)
@select.patterns
@select.split
@select.seeds("0:5")
@select.languages
@click.option("--every-variant", is_flag=True, help="Each root cause with each seed.")
@select.customer
@select.protocol
@click.option(
    "--faults",
    callback=read_faults,
    help="The cloud's seeded faults: mild, harsh, or rates by kind as JSON.",
)
@click.option(
    "--distractions",
    callback=read_distractions,
    metavar="N|all",
    help="Tools of services that a ticket doesn't need, offered beside its own.",
)
@click.option(
    "--scramble",
    type=int,
    metavar="SEED",
    help="Show the tools under meaningless names; results keep the true ones.",
)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=NORMAL,
    show_default=True,
    help="single-turn: the agent speaks once at every turn of the reference; solo: nobody answers"
    " it; oracle-plan: it is given the reference plan. Never counted in SR.",
)
@click.option(
    "--reward",
    callback=read_reward,
    default="cirrus",
    show_default=True,
    help="A preset's name, or weights as JSON.",
)
@click.option(
    "--jobs",
    "processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes to play in; the results are the same.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Threads to play in, for an agent that waits for a model.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder that keeps the run.",
)
@click.option("--resume", is_flag=True, help="Go on with the run that the folder holds.")
@select.as_json
@click.pass_context
def _command(
    ctx: click.Context,
    agents: tuple[str, ...],
    patterns: tuple[str, ...],
    split: str | None,
    seeds: tuple[int, ...],
    languages: tuple[str, ...],
    every_variant: bool,
    customer: str | None,
    protocol: str | None,
    faults: str | dict[str, Any] | None,
    distractions: int | str | None,
    scramble: int | None,
    mode: str,
    reward: str | dict[str, Any],
    processes: int,
    workers: int,
    out: Path,
    resume: bool,
    as_json: bool,
) -> int:
    """Run agents on tickets and seeds; every episode is on the disk before it is counted.

    Whatever stops the run, the same command with --resume goes on: it plays what is missing, and
    again what failed for outside reasons. Exits 1 where an episode did, or the run was stopped.
    """
    streams: Streams = ctx.obj
    players = [find_agent(name) for name in agents]
    official = None
    if protocol is not None:
        select.check_alone(ctx, *_FIXED)
        fixed = find_protocol(protocol)
        jobs, settings, official = fixed.jobs(players), dict(fixed.settings), fixed.to_json()
    else:
        jobs = jobs_for(
            players,
            select.tickets(patterns, split),
            seeds,
            languages=languages or None,
            every_variant=every_variant,
        )
        given = {
            "customer": customer,
            "faults": faults,
            "distractions": distractions or None,
            "scramble": scramble,
            "mode": None if mode == NORMAL else mode,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        settings = {"reward": reward} | chosen
    left_out: list[Job] = []
    if mode == SOLO:
        jobs, left_out = solvable_alone(jobs)
    with progress(streams, "episodes", len(jobs)) as meter:
        meter.rate = "SR" if mode == NORMAL else mode
        rows = _run(
            streams,
            jobs,
            meter,
            settings=settings,
            protocol=official,
            folder=out,
            resume=resume,
            workers=workers,
            processes=processes,
        )
    if rows is None:
        return FAILED
    if mode == SINGLE_TURN:
        turns.print_turns(streams, rows, as_json=as_json, folder=str(out))
    else:
        result = compare(rows, force=True, protocol=official)
        if as_json:
            streams.json({"folder": str(out), **_left_out(left_out), **result.to_json()})
        else:
            tables.print_comparison(streams, result)
    if not as_json:
        streams.line(f"{len(rows)} episodes kept in {out}")
        if left_out:
            streams.line(f"{len(left_out)} can't be solved without the customer and are left out")
    invalid = [row for row in rows if not row.valid]
    if invalid:
        streams.error(
            f"{len(invalid)} of {len(rows)} episodes are invalid (first: {invalid[0].outcome}, "
            f"{invalid[0].error}); --resume tries them again"
        )
    return FAILED if invalid else OK


_FIXED = (
    "patterns", "split", "seeds", "languages", "every_variant", "customer", "faults",
    "distractions", "scramble", "mode", "reward",
)  # fmt: skip
"""Options that a protocol leaves no choice of."""


def _left_out(jobs: list[Job]) -> dict[str, Any]:
    """The episodes that can't be played in the solo mode, where there are any."""
    return {"left_out": [job.key for job in jobs]} if jobs else {}


def _run(
    streams: Streams, jobs: list[Job], meter: Meter, *, folder: Path, **options: Any
) -> list[Row] | None:
    """The rows; None where the run was stopped on its way, which is then told."""
    try:
        with redirect_stdout(streams.err):  # what an agent prints is no result
            return run_jobs(jobs, folder=folder, on_done=meter, on_kept=meter.kept, **options)
    except KeyboardInterrupt:
        why = "interrupted"
    except (StoreError, RunError) as error:
        if not meter.done:
            raise
        why = str(error)
    streams.error(
        f"cirrus-env run: {why}; {meter.done} of {len(jobs)} episodes are kept in {folder}: "
        "the same command with --resume goes on"
    )
    return None
