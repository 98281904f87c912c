"""Tickets as a verl agent loop named ``cirrus``; needs ``pip install "cirrus-env[verl]"``.

Import this module in the workers, give each row ``agent_name: cirrus`` and
``extra_info: {ticket, seed}``, and leave the reward to the loop.
"""

from __future__ import annotations

from typing import Any

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.verl_rollout import play
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.render import PrefixRender
from cirrus_env.engine.token_episode import TokenEpisode
from cirrus_env.errors import EndpointError, OptionError

try:
    from verl.experimental.agent_loop.agent_loop import (
        AgentLoopBase,
        AgentLoopMetrics,
        AgentLoopOutput,
        register,
    )
except ImportError as error:
    raise MissingExtra("verl", error) from None


@register("cirrus")
class CirrusAgentLoop(AgentLoopBase):
    """One ticket a row; its text is read as ``hermes``, or by ``extra_info["parser"]``."""

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Play one row; raises ``EndpointError`` where the episode became invalid."""
        given = {"parser": "hermes", **row["extra_info"]}
        ticket, seed = given.pop("ticket"), int(given.pop("seed"))
        episode = TicketEpisode(ticket, **given)
        await episode.areset(seed=seed)
        kwargs = dict(self.apply_chat_template_kwargs)
        rollout = TokenEpisode(episode, PrefixRender(self.tokenizer, template_kwargs=kwargs))
        if len(rollout.prompt_ids) > self.rollout_config.prompt_length:
            raise OptionError(f"the prompt has {len(rollout.prompt_ids)} ids: raise prompt_length")
        request = f"{ticket}:{seed}:{id(rollout)}"

        async def generate(ids: list[int]) -> Any:
            return await self.server_manager.generate(
                request_id=request, prompt_ids=ids, sampling_params=sampling_params
            )

        await play(rollout, generate, self.rollout_config.response_length)
        if rollout.reward is None:
            raise EndpointError(f"the episode is invalid: {rollout.stop_reason}")
        known = rollout.logprobs
        return AgentLoopOutput(
            prompt_ids=rollout.prompt_ids,
            response_ids=rollout.completion_ids,
            response_mask=rollout.completion_mask,
            response_logprobs=None if known is None else known[len(rollout.prompt_ids) :],
            reward_score=rollout.reward,
            num_turns=len(rollout.turn_spans),
            metrics=AgentLoopMetrics(),
            extra_fields={
                "turn_scores": [turn.reward for turn in rollout.turn_rewards],
                "tool_rewards": [],
            },
        )
