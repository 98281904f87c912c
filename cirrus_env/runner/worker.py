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

from cirrus_env.errors import OptionError
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
    with_constants = [(ticket, ticket.constants) for ticket in tickets]
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
    payload = pickle.dumps((agents, with_constants, dict(settings), keep))
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
        agents, tickets, settings, keep = pickle.loads(pipe.recv())
    except Exception as error:
        pipe.send(OptionError(f"a worker process can't load what it is to play: {error!r}"))
        return
    table = [_with_constants(ticket, constants) for ticket, constants in tickets]
    pipe.send(True)
    try:
        while (order := pipe.recv()) is not None:
            pipe.send(_played(order, agents, table, settings, keep))
    except (EOFError, OSError):
        return  # the parent has gone


def _played(
    order: Order,
    agents: Sequence[Agent],
    tickets: Sequence[Ticket],
    settings: Mapping[str, Any],
    keep: bool,
) -> Played | OptionError:
    agent, ticket, seed, variant, language = order
    job = Job(agents[agent], tickets[ticket], seed, variant, language)
    try:
        return play_job(job, settings, keep=keep)
    except OptionError as error:
        return error


def _with_constants(ticket: Ticket, constants: Mapping[str, Any]) -> Ticket:
    if ticket.constants == constants:
        return ticket
    return replace(ticket, constants=constants, plans={})


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
