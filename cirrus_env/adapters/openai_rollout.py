"""A rollout by the OpenAI client: one episode, awaited, as a record for any trainer.

It is the body of a rollout in ART, rLLM, Atropos or Inspect, and of an evaluation of one's own: the
client may point at a hosted model or at the inference server of a training run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import Trajectory, trajectory
from cirrus_env.errors import CustomerFailed, JudgeFailed
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class EpisodeRecord(NamedTuple):
    """One played episode.

    Attributes:
        ticket: The environment's id.
        seed: The scenario's seed.
        messages: The whole dialogue as OpenAI chat messages, system message first.
        tools: The function schemas that the model was offered.
        rewards: One a step of the assistant, in order; None for a step that made the episode
            invalid.
        reward_terms: The return's parts by name.
        outcome: How it ended (METRICS section 3).
        success: Whether it succeeded; None where the episode is invalid.
        valid: False where the model, the customer or the judge failed for outside reasons: no
            number of the agent's.
        error: The type of what failed; empty where nothing did.
        finish_reasons: The endpoint's, one a step.
        usage: Tokens of all steps as the endpoint counts them: ``prompt_tokens`` and
            ``completion_tokens``.
        metrics: METRICS section 2.
        trajectory: As runs store it.
    """

    ticket: str
    seed: int
    messages: list[Message]
    tools: list[dict[str, Any]]
    rewards: list[float | None]
    reward_terms: dict[str, float]
    outcome: str
    success: bool | None
    valid: bool
    error: str
    finish_reasons: list[str]
    usage: dict[str, int]
    metrics: dict[str, Any]
    trajectory: Trajectory

    @property
    def reward(self) -> float | None:
        """The episode's return; None where it is invalid."""
        return sum(r for r in self.rewards if r is not None) if self.valid else None


async def rollout(
    client: AsyncOpenAI,
    model: str,
    ticket: Ticket | str | Path,
    *,
    seed: int,
    max_turns: int = 30,
    options: Mapping[str, Any] | None = None,
    sampling: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> EpisodeRecord:
    """Play one episode with a chat model.

    Any number may be awaited together: each has a world of its own.

    Args:
        client: An ``openai.AsyncOpenAI``, with its own retries and time-outs.
        model: As the endpoint names it.
        ticket: A ticket, the name of a bundled one, or a ticket file's path.
        seed: The scenario's seed; the members of a group share it.
        max_turns: Turns of the assistant.
        options: Options of the reset, such as ``variant``.
        sampling: Further arguments of ``chat.completions.create``, such as ``temperature``.
        arguments: Further keyword arguments of ``TicketEpisode``.

    Raises:
        OptionError: If an argument can't be used.
        CustomerFailed: If the customer can't even open the episode.
    """
    episode = TicketEpisode(ticket, max_turns=max_turns, **arguments)
    await episode.areset(seed=seed, options=options)
    tools = episode.chat_tools
    rewards: list[float | None] = []
    reasons: list[str] = []
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    error = ""
    while (outcome := episode.outcome) is None:
        try:
            completion = await client.chat.completions.create(
                model=model,
                messages=list(episode.messages),  # type: ignore[arg-type]  # dicts are as good
                tools=tools,  # type: ignore[arg-type]
                **(sampling or {}),
            )
            choice = completion.choices[0]
            action = episode.read(choice.message)  # refused where it is no message
        except Exception as failed:  # whatever it is, it is no action of the model's
            error = type(failed).__name__
            rewards.append(episode.truncate("agent_error").reward)
            continue
        reasons.append(choice.finish_reason or "")
        for name in usage:
            used = getattr(completion.usage, name, None)
            usage[name] += used if isinstance(used, int) else 0
        try:
            rewards.append((await episode.astep(action)).reward)
        except (CustomerFailed, JudgeFailed) as failed:
            error = type(failed.__cause__ or failed).__name__
            who = "customer" if isinstance(failed, CustomerFailed) else "judge"
            rewards.append(episode.truncate(f"{who}_error").reward)
    info = episode.info()
    return EpisodeRecord(
        ticket=episode.ticket.env_id,
        seed=seed,
        messages=list(episode.messages),
        tools=tools,
        rewards=rewards,
        reward_terms=info["reward_terms"],
        outcome=outcome.name,
        success=outcome.success if outcome.valid else None,
        valid=outcome.valid,
        error=error,
        finish_reasons=reasons,
        usage=usage,
        metrics=info["metrics"],
        trajectory=trajectory(episode),
    )
