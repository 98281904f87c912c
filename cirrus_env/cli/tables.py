"""Tables that several commands print."""

from __future__ import annotations

from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.judging.aggregate import Estimate
from cirrus_env.runner.compare import Comparison, Summary


def interval(estimate: Estimate) -> str:
    """A rate's 95 % interval, in percent."""
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f}"


def percent(rate: float | None) -> str:
    """A rate in percent."""
    return "-" if rate is None else f"{100 * rate:.1f}"


def number(value: float | None, digits: int = 2) -> str:
    """A number; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_comparison(streams: Streams, comparison: Comparison) -> None:
    """One row an agent."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("agent", no_wrap=True)
    for title in _COLUMNS:
        table.add_column(title, justify="right")
    for summary in comparison.summaries:
        table.add_row(one_line(summary.agent), *_cells(summary))
    streams.table(table)
    counts = [summary.episodes for summary in comparison.summaries]
    streams.line(f"{len(comparison.tickets)} tickets, {max(counts, default=0)} episodes an agent.")
    streams.line(_LEGEND)


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
