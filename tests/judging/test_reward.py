"""Reward rules: presets, mappings, exact weights, and what is refused."""

import copy
import pickle
from fractions import Fraction

import pytest

from cirrus_env.errors import OptionError
from cirrus_env.judging.reward import PRESETS, TERMS, RewardRule, exactly, reward_rule


def test_the_default_weights_are_those_of_the_definition():
    rule = reward_rule("cirrus")
    assert {term: weight for term, weight in rule.weights.items() if weight} == {
        "progress": 0.05,
        "resolution": 0.65,
        "efficiency": 0.20,
        "latency": 0.10,
        "violation": 1,
        "incorrect_write": 1,
        "invalid": 1,
    }
    assert tuple(rule.weights) == TERMS


def test_the_other_presets():
    weights = {rule.name: {t: w for t, w in rule.weights.items() if w} for rule in PRESETS}
    assert weights["sparse"] == {"resolution": 1}
    assert weights["dense"] == {"progress": 0.3, "resolution": 0.7}
    assert weights["shaped"] == {"resolution": 1, "shaping": 1}
    assert weights["paper"] == {"resolution": 0.5, "nei": 0.5}


def test_weights_are_the_decimal_numbers_written():
    rule = RewardRule({"progress": 0.1, "latency": 0.2})
    assert rule.fractions[TERMS.index("progress")] == Fraction(1, 10)
    assert rule.scaled[TERMS.index("latency")] == 2
    assert rule.scale == 10


def test_a_mapping_gives_weights_gamma_and_a_base():
    rule = reward_rule({"resolution": 1, "gamma": 0.99})
    assert (rule.weights["resolution"], rule.weights["progress"]) == (1, 0)
    assert rule.discount == Fraction(99, 100)
    mixed = reward_rule({"preset": "cirrus", "nei": 0.1})
    assert (mixed.weights["nei"], mixed.weights["resolution"], mixed.name) == (0.1, 0.65, "weights")
    assert reward_rule({"preset": "shaped", "gamma": 0.9}).name == "shaped"


def test_a_rule_is_itself():
    rule = RewardRule({"resolution": 1})
    assert reward_rule(rule) is rule


def test_a_rule_survives_pickle_and_copies_and_hashes():
    rule = reward_rule({"resolution": 1, "gamma": 0.5})
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert copy.deepcopy(rule) == rule
    assert hash(rule) == hash(copy.deepcopy(rule))


def length(metrics):
    return metrics["replies"]


class Constant:
    def __call__(self, metrics):
        return 1.0


def test_a_header_names_the_rule_and_the_custom_function():
    rule = RewardRule({"custom": 0.5}, custom=length, name="mine")
    assert rule.to_json() == {
        "name": "mine",
        "version": "1",
        "weights": {"custom": 0.5},
        "gamma": 1.0,
        "custom": "length",
    }
    assert RewardRule({"custom": 1}, custom=Constant()).to_json()["custom"] == "Constant"
    assert reward_rule("sparse").to_json()["custom"] == ""


def test_only_shaping_and_custom_change_the_return_where_nothing_happened():
    assert not reward_rule("cirrus").path_dependent
    assert reward_rule("shaped").path_dependent
    assert RewardRule({"custom": 1}, custom=length).path_dependent


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RewardRule({"progres": 1}), "did you mean 'progress'"),
        (lambda: RewardRule({"zzz": 1}), "terms are progress"),
        (lambda: RewardRule({"progress": float("nan")}), "finite"),
        (lambda: RewardRule({"progress": True}), "finite"),
        (lambda: RewardRule({"progress": "1"}), "finite"),
        (lambda: RewardRule({"progress": 1}, gamma=1.5), r"\[0, 1\]"),
        (lambda: RewardRule({"progress": 1}, gamma=float("inf")), "gamma"),
        (lambda: RewardRule({"custom": 1}), "go together"),
        (lambda: RewardRule({}, custom=length), "go together"),
        (lambda: reward_rule("cirus"), "did you mean 'cirrus'"),
        (lambda: reward_rule("zzzzz"), "there are cirrus"),
        (lambda: reward_rule(3), "not 3"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(OptionError, match=message):
        make()


def test_exact_numbers():
    assert exactly(0.1) == Fraction(1, 10)
    assert exactly(10**400) == 10**400
    assert exactly(1e-7) == Fraction(1, 10**7)
