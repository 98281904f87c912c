"""The format of a text by its marks, for models whose format isn't known beforehand."""

from __future__ import annotations

import re
from typing import Final

from cirrus_env.engine.formats import (
    deepseek,
    glm,
    hermes,
    kimi,
    mistral,
    plain_json,
    pythonic,
    qwen3_coder,
)
from cirrus_env.engine.formats.found import Found, Tools
from cirrus_env.engine.formats.scan import split_reasoning

_BY_MARK: Final = (
    (re.compile(r"<[｜|]tool▁call|<｜tool_call|<[｜|]DSML[｜|]"), deepseek.find),
    (re.compile(r"<\|tool_call(?:s?_section)?_begin\|>"), kimi.find),
    (re.compile(re.escape("[TOOL_CALLS]")), mistral.find),
    (re.compile(r"(?:<tool_call>\s*+)?<function=[^<>\n]+>"), qwen3_coder.find),
    (re.compile(r"<tool_call>\s*+[\w.\-/:]+\s*+(?:<arg_key>|</tool_call>)"), glm.find),
    (re.compile(r"<tool_call>"), hermes.find),
    (re.compile(r"<\|python_tag\|>\s*+\{"), plain_json.find_llama),
    (
        re.compile(r"<\|python_tag\|>|<\|python_start\|>|<\|tool_call_start\|>|<function_calls>"),
        pythonic.find,
    ),
)


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text in the format of its first mark; without marks as JSON, then as Python."""
    for part in (split_reasoning(text)[1], text):
        marks = [mark.search(part) for mark, _ in _BY_MARK]
        found = [(mark.start(), k) for k, mark in enumerate(marks) if mark]
        if found:
            return _BY_MARK[min(found)[1]][1](text, tools)
    alone = plain_json.find_json(text, tools)
    return alone if alone.calls or alone.fault else pythonic.find(text, tools)
