r"""GRPO of a real instruct model on support tickets.

    pip install "cirrus-env[trl]"
    python examples/train_grpo.py --model Qwen/Qwen2.5-7B-Instruct --lora --use-vllm \
        --group-size 8 --steps 200 --parser hermes --output runs/qwen

A folder may be given as the model, and a GGUF file in it by ``--gguf``. All tools' schemas together
are some 13,000 tokens of every prompt: models with a small context get a selection by ``--tools``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
sys.path.insert(0, str(Path(__file__).parent))

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer, chat_template_utils
from trl_tiny import curve

from cirrus_env.adapters.trl import VIEWS, CirrusSpec


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--model", required=True, help="a folder or a hub name")
    add("--gguf", help="the GGUF file in it")
    add("--chat-template", help="a template's file, or a name of TRL's, such as qwen2_5_training")
    add("--lora", type=int, nargs="?", const=16, default=0, metavar="RANK", help="train a LoRA")
    add("--use-vllm", action="store_true", help="sample with vLLM on the same GPU")
    add("--steps", type=int, default=200)
    add("--group-size", type=int, default=8, help="rollouts of one ticket and seed")
    add("--batch-size", type=int, help="rollouts a step and device; a group by default")
    add("--accumulate", type=int, default=1, help="micro-batches that a batch is split into")
    add("--learning-rate", type=float, default=1e-5)
    add("--beta", type=float, default=0.0, help="weight of the KL term")
    add("--tickets", nargs="+", help="ids, pools, names or files; all of the split by default")
    add("--split", choices=("train", "test"), default="train")
    add("--episodes", type=int, default=1024, help="different rows of the data set")
    add("--seed", type=int, default=0)
    add("--view", choices=VIEWS, default="dialogue")
    add("--parser", default="auto", help="the family's tool-call format, such as hermes")
    add("--reward", default="cirrus")
    add("--max-turns", type=int, default=20)
    add("--max-turn-tokens", type=int, default=512)
    add("--max-completion", type=int, default=8192, help="tokens of a whole dialogue")
    add("--tools", nargs="*", help="offer only these tools")
    add("--system", help="a system text instead of the ticket's")
    add("--output", default="runs/grpo")
    return parser.parse_args(argv)


def load(chosen: argparse.Namespace) -> tuple[Any, Any]:
    """Model and tokenizer; weights in bfloat16 where there is a GPU."""
    kind = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    source = {"gguf_file": chosen.gguf} if chosen.gguf else {}
    tokenizer = AutoTokenizer.from_pretrained(chosen.model, **source)
    model = AutoModelForCausalLM.from_pretrained(chosen.model, dtype=kind, **source)
    if chosen.gguf:
        # loading has dequantised the weights, yet the model still says that it can't be trained
        model.is_quantized, model.hf_quantizer = False, None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
    if chosen.chat_template:
        file = Path(chosen.chat_template)
        tokenizer.chat_template = (
            file.read_text("utf-8")
            if file.is_file()
            else getattr(chat_template_utils, f"{chosen.chat_template}_chat_template")
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Train, save, print the reward curve, and return each step's mean reward."""
    chosen = parse(argv)
    spec = CirrusSpec(
        chosen.tickets,
        split=chosen.split,
        seed=chosen.seed,
        episodes=chosen.episodes,
        view=chosen.view,
        max_turns=chosen.max_turns,
        reward=chosen.reward,
        parser=chosen.parser,
        max_turn_tokens=chosen.max_turn_tokens,
        tools=chosen.tools,
        system=chosen.system,
    )
    model, tokenizer = load(chosen)
    lora = None
    if chosen.lora:
        from peft import LoraConfig

        lora = LoraConfig(
            r=chosen.lora,
            lora_alpha=2 * chosen.lora,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
    loop: dict[str, Any] = {"rollout_func": spec.rollout_func}
    if chosen.view == "tools":
        loop = {"environment_factory": spec.environment_factory}
    batch = chosen.batch_size or chosen.group_size
    gpu = torch.cuda.is_available()
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=spec.train_dataset,
        reward_funcs=spec.reward_funcs,
        peft_config=lora,
        args=GRPOConfig(
            output_dir=chosen.output,
            max_steps=chosen.steps,
            num_generations=chosen.group_size,
            per_device_train_batch_size=batch // chosen.accumulate,
            gradient_accumulation_steps=chosen.accumulate,
            max_completion_length=chosen.max_completion,
            max_tool_calling_iterations=3 * chosen.max_turns,
            learning_rate=chosen.learning_rate,
            lr_scheduler_type="constant",
            beta=chosen.beta,
            use_vllm=chosen.use_vllm,
            vllm_mode="colocate",
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=not gpu,
            bf16=gpu,
            seed=chosen.seed,
        ),
        **loop,
    )
    trainer.train()
    trainer.save_model(chosen.output)
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    print(curve(rewards))
    return rewards


if __name__ == "__main__":
    main()
