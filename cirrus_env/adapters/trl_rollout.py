"""Whole dialogues for TRL's ``rollout_func``: token in, token out, all rollouts of a batch at once.

The model's turns of all running episodes are sampled in one batch, by the trainer's own generation
(transformers, continuous batching or vLLM), so weights and sampling parameters are the trainer's.
Customers that can be awaited answer all at once too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from cirrus_env.customers.protocol import awaited
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.render import PrefixRender, Render
from cirrus_env.engine.token_episode import TokenEpisode
from cirrus_env.errors import CustomerFailed, JudgeFailed, OptionError, RenderError

_log = logging.getLogger(__name__)

Generate = Callable[[Any, list[list[int]]], tuple[list[list[int]], list[list[float]] | None]]
"""From the trainer and prompts' ids to sampled ids, and their log-probabilities where known."""


def trainer_generate(
    trainer: Any, prompts: list[list[int]]
) -> tuple[list[list[int]], list[list[float]] | None]:
    """One turn for each prompt, by the generation of TRL 1.16's ``GRPOTrainer``."""
    ids, logprobs = trainer._generate_single_turn(prompts, None, {}, 1)
    return ids, logprobs


def trainer_render(trainer: Any) -> PrefixRender:
    """A render over the trainer's tokenizer.

    Where its template breaks the prefix, TRL's training template of the same family is taken.

    Raises:
        RenderError: If there is none.
    """
    processor = trainer.processing_class
    tokenizer = getattr(processor, "tokenizer", processor)
    kwargs = trainer.chat_template_kwargs
    stops = trainer.eos_token_ids
    try:
        return PrefixRender(tokenizer, template_kwargs=kwargs, stop_ids=stops)
    except RenderError as error:
        template = _training_template(tokenizer, error)
    return PrefixRender(tokenizer, chat_template=template, template_kwargs=kwargs, stop_ids=stops)


def _training_template(tokenizer: Any, broken: RenderError) -> str:
    from trl.chat_template_utils import get_training_chat_template

    try:
        template: str | None = get_training_chat_template(tokenizer)
    except ValueError:
        template = None
    if template is None:
        raise broken
    return template


def play(
    episodes: Sequence[TicketEpisode],
    trainer: Any,
    *,
    render: Render,
    generate: Generate,
    max_turn_tokens: int | None,
) -> list[TokenEpisode]:
    """Play running episodes to their end, or to the end of the trainer's token budget.

    Args:
        episodes: Reset, each in its own world.
        trainer: Its ``max_completion_length`` holds for a whole dialogue, what came back included.
        render: Writes prompts and what comes back.
        generate: Samples turns.
        max_turn_tokens: Tokens of one turn; None for what is left of the budget.

    Raises:
        OptionError: If a prompt leaves no room in the model's context.
    """
    rollouts = [TokenEpisode(episode, render) for episode in episodes]
    budgets = [_budget(rollout, trainer) for rollout in rollouts]
    stops = frozenset(trainer.eos_token_ids)
    while running := [k for k, rollout in enumerate(rollouts) if not rollout.done]:
        rooms = {k: budgets[k] - len(rollouts[k].completion_ids) for k in running}
        asked = [k for k in running if rooms[k] > 0]
        for k in running:
            if rooms[k] <= 0:
                rollouts[k].truncate()
        if not asked:
            break
        most = max(rooms[k] for k in asked)
        cap = most if max_turn_tokens is None else min(most, max_turn_tokens)
        with _capped(trainer, cap):
            sampled, logprobs = generate(trainer, [rollouts[k].input_ids for k in asked])
        turns = []
        for j, k in enumerate(asked):
            room = min(rooms[k], cap)
            ids = sampled[j][:room]
            chances = None if logprobs is None else logprobs[j][:room]
            whole = bool(ids) and ids[-1] in stops
            turns.append(_Turn(rollouts[k], ids, chances, "stop" if whole else "length"))
        _add_all(turns)
    return rollouts


