"""Rollouts by the OpenAI client, over a real server on this machine."""

import asyncio
import json
import runpy
from pathlib import Path

import pytest
from chat_server import ChatServer, completion, garbage, status
from openai import AsyncOpenAI

from cirrus_env.adapters.openai_rollout import rollout
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.replay import replay
from cirrus_env.errors import EndpointError, OptionError

pytestmark = pytest.mark.usefixtures("canary")
EXAMPLE = Path(__file__).parents[2] / "examples" / "openai_rollout.py"


def run(answers, *, members=1, ticket="ECS-Billing", **arguments):
    """The records of a group, and the server."""
    with ChatServer(answers) as server:

        async def together():
            async with AsyncOpenAI(base_url=server.base_url, max_retries=0, timeout=5) as client:
                given = {"seed": 3} | arguments
                group = [rollout(client, "m", ticket, **given) for _ in range(members)]
                return await asyncio.gather(*group)

        return asyncio.run(together()), server


def reference(seed=3):
    """A model that plays the reference, whatever it hears."""
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=seed)
    actions = reference_actions(episode.scenario)

    def answer(request):
        said = sum(message["role"] == "assistant" for message in request["messages"])
        action = actions[min(said, len(actions) - 1)]
        calls = [(call.name, call.arguments) for call in action.calls]
        if action.kind == "close":
            calls = [("close_ticket", json.dumps({"message": action.text}))]
        if action.kind == "escalate":
            made = {"queue": action.queue, "summary": action.text}
            calls = [("escalate_ticket", json.dumps(made))]
        return completion("" if calls else action.text, calls)

    return answer


def test_a_model_that_plays_the_reference_succeeds():
    (record,), server = run(reference(), members=1)
    assert (record.outcome, record.success, record.valid) == ("success", True, True)
    assert record.reward == pytest.approx(sum(record.rewards))
    assert 0.8 <= record.reward <= 1
    assert len(record.rewards) == len(record.finish_reasons) == len(server.requests)
    assert record.usage == {
        "prompt_tokens": 7 * len(server.requests), "completion_tokens": 3 * len(server.requests),
    }  # fmt: skip
    assert server.requests[0]["tools"] == record.tools
    assert (
        record.messages[: len(server.requests[-1]["messages"])] == server.requests[-1]["messages"]
    )
    assert replay(record.trajectory).messages == record.messages
    assert (record.ticket, record.seed, record.error) == ("Cirrus/ECS-Billing-v0", 3, "")
    assert record.metrics["success"]


def test_members_of_a_group_play_the_same_ticket_in_worlds_of_their_own():
    records, _ = run(reference(), members=4)
    assert len({json.dumps(record.messages) for record in records}) == 1
    assert [record.reward for record in records] == [records[0].reward] * 4


def test_what_the_model_writes_wrongly_is_its_own():
    answers = [
        completion("", [("no_such_tool", "{}")]),
        completion("", [("DescribeInstances", "{")]),
    ]
    (record,), _ = run(answers, max_invalid=2)
    assert (record.outcome, record.valid, record.success) == ("invalid_limit", True, False)
    assert record.metrics["invalid_action_rate"] == 1.0


@pytest.mark.parametrize(
    ("answer", "error"),
    [(status(500), "InternalServerError"), (status(401), "AuthenticationError"),
     (garbage(b'{"choices": []}'), "IndexError"),
     (garbage(b'{"choices": [{"message": null}]}'), "InvalidAction"),
     (garbage(b'{"choices": [{"message": {"role": "assistant", "content": 5}}]}'), "InvalidAction"),
     (garbage(b'{"choices": [{"message": {"role": "assistant", "tool_calls": [null]}}]}'),
      "InvalidAction")],
)  # fmt: skip
def test_an_endpoint_that_fails_is_nobodys_number(answer, error, canary):
    (record,), _ = run([completion("Hello?"), answer])
    assert (record.outcome, record.valid, record.success) == ("agent_error", False, None)
    assert record.reward is None
    assert record.rewards[-1] is None
    assert record.error == error
    assert canary not in repr(record)


def test_usage_that_is_no_number_counts_for_nothing():
    body = {
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}],
        "usage": {"prompt_tokens": "many", "completion_tokens": 5},
    }
    (record,), _ = run([garbage(json.dumps(body).encode())], max_turns=2)
    assert (record.outcome, record.valid) == ("turn_limit", True)
    assert record.usage == {"prompt_tokens": 0, "completion_tokens": 10}


class Broken:
    """A customer whose endpoint fails, or whose code is wrong."""

    name = "broken"

    def __init__(self, error):
        self.error = error

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        raise self.error


@pytest.mark.parametrize(
    ("error", "named"), [(EndpointError("gone"), ""), (ZeroDivisionError(), "ZeroDivisionError")]
)
def test_a_customer_that_fails_is_nobodys_number(error, named):
    (record,), _ = run([completion("Hello?")], customer=Broken(error))
    assert (record.outcome, record.reward, record.error) == ("customer_error", None, named)


def test_options_and_sampling_are_passed_on():
    (record,), server = run(
        [completion("Hello?")], options={"variant": "subscription"}, max_turns=2,
        sampling={"temperature": 0.5}, language="zh",
    )  # fmt: skip
    assert record.outcome == "turn_limit"
    assert record.trajectory.header["variant"] == "subscription"
    assert record.trajectory.header["language"] == "zh"
    assert [request["temperature"] for request in server.requests] == [0.5, 0.5]


def test_a_wrong_argument_is_the_callers():
    with pytest.raises(OptionError, match="there is no reward"):
        run([completion()], reward="nonsense")


def test_the_example_runs_as_it_stands(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["openai_rollout.py", "--group", "2"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.startswith("0: closed")
    assert "1: closed" in printed
    assert "assistant: calls DescribeInstances" in printed
