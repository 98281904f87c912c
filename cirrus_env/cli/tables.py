"""Tables that several commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.engine.modes import NORMAL
from cirrus_env.judging.aggregate import Estimate
from cirrus_env.runner.compare import Comparison, Summary

if TYPE_CHECKING:
    from rich.table import Table


def interval(estimate: Estimate) -> str:
    """A rate's 95 % interval, in percent."""
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f}"


def percent(rate: float | None) -> str:
    """A rate in percent."""
    return "-" if rate is None else f"{100 * rate:.1f}"


def counted(count: int, what: str) -> str:
    """So many of something."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def number(value: float | None, digits: int = 2) -> str:
    """A number; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_comparison(streams: Streams, comparison: Comparison) -> None:
    """One row an agent."""
    normal = comparison.mode == NORMAL
    if comparison.protocol is not None:
        name, digest = comparison.protocol["name"], comparison.protocol["digest"]
        streams.line(f"Protocol {one_line(name)} ({one_line(digest[:12])}).")
    if not normal:
        streams.line(f"Mode {comparison.mode}: comparable with no success rate of normal episodes.")
    table = new_table("agent", *(_COLUMNS if normal else (f"{comparison.mode} %", *_COLUMNS[1:])))
    for summary in comparison.summaries:
        table.add_row(one_line(summary.agent), *_cells(summary))
    streams.table(table)
    counts = [summary.episodes for summary in comparison.summaries]
    tickets = counted(len(comparison.tickets), "ticket")
    episodes = [
        counted(count, "episode") for count in (min(counts, default=0), max(counts, default=0))
    ]
    streams.line(f"{tickets}, {' to '.join(dict.fromkeys(episodes))} an agent.")
    streams.line(_LEGEND if normal else _LEGEND.replace("SR", comparison.mode))
    _print_passes(streams, comparison)
    _print_differences(streams, comparison)
    _print_parts(streams, comparison)


def new_table(*titles: str) -> Table:
    """An empty table; its first column is on the left."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for i, title in enumerate(titles):
        table.add_column(title, no_wrap=i == 0, justify="left" if i == 0 else "right")
    return table


def _print_passes(streams: Streams, comparison: Comparison) -> None:
    """pass^k and pass@k, where there are several trials a ticket."""
    most = max((len(summary.passes) for summary in comparison.summaries), default=0)
    if most < 2:
        return
    shown = [k for k in (1, 2, 4, 8) if k <= most]
    table = new_table("agent", *(f"pass^{k}" for k in shown), *(f"pass@{k}" for k in shown))
    for summary in comparison.summaries:
        by_k = {p.k: p for p in summary.passes}
        table.add_row(
            one_line(summary.agent),
            *(percent(by_k[k].hat) if k in by_k else "-" for k in shown),
            *(percent(by_k[k].at) if k in by_k else "-" for k in shown),
        )
    streams.line("")
    streams.table(table)


def _print_differences(streams: Streams, comparison: Comparison) -> None:
    """Each agent's SR less the first one's, pair by pair."""
    later = [s for s in comparison.summaries if s.against_first is not None]
    if not later:
        return
    first = one_line(comparison.summaries[0].agent)
    rate = "SR" if comparison.mode == NORMAL else comparison.mode
    table = new_table(f"{rate} less {first}'s", "points", "95 %", "p", "detectable")
    for summary in later:
        paired = summary.against_first
        if paired is not None:
            table.add_row(
                one_line(summary.agent),
                percent(paired.difference.mean),
                interval(paired.difference),
                number(paired.p, 4),
                percent(paired.detectable),
            )
    streams.line("")
    streams.table(table)
    alone = [s for s in later if s.against_first is not None and not s.against_first.difference.n]
    for summary in alone:
        streams.line(
            f"{one_line(summary.agent)} shares no episode with {first}: nothing to compare."
        )


def _print_parts(streams: Streams, comparison: Comparison) -> None:
    """Success by kinds of ticket: a row a kind, a column an agent."""
    agents = [summary.agent for summary in comparison.summaries]
    for by in dict.fromkeys(part.by for part in comparison.parts):
        cells: dict[str, dict[str, str]] = {}
        for part in comparison.parts:
            if part.by == by:
                sr = part.rates.sr
                cells.setdefault(part.value, {})[part.agent] = f"{percent(sr.mean)} ({sr.n})"
        table = new_table(by, *map(one_line, agents))
        for value, mine in cells.items():
            table.add_row(one_line(value), *(mine.get(agent, "-") for agent in agents))
        streams.line("")
        streams.table(table)


_LEGEND = """\
SR: success rate and its 95 % interval; floor: invalid episodes as failures;
TPR: progress; NEI: steps skipped; eff.: replies saved; AMTL: tokens a turn;
viol.: violations an episode; bad act.: malformed actions; inv.: invalid
episodes; p: SR against the first agent, paired."""
_COLUMNS = (
    "SR %", "95 %", "floor", "return", "TPR", "NEI", "eff.", "AMTL", "viol.", "bad act.", "inv.",
    "p",
)  # fmt: skip


def _cells(summary: Summary) -> list[str]:
    rates, means, paired = summary.rates, summary.means, summary.against_first
    return [
        percent(rates.sr.mean),
        interval(rates.sr),
        percent(rates.sr_floor.mean),
        number(means["return"].mean),
        number(means["tpr"].mean),
        number(summary.nei.mean),
        number(means["efficiency"].mean),
        number(summary.amtl, 0),
        number(means["violations"].mean),
        number(means["invalid_actions"].mean),
        str(rates.invalid),
        number(None if paired is None else paired.p, 4),
    ]
