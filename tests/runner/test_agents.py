from __future__ import annotations

import sys

import pytest

from cirrus_env.baselines import ATTACKS, BASELINES, ORACLES
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import find_agent

WHERE = "tests.runner.policies"


@pytest.fixture
def episode():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=0)
    return episode


@pytest.mark.parametrize("name", [*ORACLES, *BASELINES, *ATTACKS, "oracle:polite"])
def test_every_embedded_agent_is_found_and_made(name, episode):
    agent = find_agent(name)
    assert agent.name == name
    policy = agent.make(episode)
    policy.reset(0)


def test_each_episode_gets_a_policy_of_its_own(episode):
    agent = find_agent("keyword")
    assert agent.make(episode) is not agent.make(episode)


@pytest.fixture
def policy_file(tmp_path, monkeypatch):
    path = tmp_path / "own_agent_of_the_test.py"
    path.write_text(
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def reset(self, seed): pass\n"
        "    def act(self, observation): return 'Hello.'\n"
    )
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield path
    sys.modules.pop(path.stem, None)


def test_an_outside_agent_is_found_by_its_file(policy_file, episode):
    agent = find_agent(f"{policy_file}:Mine")
    assert agent.name == "mine"
    assert agent.make(episode).act({}) == "Hello."


def test_an_outside_agent_is_found_beside_the_caller(policy_file, monkeypatch):
    monkeypatch.chdir(policy_file.parent)
    assert find_agent(f"{policy_file.stem}:Mine").name == "mine"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("orcale", "did you mean oracle"),
        ("no_such_module_at_all:X", "ModuleNotFoundError"),
        ("json:NoSuchThing", "AttributeError"),
        ("json:dumps", "can't be made"),
        ("collections:OrderedDict", "is no policy"),
        ("missing.py:X", "there is no file 'missing.py'"),
        ("a\0b.py:X", "there is no file"),
        (":", "can't be made"),
        ("", "there is no policy"),
    ],
)
def test_what_is_no_agent_is_a_clear_error(spec, problem, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    with pytest.raises(OptionError, match=problem):
        find_agent(spec)
