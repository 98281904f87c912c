"""``cirrus-env compare``: agents on the same tickets and seeds, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from cirrus_env.cli import select, tables, turns
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.progress import progress
from cirrus_env.cli.streams import Streams
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.breakdown import KINDS
from cirrus_env.runner.compare import common_protocol, compare
from cirrus_env.runner.modes import SINGLE_TURN
from cirrus_env.runner.protocol import protocol as find_protocol
from cirrus_env.runner.rows import Row
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import MANIFEST, read_episodes, read_manifest

DEFAULT = ("oracle", "keyword", "random", "do-nothing")


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Compare agents; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("compare")
@click.argument("agents", nargs=-1)
@select.patterns
@select.split
@select.seeds("0:5")
@select.languages
@select.protocol
@click.option(
    "--by",
    default="",
    metavar="KINDS",
    help=f"Also success by kinds of ticket, such as service,ending; of {', '.join(KINDS)}.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Also with more than 2 % invalid episodes, or where digests or modes differ.",
)
@select.workers
@select.as_json
@click.pass_context
def _command(
    ctx: click.Context,
    agents: tuple[str, ...],
    patterns: tuple[str, ...],
    split: str | None,
    seeds: tuple[int, ...],
    languages: tuple[str, ...],
    protocol: str | None,
    by: str,
    force: bool,
    workers: int,
    as_json: bool,
) -> int:
    """Compare AGENTS on the same tickets, causes and seeds.

    An agent is a name, module:Class or file.py:Class.

    Without names: oracle, keyword, random and do-nothing, on every ticket. Needs no key and no
    network. Folders of stored runs may stand for agents: then nothing is played.
    """
    streams: Streams = ctx.obj
    official = None
    folders = [Path(name) for name in agents if (Path(name) / MANIFEST).is_file()]
    if protocol is not None:
        if folders:
            raise click.UsageError("stored runs say themselves which protocol they follow")
        select.check_alone(ctx, "patterns", "split", "seeds", "languages")
    if folders and len(folders) < len(agents):
        raise click.UsageError("give folders of runs or agents to play, not both")
    if folders:
        official = common_protocol(map(read_manifest, folders), force=force)
        rows = [Row.from_episode(e) for folder in folders for e in read_episodes(folder)]
    else:
        players = [find_agent(name) for name in agents or DEFAULT]
        settings: Mapping[str, Any] = {}
        if protocol is not None:
            fixed = find_protocol(protocol)
            jobs, settings, official = fixed.jobs(players), fixed.settings, fixed.to_json()
        else:
            jobs = jobs_for(
                players,
                select.tickets(patterns, split),
                seeds,
                languages=languages or None,
                every_variant=True,
            )
        with progress(streams, "episodes", len(jobs)) as advance:
            rows = run_jobs(jobs, settings=settings, workers=workers, on_done=lambda _: advance())
    if rows and all(row.mode == SINGLE_TURN for row in rows):
        turns.print_turns(streams, rows, as_json=as_json)
        return OK
    kinds = [name.strip() for name in by.split(",") if name]
    result = compare(rows, force=force, by=kinds, protocol=official)
    if as_json:
        streams.json(result.to_json())
    else:
        tables.print_comparison(streams, result)
    return OK
