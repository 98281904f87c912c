"""Agents side by side: rates, means and intervals over the same tickets and seeds (METRICS 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cirrus_env._version import __version__
from cirrus_env.engine.modes import NORMAL
from cirrus_env.errors import ComparisonError
from cirrus_env.judging.aggregate import (
    Estimate,
    Key,
    Paired,
    Rates,
    compare_paired,
    estimate,
    success_rates,
)
from cirrus_env.runner.breakdown import Part, Passes, breakdown, passes
from cirrus_env.runner.modes import common_mode
from cirrus_env.runner.rows import Row

MOST_INVALID: Final = 0.02
"""Above this share of invalid episodes a comparison says nothing and is refused."""

_PER_EPISODE: Final[Mapping[str, Callable[[Row], float | None]]] = {
    "tpr": lambda row: row.metrics["tpr"],
    "efficiency": lambda row: row.metrics["efficiency"],
    "mtl": lambda row: row.metrics["mtl"],
    "return": lambda row: _return(row),
    "violations": lambda row: row.metrics["policy_violations"],
    "invalid_actions": lambda row: row.metrics["invalid_action_rate"],
    "incorrect_actions": lambda row: row.metrics["incorrect_action_rate"],
    "cost": lambda row: row.metrics["cost"],
    "satisfaction": lambda row: row.metrics["satisfaction"],
}
"""Column -> its value for one valid episode; None is not applicable."""


def _return(row: Row) -> float | None:
    """The return; an unscored ticket's counts nowhere."""
    if row.return_micro is None or row.success is None:
        return None
    return row.return_micro / 1_000_000


