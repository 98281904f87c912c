"""Trivial agents that call tools blindly (RELIABILITY law R8)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Final, Literal

from cirrus_env.baselines import reading, sampling
from cirrus_env.baselines.policy import Observation
from cirrus_env.baselines.reading import Tool
from cirrus_env.baselines.scripted import Script, Scripted
from cirrus_env.wire import AssistantAction, canonical
from cirrus_env.world import Stream

Pair = tuple[str, dict[str, Any]]
What = Literal["reads", "all"]
READS: Final[What] = "reads"
ALL: Final[What] = "all"

MOST_CALLS: Final = 54
"""Calls of one sweep; below the default limit of an episode."""

_A_MESSAGE: Final = 18


class EmptyArguments(Scripted):
    """Calls every tool with empty arguments."""

    name = "empty-arguments"

    def play(self, observation: Observation) -> Script:
        """One call a message: each that fails is an invalid action, so a reply lies between."""
        for tool in reading.tools(observation):
            yield reading.call(tool.name, {})
            yield AssistantAction("reply", "...")


class EveryToolEveryId(Scripted):
    """Calls every tool with every id in sight."""

    name = "every-tool-every-id"

    def play(self, observation: Observation) -> Script:
        """What the reads show goes into the next calls."""
        yield from sweep(observation, ALL)


class ReadOnlySweep(Scripted):
    """Reads all that it can, says nothing and closes."""

    name = "read-only-sweep"

    def play(self, observation: Observation) -> Script:
        """The reads."""
        yield from sweep(observation, READS)


def read_only(observation: Observation) -> list[Pair]:
    """Reads that can be filled from what is in sight."""
    words = reading.ids(observation)
    stream = Stream(0, "policy:sweep")
    found = []
    for tool in reading.tools(observation):
        if tool.reads:
            arguments = sampling.arguments(tool.parameters, words, stream)
            if arguments is not None:
                found.append((tool.name, arguments))
    return found


def sweep(
    observation: Observation, what: What
) -> Generator[AssistantAction, Observation, Observation]:
    """Call tools with every id in sight until nothing new comes or the calls are used up."""
    done: dict[str, Pair] = {}
    while len(done) < MOST_CALLS:
        room = min(_A_MESSAGE, MOST_CALLS - len(done))
        new: dict[str, Pair] = {}
        for name, arguments in _calls(observation, what):
            key = f"{name} {canonical(arguments)}"
            if key not in done and len(new) < room:
                new[key] = (name, arguments)
        if not new:
            break
        done.update(new)
        observation = yield reading.calls(list(new.values()))
    return observation


def _calls(observation: Observation, what: What) -> Iterator[Pair]:
    """Reads that need nothing, then each id with every tool that takes an id of its name."""
    offered = [tool for tool in reading.tools(observation) if what == ALL or tool.reads]
    for tool in offered:
        if tool.reads and not tool.required:
            yield tool.name, {}
    for key, id in reading.named_ids(observation):
        for tool in offered:
            if tool.required and (not key or any(name.startswith(key) for name in tool.required)):
                arguments = _filled(tool, id)
                if arguments is not None:
                    yield tool.name, arguments


def _filled(tool: Tool, id: str) -> dict[str, Any] | None:
    return sampling.arguments(tool.parameters, (id,), Stream(0, f"policy:sweep:{tool.name}"))
