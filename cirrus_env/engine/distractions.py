"""Distraction tools: operations of services that a ticket doesn't need, offered beside its own."""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.cloud.recorded import RecordedCatalogue
from cirrus_env.errors import OptionError
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.world import Stream

ALL: Final = "all"


def distractions(ticket: Ticket, count: int | str) -> tuple[str, ...]:
    """The operations that are offered beside the ticket's own.

    They are the same for every seed, as a ticket's own tools are, and fewer are a part of more.

    Args:
        ticket: The ticket; one without tools gets none.
        count: How many, or ``all``; where other services have fewer, all of them.

    Raises:
        OptionError: If that is no count, or the ticket is an imported one: its cloud has only what
            was recorded.
    """
    if count != ALL and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
        raise OptionError(f"distractions is a number of tools from 0, or {ALL!r}, not {count!r}")
    mine = ticket.plan(ticket.variants[0], ticket.languages[0]).catalogue
    if count and isinstance(mine, RecordedCatalogue):
        raise OptionError(f"{ticket.id} is imported: there is nothing but its recorded tools")
    if not count or not ticket.uses:
        return ()
    others = [
        operation.name
        for operation in catalogue(tuple(SERVICES)).operations.values()
        if operation.actor == "assistant" and operation.name not in mine.operations
    ]
    drawn = Stream(0, f"distractions:{ticket.id}").shuffled(others)
    return tuple(sorted(drawn if isinstance(count, str) else drawn[:count]))
