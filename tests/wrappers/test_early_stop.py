"""Episodes that get nowhere are stopped."""

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, play_on, play_oracle, probes, survives_json

from cirrus_env.engine.plan import reference_actions
from cirrus_env.envs import conformance
from cirrus_env.errors import OptionError
from cirrus_env.wrappers import CandidateActions, EarlyStop
from cirrus_env.wrappers.candidates import index_of

IDLE = "I see. One moment."
ASK = "Which instance is it?"
LOOK = {"type": 1, "text": "", "tool": 4, "arguments": "{}"}


def stopping(env_id=ID, **limits):
    env = EarlyStop(gymnasium.make(env_id), **limits)
    return env, env.reset(seed=3)[1]


def test_turns_without_a_further_checkpoint():
    env, info = stopping(unproductive=2)
    assert info["early_stop"] == ""
    verify = reference_actions(env.unwrapped.episode.scenario)[1]
    moments = play_on(env, [ASK, verify, IDLE, IDLE, IDLE])
    # asking passes a checkpoint with the customer's answer, verifying within a turn that goes on
    assert [m[4]["early_stop"] for m in moments] == [""] * 4 + ["unproductive"]
    _, _, terminated, truncated, info = moments[-1]
    assert (terminated, truncated, info["outcome"], info["valid"]) == (False, True, "stopped", 1)
    assert info["metrics"]["success"] is False
    passed = [e.name for r in env.unwrapped.episode.records for e in r.events if e.kind == "passed"]
    assert len(passed) == 2


def test_the_oracle_is_never_stopped():
    env, _ = stopping(unproductive=2, invalid=1, violations=1, repeats=13)
    *_, info = play_oracle(env, 3)[-1]
    assert (info["outcome"], info["early_stop"]) == ("success", "")


def test_turns_of_the_reference_played_before_do_not_count():
    env = EarlyStop(gymnasium.make(ID), unproductive=2)
    env.reset(seed=3, options={"turn": 1})
    assert [m[3] for m in play_on(env, [IDLE, IDLE])] == [False, True]


def test_invalid_actions_in_all():
    env, _ = stopping(invalid=2)
    moments = play_on(env, [" ", IDLE, " "])
    assert [m[4]["early_stop"] for m in moments] == ["", "", "invalid"]


def test_violations_as_the_metrics_count_them():
    env, _ = stopping(violations=1)
    wrong = "It is a subscription: it is paid in advance, and that does not depend on running."
    moments = play_on(env, [ASK, wrong])
    assert [m[4]["early_stop"] for m in moments] == ["", "violations"]
    assert moments[-1][4]["metrics"]["policy_violations"] == 1


def test_the_same_again_and_again():
    env, _ = stopping(repeats=2)
    said = {"role": "assistant", "content": IDLE, "reasoning_content": "Hm."}
    moments = play_on(env, [ASK, IDLE, said, IDLE])
    assert [m[4]["early_stop"] for m in moments] == [""] * 3 + ["repeats"]
    env.reset(seed=3)
    calls = [
        {"role": "assistant", "tool_calls": [{"id": i, "function": {"name": name}}]}
        for i, name in (("a", "DescribeInstances"), ("b", "DescribeDisks"), ("c", "DescribeDisks"))
    ]
    moments = play_on(env, [*calls, LOOK | {"arguments": '{"a": 1}'}, calls[2], calls[1], calls[2]])
    assert [m[3] for m in moments] == [False] * 6 + [True]


def test_what_ends_by_itself_stands():
    env, _ = stopping(repeats=1, unproductive=1)
    *_, terminated, truncated, info = env.step({**LOOK, "type": 2, "text": IDLE})
    assert (terminated, truncated, info["outcome"]) == (True, False, "closed_early")
    assert info["early_stop"] == ""


def test_over_a_view_with_observations_of_its_own():
    env = EarlyStop(CandidateActions(gymnasium.make(ID)), unproductive=3)
    env.reset(seed=3)
    moments = play_on(env, [index_of("ask.instance")] * 5)
    observation, *_, info = moments[-1]
    assert info["early_stop"] == "unproductive"
    assert observation in env.observation_space
    assert env.action_space.sample(info["action_mask"]) in env.action_space


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"unproductive": 2}, "unproductive"),
        ({"invalid": 1}, "invalid"),
        ({"violations": 9, "repeats": 9, "unproductive": 90}, ""),
    ],
)
def test_it_holds_all_promises(limits, why):
    whole = holds_all_promises(lambda env: EarlyStop(env, **limits))
    survives_json(lambda env: EarlyStop(env, **limits))
    assert whole[-1][4]["early_stop"] == why


def test_what_never_happens_changes_nothing():
    plain, env = gymnasium.make(ID), EarlyStop(gymnasium.make(ID), violations=99)
    conformance.play(plain, 3, probes(3))
    conformance.play(env, 3, probes(3))
    assert lines(env) == lines(plain)


@pytest.mark.parametrize("limits", [{}, {"invalid": 0}, {"repeats": 1.0}, {"unproductive": True}])
def test_what_cannot_be_used_is_refused(limits):
    with pytest.raises(OptionError, match=next(iter(limits), "needs one of")):
        EarlyStop(gymnasium.make(ID), **limits)
    with pytest.raises(OptionError, match="learner as the assistant"):
        EarlyStop(gymnasium.make("CartPole-v1"), invalid=2)
