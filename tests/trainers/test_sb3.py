"""Stable-Baselines3 and sb3-contrib on the candidate view: checks, real learning, the example."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import pytest

import cirrus_env  # noqa: F401
from cirrus_env.wrappers.candidates import CandidateActions, K

pytest.importorskip("sb3_contrib")

pytestmark = pytest.mark.trainer

EXAMPLE = Path(__file__).parents[2] / "examples" / "ppo.py"
SEEDS = range(200_000, 200_008)
"""Seeds that training never draws."""


@pytest.fixture(scope="module")
def ppo():
    spec = importlib.util.spec_from_file_location("ppo_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def options(ppo, *given):
    return ppo.parsed([*map(str, given), "--seed", "3"])


def renewal(ppo):
    """The three variants of one training family."""
    return [case for case in ppo.cases(ppo.TRAIN) if case.ticket == "ECS-Renewal"]


def rate(found):
    return sum(found.values()) / len(found)


def weights(model):
    parameters = model.policy.state_dict()
    return {name: tensor.numpy().tobytes() for name, tensor in parameters.items()}


def test_its_checker_finds_no_fault():
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(CandidateActions(gymnasium.make("Cirrus/ECS-Billing-v0")))


def test_its_vector_environments_hand_the_masks_on(ppo):
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import DummyVecEnv

    draws = ppo.Draws(renewal(ppo), 1)
    venv = DummyVecEnv([ppo.training_env(draws)] * 2)
    venv.reset()
    assert is_masking_supported(venv)
    masks = get_action_masks(venv)
    assert masks.shape == (2, K)
    assert 0 < masks.sum() < masks.size


def test_what_is_solved_seldom_is_drawn_often(ppo):
    first, second, third = renewal(ppo)
    draws = ppo.Draws([first, second, third], 1)
    for _ in range(200):
        draws.note(first, True)
    assert draws.rates[first] > 0.99
    assert draws.rates[second] == 0
    drawn = [draws.next() for _ in range(300)]
    counts = [sum(case == one for case, _ in drawn) for one in (first, second, third)]
    assert 0 < counts[0] < counts[1] / 2
    assert all(0 <= seed < ppo.TRAINING_SEEDS for _, seed in drawn)


def test_maskable_ppo_learns_to_tell_three_variants_apart(ppo):
    family = renewal(ppo)
    model, points = ppo.train(options(ppo, "--steps", 32_000), family)
    before = rate(ppo.successes(ppo.TRAIN, family, SEEDS, ppo.at_random(1)))
    after = rate(ppo.successes(ppo.TRAIN, family, SEEDS, ppo.learned(model, True)))
    assert before <= 0.1
    assert after >= before + 0.5
    assert len(points) == 40
    assert points[-1][1] > points[0][1] + 0.4


def test_ppo_runs_without_masks(ppo):
    made = options(ppo, "--steps", 8_192, "--algorithm", "ppo")
    model, _ = ppo.train(made, renewal(ppo))
    found = ppo.successes(ppo.TRAIN, renewal(ppo), SEEDS, ppo.learned(model, False))
    assert len(found) == 3 * len(SEEDS)
    assert model.num_timesteps >= 8_192


def test_the_same_seed_gives_the_same_weights(ppo):
    def trained(seed):
        made = argparse.Namespace(**vars(options(ppo, "--steps", 2_048)) | {"seed": seed})
        return weights(ppo.train(made, renewal(ppo))[0])

    first = trained(3)
    assert trained(3) == first
    assert trained(4) != first


def test_the_example_writes_its_report_and_reads_its_weights_again(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-W", "ignore", str(EXAMPLE), "--quick", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = run("--out", str(tmp_path / "a"))
    files = {path.name for path in (tmp_path / "a").iterdir()}
    assert files == {"report.json", "curve.csv", "curve.png", "model.zip"}
    assert (tmp_path / "a" / "curve.png").read_bytes()[:4] == b"\x89PNG"
    results = json.loads((tmp_path / "a" / "report.json").read_text())["results"]
    assert list(results) == ["train families", "held-out variants", "test families"]
    for row in results.values():
        assert list(row) == ["PPO", "random", "keyword"]
        assert all(0 <= got["low"] <= got["rate"] <= got["high"] <= 1 for got in row.values())
    trained, held_out = results["train families"], results["held-out variants"]
    assert not trained["PPO"]["cases"].keys() & held_out["PPO"]["cases"].keys()
    assert "held-out variants" in printed
    run("--out", str(tmp_path / "b"), "--load", str(tmp_path / "a" / "model.zip"))
    again = json.loads((tmp_path / "b" / "report.json").read_text())["results"]
    assert again == results
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"report.json"}
