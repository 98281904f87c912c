"""The client of chat completions, over a real server on this machine."""

import asyncio
import json
import pickle
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.utils import formatdate

import pytest
from chat_server import Answer, ChatServer, completion, garbage, half, message, status
from endpoint_calls import ASK, TOOLS, Waits, asking, both

from cirrus_env.endpoints.client import ChatClient, Completion, Spent, Usage
from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import EndpointError

pytestmark = pytest.mark.usefixtures("canary")


def test_an_answer_with_its_usage():
    with asking([completion("Hello.", finish="stop", usage=(11, 2))]) as (server, client, waits):
        for call in both(client, ASK, tools=TOOLS):
            assert call() == Completion(
                {"role": "assistant", "content": "Hello."}, "stop", Usage(11, 2), 1
            )
        assert client.spent == Spent(2, 2, 22, 4)
        assert waits == []
    assert server.requests == [{"model": "m", "messages": ASK, "tools": TOOLS}] * 2
    assert server.paths == ["/v1/chat/completions"] * 2


def test_the_settings_are_sent_and_tools_only_where_there_are_any():
    settings = {
        "temperature": 0.25, "top_p": 0.5, "max_tokens": 9, "seed": 3, "extra": {"top_k": 4},
    }  # fmt: skip
    with asking([completion()], **settings) as (server, client, _):
        client.complete(ASK)
    assert server.requests == [
        {"model": "m", "messages": ASK, "temperature": 0.25, "top_p": 0.5, "max_tokens": 9,
         "seed": 3, "top_k": 4}
    ]  # fmt: skip


