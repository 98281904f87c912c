"""``cirrus-env lint``: ticket files checked without running them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.streams import Streams
from cirrus_env.errors import TicketError
from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.index import DATA
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Check ticket files; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("lint")
@click.argument("paths", nargs=-1)
@select.as_json
@click.pass_obj
def _command(streams: Streams, paths: tuple[str, ...], as_json: bool) -> int:
    """Check ticket files: PATHS are files, folders or ids; without any, the bundled tickets.

    Each problem names the file, the place in it and how to mend it. Exits 1 where there is one.
    """
    files = _files(paths)
    problems = [problem for file in files for problem in _problems(file)]
    if as_json:
        streams.json(
            {
                "files": list(map(str, files)),
                "problems": [
                    {"file": p.file, "path": p.path, "problem": p.problem, "mend": p.mend}
                    for p in problems
                ],
            }
        )
    else:
        for problem in problems:
            streams.line(str(problem))
        streams.line(f"{len(files)} files, {len(problems)} problems")
    return FAILED if problems else OK


def _files(paths: Sequence[str]) -> list[Path]:
    files: list[Path] = []
    for path in paths or (str(DATA),):
        if select.is_path(path):
            files += select.ticket_files(Path(path))
        else:
            files += [DATA / ticket.file for ticket in select.tickets([path])]
    return list(dict.fromkeys(files))


def _problems(file: Path) -> Iterator[TicketError]:
    try:
        ticket = load_ticket(file)
    except TicketError as error:
        yield error
        return
    yield from _examples(ticket)


def _examples(ticket: Ticket) -> Iterator[TicketError]:
    """Example replies that are not read as the ticket says, each once over all variants."""
    seen: set[tuple[str, str, str]] = set()
    for variant in ticket.variants:
        for language in ticket.languages:
            scenario = make_scenario(ticket, 0, variant=variant, language=language)
            for found in findings(scenario, Reader(scenario), RuleJudge()):
                if found not in seen:
                    seen.add(found)
                    where = f"{found.where} ({variant}, {language})"
                    mend = "mend the reply or the slot's phrases"
                    yield TicketError(ticket.file, where, f"{found.reply!r} {found.problem}", mend)
