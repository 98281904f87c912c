"""A run that grows while somebody else plays is read like any other."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path

import gymnasium
import pytest
from cli_calls import call

import cirrus_env  # noqa: F401  # registers the ids
from cirrus_env.baselines.oracle import Oracle
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import OptionError, RunLocked, StoreError, StoreFull
from cirrus_env.runner import store
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.explain import explain
from cirrus_env.runner.recording import RunRecorder
from cirrus_env.runner.rescore import rescore_run
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.load import load_ticket
from cirrus_env.wrappers import CustomReward, DistractionTools, EarlyStop, RecordTrajectories

POOL = "Cirrus/ECS-v0"
SMALL = load_ticket(Path(__file__).with_name("small.toml"))
CLOSE = {"type": 2, "text": "Goodbye.", "tool": 0, "arguments": ""}


@pytest.fixture
def recorder(tmp_path):
    with RunRecorder(tmp_path / "run", agent="mine") as made:
        yield made


def let_oracle_play(env, seeds):
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        policy, ended = Oracle(env), False
        policy.reset(seed)
        while not ended:
            observation, _, terminated, truncated, _ = env.step(policy.act(observation))
            ended = terminated or truncated


def end(env, seed=1):
    env.reset(seed=seed)
    env.step(CLOSE)


def test_a_recorded_run_is_read_like_any(recorder, tmp_path):
    env = RecordTrajectories(DistractionTools(gymnasium.make(POOL, reward="dense"), 3), recorder)
    let_oracle_play(env, range(5))
    end(env, seed=4)
    folder = str(recorder.folder)

    run = StoredRun(recorder.folder)  # while it grows
    assert (len(run), run.missing, run.manifest["jobs"]) == (6, 0, None)
    assert [stored.number for stored in run] == [0, 1, 2, 3, 4, 5]
    assert len(run.tickets) == len({stored.row.ticket for stored in run}) > 1
    found = list(rescore_run(run))
    assert [each.differences for each in found] == [()] * 6
    assert [each.row.return_micro for each in found[:5]] == [1_000_000] * 5
    assert [each.row.success for each in found] == [True] * 5 + [False]

    explanation = explain(run, run.find("5"))
    assert explanation["reproduced"]
    assert explanation["episode"]["outcome"] == "closed_early"
    assert run.find(f"mine/{run[2].row.ticket}/2") == run[2]

    for arguments in (
        ("rescore", folder),
        ("compare", folder),
        ("explain", folder, "1"),
        ("export", folder, "--format", "sft", "--out", str(tmp_path / "sft.jsonl")),
        ("export", folder, "--format", "preferences", "--out", str(tmp_path / "pairs.jsonl")),
    ):
        called = call(*arguments)
        assert called.code == 0, called.err
    assert call("compare", folder, "--json").json["agents"][0]["agent"] == "mine"
    assert len((tmp_path / "sft.jsonl").read_text().splitlines()) == 5
    assert len((tmp_path / "pairs.jsonl").read_text().splitlines()) == 1


def test_it_compares_with_a_run_that_was_played(recorder, tmp_path):
    env = RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0"), recorder)
    let_oracle_play(env, [1, 2])
    ticket = env.unwrapped.episode.ticket
    run_jobs(jobs_for([find_agent("do-nothing")], [ticket], [1, 2]), folder=tmp_path / "other")
    called = call("compare", str(recorder.folder), str(tmp_path / "other"), "--json")
    assert called.code == 0, called.err
    assert [each["agent"] for each in called.json["agents"]] == ["mine", "do-nothing"]


def test_groups_of_one_seed_are_kept_apart(recorder):
    env = RecordTrajectories(EarlyStop(gymnasium.make(POOL), repeats=1), recorder)
    for _ in range(3):
        end(env, seed=7)
    run = StoredRun(recorder.folder)
    assert [stored.key[-1] for stored in run] == [0, 1, 2]
    assert len({stored.key[:-1] for stored in run}) == 1
    assert [stored.row.seed for stored in run] == [7, 7, 7]


def test_a_ticket_of_ones_own_is_kept_with_its_text(recorder):
    let_oracle_play(RecordTrajectories(TicketEnv(SMALL), recorder), [1])
    run = StoredRun(recorder.folder)
    assert run.manifest["sources"] == {SMALL.env_id: SMALL.text}
    assert [each.differences for each in rescore_run(run)] == [()]


def test_the_reward_and_the_system_text_are_those_of_the_environment(recorder):
    env = gymnasium.make("Cirrus/ECS-Billing-v0", system="Be kind.")
    env = RecordTrajectories(CustomReward(env, {"progress": 2}), recorder)
    let_oracle_play(env, [1])
    run = StoredRun(recorder.folder)
    assert run.manifest["reward"]["weights"] == {"progress": 2}
    assert [(each.row.return_micro, each.differences) for each in rescore_run(run)] == [
        (2_000_000, ())
    ]
    assert explain(run, run[0])["reproduced"]


def test_one_recorder_serves_many_environments_and_names_may_be_theirs(tmp_path):
    recorder = RunRecorder(tmp_path / "run")
    for agent in ("a", "b"):
        end(RecordTrajectories(gymnasium.make(POOL), recorder, agent=agent))
    assert [stored.row.agent for stored in StoredRun(recorder.folder)] == ["a", "b"]
    assert [stored.key[0] for stored in StoredRun(recorder.folder)] == ["a", "b"]
    recorder.close()


def test_going_on_with_what_was_recorded(recorder):
    env = RecordTrajectories(gymnasium.make(POOL), recorder)
    end(env)
    recorder.close()
    end(env)  # it opens the folder again
    recorder.close()
    with pytest.raises(StoreError, match="already holds a run"):
        RunRecorder(recorder.folder)
    with RunRecorder(recorder.folder, resume=True) as again:
        end(RecordTrajectories(gymnasium.make(POOL), again))
    run = StoredRun(recorder.folder)
    assert [stored.key[-1] for stored in run] == [0, 1, 2]
    assert [stored.row.agent for stored in run] == ["mine", "mine", "learner"]


def test_a_line_that_a_crash_tore_is_cut_off(recorder):
    env = RecordTrajectories(gymnasium.make(POOL), recorder)
    end(env)
    recorder.close()
    path = recorder.folder / store.EPISODES
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:100])
    assert len(StoredRun(recorder.folder)) == 1
    end(env)
    assert path.read_bytes().startswith(whole)
    assert [stored.key[-1] for stored in StoredRun(recorder.folder)] == [0, 1]


def test_no_room_for_a_further_ticket_keeps_what_was_there(recorder, monkeypatch):
    let_oracle_play(RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0"), recorder), [1])
    before = (recorder.folder / store.MANIFEST).read_bytes()

    def full(path, data):
        raise OSError(28, "No space left on device")

    other = RecordTrajectories(TicketEnv(SMALL), recorder)
    with monkeypatch.context() as patch:
        patch.setattr(store, "write_whole", full)
        with pytest.raises(StoreFull, match="what was there is kept"):
            end(other)
    assert (recorder.folder / store.MANIFEST).read_bytes() == before
    assert len(StoredRun(recorder.folder)) == 1
    other.close()  # hands it over again
    assert [s.row.ticket for s in StoredRun(recorder.folder)][1] == SMALL.env_id


def test_episodes_of_another_run_are_refused(recorder):
    end(RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0"), recorder))
    for kwargs, part in (({"reward": "sparse"}, "reward"), ({"system": "Hi."}, "settings")):
        env = RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0", **kwargs), recorder)
        with pytest.raises(StoreError, match=f"another run: {part} differ"):
            end(env)
    episodes = []
    end(RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0"), episodes.append))
    other = {**episodes[0], "digest": "0" * 64}
    with pytest.raises(StoreError, match="ticket Cirrus/ECS-Billing-v0 differ"):
        recorder(other)
    other = {**episodes[0], "run": {**episodes[0]["run"], "constants": {}}}
    with pytest.raises(StoreError, match="constants of Cirrus/ECS-Billing-v0 differ"):
        recorder(other)
    with pytest.raises(OptionError, match="RecordTrajectories hands over"):
        recorder({"key": []})
    assert len(StoredRun(recorder.folder)) == 1


def test_a_run_that_was_played_takes_no_recorded_episode(tmp_path):
    run_jobs(jobs_for([find_agent("do-nothing")], [SMALL], [1]), folder=tmp_path)
    with pytest.raises(StoreError, match="was not recorded"):
        RunRecorder(tmp_path, resume=True)


def test_one_process_writes(recorder, monkeypatch):
    env = RecordTrajectories(gymnasium.make(POOL), recorder)
    other = pickle.loads(pickle.dumps(env))
    end(env)
    assert copy.deepcopy(recorder) is recorder
    end(copy.deepcopy(env))
    with pytest.raises(RunLocked):
        end(other)
    recorder.close()
    other.reset(seed=1)  # now it gets rid of what it holds
    assert len(StoredRun(recorder.folder)) == 3
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    with pytest.raises(StoreError, match="another process"):
        end(other)


def test_a_name_that_cannot_be_stored_is_refused(tmp_path):
    with pytest.raises(OptionError, match="name is a text"):
        RunRecorder(tmp_path, agent="\ud800")
