"""``cirrus-env export``: a run in the layout of another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

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
    "preferences": (
        "cirrus_env.adapters.preferences:export_preferences",
        "a JSONL file: pairs on the same prompt, the better return chosen (TRL's DPOTrainer)",
    ),
    "regret": (
        "cirrus_env.adapters.preferences:regret_preferences",
        "a JSONL file: pairs of the oracle's action and the agent's, where that lost something",
    ),
    "sft": (
        "cirrus_env.adapters.sft:export_sft",
        "a JSONL file: chat messages with masks (OpenAI's fine-tuning, TRL's SFTTrainer)",
    ),
}
"""Format -> ``module:function`` and one line; the function takes the run's folder, the target,
tickets and a progress, and the options of ``OPTIONS``, and gives a report with ``to_json()``."""

OPTIONS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "cirrusbench": frozenset(),
        "preferences": frozenset({"other", "min_margin", "whole", "arguments"}),
        "regret": frozenset({"min_margin", "arguments"}),
        "sft": frozenset({"min_return", "per_turn", "arguments"}),
    }
)
"""Format -> the options that it takes."""


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
    type=click.Path(path_type=Path),
    required=True,
    help="The folder for the exported files, or the JSONL file.",
)
@click.option(
    "--min-return", type=float, default=None, help="sft: at least this return; else successes only."
)
@click.option("--per-turn", is_flag=True, default=None, help="sft: one line an action.")
@click.option(
    "--with", "other", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="preferences: a second run, paired with the first.",
)  # fmt: skip
@click.option(
    "--min-margin", type=click.FloatRange(min=0), default=None,
    help="preferences, regret: more than this difference of return (0).",
)  # fmt: skip
@click.option(
    "--whole", is_flag=True, default=None, help="preferences: all that followed, with masks."
)
@click.option(
    "--text-arguments", "arguments", flag_value="text", default=None,
    help="JSONL files: arguments of calls as texts, as OpenAI's API has them, not objects.",
)  # fmt: skip
@click.option(
    "--tickets", "paths", multiple=True, type=click.Path(exists=True),
    help="Ticket files that don't ship with the package: a file or a folder.",
)  # fmt: skip
@select.as_json
@click.pass_obj
def _command(
    streams: Streams,
    /,
    folder: Path,
    form: str,
    out: Path,
    paths: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Write the episodes of the run kept in RUN as files of another program or for training."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS[form]:
            flag = {"other": "--with", "arguments": "--text-arguments"}.get(name, f"--{name}")
            raise click.UsageError(f"{flag.replace('_', '-')} is no option of the format {form}")
    if out.is_dir() != (form == "cirrusbench") and out.exists():
        raise click.UsageError(f"{form} is written to a {_KINDS[form == 'cirrusbench']}: {out}")
    module, _, name = EXPORTERS[form][0].partition(":")
    exporter = getattr(import_module(module), name)
    tickets = select.tickets(paths) if paths else []
    with bar(streams, "episodes") as told:
        facts = exporter(folder, out, tickets, told, **given).to_json()
    if as_json:
        streams.json(facts)
    else:
        _print(streams, facts)
    return OK if facts["written"] else FAILED


def _print(streams: Streams, facts: Mapping[str, Any]) -> None:
    for each in facts["left_out"]:
        streams.line(f"left out: {one_line(each['episode'])}: {one_line(each['why'])}")
    what = "episodes" if "folder" in facts else "lines"
    for agent, count in facts["agents"].items():
        streams.line(f"{one_line(agent)}: {count} {what}")
    if "folder" in facts:
        streams.line(
            f"{facts['written']} episodes in {facts['folder']}, {facts['invalid']} of them failed"
            f" for outside reasons; {len(facts['left_out'])} left out"
        )
        return
    other = [
        f"{facts[name]} {said}"
        for name, said in _COUNTS.items()
        if facts[name] or name == "invalid"
    ]
    streams.line(
        f"{facts['written']} lines in {facts['file']}, of {facts['episodes']} episodes: "
        f"{', '.join(other)}; {len(facts['left_out'])} left out"
    )


_KINDS: Final = ("file", "folder")
_COUNTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "invalid": "failed for outside reasons",
        "below": "without success or with too low a return",
        "ties": "pairs with too little between them",
        "alike": "pairs alike",
    }
)
