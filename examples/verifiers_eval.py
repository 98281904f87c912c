"""Evaluates a model on tickets with verifiers, episode by episode.

    pip install "cirrus-env[verifiers]"
    python examples/verifiers_eval.py                                   # a scripted model
    python examples/verifiers_eval.py --base-url http://localhost:8000/v1 --model NAME

The same by verifiers' own command, which also stores the traces:

    vf-eval cirrus-env-vf --model NAME --client.base-url http://localhost:8000/v1 --no-push
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import verifiers.v1 as vf


class Scripted(BaseHTTPRequestHandler):
    """A chat endpoint whose model asks, looks at the servers, and closes the ticket."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer

    def do_POST(self) -> None:
        """Answer one chat request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        message = {"role": "assistant", "content": "Which resource is it about, please?"}
        if turn:
            name = "DescribeInstances" if turn == 1 else "close_ticket"
            arguments = "{}" if turn == 1 else json.dumps({"message": "Thank you for writing."})
            function = {"name": name, "arguments": arguments}
            calls = [{"id": f"call_{turn}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "x", "object": "chat.completion", "created": 0, "model": request["model"]}
        body = json.dumps({**head, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def scripted() -> Iterator[str]:
    """The scripted endpoint on a free port; gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


async def evaluate(base_url: str, model: str, split: str, tasks: int, group: int) -> None:
    """Some tasks, each with a group of rollouts that share ticket and seed."""
    env = vf.load_environment(
        vf.resolve_env_config({"taskset": {"id": "cirrus-env-vf", "split": split}})
    )
    client = vf.EvalClientConfig(base_url=base_url, api_key_var="OPENAI_API_KEY")
    context = vf.ModelContext(model=model, client=client, sampling=vf.SamplingConfig())
    async with env.serving():
        for task in env.taskset.take(tasks):
            episodes = await asyncio.gather(*(env.run_episode(task, context) for _ in range(group)))
            for episode in episodes:
                for trace in episode.traces:
                    reward = trace.rewards["cirrus"]
                    told = "no reward: an error" if reward is None else f"{reward.value:.3f}"
                    outcome = trace.info.get("cirrus", {}).get("outcome", "")
                    print(f"{task.key}: {told}, {outcome}, {trace.num_turns} model calls")


def main() -> None:
    """Evaluate, with the scripted endpoint where none is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint")
    parser.add_argument("--model", default="scripted")
    parser.add_argument("--split", default="train", choices=["train", "test"])
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--group", type=int, default=2)
    given = parser.parse_args()
    if given.base_url:
        asyncio.run(evaluate(given.base_url, given.model, given.split, given.tasks, given.group))
        return
    with scripted() as base_url:
        asyncio.run(evaluate(base_url, given.model, given.split, given.tasks, given.group))


if __name__ == "__main__":
    main()
