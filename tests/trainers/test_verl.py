"""verl's own agent-loop class, asked as its workers ask it; the engine's answers are scripted."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("verl")
pytest.importorskip("transformers")

from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl.experimental.agent_loop.agent_loop import DictConfigWrap, _agent_loop_registry
from verl.workers.rollout.replica import TokenOutput

from cirrus_env.adapters.verl import CirrusAgentLoop
from cirrus_env.customers import registry
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError, OptionError

pytestmark = pytest.mark.trainer

TEMPLATE = (
    "{% if tools %}{% for tool in tools %}{{ tool.function.name }}\n{% endfor %}{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer():
    """Bytes as tokens, and the two marks of a chat."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", chat_template=TEMPLATE
    )


class Engine:
    """Says these texts, one a turn."""

    def __init__(self, tokenizer, *texts, stop_reason="completed"):
        self._tokenizer, self._texts, self._stop = tokenizer, texts, stop_reason
        self.asked = []

    async def generate(self, request_id, *, prompt_ids, sampling_params):
        text = self._texts[min(len(self.asked), len(self._texts) - 1)]
        self.asked.append((request_id, prompt_ids, sampling_params))
        ids = self._tokenizer(text + "<|im_end|>", add_special_tokens=False)["input_ids"]
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), stop_reason=self._stop)


def loop_of(tokenizer, engine, *, prompt=100_000, response=20_000):
    rollout = {"prompt_length": prompt, "response_length": response}
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}})

    async def make():
        return CirrusAgentLoop(
            trainer_config=DictConfigWrap(config), server_manager=engine, tokenizer=tokenizer,
            processor=None, dataset_cls=None, data_config=DictConfigWrap(OmegaConf.create({})),
        )  # fmt: skip

    return make


def run(make, **extra):
    async def go():
        loop = await make()
        row = {"raw_prompt": [], "extra_info": {"ticket": "ECS-Billing", "seed": 3, **extra}}
        return await loop.run({"temperature": 1.0}, **row)

    return asyncio.run(go())


def test_the_loop_is_registered_by_name():
    assert _agent_loop_registry["cirrus"]["_target_"].endswith("verl.CirrusAgentLoop")


def test_a_row_becomes_one_sequence_with_its_mask_and_its_return(tokenizer):
    texts = (
        "Which instance is it?",
        '<tool_call>\n{"name": "GetAccountProfile", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "close_ticket", "arguments": {"message": "Bye."}}\n</tool_call>',
    )
    engine = Engine(tokenizer, *texts)
    output = run(loop_of(tokenizer, engine))
    twin = TicketEpisode("ECS-Billing", parser="hermes")
    twin.reset(seed=3)
    rewards = [twin.step(text).reward for text in texts]
    assert output.reward_score == pytest.approx(sum(rewards), abs=1e-6)
    assert output.extra_fields["turn_scores"] == pytest.approx(rewards, abs=1e-6)
    assert output.num_turns == 3
    assert len(output.response_ids) == len(output.response_mask) == len(output.response_logprobs)
    ends = "<|im_end|>".join(texts) + "<|im_end|>"
    sampled = [i for i, m in zip(output.response_ids, output.response_mask, strict=True) if m]
    assert tokenizer.decode(sampled) == ends
    assert engine.asked[0][1] == output.prompt_ids
    whole = output.prompt_ids + output.response_ids
    assert all(whole[: len(ids)] == ids for _, ids, _ in engine.asked)
    assert len({request for request, _, _ in engine.asked}) == 1
    as_dict = output.as_dict()
    assert float(as_dict["rm_scores"][-1]) == pytest.approx(output.reward_score, abs=1e-6)


def test_a_full_response_stops_the_ticket_and_fits(tokenizer):
    output = run(loop_of(tokenizer, Engine(tokenizer, "Which instance is it?"), response=60))
    assert len(output.response_ids) <= 60
    assert output.reward_score > 0


def test_what_failed_is_raised_not_rewarded(tokenizer, monkeypatch):
    class Failing(SimulatedCustomer):
        name = "failing"

        def react(self, mind, view):
            raise EndpointError("down")

    monkeypatch.setattr(registry, "CUSTOMERS", {**registry.CUSTOMERS, "failing": Failing})
    engine = Engine(tokenizer, "Hello?")
    with pytest.raises(EndpointError, match="customer_error"):
        run(loop_of(tokenizer, engine), customer="failing")
    with pytest.raises(EndpointError, match="agent_error"):
        run(loop_of(tokenizer, Engine(tokenizer, "Hello?", stop_reason="aborted")))
    with pytest.raises(OptionError, match="prompt_length"):
        run(loop_of(tokenizer, engine, prompt=100))