class _Turn(NamedTuple):
    rollout: TokenEpisode
    ids: list[int]
    logprobs: list[float] | None
    finish_reason: str


def _add_all(turns: Sequence[_Turn]) -> None:
    """Play the turns; customers that models play are asked all at once."""
    if not any(awaited(turn.rollout.episode.setting.customer) for turn in turns):
        for turn in turns:
            try:
                turn.rollout.add_model(*turn[1:])
            except (CustomerFailed, JudgeFailed) as error:
                _give_up(turn.rollout, error)
        return

    async def gathered() -> None:
        await asyncio.gather(*map(_add, turns))

    # the trainer may itself run inside an event loop, such as a notebook's
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, gathered()).result()


async def _add(turn: _Turn) -> None:
    try:
        await turn.rollout.aadd_model(*turn[1:])
    except (CustomerFailed, JudgeFailed) as error:
        _give_up(turn.rollout, error)


def _give_up(rollout: TokenEpisode, error: CustomerFailed | JudgeFailed) -> None:
    _log.warning("an episode of %s is invalid: %s", rollout.episode.ticket.env_id, error)
    failed = "customer_error" if isinstance(error, CustomerFailed) else "judge_error"
    rollout.truncate(failed)


def _budget(rollout: TokenEpisode, trainer: Any) -> int:
    budget: int = trainer.max_completion_length
    config = trainer.model.config
    context = getattr(config, "max_position_embeddings", None)
    if context is None:
        return budget
    left = int(context) - len(rollout.prompt_ids)
    if left < 1:
        raise OptionError(
            f"a prompt of {rollout.episode.ticket.env_id} has {len(rollout.prompt_ids)} tokens, "
            f"the model's context {context}: offer fewer tools (tools=...) or take another model"
        )
    return min(budget, left)


@contextmanager
def _capped(trainer: Any, tokens: int) -> Iterator[None]:
    """Let the trainer sample at most so many tokens a turn, whichever engine it uses."""
    holders = [
        (getattr(trainer, "generation_config", None), "max_new_tokens"),
        (getattr(trainer, "vllm_generation", None), "max_completion_length"),
    ]
    kept = [(holder, name, getattr(holder, name)) for holder, name in holders if holder is not None]
    for holder, name, _ in kept:
        setattr(holder, name, tokens)
    try:
        yield
    finally:
        for holder, name, value in kept:
            setattr(holder, name, value)


def columns(rollouts: Sequence[TokenEpisode], end: int) -> dict[str, list[Any]]:
    """The rollouts as TRL takes them: three lists of ids, a mask, and columns for rewards and logs.

    Args:
        rollouts: All ended.
        end: The id that stands, masked, for a rollout in which nothing was sampled: TRL has no
            empty completions.
    """
    result: dict[str, list[Any]] = {"prompt_ids": [], "completion_ids": [], "env_mask": []}
    logprobs: list[list[float] | None] = []
    for rollout in rollouts:
        start = len(rollout.prompt_ids)
        result["prompt_ids"].append(list(rollout.prompt_ids))
        result["completion_ids"].append(rollout.completion_ids or [end])
        result["env_mask"].append(rollout.completion_mask or [0])
        known = rollout.logprobs
        logprobs.append(None if known is None else known[start:] or [0.0])
    sampled = [known for known in logprobs if known is not None]
    result["logprobs"] = sampled if len(sampled) == len(logprobs) else None  # type: ignore[assignment]
    infos = [rollout.episode.info() for rollout in rollouts]
    result["reward"] = [rollout.reward for rollout in rollouts]
    result["turn_rewards"] = [[turn.reward for turn in r.turn_rewards] for r in rollouts]
    result["turn_spans"] = [
        [[s - len(r.prompt_ids), e - len(r.prompt_ids)] for s, e in r.turn_spans] for r in rollouts
    ]
    for name in ("outcome", "valid", "turn", "tool_calls", "invalid"):
        result[name] = [info[name] for info in infos]
    result["success"] = [info["metrics"]["success"] for info in infos]
    return result
