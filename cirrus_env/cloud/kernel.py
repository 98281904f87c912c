"""The kernel: calls, commits and the clock. Services are data to it."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from cirrus_env.cloud.faults import STALE_SECONDS, Fault, smaller_page
from cirrus_env.cloud.model import Actor, AuditEntry, Operation, Resource, Transition
from cirrus_env.cloud.state import Mark, State, rebuild, replay
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError, InvariantError
from cirrus_env.wire.jsontext import canonical, canonical_result
from cirrus_env.world.clock import HOUR


class CallResult(NamedTuple):
    """What a call came to.

    Attributes:
        ok: Whether the operation succeeded.
        result: The response body, or the error envelope.
        code: The error code; empty on success.
        arguments: The canonical arguments (None where they could not be read).
        changed: The audit entries that it caused. A fault may have lost the answer to a call that
            was carried out: then there are some although it isn't ``ok``.
        replayed: Whether a repeated client token gave back the first call's result.
    """

    ok: bool
    result: dict[str, Any]
    code: str
    arguments: dict[str, Any] | None
    changed: tuple[AuditEntry, ...]
    replayed: bool = False


class Cloud(State):
    """One world: the ticket's account and its neighbours, with what can be done in it.

    Args:
        catalogue: The services that exist in it.
        seed: Where new ids come from.
        account: The tenant that tools and the customer act for.
        now: Logical seconds since 1970.
    """

    __slots__ = ()

    def rates(self, record: Resource) -> tuple[tuple[str, int], ...]:
        """(item, cents an hour) of a record as it is now."""
        rates = self.catalogue.rates.get(record.kind)
        return rates(record, self.now) if rates else ()

    def measure(self, name: str, of: str) -> int:
        """A service's measure of the true state."""
        return self.catalogue.measures[name](self, of)

    def advance(self, seconds: int) -> None:
        """Move the clock on, with every transition and full hour on the way in order of time."""
        if seconds < 0:
            raise InvariantError("the clock goes forward only")
        end = self.now + seconds
        if self.now // HOUR == end // HOUR:
            if not self._pending or min(p.due for p in self._pending) > end:
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
            if moment == hour:
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
            return self._unknown(name)
        schema = self.catalogue.schema(name)
        problem = schema.problem(arguments)
        if problem is not None:
            return self._refuse(problem.code, problem.message, 400, None)
        given = schema.canonical(arguments)
        fault = None
        if self.faults is not None and actor == "assistant":
            fault = self.faults.drawn(self._calls, operation.effect)
            if fault == "throttling":
                return self._refuse("Throttling.User", "Too many requests; try later.", 400, given)
        token = given.get("ClientToken")
        key = (name, token) if token else None
        if key and key in self._tokens:
            first, answer = self._tokens[key]
            if first != canonical(given):
                return self._refuse(
                    "IdempotentParameterMismatch",
                    "The ClientToken was used before with other arguments.", 400, given,
                )  # fmt: skip
            return CallResult(True, json.loads(answer), "", given, (), replayed=True)
        read = fault in ("stale", "partial")
        before = None if self.faults is None or operation.effect == "read" else self.snapshot()
        work = Work(self, self.account, actor, name)
        try:
            result = self._faulty(operation, given, fault) if read else operation.run(work, given)
            if given.get("DryRun"):
                self._settle(work)
                raise CloudError("DryRunOperation", "The request would have succeeded.", 400)
            changed: tuple[AuditEntry, ...] = ()
            if not work.empty:
                if operation.effect == "read":
                    raise InvariantError(f"{name} is a read and means to change something")
                changed = self._commit(work)
        except CloudError as error:
            return self._refuse(error.code, error.message, error.status, given)
        result = result | {"RequestId": self._request_id()}
        if key:
            self._tokens[key] = (canonical(given), json.dumps(result, ensure_ascii=False))
        if before is not None and changed:
            self._earlier = (before._replace(earlier=None), self.now)
        if fault == "timeout":
            lost = self._refuse("ServiceUnavailable", "No answer came in time.", 503, given)
            return lost._replace(changed=changed)
        return CallResult(True, result, "", given, changed)

    def written(self, result: dict[str, Any]) -> str:
        """A result of ``call`` as canonical JSON."""
        return canonical_result(result)

    # -- inside ------------------------------------------------------------------------------

    def _faulty(
        self, operation: Operation, given: dict[str, Any], fault: Fault | None
    ) -> dict[str, Any]:
        """What a read gives from the state of a moment before, or on a smaller page."""
        source = self
        if fault == "partial":
            given = smaller_page(operation.parameters, given)
        elif self._earlier is not None and self.now - self._earlier[1] <= STALE_SECONDS:
            source = self.fork()
            source.restore(self._earlier[0])
        return operation.run(Work(source, self.account, "assistant", operation.name), given)

    def _settle(self, work: Work) -> None:
        """Let other services answer the change-set's events, and the events of their answers."""
        seen = 0
        while seen < len(work.events):
            event, data = work.events[seen]
            seen += 1
            for handler in self.catalogue.handlers.get(event, ()):
                handler(work, data)

    def _commit(self, work: Work) -> tuple[AuditEntry, ...]:
        if work.empty:
            return ()
        self._settle(work)
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
            self._by_itself(work)
            event = f"{transition.kind}.{getattr(after, 'status', '')}"
            self._system(event, transition.tenant, record=after, before=record)

    def _system(self, event: str, tenant: str, **data: Any) -> None:
        if event in self.catalogue.handlers:
            work = Work(self, tenant, "system", event)
            work.emit(event, **data)
            self._by_itself(work)

    def _by_itself(self, work: Work) -> None:
        """Commit what the clock brings; there is nobody whom a refusal could be told."""
        try:
            self._commit(work)
        except CloudError as error:
            raise InvariantError(f"{work.operation} was refused: {error}") from error

    def _request_id(self) -> str:
        raw = blake2b(f"{self.seed}:request:{self._calls}".encode(), digest_size=16).hexdigest()
        raw = raw.upper()
        return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"

    def _unknown(self, name: str) -> CallResult:
        return self._refuse("InvalidAction.NotFound", f"there is no tool {name[:64]!r}", 404, None)

    def _refuse(
        self, code: str, message: str, status: int, given: dict[str, Any] | None
    ) -> CallResult:
        envelope = {
            "Code": code, "Message": message, "HttpStatus": status, "RequestId": self._request_id(),
        }  # fmt: skip
        return CallResult(False, envelope, code, given, ())


def _due(transition: Transition) -> int:
    return transition.due


__all__ = ["CallResult", "Cloud", "Mark", "rebuild", "replay"]
