"""Ids given are ids returned; what they earned adds up; a failure has no reward."""

from __future__ import annotations

import asyncio
import json
from fractions import Fraction

import pytest
from byte_chat import END, PAD, SIZE, START, ByteTokenizer, encode
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.parsers import from_message
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.render import PrefixRender
from cirrus_env.engine.token_episode import TokenEpisode
from cirrus_env.errors import (
    CustomerFailed,
    EndpointError,
    EpisodeNotRunning,
    OptionError,
    RenderError,
)
from cirrus_env.judging.reward import MICRO, TERMS
from cirrus_env.wire import messages as build

RENDER = PrefixRender(ByteTokenizer())


def parse(text):
    """A reply, or the JSON of a chat message."""
    return from_message(json.loads(text) if text.startswith("{") else build.assistant(text))


def tokens(seed=3, *, parser=parse, turn=0, **kwargs):
    episode = TicketEpisode("ECS-Billing", parser=parser, tools=["DescribeInstances"], **kwargs)
    episode.reset(seed=seed, options={"turn": turn})
    return TokenEpisode(episode, RENDER)


def said(action):
    """An action as a model of this tokenizer would write it."""
    if action.kind == "reply":
        return [*encode(action.text), END]
    if action.kind == "call":
        return [*encode(json.dumps(build.assistant(action.text, action.calls))), END]
    name = "close_ticket" if action.kind == "close" else "escalate_ticket"
    arguments = {"message": action.text}
    if action.kind == "escalate":
        arguments = {"queue": action.queue, "summary": action.text}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [*encode(json.dumps({"role": "assistant", "tool_calls": [{"function": function}]})), END]


def solved(**kwargs):
    """A rollout of the reference, with all tools."""
    episode = TicketEpisode("ECS-Billing", parser=parse, **kwargs)
    episode.reset(seed=3)
    rollout = TokenEpisode(episode, RENDER)
    for action in reference_actions(episode.scenario):
        rollout.add_model(said(action))
    return rollout


ASK = [*encode("Which instance is it?"), END]
LOOK = {"function": {"name": "DescribeInstances", "arguments": "{}"}}
CALL = [*encode(json.dumps({"role": "assistant", "content": "", "tool_calls": [LOOK]})), END]

turns = st.lists(
    st.one_of(
        st.lists(st.integers(0, SIZE - 1), max_size=12),
        st.text(max_size=8).map(encode),
        st.sampled_from([ASK, CALL, [END], []]),
    ),
    max_size=5,
)


def reply_or_call(text):
    try:
        return parse(text)
    except ValueError:
        return parse("x" + text)


@given(turns)
def test_ids_given_are_ids_returned_and_nothing_earlier_changes(given_turns):
    rollout = tokens(parser=reply_or_call)
    kept, seen = list(rollout.prompt_ids), []
    for turn in given_turns:
        if rollout.done:
            break
        rollout.add_model(turn)
        assert rollout.input_ids[: len(kept)] == kept
        kept = list(rollout.input_ids)
        seen.append(turn)
    spans = [rollout.input_ids[start:end] for start, end in rollout.turn_spans]
    assert spans == seen
    marked = [i for i, mask in zip(rollout.input_ids, rollout.loss_mask, strict=True) if mask]
    assert marked == [i for turn in seen for i in turn]
    assert [*rollout.prompt_ids, *rollout.completion_ids] == rollout.input_ids
    assert rollout.completion_mask == rollout.loss_mask[len(rollout.prompt_ids) :]
    assert sum(rollout.loss_mask[: len(rollout.prompt_ids)]) == 0


def test_a_prompt_holds_the_system_message_the_opening_and_the_tools():
    rollout = tokens()
    text = bytes(i for i in rollout.prompt_ids if i < 256).decode()
    assert rollout.prompt_ids[-len(encode("assistant\n")) - 1] == START
    for part in ("DescribeInstances", "close_ticket", rollout.episode.messages[1]["content"]):
        assert part in text
    assert "GetAccountProfile" not in text


