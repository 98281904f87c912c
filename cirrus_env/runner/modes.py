"""The modes of a run; results of different ones are never mixed.

===============  ============================================================================
mode             what is played
===============  ============================================================================
normal           whole episodes
single-turn      one turn of the agent at every turn of the reference (``runner.single_turn``)
===============  ============================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cirrus_env.errors import ComparisonError
from cirrus_env.runner.rows import Row

NORMAL: Final = "normal"
SINGLE_TURN: Final = "single-turn"
MODES: Final = (NORMAL, SINGLE_TURN)


def episode_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that ``TicketEpisode`` takes: a mode of the runner's own is none of them."""
    return {
        name: value for name, value in settings.items() if (name, value) != ("mode", SINGLE_TURN)
    }


def common_mode(rows: Sequence[Row], *, force: bool = False) -> str:
    """The mode that all rows were played in.

    Args:
        rows: Any rows.
        force: Also ``mixed``, where there are several.

    Raises:
        ComparisonError: If there are several, or turns are given where episodes are wanted.
    """
    modes = sorted({row.mode for row in rows})
    if SINGLE_TURN in modes:
        raise ComparisonError("teacher-forced turns have no success rate: they are scored apart")
    if len(modes) > 1 and not force:
        raise ComparisonError(
            f"the modes {', '.join(modes)} are never mixed; use --force to compare anyway"
        )
    return "mixed" if len(modes) > 1 else modes[0] if modes else NORMAL
