"""A client of chat completions that either answers or says for good that it can't."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, finalize, ref

from cirrus_env.endpoints.answers import Body, Completion, Usage
from cirrus_env.endpoints.connections import aconnect, connect
from cirrus_env.endpoints.failures import Failure, failure, pause
from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import EndpointError, ModelUnavailable
from cirrus_env.wire import Message, encodes

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

__all__ = ["ChatClient", "Completion", "Spent", "Usage"]


class Spent(NamedTuple):
    """What a client has used so far.

    Attributes:
        calls: Calls begun.
        attempts: Requests sent.
        prompt_tokens: Of all answered calls.
        completion_tokens: Of all answered calls.
    """

    calls: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Loop(NamedTuple):
    """What belongs to one event loop; ``ending`` closes the client when the loop shuts down."""

    client: AsyncOpenAI
    slots: asyncio.Semaphore
    ending: AsyncGenerator[None]


class ChatClient:
    """Asks an OpenAI-compatible endpoint for chat completions, from threads or event loops.

    Time-outs, refused or broken connections, the statuses 408, 409, 425, 429 and 5xx, half an
    answer, and an answer that isn't one are tried again after a growing, slightly varied wait, or
    the one that ``Retry-After`` asks for. Other statuses, and the last failure, raise.

    What an error says is made here: no key, no prompt and no part of a response is ever in it, and
    no other exception hangs on it. Requests go to the endpoint's address alone: proxies of the
    environment aren't used and redirects aren't followed.

    A copy, by ``copy`` or ``pickle``, has the same settings, no connections, and its whole budget.

    Args:
        endpoint: Where the model is and how it is asked.
        sleep: Waits between attempts, in seconds; for tests.
        asleep: The same inside an event loop.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], None] = time.sleep,
        asleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint
        self._sleep, self._asleep = sleep, asleep
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(endpoint.concurrency)
        self._client: tuple[OpenAI, finalize[[], ChatClient], int] | None = None
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()
        self._spent = Spent()

    def __reduce__(self) -> tuple[Any, ...]:
        # connections, and what was spent, belong to this process and object
        return partial(ChatClient, sleep=self._sleep, asleep=self._asleep), (self.endpoint,)

    def __repr__(self) -> str:
        return f"ChatClient({self.endpoint!r})"

    @property
    def spent(self) -> Spent:
        """Calls and tokens so far."""
        return self._spent

    def complete(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """The model's answer to a chat.

        Args:
            messages: OpenAI chat messages; a lone surrogate in them is sent as U+FFFD.
            tools: OpenAI function schemas on offer.

        Raises:
            EndpointError: If there is no answer for good, or a budget is spent.
            OptionError: If the key isn't set.
        """
        call = _Call(self, messages, tools)
        with self._slots:
            while True:
                answered = self._sync().chat.completions.with_streaming_response
                try:
                    body = Body(self.endpoint.timeout)
                    with answered.create(**call.attempt()) as response:
                        for chunk in response.iter_bytes():
                            body.add(chunk)
                    return call.answer(body)
                except Exception as error:
                    failed = failure(error)
                self._sleep(call.wait(failed))

    async def acomplete(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """``complete`` inside an event loop."""
        call = _Call(self, messages, tools)
        async with (await self._async()).slots:
            while True:
                held = await self._async()
                answered = held.client.chat.completions.with_streaming_response
                try:
                    body = Body(self.endpoint.timeout)
                    async with (
                        asyncio.timeout(self.endpoint.timeout),
                        answered.create(**call.attempt()) as response,
                    ):
                        async for chunk in response.iter_bytes():
                            body.add(chunk)
                    return call.answer(body)
                except Exception as error:
                    failed = failure(error)
                await self._asleep(call.wait(failed))

    def close(self) -> None:
        """Let the connections of threads go; the client can be used again."""
        with self._lock:
            held, self._client = self._client, None
        if held is not None and held[2] == os.getpid():
            held[1]()

    async def aclose(self) -> None:
        """Let the connections of this event loop go; the client can be used again.

        A loop that shuts down its asynchronous generators, as ``asyncio.run`` does, does it itself.
        """
        held = self._loops.pop(asyncio.get_running_loop(), None)
        if held is not None:
            await held.ending.aclose()

    # -- inside ----------------------------------------------------------------------------------

    def _sync(self) -> OpenAI:
        with self._lock:
            held = self._client
            if held is not None and held[2] == os.getpid():
                return held[0]
            if held is not None:  # a forked process must not speak on its parent's connections
                held[1].detach()
            made = connect(self.endpoint)
            self._client = made, finalize(self, made.close), os.getpid()
            return made

    async def _async(self) -> _Loop:
        loop = asyncio.get_running_loop()
        found = self._loops.get(loop)
        if found is None:
            client = aconnect(self.endpoint)
            slots = asyncio.Semaphore(self.endpoint.concurrency)
            ending = _until_the_loop_ends(client, ref(self._loops))
            found = self._loops[loop] = _Loop(client, slots, ending)
            await anext(ending)
        return found

    def _begin(self) -> int:
        """Count a call.

        Returns:
            Its number.

        Raises:
            EndpointError: If a budget is spent.
        """
        endpoint = self.endpoint
        with self._lock:
            spent = self._spent
            used = spent.prompt_tokens + spent.completion_tokens
            for limit, so_far, what in (
                (endpoint.max_calls, spent.calls, "calls"),
                (endpoint.max_total_tokens, used, "tokens"),
            ):
                if limit is not None and so_far >= limit:
                    raise ModelUnavailable(
                        f"{endpoint.model}: the budget of {limit} {what} is spent"
                    )
            self._spent = spent._replace(calls=spent.calls + 1)
            return spent.calls

    def _count(self, attempts: int = 0, usage: Usage | None = None) -> None:
        prompt, completion, _ = usage or Usage()
        with self._lock:
            calls, before, prompts, completions = self._spent
            self._spent = Spent(
                calls, before + attempts, prompts + prompt, completions + completion
            )


async def _until_the_loop_ends(
    client: AsyncOpenAI, loops: ref[WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop]]
) -> AsyncGenerator[None]:
    """Hold a client open until its event loop shuts its asynchronous generators down.

    Connections refer to their loop, so a client that is merely forgotten would keep it alive.
    """
    try:
        yield
    finally:
        if (held := loops()) is not None:
            held.pop(asyncio.get_running_loop(), None)
        await client.close()


class _Call:
    """One call and its attempts."""

    def __init__(
        self,
        client: ChatClient,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None,
    ) -> None:
        endpoint = client.endpoint
        endpoint.key()  # a missing one is the caller's mistake, not a failed attempt
        self._client, self._endpoint = client, endpoint
        self._attempts = 0
        self._request: dict[str, Any] = {"messages": self._sendable(messages), **endpoint.request()}
        if tools:
            self._request["tools"] = self._sendable(tools)
        if endpoint.extra:
            self._request["extra_body"] = dict(endpoint.extra)
        self._number = client._begin()

    def attempt(self) -> dict[str, Any]:
        """Count an attempt; the arguments of its request."""
        self._attempts += 1
        self._client._count(attempts=1)
        return self._request

    def answer(self, body: Body) -> Completion:
        """The completion that a response's body holds.

        Raises:
            Unusable: If it holds none.
        """
        completion = body.read(self._attempts)
        self._client._count(usage=completion.usage)
        return completion

    def wait(self, failed: Failure) -> float:
        """Seconds until the next attempt.

        Raises:
            EndpointError: If there is none.
        """
        if not failed.again or self._attempts > self._endpoint.retries:
            raise self._error(failed.what)
        return pause(failed, self._endpoint.backoff, self._number, self._attempts)

    def _error(self, what: str) -> EndpointError:
        times = f"{self._attempts} attempt{'' if self._attempts == 1 else 's'}"
        return ModelUnavailable(f"{self._endpoint.model}: {what} ({times})")

    def _sendable(self, given: Sequence[Any]) -> Any:
        """The same as JSON that has a UTF-8 form: what one model wrote must not stop another.

        Raises:
            EndpointError: If it is no JSON.
        """
        try:
            text = json.dumps(list(given), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            text = ""
        if not text:
            raise self._error("the request can't be made: its messages or tools are no JSON")
        if not encodes(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return json.loads(text)