def test_an_episode_may_begin_after_some_turns_of_the_reference():
    rollout = tokens(turn=1)
    assert rollout.reward == 0.0
    assert len(rollout.episode.messages) > 2
    rollout.add_model(ASK)
    assert rollout.reward == rollout.turn_rewards[0].reward


def test_between_two_turns_stand_the_messages_that_came_back():
    rollout = tokens()
    step = rollout.add_model(ASK)
    answer = step.delta[0]["content"]
    asked = [START, *encode("user\n" + answer), END, *encode("\n")]
    begin = [START, *encode("assistant\n")]
    assert rollout.completion_ids == [*ASK, *encode("\n"), *asked, *begin]
    step = rollout.add_model(CALL[:-1])  # an engine that keeps the end of a turn to itself
    result = [START, *encode("tool\n" + step.delta[0]["content"]), END, *encode("\n")]
    assert rollout.input_ids[rollout.turn_spans[1][1] :] == [END, *encode("\n"), *result, *begin]


def test_a_solved_ticket_ends_in_the_models_turn_with_all_its_rewards():
    rollout = solved()
    assert (rollout.stop_reason, rollout.valid, rollout.done) == ("success", True, True)
    assert rollout.turn_spans[-1][1] == len(rollout.input_ids)
    rewards = rollout.turn_rewards
    total = sum(Fraction(round(turn.reward * MICRO), MICRO) for turn in rewards)
    assert float(total) == rollout.reward == pytest.approx(rollout.episode.state.micro / MICRO)
    assert rollout.reward > 0.9
    for name in TERMS:
        change = sum(turn.terms[name] for turn in rewards)
        assert change == pytest.approx(rollout.episode.info()["reward_terms"][name])
    spread = rollout.token_rewards()
    assert len(spread) == len(rollout.input_ids)
    assert [spread[end - 1] for _, end in rollout.turn_spans] == [t.reward for t in rewards]
    assert sum(1 for value in spread if value) == sum(1 for turn in rewards if turn.reward)
    with pytest.raises(EpisodeNotRunning):
        rollout.add_model(ASK)


def test_a_turn_without_ids_is_malformed_and_its_cost_stands_on_the_id_before_it():
    rollout = tokens()
    rollout.add_model([])
    assert rollout.turn_rewards[0].reward == -0.02
    assert rollout.turn_rewards[0].terms["invalid"] == -0.02
    assert rollout.token_rewards()[len(rollout.prompt_ids) - 1] == -0.02


def test_a_turn_cut_off_by_length_is_not_played_and_stops_the_episode():
    rollout = tokens()
    rollout.add_model(ASK)
    before = rollout.reward
    step = rollout.add_model(CALL[:9], finish_reason="length")
    assert (step.truncated, step.terminated, step.info["outcome"]) == (True, False, "stopped")
    assert (rollout.stop_reason, rollout.valid, rollout.reward) == ("stopped", True, before)
    assert rollout.input_ids[-9:] == CALL[:9]
    assert rollout.episode.info()["tool_calls"] == 0


@pytest.mark.parametrize("finish_reason", ["abort", "error"])
def test_an_engines_failure_makes_the_rollout_invalid_without_rewards(finish_reason):
    rollout = tokens()
    rollout.add_model([END])
    assert rollout.reward == -0.02
    step = rollout.add_model([], finish_reason=finish_reason)
    assert step.reward is None
    assert (rollout.valid, rollout.reward, rollout.token_rewards()) == (False, None, None)
    assert [turn.reward for turn in rollout.turn_rewards] == [None, None]
    assert rollout.stop_reason == "agent_error"


def test_truncating_drops_what_was_never_answered_and_books_the_last_change():
    rollout = tokens(reward={"shaping": 1.0, "gamma": 0.5})
    rollout.add_model(ASK, [-0.5] * len(ASK))
    assert rollout.stop_reason is None
    rollout.truncate()
    assert rollout.stop_reason == "stopped"
    assert rollout.completion_ids == ASK
    assert len(rollout.logprobs) == len(rollout.input_ids)
    assert rollout.reward == pytest.approx(sum(t.reward for t in rollout.turn_rewards))
    assert rollout.reward == pytest.approx(rollout.episode.state.micro / MICRO)
    empty = tokens()
    empty.truncate("backend_error")
    assert (empty.completion_ids, empty.turn_rewards, empty.reward) == ([], [], None)


