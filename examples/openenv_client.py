"""Starts an OpenEnv server of tickets on a free port and plays tasks on it with the client.

    pip install "cirrus-env[openenv]"
    python examples/openenv_client.py --sessions 4

With ``--url`` it plays on a server that runs already: ``python -m cirrus_env.adapters.openenv``.
The policy knows only what comes over the wire: it asks, looks at the servers, and closes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cirrus_env.adapters.openenv import CirrusClient


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A chat message that calls one function."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": name, "type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


async def play(url: str, index: int) -> str:
    """One task of the train split in a session of its own."""
    actions = [
        "Thank you for writing. Which resource is it about, please?",
        call("DescribeInstances"),
        call("close_ticket", message="I looked into it; please write again if anything remains."),
    ]
    async with CirrusClient(base_url=url) as env:
        result = await env.reset(split="train", index=index)
        total = 0.0
        for action in actions:
            result = await env.step(action)
            total += result.reward or 0.0
            if result.done:
                break
        info = result.observation.info
        return f"{info['ticket']} seed {info['seed']}: {info['outcome']}, return {total:.3f}"


async def play_all(url: str, sessions: int) -> None:
    """Several sessions at once."""
    for line in await asyncio.gather(*(play(url, index) for index in range(sessions))):
        print(line)


@contextmanager
def server() -> Iterator[str]:
    """A server in a process of its own; gives its address."""
    command = [sys.executable, "-m", "cirrus_env.adapters.openenv", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    """Serve, play, stop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--sessions", type=int, default=4)
    arguments = parser.parse_args()
    if arguments.url:
        asyncio.run(play_all(arguments.url, arguments.sessions))
        return
    with server() as url:
        asyncio.run(play_all(url, arguments.sessions))


if __name__ == "__main__":
    main()
