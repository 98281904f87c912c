"""Calling the command line in this process."""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple

from cirrus_env.cli.main import run
from cirrus_env.cli.streams import Streams


class Called(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(io.StringIO):
    """A stream that says that a person looks on."""

    def isatty(self) -> bool:
        return True


def call(*arguments: str, typed: str = "", terminal: bool = False) -> Called:
    kind = Terminal if terminal else io.StringIO
    streams = Streams(kind(), kind(), kind(typed))
    code = run(arguments, streams)
    return Called(code, streams.out.getvalue(), streams.err.getvalue())
