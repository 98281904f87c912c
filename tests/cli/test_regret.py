"""``cirrus-env regret``."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_calls import call

from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import bundled


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    agents = [find_agent(name) for name in ("oracle", "oracle:harm", "do-nothing")]
    run_jobs(jobs_for(agents, [bundled("ECS-Billing")], [3]), folder=folder)
    return folder


def test_it_names_the_action_that_lost_the_ticket(folder):
    code, out, err = call("regret", str(folder), "oracle:harm")
    assert (code, err) == (0, "")
    found = call("regret", str(folder), "oracle:harm", "--json").json
    [lost] = [each for each in found["actions"] if each["step"] == found["lost_at"]]
    assert lost["action"]["kind"] == "call"
    assert lost["regret"] == max(each["regret"] for each in found["actions"])
    assert f"The ticket was lost at step {lost['step']}, turn {lost['turn']}." in out
    total = sum(each["regret"] for each in found["actions"])
    assert f"return {found['return']:.3f}, regrets {total:.3f} in all" in out


def test_the_oracle_lost_nothing_but_against_who_knows_the_cause(folder):
    code, out, _ = call("regret", str(folder), "0")
    assert code == 0
    assert "lost at" not in out
    assert out.splitlines()[-1].endswith("regrets 0.000 in all")
    found = call("regret", str(folder), "0", "--jumps", "--json").json
    assert found["success"]
    assert sum(each["regret"] for each in found["actions"]) > 0.01


def test_an_episode_that_is_not_there_is_an_error(folder):
    code, _, err = call("regret", str(folder), "7")
    assert code == 2
    assert "no episode 7" in err
