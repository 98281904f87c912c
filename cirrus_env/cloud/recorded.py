"""A cloud that only remembers: what was recorded is served again, anything else is not recorded.

For imported tickets. A call finds a recorded one only if their arguments are equal in canonical
form in both directions: null is the same as left out, names that differ from run to run (such as
session tokens) don't count, and free wording counts by its words. Plain reads that nobody recorded
may be answered from a table that came with the recording (``cloud.lookup``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from cirrus_env.cloud.arguments import ArgumentSchema
from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.kernel import CallResult, Cloud
from cirrus_env.cloud.lookup import Lookup
from cirrus_env.cloud.model import Actor, Effect, Operation, Service
from cirrus_env.cloud.work import Work
from cirrus_env.errors import InvariantError
from cirrus_env.wire.jsontext import canonical

NOT_RECORDED: Final = "NotRecorded"
"""The code of a call that nobody recorded; counted apart from other errors."""

UNRECORDED_WRITES: Final = "unrecorded_writes"
"""The measure that counts well-formed calls that would have changed what nobody recorded."""

_UNRECORDED: Final = "#unrecorded"
_OUTSIDE: Final = re.compile(r'"\$(?:dynamic|recursive)?[rR]ef":"(?!#)|"(?:\$id|id)":"[^"]*[:/]')
_WORD: Final = re.compile(r"\w+")
_SMALL: Final = frozenset(
    ("a", "an", "the", "my", "your", "our", "to", "of", "for", "in", "on", "at", "with", "and")
)


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
        worded: Argument names that count by their words: case, signs, small words and the order of
            a list don't matter.
        lookups: A list of what ``Lookup.to_json`` gives.
    """

    functions: str
    calls: str
    ignorable: tuple[str, ...] = ()
    worded: tuple[str, ...] = ()
    lookups: str = "[]"

    @classmethod
    def of(
        cls,
        functions: Iterable[Mapping[str, Any]],
        calls: Iterable[RecordedCall],
        ignorable: Iterable[str] = (),
        worded: Iterable[str] = (),
        lookups: Iterable[Lookup] = (),
    ) -> Recording:
        """A recording of these.

        Args:
            functions: OpenAI-like schemas: ``name``, ``description``, ``parameters`` and, where
                known, ``effect`` (``read`` unless it says ``write`` or ``irreversible``).
            calls: In the order of the recording.
            ignorable: Argument names that never count.
            worded: Argument names that count by their words.
            lookups: Tables for reads that nobody recorded.
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
        return cls(
            canonical(described),
            canonical([list(c) for c in calls]),
            tuple(ignorable),
            tuple(worded),
            canonical([lookup.to_json() for lookup in lookups]),
        )


class Served(NamedTuple):
    """A recorded call, and the recorded changes that came before it.

    Attributes:
        call: It.
        after: Key -> how many calls of that key had changed something before it.
    """

    call: RecordedCall
    after: Mapping[str, int]


def schema_problem(parameters: Any) -> str:
    """Why a recorded function's parameters can't be used; empty where they can.

    A schema that refers to another document is refused unread: the validator would fetch it.
    """
    if not isinstance(parameters, Mapping) or parameters.get("type", "object") != "object":
        return "its parameters are no object schema"
    if not isinstance(parameters.get("properties", {}), Mapping):
        return "its properties are no object"
    try:
        if _OUTSIDE.search(canonical(parameters)):
            return "it refers to another document"
        schema = ArgumentSchema(parameters)
        schema.problem({})
        schema.canonical({})
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return f"no JSON Schema ({type(error).__name__})"
    return ""


class RecordedCatalogue(Catalogue):
    """The functions of a recording as operations, and its calls by what they ask.

    Attributes:
        recording: Where it comes from.
        keys: What each recorded call asks, in the order of the recording; empty where its function
            isn't offered.
        calls: What a call asks, as ``key`` writes it -> its calls, in order.
        lookups: Function -> the table that it reads.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        operations = tuple(_operation(f) for f in json.loads(recording.functions))
        measures = {UNRECORDED_WRITES: _unrecorded_writes}
        super().__init__([Service("recorded", (), operations, measures=measures)])
        self._ignorable = frozenset(recording.ignorable)
        self._worded = frozenset(recording.worded)
        self.keys: tuple[str, ...] = ()
        self.calls: dict[str, tuple[Served, ...]] = {}
        changes: dict[str, int] = {}
        for fields in json.loads(recording.calls):
            call, key = RecordedCall(*fields), ""
            if call.name in self.operations:
                key = self.key(call.name, call.arguments)
                served = Served(call, MappingProxyType(changes.copy()))
                self.calls[key] = (*self.calls.get(key, ()), served)
                if not call.error and self.operations[call.name].effect != "read":
                    changes[key] = changes.get(key, 0) + 1
            self.keys = (*self.keys, key)
        tables = map(Lookup.from_json, json.loads(recording.lookups))
        self.lookups = {table.function: table for table in tables}

    def key(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What makes two calls the same; no arguments are never the same as some."""
        counting = {
            k: _by_words(v) if k in self._worded else v
            for k, v in arguments.items()
            if k not in self._ignorable and v is not None
        }
        form = canonical(self.schema(name).canonical(counting)) if counting else "nothing"
        return f"{name} {form}"

    def __reduce__(self) -> tuple[Any, ...]:
        return recorded_catalogue, (self.recording,)


def worded(text: str) -> str:
    """Free wording as it counts: its words in order, without case, signs and small words."""
    words = [word for word in _WORD.findall(text.lower()) if word not in _SMALL]
    return " ".join(words) or text


def _by_words(value: Any) -> Any:
    """Free wording, or a list of it in any order, as it counts."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return sorted(map(worded, value))
    return worded(value) if isinstance(value, str) else value


@lru_cache(maxsize=256)
def recorded_catalogue(recording: Recording) -> RecordedCatalogue:
    """The catalogue of a recording."""
    return RecordedCatalogue(recording)


class RecordedCloud(Cloud):
    """A cloud without state of its own but how often each recorded call was served.

    Equal calls that were recorded more than once are served in their order, and a later one only
    when the changes recorded before it have been made. After the last one a read is served the same
    again; what changes something isn't, for nobody recorded that.

    Args:
        recording: What it remembers.
        account: The tenant that the dialogue is about.
        now: Logical seconds since 1970.
    """

    __slots__ = ()

    def __init__(self, recording: Recording, account: str, now: int) -> None:
        super().__init__(recorded_catalogue(recording), 0, account, now)

    def written(self, result: dict[str, Any]) -> str:
        """A result of ``call`` as canonical JSON; what was recorded may hold any number."""
        return canonical(result)

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
            return self._not_recorded(catalogue, name, given or {})
        place = min(self._created.get(key, 0), len(calls))
        if place == len(calls):
            if catalogue.operations[name].effect != "read":
                why = f"This call of {name} was recorded {len(calls)} time(s)."
                return self._refuse(NOT_RECORDED, why, 404, given)
            place -= 1
        while place and not self._reached(calls[place]):
            place -= 1
        call = calls[place].call
        self._created[key] = max(self._created.get(key, 0), place + 1)
        if call.error:
            envelope = {"Code": call.code, "Message": call.error, "HttpStatus": 400}
            return CallResult(False, envelope, call.code, given, ())
        result = call.result if isinstance(call.result, dict) else {"result": call.result}
        return CallResult(True, dict(result), "", given, ())

    def _reached(self, served: Served) -> bool:
        """Whether the recorded changes before it have been made."""
        return all(self._created.get(key, 0) >= times for key, times in served.after.items())

    def _not_recorded(
        self, catalogue: RecordedCatalogue, name: str, given: dict[str, Any]
    ) -> CallResult:
        """A table's answer, or none; what would have changed something is counted."""
        if catalogue.operations[name].effect != "read":
            self._created[_UNRECORDED] = self._created.get(_UNRECORDED, 0) + 1
        elif name in catalogue.lookups:
            table = catalogue.lookups[name]
            served = {key.partition(" ")[0] for key in self._created}
            answer = None if served.intersection(table.stale) else table.answer(given)
            if answer is not None:
                return CallResult(True, answer, "", given, ())
        return self._refuse(NOT_RECORDED, f"This call of {name} was not recorded.", 404, given)

    @property
    def unrecorded_writes(self) -> int:
        """Well-formed calls that would have changed what nobody recorded."""
        return self._created.get(_UNRECORDED, 0)

    def dump(self) -> dict[str, Any]:
        """As ``Cloud.dump``, with how often each call was served."""
        return {**super().dump(), "served": dict(sorted(self._created.items()))}


def _unrecorded_writes(cloud: Cloud, of: str) -> int:
    return cast("RecordedCloud", cloud).unrecorded_writes


def _operation(function: Mapping[str, Any]) -> Operation:
    effect: Effect = function["effect"]
    return Operation(
        function["name"], function["description"], effect, function["parameters"], _never
    )


def _never(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    raise InvariantError("a recorded function is served, never run")
