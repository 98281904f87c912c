"""``cirrus-env judge``: how the judge agrees with labelled replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.judging.pairs import DEV, Agreement, Share, agreement, sets

LEAST: Final = 0.95
"""Agreement that the development set must reach."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Measure the judge; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("judge")
@click.option("--judge", "name", default="rule", show_default=True, help="Which judge.")
@click.option("--wrong", is_flag=True, help="Also print the replies that it got wrong.")
@select.as_json
@click.pass_obj
def _command(streams: Streams, name: str, wrong: bool, as_json: bool) -> int:
    """Print the judge's agreement with the labelled sets.

    The judge may be tuned on the development set; the held-out set was written without having read
    it and is only reported. Exits 1 where the development set's agreement is below 95 % or an
    adversarial reply of it is accepted.
    """
    found = {each: agreement(pairs, name) for each, pairs in sets().items()}
    if as_json:
        streams.json({each: result.to_json() for each, result in found.items()})
    else:
        _print(streams, found)
        if wrong:
            _print_wrong(streams, found)
    built_on = found.get(DEV.name)
    good = built_on is None or (
        built_on.overall.hits >= LEAST * built_on.overall.n and not built_on.false_accepts
    )
    return OK if good else FAILED


def _print(streams: Streams, found: Mapping[str, Agreement]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("pairs")
    for name in found:
        table.add_column(name, justify="right")
    kinds = dict.fromkeys(kind for each in found.values() for kind in each.by_kind)
    languages = dict.fromkeys(name for each in found.values() for name in each.by_language)
    table.add_row("all", *(_cell(each.overall) for each in found.values()), style="bold")
    for kind in kinds:
        cells = (_cell(each.by_kind.get(kind)) for each in found.values())
        table.add_row(kind.replace("_", " "), *cells)
    for language in languages:
        table.add_row(language, *(_cell(each.by_language.get(language)) for each in found.values()))
    table.add_row("false accepts", *(str(len(each.false_accepts)) for each in found.values()))
    streams.table(table)


def _cell(share: Share | None) -> str:
    if share is None:
        return "-"
    rate = 100 * share.hits / share.n if share.n else 0
    return f"{share.hits}/{share.n} = {rate:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def _print_wrong(streams: Streams, found: Mapping[str, Agreement]) -> None:
    for each, result in found.items():
        for verdict in result.disagreements:
            pair = verdict.pair
            said = "accepted" if verdict.accepted else "rejected"
            streams.line(one_line(f"{each} {pair.where} {pair.kind} {said}: {verdict.text}"))
