"""What the thin shims of text loops are made of, without any of their libraries."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from cirrus_env.adapters.textloop import earned, with_tools
from cirrus_env.adapters.tinker_calls import action_of
from cirrus_env.adapters.verl_rollout import play
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.formats import FORMATS
from cirrus_env.engine.parsers import PARSERS
from cirrus_env.engine.token_episode import TokenEpisode
from cirrus_env.errors import EndpointError, InvalidAction, OptionError
from cirrus_env.wire import AssistantAction


def begun(**arguments):
    episode = TicketEpisode("ECS-Billing", **arguments)
    episode.reset(seed=3)
    return episode


# -- tools in the prompt -------------------------------------------------------------------------


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_prompt_tells_every_function_and_a_call_that_the_parser_reads(form):
    episode = begun()
    system, customer = with_tools(episode.messages[:2], episode.chat_tools, form)
    assert customer == episode.messages[1]
    text = system["content"]
    assert text.startswith(episode.messages[0]["content"])
    for tool in episode.chat_tools:
        assert json.dumps(tool["function"], ensure_ascii=False) in text
    example = text.split("nothing else in the message:\n")[1].rsplit("\n", 1)[0]
    action = PARSERS[form](example)
    assert (action.kind, action.text, action.fault) == ("close", "Thank you for writing.", "")


def test_the_prompt_leaves_the_episode_alone():
    episode = begun()
    before = json.dumps(episode.messages)
    with_tools(episode.messages, episode.chat_tools, "hermes")
    assert json.dumps(episode.messages) == before
    with pytest.raises(OptionError, match="format"):
        with_tools(episode.messages, episode.chat_tools, "hermess")


def test_a_failure_is_raised_where_a_loop_knows_no_missing_reward():
    episode = begun()
    step = episode.step("Which instance is it?")
    assert earned(step) == step.reward > 0
    with pytest.raises(EndpointError, match="customer_error"):
        earned(episode.truncate("customer_error"))


# -- messages of a renderer that parsed them itself ---------------------------------------------


def call(name, arguments="{}", identifier="c"):
    return SimpleNamespace(id=identifier, function=SimpleNamespace(name=name, arguments=arguments))


def test_a_renderers_message_is_an_action():
    assert action_of({"role": "assistant", "content": "Hello."}) == AssistantAction(
        "reply", "Hello."
    )
    calls = [call("DescribeInstances"), call("DescribeDisks", "{}", None)]
    action = action_of({"role": "assistant", "content": "", "tool_calls": calls})
    assert [each.name for each in action.calls] == ["DescribeInstances", "DescribeDisks"]
    assert [each.id for each in action.calls] == ["c", ""]
    closing = call("close_ticket", '{"message": "Bye."}')
    action = action_of({"role": "assistant", "content": "", "tool_calls": [closing]})
    assert (action.kind, action.text) == ("close", "Bye.")


def test_thinking_parts_are_hidden_and_pictures_are_no_words():
    parts = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Which "},
        {"type": "image", "image": "x"},
        {"type": "text", "text": "one?"},
    ]
    action = action_of({"role": "assistant", "content": parts})
    assert (action.text, action.reasoning) == ("Which one?", "Hm.")


def test_a_call_that_the_renderer_could_not_read_is_a_counted_mistake():
    broken = SimpleNamespace(raw_text="{", error="Expecting property name")
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [call("StopInstance")],
        "unparsed_tool_calls": [broken],
    }
    episode = begun()
    step = episode.step(action_of(message))
    assert episode.state.invalid == 1
    assert "can't be read" in step.delta[-1]["content"]
    assert step.reward < 0


def test_another_roles_message_is_the_programmers_mistake():
    with pytest.raises(InvalidAction, match="role"):
        action_of({"role": "user", "content": "x"})


# -- a rollout over tokens, asked turn by turn --------------------------------------------------


class Letters:
    """Writes conversations letter by letter; a turn ends with id 0."""

    def prompt(self, messages, tools):
        return [ord(letter) for message in messages for letter in message["content"]]

    def delta(self, before, turn, messages, tools):
        return self.prompt(messages, tools)

    def read(self, before, turn, tools):
        return "".join(map(chr, turn[:-1]))


def rollout(**arguments):
    return TokenEpisode(begun(**arguments), Letters())


def saying(*texts, stop_reason="completed", logprobs=True):
    """An engine that says these texts, one a turn; it remembers what it was asked."""
    asked = []

    async def generate(ids):
        text = texts[min(len(asked), len(texts) - 1)]
        asked.append(ids)
        turn = [*map(ord, text), 0]
        chances = [-1.0] * len(turn) if logprobs else None
        return SimpleNamespace(token_ids=turn, log_probs=chances, stop_reason=stop_reason)

    generate.asked = asked
    return generate


def test_turns_follow_each_other_till_the_ticket_ends():
    generate = saying("Which instance is it?", "Since when?")
    played = asyncio.run(play(rollout(max_turns=3), generate, 10**6))
    twin = begun(max_turns=3)
    total = sum(twin.step(text).reward for text in ("Which instance is it?", *["Since when?"] * 2))
    assert played.stop_reason == "turn_limit"
    assert played.reward == pytest.approx(total, abs=1e-6)
    assert len(generate.asked) == 3
    for before, after in zip(generate.asked, generate.asked[1:], strict=False):
        assert after[: len(before)] == before, "ids are only ever appended"
    assert len(played.logprobs) == len(played.input_ids)


def test_a_turn_that_does_not_fit_is_kept_but_not_played():
    text = "Which instance is it?"
    played = asyncio.run(play(rollout(), saying(text), 10))
    assert played.stop_reason == "stopped"
    assert played.completion_ids == [*map(ord, text)][:10]
    assert played.reward == 0.0
    assert played.episode.state.turn == 0


def test_answers_count_towards_the_limit_too():
    text = "Which instance is it?"
    played = asyncio.run(play(rollout(), saying(text), len(text) + 5))
    assert played.stop_reason == "stopped"
    assert played.completion_ids == [*map(ord, text), 0]
    assert played.reward > 0, "what the turn earned counts"


def test_an_aborted_turn_makes_the_rollout_invalid():
    played = asyncio.run(play(rollout(), saying("Hello?", stop_reason="aborted"), 10**6))
    assert (played.reward, played.stop_reason) == (None, "agent_error")


def test_an_engine_without_log_probabilities_gives_none():
    played = asyncio.run(play(rollout(max_turns=1), saying("Hello?", logprobs=False), 10**6))
    assert played.logprobs is None


def test_a_customers_failure_makes_it_invalid_too():
    class Failing(SimulatedCustomer):
        name = "failing"

        def react(self, mind, view):
            raise EndpointError("down")

    played = asyncio.run(play(rollout(customer=Failing()), saying("Hello?"), 10**6))
    assert (played.reward, played.stop_reason) == (None, "customer_error")
