"""Budgets of visible tokens, for a turn and for an episode."""

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, survives_json

from cirrus_env.errors import OptionError
from cirrus_env.wrappers import ChatMessages, CustomReward, EarlyStop, TokenBudget, ToolCallText

ASK = "Which instance is it?"  # 21 bytes: 6 tokens
CALL = {"name": "DescribeInstances", "arguments": "{}"}  # 5 and 1 tokens
CLOSE = {"type": 2, "text": "Bye.", "tool": 0, "arguments": ""}  # 1 token


def calling(count=1):
    calls = [{"id": f"c{k}", "function": CALL} for k in range(count)]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def budget(**budgets):
    env = TokenBudget(gymnasium.make(ID), **budgets)
    return env, env.reset(seed=3)[1]


def test_an_episode_past_its_budget_is_a_token_limit():
    env, info = budget(episode=10)
    assert info["tokens_left"] == 10
    *_, truncated, info = env.step(ASK)
    assert (truncated, info["tokens_left"]) == (False, 4)
    _, _, terminated, truncated, info = env.step(ASK)
    assert (terminated, truncated, info["outcome"]) == (False, True, "token_limit")
    assert info["tokens_left"] == 0
    assert env.unwrapped.episode.header["limits"]["max_tokens"] == 10


def test_the_environments_own_limit_is_left_alone():
    env = TokenBudget(gymnasium.make(ID, max_tokens=50), turn=20)
    assert env.reset(seed=3)[1]["tokens_left"] == 50
    assert env.step(ASK)[-1]["tokens_left"] == 44
    env, info = budget(turn=20)
    assert info["tokens_left"] == -1
    assert env.step(ASK)[-1]["tokens_left"] == -1


def test_all_actions_of_a_turn_count_together_and_each_turn_begins_anew():
    env, _ = budget(turn=18)
    for action in (calling(2), ASK, calling(), calling(), ASK):  # 12 + 6, 6 + 6 + 6
        *_, truncated, info = env.step(action)
        assert not truncated
    assert info["turn"] == 2
    env.step(calling())
    observation, _, terminated, truncated, info = env.step(calling(3))
    assert (terminated, truncated, info["outcome"], info["valid"]) == (False, True, "stopped", 1)
    assert observation["role"] == "tool"  # the action was played
    assert info["tool_calls"] == 8
    assert info["tokens"] == 18 + 18 + 24
    assert info["variant"]


def test_malformed_actions_count_too():
    env, _ = budget(turn=9)
    broken = {"id": "a", "function": {"name": "DescribeInstances", "arguments": "{oh"}}
    message = {"role": "assistant", "tool_calls": [broken]}
    assert not env.step(message)[3]  # 5 and 1 tokens
    assert env.step(message)[3]


def test_what_ends_by_itself_stands():
    env, _ = budget(turn=1)
    assert env.step({**CLOSE, "text": "Good bye."})[-1]["outcome"] == "closed_early"
    env, _ = budget(turn=1, episode=1)
    assert env.step(ASK)[-1]["outcome"] == "token_limit"


def test_rewards_are_those_of_the_episode():
    env = CustomReward(TokenBudget(gymnasium.make(ID), turn=20), {"custom": 0, "progress": 1})
    env.reset(seed=3)
    reward = env.step(ASK)[1] + env.step("Well, " * 20)[1]
    assert env.unwrapped.episode.outcome.name == "stopped"
    assert round(reward * 1_000_000) == env.unwrapped.episode.state.micro > 0


def test_a_snapshot_brings_its_own_limit_back():
    env, _ = budget(episode=10)
    then = env.unwrapped.snapshot()
    env.unwrapped.configure(max_tokens=100)
    assert env.reset(seed=4)[1]["tokens_left"] == 100
    env.unwrapped.restore(then)
    assert env.step(ASK)[-1]["tokens_left"] == 4


@pytest.mark.parametrize("budgets", [{"turn": 9}, {"episode": 30}, {"turn": 900, "episode": 9000}])
def test_it_holds_all_promises(budgets):
    whole = holds_all_promises(lambda env: TokenBudget(env, **budgets))
    survives_json(lambda env: TokenBudget(env, **budgets))
    outcomes = {9: "stopped", 30: "token_limit", 900: "closed_early"}
    assert whole[-1][4]["outcome"] == outcomes[next(iter(budgets.values()))]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: TokenBudget(EarlyStop(ToolCallText(env), repeats=2), turn=40),
        lambda env: ToolCallText(EarlyStop(TokenBudget(env, turn=40), repeats=2)),
        lambda env: EarlyStop(ToolCallText(TokenBudget(env, turn=40)), repeats=2),
        lambda env: ChatMessages(TokenBudget(ToolCallText(EarlyStop(env, repeats=2)), turn=40)),
        lambda env: TokenBudget(EarlyStop(ChatMessages(ToolCallText(env)), repeats=2), turn=40),
    ],
)
def test_any_order_of_wrappers_works(wrap):
    text = '<tool_call>{"name": "DescribeInstances", "arguments": {}}</tool_call>'
    for actions, outcome, why in (
        ((text, ASK, text * 7), "stopped", ""),
        ((text, text, text), "stopped", "repeats"),
        ((text, ASK, CLOSE), "closed_early", ""),
    ):
        env = wrap(gymnasium.make(ID))
        env.reset(seed=3)
        steps = [env.step(action) for action in actions]
        observation, *_, info = steps[-1]
        assert [step[2] or step[3] for step in steps] == [False, False, True]
        assert (info["outcome"], info["early_stop"]) == (outcome, why)
        assert info["tokens_left"] == -1
        assert observation in env.observation_space
        env.reset(seed=3)


@pytest.mark.parametrize(
    "budgets", [{}, {"turn": 0}, {"episode": -1}, {"turn": 2.5}, {"episode": True}, {"turn": "9"}]
)
def test_what_cannot_be_used_is_refused(budgets):
    env = gymnasium.make(ID)
    with pytest.raises(OptionError, match=next(iter(budgets), "turn, episode or both")):
        TokenBudget(env, **budgets)
    assert env.unwrapped.reset()[1]["tokens"] == 0
    with pytest.raises(OptionError, match="learner as the assistant"):
        TokenBudget(gymnasium.make(ID, seat="customer"), turn=9)
