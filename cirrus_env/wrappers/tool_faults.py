"""``ToolFaults``: the cloud's answers go wrong now and then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.wrappers.inner import ticket_env_of


class ToolFaults(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Tool calls meet throttling, lost answers, stale reads and partial pages (``cloud.faults``).

    Which call meets which fault depends on the seed and the call's number alone: the same seed and
    actions give the same episode again. In force from the next ``reset`` on.

    >>> import gymnasium, cirrus_env
    >>> env = ToolFaults(gymnasium.make("Cirrus/ECS-Billing-v0"), {"throttling": 1.0})
    >>> _ = env.reset(seed=7)
    >>> call = {"name": "DescribeInstances", "arguments": "{}"}
    >>> message = {"role": "assistant", "tool_calls": [{"id": "a", "function": call}]}
    >>> "Throttling.User" in env.step(message)[0]["message"]
    True

    Args:
        env: A ticket environment.
        rates: ``mild``, ``harsh``, shares of the calls by kind (``throttling``, ``timeout``,
            ``stale``, ``partial``), or None for none.

    Raises:
        OptionError: For other rates or another environment.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], rates: str | Mapping[str, float] | None = "mild"
    ) -> None:
        inner = ticket_env_of(env)
        RecordConstructorArgs.__init__(self, rates=rates)
        gymnasium.Wrapper.__init__(self, env)
        inner.configure(faults=rates)
