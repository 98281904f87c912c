"""A progress bar where a person looks on; nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cirrus_env.cli.streams import Streams


@contextmanager
def progress(streams: Streams, what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show progress on ``err`` while the block runs.

    Args:
        streams: Where.
        what: What is counted.
        total: How many there will be.

    Yields:
        What to call after each one.
    """
    if not streams.err.isatty():
        yield lambda: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=streams.progress_console(), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
