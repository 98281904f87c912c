"""What every wrapper of this package has to go through."""

from __future__ import annotations

import copy
import pickle
import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env, data_equivalence

from cirrus_env.baselines.oracle import Oracle
from cirrus_env.engine.replay import trajectory
from cirrus_env.envs import conformance

ID = "Cirrus/ECS-Billing-v0"


def lines(env):
    """The trajectory that an environment has played."""
    return trajectory(env.unwrapped.episode).lines()


def probes(seed, steps=6):
    """Actions that go on for a while, and one that ends."""
    return list(conformance.probes(gymnasium.make(ID), seed, steps))


def holds_all_promises(wrap, **kwargs):
    """A wrapped environment is as good as any: checker, spec, copies, snapshots, seeds.

    Args:
        wrap: Puts the wrapper around an environment.
        kwargs: For ``gymnasium.make``.

    Returns:
        The moments of one episode.
    """

    def make():
        return wrap(gymnasium.make(ID, **kwargs))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(make(), skip_render_check=True)
    actions = probes(3)
    env = make()
    whole = conformance.play(env, 3, actions)
    same(whole, conformance.play(make(), 3, actions))
    again = gymnasium.make(env.spec)
    assert type(again) is type(env)
    assert again.spec.additional_wrappers == env.spec.additional_wrappers
    same(whole, conformance.play(again, 3, actions))
    assert lines(again) == lines(env)
    for key, value in whole[0][4].items():
        assert all(type(moment[4][key]) is type(value) for moment in whole), key
    _goes_on_from_the_middle(make, actions, whole)
    return whole


def _goes_on_from_the_middle(make, actions, whole):
    middle = (len(whole) - 1) // 2
    env = make()
    conformance.play(env, 3, actions[:middle])
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        same(whole[middle + 1 :], play_on(copied, actions[middle:]))
    snapshot = env.unwrapped.snapshot()
    for _ in range(2):
        same(whole[middle + 1 :], play_on(env, actions[middle:]))
        env.unwrapped.restore(snapshot)


def survives_json(wrap):
    """An environment comes back from its spec as JSON."""
    env = wrap(gymnasium.make(ID))
    spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make(spec)
    same(conformance.play(env, 3, probes(3)), conformance.play(again, 3, probes(3)))


def play_oracle(env, seed):
    """The oracle's moments in an environment whose observations are ``TicketEnv``'s."""
    observation, _ = env.reset(seed=seed)
    policy, moments = Oracle(env), []
    policy.reset(seed)
    while not moments or not (moments[-1][2] or moments[-1][3]):
        moments.append(env.step(policy.act(observation)))
        observation = moments[-1][0]
    return moments


def play_on(env, actions):
    """The moments that go on from here."""
    moments = []
    for action in actions:
        moments.append(env.step(action))
        if moments[-1][2] or moments[-1][3]:
            break
    return moments


def same(first, second):
    """Two lists of moments are the same to the byte."""
    assert data_equivalence([*first], [*second], exact=True)
