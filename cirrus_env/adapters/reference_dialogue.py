"""The reference dialogue of a scenario as chat messages, with where each checkpoint lies in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from cirrus_env.adapters.transcripts import Said, said
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions, reference_turns
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Record


class Reference(NamedTuple):
    """The reference dialogue of a scenario.

    Attributes:
        messages: Without the system message.
        listed: ``{reply_index, agent_tool_indices}``, one a checkpoint.
        turns: The number of the turn in which each checkpoint passes.
        mocks: Its calls with their results.
        schemas: The tools on offer.
    """

    messages: list[dict[str, Any]]
    listed: list[dict[str, Any]]
    turns: list[int]
    mocks: list[dict[str, Any]]
    schemas: list[dict[str, Any]]


def reference_of(scenario: Scenario) -> Reference:
    """Play the reference of a scenario, to its end whatever limits an episode has."""
    episode = TicketEpisode(
        scenario.ticket,
        language=scenario.public.language,
        max_turns=len(reference_turns(scenario)) + 1,
        max_tool_calls=1_000_000,
    )
    episode.reset(seed=scenario.seed, options={"variant": scenario.variant})
    episode.play_through(reference_actions(episode.scenario))
    spoken = said(episode.records)
    messages = [each.message for each in spoken]
    passed = passed_at(episode.records)
    replies = [
        (each.step, index)
        for index, each in enumerate(spoken)
        if each.message["role"] == "assistant" and "tool_calls" not in each.message
    ]
    listed: list[dict[str, Any]] = []
    reached: list[int] = []
    taken = 0
    for checkpoint in episode.scenario.gold.checkpoints:
        reply = _reply_at(passed.get(checkpoint.id), replies, spoken, episode.records)
        calls = [k for k in range(taken, reply) if "tool_calls" in messages[k]]
        taken = max(taken, reply)
        listed.append({"reply_index": reply, "agent_tool_indices": calls})
        reached.append(reply)
    mocks = [
        {
            "tool_name": call["function"]["name"],
            "tool_call": call,
            "result": messages[index + 1 + k]["content"],
        }
        for index, message in enumerate(messages)
        for k, call in enumerate(message.get("tool_calls", ()))
    ]
    ends = [index for _, index in replies]
    turns = [sum(end < reply for end in ends) for reply in reached]
    return Reference(messages, listed, turns, mocks, list(episode.tools))


def _reply_at(
    step: int | None,
    replies: Sequence[tuple[int, int]],
    spoken: Sequence[Said],
    records: Sequence[Record],
) -> int:
    """The index of the reply that brings a checkpoint, or comes after the calls that do."""
    if step is None:
        return replies[-1][1] if replies else len(spoken)
    if records[step].action["kind"] == "call":
        return next((index for at, index in replies if at > step), len(spoken))
    return next((index for at, index in reversed(replies) if at <= step), 0)


def passed_at(records: Iterable[Record]) -> dict[str, int]:
    """Checkpoint -> the step at which it passed."""
    return {
        event.name: record.i
        for record in records
        for event in record.events
        if event.kind == "passed"
    }
