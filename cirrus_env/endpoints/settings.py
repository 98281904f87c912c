"""Where a model is and how it is asked; never its key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from cirrus_env.errors import OptionError
from cirrus_env.wire import canonical, encodes

OPENAI: Final = "https://api.openai.com/v1"
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
NO_KEY: Final = "none"
"""What a server on this machine is sent where no key is set."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an OpenAI-compatible endpoint.

    The key stays in the environment variable ``key_env`` and is read for each call.

    Attributes:
        model: As the endpoint names it.
        base_url: The address up to ``/v1``; None for ``OPENAI_BASE_URL`` or OpenAI's own.
        key_env: The environment variable that holds the key.
        temperature: Of sampling; None for the endpoint's.
        top_p: Of sampling; None for the endpoint's.
        max_tokens: Tokens that one answer may have; None for the endpoint's limit.
        seed: Of sampling, where the endpoint has one.
        timeout: Seconds that one attempt may take.
        retries: How often a failed attempt is repeated.
        backoff: Seconds before the first repetition; doubled each time, at most 30.
        concurrency: Calls under way at once.
        max_calls: Calls over the client's life; None for no limit.
        max_total_tokens: Tokens, of prompts and answers, after which no call is begun.
        extra: Further fields of the request's JSON.

    Raises:
        OptionError: If one can't be used.
    """

    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    timeout: float = 60.0
    retries: int = 4
    backoff: float = 0.5
    concurrency: int = 32
    max_calls: int | None = None
    max_total_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            OptionError: If one can't be used.
        """
        for name in ("model", "key_env"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip() or not encodes(value):
                raise OptionError(f"{name} must be a name, not {value!r}"[:200])
        if self.base_url is not None:
            _check_url(self.base_url)
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if not _is_number(value, whole=name in _WHOLE) or not low <= value <= high:
                what = "an integer" if name in _WHOLE else "a number"
                raise OptionError(f"{name} must be {what} from {low} to {high:g}, not {value!r}")
        try:
            canonical(dict(self.extra))
        except (TypeError, ValueError, RecursionError):
            raise OptionError("extra must be a JSON object") from None
        object.__setattr__(self, "extra", dict(self.extra))

    @property
    def address(self) -> str:
        """The base URL in force."""
        url = self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        _check_url(url)
        return url.rstrip("/")

    def key(self) -> str:
        """The key, from the environment; never kept.

        Raises:
            OptionError: If the variable isn't set and the endpoint is on another machine, or the
                address is none.
        """
        host = urlsplit(self.address).hostname
        key = os.environ.get(self.key_env, "")
        if key:
            return key
        if host in LOOPBACK:
            return NO_KEY
        raise OptionError(f"set the environment variable {self.key_env} to the endpoint's key")

    def request(self) -> Mapping[str, Any]:
        """The request's fields besides messages and tools."""
        given = {
            name: getattr(self, name)
            for name in ("model", "temperature", "top_p", "max_tokens", "seed")
            if getattr(self, name) is not None
        }
        return MappingProxyType(given)

    def describe(self) -> dict[str, Any]:
        """What may be stored of it: no key, no credentials in the address, no further fields."""
        return {**self.request(), "base_url": _public(self.address)}


_RANGES: Final = (
    ("temperature", 0, 10.0), ("top_p", 0, 1.0), ("max_tokens", 1, 10**7), ("seed", 0, 2**63 - 1),
    ("timeout", 0.001, 86_400.0), ("retries", 0, 100), ("backoff", 0, 30.0),
    ("concurrency", 1, 10**4), ("max_calls", 1, 10**12), ("max_total_tokens", 1, 10**15),
)  # fmt: skip
_WHOLE: Final = frozenset(
    ("max_tokens", "seed", "retries", "concurrency", "max_calls", "max_total_tokens")
)
_OPTIONAL: Final = frozenset(
    ("temperature", "top_p", "max_tokens", "seed", "max_calls", "max_total_tokens")
)


def _is_number(value: Any, *, whole: bool) -> bool:
    return not isinstance(value, bool) and isinstance(value, int if whole else int | float)


def _check_url(url: Any) -> None:
    problem = ""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            problem = "is no http(s) address"
        elif parts.username is not None or parts.password is not None:
            problem = "holds credentials: a key belongs into the environment"
    except ValueError:
        problem = "is no http(s) address"
    if problem:
        raise OptionError(f"base_url {problem}")


def _public(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def endpoint(spec: str) -> Endpoint:
    """The endpoint of a short text: ``NAME``, or ``NAME@URL`` as in ``qwen3@http://host:8000/v1``.

    Raises:
        OptionError: If it names no model, or the address is none or has a query, which may hold a
            secret: runs store this text.
    """
    name, at, url = spec.rpartition("@")
    if not at or not url.startswith(("http://", "https://")):
        return Endpoint(spec)
    if "?" in url:
        raise OptionError("an address in a short form takes no query: make an Endpoint of it")
    return Endpoint(name, url)
