"""``cirrus-env audit``: tickets proved by running episodes."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.progress import progress
from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.audit import Report, audit, cases_of, measured, with_constants
from cirrus_env.tickets.index import write_index
from cirrus_env.tickets.ticket import Ticket


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Audit tickets; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("audit")
@click.argument("patterns", nargs=-1)
@select.split
@select.seeds("0:3")
@select.languages
@click.option("--agents", multiple=True, help="Also module:Class, which must not succeed.")
@click.option("--write", is_flag=True, help="First measure the constants and store them.")
@select.as_json
@click.pass_obj
def _command(
    streams: Streams,
    patterns: tuple[str, ...],
    split: str | None,
    seeds: tuple[int, ...],
    languages: tuple[str, ...],
    agents: tuple[str, ...],
    write: bool,
    as_json: bool,
) -> int:
    """Prove tickets: every variant in every language with several seeds.

    The oracles succeed; changed oracles, trivial agents and near-misses do not; nothing is free and
    nothing leaks. Exits 1 where anything fails.
    """
    outside = [find_agent(name) for name in agents]
    tickets = select.tickets(patterns, split)
    tickets = _with_constants(streams, tickets, write=write)
    cases = list(cases_of(tickets, seeds, languages or None))
    with progress(streams, "scenarios", len(cases)) as advance:
        report = audit(cases, outside=outside, on_done=lambda _: advance())
    if as_json:
        streams.json(report.to_json())
    else:
        _print(streams, report)
    return OK if report.passed else FAILED


def _with_constants(streams: Streams, tickets: list[Ticket], *, write: bool) -> list[Ticket]:
    """Measure what needs it: tickets from outside always, bundled ones to store it."""
    todo = [ticket for ticket in tickets if write or not ticket.bundled]
    new = {}
    with progress(streams, "constants", len(todo)) as advance:
        for ticket in todo:
            new[ticket.digest] = measured(ticket)
            advance()
    if write:
        write_index({t.id: new[t.digest] for t in tickets if t.bundled})
    return [with_constants(t, new[t.digest]) if t.digest in new else t for t in tickets]


def _print(streams: Streams, report: Report) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("ticket", "variant", "language", "seeds", *report.checks):
        table.add_column(title, no_wrap=title == "ticket")
    groups: dict[tuple[str, str, str], list[str]] = {}
    for case in report.cases:
        groups.setdefault((case.ticket.env_id, case.variant, case.language), []).append(case.label)
    for group, labels in groups.items():
        cells = []
        for check in report.checks:
            wrong = sum(f.check == check and f.where in labels for f in report.findings)
            cells.append(f"{wrong} wrong" if wrong else "ok")
        table.add_row(*group, str(len(labels)), *cells)
    streams.table(table)
    for finding in report.findings:
        streams.line(one_line(f"{finding.check}: {finding.where}: {finding.problem}"))
    verdict = "all proved" if report.passed else f"{len(report.findings)} findings"
    streams.line(f"{len(report.cases)} scenarios: {verdict}")
