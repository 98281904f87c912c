"""Many episodes: agents x tickets x seeds, kept in a folder or only counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from cirrus_env._version import __version__
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.judging.reward import reward_rule
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.play import Job, play
from cirrus_env.runner.rows import Row
from cirrus_env.runner.store import RunStore, key_of, read_episodes
from cirrus_env.tickets.ticket import Ticket


def jobs_for(
    agents: Iterable[Agent],
    tickets: Iterable[Ticket],
    seeds: Sequence[int],
    *,
    languages: Sequence[str] | None = None,
    every_variant: bool = False,
) -> list[Job]:
    """Every agent on every ticket and seed, so that each (ticket, seed) is paired over agents.

    Args:
        agents: Who plays.
        tickets: What is played.
        seeds: Scenario seeds.
        languages: Only these, each where the ticket has it; None for the ticket's first.
        every_variant: Each root cause with each seed, instead of the one that the seed draws.

    Raises:
        OptionError: If two agents have one name.
    """
    agents = list(agents)
    names = [agent.name for agent in agents]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(f"two agents are named {', '.join(twice)}")
    return [
        Job(agent, ticket, seed, variant, language)
        for ticket in tickets
        for language in _languages(ticket, languages)
        for variant in (ticket.variants if every_variant else (None,))
        for seed in seeds
        for agent in agents
    ]


def _languages(ticket: Ticket, wanted: Sequence[str] | None) -> Sequence[str | None]:
    if wanted is None:
        return (None,)
    return [language for language in ticket.languages if language in wanted]


def manifest_of(jobs: Sequence[Job], settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the run is, as JSON: the same jobs and settings give the same manifest."""
    check_settings(jobs, settings)
    return {
        "version": __version__,
        "reward": reward_rule(settings.get("reward", "cirrus")).to_json(),
        "settings": dict(settings),
        "tickets": {job.ticket.env_id: job.ticket.digest for job in jobs},
        "jobs": [job.key for job in jobs],
    }


def check_settings(jobs: Sequence[Job], settings: Mapping[str, Any]) -> None:
    """Refuse settings that no episode could begin with, before anything is stored.

    Raises:
        OptionError: Naming the setting.
    """
    for job in {(j.ticket.digest, j.language): j for j in jobs}.values():
        TicketEpisode(job.ticket, language=job.language, **settings)


def run_jobs(
    jobs: Sequence[Job],
    *,
    settings: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    resume: bool = False,
    workers: int = 1,
    on_done: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Play the jobs.

    Args:
        jobs: What to play.
        settings: Keyword arguments of ``TicketEpisode``; JSON where a folder is given.
        folder: Where every episode is kept, each written before the next is waited for; None to
            keep rows only.
        resume: Go on with a run that the folder holds: what stands is not played again; episodes
            that failed for outside reasons are.
        workers: Episodes at once, in threads: worth it for agents that wait for a model.
        on_done: Called with each row, in the order of completion.

    Returns:
        One row a job, in the order of the jobs.

    Raises:
        StoreError: If the folder can't be used; what it held is kept.
    """
    settings = dict(settings or {})
    rows: dict[str, Row] = {}

    def finish(job: Job, episode: Mapping[str, Any]) -> None:
        row = rows[job.id] = Row.from_episode(episode)
        if on_done is not None:
            on_done(row)

    if folder is None:
        check_settings(jobs, settings)
        for job, episode in _played(jobs, settings, workers):
            finish(job, episode)
        return [rows[job.id] for job in jobs]
    with RunStore(folder, manifest_of(jobs, settings), resume=resume) as store:
        left = {job.id: job for job in jobs}
        for key in store.done():
            left.pop(key, None)
        if len(left) < len(jobs):
            wanted = {job.id: job for job in jobs if job.id not in left}
            for episode in read_episodes(folder):
                key = key_of(episode)
                if key in wanted:
                    finish(wanted[key], episode)
        for job, episode in _played(list(left.values()), settings, workers):
            store.append(episode)
            finish(job, episode)
    return [rows[job.id] for job in jobs]


def _played(
    jobs: Sequence[Job], settings: Mapping[str, Any], workers: int
) -> Iterator[tuple[Job, dict[str, Any]]]:
    if workers <= 1:
        for job in jobs:
            yield job, play(job, settings)
        return
    executor = ThreadPoolExecutor(workers, thread_name_prefix="episode")
    waiting = iter(jobs)
    running: dict[Future[dict[str, Any]], Job] = {}
    try:
        while True:
            for job in islice(waiting, workers - len(running)):
                running[executor.submit(play, job, settings)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        executor.shutdown(cancel_futures=True)
