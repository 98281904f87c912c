"""Options that several commands share: which tickets, which seeds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from cirrus_env.errors import OptionError, StoreError, TicketError, UnknownTicket
from cirrus_env.runner.protocol import PROTOCOLS
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.tickets.ticket import Ticket

F = TypeVar("F", bound=Callable[..., Any])

MOST_SEEDS: Final = 1_000_000
_PART = re.compile(r"(\d{1,18})(?::(\d{1,18}))?", re.ASCII)

customer = click.option(
    "--customer",
    help="Who answers: simulated, replay, replay+simulated, or model:NAME[@URL], whose words a"
    " model finds; by default replay on an imported ticket and simulated on others.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
protocol = click.option(
    "--protocol",
    type=click.Choice(sorted(PROTOCOLS)),
    help="An official protocol: it alone says tickets, seeds, languages, customer and limits.",
)
split = click.option("--split", type=click.Choice(["train", "test"]), help="Only this split.")


def read_seeds(ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, ...]:
    """Seeds such as ``7``, ``0:5`` (0 to 4) or ``1,4,10:12``, each once.

    Raises:
        click.BadParameter: If the text is something else, or names too many.
    """
    found: dict[int, None] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise click.BadParameter(
                f"{part[:40]!r} is no seed: write 7, 0:5 or 1,4,10:12", ctx, param
            )
        first = int(match[1])
        end = int(match[2]) if match[2] else first + 1
        if end <= first:
            raise click.BadParameter(
                f"{part[:40]!r} is empty: the end comes after the start", ctx, param
            )
        if end - first + len(found) > MOST_SEEDS:
            raise click.BadParameter(f"at most {MOST_SEEDS:,} seeds", ctx, param)
        found.update(dict.fromkeys(range(first, end)))
    return tuple(found)


patterns = click.option(
    "--tickets", "patterns", multiple=True, help="A pattern such as 'ECS-*', or a path."
)
languages = click.option("--language", "languages", multiple=True, help="Only these languages.")
workers = click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Episodes at once."
)


def seeds(default: str) -> Callable[[F], F]:
    """The ``--seeds`` option."""
    return click.option(
        "--seeds",
        callback=read_seeds,
        default=default,
        show_default=True,
        help="Such as 7, 0:5 (0 to 4) or 1,4,10:12.",
    )


def check_alone(ctx: click.Context, *names: str) -> None:
    """Refuse options that a protocol fixes.

    Raises:
        click.UsageError: Naming the first that was given.
    """
    for name in names:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = next(p.opts[0] for p in ctx.command.params if p.name == name)
            raise click.UsageError(f"a protocol fixes {option}: leave it out")


def rows(patterns: Sequence[str], split: str | None = None) -> list[dict[str, Any]]:
    """Index entries whose id fits one of the patterns (all, if there are none), in index order.

    Raises:
        UnknownTicket: If a pattern fits nothing.
    """
    known = index()
    wanted = [row for row in known if split is None or row["split"] == split]
    if not patterns:
        return wanted
    fitting = [row for row in wanted if any(_fits(row, pattern) for pattern in patterns)]
    for pattern in patterns:
        if not any(_fits(row, pattern) for row in known):
            raise UnknownTicket(pattern, [row["id"] for row in known])
    return fitting


def tickets(patterns: Iterable[str], split: str | None = None) -> list[Ticket]:
    """Tickets by id, by pattern or by path (a file, or a folder of files), each once.

    Raises:
        UnknownTicket: If a pattern fits nothing.
        TicketError: If a file is wrong.
        OptionError: If none of them is in the split.
    """
    names: list[str] = []
    found: dict[str, Ticket] = {}
    for pattern in patterns:
        if is_path(pattern):
            for path in ticket_files(Path(pattern)):
                ticket = load_ticket(path)
                found[ticket.env_id] = ticket
        else:
            names.append(pattern)
    if names or not found:
        for row in rows(names, split):
            ticket = bundled(row["id"])
            found.setdefault(ticket.env_id, ticket)
    chosen = [t for t in found.values() if split is None or t.split == split]
    if not chosen:
        raise OptionError(f"none of these tickets is in the split {split!r}")
    return chosen


def is_path(text: str) -> bool:
    """Whether an argument names a file or folder, not a ticket."""
    return text.endswith(".toml") or os.path.isdir(text)


def ticket_files(path: Path) -> list[Path]:
    """The file, or all ticket files of a folder, sorted.

    Raises:
        TicketError: If there is none.
        StoreError: If the folder can't be read.
    """
    if not os.path.isdir(path):
        return [path]
    try:
        files = sorted(path.rglob("*.toml"))
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from error
    if not files:
        raise TicketError(str(path), "", "the folder holds no ticket", "add a .toml file")
    return files


def _fits(row: dict[str, Any], pattern: str) -> bool:
    names = (row["id"], row["env_id"])
    return any(fnmatchcase(name, pattern) for name in names)
