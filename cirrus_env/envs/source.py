"""Where an environment's episodes come from: one ticket, or a pool drawn by the seed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.world import Stream
from cirrus_env.world.entropy import fresh_seed

TicketLike = str | Ticket


class Place(NamedTuple):
    """A ticket and the arguments that it is played with."""

    ticket: Ticket
    arguments: Mapping[str, Any]


class Source:
    """Tickets by name, one reusable episode for each, and the stream of seeds.

    Args:
        tickets: A ticket's name, a ticket file's path, a ``Ticket``, or a list of these.
        arguments: Keyword arguments of ``TicketEpisode``.
        found: What names and paths are known to mean already.

    Raises:
        OptionError: For an empty list or an argument that can't be used.
        UnknownTicket: For a ticket that isn't there.
    """

    def __init__(
        self,
        tickets: TicketLike | Sequence[TicketLike],
        arguments: Mapping[str, Any],
        found: Mapping[TicketLike, Ticket] | None = None,
    ) -> None:
        members = (tickets,) if isinstance(tickets, str | Ticket) else tuple(tickets)
        if not members:
            raise OptionError("an environment needs at least one ticket")
        self._pool: tuple[TicketLike, ...] = members
        self._arguments = _kept(arguments)
        self._found = dict(found or {})
        self._episodes: dict[Ticket, TicketEpisode] = {}
        self._seeds: Stream | None = None
        self._playing: Mapping[str, Any] = self._arguments
        self.episode = self._episode_of(self._find(members[0]))

    def configured(self, changes: Mapping[str, Any]) -> Source:
        """This source with other arguments for the episodes that begin from now on.

        Args:
            changes: Keyword arguments of ``TicketEpisode`` that this source was made with.

        Returns:
            Another source with the same tickets and stream of seeds; its current episode is this
            one's, as it is.

        Raises:
            OptionError: For an unknown name or a value that can't be used.
        """
        for name in changes:
            if name not in self._arguments:
                near = difflib.get_close_matches(str(name), self._arguments, n=1)
                hint = near[0] if near else ", ".join(self._arguments)
                raise OptionError(f"there is no argument {name!r} to change; there is {hint}")
        other = Source(self._pool, {**self._arguments, **changes}, self._found)
        other._seeds = self._seeds
        other.episode, other._playing = self.episode, self._playing
        return other

    def next_seed(self, seed: int | None) -> int:
        """The seed of the next episode: the given one, else the next of the stream.

        Args:
            seed: Also the start of the stream that later resets draw from.

        Raises:
            OptionError: If it is no integer.
        """
        if seed is not None:
            try:
                number = index(seed)
            except TypeError:
                raise OptionError(f"a seed is an integer, not {seed!r}") from None
            self._seeds = Stream(number, "seeds")
            return number
        if self._seeds is None:
            self._seeds = Stream(fresh_seed(), "seeds")
        return self._seeds.below(2**31)

    def choose(self, seed: int, options: Mapping[str, Any] | None) -> TicketEpisode:
        """Make the episode of this seed's ticket the current one; it has yet to be reset.

        Args:
            seed: Draws the ticket of a pool.
            options: ``ticket`` takes one member of the pool instead.

        Raises:
            OptionError: For a ticket that this environment doesn't draw from.
        """
        wanted = options.get("ticket") if isinstance(options, Mapping) else None
        if wanted is None:
            one = len(self._pool) == 1
            drawn = self._pool[0] if one else Stream(seed, "pool").choice(self._pool)
            return self._begin(self._find(drawn))
        if not isinstance(wanted, str | Ticket):
            raise OptionError(f"ticket must be a name or a Ticket, not {wanted!r}")
        members = [self._find(member) for member in self._pool]
        for member in members:
            if wanted in (member, member.id, member.env_id):
                return self._begin(member)
        names = ", ".join(member.id for member in members)
        given = wanted if isinstance(wanted, str) else wanted.id
        raise OptionError(f"this environment draws from {names}, not from {given!r}")

    @property
    def place(self) -> Place:
        """Which ticket is played with which arguments: where ``episode_at`` gets back to."""
        return Place(self.episode.ticket, self._playing)

    def episode_at(self, place: Place) -> TicketEpisode:
        """An episode of that ticket with those arguments; ``take`` makes it the current one."""
        current = self.episode
        if current.ticket == place.ticket and self._playing == place.arguments:
            return current
        if place.arguments == self._arguments:
            return self._episode_of(place.ticket)
        return TicketEpisode(place.ticket, **place.arguments)

    def take(self, place: Place, episode: TicketEpisode) -> None:
        """The episode found for a place is the current one."""
        self.episode, self._playing = episode, place.arguments

    def fork(self) -> Source:
        """An independent source whose current episode is a fork of this one's."""
        other = Source.__new__(Source)
        other._pool, other._arguments = self._pool, self._arguments
        other._found = dict(self._found)
        other._seeds = None if self._seeds is None else self._seeds.copy()
        other._playing = self._playing
        other.episode = self.episode.fork()
        again = self._playing is self._arguments
        other._episodes = {other.episode.ticket: other.episode} if again else {}
        return other

    def close(self) -> None:
        """Let all episodes go; they can be reset again."""
        for episode in (self.episode, *self._episodes.values()):
            episode.close()

    def _begin(self, ticket: Ticket) -> TicketEpisode:
        self.episode, self._playing = self._episode_of(ticket), self._arguments
        return self.episode

    def _episode_of(self, ticket: Ticket) -> TicketEpisode:
        """The reusable episode of a ticket."""
        episode = self._episodes.get(ticket)
        if episode is None:
            episode = self._episodes[ticket] = TicketEpisode(ticket, **self._arguments)
        return episode

    def _find(self, member: TicketLike) -> Ticket:
        ticket = self._found.get(member)
        if ticket is None:
            ticket = self._found[member] = find_ticket(member)
        return ticket


def _kept(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for any number of episodes: names of tools may come from an iterator."""
    kept = dict(arguments)
    tools = kept.get("tools")
    if isinstance(tools, Iterable) and not isinstance(tools, str):
        kept["tools"] = tuple(tools)
    return kept


def find_ticket(ticket: TicketLike) -> Ticket:
    """The ticket that a name, a ticket file's path or a ``Ticket`` means.

    Raises:
        UnknownTicket: For a name that isn't there, with near ones.
        TicketError: For a file that is wrong.
    """
    if isinstance(ticket, Ticket):
        return ticket
    return load_ticket(Path(ticket)) if ticket.endswith(".toml") else bundled(ticket)
