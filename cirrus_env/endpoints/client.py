"""A client of chat completions that either answers or says for good that it can't."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import EndpointError
from cirrus_env.wire import Message
from cirrus_env.world import Stream

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

LONGEST_WAIT: Final = 30.0
"""Seconds between two attempts at most, whatever a server asks for."""

LARGEST: Final = 64_000_000
"""Bytes that an answer may have."""

_AGAIN: Final = frozenset((408, 409, 425, 429))
"""Statuses below 500 after which another attempt may do."""


class Usage(NamedTuple):
    """Tokens of one call, as the endpoint counts them; 0 where it doesn't say.

    Attributes:
        prompt_tokens: Of the messages and tools.
        completion_tokens: Of the answer, reasoning included.
        reasoning_tokens: Of the reasoning.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0


class Completion(NamedTuple):
    """A model's answer.

    Attributes:
        message: An OpenAI chat message of the assistant: ``role``, ``content`` (a string) and,
            where there are any, ``tool_calls`` and ``reasoning_content``; as the model wrote it.
        finish_reason: Why it ended, such as ``stop``, ``tool_calls`` or ``length``.
        usage: Its tokens.
        attempts: How many attempts it took.
    """

    message: Message
    finish_reason: str
    usage: Usage
    attempts: int


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


class _Failure(NamedTuple):
    """One failed attempt: what happened, whether to try again, and how long the server asks for."""

    what: str
    again: bool
    wait: float | None = None


