"""What loops over plain text share: tools told in the prompt, and failures that are no rewards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cirrus_env.engine.episode import Step
from cirrus_env.engine.formats import render_calls
from cirrus_env.engine.prompt import CLOSE
from cirrus_env.errors import EndpointError
from cirrus_env.wire import Message, ToolCall

_EXAMPLE = ToolCall("", CLOSE, '{"message": "Thank you for writing."}')


def with_tools(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], form: str
) -> list[Message]:
    """An opening whose system message also says which functions there are and how to call them.

    Args:
        messages: The opening, system message first.
        tools: OpenAI function schemas.
        form: A name in ``engine.formats.FORMATS``, the one that the episode's parser reads.

    Raises:
        OptionError: For a format that isn't there.
    """
    system, *rest = messages
    lines = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    text = (
        f"{system['content']}\n\nYou can call these functions, each given as JSON with the schema"
        f" of its arguments:\n{lines}\n\nA call is written so, and nothing else in the message:\n"
        f"{render_calls(form, [_EXAMPLE])}\nA message without a call goes to the customer."
    )
    return [{**system, "content": text}, *rest]


def earned(step: Step) -> float:
    """A step's reward, for loops that know no missing one.

    Raises:
        EndpointError: If the episode became invalid: a zero would be learned from.
    """
    if step.reward is None:
        raise EndpointError(f"the episode is invalid: {step.info['outcome']}")
    return step.reward
