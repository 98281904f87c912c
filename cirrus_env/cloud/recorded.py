"""A cloud that only remembers: what was recorded is served again, anything else is not recorded.

For imported tickets. A call finds a recorded one only if their arguments are equal in canonical
form in both directions, but for names that differ from run to run, such as session tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from cirrus_env.cloud.arguments import ArgumentSchema
from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.kernel import CallResult, Cloud
from cirrus_env.cloud.model import Actor, Effect, Operation, Service
from cirrus_env.cloud.work import Work
from cirrus_env.errors import InvariantError
from cirrus_env.wire.jsontext import canonical

NOT_RECORDED: Final = "NotRecorded"
"""The code of a call that nobody recorded; counted apart from other errors."""


class RecordedCall(NamedTuple):
    """One call as it was recorded.

    Attributes:
        name: The function.
        arguments: Its arguments.
        result: What came back; anything but an object is served as ``{"result": ...}``.
        error: Why it failed; empty where it worked.
        code: The error's code.
    """

    name: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str = ""
    code: str = "RecordedError"


@dataclass(frozen=True, slots=True)
class Recording:
    """Functions and recorded calls, as canonical JSON so that equal ones share what is compiled.

    Attributes:
        functions: A list of ``{name, description, parameters, effect}``.
        calls: A list of the fields of ``RecordedCall``, in the order of the recording.
        ignorable: Argument names that never count.
    """

    functions: str
    calls: str
    ignorable: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        functions: Iterable[Mapping[str, Any]],
        calls: Iterable[RecordedCall],
        ignorable: Iterable[str] = (),
    ) -> Recording:
        """A recording of these.

        Args:
            functions: OpenAI-like schemas: ``name``, ``description``, ``parameters`` and, where
                known, ``effect`` (``read`` unless it says ``write`` or ``irreversible``).
            calls: In the order of the recording.
            ignorable: Argument names that never count.
        """
        described = [
            {
                "name": function["name"],
                "description": function.get("description", ""),
                "parameters": function.get("parameters", {"type": "object"}),
                "effect": function.get("effect", "read"),
            }
            for function in functions
        ]
        return cls(canonical(described), canonical([list(c) for c in calls]), tuple(ignorable))


class RecordedCatalogue(Catalogue):
    """The functions of a recording as operations, and its calls by what they ask.

    Attributes:
        recording: Where it comes from.
        calls: What a call asks, as ``key`` writes it -> its calls, in order.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        operations = tuple(_operation(f) for f in json.loads(recording.functions))
        super().__init__([Service("recorded", (), operations)])
        self.calls: dict[str, tuple[RecordedCall, ...]] = {}
        for fields in json.loads(recording.calls):
            call = RecordedCall(*fields)
            if call.name in self.operations:
                key = self.key(call.name, call.arguments)
                self.calls[key] = (*self.calls.get(key, ()), call)

    def key(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What makes two calls the same; no arguments are never the same as some."""
        counting = {k: v for k, v in arguments.items() if k not in self.recording.ignorable}
        form = canonical(self.schema(name).canonical(counting)) if counting else "nothing"
        return f"{name} {form}"

    def __reduce__(self) -> tuple[Any, ...]:
        return recorded_catalogue, (self.recording,)


@lru_cache(maxsize=256)
def recorded_catalogue(recording: Recording) -> RecordedCatalogue:
    """The catalogue of a recording."""
    return RecordedCatalogue(recording)


class RecordedCloud(Cloud):
    """A cloud without state of its own but how often each recorded call was served.

    Equal calls that were recorded more than once are served in their order. After the last one a
    read is served the same again; what changes something isn't, for nobody recorded that.

    Args:
        recording: What it remembers.
        account: The tenant that the dialogue is about.
        now: Logical seconds since 1970.
    """

    __slots__ = ()

    def __init__(self, recording: Recording, account: str, now: int) -> None:
        super().__init__(recorded_catalogue(recording), 0, account, now)

    def call(self, name: str, arguments: Any, actor: Actor = "assistant") -> CallResult:
        """Serve a recorded call, as ``Cloud.call`` would answer.

        Args:
            name: The function.
            arguments: The arguments as read from JSON, unchecked.
            actor: Who calls; only the assistant's calls were recorded.

        Returns:
            The recorded result or error; ``NotRecorded`` (404) where there is none.
        """
        self._calls += 1
        catalogue = cast("RecordedCatalogue", self.catalogue)
        if name not in catalogue.operations or actor != "assistant":
            return self._unknown(name)
        schema = catalogue.schema(name)
        problem = schema.problem(arguments)
        given, key = None, ""
        if problem is None or ArgumentSchema.readable(arguments):
            given = schema.canonical(arguments)
            key = catalogue.key(name, arguments)
        calls = catalogue.calls.get(key, ())
        if not calls:  # arguments that don't fit may still be what was recorded, as a failure
            if problem is not None:
                return self._refuse(problem.code, problem.message, 400, None)
            return self._refuse(NOT_RECORDED, f"This call of {name} was not recorded.", 404, given)
        served = self._created.get(key, 0)
        if served >= len(calls) and catalogue.operations[name].effect != "read":
            return self._refuse(
                NOT_RECORDED, f"This call of {name} was recorded {len(calls)} time(s).", 404, given
            )
        call = calls[min(served, len(calls) - 1)]
        self._created[key] = min(served + 1, len(calls))
        if call.error:
            envelope = {"Code": call.code, "Message": call.error, "HttpStatus": 400}
            return CallResult(False, envelope, call.code, given, ())
        result = call.result if isinstance(call.result, dict) else {"result": call.result}
        return CallResult(True, dict(result), "", given, ())

    def dump(self) -> dict[str, Any]:
        """As ``Cloud.dump``, with how often each call was served."""
        return {**super().dump(), "served": dict(sorted(self._created.items()))}


def _operation(function: Mapping[str, Any]) -> Operation:
    effect: Effect = function["effect"]
    return Operation(
        function["name"], function["description"], effect, function["parameters"], _never
    )


def _never(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    raise InvariantError("a recorded function is served, never run")
