"""Success by kind of ticket, and over several trials of each (METRICS section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from cirrus_env.errors import OptionError
from cirrus_env.judging.aggregate import Rates, mean_pass, success_rates
from cirrus_env.runner.rows import Row
from cirrus_env.tickets.index import index

MOST_TRIALS: Final = 8
"""pass^k and pass@k are given for k up to this."""


class Passes(NamedTuple):
    """pass^k and pass@k of one agent: means over tickets, the trials being its scored episodes.

    Attributes:
        k: How many trials.
        hat: pass^k: the chance that all k succeed.
        at: pass@k: the chance that at least one does.
    """

    k: int
    hat: float
    at: float


class Part(NamedTuple):
    """One agent's success on one kind of ticket.

    Attributes:
        agent: The agent.
        by: What the kind is of, such as ``ending``.
        value: The kind, such as ``refuse``.
        rates: SR and SR_floor on these episodes.
    """

    agent: str
    by: str
    value: str
    rates: Rates

    def to_json(self) -> dict[str, Any]:
        """The part as JSON."""
        return {
            "agent": self.agent,
            "by": self.by,
            "value": self.value,
            "sr": self.rates.sr._asdict(),
            "sr_floor": self.rates.sr_floor._asdict(),
        }


def passes(rows: Iterable[Row]) -> tuple[Passes, ...]:
    """pass^k and pass@k for k = 1, 2, ... up to the fewest trials that any ticket has.

    An invalid episode counts as a failed trial; unscored tickets have no trials, and an agent none
    of whose episodes is valid has none either.
    """
    rows = list(rows)
    if not any(row.valid for row in rows):
        return ()
    trials: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.valid and row.success is None:
            continue
        won, played = trials.get(row.ticket, (0, 0))
        trials[row.ticket] = (won + bool(row.success), played + 1)
    if not trials:
        return ()
    most = min(MOST_TRIALS, *(played for _, played in trials.values()))
    return tuple(Passes(k, *mean_pass(trials.values(), k)) for k in range(1, most + 1))


def breakdown(rows: Sequence[Row], by: Sequence[str]) -> tuple[Part, ...]:
    """Each agent's success by kinds of ticket.

    Args:
        rows: Episodes of any number of agents.
        by: Names of ``KINDS``.

    Raises:
        OptionError: For a name that is no kind.
    """
    for name in by:
        if name not in KINDS:
            raise OptionError(f"no breakdown by {name!r}; there are {', '.join(KINDS)}")
    agents = list(dict.fromkeys(row.agent for row in rows))
    known = {entry["env_id"]: entry for entry in index()}
    parts = []
    for name in by:
        kind = KINDS[name]
        sorted_out: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            value = kind(row, known.get(row.ticket, {}))
            sorted_out.setdefault((value, row.agent), []).append(row)
        for value in sorted({value for value, _ in sorted_out}, key=_natural):
            for agent in agents:
                mine = sorted_out.get((value, agent))
                if mine:
                    parts.append(Part(agent, name, value, _rates(mine)))
    return tuple(parts)


def _natural(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdigit() else (-1, value)


def _rates(rows: Iterable[Row]) -> Rates:
    return success_rates(
        {
            (row.ticket, number): (row.success if row.valid else False, row.valid)
            for number, row in enumerate(rows)
        }
    )


Entry = Mapping[str, Any]
Kind = Callable[[Row, Entry], str]


def _service(row: Row, entry: Entry) -> str:
    space, _, name = row.ticket.rpartition("/")
    return name.partition("-")[0] if space.startswith("Cirrus") else space or "-"


def _ending(row: Row, entry: Entry) -> str:
    return str(entry.get("endings", {}).get(row.variant, "-"))


def _checkpoints(row: Row, entry: Entry) -> str:
    return str(row.metrics.get("checkpoints", "-"))


def _tools(row: Row, entry: Entry) -> str:
    if "tools" not in entry:
        return "-"
    return "with tools" if entry["tools"] else "without tools"


KINDS: Final[Mapping[str, Kind]] = {
    "service": _service,
    "ending": _ending,
    "checkpoints": _checkpoints,
    "tools": _tools,
    "language": lambda row, entry: row.language,
    "split": lambda row, entry: str(entry.get("split", "-")),
    "ticket": lambda row, entry: row.ticket,
    "variant": lambda row, entry: f"{row.ticket} {row.variant}",
}
"""What success can be broken down by; a ticket that doesn't ship with the package has ``-``."""
