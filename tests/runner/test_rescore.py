"""A stored run scored again gives the same integers, or says where it does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cirrus_env.engine.replay import rescore
from cirrus_env.errors import OptionError, StoreError
from cirrus_env.judging.reward import PRESETS, RewardRule
from cirrus_env.runner import manifest as manifests
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.lines import encode
from cirrus_env.runner.rescore import rescore_run
from cirrus_env.runner.rows import Row
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import EPISODES, MANIFEST, read_episodes, read_manifest
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import canonical, digest

SMALL = load_ticket(Path(__file__).with_name("small.toml"))
LOCKED = bundled("ECS-Locked")
AGENTS = [find_agent(name) for name in ("oracle", "random", "every-cause", "do-nothing")]


class Broken:
    name = "broken"

    def reset(self, seed): ...

    def act(self, observation):
        raise RuntimeError("sk-canary-1")


BROKEN = Agent("broken", lambda _: Broken())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    run_jobs(jobs_for([*AGENTS, BROKEN], [SMALL, LOCKED], range(2)), folder=folder)
    return folder


def rewrite(folder: Path, there: Path, change) -> StoredRun:
    """A copy of the run with every episode changed, its checksums right again."""
    there.mkdir()
    lines = []
    for episode in read_episodes(folder):
        change(episode)
        lines.append(encode(episode).data)
    (there / EPISODES).write_bytes(b"".join(lines))
    (there / MANIFEST).write_bytes((folder / MANIFEST).read_bytes())
    return StoredRun(there)


def test_every_metric_and_every_steps_reward_comes_out_as_stored(folder):
    found = list(rescore_run(StoredRun(folder)))
    assert [each.number for each in found] == list(range(20))
    assert [each.differences for each in found] == [()] * 20
    stored = {canonical(e["key"]): e for e in read_episodes(folder)}
    jobs = read_manifest(folder)["jobs"]
    for each in found:
        episode = stored[canonical(jobs[each.number])]
        assert each.row == Row.from_episode(episode)
    broken = [each.row for each in found if each.row.agent == "broken"]
    assert {(row.valid, row.return_micro, row.success) for row in broken} == {(False, None, None)}


@pytest.mark.parametrize("reward", [rule.name for rule in PRESETS])
def test_another_reward_gives_what_playing_under_it_gives(folder, tmp_path, reward):
    jobs = jobs_for(AGENTS, [SMALL, LOCKED], range(2))
    played = {
        (row.agent, row.ticket, row.seed): row.return_micro
        for row in run_jobs(jobs, settings={"reward": reward})
    }
    for each in rescore_run(StoredRun(folder), reward):
        row = each.row
        assert each.differences == ()
        if row.valid:
            assert row.return_micro == played[row.agent, row.ticket, row.seed]


def test_rescoring_is_the_engines_own(folder):
    for stored, found in zip(StoredRun(folder), rescore_run(StoredRun(folder)), strict=True):
        if found.row.valid:
            ticket = SMALL if stored.row.ticket == SMALL.env_id else LOCKED
            trajectory = stored.trajectory
            again = rescore(trajectory.header, trajectory.records, ticket=ticket)
            assert again == (found.row.metrics, found.row.return_micro)


def test_a_number_that_was_stored_otherwise_is_named(folder, tmp_path):
    def change(episode):
        if episode["agent"] == "oracle":
            episode["metrics"]["replies"] += 1
            episode["return_micro"] += 1
            episode["success"] = not episode["success"]
            episode["trajectory"]["records"][1]["reward_micro"] += 1

    run = rewrite(folder, tmp_path / "other", change)
    for each in rescore_run(run):
        assert bool(each.differences) == (each.row.agent == "oracle")
        if each.differences:
            told = [difference.partition(":")[0] for difference in each.differences]
            assert told == ["step 1", "replies", "success", "return"]
    assert all(
        not any(d.startswith(("return", "step")) for d in each.differences)
        for each in rescore_run(run, "sparse")
    )


def test_records_of_another_ticket_are_a_difference_not_a_crash(folder, tmp_path):
    def change(episode):
        for record in episode["trajectory"]["records"]:
            for event in record["events"]:
                if event[0] == "passed":
                    event[1] = "no_such_checkpoint"

    found = list(rescore_run(rewrite(folder, tmp_path / "other", change)))
    told = [each.differences[0] for each in found if each.differences]
    assert told
    assert all("no_such_checkpoint" in each for each in told)


def test_an_outside_tickets_text_and_all_constants_travel_with_the_run(tmp_path):
    measured = replace(
        SMALL,
        plans={},
        constants={
            v: {lang: {"shortest": 9, "tokens": 1} for lang in SMALL.languages}
            for v in SMALL.variants
        },
    )
    rows = run_jobs(jobs_for([find_agent("oracle")], [measured], [0]), folder=tmp_path)
    run = StoredRun(tmp_path)
    assert run.tickets[SMALL.env_id].constants == measured.constants
    (found,) = rescore_run(run)
    assert found.differences == ()
    assert found.row == rows[0]


def test_a_bundled_ticket_that_has_changed_is_refused(folder, monkeypatch):
    def other(name):
        return replace(bundled(name), digest="0" * 64, plans={})

    monkeypatch.setattr(manifests, "bundled", other)
    with pytest.raises(StoreError, match="ECS-Locked-v0 has another text than when it was played"):
        list(rescore_run(StoredRun(folder)))


def test_a_bundled_ticket_that_is_gone_is_refused(folder, monkeypatch):
    monkeypatch.setattr(manifests, "bundled", lambda name: bundled("No-Such"))
    with pytest.raises(StoreError, match="no ticket 'No-Such'; the run is of version"):
        list(rescore_run(StoredRun(folder)))


def test_a_reward_of_the_users_own_must_be_named(tmp_path):
    rule = RewardRule({"resolution": 1, "custom": 1}, custom=lambda metrics: metrics["tpr"])
    jobs = jobs_for([find_agent("oracle")], [SMALL], [0])
    run_jobs(jobs, settings={"reward": rule}, folder=tmp_path)
    run = StoredRun(tmp_path)
    with pytest.raises(OptionError, match="name a reward"):
        list(rescore_run(run))
    (found,) = rescore_run(run, "sparse")
    assert (found.row.return_micro, found.differences) == (1_000_000, ())


def test_episodes_that_are_not_there_yet_are_counted(folder, tmp_path):
    there = tmp_path / "part"
    there.mkdir()
    lines = (folder / EPISODES).read_bytes().splitlines(keepends=True)
    (there / EPISODES).write_bytes(b"".join(lines[:3]) + lines[3][:50])
    (there / MANIFEST).write_bytes((folder / MANIFEST).read_bytes())
    run = StoredRun(there)
    assert (len(run), run.missing, len(list(run))) == (3, 17, 3)
    with pytest.raises(OptionError, match="has no episode 19"):
        run[19]


def test_an_episode_is_found_by_its_number_or_by_what_only_it_has(folder):
    run = StoredRun(folder)
    assert run.find("0").number == 0
    found = run.find("oracle/ECS-Locked/1")
    assert found.key[:3] == ("oracle", "Cirrus/ECS-Locked-v0", 1)
    assert run.find("Cirrus/ECS-Locked-v0/1/oracle").number == found.number
    assert found.name.startswith("oracle, on Cirrus/ECS-Locked-v0, seed 1, ")
    for text, problem in (
        ("oracle", "4 episodes fit 'oracle': 0: oracle"),
        ("nobody/1", "has no episode 'nobody/1'"),
        ("99", "has no episode 99"),
        ("9" * 5000, "has no episode"),
        ("²", "has no episode"),
        ("/", "has no episode"),
        ("", "has no episode"),
    ):
        with pytest.raises(OptionError, match=problem):
            run.find(text)


def test_a_file_that_changes_while_it_is_read_is_an_error(folder, tmp_path):
    run = rewrite(folder, tmp_path / "copy", lambda episode: None)
    path = tmp_path / "copy" / EPISODES
    path.write_bytes(path.read_bytes().replace(b'"seed":0', b'"seed":7'))
    with pytest.raises(StoreError, match="line 1 has changed while it was read"):
        run[0]


def test_a_setting_that_json_cannot_name_is_refused_before_anything_is_stored(tmp_path):
    class Nameless:
        name = "half\ud800"

        def begin(self, scenario): ...

        def react(self, mind, view): ...

    jobs = jobs_for([find_agent("oracle")], [SMALL], [0])
    with pytest.raises(OptionError, match="'customer' can't be stored: Nameless"):
        run_jobs(jobs, settings={"customer": Nameless()}, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_tickets_of_one_name_are_refused(tmp_path):
    other = load_ticket(SMALL.text.replace("\n", "\n\n", 1), file="other.toml")
    jobs = jobs_for([find_agent("oracle")], [SMALL, other], [0])
    with pytest.raises(OptionError, match=f"two tickets are named {SMALL.env_id}"):
        run_jobs(jobs, folder=tmp_path / "run")


def test_the_manifest_says_what_its_docstring_says(folder):
    manifest = read_manifest(folder)
    assert sorted(manifest) == [
        "constants", "jobs", "reward", "settings", "sources", "tickets", "version",
    ]  # fmt: skip
    assert manifest["sources"] == {SMALL.env_id: SMALL.text}
    assert manifest["jobs"][0] == ["oracle", SMALL.env_id, 0, "", ""]
    assert json.loads((folder / MANIFEST).read_text())["sha256"] == digest(manifest)
