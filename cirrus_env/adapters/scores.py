"""A finished episode as the numbers that trainers record."""

from __future__ import annotations

from typing import Any, NamedTuple

from cirrus_env.baselines.completion import return_micro
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EpisodeNotRunning


class Score(NamedTuple):
    """What an episode is worth.

    Attributes:
        value: The return; None where the episode is invalid, which is no zero.
        metrics: What of METRICS section 2 is a number, truths as 0.0 and 1.0; what is undefined
            here, such as a rate of nothing, is left out.
        facts: JSON facts for the record: ``header``, ``variant``, ``outcome``, ``valid``.
    """

    value: float | None
    metrics: dict[str, float]
    facts: dict[str, Any]


def score_of(episode: TicketEpisode) -> Score:
    """The score of an episode.

    Args:
        episode: An episode that has ended.

    Raises:
        EpisodeNotRunning: If it goes on, or was never begun.
    """
    outcome = episode.outcome
    if outcome is None:
        raise EpisodeNotRunning("only an episode that has ended has a score")
    facts = {
        "header": episode.header,
        "variant": episode.scenario.variant,
        "outcome": outcome.name,
        "valid": outcome.valid,
    }
    if not outcome.valid:
        return Score(None, {}, facts)
    numbers = {
        name: float(value)
        for name, value in episode.metrics().items()
        if isinstance(value, bool | int | float)
    }
    return Score(return_micro(episode) / 1_000_000, numbers, facts)
