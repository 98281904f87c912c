"""Rollouts by the OpenAI client: a group of episodes of one ticket, all awaited together.

    python examples/openai_rollout.py                                    # a scripted model
    python examples/openai_rollout.py --base-url http://localhost:8000/v1 --model NAME --group 8

The key is read from ``OPENAI_API_KEY``. Without ``--base-url`` a small server on this machine plays
the model, so that the example runs as it stands.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai import AsyncOpenAI

from cirrus_env.adapters.openai_rollout import EpisodeRecord, rollout


async def play(options: argparse.Namespace, base_url: str | None) -> list[EpisodeRecord]:
    """A group: the same ticket and seed, each member in a world of its own."""
    key = {"api_key": "none"} if options.base_url is None else {}
    async with AsyncOpenAI(base_url=base_url, **key) as client:
        members = [
            rollout(
                client, options.model, options.ticket, seed=options.seed,
                max_turns=options.max_turns, reward="dense",
            )
            for _ in range(options.group)
        ]  # fmt: skip
        return await asyncio.gather(*members)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The scripted model: looks at the servers, asks once, and closes."""
    said = [m for m in request["messages"] if m["role"] == "assistant"]
    if not said:
        return {"content": "", "tool_calls": [call("DescribeInstances", {})]}
    if len(said) == 1:
        return {"content": "Which server is it, please, and how did you stop it?"}
    return {"content": "", "tool_calls": [call("close_ticket", {"message": "I have looked."})]}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool call as a model writes it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "c1", "type": "function", "function": function}


@contextmanager
def scripted_model() -> Iterator[str]:
    """A server of ``answer``; gives its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", **answer(request)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            body = json.dumps(
                {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted",
                 "choices": [choice], "usage": usage}
            ).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Play a group and print what came of each member."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticket", default="ECS-Billing")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--group", type=int, default=4)
    parser.add_argument("--max-turns", type=int, default=12)
    parser.add_argument("--model", default="scripted")
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint, up to /v1")
    options = parser.parse_args()
    if options.base_url is None:
        with scripted_model() as url:
            records = asyncio.run(play(options, url))
    else:
        records = asyncio.run(play(options, options.base_url))
    for number, record in enumerate(records):
        reward = "invalid" if record.reward is None else f"{record.reward:+.3f}"
        steps = len(record.rewards)
        print(f"{number}: {record.outcome:12} reward {reward} in {steps} steps {record.error}")
    print("\nthe first member's dialogue:")
    for message in records[0].messages[1:]:
        calls = [c["function"]["name"] for c in message.get("tool_calls", ())]
        text = message["content"] or f"calls {', '.join(calls)}"
        print(f"  {message['role']:>9}: {text[:100]}")


if __name__ == "__main__":
    main()
