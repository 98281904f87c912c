"""Connections of a client: threads, event loops, processes, certificates."""

import asyncio
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from chat_server import ChatServer, completion
from endpoint_calls import ASK, asking, both

from cirrus_env.endpoints.client import ChatClient
from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import EndpointError, OptionError

pytestmark = pytest.mark.usefixtures("canary")


def test_a_client_serves_threads_and_one_event_loop_after_another():
    with asking([completion("a")]) as (_, client, _):
        found = []
        for call in (*both(client, ASK), *both(client, ASK)):
            thread = threading.Thread(target=lambda call=call: found.append(call()))
            thread.start()
            thread.join()
        client.close()
        assert client.complete(ASK).message["content"] == "a"
    assert [completion.message["content"] for completion in found] == ["a"] * 4


def test_threads_and_event_loops_at_the_same_time():
    def in_turns(n):
        for call in both(client, ASK):
            found.append(call().attempts)

    found = []
    with asking([completion()]) as (server, client, _), ThreadPoolExecutor(4) as pool:
        list(pool.map(in_turns, range(8)))
    assert found == [1] * 16
    assert client.spent[:2] == (16, 16)
    assert len(server.requests) == 16


def test_connections_are_used_again_until_they_are_closed():
    with asking([completion()]) as (server, client, _):
        client.complete(ASK)
        client.complete(ASK)
        client.close()
        client.close()
        client.complete(ASK)

        async def again():
            await client.acomplete(ASK)
            await client.acomplete(ASK)
            await client.aclose()
            await client.acomplete(ASK)

        asyncio.run(again())
    first, second, third, fourth, fifth, sixth = server.ports
    assert (first, fourth) == (second, fifth)
    assert len({first, third, fourth, sixth}) == 4


def test_an_event_loop_that_ends_takes_its_connections_along():
    async def ask():
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await asyncio.gather(client.acomplete(ASK), client.acomplete(ASK))

    loops = []
    with asking([completion()]) as (server, client, _):
        for _ in range(3):
            asyncio.run(ask())
        gc.collect()
        assert [loop() for loop in loops] == [None] * 3
    assert len(server.requests) == 6


def test_a_client_that_is_forgotten_closes_its_connections():
    # a socket left open would be a ResourceWarning, which is an error here
    with asking([completion()]) as (server, client, _):
        client.__reduce__()[0](client.endpoint).complete(ASK)
        gc.collect()

        async def forget():
            await client.__reduce__()[0](client.endpoint).acomplete(ASK)

        asyncio.run(forget())
    assert len(server.requests) == 2


def test_a_forked_process_has_connections_of_its_own(monkeypatch):
    with asking([completion()]) as (server, client, _):
        client.complete(ASK)
        parents = client._client[0]
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            client.complete(ASK)
            client.close()
            assert not parents.is_closed()
        parents.close()
    assert len(set(server.ports)) == 2


def test_a_forked_process_leaves_its_parents_connections_open(monkeypatch):
    with asking([completion()]) as (_, client, _):
        client.complete(ASK)
        parents = client._client[0]
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            client.close()
            assert not parents.is_closed()
        parents.close()


def test_a_call_that_is_given_up_frees_its_place():
    with asking([completion(delay=0.3), completion("b")], concurrency=1) as (_, client, _):

        async def give_up():
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.acomplete(ASK), 0.05)
            return (await client.acomplete(ASK)).message["content"]

        assert asyncio.run(give_up()) == "b"


@pytest.mark.parametrize("folder", ["", "."])
def test_nothing_is_said_to_a_server_without_a_certificate(folder, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", folder)
    with ChatServer([completion()]) as server:
        address = server.base_url.replace("http:", "https:")
        with closing(ChatClient(Endpoint("m", address, retries=0))) as client:
            for call in both(client, ASK):
                with pytest.raises(EndpointError, match="the connection failed"):
                    call()
    assert server.requests == []


def test_certificates_of_the_environment_that_are_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    client = ChatClient(Endpoint("m", "https://127.0.0.1:9/v1"))
    for call in both(client, ASK):
        with pytest.raises(OptionError, match="SSL_CERT_FILE or SSL_CERT_DIR names no"):
            call()
