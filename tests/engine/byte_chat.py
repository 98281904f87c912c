"""A tokenizer of bytes with a few marks, and chat templates of several habits; no dependency."""

from __future__ import annotations

import json
from typing import Any

START, END, PAD = 256, 257, 258
MARKS = {START: "<|start|>", END: "<|end|>", PAD: "<|pad|>"}
SIZE = 259


def encode(text: str) -> list[int]:
    return list(text.encode())


class ByteTokenizer:
    """As far as ``PrefixRender`` knows a tokenizer.

    Templates: ``plain``; ``drops`` leaves out an earlier turn's thoughts once the user speaks;
    ``last`` writes the tools before the last user message; ``head`` writes other headers where
    there are tools; ``no-tools`` refuses results; ``open`` marks no end of a turn;
    ``silent`` leaves the tools out.
    """

    def __init__(self, template: str = "plain", eos: int | None = END) -> None:
        self.template, self.eos_token_id = template, eos

    def apply_chat_template(
        self,
        messages: list[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        return_dict: bool = True,
        thoughts: bool = True,
    ) -> list[int]:
        assert tokenize
        assert not return_dict
        habit = chat_template or self.template
        users = [k for k, m in enumerate(messages) if m["role"] == "user"]
        tools_at = users[-1] if habit == "last" else 0
        ids: list[int] = []
        for k, message in enumerate(messages):
            role = message["role"]
            if role == "tool" and habit == "no-tools":
                raise ValueError("no such role")
            if tools and k == tools_at and habit != "silent":
                ids += [START, *encode("tools\n" + json.dumps(tools)), END]
            name = role.upper() if habit == "head" and tools else role
            ids += [START, *encode(name + "\n")]
            if role == "assistant" and thoughts and (habit != "drops" or k > users[-1]):
                ids += encode("<think></think>")
            ids += encode(message["content"])
            for call in message.get("tool_calls", ()):
                assert isinstance(call["function"]["arguments"], dict | str)
                ids += encode(json.dumps(call["function"]))
            ids += encode("\n") if habit == "open" else [END, *encode("\n")]
        return [*ids, START, *encode("assistant\n")] if add_generation_prompt else ids

    def decode(
        self, ids: list[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: bool
    ) -> str:
        assert not skip_special_tokens
        assert not clean_up_tokenization_spaces
        data = b"".join(MARKS[i].encode() if i in MARKS else bytes([i]) for i in ids)
        return data.decode(errors="replace")
