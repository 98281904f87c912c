"""A trajectory's records as the assistant's turns, for wrappers that watch them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.wire import ASSISTANT, Record

WORDS = ("reply", "close", "escalate")


class Turn(NamedTuple):
    """The assistant's actions up to and including its words, and the customer's answers.

    Attributes:
        records: All of them.
        complete: Whether its words have been said; what is malformed says nothing.
    """

    records: list[Record]
    complete: bool

    @property
    def own(self) -> list[Record]:
        """The assistant's records."""
        return [record for record in self.records if record.seat == ASSISTANT]


def played(episode: TicketEpisode) -> Sequence[Record]:
    """The records of the learner's own part: without the opening and turns played before it."""
    return episode.records[episode.header["start"] :]


def turns_of(records: Sequence[Record]) -> list[Turn]:
    """The turns in order; only the last one may be incomplete."""
    found: list[Turn] = []
    for record in records:
        own = record.seat == ASSISTANT
        if not found or (own and found[-1].complete):
            found.append(Turn([], False))
        found[-1].records.append(record)
        if own and record.action["kind"] in WORDS and "fault" not in record.action:
            found[-1] = Turn(found[-1].records, True)
    return found
