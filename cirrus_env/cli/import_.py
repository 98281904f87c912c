"""``cirrus-env import``: recorded conversations become tickets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import FAILED, OK, execute
from cirrus_env.cli.progress import progress
from cirrus_env.cli.streams import Streams, one_line

IMPORTERS = {
    "cirrusbench": (
        "cirrus_env.adapters.cirrusbench:import_cirrusbench",
        "task records (JSONL) with their help documents and tool schemas",
    ),
    "openai": (
        "cirrus_env.adapters.openai_chat:import_openai",
        'chat records (JSONL): {"messages": [...], "tools": [...]}',
    ),
    "taubench": (
        "cirrus_env.adapters.taubench:import_taubench",
        "tau-bench trajectories (JSON); those with reward 1 are scored",
    ),
    "tooltalk": (
        "cirrus_env.adapters.tooltalk:import_tooltalk",
        "ToolTalk conversations (JSON) with their databases folder",
    ),
}
"""Format -> ``module:function`` and one line; the function takes a source, a folder and a progress
(told how many there are, it gives what to call after each one) and gives a report with
``to_json()``."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Import conversations; returns the exit code."""
    return execute(_command, arguments, streams)


def formats(table: Mapping[str, tuple[str, str]]) -> str:
    """The formats of a table with one line each, for a command's help."""
    width = max(map(len, table))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in sorted(table.items()))
    return f"\b\nFormats:\n{rows}"


@click.command("import", epilog=formats(IMPORTERS))
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
    """Turn recorded conversations in SOURCE (a file or a folder) into ticket files.

    What they write runs with the other commands: --tickets OUT, or cirrus_env.register_tickets(OUT)
    in Python.
    """
    module, _, name = IMPORTERS[form][0].partition(":")
    importer = getattr(import_module(module), name)
    with bar(streams, "conversations") as told:
        facts = importer(source, out, told).to_json()
    if as_json:
        streams.json(facts)
    else:
        _print(streams, facts)
    return OK if facts["written"] else FAILED


@contextmanager
def bar(streams: Streams, what: str) -> Iterator[Callable[[int], Callable[[], None]]]:
    """A progress bar for work whose size is told later: call with the total, then after each."""
    with ExitStack() as stack:
        yield lambda total: stack.enter_context(progress(streams, what, total))


def _print(streams: Streams, facts: Mapping[str, Any]) -> None:
    for file in facts["files"]:
        result = file["ticket"] or "nothing written"
        if file["ticket"] and not file["scored"]:
            result += ", unscored"
        elif file["ticket"]:
            result += f", {file['checkpoints']} checkpoint{'s' * (file['checkpoints'] != 1)}"
        streams.line(f"{file['source']}: {result}")
        if file["why"]:
            streams.line(f"  why: {one_line(file['why'])}")
        for kind in ("used", "dropped"):
            for what in file[kind]:
                streams.line(f"  {kind}: {one_line(what)}")
    streams.line(
        f"{facts['written']} tickets written, {facts['unscored']} of them unscored; "
        f"{facts['failed']} conversations failed"
    )
