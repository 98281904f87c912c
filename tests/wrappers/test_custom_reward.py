"""The ticket's own return under another rule."""

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, play_oracle, probes, survives_json

from cirrus_env.engine.replay import rescore, trajectory
from cirrus_env.envs import conformance
from cirrus_env.errors import OptionError
from cirrus_env.judging.reward import RewardRule
from cirrus_env.wrappers import CustomReward

WEIGHTS = {"preset": "dense", "nei": 0.25, "gamma": 0.9}


def turns(metrics):
    return -0.5 * (metrics["turns"] or 0)


def oracles_return(env):
    return sum(moment[1] for moment in play_oracle(env, 3))


@pytest.mark.parametrize("rule", ["sparse", WEIGHTS, RewardRule({"resolution": 2, "progress": 1})])
def test_it_is_as_the_environment_made_with_the_rule(rule):
    wrapped = CustomReward(gymnasium.make(ID), rule)
    made = gymnasium.make(ID, reward=rule)
    total = oracles_return(wrapped)
    assert total == oracles_return(made)
    assert lines(wrapped) == lines(made)
    stored = trajectory(wrapped.unwrapped.episode)
    assert rescore(stored.header, stored.records, reward=rule)[1] == round(total * 1_000_000)


def test_a_function_of_ones_own():
    rule = RewardRule({"resolution": 1, "custom": 1}, custom=turns)
    env = CustomReward(gymnasium.make(ID), rule)
    total = oracles_return(env)
    metrics = env.unwrapped.episode.metrics()
    assert metrics["turns"] > 1
    assert total == pytest.approx(1 - 0.5 * metrics["turns"])


@pytest.mark.parametrize("rule", ["shaped", WEIGHTS])
def test_it_holds_all_promises(rule):
    holds_all_promises(lambda env: CustomReward(env, rule))
    survives_json(lambda env: CustomReward(env, rule))


def test_a_rule_given_as_an_object_holds_all_promises():
    rule = RewardRule({"resolution": 1, "custom": 1}, custom=turns)
    holds_all_promises(lambda env: CustomReward(env, rule))


def test_the_usual_rule_changes_nothing_and_the_last_one_counts():
    plain = gymnasium.make(ID)
    env = CustomReward(CustomReward(gymnasium.make(ID), "sparse"), "cirrus")
    conformance.play(plain, 3, probes(3))
    conformance.play(env, 3, probes(3))
    assert lines(env) == lines(plain)


def test_what_cannot_be_used_is_refused():
    for rule, message in (("sparce", "sparse"), ({"resolutoin": 1}, "resolution"), (3, "preset")):
        env = gymnasium.make(ID)
        with pytest.raises(OptionError, match=message):
            CustomReward(env, rule)
    for env in (gymnasium.make(ID, seat="customer"), gymnasium.make("CartPole-v1")):
        with pytest.raises(OptionError, match="learner as the assistant"):
            CustomReward(env, "sparse")
