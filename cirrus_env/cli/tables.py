"""Tables that several commands print."""

from __future__ import annotations

from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.judging.aggregate import Estimate
from cirrus_env.runner.compare import Comparison, Summary


def percent(estimate: Estimate) -> str:
    """A rate with its interval, in percent."""
    if estimate.mean is None or estimate.low is None or estimate.high is None:
        return "-"
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{100 * estimate.mean:.1f} [{low:.1f}, {high:.1f}]"


def number(value: float | None, digits: int = 2) -> str:
    """A number; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_comparison(streams: Streams, comparison: Comparison) -> None:
    """One row an agent."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 1))
    table.add_column("agent", no_wrap=True)
    for title in _COLUMNS:
        table.add_column(title, justify="right")
    for summary in comparison.summaries:
        table.add_row(one_line(summary.agent), *_cells(summary))
    streams.console().print(table)
    counts = [summary.episodes for summary in comparison.summaries]
    streams.line(f"{len(comparison.tickets)} tickets, {max(counts, default=0)} episodes an agent.")
    streams.line(_LEGEND)


_LEGEND = (
    "SR: success rate with its 95 % interval; floor: invalid episodes counted as failures; TPR: "
    "progress; NEI: steps skipped; AMTL: tokens a turn; p: SR against the first agent, paired."
)

_COLUMNS = (
    "SR %",
    "floor %",
    "return",
    "TPR",
    "NEI",
    "efficiency",
    "AMTL",
    "violations",
    "invalid actions",
    "invalid episodes",
    "p",
)


def _cells(summary: Summary) -> list[str]:
    floor = summary.rates.sr_floor.mean
    means = summary.means
    paired = summary.against_first
    return [
        percent(summary.rates.sr),
        "-" if floor is None else f"{100 * floor:.1f}",
        number(means["return"].mean, 3),
        number(means["tpr"].mean),
        number(summary.nei.mean),
        number(means["efficiency"].mean),
        number(summary.amtl, 0),
        number(means["violations"].mean),
        number(means["invalid_actions"].mean),
        f"{summary.rates.invalid}",
        "-" if paired is None or paired.p is None else f"{paired.p:.4f}",
    ]
