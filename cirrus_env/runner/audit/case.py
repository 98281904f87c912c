"""One scenario under audit, and how episodes on it are played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.baselines.policy import Policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.play import drive
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.ticket import Ticket


class Finding(NamedTuple):
    """Something that a check found wrong.

    Attributes:
        check: The check's name.
        where: Ticket, variant, language and seed.
        problem: What is wrong.
    """

    check: str
    where: str
    problem: str


class Case(NamedTuple):
    """A ticket's variant in one language with one seed."""

    ticket: Ticket
    variant: str
    language: str
    seed: int

    @property
    def label(self) -> str:
        """As findings name it."""
        return f"{self.ticket.env_id} {self.variant} {self.language} seed {self.seed}"

    def episode(self) -> TicketEpisode:
        """A new episode on this scenario, just reset."""
        episode = TicketEpisode(self.ticket, language=self.language)
        episode.reset(seed=self.seed, options={"variant": self.variant})
        return episode

    def scenario(self) -> Scenario:
        """The scenario."""
        return self.episode().scenario


class Played(NamedTuple):
    """An episode that has ended.

    Attributes:
        episode: It.
        error: What failed; empty where nothing did.
    """

    episode: TicketEpisode
    error: str

    @property
    def success(self) -> bool:
        """Whether it ended with success."""
        outcome = self.episode.outcome
        return outcome is not None and outcome.success is True

    @property
    def returned(self) -> float:
        """Its return."""
        return sum(record.reward_micro for record in self.episode.records) / 1_000_000

    @property
    def ended(self) -> str:
        """Its outcome, and why where something is to blame."""
        outcome = self.episode.outcome
        name = "" if outcome is None else outcome.name
        if self.error:
            return f"{name} ({self.error})"
        broken = [] if outcome is None else [n for n, value in outcome.assertions if not value]
        passed = {e.name for r in self.episode.records for e in r.events if e.kind == "passed"}
        broken += [
            f"no {c.id}"
            for c in self.episode.scenario.gold.checkpoints
            if not c.skippable and c.id not in passed
        ]
        return f"{name} ({', '.join(broken)})" if broken else name


def play_case(case: Case, make: Callable[[TicketEpisode], Policy], name: str = "") -> Played:
    """Play a new episode of the case to its end."""
    episode = case.episode()
    return Played(episode, drive(Agent(name, make), episode, case.seed))


def play_oracle(case: Case, mode: str) -> Played:
    """Play a mode of the oracle on the case."""
    return play_case(case, lambda episode: oracle_for(episode, mode), f"oracle:{mode}")


def cases_of(
    tickets: Iterable[Ticket], seeds: Sequence[int], languages: Sequence[str] | None = None
) -> Iterator[Case]:
    """Every variant in every language with every seed."""
    for ticket in tickets:
        for variant in ticket.variants:
            for language in ticket.languages:
                if languages is None or language in languages:
                    for seed in seeds:
                        yield Case(ticket, variant, language, seed)
