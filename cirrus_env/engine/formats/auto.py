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

_BY_MARK: Final = (
    (re.compile(r"<[｜|]tool▁call|<｜tool_call|<[｜|]DSML[｜|]"), deepseek.find),
    (re.compile(r"<\|tool_call(?:s?_section)?_begin\|>"), kimi.find),
    (re.compile(re.escape("[TOOL_CALLS]")), mistral.find),
    (re.compile(r"<function=[^<>\n]+>"), qwen3_coder.find),
    (re.compile(r"<tool_call>\s*+[\w.\-/:]+\s*+(?:<arg_key>|</tool_call>)"), glm.find),
    (re.compile(r"<tool_call>"), hermes.find),
    (re.compile(r"<\|python_tag\|>\s*+\{"), plain_json.find_llama),
    (re.compile(r"<\|python_tag\|>|<\|python_start\|>|<\|tool_call_start\|>"), pythonic.find),
)


def find(text: str, tools: Tools | None = None) -> Found:
    """Read a text in the format that its marks tell; without marks as JSON, then as Python."""
    for mark, reader in _BY_MARK:
        if mark.search(text):
            return reader(text, tools)
    found = plain_json.find_json(text, tools)
    return found if found.calls or found.fault else pythonic.bare(found, tools)
