"""What a cloud holds: records, money, clock and logs; read, written and snapshotted here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.faults import FaultPlan
from cirrus_env.cloud.ledger import Ledger, LedgerMark
from cirrus_env.cloud.model import AuditEntry, Resource, Transition
from cirrus_env.errors import InvariantError

_NOTHING: Mapping[str, Resource] = MappingProxyType({})
_Table = dict[str, Resource]
_Index = dict[str, tuple[str, ...]]
_Key = tuple[str, str]


S = TypeVar("S", bound="State")


class Mark(NamedTuple):
    """A snapshot; opaque."""

    now: int
    tables: dict[_Key, _Table]
    indexes: dict[_Key, _Index]
    ledger: LedgerMark
    audit: list[AuditEntry]
    audited: int
    pending: tuple[Transition, ...]
    created: dict[str, int]
    tokens: dict[_Key, tuple[str, str]]
    calls: int
    earlier: tuple[Mark, int] | None = None


class State:
    """The records of all accounts, the ledger, the clock and the audit log.

    Tables are copied before the first write after a mark or a fork, so that those cost the same
    in a large world. Records themselves never change.

    Args:
        catalogue: The services that exist in it.
        seed: Where new ids come from.
        account: The tenant that tools and the customer act for.
        now: Logical seconds since 1970.

    Attributes:
        faults: The faults that an assistant's calls meet; None for none. No part of the state:
            marks leave it as it is.
    """

    __slots__ = (
        "_audit", "_calls", "_created", "_earlier", "_indexes", "_owned", "_owned_indexes",
        "_pending", "_tables", "_tokens", "account", "catalogue", "faults", "ledger", "now", "seed",
    )  # fmt: skip

    def __init__(self, catalogue: Catalogue, seed: int, account: str, now: int) -> None:
        self.catalogue = catalogue
        self.seed = seed
        self.account = account
        self.now = now
        self.ledger = Ledger()
        self._audit: list[AuditEntry] = []
        self._tables: dict[_Key, _Table] = {}
        self._owned: set[_Key] = set()
        self._indexes: dict[_Key, _Index] = {}
        self._owned_indexes: set[_Key] = set()
        self._pending: tuple[Transition, ...] = ()
        self._created: dict[str, int] = {}
        self._tokens: dict[_Key, tuple[str, str]] = {}
        self._calls = 0
        self.faults: FaultPlan | None = None
        self._earlier: tuple[Mark, int] | None = None

    # -- reading -----------------------------------------------------------------------------

    @property
    def audit(self) -> list[AuditEntry]:
        """Every change since set-up, oldest first."""
        return self._audit

    @property
    def pending(self) -> tuple[Transition, ...]:
        """What the clock is going to bring."""
        return self._pending

    def records(self, kind: str, tenant: str | None = None) -> Mapping[str, Resource]:
        """The tenant's records of a kind by id; the ticket's account where none is named."""
        return self._tables.get((tenant or self.account, kind), _NOTHING)

    def find(self, kind: str, id: str) -> Resource | None:
        """A record of the ticket's account, or None."""
        return self.records(kind).get(id)

    def linked(self, kind: str, target: str, tenant: str | None = None) -> tuple[str, ...]:
        """Ids of the tenant's records of a kind that refer to ``target`` by the kind's link."""
        index = self._indexes.get((tenant or self.account, kind))
        return index.get(target, ()) if index else ()

    def taken(self, kind: str, id: str) -> bool:
        """Whether any account has a record of this kind and id."""
        return any(k == kind and id in table for (_, k), table in self._tables.items())

    def dangling(self) -> list[tuple[str, str, str]]:
        """(kind, id, target id) of every reference that leads nowhere, in the owner's account."""
        found = []
        for (tenant, kind), table in sorted(self._tables.items()):
            link = self.catalogue.links.get(kind)
            if link is None or link.kept or link.target not in self.catalogue.kinds:
                continue
            kinds = [self.records(target, tenant) for target in (link.target, *link.also)]
            for id, record in table.items():
                target = getattr(record, link.field)
                if target and not any(target in targets for targets in kinds):
                    found.append((kind, id, target))
        return found

    def tenants(self) -> tuple[str, ...]:
        """All accounts that own something, sorted."""
        return tuple(sorted({tenant for tenant, _ in self._tables}))

    def created(self, kind: str) -> int:
        """How many records of the kind operations have made."""
        return self._created.get(kind, 0)

    def dump(self) -> dict[str, Any]:
        """The whole state as JSON: what a digest of it covers."""
        tables: dict[str, Any] = {}
        for (tenant, kind), table in sorted(self._tables.items()):
            if table:
                tables[f"{tenant}/{kind}"] = {key: as_json(table[key]) for key in sorted(table)}
        return {
            "now": self.now,
            "records": tables,
            "ledger": [list(p) for p in self.ledger.postings],
            "pending": [[p.due, p.kind, p.id] for p in self._pending],
        }

    # -- writing -----------------------------------------------------------------------------

    def insert(self, record: Resource) -> None:
        """Set-up only: place a record that isn't in the audit log."""
        self._set(record.tenant, record.kind, record.id, record)

    def schedule(self, transition: Transition) -> None:
        """Set-up only: a change that the clock will bring."""
        self._pending = (*self._pending, transition)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Mark:
        """A mark to come back to; cheap, whatever the world's size."""
        self._share()
        return Mark(
            self.now, self._tables.copy(), self._indexes.copy(), self.ledger.mark(), self._audit,
            len(self._audit),
            self._pending, self._created.copy(), self._tokens.copy(), self._calls, self._earlier,
        )  # fmt: skip

    def restore(self, mark: Mark) -> None:
        """Go to a mark of this cloud or of its origin, backward or forward; others stay good."""
        self._share()
        self.now = mark.now
        self._tables = mark.tables.copy()
        self._indexes = mark.indexes.copy()
        self.ledger.restore(mark.ledger)
        self._audit = mark.audit[: mark.audited]
        self._pending = mark.pending
        self._created = mark.created.copy()
        self._tokens = mark.tokens.copy()
        self._calls = mark.calls
        self._earlier = mark.earlier

    def fork(self) -> Self:
        """An independent cloud in the same state."""
        other = object.__new__(type(self))
        self._share()
        other.catalogue, other.seed = self.catalogue, self.seed
        other.account, other.now = self.account, self.now
        other.ledger = self.ledger.copy()
        other._audit = self._audit.copy()
        other._tables = self._tables.copy()
        other._indexes = self._indexes.copy()
        other._owned, other._owned_indexes = set(), set()
        other._pending = self._pending
        other._created = self._created.copy()
        other._tokens = self._tokens.copy()
        other._calls = self._calls
        other.faults, other._earlier = self.faults, self._earlier
        return other

    def __copy__(self) -> Self:
        return self.fork()

    def __deepcopy__(self, memo: object) -> Self:
        return self.fork()  # records are immutable, so that sharing them is as good

    # -- inside ------------------------------------------------------------------------------

    def _table(self, key: tuple[str, str]) -> _Table:
        table = self._tables.get(key)
        if table is None or key not in self._owned:
            table = self._tables[key] = dict(table) if table else {}
            self._owned.add(key)
        return table

    def _share(self) -> None:
        """From now on the tables belong to a mark or a fork as well: copy before writing."""
        self._owned.clear()
        self._owned_indexes.clear()

    def _apply(self, entry: AuditEntry) -> None:
        record = entry.after or entry.before
        if record is None:
            raise InvariantError("an audit entry of nothing")
        self._set(record.tenant, record.kind, record.id, entry.after)

    def _set(self, tenant: str, kind: str, id: str, after: Resource | None) -> None:
        key = (tenant, kind)
        table = self._table(key)
        link = self.catalogue.links.get(kind)
        if link is not None:
            before = table.get(id)
            old: str = getattr(before, link.field) if before is not None else ""
            new: str = getattr(after, link.field) if after is not None else ""
            if old != new:
                self._relink(key, id, old, new)
        if after is None:
            table.pop(id, None)
        else:
            table[id] = after

    def _relink(self, key: _Key, id: str, old: str, new: str) -> None:
        index = self._indexes.get(key, {})
        if key not in self._owned_indexes:
            index = self._indexes[key] = dict(index)
            self._owned_indexes.add(key)
        if old:
            index[old] = tuple(other for other in index[old] if other != id)
        if new:
            index[new] = (*index.get(new, ()), id)


def as_json(record: Resource) -> dict[str, Any]:
    """A record's fields as JSON."""
    return {f.name: _plain(getattr(record, f.name)) for f in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def replay(state: State, entries: Iterable[AuditEntry]) -> None:
    """Apply audit entries to what was set up: it then has the records that they lead to."""
    for entry in entries:
        state._apply(entry)


def rebuild(origin: S, logs: State) -> S:
    """Rebuild a state from the one that it started as and its two logs.

    Args:
        origin: An earlier state of ``logs``, such as its set-up; stays as it is.
        logs: What is rebuilt: its audit log, ledger and clock are read, none of its records.

    Returns:
        The state that ``logs`` has to be in.
    """
    state = origin.fork()
    entries = logs.audit[len(origin.audit) :]
    replay(state, entries)
    state._audit.extend(entries)
    state.ledger.append(logs.ledger.postings[len(origin.ledger.postings) :])
    state.now, state._pending = logs.now, logs._pending
    return state
