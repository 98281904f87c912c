"""Minari itself: written, read back, and played again, in both of its formats."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

from cirrus_env.adapters.minari import choose, collect, metadata, replay, rows
from cirrus_env.baselines import policy
from cirrus_env.envs.spaces import FreeText, assistant_action_space, observation_space
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.play import Job, play
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import AssistantAction, ToolCall

minari = pytest.importorskip("minari")

pytestmark = pytest.mark.trainer

ID = "Cirrus/ECS-Billing-v0"
FORMATS = ("hdf5", "arrow")
EXAMPLE = Path(__file__).parents[2] / "examples" / "minari_dataset.py"


@pytest.fixture(autouse=True)
def datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


@pytest.mark.parametrize("form", FORMATS)
def test_the_oracles_episodes_come_back_and_play_again_byte_for_byte(form):
    seeds = range(4)
    collect(ID, f"cirrus/oracle-{form}-v0", seeds=seeds, data_format=form)
    dataset = minari.load_dataset(f"cirrus/oracle-{form}-v0")
    assert dataset.observation_space == observation_space()
    assert dataset.action_space == assistant_action_space()
    assert isinstance(dataset.observation_space["transcript"], FreeText)
    facts = metadata(dataset)
    assert [each["seed"] for each in facts] == list(seeds)
    assert {each["outcome"] for each in facts} == {"success"}
    # the same episodes as the package's own runner plays them
    for each, episode in zip(facts, dataset.iterate_episodes(), strict=True):
        row = play(Job(Agent("o", lambda e: policy("oracle", e)), bundled(ID), each["seed"]))
        assert each["return_micro"] == row["return_micro"]
        assert each["variant"] == row["variant"]
        assert float(episode.rewards.sum()) == pytest.approx(row["return_micro"] / 1e6)
        assert bool(episode.terminations[-1])
        assert not episode.truncations.any()
        for observation in rows(episode.observations):
            assert dataset.observation_space.contains(observation)
    again = replay(dataset)
    assert again.differences == ()
    assert again.episodes == 4
    assert again.steps == dataset.total_steps


def test_both_formats_hold_the_same():
    first, second = (
        collect(ID, f"cirrus/{form}-v0", seeds=(1, 2), agent="keyword", data_format=form)
        for form in FORMATS
    )
    keys = ("ticket", "variant", "outcome", "valid", "success", "return_micro", "seed")
    assert [[f[k] for k in keys] for f in metadata(first)] == [
        [f[k] for k in keys] for f in metadata(second)
    ]
    for mine, theirs in zip(first.iterate_episodes(), second.iterate_episodes(), strict=True):
        assert list(rows(mine.observations)) == list(rows(theirs.observations))
        assert list(rows(mine.actions)) == list(rows(theirs.actions))


@pytest.mark.parametrize("form", FORMATS)
def test_reset_options_are_kept_and_episodes_are_chosen_by_outcome(form):
    options = {"variant": "kept-charging", "language": "zh"}
    dataset = collect(ID, "cirrus/o-v0", seeds=(5,), options=options, data_format=form)
    assert metadata(dataset)[0]["options"] == options
    assert replay(dataset).differences == ()
    assert len(choose(dataset, success=True, variant="kept-charging")) == 1
    assert len(choose(dataset, success=False)) == 0


class Odd:
    """Calls twice at once, calls what isn't there, and writes whatever text there is."""

    name = "odd"

    def __init__(self, episode=None, text="请稍等 🙂\n\t\"'"):
        self._text = text

    def reset(self, seed):
        two = (ToolCall("", "DescribeInstances", "{}"), ToolCall("", "Fly", '{"x": '))
        self._left = [AssistantAction("call", "", two), self._text]

    def act(self, observation):
        return self._left.pop(0) if self._left else AssistantAction("close", "Bye.")


@pytest.mark.parametrize("form", FORMATS)
def test_any_agents_actions_are_replayable(form):
    dataset = collect(ID, "cirrus/odd-v0", seeds=(1,), agent=Agent("odd", Odd), data_format=form)
    [episode] = dataset.iterate_episodes()
    assert [a["type"] for a in rows(episode.actions)] == [1, 1, 0, 2]
    assert episode.actions["text"][2] == "请稍等 🙂\n\t\"'"
    assert replay(dataset).differences == ()


def test_a_nul_character_needs_arrow():
    agent = Agent("odd", lambda _: Odd(text="a\0b"))
    dataset = collect(ID, "cirrus/nul-v0", seeds=(1,), agent=agent, data_format="arrow")
    assert replay(dataset).differences == ()
    with pytest.raises(OptionError, match="arrow"):
        collect(ID, "cirrus/nul2-v0", seeds=(1,), agent=agent)


def test_a_changed_dataset_is_seen():
    dataset = collect(ID, "cirrus/changed-v0", seeds=(1,))
    other = collect(ID, "cirrus/other-v0", seeds=(2,))
    dataset.storage.update_episode_metadata([{"seed": 2}])
    found = replay(minari.load_dataset("cirrus/changed-v0"))
    assert found.differences[0] == (0, 0, "observation")
    assert replay(other).differences == ()


@pytest.mark.parametrize("first", ["cirrus_env", "minari"])
def test_minaris_own_collector_needs_no_adapter_whichever_is_imported_first(first, tmp_path):
    code = f"""
import {first}, gymnasium, cirrus_env
env = gymnasium.make("{ID}")
import minari
collector = minari.DataCollector(env)
collector.reset(seed=3)
collector.step({{"type": 2, "text": "再见", "tool": 0, "arguments": ""}})
collector.create_dataset("cirrus/native-v0")
collector.close()
"""
    read = f"""
import {first}, minari, cirrus_env
dataset = minari.load_dataset("cirrus/native-v0")
env = dataset.recover_environment()
assert env.spec.id == "{ID}", env.spec
assert dataset.observation_space == env.observation_space
assert dataset[0].actions["text"] == ["再见"]
"""
    for text in (code, read):
        subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=True, timeout=120)


def test_a_process_that_knows_nothing_of_this_package_reads_it_and_makes_the_environment():
    collect(ID, "cirrus/plain-v0", seeds=(1,))
    code = """
import sys, minari
dataset = minari.load_dataset("cirrus/plain-v0")
assert "cirrus_env" not in sys.modules
assert len(dataset[0].actions["text"]) == dataset.total_steps
env = dataset.recover_environment()
assert env.reset(seed=1)[0]["message"] == dataset[0].observations["message"][0]
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)


def test_pools_and_arguments_are_recovered():
    env = gymnasium.make("Cirrus/Train-v0", max_turns=9)
    dataset = collect(env, "cirrus/pool-v0", seeds=range(3))
    assert len({each["ticket"] for each in metadata(dataset)}) > 1
    assert dataset.recover_environment().spec.kwargs["max_turns"] == 9
    assert replay(dataset).differences == ()


def test_the_example_runs(tmp_path):
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", str(EXAMPLE), "--seeds", "2"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "0 differences" in done.stdout
