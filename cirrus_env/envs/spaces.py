"""The spaces of both seats: equal for every ticket, so that any tickets batch together."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cirrus_env.envs import freetext_vector  # noqa: F401  # registers FreeText for vector envs
from cirrus_env.envs.freetext import FreeText
from cirrus_env.wire import ASSISTANT_KINDS, CUSTOMER_KINDS

__all__ = [
    "MAX_CHARS",
    "MAX_STEPS",
    "TOOLS",
    "FreeText",
    "Mask",
    "action_mask",
    "assistant_action_space",
    "customer_action_space",
    "observation_space",
]

TOOLS: Final = 256
"""Bound of the tool index, and of the customer's console actions."""

MAX_CHARS: Final = 1_000_000
"""Most characters of one message; the limit ``max_chars`` may not exceed it."""

MAX_STEPS: Final = 100_000
"""Most turns of an episode; the limit ``max_turns`` may not exceed it."""

_MAX_TRANSCRIPT: Final = 32_000_000
_ROLES: Final = 32

Mask = dict[str, NDArray[np.int8] | None]
"""Shaped like an action space, as its ``sample(mask=...)`` wants it; None for text."""


def observation_space() -> spaces.Dict[Any]:
    """What a seat observes; the assistant's and the customer's are equal.

    Built anew at each call, since a space holds the state of its own sampling.
    """
    return spaces.Dict(
        {
            "message": FreeText(_MAX_TRANSCRIPT),
            "role": FreeText(_ROLES),
            "transcript": FreeText(_MAX_TRANSCRIPT),
            "tools": FreeText(_MAX_TRANSCRIPT),
            "turn": spaces.Discrete(MAX_STEPS + 1),
            "budget": spaces.Discrete(MAX_STEPS + 1),
        }
    )


def assistant_action_space() -> spaces.Dict[Any]:
    """``type`` (reply, call, close, escalate), ``text``, ``tool`` (an index), ``arguments``."""
    return spaces.Dict(
        {
            "type": spaces.Discrete(len(ASSISTANT_KINDS)),
            "text": FreeText(MAX_CHARS),
            "tool": spaces.Discrete(TOOLS),
            "arguments": FreeText(MAX_CHARS),
        }
    )


def customer_action_space() -> spaces.Dict[Any]:
    """``type`` (say, console, accept, leave), ``text``, ``console`` (an index)."""
    return spaces.Dict(
        {
            "type": spaces.Discrete(len(CUSTOMER_KINDS)),
            "text": FreeText(MAX_CHARS),
            "console": spaces.Discrete(TOOLS),
        }
    )


def action_mask(kinds: tuple[bool, ...], offered: int, *, index: str) -> Mask:
    """A fresh mask: which types and which tools (or console actions) make sense now.

    Args:
        kinds: For each type, whether it does.
        offered: How many tools or console actions there are.
        index: The key of their index, ``tool`` or ``console``.
    """
    types, indices = _templates(kinds, offered)
    mask: Mask = {"type": types.copy(), "text": None, index: indices.copy()}
    if index == "tool":
        mask["arguments"] = None
    return mask


@lru_cache(maxsize=1024)
def _templates(kinds: tuple[bool, ...], offered: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    # an index mask of zeros samples 0, which is what an action without a tool carries
    indices = np.zeros(TOOLS, dtype=np.int8)
    indices[:offered] = 1
    types = np.array(kinds, dtype=np.int8)
    for template in (types, indices):
        template.setflags(write=False)
    return types, indices
