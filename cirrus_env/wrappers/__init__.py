"""Gymnasium wrappers; each changes one thing, and any of them can be put over any other.

====================  ============================================================================
wrapper               what it does
====================  ============================================================================
``ChatMessages``      observations are chat messages and tool schemas
``ToolCallText``      actions are the raw text of a model of some family
``CandidateActions``  ``Discrete`` actions with masks and a ``Box`` observation
====================  ============================================================================

Each is made for ``gymnasium.make``'s environments, comes back from ``env.spec``, and refuses what
it can't work with (``OptionError``) when it is made. They load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cirrus_env.wrappers.candidates.view import CandidateActions
    from cirrus_env.wrappers.chat import ChatMessages, ToolCallText

__all__ = [
    "CandidateActions",
    "ChatMessages",
    "ToolCallText",
]

_LAZY: Final = {
    "CandidateActions": "cirrus_env.wrappers.candidates.view",
    "ChatMessages": "cirrus_env.wrappers.chat",
    "ToolCallText": "cirrus_env.wrappers.chat",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
