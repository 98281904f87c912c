"""Faults of the cloud, put around an environment."""

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, probes, survives_json

from cirrus_env.envs import conformance
from cirrus_env.errors import OptionError
from cirrus_env.wrappers import ToolFaults


@pytest.mark.parametrize("rates", ["mild", "harsh", {"throttling": 0.5, "stale": 0.5}, None])
@pytest.mark.parametrize("seat", ["assistant", "customer"])
def test_it_is_as_the_environment_made_with_the_rates(rates, seat):
    wrapped = ToolFaults(gymnasium.make(ID, seat=seat), rates)
    made = gymnasium.make(ID, seat=seat, faults=rates)
    for env in (wrapped, made):
        conformance.play(env, 5, list(conformance.probes(env, 5, 8)))
    assert lines(wrapped) == lines(made)
    assert bool(wrapped.unwrapped.episode.header["faults"]) == (rates is not None)


def test_every_call_may_be_made_to_fail():
    env = ToolFaults(gymnasium.make(ID), {"throttling": 1.0})
    env.reset(seed=3)
    answer = env.step({"type": 1, "text": "", "tool": 4, "arguments": "{}"})[0]["message"]
    assert "Throttling.User" in answer


def test_it_holds_all_promises():
    holds_all_promises(lambda env: ToolFaults(env, "harsh"))
    survives_json(lambda env: ToolFaults(env, {"timeout": 0.25}))


def test_no_faults_change_nothing():
    plain, env = gymnasium.make(ID), ToolFaults(ToolFaults(gymnasium.make(ID)), None)
    conformance.play(plain, 3, probes(3))
    conformance.play(env, 3, probes(3))
    assert lines(env) == lines(plain)


@pytest.mark.parametrize("rates", ["mildly", {"flood": 0.1}, {"stale": 2}, 3])
def test_what_cannot_be_used_is_refused(rates):
    with pytest.raises(OptionError):
        ToolFaults(gymnasium.make(ID), rates)
    with pytest.raises(OptionError, match="wraps a ticket environment, not CartPole"):
        ToolFaults(gymnasium.make("CartPole-v1"), "mild")
