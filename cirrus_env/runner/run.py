"""Many episodes: agents x tickets x seeds, kept in a folder or only counted."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.lines import key_of
from cirrus_env.runner.manifest import check_settings, manifest_of
from cirrus_env.runner.play import Job, Played, play_job
from cirrus_env.runner.pool import play_in_processes
from cirrus_env.runner.rows import Row
from cirrus_env.runner.store import RunStore, read_episodes
from cirrus_env.tickets.ticket import Ticket

Batches = Generator[list[tuple[Job, Played]], None, None]


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


def run_jobs(
    jobs: Sequence[Job],
    *,
    settings: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    resume: bool = False,
    workers: int = 1,
    processes: int = 1,
    on_done: Callable[[Row], None] | None = None,
    on_kept: Callable[[Row], None] | None = None,
    protocol: Mapping[str, str] | None = None,
) -> list[Row]:
    """Play the jobs.

    Args:
        jobs: What to play.
        settings: Keyword arguments of ``TicketEpisode``; objects among them go into a folder's
            manifest by name and type, and must be picklable for several processes.
        folder: Where every episode is kept, each written before it is told to anybody; None to
            keep rows only.
        resume: Go on with a run that the folder holds: what stands is not played again; episodes
            that failed for outside reasons are.
        workers: Episodes at once, in threads: worth it for agents that wait for a model.
        processes: Processes to play in, each one episode at a time: worth it for everything else.
            Whatever is chosen, the episodes are the same byte for byte; only the order of a
            folder's lines may differ.
        on_done: Called with each row that was played, in the order of completion.
        on_kept: Called with each row that stood already, in the order of the folder's lines.
        protocol: Name and digest of the official protocol that jobs and settings are those of.

    Returns:
        One row a job, in the order of the jobs.

    Raises:
        StoreError: If the folder can't be used; what it held is kept.
        OptionError: For a wrong setting, or what can't be sent to another process.
        RunError: If no process comes up.
    """
    settings = dict(settings or {})
    if workers > 1 and processes > 1:
        raise OptionError("a run goes on in threads or in processes, not in both")
    rows: dict[str, Row] = {}

    def finish(batch: Iterable[tuple[Job, Played]]) -> None:
        for job, played in batch:
            rows[job.id] = played.row
            if on_done is not None:
                on_done(played.row)

    def batches(left: Sequence[Job]) -> Batches:
        keep = folder is not None
        if processes > 1 and left:
            return _in_processes(left, settings, processes, keep)
        return _in_threads(left, settings, workers, keep)

    if folder is None:
        check_settings(jobs, settings)
        with closing(batches(jobs)) as ready:
            for batch in ready:
                finish(batch)
        return [rows[job.id] for job in jobs]
    with RunStore(folder, manifest_of(jobs, settings, protocol), resume=resume) as store:
        done = store.done()
        left = [job for job in jobs if job.id not in done]
        if len(left) < len(jobs):
            wanted = {job.id for job in jobs} & done
            for episode in read_episodes(folder):
                key = key_of(episode)
                if key in wanted:
                    row = rows[key] = Row.from_episode(episode)
                    if on_kept is not None:
                        on_kept(row)
        with closing(batches(left)) as ready:
            for batch in ready:
                store.extend([played.line for _, played in batch if played.line is not None])
                finish(batch)
    return [rows[job.id] for job in jobs]


def _in_processes(
    jobs: Sequence[Job], settings: Mapping[str, Any], processes: int, keep: bool
) -> Batches:
    yield from play_in_processes(jobs, settings, processes, keep=keep)


def _in_threads(
    jobs: Sequence[Job], settings: Mapping[str, Any], workers: int, keep: bool
) -> Batches:
    if workers <= 1:
        for job in jobs:
            yield [(job, play_job(job, settings, keep=keep))]
        return
    executor = ThreadPoolExecutor(workers, thread_name_prefix="episode")
    waiting = iter(jobs)
    running: dict[Future[Played], Job] = {}
    try:
        while True:
            for job in islice(waiting, workers - len(running)):
                running[executor.submit(play_job, job, settings, keep=keep)] = job
            if not running:
                return
            done = wait(running, return_when=FIRST_COMPLETED).done
            yield [(running.pop(future), future.result()) for future in done]
    finally:
        executor.shutdown(cancel_futures=True)
