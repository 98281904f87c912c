"""Where a command reads and writes, and what may reach a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# C0 and C1 controls but tab and newline, marks that reorder text, and lone surrogates (law R13).
_ABOVE = "\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f{_ABOVE}]")
_UNSAFE_IN_JSON = re.compile(f"[{_ABOVE}]")  # those below are escaped by JSON itself


def printable(text: str) -> str:
    """The text without what could steer a terminal; tabs and newlines stay."""
    return _UNSAFE.sub("", text)


def one_line(text: str) -> str:
    """The text as one printable line."""
    return " ".join(printable(text).split())


@dataclass(frozen=True, slots=True)
class Streams:
    """The three streams of a command.

    Attributes:
        out: Results.
        err: Errors and progress.
        input: What a person types.
    """

    out: TextIO
    err: TextIO
    input: TextIO

    @classmethod
    def standard(cls) -> Streams:
        """The process's own streams, set to replace what their encoding lacks."""
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="replace")
        return cls(sys.stdout, sys.stderr, sys.stdin)

    def table(self, table: Table) -> None:
        """Print a table as wide as it needs to be, however narrow the terminal: nothing is cut."""
        console = _console(self.out)
        unbounded = console.options.update(max_width=100_000)
        console.width = max(console.width, console.measure(table, options=unbounded).maximum)
        console.print(table, crop=False)

    def progress_console(self) -> Console:
        """A rich console on ``err``."""
        return _console(self.err)

    def line(self, text: str = "") -> None:
        """Write one line, made printable, to ``out``."""
        self.out.write(printable(text) + "\n")

    def labelled(self, label: str, text: str) -> None:
        """Write ``label: text`` to ``out``, the label in bold where a person looks on."""
        head = f"{one_line(label)}:"
        self.out.write(f"\x1b[1m{head}\x1b[0m " if self.out.isatty() else f"{head} ")
        self.line(text)

    def error(self, text: str) -> None:
        """Write one line to ``err``."""
        self.err.write(one_line(text) + "\n")

    def json(self, value: Any) -> None:
        """Write a value as JSON to ``out``."""
        text = json.dumps(value, ensure_ascii=False, indent=2)
        self.out.write(_UNSAFE_IN_JSON.sub(_escape, text) + "\n")


def leave_pipe(streams: Streams) -> int:
    """The reader has gone: what is still buffered goes nowhere. Returns the exit code."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), streams.out.fileno())
    except (OSError, ValueError):
        return 1
    return 1


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # loaded on first use (the import budget)

    return Console(file=stream, highlight=False, markup=False, emoji=False)