def test_calls_and_reasoning_come_as_the_model_wrote_them():
    calls = [("no_such_tool", "{broken"), ("look", '{"a": 1}')]
    answer = completion(None, calls, finish="tool_calls", reasoning_content="hm")
    with asking([answer]) as (_, client, _):
        found = client.complete(ASK)
    assert found.finish_reason == "tool_calls"
    assert found.message == message("", calls, reasoning_content="hm")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"text": "b"}, {"image": 1}]},
         {"content": "ab"}),
        ({"content": ["a", {"text": 3}, "b"]}, {"content": "ab"}),
        ({"content": "a", "reasoning_content": 3, "tool_calls": None}, {"content": "a"}),
        ({"content": None, "reasoning": "why"}, {"content": "", "reasoning_content": "why"}),
        ({"content": "\ud800"}, {"content": "\ud800"}),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"a": "ü"}}}]},
         {"content": "", "tool_calls": [
             {"id": "", "type": "function",
              "function": {"name": "f", "arguments": '{"a": "ü"}'}}]}),
        ({"tool_calls": [{"id": "x", "function": {"name": "f"}}]},
         {"content": "", "tool_calls": [
             {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
    ],
)  # fmt: skip
def test_what_servers_write_differently(given, wanted):
    choice = {"message": given, "finish_reason": ["stop"]}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": "many"}})
    with asking([garbage(body.encode())]) as (_, client, _):
        found = client.complete(ASK)
    assert found == Completion({"role": "assistant", **wanted}, "", Usage(), 1)


def test_an_endpoint_need_not_count():
    with asking([garbage(b'{"choices": [{"message": {"content": "a"}}]}')]) as (_, client, _):
        assert client.complete(ASK).usage == Usage(0, 0, 0)


def test_reasoning_tokens_are_counted_where_they_are_told():
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    usage["completion_tokens_details"] = {"reasoning_tokens": 4}
    body = json.dumps({"choices": [{"message": {"content": "a"}}], "usage": usage})
    with asking([garbage(body.encode())]) as (_, client, _):
        assert client.complete(ASK).usage == Usage(5, 9, 4)


FAILURES = {
    "status 500": status(500), "status 503": status(503), "status 429": status(429),
    "status 408": status(408), "status 409": status(409), "half a body": half(),
    "no JSON": garbage(), "an empty body": garbage(b""), "an array": garbage(b"[]"),
    "deep JSON": garbage(b"[" * 100_000), "no choices": garbage(b'{"choices": []}'),
    "no message": garbage(b'{"choices": [{}]}'),
    "a nameless call": garbage(
        b'{"choices": [{"message": {"tool_calls": [{"function": {"name": 3}}]}}]}'
    ),
    "status 425": status(425), "calls that are none": garbage(
        b'{"choices": [{"message": {"content": "a", "tool_calls": 3}}]}'
    ),
    "an error inside": garbage(b'{"error": {"message": "sk-canary-4f7d1b, a secret prompt"}}'),
    "an echo of the key": Answer(500, b"sk-canary-4f7d1b", {"X-Key": "sk-canary-4f7d1b"}),
    "no UTF-8": garbage(b'{"choices": "\xff"}'),
    "words in an object": garbage(b'{"choices": [{"message": {"content": {"text": "a"}}}]}'),
    "words that are none": garbage(b'{"choices": [{"message": {"content": 3}}]}'),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_that_passes_is_tried_again(kind):
    answers = [FAILURES[kind], FAILURES[kind], completion("At last.")]
    with asking(answers, backoff=1.0) as (server, client, waits):
        found = client.complete(ASK)
        assert (found.message["content"], found.attempts) == ("At last.", 3)
        assert client.spent == Spent(1, 3, 7, 3)
        assert [round(wait) for wait in waits] == [1, 2]
        assert 0.75 <= waits[0] <= 1
        assert 1.5 <= waits[1] <= 2
    assert len(server.requests) == 3


@pytest.mark.parametrize("kind", FAILURES)
def test_one_that_lasts_ends_in_an_error_that_tells_nothing(kind, canary):
    with asking([FAILURES[kind]], retries=2) as (server, client, waits):
        for call in both(client, ASK):
            with pytest.raises(EndpointError) as caught:
                call()
            shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
            shown += str(pickle.dumps(caught.value))
            assert "m: " in str(caught.value)
            assert str(caught.value).endswith("(3 attempts)")
            for secret in (canary, "secret", "Authorization"):
                assert secret not in shown
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
        assert len(waits) == 4
    assert len(server.requests) == 6


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(code):
    with asking([status(code)]) as (server, client, waits):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match=rf"^m: HTTP status {code} \(1 attempt\)$"):
                call()
    assert (len(server.requests), waits) == (2, [])


def test_the_server_says_how_long_to_wait():
    answers = [status(429, Retry_After="3"), status(503, Retry_After="900"),
               status(429, Retry_After="soon"), status(429, Retry_After="inf"),
               completion()]  # fmt: skip
    with asking(answers, backoff=0.0) as (_, client, waits):
        client.complete(ASK)
    assert waits == [3.0, 30.0, 0.0, 0.0]


def test_the_server_says_until_when_to_wait():
    answers = [status(429, Retry_After=formatdate(time.time() + 20, usegmt=True)),
               status(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), completion()]  # fmt: skip
    with asking(answers, backoff=1.0) as (_, client, waits):
        client.complete(ASK)
    assert 10 < waits[0] <= 20
    assert waits[1] == 0.0


def test_waits_grow_to_thirty_seconds():
    with (
        asking([status(500)], retries=9, backoff=1.0) as (_, client, waits),
        pytest.raises(EndpointError),
    ):
        client.complete(ASK)
    for wait, most in zip(waits, (1, 2, 4, 8, 16, 30, 30, 30, 30), strict=True):
        assert 0.75 * most <= wait <= most


def test_no_answer_in_time():
    slow = completion(delay=0.5)
    with asking([slow], timeout=0.05, retries=1) as (server, client, _):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match="no answer in time"):
                call()
    assert len(server.requests) == 4


def test_bytes_that_drip_in_for_ever_are_no_answer_in_time():
    drip = Answer(body=completion("x" * 200).body, drip=0.01)
    with asking([drip], timeout=0.1, retries=0) as (_, client, _):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match="no answer in time"):
                call()


