from __future__ import annotations

import json

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import Trajectory, replay, rescore
from cirrus_env.errors import CirrusError, OptionError, RunLocked, StoreError
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.play import Job, as_json, play
from cirrus_env.runner.rows import Row
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import read_episodes, read_manifest
from cirrus_env.tickets.load import bundled

CANARY = "sk-canary-1"
TICKET = bundled("ECS-Billing")
DO_NOTHING = find_agent("do-nothing")


class Polite:
    """Says the same thing until a limit stops it."""

    name = "polite"

    def __init__(self, breaks_at: int = -1, sends: object = "Thank you for writing.") -> None:
        self.breaks_at = breaks_at
        self.sends = sends

    def reset(self, seed):
        self.turn = 0
        self._maybe_break()

    def act(self, observation):
        self.turn += 1
        self._maybe_break()
        return self.sends

    def _maybe_break(self):
        if self.turn == self.breaks_at:
            raise RuntimeError(f"the key {CANARY} was refused")


def agent(**arguments) -> Agent:
    return Agent("polite", lambda _: Polite(**arguments))


def test_an_episode_is_played_to_its_end_and_stored_whole():
    episode = play(Job(agent(), TICKET, 3))
    row = Row.from_episode(episode)
    assert row.outcome == "abandoned"
    assert (row.success, row.valid, row.error) == (False, True, "")
    assert row.return_micro == sum(r["reward_micro"] for r in episode["trajectory"]["records"])
    assert json.loads(json.dumps(episode)) == episode
    assert Row(**row.to_json()) == row


def test_a_stored_trajectory_replays_and_rescores():
    episode = play(Job(find_agent("oracle"), TICKET, 2))
    lines = [episode["trajectory"]["header"], *episode["trajectory"]["records"],
             episode["trajectory"]["last"]]  # fmt: skip
    stored = Trajectory.from_lines(map(json.dumps, lines))
    metrics, micro = rescore(stored.header, stored.records)
    assert (metrics, micro) == (episode["metrics"], episode["return_micro"])
    again = replay(stored)
    assert [r.to_json() for r in again.records] == episode["trajectory"]["records"]


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ({"breaks_at": 0}, "RuntimeError at test_run.py:"),
        ({"breaks_at": 2}, "RuntimeError at test_run.py:"),
        ({"sends": 7}, "InvalidAction at "),
    ],
)
def test_an_agent_that_breaks_makes_an_invalid_episode_without_a_number(broken, error):
    episode = play(Job(agent(**broken), TICKET, 0))
    assert episode["outcome"] == "agent_error"
    assert (episode["valid"], episode["success"], episode["return_micro"]) == (False, None, None)
    assert episode["error"].startswith(error)
    assert CANARY not in json.dumps(episode)


def test_a_policy_that_cannot_be_made_is_the_agents_failure():
    def make(_):
        raise ValueError(CANARY)

    episode = play(Job(Agent("unmade", make), TICKET, 0))
    assert episode["outcome"] == "agent_error"
    assert CANARY not in json.dumps(episode)


def test_a_broken_customer_is_not_the_agents_failure():
    class Broken:
        name = "broken"

        def begin(self, scenario):
            return "Hello", (), None

        def react(self, mind, view):
            raise RuntimeError(CANARY)

    episode = play(Job(agent(), TICKET, 0), {"customer": Broken()})
    assert episode["outcome"] in ("customer_error", "backend_error")
    assert (episode["valid"], episode["return_micro"]) == (False, None)
    assert CANARY not in json.dumps(episode)


def test_an_episode_that_goes_on_is_not_stored():
    episode = TicketEpisode(TICKET)
    episode.reset(seed=0)
    with pytest.raises(CirrusError, match="has not ended"):
        as_json(Job(agent(), TICKET, 0), episode)


def test_every_agent_meets_the_same_scenes():
    jobs = jobs_for([agent(), DO_NOTHING], [TICKET], range(3))
    rows = run_jobs(jobs)
    scenes = {
        a: [(r.seed, r.variant) for r in rows if r.agent == a] for a in ("polite", "do-nothing")
    }
    assert scenes["polite"] == scenes["do-nothing"]
    assert len(rows) == 6


def test_every_variant_and_language_can_be_asked_for():
    jobs = jobs_for([DO_NOTHING], [TICKET], [0], languages=["zh", "fr"], every_variant=True)
    rows = run_jobs(jobs)
    assert [row.variant for row in rows] == list(TICKET.variants)
    assert {row.language for row in rows} == {"zh"}


