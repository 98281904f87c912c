"""A ticket with a seed: the scenario that an episode runs on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.recorded import RecordedCatalogue, RecordedCloud
from cirrus_env.errors import OptionError
from cirrus_env.tickets.compile import Plan
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.parameters import Choice
from cirrus_env.tickets.scope import show
from cirrus_env.tickets.templates import PICK, Values
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.world import first_below


def make_scenario(
    ticket: Ticket, seed: int, *, variant: str | None = None, language: str | None = None
) -> Scenario:
    """The concrete facts of a ticket for a seed.

    Args:
        ticket: The ticket.
        seed: Any integer; the same seed gives the same scenario, byte for byte.
        variant: The root cause; drawn from the seed if None.
        language: One of the ticket's; its first if None.

    Raises:
        OptionError: For a variant or language that the ticket doesn't have.
    """
    variant, language = _chosen(ticket, seed, variant, language)
    return _made(ticket, seed, variant, language)


def shared_scenario(
    ticket: Ticket, seed: int, *, variant: str | None = None, language: str | None = None
) -> Scenario:
    """As ``make_scenario``, but those of a few moments ago are given again.

    The members of a group play one scenario, each in a fork of its cloud; that cloud itself must
    not be changed.
    """
    variant, language = _chosen(ticket, seed, variant, language)
    return _shared(ticket.plan(variant, language), ticket, seed, variant, language)


@lru_cache(maxsize=64)
def _shared(plan: Plan, ticket: Ticket, seed: int, variant: str, language: str) -> Scenario:
    # the plan tells tickets of one text apart that audit gave other constants
    return _made(ticket, seed, variant, language)


def _chosen(
    ticket: Ticket, seed: int, variant: str | None, language: str | None
) -> tuple[str, str]:
    if variant is None:
        variant = ticket.variants[first_below(seed, f"variant:{ticket.id}", len(ticket.variants))]
    elif variant not in ticket.variants:
        raise OptionError(f"{ticket.id} has no variant {variant!r}; {_listed(ticket.variants)}")
    if language is None:
        language = ticket.languages[0]
    elif language not in ticket.languages:
        raise OptionError(f"{ticket.id} has no language {language!r}; {_listed(ticket.languages)}")
    return variant, language


def _made(ticket: Ticket, seed: int, variant: str, language: str) -> Scenario:
    plan = ticket.plan(variant, language)
    values: Values = {"now": plan.now, PICK: first_below(seed, "wording", 1 << 64)}
    for name, draw in plan.parameters:
        values[name] = draw(seed, values)
    show(values, plan.early)
    cloud = _world(plan, seed, values)
    for key, measure, of in plan.measures:
        values[key] = cloud.measure(measure, values[of])
    show(values, plan.late)
    return Scenario(
        ticket, seed, variant,
        plan.public(values), plan.private(values), plan.gold(values),
        cloud, {name: _plain(values[name]) for name, _ in plan.parameters},
    )  # fmt: skip


def remake(ticket: Ticket, seed: int, variant: str, language: str) -> Scenario:
    """The scenario of a pickle: it is made again, for nothing in it is chance but the seed."""
    return make_scenario(ticket, seed, variant=variant, language=language)


def _listed(names: tuple[str, ...]) -> str:
    return f"there are {', '.join(names)}"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Choice) else value


def _world(plan: Plan, seed: int, values: Values) -> Cloud:
    if isinstance(plan.catalogue, RecordedCatalogue):
        return RecordedCloud(plan.catalogue.recording, values["account"], plan.now)
    cloud = Cloud(plan.catalogue, seed, values["account"], plan.now)
    for part in plan.records:
        cloud.insert(part(values))
    for make in plan.distractors:
        for record in make(seed, values):
            cloud.insert(record)
    postings = [posting for make in plan.history for posting in make(values)]
    if postings:
        postings.sort()
        cloud.ledger.append(postings)
    return cloud


def symbolic(scenario: Scenario, id: str) -> str:
    """An id as a ticket writes it: ``{instance}`` for that parameter's value, ``*`` for a new one.

    Audit stores what an oracle changed in this form, which holds for every seed.
    """
    for name, value in scenario.values.items():
        if value == id:
            return f"{{{name}}}"
    return "*"
