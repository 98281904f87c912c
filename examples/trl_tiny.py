"""A tokenizer and a language model of 0.1 M parameters, made in memory: nothing is downloaded.

An untrained model writes noise. So that its noise can be played at all, each useful turn (a tool
call in Hermes form, or a reply) is one token of its own that also ends the turn, and sampling is
held to those tokens. Everything else, the trainer included, is what a real model has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cirrus_env import TicketEpisode
from cirrus_env.engine.formats import render_calls
from cirrus_env.engine.plan import reference_actions
from cirrus_env.wire import AssistantAction, ToolCall, canonical

END = "<|im_end|>"


def prompt_texts(ticket: str, seed: int, **kwargs: Any) -> list[str]:
    """The texts that a ticket's prompt is made of, to train a tokenizer on."""
    episode = TicketEpisode(ticket, **kwargs)
    messages, _ = episode.reset(seed=seed)
    texts = [message["content"] for message in messages]
    return [*texts, *(json.dumps(tool) for tool in episode.chat_tools)]


def reference_turns(ticket: str, seed: int, *, as_tools: bool = False, **kwargs: Any) -> list[str]:
    """The turns of a ticket's reference as a model would write them.

    Args:
        ticket: The ticket's name.
        seed: The scenario's seed: ids and amounts stand in the turns.
        as_tools: Whether replies are calls too, as TRL's environments need it.
        **kwargs: Further arguments of ``TicketEpisode``.
    """
    episode = TicketEpisode(ticket, **kwargs)
    episode.reset(seed=seed)
    return [_written(action, as_tools) for action in reference_actions(episode.scenario)]


def _written(action: AssistantAction, as_tools: bool) -> str:
    if action.kind == "reply" and not as_tools:
        return action.text
    calls: Sequence[ToolCall] = action.calls
    if action.kind == "reply":
        calls = [ToolCall("", "reply_to_customer", canonical({"message": action.text}))]
    elif action.kind == "close":
        calls = [ToolCall("", "close_ticket", canonical({"message": action.text}))]
    elif action.kind == "escalate":
        given = {"queue": action.queue, "summary": action.text}
        calls = [ToolCall("", "escalate_ticket", canonical(given))]
    return render_calls("hermes", calls)


def tiny_tokenizer(texts: Iterable[str], turns: Sequence[str], *, vocabulary: int = 1500) -> Any:
    """A byte-level BPE tokenizer trained on ``texts``, with one more token for each of ``turns``.

    Its chat template is that of Qwen 2.5, which keeps the token prefix for user and tool turns.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast
    from trl.chat_template_utils import qwen2_5_chat_template

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<|endoftext|>", "<|im_start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([*texts, qwen2_5_chat_template], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=END, pad_token="<|endoftext|>"
    )
    tokenizer.add_tokens([AddedToken(turn, normalized=False) for turn in turns])
    tokenizer.chat_template = qwen2_5_chat_template
    return tokenizer


def tiny_model(tokenizer: Any, turns: Sequence[str], *, seed: int = 0) -> Any:
    """A randomly initialised two-layer Qwen3, for which each of ``turns`` ends a turn."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        tie_word_embeddings=True,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = _ids(tokenizer, turns)
    return model


def only(tokenizer: Any, turns: Sequence[str]) -> dict[str, list[int]]:
    """Generation arguments that leave these turns."""
    kept = set(_ids(tokenizer, turns))
    return {"suppress_tokens": [k for k in range(len(tokenizer)) if k not in kept]}


def _ids(tokenizer: Any, turns: Sequence[str]) -> list[int]:
    ids: list[int] = tokenizer.convert_tokens_to_ids(list(turns))
    return ids


def curve(rewards: Sequence[float], width: int = 50) -> str:
    """The rewards as lines of text, each the mean of a tenth of the steps."""
    size = max(1, len(rewards) // 10)
    means = [sum(rewards[k : k + size]) / size for k in range(0, len(rewards) - size + 1, size)]
    top = max(*means, 0.01)
    return "\n".join(
        f"steps {k * size + 1:>3}-{(k + 1) * size:<3} {mean:7.3f} "
        + "#" * max(0, round(width * mean / top))
        for k, mean in enumerate(means)
    )
