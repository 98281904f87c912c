"""Official protocols: what has to be the same for two published numbers to mean the same.

A protocol fixes tickets, seeds, languages, customer, judge, system text and limits under one name;
its digest also covers the tickets' texts, their constants and the reward's arithmetic, so that a
number carries what it was measured on (METRICS section 6). A changed protocol is a new name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.engine.prompt import system_text
from cirrus_env.errors import OptionError
from cirrus_env.judging.reward import REWARD_VERSION
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.play import Job
from cirrus_env.runner.run import jobs_for
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import digest


@dataclass(frozen=True, slots=True)
class Protocol:
    """A fixed way to measure agents.

    Attributes:
        name: Such as ``cirrus-1``.
        tickets: Names of bundled tickets.
        seeds: Scenario seeds; each draws the root cause.
        settings: Keyword arguments of ``TicketEpisode``.
    """

    name: str
    tickets: tuple[str, ...]
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]

    def jobs(self, agents: Iterable[Agent]) -> list[Job]:
        """Every agent on every ticket, in each of its languages, with every seed."""
        tickets = [bundled(name) for name in self.tickets]
        return jobs_for(agents, tickets, self.seeds, languages=("en", "zh"))

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all that the protocol fixes."""
        tickets = [bundled(name) for name in self.tickets]
        return digest(
            {
                "name": self.name,
                "tickets": {t.env_id: [t.digest, dict(t.constants)] for t in tickets},
                "system": [_system(t, language) for t in tickets for language in t.languages],
                "seeds": list(self.seeds),
                "settings": dict(self.settings),
                "reward": REWARD_VERSION,
            }
        )

    def to_json(self) -> dict[str, str]:
        """What results carry."""
        return {"name": self.name, "digest": self.digest}


def _system(ticket: Ticket, language: str) -> str:
    """A system text of the ticket: its rules are the package's, not the ticket file's."""
    return system_text(make_scenario(ticket, 0, language=language).public, None)


PROTOCOLS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {
        "cirrus-1": Protocol(
            "cirrus-1",
            ("Billing-Coupon", "Billing-Refund", "ECS-Port25", "VPC-Nat"),
            tuple(range(20)),
            MappingProxyType(
                {
                    "customer": "simulated",
                    "judge": "rule",
                    "reward": "cirrus",
                    "max_turns": 30,
                    "max_tool_calls": 60,
                    "max_invalid": 3,
                    "max_chars": 20_000,
                }
            ),
        )
    }
)
"""The official protocols by name."""


def protocol(name: str) -> Protocol:
    """The official protocol of this name.

    Raises:
        OptionError: If there is none.
    """
    if name not in PROTOCOLS:
        raise OptionError(f"there is no protocol {name!r}; there is {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
