"""Episodes in several processes, each started afresh (``spawn``): the same bytes as in one.

Each worker gets the agents, tickets and settings once, then plays one job at a time and sends back
its row and its line. A worker that dies takes its job with it: another worker tries that job once
more, and where it dies too the episode is ``backend_error``; the run goes on. Workers ignore
Ctrl-C, which is the parent's to handle, and end when the parent does, however it ends. What an
agent prints in a worker goes to standard error.
"""

from __future__ import annotations

import pickle
import signal
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.context import SpawnProcess
from typing import Any, Final, cast

from cirrus_env.engine.modes import NORMAL
from cirrus_env.errors import OptionError, RunError
from cirrus_env.runner.play import Job, Played, unplayed
from cirrus_env.runner.worker import packed, work

TRIES: Final = 2
"""Processes that one job may kill."""

MOST_FAILED_STARTS: Final = 8
GRACE_SECONDS: Final = 10.0

_Pipe = connection.Connection


@dataclass(slots=True, eq=False)
class _Worker:
    """A process as its parent sees it.

    Attributes:
        process: The process.
        pipe: The parent's end of its pipe.
        job: What it plays; None before the first.
        ticket: The ticket that it plays: it has read and compiled that one.
        ready: Whether it has come up.
    """

    process: SpawnProcess
    pipe: _Pipe
    job: int | None = None
    ticket: str = ""
    ready: bool = False


class _Waiting:
    """Jobs that nobody plays yet; a worker stays with its ticket as long as there are any of it."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._tickets = [job.ticket.digest for job in jobs]
        self._left: dict[str, deque[int]] = {}
        for place, ticket in enumerate(self._tickets):
            self._left.setdefault(ticket, deque()).append(place)

    def __bool__(self) -> bool:
        return bool(self._left)

    def take(self, worker: _Worker, workers: Sequence[_Worker]) -> int | None:
        """The next job for this worker; None where nothing is left."""
        if worker.ticket not in self._left:
            if not self._left:
                return None
            served = Counter(other.ticket for other in workers)
            worker.ticket = min(self._left, key=lambda name: (served[name], -len(self._left[name])))
        places = self._left[worker.ticket]
        place = places.popleft()
        if not places:
            del self._left[worker.ticket]
        return place

    def again(self, place: int) -> None:
        """A job comes back."""
        self._left.setdefault(self._tickets[place], deque()).appendleft(place)


def play_in_processes(
    jobs: Sequence[Job], settings: Mapping[str, Any], processes: int, *, keep: bool
) -> Iterator[list[tuple[Job, Played]]]:
    """Play the jobs.

    Args:
        jobs: What to play.
        settings: Keyword arguments of ``TicketEpisode``.
        processes: How many at once.
        keep: Whether lines are wanted.

    Yields:
        What is ready, in the order of completion.

    Raises:
        OptionError: If something of it can't be sent to another process, or a setting is wrong.
        RunError: If no worker comes up.
    """
    payload, orders = packed(jobs, settings, keep)
    pool = _Pool(payload, min(processes, len(jobs)))
    waiting = _Waiting(jobs)
    mode = settings.get("mode", NORMAL)
    tries = [0] * len(jobs)
    try:
        pool.start()
        while pool.workers:
            ready: list[tuple[Job, Played]] = []
            for worker, message in pool.heard():
                place = worker.job
                if message is None:
                    why = pool.bury(worker)
                    if place is not None:
                        tries[place] += 1
                        if tries[place] < TRIES:
                            waiting.again(place)
                        else:
                            ready.append(
                                (jobs[place], unplayed(jobs[place], why, keep=keep, mode=mode))
                            )
                    if waiting:
                        pool.replace()
                    continue
                if isinstance(message, OptionError):
                    raise message
                if place is not None:
                    ready.append((jobs[place], message))
                worker.job = waiting.take(worker, pool.workers)
                if worker.job is None:
                    pool.dismiss(worker)
                else:
                    _send(worker, orders[worker.job])
            if ready:
                yield ready
    finally:
        pool.stop()


class _Pool:
    """The workers of one run.

    Args:
        payload: What each one gets first.
        size: How many there are at once.
    """

    def __init__(self, payload: bytes, size: int) -> None:
        self.workers: list[_Worker] = []
        self._payload = payload
        self._size = size
        self._leaving: list[_Worker] = []
        self._failed = 0  # starts
        self._came_up = False

    def start(self) -> None:
        """Start all workers."""
        for _ in range(self._size):
            self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), name="episodes")
        with _blocked(signal.SIGINT):  # inherited: Ctrl-C never meets a worker that is starting
            process.start()
        theirs.close()
        worker = _Worker(process, mine)
        self.workers.append(worker)
        _send(worker, self._payload)

    def heard(self) -> Iterator[tuple[_Worker, Any]]:
        """Wait for workers that say something; None is what one says that has died."""
        by_pipe = {worker.pipe: worker for worker in self.workers}
        for pipe in connection.wait(list(by_pipe)):
            worker = by_pipe[cast("_Pipe", pipe)]
            message = _receive(worker)
            if message is not None and not worker.ready:
                worker.ready = self._came_up = True
            yield worker, message

    def bury(self, worker: _Worker) -> str:
        """Take a dead worker out; returns what killed it.

        Raises:
            RunError: If workers die before they play anything, again and again.
        """
        self.workers.remove(worker)
        code = _reap(worker)
        if not worker.ready:
            self._failed += 1
            if self._failed > MOST_FAILED_STARTS or not (self._came_up or self.workers):
                raise RunError(
                    f"a worker process ended with code {code} before it played anything; "
                    "a script that starts a run in several processes must guard its start with "
                    "if __name__ == '__main__'"
                )
        return f"WorkerDied with code {code}"

    def replace(self) -> None:
        """Start a worker for one that died, if workers come up at all."""
        if self._came_up:
            self._start()

    def dismiss(self, worker: _Worker) -> None:
        """There is nothing more to do for this one."""
        self.workers.remove(worker)
        self._leaving.append(worker)
        _send(worker, None)

    def stop(self) -> None:
        """End all: those that still play something at once, the others in their own time."""
        for worker in self.workers:
            worker.process.kill()
        for worker in (*self.workers, *self._leaving):
            _reap(worker)


@contextmanager
def _blocked(number: signal.Signals) -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(worker: _Worker, what: Any) -> None:
    with suppress(OSError):  # it has died, which shows when it is listened to
        worker.pipe.send(what)


def _receive(worker: _Worker) -> Any:
    """The worker's message; None if it has died."""
    try:
        return worker.pipe.recv()
    except (EOFError, OSError, pickle.UnpicklingError):
        return None


def _reap(worker: _Worker) -> int | None:
    """Wait for the process to end, not for ever; returns its exit code."""
    worker.pipe.close()
    worker.process.join(GRACE_SECONDS)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
    return worker.process.exitcode
