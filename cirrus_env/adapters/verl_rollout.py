"""One rollout over tokens for engines that are asked turn by turn, such as verl's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from cirrus_env.engine.token_episode import TokenEpisode

Generate = Callable[[list[int]], Awaitable[Any]]
"""Samples one turn after these ids; its answer has ``token_ids``, ``log_probs`` and
``stop_reason``."""


async def play(rollout: TokenEpisode, generate: Generate, limit: int) -> TokenEpisode:
    """Play until the ticket ends or the completion is full.

    A turn that doesn't fit any more is kept as far as it does, but not played: the ticket is
    stopped with the return so far. A turn that the engine aborted makes the rollout invalid.

    Args:
        rollout: Where the episode stands.
        generate: Samples a turn.
        limit: Ids of the whole completion, answers of the environment included.
    """
    while not rollout.done:
        room = limit - len(rollout.completion_ids)
        if room <= 0:
            rollout.truncate()
            break
        turn = await generate(list(rollout.input_ids))
        fits = len(turn.token_ids) <= room
        finish = "abort" if turn.stop_reason == "aborted" else "stop" if fits else "length"
        chances = None if turn.log_probs is None else list(turn.log_probs)[:room]
        await rollout.aadd_model(list(turn.token_ids)[:room], chances, finish)
    return rollout
