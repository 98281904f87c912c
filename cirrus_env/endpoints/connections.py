"""Clients of the ``openai`` package that talk to one address and to nobody else."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING, Any

from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.errors import OptionError

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


def connect(endpoint: Endpoint) -> OpenAI:
    """A client for threads.

    It imports the package, which takes a good part of a second, only now.
    """
    from openai import DefaultHttpxClient, OpenAI

    def refuse(response: Any) -> None:
        if not response.is_success:
            response.close()

    http = DefaultHttpxClient(**_direct(endpoint), event_hooks={"response": [refuse]})
    return OpenAI(api_key=endpoint.key, http_client=http, **_given(endpoint))


def aconnect(endpoint: Endpoint) -> AsyncOpenAI:
    """A client for the event loop that runs."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    async def refuse(response: Any) -> None:
        if not response.is_success:
            await response.aclose()

    async def key() -> str:
        return endpoint.key()

    http = DefaultAsyncHttpxClient(**_direct(endpoint), event_hooks={"response": [refuse]})
    return AsyncOpenAI(api_key=key, http_client=http, **_given(endpoint))


# The hooks hang up on an error's body: it may echo a key or a prompt, or never end.
# The key is given as a function: the client asks it for each request.


def _given(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "base_url": endpoint.address,
        "default_query": endpoint.query,
        "timeout": endpoint.timeout,
        "max_retries": 0,
    }


def _direct(endpoint: Endpoint) -> dict[str, Any]:
    """No proxies of the environment, no redirects."""
    return {"trust_env": False, "follow_redirects": False, "verify": _trusted(endpoint)}


def _trusted(endpoint: Endpoint) -> ssl.SSLContext | bool:
    """The certificates that count: the environment's, or else the client library's (True).

    Raises:
        OptionError: If the environment names certificates that can't be read.
    """
    if endpoint.address.startswith("http:"):
        # there are none to check, and reading them takes longer than a call on this machine;
        # this context trusts nobody
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file = os.environ.get("SSL_CERT_FILE") or None
    folder = os.environ.get("SSL_CERT_DIR") or None
    if not file and not folder:
        return True
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except OSError:
        raise OptionError("SSL_CERT_FILE or SSL_CERT_DIR names no certificates") from None
