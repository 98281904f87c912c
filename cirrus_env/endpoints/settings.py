"""Where a model is and how it is asked; never its key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from cirrus_env.errors import OptionError
from cirrus_env.wire import canonical, encodes

OPENAI: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"
"""What a server on this machine is sent where no key is set."""


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """A model behind an OpenAI-compatible endpoint.

    The key stays in the environment variable ``key_env`` and is read for each call. A call takes at
    most ``retries + 1`` attempts and as many waits, each at most 30 seconds.

    Attributes:
        model: As the endpoint names it.
        base_url: The address up to ``/v1``; None for ``OPENAI_BASE_URL`` or OpenAI's own. Its
            query, such as ``?api-version=1``, goes with every request and is never shown.
        key_env: The environment variable that holds the key.
        temperature: Of sampling; None for the endpoint's.
        top_p: Of sampling; None for the endpoint's.
        max_tokens: Tokens that one answer may have; None for the endpoint's limit.
        seed: Of sampling, where the endpoint has one.
        timeout: Seconds that one attempt may take, from connecting to the last byte. Outside an
            event loop a server that sends byte after byte is found out only at the next one.
        retries: How often a failed attempt is repeated.
        backoff: Seconds before the first repetition; doubled each time, at most 30.
        concurrency: Calls under way at once: of all threads, and in each event loop.
        max_calls: Calls over the client's life; None for no limit.
        max_total_tokens: Tokens, of prompts and answers, after which no call is begun.
        extra: Further fields of the request's JSON; none that has a setting of its own.

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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            OptionError: If one can't be used.
        """
        model, key_env = self.model, self.key_env
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            raise OptionError(f"model must be a name, not {model!r}"[:200])
        if not isinstance(key_env, str) or not _VARIABLE.fullmatch(key_env):
            # not shown: it may be the key itself
            raise OptionError("key_env must name an environment variable, such as OPENAI_API_KEY")
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
            usable = encodes(canonical(dict(self.extra)))
        except (TypeError, ValueError, RecursionError):
            usable = False
        if not usable:
            raise OptionError("extra must be a JSON object")
        if taken := sorted(_OWN & self.extra.keys()):
            raise OptionError(f"extra can't hold {taken[0]}, which isn't a further field")
        object.__setattr__(self, "extra", dict(self.extra))

    def __repr__(self) -> str:
        """The settings that aren't the defaults; of further fields and queries no values."""
        shown = [repr(self.model)]
        for setting in fields(self)[1:]:
            value = getattr(self, setting.name)
            if setting.name == "base_url" and value is not None:
                value = _public(value)
            elif setting.name == "extra":
                value = sorted(value) or setting.default
            if value != setting.default:
                shown.append(f"{setting.name}={value!r}")
        return f"Endpoint({', '.join(shown)})"

    @property
    def address(self) -> str:
        """The base URL in force, without its query."""
        return _public(self._url)

    @property
    def query(self) -> dict[str, str]:
        """The base URL's query."""
        return dict(parse_qsl(urlsplit(self._url).query, keep_blank_values=True))

    @property
    def _url(self) -> str:
        url = self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        _check_url(url)
        return url

    def key(self) -> str:
        """The key, from the environment; never kept.

        Raises:
            OptionError: If the variable isn't set and the endpoint is on another machine, or holds
                what can't be a key, or the address is none.
        """
        host = urlsplit(self._url).hostname or ""
        key = os.environ.get(self.key_env, "").strip()
        if not key and _is_this_machine(host):
            return NO_KEY
        if not key:
            raise OptionError(f"set the environment variable {self.key_env} to the endpoint's key")
        if not key.isascii() or not key.isprintable():
            raise OptionError(f"the environment variable {self.key_env} holds no key")
        return key

    def request(self) -> dict[str, Any]:
        """The request's fields besides messages, tools and further ones."""
        given = {name: getattr(self, name) for name in _SENT}
        return {name: value for name, value in given.items() if value is not None}

    def describe(self) -> dict[str, Any]:
        """What may be stored of it: no key, no credentials in the address, no further fields."""
        return {**self.request(), "base_url": self.address}


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SENT: Final = ("model", "temperature", "top_p", "max_tokens", "seed")
_OWN: Final = frozenset((*_SENT, "messages", "tools", "stream"))
_RANGES: Final = (
    ("temperature", 0, 10.0), ("top_p", 0, 1.0), ("max_tokens", 1, 10**7), ("seed", 0, 2**63 - 1),
    ("timeout", 0.001, 86_400.0), ("retries", 0, 100), ("backoff", 0, 30.0),
    ("concurrency", 1, 1_000), ("max_calls", 1, 10**12), ("max_total_tokens", 1, 10**15),
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
    """Refuse an address without showing it: it may hold a secret.

    Raises:
        OptionError: If it is none, or has a user or password.
    """
    try:
        parts = urlsplit(url if isinstance(url, str) and url.isprintable() else "")
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        usable = usable and " " not in url
    except ValueError:  # brackets or a port that can't be
        usable = False
    if not usable:
        raise OptionError("base_url is no http(s) address")
    if "@" in parts.netloc:
        raise OptionError("base_url holds credentials: a key belongs into the environment")


def _public(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
