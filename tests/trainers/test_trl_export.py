"""TRL's own trainers read the exported files, and the masks reach the loss."""

from __future__ import annotations

import copy
import json

import pytest

from cirrus_env.adapters.preferences import export_preferences
from cirrus_env.adapters.sft import collect_sft
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import bundled

trl = pytest.importorskip("trl")

pytestmark = pytest.mark.trainer

TICKET = bundled("ECS-Billing")
TOOLS = (
    "VerifyIdentity", "DescribeInstances", "QueryInstanceBill", "QueryAvailableInstances",
    "StartInstance", "StopInstance",
)  # fmt: skip
TEMPLATE = """\
{%- if tools %}<|im_start|>tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' %}{% generation %}{{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>{"name": {{ call.function.name | tojson }}, \
"arguments": {{ call.function.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>\
{% endgeneration %}
{% else %}{{ message.content }}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@pytest.fixture(scope="module")
def tokenizer():
    """Made in memory from the tickets' own words: short sequences, no hub."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=2000, initial_alphabet=alphabet, show_progress=False)
    episode = TicketEpisode(TICKET, tools=TOOLS)
    texts = [episode.reset(seed=seed)[0][0]["content"] for seed in range(3)]
    inner.train_from_iterator([*texts, episode.tools_json], trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|pad|>",
        extra_special_tokens=["<|im_start|>"],
    )  # fmt: skip
    made.chat_template = TEMPLATE
    return made


@pytest.fixture
def model(tokenizer):
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=8192,
        )
    )  # fmt: skip


def loaded(path):
    from datasets import load_dataset

    return load_dataset("json", data_files=str(path), split="train", cache_dir=str(path.parent))


def settings(tmp_path):
    return {
        "output_dir": str(tmp_path / "out"), "max_steps": 1, "per_device_train_batch_size": 1,
        "report_to": [], "save_strategy": "no", "use_cpu": True, "max_length": None,
        "logging_steps": 1, "disable_tqdm": True,
    }  # fmt: skip


def test_the_loss_is_on_the_agents_messages_alone(tmp_path, tokenizer, model):
    path = tmp_path / "sft.jsonl"
    collect_sft([TICKET], range(2), path, tools=TOOLS)
    config = trl.SFTConfig(**settings(tmp_path), assistant_only_loss=True)
    dataset = loaded(path)
    row = json.loads(path.read_text().splitlines()[0])
    assert dataset[0]["tools"] == row["tools"]
    trainer = trl.SFTTrainer(model, args=config, train_dataset=dataset, processing_class=tokenizer)
    example = trainer.train_dataset[0]
    trained = tokenizer.decode([label for label in example["labels"] if label != -100])
    said = trained.split("<|im_end|>")[:-1]
    agents = [m for m, keep in zip(row["messages"], row["mask"], strict=True) if keep]
    assert len(said) == len(agents)
    for text, message in zip(said, agents, strict=True):
        calls = message.get("tool_calls", ())
        assert text.startswith(message["content"])
        for call in calls:
            assert f'"name": "{call["function"]["name"]}"' in text
    assert trainer.train().training_loss > 0


def test_a_line_an_action_is_trained_without_generation_marks(tmp_path, tokenizer, model):
    path = tmp_path / "turns.jsonl"
    collect_sft([TICKET], range(1), path, per_turn=True, tools=TOOLS)
    trainer = trl.SFTTrainer(
        model, args=trl.SFTConfig(**settings(tmp_path)), train_dataset=loaded(path),
        processing_class=tokenizer,
    )  # fmt: skip
    row = json.loads(path.read_text().splitlines()[-1])
    example = trainer.train_dataset[-1]
    kept = [label for label in example["labels"] if label != -100]
    assert tokenizer.decode(kept).startswith(row["completion"][0]["content"])
    assert trainer.train().training_loss > 0


@pytest.mark.parametrize("whole", [False, True])
def test_pairs_train_a_preference(tmp_path, tokenizer, model, whole):
    agents = [find_agent(name) for name in ("oracle", "keyword")]
    run_jobs(jobs_for(agents, [TICKET], range(2)),
             settings={"tools": TOOLS}, folder=tmp_path / "run")  # fmt: skip
    path = tmp_path / "pairs.jsonl"
    assert export_preferences(tmp_path / "run", path, whole=whole).to_json()["written"] == 2
    trainer = trl.DPOTrainer(
        model, copy.deepcopy(model), args=trl.DPOConfig(**settings(tmp_path)),
        train_dataset=loaded(path), processing_class=tokenizer,
    )  # fmt: skip
    row = json.loads(path.read_text().splitlines()[0])
    example = trainer.train_dataset[0]
    assert tokenizer.decode(example["chosen_ids"]).startswith(row["chosen"][0]["content"])
    assert trainer.train().training_loss > 0
