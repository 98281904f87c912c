"""The modes of a run; results of different ones are never mixed.

===========  ================================================================================
mode         what is played
===========  ================================================================================
normal       whole episodes
single-turn  one turn of the agent at every turn of the reference (``runner.single_turn``)
solo         episodes in which nobody answers (``engine.modes``)
oracle-plan  episodes in which the agent is given the reference plan (``engine.modes``)
===========  ================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cirrus_env.baselines.oracle import Oracle
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.modes import NORMAL, ORACLE_PLAN, SOLO
from cirrus_env.errors import ComparisonError
from cirrus_env.runner.rows import Row
from cirrus_env.runner.turns import play_turn

if TYPE_CHECKING:
    from cirrus_env.runner.play import Job

SINGLE_TURN: Final = "single-turn"
MODES: Final = (NORMAL, SINGLE_TURN, SOLO, ORACLE_PLAN)


def episode_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that ``TicketEpisode`` takes: a mode of the runner's own is none of them."""
    return {
        name: value for name, value in settings.items() if (name, value) != ("mode", SINGLE_TURN)
    }


def solvable_alone(jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
    """The jobs that can be solved in the solo mode, and the others.

    What needs the customer's own hands can't: then even the reference, played alone, fails.
    """
    known: dict[tuple[Any, ...], bool] = {}
    kept: list[Job] = []
    left_out: list[Job] = []
    for job in jobs:
        key = (job.ticket.digest, job.seed, job.variant, job.language)
        if key not in known:
            known[key] = _reference_succeeds(job)
        (kept if known[key] else left_out).append(job)
    return kept, left_out


def _reference_succeeds(job: Job) -> bool:
    """Whether the reference succeeds alone; an unscored ticket's need not."""
    episode = TicketEpisode(job.ticket, language=job.language, mode=SOLO, max_tool_calls=1_000_000)
    episode.reset(seed=job.seed, options={"variant": job.variant} if job.variant else None)
    play_turn(Oracle(episode), episode)
    return episode.outcome is not None and episode.outcome.success is not False


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
