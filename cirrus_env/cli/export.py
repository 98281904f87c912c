"""``cirrus-env export``: a run in the layout of another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.import_ import bar, formats
from cirrus_env.cli.streams import Streams, one_line

EXPORTERS = {
    "cirrusbench": (
        "cirrus_env.adapters.cirrusbench_export:export_cirrusbench",
        "one result file an episode, as its published analysis code reads them",
    ),
}
"""Format -> ``module:function`` and one line; the function takes the run's folder, the target,
tickets and a progress, and gives a report with ``to_json()``."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Export a run; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("export", epilog=formats(EXPORTERS))
@click.argument(
    "folder", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--format", "form", type=click.Choice(sorted(EXPORTERS)), required=True)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder for the exported files.",
)
@click.option(
    "--tickets", "paths", multiple=True, type=click.Path(exists=True),
    help="Ticket files that don't ship with the package: a file or a folder.",
)  # fmt: skip
@select.as_json
@click.pass_obj
def _command(
    streams: Streams, folder: Path, form: str, out: Path, paths: tuple[str, ...], as_json: bool
) -> int:
    """Write the episodes of the run kept in RUN as files of another program."""
    module, _, name = EXPORTERS[form][0].partition(":")
    exporter = getattr(import_module(module), name)
    tickets = select.tickets(paths) if paths else []
    with bar(streams, "episodes") as told:
        facts = exporter(folder, out, tickets, told).to_json()
    if as_json:
        streams.json(facts)
    else:
        _print(streams, facts)
    return OK if facts["written"] else FAILED


def _print(streams: Streams, facts: Mapping[str, Any]) -> None:
    for each in facts["left_out"]:
        streams.line(f"left out: {one_line(each['episode'])}: {one_line(each['why'])}")
    for agent, count in facts["agents"].items():
        streams.line(f"{one_line(agent)}: {count} episodes")
    streams.line(
        f"{facts['written']} episodes in {facts['folder']}, {facts['invalid']} of them failed for"
        f" outside reasons; {len(facts['left_out'])} left out"
    )
