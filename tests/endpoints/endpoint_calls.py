"""Calls of a client, to a real server on this machine, that tests of the room share."""

import asyncio
from contextlib import closing, contextmanager

from chat_server import ChatServer

from cirrus_env.endpoints.client import ChatClient
from cirrus_env.endpoints.settings import Endpoint

ASK = [{"role": "user", "content": "你好, a secret prompt"}]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


class Waits(list):
    """Notes how long the client means to wait, and doesn't."""

    def sleep(self, seconds):
        self.append(seconds)

    async def asleep(self, seconds):
        self.append(seconds)


@contextmanager
def asking(answers, **settings):
    """A server, a client of it, and the waits between attempts."""
    waits = Waits()
    with ChatServer(answers) as server:
        endpoint = Endpoint("m", server.base_url, **({"timeout": 5.0} | settings))
        client = ChatClient(endpoint, sleep=waits.sleep, asleep=waits.asleep)
        with closing(client):
            yield server, client, waits


def both(client, *arguments, **keywords):
    """A call made by a thread, then one made in an event loop."""
    yield lambda: client.complete(*arguments, **keywords)

    async def awaited():
        try:
            return await client.acomplete(*arguments, **keywords)
        finally:
            await client.aclose()

    yield lambda: asyncio.run(awaited())
