"""``cirrus-env list``: the tickets and what each one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.streams import Streams, printable


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Print the tickets; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("list")
@click.argument("patterns", nargs=-1)
@select.split
@select.as_json
@click.pass_obj
def _command(streams: Streams, patterns: tuple[str, ...], split: str | None, as_json: bool) -> int:
    """List the tickets, or those whose id fits a pattern such as 'ECS-*'."""
    rows = select.rows(patterns, split)
    if as_json:
        streams.json([_facts(row) for row in rows])
    else:
        _table(streams, rows)
    return OK


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "constants"}


def _table(streams: Streams, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "split", "tools", "languages", "variants", "endings", "title"):
        table.add_column(title, no_wrap=title == "id")
    for row in rows:
        table.add_row(
            row["env_id"],
            row["split"],
            "yes" if row["tools"] else "no",
            " ".join(row["languages"]),
            str(len(row["variants"])),
            " ".join(dict.fromkeys(row["endings"].values())),
            printable(row["title"]),
        )
    streams.table(table)