def test_log_probabilities_line_up_and_one_turn_without_them_leaves_none():
    rollout = tokens()
    chances = [-0.25] * len(ASK)
    rollout.add_model(ASK, chances)
    start, end = rollout.turn_spans[0]
    assert rollout.logprobs[start:end] == chances
    assert sum(rollout.logprobs) == sum(chances)
    assert len(rollout.logprobs) == len(rollout.input_ids)
    other = rollout.fork()
    other.add_model(ASK)
    assert other.logprobs is None
    other.add_model(ASK, chances)
    assert other.logprobs is None
    other.truncate()
    assert other.logprobs is None
    assert len(rollout.logprobs) == len(rollout.input_ids)
    assert other.fork().logprobs is None


def test_wrong_arguments_change_nothing():
    rollout = tokens()
    before = list(rollout.input_ids)
    for ids, chances in (([1, 2], [0.0]), (["1"], None), ([1.5], None)):
        with pytest.raises(OptionError):
            rollout.add_model(ids, chances)
    assert (rollout.input_ids, rollout.turn_spans) == (before, [])
    assert rollout.episode.info()["turn"] == 0
    episode = TicketEpisode("ECS-Billing")
    with pytest.raises(EpisodeNotRunning):
        TokenEpisode(episode, RENDER)


def test_forks_go_their_own_ways():
    rollout = tokens()
    rollout.add_model(ASK)
    other = rollout.fork()
    step = other.add_model(CALL)
    assert step.info["tool_calls"] == 1
    assert len(rollout.turn_spans) == 1
    assert rollout.episode.info()["tool_calls"] == 0
    rollout.add_model(CALL)
    assert rollout.input_ids == other.input_ids
    assert rollout.turn_rewards == other.turn_rewards


def test_playing_inside_an_event_loop_is_the_same():
    async def play():
        rollout = tokens()
        for turn in (ASK, CALL, [PAD, END]):
            await rollout.aadd_model(turn, [0.0] * len(turn))
        await rollout.aadd_model(ASK, finish_reason="length")
        return rollout

    other = tokens()
    for turn in (ASK, CALL, [PAD, END]):
        other.add_model(turn, [0.0] * len(turn))
    other.add_model(ASK, finish_reason="length")
    rollout = asyncio.run(play())
    assert rollout.input_ids == other.input_ids
    assert rollout.turn_rewards == other.turn_rewards


class Broken:
    """A customer whose second word never comes."""

    name = "broken"

    def __init__(self, error):
        self.error = error

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        raise self.error


def test_a_customers_endpoint_that_fails_ends_in_an_invalid_rollout():
    rollout = tokens(customer=Broken(EndpointError("gone")))
    step = rollout.add_model(ASK)
    assert (step.reward, rollout.valid, rollout.reward) == (None, False, None)
    assert rollout.stop_reason == "customer_error"


def test_a_customers_wrong_code_comes_out_and_leaves_truncate():
    rollout = tokens(customer=Broken(KeyError("x")))
    with pytest.raises(CustomerFailed):
        rollout.add_model(ASK)
    assert rollout.turn_spans == []
    rollout.truncate("customer_error")
    assert (rollout.valid, rollout.input_ids) == (False, list(rollout.prompt_ids))


def test_a_template_that_breaks_for_the_user_only_shows_when_the_user_speaks():
    episode = TicketEpisode("ECS-Billing", parser=parse)
    episode.reset(seed=3)
    rollout = TokenEpisode(episode, PrefixRender(ByteTokenizer("drops"), roles=["tool"]))
    rollout.add_model(CALL)
    with pytest.raises(RenderError, match="'user'"):
        rollout.add_model(ASK)
