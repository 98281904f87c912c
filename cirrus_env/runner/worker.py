"""One process of a run: loads what it is to play once, then plays what it is sent, job by job."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from multiprocessing import connection, parent_process
from typing import Any, NamedTuple

from cirrus_env.errors import OptionError, TicketError
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.play import Job, Played, play_job
from cirrus_env.tickets.ticket import Ticket


class Order(NamedTuple):
    """One job by the places of its agent and ticket in the tables that every worker has."""

    agent: int
    ticket: int
    seed: int
    variant: str | None
    language: str | None


def packed(
    jobs: Sequence[Job], settings: Mapping[str, Any], keep: bool
) -> tuple[bytes, list[Order]]:
    """What every worker needs, and the jobs by places in it.

    Raises:
        OptionError: If something of it can't be sent to another process.
    """
    agents = list({id(job.agent): job.agent for job in jobs}.values())
    tickets = list({job.ticket.digest: job.ticket for job in jobs}.values())
    agent_at = {id(agent): place for place, agent in enumerate(agents)}
    ticket_at = {ticket.digest: place for place, ticket in enumerate(tickets)}
    read_later = [pickle.dumps((ticket, ticket.constants)) for ticket in tickets]
    for what, value in (
        *((f"the agent {agent.name!r}", agent) for agent in agents),
        *((f"the setting {name!r}", value) for name, value in settings.items()),
    ):
        try:
            pickle.dumps(value)
        except Exception as error:
            raise OptionError(
                f"{what} can't be sent to another process ({type(error).__name__}); "
                "give it a name at the top of a module, or run in one process"
            ) from error
    payload = pickle.dumps((agents, read_later, dict(settings), keep))
    orders = [
        Order(
            agent_at[id(job.agent)], ticket_at[job.ticket.digest], job.seed, job.variant,
            job.language,
        )
        for job in jobs
    ]  # fmt: skip
    return payload, orders


def work(pipe: connection.Connection) -> None:
    """What a worker does: plays what it is sent until it is sent None, or nobody sends any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # results go to the parent's standard output, and nothing else
    try:
        player = Player(pipe.recv())
    except Exception as error:
        pipe.send(OptionError(f"a worker process can't load what it is to play: {error!r}"))
        return
    pipe.send(True)
    try:
        while (order := pipe.recv()) is not None:
            pipe.send(player.play(order))
    except (EOFError, OSError):
        return  # the parent has gone


class Player:
    """What a worker plays with; a ticket is read when its first job comes.

    Args:
        payload: As ``packed`` made it.
    """

    def __init__(self, payload: bytes) -> None:
        self._agents: list[Agent]
        self._packed: list[bytes]
        self._agents, self._packed, self._settings, self._keep = pickle.loads(payload)
        self._tickets: dict[int, Ticket] = {}

    def play(self, order: Order) -> Played | OptionError:
        """Play one job; an error says that the run can't go on."""
        agent, ticket, seed, variant, language = order
        try:
            job = Job(self._agents[agent], self._ticket(ticket), seed, variant, language)
            return play_job(job, self._settings, keep=self._keep)
        except OptionError as error:
            return error

    def _ticket(self, place: int) -> Ticket:
        ticket = self._tickets.get(place)
        if ticket is None:
            try:
                ticket, constants = pickle.loads(self._packed[place])
            except TicketError as error:
                raise OptionError(f"a worker process can't load a ticket: {error}") from error
            if ticket.constants != constants:
                ticket = replace(ticket, constants=constants, plans={})
            self._tickets[place] = ticket
        return ticket


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
