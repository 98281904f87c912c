"""Tickets and seeds as numbered tasks of a split, for frameworks that ask for tasks by index.

Task ``i`` of a split is its ticket ``i % n`` with its seed number ``i // n``: the first ``n`` tasks
are every ticket once. The default splits are the pools ``Cirrus/Train-v0`` and ``Cirrus/Test-v0``,
whose lists never change, so an index keeps its meaning when tickets are added to the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from cirrus_env.envs.registration import pools
from cirrus_env.envs.source import TicketLike, find_ticket
from cirrus_env.errors import OptionError
from cirrus_env.tickets.ticket import Ticket


class TicketTask(NamedTuple):
    """One task.

    Attributes:
        split: The split's name.
        number: Its index in the split.
        ticket: The ticket.
        seed: The scenario's seed.
    """

    split: str
    number: int
    ticket: Ticket
    seed: int

    @property
    def id(self) -> str:
        """A name that says all, such as ``Cirrus/ECS-Billing-v0:7``."""
        return f"{self.ticket.env_id}:{self.seed}"

    def to_json(self) -> dict[str, Any]:
        """As a dict for the wire; nothing of the gold."""
        return {
            "id": self.id,
            "split": self.split,
            "index": self.number,
            "ticket": self.ticket.env_id,
            "seed": self.seed,
        }


class Tasks:
    """The tasks of all splits.

    Args:
        splits: Split -> tickets (names, ticket files' paths or ``Ticket`` objects); None for the
            package's train and test tickets.
        seeds: How many seeds a ticket.
        first_seed: The first of them.

    Raises:
        OptionError: For an empty split or a number that can't be used.
        UnknownTicket: For a ticket that isn't there.
    """

    def __init__(
        self,
        splits: Mapping[str, Sequence[TicketLike]] | None = None,
        *,
        seeds: int = 100,
        first_seed: int = 0,
    ) -> None:
        if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
            raise OptionError(f"seeds must be a positive integer, not {seeds!r}")
        if isinstance(first_seed, bool) or not isinstance(first_seed, int) or first_seed < 0:
            raise OptionError(f"first_seed must be an integer from 0, not {first_seed!r}")
        if splits is None:
            known = pools()
            splits = {"train": known["Cirrus/Train-v0"], "test": known["Cirrus/Test-v0"]}
        if not splits or not all(splits.values()):
            raise OptionError("every split needs at least one ticket")
        self._names = {name: tuple(members) for name, members in splits.items()}
        self._first, self._seeds = first_seed, seeds

    @cached_property
    def tickets(self) -> dict[str, tuple[Ticket, ...]]:
        """Split -> tickets."""
        return {name: tuple(map(find_ticket, each)) for name, each in self._names.items()}

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits' names; the first one is meant where none is named."""
        return tuple(self._names)

    def count(self, split: str) -> int:
        """How many tasks a split has.

        Raises:
            IndexError: For an unknown split.
        """
        return len(self.members(split)) * self._seeds

    def get(self, split: str, index: int) -> TicketTask:
        """One task.

        Raises:
            IndexError: For an unknown split or an index past its end; there are no negative ones.
        """
        members = self.members(split)
        if isinstance(index, bool) or not isinstance(index, int):
            raise IndexError(f"a task's index is an integer, not {index!r}"[:200])
        if not 0 <= index < len(members) * self._seeds:
            raise IndexError(f"{split!r} has {len(members) * self._seeds} tasks, no task {index}")
        number, position = divmod(index, len(members))
        return TicketTask(split, index, members[position], self._first + number)

    def span(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> Iterator[TicketTask]:
        """The tasks of a slice of a split, as Python slices a list.

        Raises:
            IndexError: For an unknown split.
        """
        for index in range(*slice(start, stop).indices(self.count(split))):
            yield self.get(split, index)

    def members(self, split: str) -> tuple[Ticket, ...]:
        """A split's tickets.

        Raises:
            IndexError: For an unknown split.
        """
        if not isinstance(split, str) or split not in self._names:
            known = ", ".join(self._names)
            raise IndexError(f"there is no split {split!r}; there are {known}"[:300])
        return self.tickets[split]

    def find(self, name: str, split: str | None = None) -> Ticket:
        """The ticket of this name or env id, in one split or in any.

        Raises:
            OptionError: If none has it.
            IndexError: For an unknown split.
        """
        groups = self.tickets.values() if split is None else [self.members(split)]
        for members in groups:
            for ticket in members:
                if name in (ticket.id, ticket.env_id):
                    return ticket
        raise OptionError(f"the tasks have no ticket {name!r}"[:200])
