"""The kit finds what is wrong; a kit that never complains proves nothing."""

from __future__ import annotations

import gymnasium
import pytest

from cirrus_env.envs import conformance
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.errors import CirrusError


def problems(env_class, **arguments):
    report = conformance.check(lambda: env_class("ECS-Billing", **arguments), seeds=(0,))
    return "\n".join(report.problems)


class LeaksTheVariant(TicketEnv):
    def _info(self, info):
        return {**super()._info(info), "variant": self.episode.scenario.variant}


class ChangesTypes(TicketEnv):
    def _info(self, info):
        return {**super()._info(info), "seed": str(info["seed"])}


class Counts(TicketEnv):
    made = 0

    def reset(self, *, seed=None, options=None):
        Counts.made += 1
        return super().reset(seed=Counts.made, options=options)


class Nonsense(TicketEnv):
    def step(self, action):
        observation, _, terminated, truncated, info = super().step(action)
        return {**observation, "turn": -1}, 0, terminated, truncated, info


class BothAtOnce(TicketEnv):
    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, terminated, info


class EndsInSilence(TicketEnv):
    def _info(self, info):
        return {**super()._info(info), "outcome": ""}


class OtherTerms(TicketEnv):
    def _info(self, info):
        return {**super()._info(info), "reward_terms": {"bonus": 1.0}}


class NeverEnds(TicketEnv):
    def step(self, action):
        if isinstance(action, dict) and action["type"] > 1:
            action = "One moment, please."
        return super().step(action)


class WrongMask(TicketEnv):
    def _info(self, info):
        return {**super()._info(info), "action_mask": {}}


class Fails(TicketEnv):
    def reset(self, *, seed=None, options=None):
        if options is not None:
            raise RuntimeError("no options, please")
        return super().reset(seed=seed)


class Forgets(TicketEnv):
    def restore(self, snapshot):
        self.reset(seed=99)
        return super().restore(self.snapshot())

    def fork(self):
        other = super().fork()
        other.reset(seed=99)
        return other

    def __getstate__(self):
        return self.fork().__dict__


@pytest.mark.parametrize(
    ("env_class", "finding"),
    [
        (LeaksTheVariant, "info has the keys"),
        (ChangesTypes, "info['seed'] is str, not int"),
        (Counts, "the same seed and actions gave another episode"),
        (Nonsense, "outside its space"),
        (Nonsense, "a float and two bools"),
        (BothAtOnce, "terminated and truncated at once"),
        (EndsInSilence, "the outcome is '' although ended is True"),
        (OtherTerms, "has other terms"),
        (NeverEnds, "no episode ended within 9 actions"),
        (WrongMask, "mask doesn't fit"),
        (Fails, "check_env"),
        (Forgets, "after fork, snapshot or restore"),
        (Forgets, "a fork gives another episode"),
        (Forgets, "after pickle"),
        (Forgets, "after deepcopy"),
    ],
)
def test_it_finds(env_class, finding):
    assert finding in problems(env_class)


def test_a_report_can_be_required():
    report = conformance.check(lambda: NeverEnds("ECS-Billing"), seeds=(0,))
    assert "the episode's end" not in report.checked
    with pytest.raises(CirrusError, match="no episode ended"):
        report.require()
    with pytest.raises(CirrusError, match="none of 3 episodes ended"):
        conformance.Report((), (), 3, 0).require()


def test_it_wants_a_dict_of_actions():
    with pytest.raises(CirrusError, match="is a Dict"):
        next(conformance.probes(gymnasium.make("CartPole-v1"), 0, 1))
