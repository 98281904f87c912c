"""Runs in several processes: the same episodes, and no worker's death is the run's."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pool_agents
import pytest

from cirrus_env.errors import OptionError, RunError
from cirrus_env.judging.reward import RewardRule
from cirrus_env.runner import pool
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.compare import compare
from cirrus_env.runner.play import play_job
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import EPISODES, read_episodes, read_manifest
from cirrus_env.runner.worker import Player, packed
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import digest

SMALL = load_ticket(Path(__file__).with_name("small.toml"))
BILLING = bundled("ECS-Billing")


def agent(name: str) -> Agent:
    return find_agent(f"{pool_agents.__file__}:{name}")


@pytest.fixture(autouse=True)
def _path(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())


def digests(folder: Path) -> list[str]:
    return sorted(digest(episode) for episode in read_episodes(folder))


def test_any_number_of_processes_gives_the_same_episodes_and_reports(tmp_path):
    agents = [find_agent("oracle"), agent("Registered"), find_agent("random")]
    jobs = jobs_for(agents, [SMALL, BILLING], range(3))
    seen = {}
    for processes in (1, 2, 3):
        folder = tmp_path / str(processes)
        rows = run_jobs(jobs, folder=folder, processes=processes, workers=1)
        seen[processes] = (rows, digests(folder), read_manifest(folder), compare(rows).to_json())
    assert seen[1] == seen[2] == seen[3]
    assert len(seen[1][1]) == len(jobs)
    lines = [sorted((tmp_path / str(n) / EPISODES).read_bytes().splitlines()) for n in seen]
    assert lines[0] == lines[1] == lines[2]


def test_rows_without_a_folder_are_the_same_too():
    jobs = jobs_for([agent("Polite")], [SMALL], range(3))
    told = []
    rows = run_jobs(jobs, processes=2, on_done=told.append)
    assert rows == run_jobs(jobs)
    assert sorted(row.seed for row in told) == [0, 1, 2]


def test_a_job_that_killed_one_worker_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("POOL_TEST_MARK", str(tmp_path / "mark"))
    jobs = jobs_for([agent("DiesOnce")], [SMALL], range(3))
    rows = run_jobs(jobs, folder=tmp_path / "run", processes=2)
    assert (tmp_path / "mark").exists()
    assert all(row.valid for row in rows)
    assert rows == run_jobs(jobs)


def test_a_job_that_kills_every_worker_is_an_invalid_episode_and_the_run_goes_on(tmp_path):
    jobs = jobs_for([agent("Dies")], [SMALL], range(4))
    rows = run_jobs(jobs, folder=tmp_path, processes=2)
    assert [row.outcome for row in rows].count("backend_error") == 1
    dead = rows[1]
    assert (dead.seed, dead.valid, dead.success, dead.return_micro) == (1, False, None, None)
    assert dead.error == "WorkerDied with code 3"
    assert len(digests(tmp_path)) == 4
    again = []
    run_jobs(jobs, folder=tmp_path, processes=2, resume=True, on_done=again.append)
    assert [row.seed for row in again] == [1]  # alone it would take this process along


def test_an_agent_that_exits_is_its_own_failure():
    (row,) = run_jobs(jobs_for([agent("Leaves")], [SMALL], [0]))
    assert (row.outcome, row.error.partition(" ")[0]) == ("agent_error", "SystemExit")


def test_customers_and_rules_travel_to_the_workers(tmp_path):
    jobs = jobs_for([agent("Polite")], [SMALL], range(2))
    settings = {"customer": pool_agents.Unreachable(), "reward": RewardRule({"resolution": 1})}
    rows = run_jobs(jobs, settings=settings, folder=tmp_path, processes=2)
    assert {(row.outcome, row.error) for row in rows} == {("customer_error", "EndpointError")}
    stored = read_manifest(tmp_path)["settings"]
    assert stored["customer"] == {"name": "unreachable", "type": "pool_agents:Unreachable"}
    assert "sk-canary-1" not in (tmp_path / EPISODES).read_text()


def test_what_cannot_travel_is_named_before_anything_starts():
    made_here = Agent("here", lambda _: pool_agents.Polite())
    with pytest.raises(OptionError, match="the agent 'here' can't be sent to another process"):
        run_jobs(jobs_for([made_here], [SMALL], range(2)), processes=2)
    jobs = jobs_for([agent("Polite")], [SMALL], range(2))

    class Local(pool_agents.Unreachable):
        pass

    with pytest.raises(OptionError, match="the setting 'customer' can't be sent"):
        run_jobs(jobs, settings={"customer": Local()}, processes=2)
    with pytest.raises(OptionError, match="in threads or in processes"):
        run_jobs(jobs, processes=2, workers=2)


def test_a_worker_that_cannot_load_its_agent_stops_the_run_with_the_reason(tmp_path):
    path = tmp_path / "gone_agent.py"
    path.write_text("from pool_agents import Polite\n")
    jobs = jobs_for([agent("Polite")], [SMALL], range(2))
    gone = [job._replace(agent=Agent("gone", _Unloadable())) for job in jobs]
    with pytest.raises(OptionError, match=r"can't load what it is to play: .*no such agent"):
        run_jobs(gone, processes=2)


def _refuse():
    raise RuntimeError("no such agent here")


class _Unloadable:
    def __call__(self, episode):
        return pool_agents.Polite()

    def __reduce__(self):
        return _refuse, ()


def test_workers_that_never_come_up_stop_the_run_with_a_hint(tmp_path):
    """A script that doesn't guard its start: each worker starts it again."""
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from pathlib import Path\n"
        "from cirrus_env.errors import RunError\n"
        "from cirrus_env.runner.agents import find_agent\n"
        "from cirrus_env.runner.run import jobs_for, run_jobs\n"
        "from cirrus_env.tickets.load import bundled\n"
        "jobs = jobs_for([find_agent('do-nothing')], [bundled('ECS-Billing')], range(2))\n"
        "try: run_jobs(jobs, processes=2)\n"
        "except RunError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert "guard its start with if __name__ == '__main__'" in done.stdout


