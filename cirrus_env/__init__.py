"""Cloud-support tickets as reinforcement-learning environments.

Importing this package registers every ticket with Gymnasium, so that
``gymnasium.make("Cirrus/ECS-Billing-v0")`` works; everything else loads on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cirrus_env._version import __version__
from cirrus_env.envs.registration import ids, pools, register_all, register_tickets
from cirrus_env.errors import CirrusError

if TYPE_CHECKING:
    from cirrus_env.engine.episode import TicketEpisode
    from cirrus_env.envs.aec_env import TicketAECEnv
    from cirrus_env.envs.ticket_env import TicketEnv
    from cirrus_env.judging.reward import RewardRule
    from cirrus_env.tickets.load import load_ticket
    from cirrus_env.tickets.ticket import Ticket


__all__ = [
    "CirrusError",
    "RewardRule",
    "Ticket",
    "TicketAECEnv",
    "TicketEnv",
    "TicketEpisode",
    "__version__",
    "ids",
    "load_ticket",
    "pools",
    "register_all",
    "register_tickets",
]

_LAZY = {
    "RewardRule": "cirrus_env.judging.reward",
    "Ticket": "cirrus_env.tickets.ticket",
    "TicketAECEnv": "cirrus_env.envs.aec_env",
    "TicketEnv": "cirrus_env.envs.ticket_env",
    "TicketEpisode": "cirrus_env.engine.episode",
    "load_ticket": "cirrus_env.tickets.load",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)


register_all()