@dataclass(frozen=True, slots=True)
class Summary:
    """One agent's row.

    Attributes:
        agent: Its name.
        episodes: How many it played.
        rates: SR and SR_floor.
        nei: Over successful episodes.
        amtl: Mean over tickets of the mean tokens of one assistant turn; None without a turn.
        means: The other columns.
        endings: How many episodes ended with each outcome.
        against_first: SR minus the first agent's, paired; None for the first.
        passes: pass^k and pass@k, the seeds being the trials.
    """

    agent: str
    episodes: int
    rates: Rates
    nei: Estimate
    amtl: float | None
    means: Mapping[str, Estimate]
    endings: Mapping[str, int]
    against_first: Paired | None
    passes: tuple[Passes, ...] = ()

    @property
    def invalid_rate(self) -> float:
        """The share of episodes that say nothing about the agent."""
        return self.rates.invalid / self.episodes if self.episodes else 0.0

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        rates = self.rates
        paired = self.against_first
        return {
            "agent": self.agent,
            "episodes": self.episodes,
            "sr": rates.sr._asdict(),
            "sr_floor": rates.sr_floor._asdict(),
            "invalid": rates.invalid,
            "invalid_rate": self.invalid_rate,
            "unscored": rates.unscored,
            "nei": self.nei._asdict(),
            "amtl": self.amtl,
            **{name: mean._asdict() for name, mean in self.means.items()},
            "outcomes": dict(self.endings),
            "sr_against_first": None
            if paired is None
            else {**paired._asdict(), "difference": paired.difference._asdict()},
            "pass^k": {str(p.k): p.hat for p in self.passes},
            "pass@k": {str(p.k): p.at for p in self.passes},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """All agents' rows, and what they were compared on.

    Attributes:
        summaries: In the order of the agents.
        tickets: Registered name -> digest.
        seeds: The seeds played.
        parts: Success by kinds of ticket, where that was asked for.
        mode: How all of it was played; ``mixed`` where that was forced.
        protocol: Name and digest of the official protocol that all of it follows, if any.
    """

    summaries: tuple[Summary, ...]
    tickets: Mapping[str, str]
    seeds: tuple[int, ...]
    parts: tuple[Part, ...] = ()
    mode: str = NORMAL
    protocol: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "version": __version__,
            "protocol": None if self.protocol is None else dict(self.protocol),
            "mode": self.mode,
            "tickets": dict(self.tickets),
            "seeds": list(self.seeds),
            "agents": [self._flagged(summary.to_json()) for summary in self.summaries],
            "breakdown": [self._flagged(part.to_json()) for part in self.parts],
        }

    def _flagged(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Success in another mode than the normal one goes by no name of the normal one's."""
        if self.mode == NORMAL:
            return dict(entries)
        return {
            f"{self.mode}:{key}" if key.startswith(("sr", "pass")) else key: value
            for key, value in entries.items()
        }


def common_protocol(
    manifests: Iterable[Mapping[str, Any]], *, force: bool = False
) -> dict[str, str] | None:
    """The official protocol that all stored runs follow; None where none does.

    Args:
        manifests: The runs' manifests.
        force: Also where they follow different ones: then None.

    Raises:
        ComparisonError: If they follow different ones.
    """
    found = [manifest.get("protocol") for manifest in manifests]
    if all(protocol == found[0] for protocol in found[1:]):
        return found[0] if found else None
    if force:
        return None
    names = sorted({_protocol_name(protocol) for protocol in found})
    raise ComparisonError(
        f"the runs follow different protocols ({', '.join(names)}); use --force to compare anyway"
    )


def _protocol_name(protocol: Mapping[str, str] | None) -> str:
    return "none" if protocol is None else f"{protocol['name']} {protocol['digest'][:12]}"


def compare(
    rows: Sequence[Row],
    *,
    force: bool = False,
    by: Sequence[str] = (),
    protocol: Mapping[str, str] | None = None,
) -> Comparison:
    """Summarise episodes by agent.

    Args:
        rows: Episodes of any number of agents.
        by: Also success by these kinds of ticket; see ``breakdown``.
        force: Also where more than 2 % are invalid, the agents met different tickets' digests, or
            modes are mixed.
        protocol: Name and digest of the official protocol that all episodes follow.

    Raises:
        ComparisonError: If the numbers would not be comparable.
    """
    mode = common_mode(rows, force=force)
    agents = list(dict.fromkeys(row.agent for row in rows))
    numbers = _numbers(rows)
    keyed: dict[str, dict[Key, Row]] = {agent: {} for agent in agents}
    for row in rows:
        keyed[row.agent][row.ticket, numbers[_scene(row)]] = row
    if not force:
        _check_comparable(rows, keyed)
    summaries: list[Summary] = []
    first: dict[Key, float | None] | None = None
    for agent in agents:
        flags = {key: _flag(row) for key, row in keyed[agent].items()}
        paired = None if first is None else compare_paired(flags, first)
        first = flags if first is None else first
        summaries.append(_summary(agent, keyed[agent], paired))
    return Comparison(
        tuple(summaries),
        dict(sorted({row.ticket: row.digest for row in rows}.items())),
        tuple(sorted({row.seed for row in rows})),
        breakdown(rows, by),
        mode,
        protocol,
    )


def _scene(row: Row) -> tuple[str, str, str, int]:
    return (row.ticket, row.language, row.variant, row.seed)


def _numbers(rows: Iterable[Row]) -> dict[tuple[str, str, str, int], int]:
    """A number for each scene, the same for every agent, so that episodes pair up."""
    return {scene: number for number, scene in enumerate(sorted({_scene(row) for row in rows}))}


def _check_comparable(rows: Sequence[Row], keyed: Mapping[str, Mapping[Key, Row]]) -> None:
    digests: dict[str, str] = {}
    for row in rows:
        if digests.setdefault(row.ticket, row.digest) != row.digest:
            raise ComparisonError(
                f"two texts of {row.ticket} were played; use --force to compare anyway"
            )
    for agent, mine in keyed.items():
        invalid = sum(not row.valid for row in mine.values())
        if invalid > MOST_INVALID * len(mine):
            error = next(row.error for row in mine.values() if not row.valid)
            raise ComparisonError(
                f"{invalid} of {len(mine)} episodes of {agent} are invalid (first: {error}): more "
                "than 2 % say nothing about it; run them again, or use --force"
            )


def _flag(row: Row) -> float | None:
    """Success as a number; an invalid episode counts as a failure, as in SR_floor."""
    if not row.valid:
        return 0.0
    return None if row.success is None else float(row.success)


def _summary(agent: str, rows: Mapping[Key, Row], paired: Paired | None) -> Summary:
    valid = {key: row for key, row in rows.items() if row.valid}
    endings: dict[str, int] = {}
    for row in rows.values():
        endings[row.outcome] = endings.get(row.outcome, 0) + 1
    return Summary(
        agent=agent,
        episodes=len(rows),
        rates=success_rates(
            {key: (row.success if row.valid else False, row.valid) for key, row in rows.items()}
        ),
        nei=estimate({k: row.metrics["nei"] if row.success else None for k, row in valid.items()}),
        amtl=_amtl(valid.values()),
        means={
            name: estimate({key: read(row) for key, row in valid.items()})
            for name, read in _PER_EPISODE.items()
        },
        endings=dict(sorted(endings.items())),
        against_first=paired,
        passes=passes(rows.values()),
    )


def _amtl(rows: Iterable[Row]) -> float | None:
    """Mean over tickets of all visible tokens over all assistant turns of the ticket."""
    totals: dict[str, tuple[int, int]] = {}
    for row in rows:
        tokens, turns = totals.get(row.ticket, (0, 0))
        metrics = row.metrics
        totals[row.ticket] = (tokens + metrics["tokens"], turns + max(1, metrics["turns"]))
    if not totals:
        return None
    return sum(tokens / turns for tokens, turns in totals.values()) / len(totals)