class ChatClient:
    """Asks an OpenAI-compatible endpoint for chat completions, from threads or event loops.

    Time-outs, refused or broken connections, the statuses 408, 409, 425, 429 and 5xx, half an
    answer, and an answer that isn't one are tried again after a growing, slightly varied wait, or
    the one that ``Retry-After`` asks for. Other statuses, and the last failure, raise.

    What an error says is made here: no key, no prompt and no part of a response is ever in it, and
    no other exception hangs on it.

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
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(self.endpoint.concurrency)
        self._client: OpenAI | None = None
        self._clients: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AsyncOpenAI, asyncio.Semaphore]
        ] = WeakKeyDictionary()
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
            messages: OpenAI chat messages.
            tools: OpenAI function schemas on offer.

        Raises:
            EndpointError: If there is no answer for good, or a budget is spent.
            OptionError: If the key isn't set.
        """
        call = _Call(self, messages, tools)
        with self._slots:
            while True:
                try:
                    answered = self._sync().chat.completions.with_streaming_response
                    with answered.create(**call.request) as response:
                        body = _Body(self.endpoint.timeout)
                        for chunk in response.iter_bytes():
                            body.add(chunk)
                    return call.answer(body.whole)
                except Exception as error:
                    failure = _failure(error)
                self._sleep(call.wait(failure))

    async def acomplete(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """``complete`` inside an event loop."""
        call = _Call(self, messages, tools)
        client, slots = self._async()
        async with slots:
            while True:
                try:
                    answered = client.chat.completions.with_streaming_response
                    async with answered.create(**call.request) as response:
                        body = _Body(self.endpoint.timeout)
                        async for chunk in response.iter_bytes():
                            body.add(chunk)
                    return call.answer(body.whole)
                except Exception as error:
                    failure = _failure(error)
                await self._asleep(call.wait(failure))

    def close(self) -> None:
        """Let the connections of threads go; the client can be used again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Let the connections of this event loop go; the client can be used again."""
        found = self._clients.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[0].close()

    # -- inside ----------------------------------------------------------------------------------

    def _arguments(self) -> dict[str, Any]:
        endpoint = self.endpoint
        return {
            "api_key": endpoint.key,  # asked for each request, so that no object keeps it
            "base_url": endpoint.address,
            "timeout": endpoint.timeout,
            "max_retries": 0,
        }

    def _sync(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI(**self._arguments())
            return self._client

    def _async(self) -> tuple[AsyncOpenAI, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        found = self._clients.get(loop)
        if found is None:
            from openai import AsyncOpenAI

            given = self._arguments()
            key = given.pop("api_key")

            async def current() -> str:
                return str(key())

            made = AsyncOpenAI(api_key=current, **given)
            found = made, asyncio.Semaphore(self.endpoint.concurrency)
            self._clients[loop] = found
        return found

    def _begin(self) -> int:
        """Count a call.

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
                    raise EndpointError(f"{endpoint.model}: the budget of {limit} {what} is spent")
            self._spent = spent._replace(calls=spent.calls + 1)
            return spent.calls

    def _count(self, attempts: int = 0, usage: Usage | None = None) -> None:
        with self._lock:
            spent = self._spent
            self._spent = Spent(
                spent.calls,
                spent.attempts + attempts,
                spent.prompt_tokens + (usage.prompt_tokens if usage else 0),
                spent.completion_tokens + (usage.completion_tokens if usage else 0),
            )


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
        self._client = client
        self._endpoint = endpoint
        self._number = client._begin()
        self._attempts = 0
        self._request = {"messages": list(messages), **endpoint.request()}
        if tools:
            self._request["tools"] = list(tools)
        if endpoint.extra:
            self._request["extra_body"] = dict(endpoint.extra)

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of the next attempt."""
        self._attempts += 1
        self._client._count(attempts=1)
        return self._request

    def answer(self, body: bytes) -> Completion:
        """The completion that a response's body holds.

        Raises:
            _Unusable: If it holds none.
        """
        message, finish, usage = _read(body)
        self._client._count(usage=usage)
        return Completion(message, finish, usage, self._attempts)

    def wait(self, failure: _Failure) -> float:
        """Seconds until the next attempt.

        Raises:
            EndpointError: If there is none.
        """
        endpoint = self._endpoint
        if not failure.again or self._attempts > endpoint.retries:
            times = f"{self._attempts} attempt{'s' if self._attempts > 1 else ''}"
            raise EndpointError(f"{endpoint.model}: {failure.what} ({times})") from None
        if failure.wait is not None:
            return min(failure.wait, LONGEST_WAIT)
        wait = min(endpoint.backoff * 2.0 ** (self._attempts - 1), LONGEST_WAIT)
        # varied, so that many callers that failed together don't come back together
        part = Stream(self._number, f"backoff:{self._attempts}").below(1_000) / 1_000
        return wait * (0.75 + 0.25 * part)


class _Unusable(Exception):
    """A response that is no completion."""


class _Body:
    """A response's body as it comes in, in time and of a size that can be."""

    def __init__(self, timeout: float) -> None:
        self._until = time.monotonic() + timeout
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        """The next bytes.

        Raises:
            _Unusable: If they come too late or are too many.
        """
        self._size += len(chunk)
        if time.monotonic() > self._until:
            raise _Unusable("no answer in time")
        if self._size > LARGEST:
            raise _Unusable("the answer is too large")
        self._parts.append(chunk)

    @property
    def whole(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)


def _failure(error: Exception) -> _Failure:
    """What an attempt's exception means."""
    import openai

    if isinstance(error, _Unusable):
        return _Failure(str(error), again=True)
    if isinstance(error, openai.APITimeoutError):
        return _Failure("no answer in time", again=True)
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        again = status in _AGAIN or status >= 500
        return _Failure(f"HTTP status {status}", again, _asked_for(error) if again else None)
    if isinstance(error, openai.APIConnectionError) or _is_transport(error):
        return _Failure("the connection failed", again=True)
    return _Failure(f"the request can't be made ({type(error).__name__})", again=False)


def _is_transport(error: Exception) -> bool:
    """Whether it comes from below the client library, such as half a body."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("httpx", "httpcore"))


def _asked_for(error: Any) -> float | None:
    """Seconds of ``Retry-After``, where it is a number."""
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _read(body: bytes) -> tuple[Message, str, Usage]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise _Unusable("the answer is no JSON") from None
    try:
        choice = data["choices"][0]
        given = choice["message"]
        content, calls = _text(given.get("content")), given.get("tool_calls") or []
        message: Message = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [_called(call) for call in calls]
        reasoning = given.get("reasoning_content") or given.get("reasoning")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise _Unusable("the answer holds no message") from None
    if isinstance(reasoning, str) and reasoning:
        message["reasoning_content"] = reasoning
    return message, str(choice.get("finish_reason") or ""), _usage(data.get("usage"))


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part["text"] for part in content if "text" in part]
    return "".join(part for part in parts if isinstance(part, str))


def _called(call: Any) -> dict[str, Any]:
    function = call["function"]
    name, arguments = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError("a name is a text")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    id = call.get("id")
    return {
        "id": id if isinstance(id, str) else "",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("completion_tokens_details")
    return Usage(
        _number(given.get("prompt_tokens")),
        _number(given.get("completion_tokens")),
        _number(details.get("reasoning_tokens")) if isinstance(details, dict) else 0,
    )


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
