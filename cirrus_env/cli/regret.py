"""``cirrus-env regret``: what each action of a stored episode lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.cli.tables import new_table, number
from cirrus_env.runner.regret import Regrets, stored_regrets
from cirrus_env.runner.stored import StoredRun
from cirrus_env.wire import AssistantAction

MOST: Final = 60
"""Characters of an action's text or calls."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Print an episode's regrets; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("regret")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("episode")
@click.option(
    "--jumps",
    is_flag=True,
    help="Measure against who knows the cause: looking for it counts as a loss.",
)
@select.as_json
@click.pass_obj
def _command(streams: Streams, folder: Path, episode: str, jumps: bool, as_json: bool) -> int:
    """Say what each action of EPISODE of the run in FOLDER lost, and which one lost the ticket.

    EPISODE is named as for 'explain'. Before every action the oracle plays the episode to its end;
    an action's regret is how much of that return is gone after it.
    """
    stored = StoredRun(folder)
    chosen = stored.find(episode)
    found = stored_regrets(stored, chosen, jumps=jumps)
    if as_json:
        streams.json({"episode": chosen.name, "jumps": jumps, **found.to_json()})
        return OK
    streams.line(one_line(f"episode {chosen.number}: {chosen.name}: {chosen.row.outcome}"))
    _print(streams, found)
    return OK


def _print(streams: Streams, found: Regrets) -> None:
    table = new_table("step", "turn", "value", "regret", "action")
    for each in found.actions:
        value, lost = number(each.value_micro / 1_000_000, 3), number(each.regret, 3)
        table.add_row(str(each.i), str(each.turn), value, lost, _words(each.action))
    streams.table(table)
    worst = found.lost_at
    if worst is not None:
        streams.line(f"The ticket was lost at step {worst.i}, turn {worst.turn}.")
    total = sum(each.regret_micro for each in found.actions) / 1_000_000
    streams.line(f"return {found.return_micro / 1_000_000:.3f}, regrets {total:.3f} in all")


def _words(action: AssistantAction) -> str:
    calls = " ".join(f"{call.name}{call.arguments}" for call in action.calls)
    text = one_line(f"{action.kind}: {calls or action.text}")
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
