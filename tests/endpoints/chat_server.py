"""A real OpenAI-compatible server on this machine that answers as a test tells it to.

    with ChatServer([completion("Hello."), status(429), ...]) as server:
        Endpoint("m", server.base_url)

A list is answered in order, its last entry for ever; a function of the request's JSON gives each
answer: ``completion`` (words, calls, usage), ``status`` (an error with headers), ``garbage`` (any
other body) or ``half`` (the connection breaks). Any ``Answer`` may be late (``delay``, seconds) or
come byte after byte (``drip``, seconds between them).

``server.requests`` holds the JSON of all requests, in order; ``server.paths``, ``server.keys`` and
``server.ports`` their paths with query, bearer tokens and the client's ports, one a connection;
``server.most_at_once`` how many it was answering at a time.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What is sent: a status, headers, a body (or only its first half), after a delay."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    drip: float = 0.0


def message(content="", calls=(), **fields):
    """An assistant's message; calls are (name, arguments as text) pairs."""
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    given = {"role": "assistant", "content": content, **fields}
    return given | ({"tool_calls": made} if made else {})


def completion(content="", calls=(), *, finish="stop", usage=(7, 3), delay=0.0, **fields):
    """A whole completion."""
    data = {
        "id": "c", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": message(content, calls, **fields)}
        ],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1],
                  "total_tokens": sum(usage)},
    }  # fmt: skip
    return Answer(body=json.dumps(data).encode(), delay=delay)


def status(code, **headers):
    """An error."""
    body = json.dumps({"error": {"message": "echo of a secret body", "code": code}})
    return Answer(code, body.encode(), headers)


def garbage(body=b"<html>", **fields):
    """A body that is no completion."""
    return Answer(body=body, **fields)


def half():
    """The connection breaks in the middle of the body."""
    return Answer(body=completion("never heard").body, cut=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that hangs up is no error here
            super().handle_error(request, client_address)


class ChatServer:
    """The server; a context manager."""

    def __init__(self, answers: Sequence[Answer] | Callable[[dict[str, Any]], Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.paths: list[str] = []
        self.ports: list[int] = []
        self.most_at_once = 0
        self._at_once = 0
        self._answers = answers
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = outer._next(self, json.loads(body))
                try:
                    outer._send(self, answer)
                except OSError:
                    self.close_connection = True  # the client has gone
                finally:
                    with outer._lock:
                        outer._at_once -= 1

            def log_message(self, *arguments):
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def _next(self, handler, request):
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.requests.append(request)
            self.paths.append(handler.path)
            self.ports.append(handler.client_address[1])
            self.keys.append(handler.headers.get("Authorization", "").removeprefix("Bearer "))
            place = len(self.requests) - 1
        if callable(self._answers):
            return self._answers(request)
        return self._answers[min(place, len(self._answers) - 1)]

    def _send(self, handler, answer):
        time.sleep(answer.delay)
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        if answer.cut:
            handler.wfile.write(answer.body[: len(answer.body) // 2])
            handler.wfile.flush()
            handler.close_connection = True
        elif answer.drip:
            for n in range(len(answer.body)):
                handler.wfile.write(answer.body[n : n + 1])
                handler.wfile.flush()
                time.sleep(answer.drip)
        else:
            handler.wfile.write(answer.body)

    def __enter__(self):
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
