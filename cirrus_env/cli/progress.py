"""A progress bar where a person looks on, with success so far; nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from cirrus_env.cli.streams import Streams
from cirrus_env.judging.aggregate import wilson
from cirrus_env.runner.rows import Row


class Meter:
    """Counts what is done and says how it goes.

    Args:
        total: How many there will be.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.stood = 0
        self.hits = self.scored = self.invalid = 0
        self.rate = "SR"  # what the success rate is called
        self.show: Callable[[], object] = bool  # after each one; nothing unless somebody looks on

    def __call__(self, row: Row | None = None) -> None:
        """One more is done; with its row, if it is an episode."""
        self.done += 1
        self._count(row)
        self.show()

    def kept(self, row: Row) -> None:
        """An episode stood already: it counts, but says nothing about how long the rest takes."""
        self.stood += 1
        self(row)

    def _count(self, row: Row | None) -> None:
        if row is None:
            return
        if not row.valid:
            self.invalid += 1
        elif row.success is not None:
            self.scored += 1
            self.hits += row.success

    def success(self) -> str:
        """The success rate so far with its 95 % interval (Wilson's: episodes one by one)."""
        parts = []
        between = wilson(self.hits, self.scored)
        if between is not None:
            low, high = (f"{100 * share:.0f}" for share in between)
            parts.append(f"{self.rate} {100 * self.hits / self.scored:.1f} % [{low}, {high}]")
        if self.invalid:
            parts.append(f"{self.invalid} invalid")
        return ", ".join(parts)

    def left(self, elapsed: float | None) -> str:
        """How long the rest takes at the pace so far.

        Args:
            elapsed: Seconds since the start.
        """
        played = self.done - self.stood
        if self.done >= self.total:
            return ""
        if not played or elapsed is None:
            return "-:--:-- left"
        seconds = elapsed * (self.total - self.done) / played
        return f"{timedelta(seconds=round(seconds))} left"


@contextmanager
def progress(streams: Streams, what: str, total: int) -> Iterator[Meter]:
    """Show progress on ``err`` while the block runs, if that is a terminal.

    Args:
        streams: Where.
        what: What is counted.
        total: How many there will be.

    Yields:
        What to call after each one.
    """
    meter = Meter(total)
    if not streams.err.isatty():
        yield meter
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
    from rich.progress import Task as Bar
    from rich.text import Text

    class Told(ProgressColumn):
        def render(self, task: Bar) -> Text:
            return Text(", ".join(filter(None, (meter.success(), meter.left(task.elapsed)))))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        Told(),
    )
    with Progress(*columns, console=streams.progress_console(), transient=True) as shown:
        task = shown.add_task(what, total=total)
        meter.show = lambda: shown.update(task, completed=meter.done)
        yield meter
