"""What a failed attempt means: whether another may do, and how long to wait before it."""

from __future__ import annotations

import os
import time
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple

from cirrus_env.endpoints.answers import Unusable
from cirrus_env.world import Stream

LONGEST_WAIT: Final = 30.0
"""Seconds between two attempts at most, whatever a server asks for."""

_AGAIN: Final = frozenset((408, 409, 425, 429))
"""Statuses below 500 after which another attempt may do."""


class Failure(NamedTuple):
    """One failed attempt.

    Attributes:
        what: What happened, in words that are made here: nothing of the response's.
        again: Whether another attempt may do.
        wait: Seconds until then, where the server asks for them.
    """

    what: str
    again: bool
    wait: float | None = None


def failure(error: Exception) -> Failure:
    """What an attempt's exception means."""
    import openai

    if isinstance(error, Unusable):
        return Failure(str(error), again=True)
    if isinstance(error, openai.APITimeoutError | TimeoutError) or _is_late(error):
        return Failure("no answer in time", again=True)
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        again = status in _AGAIN or status >= 500
        return Failure(f"HTTP status {status}", again, _asked_for(error) if again else None)
    if isinstance(error, openai.APIConnectionError) or _is_transport(error):
        return Failure("the connection failed", again=True)
    return Failure(f"the request can't be made ({type(error).__name__})", again=False)


def pause(failed: Failure, backoff: float, call: int, attempt: int) -> float:
    """Seconds until the next attempt.

    Args:
        failed: The attempt before.
        backoff: Seconds after a call's first attempt; doubled after each.
        call: The call's number.
        attempt: The attempt's number, from 1.
    """
    if failed.wait is not None:
        return min(failed.wait, LONGEST_WAIT)
    wait = min(backoff * 2.0 ** (attempt - 1), LONGEST_WAIT)
    # varied, so that callers and processes that failed together don't come back together
    part = Stream(os.getpid(), f"backoff:{call}:{attempt}").below(1_000) / 1_000
    return wait * (0.75 + 0.25 * part)


def _is_late(error: Exception) -> bool:
    """Whether a body's next bytes didn't come: a time-out that the client library passes on."""
    return _is_transport(error) and type(error).__name__.endswith("Timeout")


def _is_transport(error: Exception) -> bool:
    """Whether it comes from below the client library, such as half a body."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("httpx", "httpcore"))


def _asked_for(error: Any) -> float | None:
    """Seconds of ``Retry-After``, which is a number of them or a date (RFC 9110, 10.2.3)."""
    asked = error.response.headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
        except (ValueError, OverflowError):
            return None
    return seconds if 0 <= seconds < float("inf") else None
