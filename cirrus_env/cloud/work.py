"""The change-set that an operation builds; the kernel commits it or throws it away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from cirrus_env.cloud.model import Actor, AuditEntry, Posting, Resource, Transition, draw_id
from cirrus_env.errors import InvariantError
from cirrus_env.world import Stream

if TYPE_CHECKING:
    from cirrus_env.cloud.kernel import Cloud

R = TypeVar("R", bound=Resource)


class Work:
    """What one operation reads and means to change.

    Reads see the tenant's own records and this change-set's own writes; other tenants don't exist.

    Attributes:
        tenant: The account acted for.
        now: Logical seconds (since 1970).
        actor: Who acts.
        operation: The operation's name.
    """

    __slots__ = (
        "_cloud", "_created", "_writes", "actor", "events", "now", "operation", "postings",
        "tenant", "transitions",
    )  # fmt: skip

    def __init__(self, cloud: Cloud, tenant: str, actor: Actor, operation: str) -> None:
        self._cloud = cloud
        self.tenant = tenant
        self.now = cloud.now
        self.actor: Actor = actor
        self.operation = operation
        self._writes: dict[tuple[str, str], Resource | None] = {}
        self._created: dict[str, int] = {}
        self.postings: list[Posting] = []
        self.transitions: list[Transition] = []
        self.events: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def writes(self) -> Mapping[tuple[str, str], Resource | None]:
        """(kind, id) -> the new record, None where it is deleted."""
        return self._writes

    @property
    def created(self) -> Mapping[str, int]:
        """Kind -> how many new ids were drawn."""
        return self._created

    @property
    def empty(self) -> bool:
        """Whether the change-set changes nothing and tells nobody anything."""
        return not (self._writes or self.events or self.postings or self.transitions)

    def answers(self, event: str) -> bool:
        """Whether a service of this world answers the event."""
        return event in self._cloud.catalogue.handlers

    def get(self, kind: type[R], id: str) -> R | None:
        """The tenant's record of this kind and id, or None."""
        record = self.peek(kind.kind, id)
        return record if isinstance(record, kind) else None

    def peek(self, kind: str, id: str) -> Resource | None:
        """As ``get``, for another service's kind, by its name."""
        if self._writes and (kind, id) in self._writes:
            return self._writes[kind, id]
        return self._cloud.records(kind, self.tenant).get(id)

    def all(self, kind: type[R]) -> list[R]:
        """The tenant's records of this kind, oldest first."""
        return [record for record in self.peek_all(kind.kind) if isinstance(record, kind)]

    def peek_all(self, kind: str) -> list[Resource]:
        """As ``all``, for another service's kind, by its name."""
        stored = self._cloud.records(kind, self.tenant)
        if not self._writes:
            return list(stored.values())
        merged = dict(stored)
        for (written, id), record in self._writes.items():
            if written != kind:
                continue
            if record is None:
                merged.pop(id, None)
            else:
                merged[id] = record
        return list(merged.values())

    def linked(self, kind: str, target: str) -> list[Resource]:
        """The tenant's records of this kind that refer to ``target`` by the kind's link."""
        ids = self._cloud.linked(kind, target, self.tenant)
        if not self._writes:
            return [record for id in ids if (record := self.peek(kind, id)) is not None]
        link = self._cloud.catalogue.links.get(kind)
        if link is None:
            return []
        candidates = dict.fromkeys((*ids, *(id for k, id in self._writes if k == kind)))
        records = (self.peek(kind, id) for id in candidates)
        return [r for r in records if r is not None and getattr(r, link.field) == target]

    def put(self, record: Resource) -> None:
        """Write a record, new or changed."""
        self._own(record)
        self._writes[record.kind, record.id] = record

    def change(self, record: R, **fields: Any) -> R:
        """Write ``record`` with some fields changed; returns the new record."""
        changed = replace(record, **fields)
        self.put(changed)
        return changed

    def delete(self, record: Resource) -> None:
        """Delete a record."""
        self._own(record)
        self._writes[record.kind, record.id] = None

    def _own(self, record: Resource) -> None:
        if record.tenant != self.tenant:
            raise InvariantError(f"{self.operation} of {self.tenant} writes {record}")

    def later(self, seconds: int, record: Resource, **changes: Any) -> None:
        """Change the record when the clock has moved on by ``seconds``.

        Happens only if the record then still has the status that it has now.
        """
        status = getattr(record, "status", None)
        expected = (("status", status),) if status is not None else ()
        self.transitions.append(
            Transition(
                self.now + seconds, record.tenant, record.kind, record.id, expected,
                tuple(changes.items()),
            )
        )  # fmt: skip

    def post(
        self, debit: str, credit: str, cents: int, *, item: str, resource: str, memo: str = ""
    ) -> None:
        """Move money; nothing happens for 0 cents."""
        if cents:
            self.postings.append(Posting(self.now, debit, credit, cents, item, resource, memo))

    def emit(self, event: str, **data: Any) -> None:
        """Tell other services; their handlers run inside this change-set."""
        self.events.append((event, data))

    def balance(self, account: str) -> int:
        """The account's cents, this change-set's postings included."""
        balance = self._cloud.ledger.balance(account)
        for posting in self.postings:
            if posting.credit == account:
                balance += posting.cents
            if posting.debit == account:
                balance -= posting.cents
        return balance

    def ledger_postings(self) -> list[Posting]:
        """All booked postings that touch this tenant's accounts, oldest first."""
        suffix = ":" + self.tenant
        return [
            p for p in self._cloud.ledger.postings
            if p.debit.endswith(suffix) or p.credit.endswith(suffix)
        ]  # fmt: skip

    def new_id(self, kind: type[Resource]) -> str:
        """An id that no record of this kind has, in any account."""
        while True:
            id = draw_id(kind, self.stream(kind.kind))
            if (kind.kind, id) not in self._writes and not self._cloud.taken(kind.kind, id):
                return id

    def rates(self, record: Resource) -> tuple[tuple[str, int], ...]:
        """The accrual rates of any record: (item, cents an hour)."""
        return self._cloud.rates(record)

    def billable(self) -> list[Resource]:
        """All records of the tenant whose kind has accrual rates, kind by kind."""
        return [r for kind in self._cloud.catalogue.rates for r in self.peek_all(kind)]

    def find_billable(self, id: str) -> Resource | None:
        """The tenant's record of this id among those of kinds with accrual rates."""
        for kind in self._cloud.catalogue.rates:
            record = self.peek(kind, id)
            if record is not None:
                return record
        return None

    def changes_since(self, moment: int) -> list[AuditEntry]:
        """What has been committed for this tenant after the moment, oldest first."""
        entries = []
        for entry in reversed(self._cloud.audit):
            if entry.at <= moment:
                break
            record = entry.after or entry.before
            if record is not None and record.tenant == self.tenant:
                entries.append(entry)
        entries.reverse()
        return entries

    def stream(self, kind: str) -> Stream:
        """The stream that the next new record of this kind draws from."""
        number = self._cloud.created(kind) + self._created.get(kind, 0)
        self._created[kind] = self._created.get(kind, 0) + 1
        return Stream(self._cloud.seed, f"created:{kind}:{number}")