def test_a_body_that_stops_coming_is_no_answer_in_time():
    with asking([Answer(body=b"{}", drip=0.4)], timeout=0.1, retries=0) as (_, client, _):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match="no answer in time"):
                call()


def test_nobody_waits_for_the_body_of_an_error():
    before = time.monotonic()
    drip = Answer(500, b"x" * 200, drip=0.05)
    with asking([drip], timeout=5.0, retries=0) as (_, client, _):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match="HTTP status 500"):
                call()
    assert time.monotonic() - before < 5  # each of them comes in for ten seconds


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("cirrus_env.endpoints.answers.LARGEST", 10)
    with (
        asking([completion()], retries=0) as (_, client, _),
        pytest.raises(EndpointError, match="too large"),
    ):
        client.complete(ASK)


def test_nobody_listens():
    with ChatServer([completion()]) as server:
        url = server.base_url
    waits = Waits()
    client = ChatClient(Endpoint("m", url, retries=1), sleep=waits.sleep, asleep=waits.asleep)
    with closing(client):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match=r"the connection failed \(2 attempts\)"):
                call()


def test_what_is_no_request_is_not_tried_again():
    with (
        asking([completion()]) as (server, client, waits),
        pytest.raises(EndpointError, match="the request can't be made"),
    ):
        client.complete([{"role": "user", "content": object()}])
    assert (server.requests, waits) == ([], [])
    assert client.spent == Spent()


def test_a_client_library_that_fails_is_not_tried_again(monkeypatch):
    with asking([completion()], extra={"top_k": 1}) as (server, client, waits):
        monkeypatch.setattr("cirrus_env.endpoints.settings.canonical", lambda _: "")
        monkeypatch.setitem(client.endpoint.extra, "top_k", object())
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match=r"can't be made \(TypeError\) \(1 attempt\)"):
                call()
    assert (server.requests, waits) == ([], [])


def test_what_has_no_utf8_is_sent_as_the_replacement_character():
    said = [{"role": "user", "content": 'a\ud800" \udc00\ud83d\ude00'}]
    with asking([completion()]) as (server, client, _):
        for call in both(client, said):
            assert call().attempts == 1
    assert server.requests[0]["messages"][0]["content"] == 'a\ufffd" \ufffd😀'


def test_a_budget_of_calls_holds_among_threads():
    with asking([completion()], max_calls=5) as (server, client, _):

        def call(_):
            try:
                client.complete(ASK)
            except EndpointError as error:
                return str(error)
            return ""

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(call, range(20)))
    assert answers.count("") == 5
    assert set(answers) == {"", "m: the budget of 5 calls is spent"}
    assert len(server.requests) == 5


def test_a_budget_of_tokens():
    with asking([completion(usage=(7, 3))], max_total_tokens=15) as (server, client, _):
        client.complete(ASK)
        client.complete(ASK)
        with pytest.raises(EndpointError, match="the budget of 15 tokens is spent"):
            client.complete(ASK)
    assert len(server.requests) == 2


def test_no_more_calls_at_once_than_allowed():
    with asking([completion(delay=0.05)], concurrency=2) as (server, client, _):
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: client.complete(ASK), range(6)))
        assert server.most_at_once == 2

        async def together():
            await asyncio.gather(*[client.acomplete(ASK) for _ in range(6)])
            await client.aclose()

        asyncio.run(together())
        assert server.most_at_once == 2


def test_many_calls_wait_together():
    with asking([completion(delay=0.05)]) as (server, client, _):

        async def together():
            found = await asyncio.gather(*[client.acomplete(ASK) for _ in range(12)])
            await client.aclose()
            await client.aclose()
            return found

        assert len(asyncio.run(together())) == 12
        assert server.most_at_once > 6