def test_workers_that_die_at_their_start_again_and_again_stop_the_run(monkeypatch):
    crew = pool._Pool(b"", 2)
    crew._came_up = True

    class Dead:
        exitcode = 9

        def join(self, timeout=None): ...

        def is_alive(self):
            return False

    for _ in range(pool.MOST_FAILED_STARTS):
        worker = pool._Worker(Dead(), threading.Event())
        worker.pipe.close = lambda: None
        crew.workers.append(worker)
        assert crew.bury(worker) == "WorkerDied with code 9"
    crew.workers.append(worker)
    with pytest.raises(RunError, match="code 9 before it played anything"):
        crew.bury(worker)


def test_what_agents_print_in_workers_never_reaches_standard_output(capfd):
    run_jobs(jobs_for([agent("Talks")], [SMALL], range(2)), processes=2)
    said = capfd.readouterr()
    assert said.out == ""
    assert "sk-canary-print" in said.err


def test_what_a_worker_is_sent_gives_what_playing_here_gives():
    measured = replace(
        SMALL, constants={"halted-in-guest": {"en": {"shortest": 9, "tokens": 9}}}, plans={}
    )
    jobs = jobs_for([agent("Polite"), find_agent("oracle")], [measured, BILLING], [0, 1])
    payload, orders = packed(jobs, {"max_turns": 3}, True)
    player = Player(payload)
    for job, order in zip(jobs, orders, strict=True):
        assert player.play(order) == play_job(job, {"max_turns": 3}, keep=True)


def test_a_worker_tells_what_stops_the_run(monkeypatch):
    jobs = jobs_for([agent("Polite")], [BILLING], [0])
    payload, (order,) = packed(jobs, {}, False)
    wrong = Player(payload).play(order._replace(variant="no-such-cause"))
    assert isinstance(wrong, OptionError)
    monkeypatch.setattr("cirrus_env.tickets.load.bundled", lambda name: SMALL)
    error = Player(payload).play(order)
    assert "a worker process can't load a ticket" in str(error)
    assert "this package ships another text" in str(error)


def test_a_worker_stays_with_its_ticket_and_the_longest_is_begun_first():
    jobs = jobs_for([agent("Polite")], [SMALL, BILLING], range(3))[:-1]
    waiting = pool._Waiting(jobs)
    first, second = (pool._Worker(None, None) for _ in range(2))
    crew = [first, second]
    taken = [waiting.take(worker, crew) for worker in (first, second, first, second)]
    assert taken == [0, 3, 1, 4]
    waiting.again(0)
    assert [waiting.take(worker, crew) for worker in (second, first)] == [0, 2]
    assert not waiting
    assert waiting.take(first, crew) is None
