"""What an import came to, file by file: the same for every format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one recorded conversation.

    Attributes:
        source: The foreign file, with the record's place where it holds several.
        ticket: The ticket's environment id; empty if none was written.
        path: The ticket file; empty if none was written.
        scored: Whether it has evidence to judge by.
        checkpoints: How many it has.
        why: Why nothing was written, or why it is unscored; empty otherwise.
        used: What was taken from beside the conversation.
        dropped: What was left out.
    """

    source: str
    ticket: str = ""
    path: str = ""
    scored: bool = False
    checkpoints: int = 0
    why: str = ""
    used: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "source": self.source,
            "ticket": self.ticket,
            "path": self.path,
            "scored": self.scored,
            "checkpoints": self.checkpoints,
            "why": self.why,
            "used": list(self.used),
            "dropped": list(self.dropped),
        }


@dataclass(slots=True)
class ImportReport:
    """What an import wrote and what it dropped.

    Attributes:
        format: The foreign format.
        files: One entry a conversation, in the order of the source.
    """

    format: str
    files: list[Imported] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON: ``written``, ``failed``, ``unscored`` and each entry."""
        written = [entry for entry in self.files if entry.ticket]
        return {
            "format": self.format,
            "written": len(written),
            "failed": len(self.files) - len(written),
            "unscored": sum(not entry.scored for entry in written),
            "files": [entry.to_json() for entry in self.files],
        }
