"""The kernel: state, clock, calls, commits, snapshots. Services are data to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.ledger import Ledger, LedgerMark
from cirrus_env.cloud.model import Actor, AuditEntry, Resource, Transition
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError, InvariantError
from cirrus_env.wire.jsontext import canonical
from cirrus_env.world.clock import HOUR

_NOTHING: Mapping[str, Resource] = MappingProxyType({})
_Table = dict[str, Resource]
_Index = dict[str, tuple[str, ...]]
_Key = tuple[str, str]


class CallResult(NamedTuple):
    """What a call came to.

    Attributes:
        ok: Whether the operation succeeded.
        result: The response body, or the error envelope.
        code: The error code; empty on success.
        arguments: The canonical arguments (None where they could not be read).
        changed: The audit entries that it caused.
        replayed: Whether a repeated client token gave back the first call's result.
    """

    ok: bool
    result: dict[str, Any]
    code: str
    arguments: dict[str, Any] | None
    changed: tuple[AuditEntry, ...]
    replayed: bool = False


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
    tokens: dict[tuple[str, str], tuple[str, dict[str, Any]]]
    calls: int


class Cloud:
    """One world: the ticket's account and its neighbours.

    Args:
        catalogue: The services that exist in it.
        seed: Where new ids come from.
        account: The tenant that tools and the customer act for.
        now: Logical seconds since 1970.
    """

    __slots__ = (
        "_audit", "_calls", "_created", "_indexes", "_owned", "_owned_indexes", "_pending",
        "_tables", "_tokens", "account", "catalogue", "ledger", "now", "seed",
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
        self._tokens: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        self._calls = 0

    # -- reading -----------------------------------------------------------------------------

    @property
    def audit(self) -> list[AuditEntry]:
        """Every change since set-up, oldest first."""
        return self._audit

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
            targets = self.records(link.target, tenant)
            for id, record in table.items():
                target = getattr(record, link.field)
                if target and target not in targets:
                    found.append((kind, id, target))
        return found

    def tenants(self) -> tuple[str, ...]:
        """All accounts that own something, sorted."""
        return tuple(sorted({tenant for tenant, _ in self._tables}))

    def created(self, kind: str) -> int:
        """How many records of the kind operations have made."""
        return self._created.get(kind, 0)

    def rates(self, record: Resource) -> tuple[tuple[str, int], ...]:
        """(item, cents an hour) of a record as it is now."""
        rates = self.catalogue.rates.get(record.kind)
        return rates(record, self.now) if rates else ()

    def measure(self, name: str, of: str) -> int:
        """A service's measure of the true state."""
        return self.catalogue.measures[name](self, of)

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

    def advance(self, seconds: int) -> None:
        """Move the clock on, with every transition and full hour on the way in order of time."""
        if seconds < 0:
            raise InvariantError("the clock goes forward only")
        end = self.now + seconds
        if self.now // HOUR == end // HOUR and all(p.due > end for p in self._pending):
            self.now = end
            return
        while True:
            hour = (self.now // HOUR + 1) * HOUR
            due = min((p.due for p in self._pending), default=end + 1)
            moment = min(hour, due)
            if moment > end:
                break
            self.now = max(self.now, moment)
            if due <= hour:
                self._transit()
            if moment == hour and "clock.hour" in self.catalogue.handlers:
                for tenant in self.tenants():
                    self._system("clock.hour", tenant)
        self.now = end

    def call(self, name: str, arguments: Any, actor: Actor = "assistant") -> CallResult:
        """Run an operation.

        Args:
            name: The operation; an unknown one, or another actor's, is a typed error.
            arguments: The arguments as read from JSON, unchecked.
            actor: Who calls.

        Returns:
            What it came to. Nothing has changed unless ``ok``.
        """
        self._calls += 1
        operation = self.catalogue.operations.get(name)
        if operation is None or operation.actor != actor:
            return self._refuse("InvalidAction.NotFound", f"there is no tool {name!r}", 404, None)
        schema = self.catalogue.schema(name)
        problem = schema.problem(arguments)
        if problem is not None:
            return self._refuse(problem.code, problem.message, 400, None)
        given = schema.canonical(arguments)
        token = given.get("ClientToken")
        key = (name, token) if token else None
        if key and key in self._tokens:
            first, result = self._tokens[key]
            if first != canonical(given):
                return self._refuse(
                    "IdempotentParameterMismatch",
                    "The ClientToken was used before with other arguments.", 400, given,
                )  # fmt: skip
            return CallResult(True, result, "", given, (), replayed=True)
        work = Work(self, self.account, actor, name)
        try:
            result = operation.run(work, given)
            if given.get("DryRun"):
                raise CloudError("DryRunOperation", "The request would have succeeded.", 400)
            changed = self._commit(work)
            if changed and operation.effect == "read":
                raise InvariantError(f"{name} is a read and changed {changed}")
        except CloudError as error:
            return self._refuse(error.code, error.message, error.status, given)
        result = {**result, "RequestId": self._request_id()}
        if key:
            self._tokens[key] = (canonical(given), result)
        return CallResult(True, result, "", given, changed)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Mark:
        """A mark to come back to; cheap, whatever the world's size."""
        self._share()
        return Mark(
            self.now, self._tables.copy(), self._indexes.copy(), self.ledger.mark(), self._audit,
            len(self._audit),
            self._pending, self._created.copy(), self._tokens.copy(), self._calls,
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

    def _commit(self, work: Work) -> tuple[AuditEntry, ...]:
        if work.empty:
            return ()
        seen = 0
        while seen < len(work.events):
            event, data = work.events[seen]
            seen += 1
            for handler in self.catalogue.handlers.get(event, ()):
                handler(work, data)
        entries = []
        for (kind, id), after in work.writes.items():
            before = self.records(kind, work.tenant).get(id)
            if before is after or before == after:
                continue
            self._check_transition(kind, before, after)
            entries.append(AuditEntry(self.now, work.actor, work.operation, before, after))
        self.ledger.append(work.postings)
        for entry in entries:
            self._apply(entry)
        self._audit.extend(entries)
        self._pending = (*self._pending, *work.transitions)
        for kind, count in work.created.items():
            self._created[kind] = self._created.get(kind, 0) + count
        return tuple(entries)

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

    def _check_transition(self, kind: str, before: Resource | None, after: Resource | None) -> None:
        if before is None or after is None:
            return
        allowed = self.catalogue.lifecycle.get(kind)
        if allowed is None:
            return
        pair = (getattr(before, "status"), getattr(after, "status"))  # noqa: B009
        if pair[0] != pair[1] and pair not in allowed:
            raise InvariantError(f"{kind} {before.id} goes from {pair[0]} to {pair[1]}")

    def _transit(self) -> None:
        due = sorted((p for p in self._pending if p.due <= self.now), key=_due)
        self._pending = tuple(p for p in self._pending if p.due > self.now)
        for transition in due:
            record = self.records(transition.kind, transition.tenant).get(transition.id)
            if record is None or any(getattr(record, k) != v for k, v in transition.expected):
                continue
            after = replace(record, **dict(transition.changes))
            work = Work(self, transition.tenant, "system", "transition")
            work.put(after)
            status = getattr(after, "status", "")
            work.emit(f"{transition.kind}.{status}", record=after, before=record)
            self._commit(work)

    def _system(self, event: str, tenant: str) -> None:
        work = Work(self, tenant, "system", event)
        work.emit(event)
        self._commit(work)

    def _request_id(self) -> str:
        raw = blake2b(f"{self.seed}:request:{self._calls}".encode(), digest_size=16).hexdigest()
        raw = raw.upper()
        return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"

    def _refuse(
        self, code: str, message: str, status: int, given: dict[str, Any] | None
    ) -> CallResult:
        envelope = {
            "Code": code, "Message": message, "HttpStatus": status, "RequestId": self._request_id(),
        }  # fmt: skip
        return CallResult(False, envelope, code, given, ())


def _due(transition: Transition) -> int:
    return transition.due


def as_json(record: Resource) -> dict[str, Any]:
    """A record's fields as JSON."""
    return {f.name: _plain(getattr(record, f.name)) for f in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value)}
    return value


def replay(cloud: Cloud, entries: Iterable[AuditEntry]) -> None:
    """Apply audit entries to a cloud as set up: it then has the state of the one they are from."""
    for entry in entries:
        cloud._apply(entry)
