"""An ended episode as it is stored: the form that runs, recorders and readers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import trajectory
from cirrus_env.errors import CirrusError


def as_stored(
    episode: TicketEpisode, agent: str, key: Sequence[Any], error: str | None = None
) -> dict[str, Any]:
    """An ended episode as JSON: ``runner.rows.Row``'s fields, ``key`` and ``trajectory``.

    Args:
        episode: The episode.
        agent: Who played.
        key: What makes it another episode than the run's others.
        error: What failed, as a type and a place; None for what the episode itself says.

    Raises:
        CirrusError: If it has not ended.
    """
    outcome = episode.outcome
    if outcome is None:
        raise CirrusError("the episode has not ended")
    stored = trajectory(episode)
    header = stored.header
    mode = {"mode": header["mode"]} if "mode" in header else {}
    return {
        "key": list(key),
        "agent": agent,
        "ticket": header["ticket"],
        "digest": header["digest"],
        "seed": header["seed"],
        "variant": header["variant"],
        "language": header["language"],
        "outcome": outcome.name,
        "success": outcome.success if outcome.valid else None,
        "valid": outcome.valid,
        "return_micro": stored.last["return_micro"] if outcome.valid else None,
        "metrics": stored.last["metrics"],
        "error": failure(episode) if error is None else error,
        **mode,
        "trajectory": {
            "header": dict(header),
            "records": [record.to_json() for record in stored.records],
            "last": dict(stored.last),
        },
    }


def failure(episode: TicketEpisode) -> str:
    """What an endpoint's failure was that ended the episode; empty where none did."""
    events = episode.records[-1].events if episode.records else ()
    return next((str(event.value) for event in events if event.kind == "failed"), "")
