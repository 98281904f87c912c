"""The Tinker cookbook's own environment over ours, by one of its renderers; no service."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("tinker_cookbook")

from tinker_cookbook.renderers import get_renderer
from tinker_cookbook.renderers.base import ToolCall, UnparsedToolCall
from tinker_cookbook.rl.message_env import EnvFromMessageEnv
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cirrus_env.adapters.tinker import CirrusMessageEnv
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError

pytestmark = pytest.mark.trainer

CALL = '<tool_call>\n{"name": "GetAccountProfile", "arguments": {}}\n</tool_call>'
CLOSE = '<tool_call>\n{"name": "close_ticket", "arguments": {"message": "Bye."}}\n</tool_call>'


@pytest.fixture(scope="module")
def tokenizer():
    """Bytes as tokens, and the marks of Qwen's chats."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|im_end|>")


@pytest.fixture(scope="module")
def renderer(tokenizer):
    return get_renderer("qwen3_disable_thinking", tokenizer)


def test_an_episode_through_the_cookbooks_environment_is_the_cores(tokenizer, renderer):
    twin = TicketEpisode("ECS-Billing", parser="hermes")
    opening, _ = twin.reset(seed=3)
    inner = CirrusMessageEnv(renderer, "ECS-Billing", seed=3)
    env = EnvFromMessageEnv(renderer, inner)
    assert env.example_id == "Cirrus/ECS-Billing-v0:3"

    async def go():
        prompt, _ = await env.initial_observation()
        text = tokenizer.decode(prompt.to_ints())
        assert opening[0]["content"] in text
        assert opening[1]["content"] in text
        assert '"close_ticket"' in text
        results = []
        for said in ("Which instance is it?", CALL, CLOSE):
            ids = tokenizer(said + "<|im_end|>", add_special_tokens=False)["input_ids"]
            results.append(await env.step(ids))
        return results

    results = asyncio.run(go())
    for said, result in zip(("Which instance is it?", CALL, CLOSE), results, strict=True):
        core = twin.step(said)
        assert result.reward == core.reward
        assert result.episode_done == (core.terminated or core.truncated)
        if not result.episode_done:
            text = tokenizer.decode(result.next_observation.to_ints())
            assert all(each["content"] in text for each in core.delta)
    assert results[-1].metrics["success"] == 0.0
    assert results[-1].logs["outcome"] == "closed_early"


def test_the_cookbooks_own_messages_are_read(renderer):
    async def go():
        env = CirrusMessageEnv(renderer, "ECS-Billing", seed=3)
        await env.initial_observation()
        body = ToolCall.FunctionBody(name="GetAccountProfile", arguments="{}")
        called = {"role": "assistant", "content": "", "tool_calls": [ToolCall(function=body)]}
        first = await env.step(called)
        broken = UnparsedToolCall(raw_text="{", error="no JSON")
        wrong = {"role": "assistant", "content": "", "unparsed_tool_calls": [broken]}
        return first, await env.step(wrong)

    first, second = asyncio.run(go())
    assert first.next_messages[-1]["name"] == "GetAccountProfile"
    assert second.reward < 0
    assert second.next_messages[: len(first.next_messages)] == first.next_messages


def test_what_failed_is_raised_not_rewarded(renderer):
    class Failing(SimulatedCustomer):
        name = "failing"

        def react(self, mind, view):
            raise EndpointError("down")

    async def go():
        env = CirrusMessageEnv(renderer, "ECS-Billing", seed=3, customer=Failing())
        await env.initial_observation()
        await env.step({"role": "assistant", "content": "Hello?"})

    with pytest.raises(EndpointError, match="customer_error"):
        asyncio.run(go())
