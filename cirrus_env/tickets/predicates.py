"""Predicates: the closed table of what a ticket can say about state, calls and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Test = Literal["is", "not", "at_least", "at_most"]


@dataclass(frozen=True, slots=True)
class State:
    """A field of a record passes a test; false where the record doesn't exist."""

    kind: str
    id: str
    field: str
    test: Test
    value: Any


@dataclass(frozen=True, slots=True)
class Exists:
    """The record exists."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The record doesn't exist."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Untouched:
    """No field of the record has changed since set-up."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Measure:
    """A service's measure passes a test."""

    name: str
    of: str
    test: Test
    value: int


@dataclass(frozen=True, slots=True)
class Called:
    """A successful call.

    Attributes:
        operation: The operation.
        arguments: Arguments that it had (others don't matter).
        returned: A text that the result names as a whole string value anywhere, such as an id.
        not_returned: A text that it doesn't name.
        showing: Fields that one object of the result shows together (with ``returned``: the object
            that holds it).
        after: A checkpoint that had passed at an earlier step.
        before: A checkpoint that had not passed yet.
    """

    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    returned: str = ""
    not_returned: str = ""
    showing: Mapping[str, Any] = field(default_factory=dict)
    after: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Calls of an imported ticket's recording have been made again, with success.

    Attributes:
        operation: The operation.
        key: What the recorded call asks, as its catalogue writes it; equal in both directions.
        times: How many such calls there must have been: one for each recorded one.
    """

    operation: str
    key: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Told:
    """The assistant told the slot's right value (and the judge says so)."""

    slot: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The assistant asked for the fact and the customer answered."""

    fact: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """The customer agreed to the operation on this resource."""

    operation: str
    id: str


@dataclass(frozen=True, slots=True)
class CustomerDid:
    """The customer did the console action, with success."""

    action: str


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; never empty."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A part holds; never empty."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """No part holds; never evidence on its own."""

    parts: tuple[Predicate, ...]


Predicate = (
    State
    | Exists
    | Absent
    | Untouched
    | Measure
    | Called
    | Recorded
    | Told
    | Asked
    | Agreed
    | CustomerDid
    | All
    | AnyOf
    | Not
)
