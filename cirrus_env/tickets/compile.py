"""A variant of a ticket in one language, compiled to what a seed only has to fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cirrus_env.cloud.catalogue import GENERAL, Catalogue, catalogue
from cirrus_env.cloud.recorded import recorded_catalogue
from cirrus_env.tickets.clauses import Names
from cirrus_env.tickets.customer import compile_private, present_console, present_facts
from cirrus_env.tickets.gold import compile_gold, present_checkpoints, present_slots
from cirrus_env.tickets.parameters import Draw, compile_parameters
from cirrus_env.tickets.public import compile_public
from cirrus_env.tickets.recording import recording_of
from cirrus_env.tickets.scope import Scope, Shown
from cirrus_env.tickets.templates import Part
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.tickets.world import (
    Postings,
    Records,
    compile_distractors,
    compile_history,
    compile_records,
)
from cirrus_env.world.clock import EPOCH, parse_iso


@dataclass(frozen=True, slots=True, eq=False)  # one object a ticket, variant and language
class Plan:
    """Everything about a variant that no seed changes.

    Attributes:
        catalogue: The services of its world.
        now: The opening moment.
        parameters: Name and draw of each parameter, in order.
        early: What placeholders show, known before the world is up.
        late: What measure placeholders show.
        measures: Value key, measure and the parameter that names its resource.
        records: Makers of the world's records.
        distractors: Makers of records of no importance.
        history: Makers of money history.
        public: Maker of ``Public``.
        private: Maker of ``Private``.
        gold: Maker of ``Gold``.
    """

    catalogue: Catalogue
    now: int
    parameters: tuple[tuple[str, Draw], ...]
    early: tuple[Shown, ...]
    late: tuple[Shown, ...]
    measures: tuple[tuple[str, str, str], ...]
    records: tuple[Part, ...]
    distractors: tuple[Records, ...]
    history: tuple[Postings, ...]
    public: Part
    private: Part
    gold: Part


def compile_plan(ticket: Ticket, variant: str, language: str) -> Plan:
    """Compile a variant in a language.

    Raises:
        TicketError: For a name that doesn't exist, a value of the wrong type, and the like.
    """
    data = ticket.data
    recording = recording_of(data, ticket.file)
    if recording is not None:
        services: Catalogue = recorded_catalogue(recording)
    else:
        services = catalogue((*GENERAL, *ticket.uses)) if ticket.uses else catalogue(())
    scope = Scope(ticket.file, variant, ticket.variants, language, services)
    scope.shared = ticket.shared
    now = _opening(scope, data)
    parameters = compile_parameters(scope, data.get("parameters", {}))
    records = compile_records(scope, data)
    distractors = compile_distractors(scope, data)
    history = compile_history(scope, data)
    scope.world_is_up = True
    customer = data["customer"]
    names = Names(
        slots=tuple(present_slots(scope, data)),
        facts=tuple(present_facts(scope, customer)),
        console=tuple(present_console(scope, customer)),
        checkpoints=tuple(present_checkpoints(scope, data)),
        predicates=data.get("predicates", {}),
    )
    public = compile_public(scope, data, now)
    private = compile_private(scope, names, customer)
    constants = ticket.constants.get(variant, {}).get(language, {})
    gold = compile_gold(scope, names, data, constants)
    return Plan(
        services, now, parameters, tuple(scope.early.values()), tuple(scope.late.values()),
        tuple((key, name, of) for key, (name, of) in scope.measures.items()),
        records, distractors, history, public, private, gold,
    )  # fmt: skip


def _opening(scope: Scope, data: Any) -> int:
    text = data.get("now")
    if text is None:
        return EPOCH
    try:
        return parse_iso(text)
    except (ValueError, OverflowError):
        scope.fail("now", f"{text!r} is no moment", "write it like 2026-11-30T08:00Z")
