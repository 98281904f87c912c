"""Tools of other services, put around an environment."""

import json

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, play_oracle, survives_json

from cirrus_env.errors import OptionError
from cirrus_env.wrappers import DistractionTools


def offered(env):
    return [tool["function"]["name"] for tool in json.loads(env.reset(seed=3)[0]["tools"])]


@pytest.mark.parametrize("count", [0, 3, "all"])
def test_it_is_as_the_environment_made_with_them(count):
    wrapped = DistractionTools(gymnasium.make(ID), count)
    made = gymnasium.make(ID, distractions=count)
    assert offered(wrapped) == offered(made)
    more = len(offered(wrapped)) - len(offered(gymnasium.make(ID)))
    assert more == (count if count != "all" else 103 - len(offered(gymnasium.make(ID))))


def test_the_oracle_needs_none_of_them():
    plain, env = gymnasium.make(ID), DistractionTools(gymnasium.make(ID), "all")
    play_oracle(plain, 3)
    play_oracle(env, 3)
    assert env.unwrapped.episode.outcome.success
    assert lines(env)[1:] == lines(plain)[1:]


def test_it_holds_all_promises():
    holds_all_promises(lambda env: DistractionTools(env, 10))
    survives_json(lambda env: DistractionTools(env, 3))


@pytest.mark.parametrize("count", [-1, "many", None, True])
def test_what_cannot_be_used_is_refused(count):
    with pytest.raises(OptionError, match="distractions is a number"):
        DistractionTools(gymnasium.make(ID), count)
    with pytest.raises(OptionError, match="wraps a ticket environment, not CartPole"):
        DistractionTools(gymnasium.make("CartPole-v1"), 3)
