"""``cirrus-env import``: recorded conversations become tickets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.streams import Streams, one_line

IMPORTERS = {"tooltalk": "cirrus_env.adapters.tooltalk:import_tooltalk"}
"""Format -> ``module:function``; ``function(source, out)`` gives a report with ``to_json()``."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Import conversations; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(sorted(IMPORTERS)))
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder for the ticket files.",
)
@select.as_json
@click.pass_obj
def _command(streams: Streams, form: str, source: Path, out: Path, as_json: bool) -> int:
    """Turn recorded conversations in SOURCE (a file or a folder) into ticket files."""
    module, _, name = IMPORTERS[form].partition(":")
    report = getattr(import_module(module), name)(source, out)
    facts = report.to_json()
    if as_json:
        streams.json(facts)
    else:
        _print(streams, facts)
    return OK if facts["written"] else FAILED


def _print(streams: Streams, facts: Mapping[str, Any]) -> None:
    for file in facts["files"]:
        result = file["ticket"] or "nothing written"
        if file["ticket"] and not file["scored"]:
            result += ", unscored"
        streams.line(f"{file['source']}: {result}")
        for dropped in file["dropped"]:
            streams.line(f"  dropped: {one_line(dropped)}")
    streams.line(
        f"{facts['written']} tickets written, {facts['unscored']} of them unscored; "
        f"{facts['failed']} files failed"
    )