def test_two_agents_of_one_name_are_refused():
    with pytest.raises(OptionError, match="two agents are named polite"):
        jobs_for([agent(), agent()], [TICKET], [0])


@pytest.mark.parametrize("workers", [1, 4])
def test_rows_come_in_the_order_of_the_jobs_however_many_workers(workers):
    jobs = jobs_for([agent(), DO_NOTHING], [TICKET], range(5))
    told = []
    rows = run_jobs(jobs, workers=workers, on_done=told.append)
    assert [[r.agent, r.seed] for r in rows] == [[j.agent.name, j.seed] for j in jobs]
    assert sorted(told, key=lambda r: (r.agent, r.seed)) == sorted(
        rows, key=lambda r: (r.agent, r.seed)
    )


def digests(folder):
    return sorted(json.dumps(e, sort_keys=True) for e in read_episodes(folder))


def test_a_run_is_kept_and_resuming_gives_the_same_as_never_stopping(tmp_path):
    jobs = jobs_for([agent(), DO_NOTHING], [TICKET], range(3))
    whole = run_jobs(jobs, folder=tmp_path / "whole")
    seen = []

    def stop_after_two(row):
        seen.append(row)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, folder=tmp_path / "part", on_done=stop_after_two)
    assert len(digests(tmp_path / "part")) == 2
    played, kept = [], []
    again = run_jobs(
        jobs,
        folder=tmp_path / "part",
        resume=True,
        on_done=played.append,
        on_kept=kept.append,
    )
    assert again == whole
    assert (kept, len(played)) == (seen, 4)
    assert digests(tmp_path / "part") == digests(tmp_path / "whole")
    manifest = read_manifest(tmp_path / "part")
    assert manifest["tickets"] == {TICKET.env_id: TICKET.digest}
    assert manifest == read_manifest(tmp_path / "whole")


def test_resuming_plays_only_what_is_missing_or_was_invalid(tmp_path):
    made = []

    def make(_):
        made.append(None)
        return Polite(breaks_at=1 if len(made) == 1 else -1)

    jobs = jobs_for([Agent("flaky", make)], [TICKET], range(2))
    first = run_jobs(jobs, folder=tmp_path)
    assert [row.valid for row in first] == [False, True]
    second = run_jobs(jobs, folder=tmp_path, resume=True)
    assert [row.valid for row in second] == [True, True]
    assert len(made) == 3
    assert second[1] == first[1]


def test_a_run_with_other_jobs_or_settings_is_another_run(tmp_path):
    jobs = jobs_for([DO_NOTHING], [TICKET], range(2))
    run_jobs(jobs, folder=tmp_path)
    with pytest.raises(StoreError, match="its jobs differ"):
        run_jobs(jobs[:1], folder=tmp_path, resume=True)
    with pytest.raises(StoreError, match="its reward, settings differ"):
        run_jobs(jobs, settings={"reward": "sparse"}, folder=tmp_path, resume=True)
    with pytest.raises(StoreError, match="already holds a run"):
        run_jobs(jobs, folder=tmp_path)


def test_a_wrong_setting_is_refused_before_anything_is_stored(tmp_path):
    jobs = jobs_for([DO_NOTHING], [TICKET], [0])
    for settings in ({"customer": "nobody"}, {"reward": "none"}, {"max_turns": 0}):
        with pytest.raises(OptionError):
            run_jobs(jobs, settings=settings)
        with pytest.raises(OptionError):
            run_jobs(jobs, settings=settings, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_runners_never_share_a_folder(tmp_path):
    jobs = jobs_for([DO_NOTHING], [TICKET], range(2))

    def second(row):
        with pytest.raises(RunLocked):
            run_jobs(jobs, folder=tmp_path, resume=True)

    run_jobs(jobs, folder=tmp_path, on_done=second)


def test_a_failure_while_threads_run_stops_the_run(tmp_path):
    def fail(row):
        raise OSError("the disk is gone")

    jobs = jobs_for([DO_NOTHING], [TICKET], range(20))
    with pytest.raises(OSError, match="the disk is gone"):
        run_jobs(jobs, folder=tmp_path, workers=3, on_done=fail)
    assert 1 <= len(digests(tmp_path)) <= 3  # one batch of what was ready
