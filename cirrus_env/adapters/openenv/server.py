"""The server: an app for uvicorn, and the command that runs it."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import Any

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.openenv.environment import CirrusEnvironment
from cirrus_env.adapters.openenv.models import CirrusAction, CirrusObservation, CirrusState
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.engine.parsers import PARSERS
from cirrus_env.errors import CirrusError

try:
    import uvicorn
    from fastapi.responses import JSONResponse
    from openenv.core.env_server import create_app as create_openenv_app
except ImportError as error:
    raise MissingExtra("openenv", error) from None

NAME = "cirrus"
"""The environment's name in the paths of the task interface."""


def create_app(tasks: Tasks | None = None, *, max_sessions: int = 256, **arguments: Any) -> Any:
    """An app that serves tickets: a WebSocket a session, and tasks over HTTP.

    Args:
        tasks: The tasks; None for the package's train and test tickets.
        max_sessions: Sessions at once; a client more is told so and refused.
        **arguments: Arguments of ``TicketEpisode``, such as ``parser`` or ``max_turns``.

    Returns:
        A ``fastapi.FastAPI``.

    Raises:
        OptionError: For an argument that can't be used: at once, not at the first session.
    """
    chosen = tasks or Tasks()
    factory = functools.partial(CirrusEnvironment, chosen, **arguments)
    factory().close()
    app = create_openenv_app(
        factory,
        CirrusAction,
        CirrusObservation,
        env_name=NAME,
        max_concurrent_envs=max_sessions,
        state_cls=CirrusState,
    )
    app.add_exception_handler(CirrusError, _refused)
    return app


async def _refused(_: Any, error: Exception) -> JSONResponse:
    """What a client got wrong over plain HTTP; a session's socket has OpenEnv's own answer."""
    told = {"detail": str(error), "type": type(error).__name__}
    return JSONResponse(told, status_code=400)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m cirrus_env.adapters.openenv", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--max-sessions", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=100, help="seeds a ticket in each split")
    parser.add_argument("--parser", default="plain", choices=sorted(PARSERS))
    parser.add_argument("--reward", default="cirrus")
    parser.add_argument("--max-turns", type=int, default=30)
    parser.add_argument(
        "--compress", action="store_true", help="compress frames: for slow networks only"
    )
    given = parser.parse_args(arguments)
    app = create_app(
        Tasks(seeds=given.seeds),
        max_sessions=given.max_sessions,
        parser=given.parser,
        reward=given.reward,
        max_turns=given.max_turns,
    )
    serve(app, host=given.host, port=given.port, compress=given.compress)


def serve(app: Any, *, host: str = "127.0.0.1", port: int = 8000, compress: bool = False) -> None:
    """Serve until interrupted; prints the address once clients can connect.

    Args:
        app: From ``create_app``.
        host: The address to listen at.
        port: The port; 0 for any free one.
        compress: Whether frames are compressed, which costs more than a step does.
    """
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", ws_per_message_deflate=compress
    )
    sock = config.bind_socket()
    sock.listen(config.backlog)
    print(f"http://{host}:{sock.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[sock])
