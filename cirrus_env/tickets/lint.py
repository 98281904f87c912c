"""Static lint: what makes a ticket complete and hard to cheat, without running it.

Each rule is a small generator over one compiled variant in one language (or over the whole
ticket), yielding problems. Whether near-misses fail and ``must_pass`` replies trip nothing needs
the reading of replies; that is proven by audit, from the texts that lint makes sure are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from cirrus_env.errors import TicketError
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.rules_ticket import TICKET_RULES
from cirrus_env.tickets.rules_variant import VARIANT_RULES
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket


class Problem(NamedTuple):
    """One thing that lint found.

    Attributes:
        path: Where in the file, with the variant and language in brackets where they matter.
        rule: The rule's name.
        message: What is wrong and how to mend it.
    """

    path: str
    rule: str
    message: str


Found = Iterable[tuple[str, str]]
"""``(path, message)`` pairs."""

SEED: Final = 1
"""The seed whose scenario the rules look at; they look at nothing that a seed changes."""


def lint(ticket: Ticket) -> list[Problem]:
    """All problems of a ticket, sorted; none where it is fit to ship."""
    problems = set()
    scenarios: dict[tuple[str, str], Scenario] = {}
    for variant in ticket.variants:
        for language in ticket.languages:
            scenario = make_scenario(ticket, SEED, variant=variant, language=language)
            scenarios[variant, language] = scenario
            for name, variant_rule in VARIANT_RULES.items():
                for path, message in variant_rule(scenario):
                    where = f"{path} [{variant}, {language}]"
                    problems.add(Problem(where, name, message))
    for name, ticket_rule in TICKET_RULES.items():
        for path, message in ticket_rule(ticket, scenarios):
            problems.add(Problem(path, name, message))
    return sorted(problems)


def lint_file(path: Path | str) -> list[Problem]:
    """As ``lint``; a file that is no ticket at all is one problem."""
    try:
        ticket = load_ticket(path)
    except TicketError as error:
        message = f"{error.problem} ({error.mend})" if error.mend else error.problem
        return [Problem(error.path, "schema", message)]
    return lint(ticket)
