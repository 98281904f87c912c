"""GRPO by TRL's ``environment_factory``, on a CPU, with a model made in memory.

    pip install "cirrus-env[trl]"
    python examples/trl_environment_factory.py --steps 40

TRL runs the loop: it calls the methods of an environment object as tools, one class for each set of
tools, and asks it for the reward. For whole dialogues see ``trl_rollout_func.py``, for a real model
``train_grpo.py``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

from trl import GRPOConfig, GRPOTrainer
from trl_tiny import curve, only, prompt_texts, reference_turns, tiny_model, tiny_tokenizer

from cirrus_env.adapters.trl import CirrusSpec

TICKET, SEED = "ECS-Billing", 1
ASKED = {
    "tools": ["VerifyIdentity"],
    "system": "You are a support engineer. The customer's account is {account}.",
}  # a short prompt, since each turn reads it anew


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Train, print the reward curve, and return each step's mean reward."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--steps", type=int, default=40)
    arguments.add_argument("--group-size", type=int, default=8)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args(argv)
    turns = reference_turns(TICKET, SEED, as_tools=True)
    tokenizer = tiny_tokenizer(prompt_texts(TICKET, SEED, **ASKED), turns)
    spec = CirrusSpec(
        TICKET,
        seeds=[SEED],  # one scenario, since the ids in its turns are tokens of the tiny model
        view="tools",
        max_turns=3,
        reward={"progress": 1.0},
        **ASKED,
    )
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer, turns, seed=chosen.seed),
        processing_class=tokenizer,
        train_dataset=spec.train_dataset,
        environment_factory=spec.environment_factory,
        reward_funcs=spec.reward_funcs,
        args=GRPOConfig(
            output_dir=tempfile.mkdtemp(),
            max_steps=chosen.steps,
            num_generations=chosen.group_size,
            per_device_train_batch_size=chosen.group_size,
            max_completion_length=2048,
            max_tool_calling_iterations=5,
            learning_rate=2e-3,
            lr_scheduler_type="linear",
            scale_rewards="none",  # a group that differs little moves the model little
            beta=0.0,
            generation_kwargs=only(tokenizer, turns),
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            seed=chosen.seed,
        ),
    )
    trainer.train()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    print(curve(rewards))
    return rewards


if __name__ == "__main__":
    main()
