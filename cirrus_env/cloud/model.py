"""The cloud's building blocks: resources, operations, services and what a change is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from cirrus_env.cloud.kernel import Cloud
    from cirrus_env.cloud.work import Work
    from cirrus_env.world import Stream

Effect = Literal["read", "write", "irreversible"]
Actor = Literal["assistant", "customer", "system"]
Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""Per language: phrase groups; all of the groups, any phrase of a group."""

PROVIDER: Final = "provider"
"""The ledger account that the provider's revenue goes to."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Base of every record in the cloud's state; each service derives its own kinds.

    Attributes:
        kind: The kind's name, such as ``ecs.instance``.
        id_prefix: How the ids of this kind begin.
        id: Unique in the whole cloud.
        tenant: The account that owns it.
    """

    kind: ClassVar[str] = ""
    id_prefix: ClassVar[str] = ""

    id: str
    tenant: str


def draw_id(kind: type[Resource], stream: Stream) -> str:
    """An id of this kind's shape, such as ``i-bp1`` and 17 letters or digits."""
    return kind.id_prefix + stream.letters(17)


class Link(NamedTuple):
    """A kind's reference to another kind.

    Attributes:
        field: The field that holds the other record's id; empty where there is none.
        target: The other kind.
        kept: Whether the reference is kept when the other record is gone, as history.
        also: Further kinds that the reference may lead to.
    """

    field: str
    target: str
    kept: bool = False
    also: tuple[str, ...] = ()


class Posting(NamedTuple):
    """One ledger entry: ``cents`` move from ``debit`` to ``credit``.

    Account names: ``cash:<tenant>``, ``voucher:<tenant>``, ``provider`` and whatever a service
    names.
    """

    at: int
    debit: str
    credit: str
    cents: int
    item: str
    resource: str
    memo: str


class AuditEntry(NamedTuple):
    """One changed record: ``before`` and ``after`` are None where it didn't exist."""

    at: int
    actor: Actor
    operation: str
    before: Resource | None
    after: Resource | None


class Transition(NamedTuple):
    """A change that the clock brings: at ``due``, if the record still has all of ``expected``."""

    due: int
    tenant: str
    kind: str
    id: str
    expected: tuple[tuple[str, Any], ...]
    changes: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a service.

    Attributes:
        name: The provider's name, such as ``StopInstance``.
        description: One or two sentences for the tool schema.
        effect: What it does to the state; a read never changes anything.
        parameters: The JSON Schema of the arguments (``type: object``, ASCII classes only,
            ``additionalProperties: false``).
        run: ``run(work, arguments) -> result``; raises ``CloudError`` to refuse. All changes go
            through ``work``, which the kernel commits only when ``run`` returns.
        resource: The argument that names the resource acted on, for consent; empty for none.
        propose: How an assistant puts this operation to the customer, per language.
        actor: Who may call it: an assistant's tool or a customer's own action (console, probe).
    """

    name: str
    description: str
    effect: Effect
    parameters: Mapping[str, Any]
    run: Callable[[Work, dict[str, Any]], dict[str, Any]]
    resource: str = ""
    propose: Phrases = field(default_factory=dict)
    actor: Literal["assistant", "customer"] = "assistant"

    def target(self, arguments: Mapping[str, Any]) -> str:
        """The id of what a call acts on; empty for none. A list of one id as text is that id."""
        value = str(arguments.get(self.resource, "")) if self.resource else ""
        if value.startswith('["') and value.endswith('"]') and value.count('"') == 2:
            return value[2:-2]
        return value


Rates = Callable[[Any, int], tuple[tuple[str, int], ...]]
"""``rates(record, now)`` -> (billing item, cents an hour) while the record is as it is."""

Measure = Callable[["Cloud", str], int]
"""``measure(cloud, of)`` -> an integer read from the true state."""

Handler = Callable[["Work", Mapping[str, Any]], None]
"""Answers a cross-service event inside the same change-set."""


@dataclass(frozen=True, slots=True)
class Service:
    """One service of the cloud, as data.

    Attributes:
        name: The folder's name.
        kinds: The kinds of record that it owns.
        operations: Its operations, tools and customer actions alike.
        lifecycle: For each kind with a ``status``: the declared (from, to) pairs.
        rates: For each billable kind: its accrual rates.
        measures: Pure functions of the state that predicates and placeholders may read.
        handlers: Event name -> handler.
        links: For each kind that refers to another: how. The kernel keeps an index of these, so
            that ``Work.linked`` costs the same in a large world.
    """

    name: str
    kinds: tuple[type[Resource], ...]
    operations: tuple[Operation, ...]
    lifecycle: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    rates: Mapping[str, Rates] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
