"""Names that mean nothing, put around an environment."""

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, play_oracle, survives_json

from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.wrappers import DistractionTools, ScrambledNames, ToolCallText


def test_the_oracle_plays_the_same_under_other_names():
    plain, env = gymnasium.make(ID), ScrambledNames(gymnasium.make(ID), 5)
    play_oracle(plain, 3)
    moments = play_oracle(env, 3)
    assert env.unwrapped.episode.outcome.success
    assert lines(env)[1:] == lines(plain)[1:]
    transcript = moments[-1][0]["transcript"]
    assert env.names["DescribeInstances"] in transcript
    assert "DescribeInstances" not in transcript


def test_a_models_text_calls_by_the_shown_names():
    env = ToolCallText(ScrambledNames(DistractionTools(gymnasium.make(ID), 3), 5), "hermes")
    with pytest.raises(EpisodeNotRunning):
        _ = env.env.names
    env.reset(seed=3)
    name = env.get_wrapper_attr("names")["DescribeInstances"]
    call = '<tool_call>{"name": "%s", "arguments": {}}</tool_call>'
    assert '"Instances"' in env.step(call % name)[0]["message"]
    assert "UnknownTool" in env.step(call % "DescribeInstances")[0]["message"]
    assert env.unwrapped.episode.records[1].events[0].name == "DescribeInstances"


def test_it_holds_all_promises():
    holds_all_promises(lambda env: ScrambledNames(env, 5))
    survives_json(ScrambledNames)


@pytest.mark.parametrize("seed", ["x", True, 0.5])
def test_what_cannot_be_used_is_refused(seed):
    with pytest.raises(OptionError, match="scramble is the seed"):
        ScrambledNames(gymnasium.make(ID), seed)
    with pytest.raises(OptionError, match="wraps a ticket environment, not CartPole"):
        ScrambledNames(gymnasium.make("CartPole-v1"))
