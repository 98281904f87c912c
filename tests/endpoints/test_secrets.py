"""The key of an endpoint goes to the endpoint and nowhere else (law R7)."""

import copy
import logging
import pickle
from contextlib import closing

import pytest
from chat_server import ChatServer, completion, status
from endpoint_calls import ASK, asking, both

from cirrus_env.endpoints.client import ChatClient, Spent
from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import EndpointError, OptionError

pytestmark = pytest.mark.usefixtures("canary")


def test_the_key_goes_to_the_endpoint_and_nowhere_else(canary, monkeypatch):
    with asking([completion()]) as (server, client, _):
        client.complete(ASK)
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        client.complete(ASK)
        monkeypatch.delenv("OPENAI_API_KEY")
        client.complete(ASK)
        for shown in (repr(client), repr(client.endpoint), str(pickle.dumps(client.endpoint))):
            assert canary not in shown
        waitless = ChatClient(client.endpoint)
        assert canary not in str(pickle.dumps(waitless))
        for copied in (pickle.loads(pickle.dumps(waitless)), copy.deepcopy(waitless)):
            assert copied.endpoint == client.endpoint
            with closing(copied):
                assert copied.complete(ASK).attempts == 1
    assert server.keys == [canary, "another", "none", "none", "none"]


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    client = ChatClient(Endpoint("m", "https://models.example.com/v1"))
    with pytest.raises(OptionError, match="set the environment variable OPENAI_API_KEY"):
        client.complete(ASK)
    assert client.spent == Spent()


def test_logs_hold_neither_key_nor_prompt(canary, caplog):
    caplog.set_level(logging.DEBUG)
    with asking([completion("a secret answer"), status(401)], retries=0) as (_, client, _):
        client.complete(ASK)
        with pytest.raises(EndpointError):
            client.complete(ASK)
    assert "/v1/chat/completions" in caplog.text  # they were on
    assert canary not in caplog.text
    assert "secret" not in caplog.text


def test_space_around_a_key_is_no_part_of_it(canary, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {canary}\n")
    with asking([completion()]) as (server, client, _):
        for call in both(client, ASK):
            call()
    assert server.keys == [canary] * 2


@pytest.mark.parametrize("wrong", ["sk-canary-ü", "sk-canary\r\nX: y"])
def test_what_can_be_no_key_is_refused_without_showing_it(wrong, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    with pytest.raises(OptionError, match="variable OPENAI_API_KEY holds no key") as caught:
        Endpoint("m").key()
    assert "canary" not in str(caught.value)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    with ChatServer([completion("Intercepted.")]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:9")
        with asking([completion("Hello.")]) as (_, client, _):
            for call in both(client, ASK):
                assert call().message["content"] == "Hello."
    assert proxy.requests == []


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(code):
    elsewhere = ChatServer([completion("Elsewhere.")])
    redirect = status(code, Location=elsewhere.base_url + "/chat/completions")
    with elsewhere as other, asking([redirect]) as (_, client, _):
        for call in both(client, ASK):
            with pytest.raises(EndpointError, match=rf"HTTP status {code} \(1 attempt\)"):
                call()
    assert (other.requests, other.paths) == ([], [])


def test_a_query_of_the_address_goes_with_every_request_and_is_not_shown():
    with ChatServer([completion()]) as server:
        client = ChatClient(Endpoint("m", server.base_url + "/?api-version=1&key=sk-canary-2"))
        with closing(client):
            for call in both(client, ASK):
                call()
        assert "canary" not in f"{client!r} {client.endpoint.describe()}"
    assert server.paths == ["/v1/chat/completions?api-version=1&key=sk-canary-2"] * 2
