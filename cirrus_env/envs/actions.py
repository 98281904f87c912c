"""From what a caller sends to one seat's action.

A programmer's mistake raises ``InvalidAction`` and changes nothing: a wrong Python type, a missing
or unknown key, an index outside its ``Discrete``. What is wrong inside a text or its arguments is
the model's mistake: it passes through here and the engine counts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Final

import numpy as np

from cirrus_env.envs.spaces import TOOLS
from cirrus_env.errors import InvalidAction
from cirrus_env.wire import (
    ASSISTANT_KINDS,
    CUSTOMER_KINDS,
    AssistantAction,
    CustomerAction,
    ToolCall,
    encodes,
)

_ASSISTANT_KEYS: Final = frozenset({"type", "text", "tool", "arguments"})
_CUSTOMER_KEYS: Final = frozenset({"type", "text", "console"})
_CHAT_KEYS: Final = frozenset({"role", "content", "tool_calls"})


def assistant_action(action: Any, tools: Sequence[str]) -> Any:
    """Turn an action of the ``Dict`` space into an ``AssistantAction``.

    Strings, chat messages (dicts or objects) and ``AssistantAction`` are returned as they are: the
    episode reads them.

    Args:
        action: What ``step`` was given.
        tools: The tools' names, in the order of the observation's ``tools``.

    Raises:
        InvalidAction: For a missing or unknown key, a wrong type, or an index out of range.
    """
    if not isinstance(action, Mapping) or not _CHAT_KEYS.isdisjoint(action):
        return action
    _check_keys(action, _ASSISTANT_KEYS)
    kind = ASSISTANT_KINDS[_index(action, "type", len(ASSISTANT_KINDS))]
    tool = _index(action, "tool", TOOLS)
    text, arguments = _text(action, "text"), _text(action, "arguments")
    if kind == "call":
        # beyond this ticket's list: no such tool, which the engine answers and counts
        name = tools[tool] if tool < len(tools) else f"tool_{tool}"
        return AssistantAction("call", text, (ToolCall("", name, arguments),))
    return AssistantAction(kind, text, queue=arguments if kind == "escalate" else "")


def customer_action(action: Any, console: Sequence[str], max_chars: int) -> CustomerAction:
    """Turn what the customer's seat was given into a ``CustomerAction``.

    A text that can't be stored or is too long, and a console action beyond the list, come to
    nothing said: the turn passes.

    Args:
        action: A text (said), an action of the ``Dict`` space, or a ``CustomerAction``.
        console: Names of its console actions, in the order of the observation's ``tools``.
        max_chars: Most characters of a message.

    Raises:
        InvalidAction: For a missing or unknown key, a wrong type, or an index out of range.
    """
    if isinstance(action, str):
        read = CustomerAction("say", action)
    elif isinstance(action, CustomerAction):
        read = action
    elif isinstance(action, Mapping):
        _check_keys(action, _CUSTOMER_KEYS)
        kind = CUSTOMER_KINDS[_index(action, "type", len(CUSTOMER_KINDS))]
        chosen = _index(action, "console", TOOLS)
        text = _text(action, "text")
        name = console[chosen] if kind == "console" and chosen < len(console) else ""
        read = CustomerAction(kind, text, name)
    else:
        raise InvalidAction(
            "the customer's action is a text, a dict of its action space or a CustomerAction, "
            f"not {type(action).__name__}"
        )
    if len(read.text) > max_chars or not encodes(read.text):
        return CustomerAction("say")
    if read.kind == "console" and read.console not in console:
        return CustomerAction("say")
    return read


def _check_keys(action: Mapping[Any, Any], keys: frozenset[str]) -> None:
    if action.keys() == keys:
        return
    wanted = ", ".join(sorted(keys))
    given = ", ".join(sorted(map(repr, action))) or "none"
    raise InvalidAction(f"an action has exactly the keys {wanted}; given: {given}")


def _index(action: Mapping[Any, Any], key: str, bound: int) -> int:
    value = action[key]
    try:
        # older numpy takes booleans and arrays of one number for an index, with a warning
        number = -1 if _no_index(value) else index(value)
    except TypeError:
        number = -1
    if not 0 <= number < bound:
        raise InvalidAction(f"{key} is an integer in [0, {bound}), not {value!r}"[:200])
    return number


def _no_index(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or bool(getattr(value, "ndim", 0))


def _text(action: Mapping[Any, Any], key: str) -> str:
    value = action[key]
    if not isinstance(value, str):
        raise InvalidAction(f"{key} is a text, not {type(value).__name__}")
    return value
