"""Law R5: what holds after any calls of any tools in any order.

Everyday 60 runs of 30 steps; ``pytest -m long`` runs 300 of 50.
"""

from __future__ import annotations

import pytest
from crowd import ALL, arguments_for, crowd, fingerprint, foreign, known_ids
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from worlds import ACCOUNT, NEIGHBOUR

from cirrus_env.cloud.kernel import CallResult, Cloud, rebuild
from cirrus_env.cloud.model import PROVIDER, Operation
from cirrus_env.wire.jsontext import canonical
from cirrus_env.world import Stream
from cirrus_env.world.clock import DAY, HOUR

OPERATIONS = tuple(ALL.operations.values())
READS = tuple(o for o in OPERATIONS if o.effect == "read")
WRITES = tuple(o for o in OPERATIONS if o.effect != "read")
BY_SERVICE = {
    name: tuple(o for o in WRITES if ALL.service_of[o.name] == name) for name in ALL.names
}
SERVICES = tuple(name for name in ALL.names if BY_SERVICE[name])
ON_INSTANCES = tuple(o for o in WRITES if o.resource in ("InstanceId", "InstanceIDs"))


def theirs(cloud: Cloud):
    """What the neighbour has."""
    tables = {kind: dict(cloud.records(kind, NEIGHBOUR)) for kind in cloud.catalogue.kinds}
    return tables, cloud.ledger.balance(f"cash:{NEIGHBOUR}")


class Machine(RuleBasedStateMachine):
    """One world, any tools."""

    @initialize(cash=st.sampled_from([-20_000, -1, 0, 500, 10**6]))
    def set_up(self, cash):
        self.cash = cash
        self.cloud = crowd(cash)
        self.began()
        self.origin = self.cloud.fork()
        self.checked = 0
        self.latest = self.cloud.now
        self.tokens: dict[tuple[str, str], dict] = {}
        self.marks: list = []
        self.seen = {
            (kind, id)
            for kind in self.cloud.catalogue.kinds
            for tenant in (ACCOUNT, NEIGHBOUR)
            for id in self.cloud.records(kind, tenant)
        }
        assert self.cloud.dangling() == []

    def began(self):
        """What is special about this machine's world."""

    # -- what happens ----------------------------------------------------------------------------

    @rule(seed=st.integers(0, 2**40))
    def write(self, seed):
        """Five writes, the seed of which replays them."""
        chance = Stream(seed, "writes")
        for _ in range(5):
            operation = chance.choice(WRITES)
            self.call(operation, arguments_for(chance, operation, known_ids(self.cloud)))
            if chance.below(2):
                self.cloud.advance(chance.choice((10, 70)))

    @rule(seed=st.integers(0, 2**40))
    def write_twice(self, seed):
        chance = Stream(seed, "write twice")
        operation = chance.choice(WRITES)
        arguments = arguments_for(chance, operation, known_ids(self.cloud))
        self.call(operation, arguments)
        self.call(operation, arguments)

    @rule(seed=st.integers(0, 2**40))
    def read(self, seed):
        """Five reads."""
        chance = Stream(seed, "reads")
        for _ in range(5):
            operation = chance.choice(READS)
            self.call(operation, arguments_for(chance, operation, known_ids(self.cloud)))

    @rule(seed=st.integers(0, 2**40))
    def use_an_instance(self, seed):
        """Eight operations on one instance."""
        chance = Stream(seed, "instance")
        instances = list(self.cloud.records("ecs.instance"))
        if not instances:
            return
        id = chance.choice(instances)
        for _ in range(8):
            operation = chance.choice(ON_INSTANCES)
            arguments = arguments_for(chance, operation, known_ids(self.cloud))
            self.call(operation, {**arguments, operation.resource: id})
            self.cloud.advance(chance.choice((10, 70)))

    @rule(seed=st.integers(0, 2**40))
    def use_a_service(self, seed):
        """Ten writes of one service, so that what it made is used by what comes next."""
        chance = Stream(seed, "service")
        operations = BY_SERVICE[chance.choice(SERVICES)]
        for _ in range(10):
            operation = chance.choice(operations)
            self.call(operation, arguments_for(chance, operation, known_ids(self.cloud)))
            self.cloud.advance(chance.choice((0, 30)))

    @rule(seconds=st.sampled_from([1, 10, 61, 600, HOUR, 4 * HOUR, DAY]))
    def wait(self, seconds):
        self.cloud.advance(seconds)

    @rule(days=st.sampled_from([3, 9, 16]))
    def wait_long(self, days):
        if self.cloud.now - self.origin.now < 20 * DAY:
            self.cloud.advance(days * DAY)

    @rule()
    def mark(self):
        self.marks.append((self.cloud.snapshot(), self.cloud.dump(), dict(self.tokens)))

    @rule(data=st.data())
    def go_back_and_forth(self, data):
        if self.marks:
            here, before = self.cloud.snapshot(), self.cloud.dump()
            mark, dump, _ = data.draw(st.sampled_from(self.marks))
            self.cloud.restore(mark)
            assert self.cloud.dump() == dump
            self.cloud.call("TopUpAccount", {"Amount": 1}, "customer")
            self.cloud.advance(HOUR)
            self.cloud.restore(here)
            assert self.cloud.dump() == before

    @rule()
    def fork(self):
        twin = self.cloud.fork()
        before = self.cloud.dump()
        twin.call("TopUpAccount", {"Amount": 5}, "customer")
        twin.advance(HOUR)
        assert self.cloud.dump() == before

    def call(self, operation: Operation, arguments: dict) -> CallResult:
        before, neighbour = fingerprint(self.cloud), theirs(self.cloud)
        result = self.cloud.call(operation.name, arguments, operation.actor)
        assert isinstance(result.result, dict)
        text = canonical(result.result)
        assert self.cloud.written(result.result) == text
        assert theirs(self.cloud) == neighbour
        if result.ok:
            assert "-theirs" not in text or any("-theirs" in str(v) for v in arguments.values())
        lost = result.code == "ServiceUnavailable"  # carried out, but nobody was told
        assert not lost or self.cloud.faults is not None
        if (not result.ok and not lost) or operation.effect == "read" or result.replayed:
            assert fingerprint(self.cloud) == before
            assert result.changed == ()
        if not result.ok:
            assert result.code == result.result["Code"] != ""
            assert 400 <= result.result["HttpStatus"] < 600
        self.check_token(operation, arguments, result)
        return result

    def check_token(self, operation, arguments, result):
        token = arguments.get("ClientToken")
        lost = result.code == "ServiceUnavailable"
        if not token or not (result.ok or lost):
            return
        key = (operation.name, token)
        if lost:
            assert key not in self.tokens
            self.tokens[key] = {}
        elif result.replayed:
            assert self.tokens[key] in ({}, result.result)
            self.tokens[key] = result.result
        else:
            assert key not in self.tokens
            self.tokens[key] = result.result

    # -- what always holds -----------------------------------------------------------------------

    @invariant()
    def money_is_conserved(self):
        ledger = self.cloud.ledger
        assert ledger.total() == 0
        new = ledger.postings[-40:]
        assert all(type(p.cents) is int and p.cents > 0 for p in new)

    @invariant()
    def every_reference_leads_somewhere(self):
        assert self.cloud.dangling() == []

    @invariant()
    def the_log_tells_of_declared_changes_and_new_ids_only(self):
        for entry in self.cloud.audit[self.checked :]:
            before, after = entry.before, entry.after
            record = after or before
            assert record is not None
            if before is None:
                assert (record.kind, record.id) not in self.seen
                self.seen.add((record.kind, record.id))
            elif after is not None and record.kind in ALL.lifecycle:
                pair = (before.status, after.status)
                assert pair[0] == pair[1] or pair in ALL.lifecycle[record.kind]
                assert (before.id, before.tenant) == (after.id, after.tenant)
            assert self.latest <= entry.at <= self.cloud.now
            self.latest = entry.at
        self.checked = len(self.cloud.audit)
        assert self.cloud.now >= self.latest

    @invariant()
    def one_id_is_one_record(self):
        for kind in ALL.kinds:
            ours, others = self.cloud.records(kind), self.cloud.records(kind, NEIGHBOUR)
            assert not ours.keys() & others.keys()
            for tenant, table in ((ACCOUNT, ours), (NEIGHBOUR, others)):
                assert all(
                    (r.id, r.tenant, r.kind) == (id, tenant, kind) for id, r in table.items()
                )

    @invariant()
    def the_index_of_references_is_right(self):
        for kind, link in ALL.links.items():
            found: dict[str, list[str]] = {}
            for id, record in self.cloud.records(kind).items():
                if getattr(record, link.field):
                    found.setdefault(getattr(record, link.field), []).append(id)
            for target, ids in found.items():
                assert sorted(self.cloud.linked(kind, target)) == sorted(ids)

    def teardown(self):
        if not hasattr(self, "cloud"):
            return
        ledger = self.cloud.ledger
        for account in {p.debit for p in ledger.postings} | {p.credit for p in ledger.postings}:
            entries = (p.cents * ((p.credit == account) - (p.debit == account))
                       for p in ledger.postings)  # fmt: skip
            assert ledger.balance(account) == sum(entries)
        for tenant in (ACCOUNT, NEIGHBOUR):
            self.nothing_returns_that_was_not_paid(tenant)
        assert rebuild(self.origin, self.cloud).dump() == self.cloud.dump()

    def nothing_returns_that_was_not_paid(self, tenant):
        cash, net = f"cash:{tenant}", {}
        for posting in self.cloud.ledger.postings:
            if posting.item in ("order", "refund") and posting.resource:
                if posting.debit == cash and posting.credit == PROVIDER:
                    net[posting.resource] = net.get(posting.resource, 0) + posting.cents
                elif posting.debit == PROVIDER and posting.credit == cash:
                    net[posting.resource] = net.get(posting.resource, 0) - posting.cents
                    assert net[posting.resource] >= 0
        assert all(left >= 0 for left in net.values())


_QUIET = (HealthCheck.too_slow, HealthCheck.filter_too_much)

TestEveryday = Machine.TestCase
TestEveryday.settings = settings(
    max_examples=60, stateful_step_count=30, suppress_health_check=_QUIET
)


@pytest.mark.long
class TestLong(Machine.TestCase):
    settings = settings(max_examples=300, stateful_step_count=50, suppress_health_check=_QUIET)


def walk(seed: int, steps: int, kind: type[Machine] = Machine) -> set[str]:
    """One long walk over the same rules, by our own chance; the tools that succeeded in it."""
    try:
        return _walk(seed, steps, kind)
    except Exception as error:
        raise AssertionError(
            f"walk({seed}, {steps}, {kind.__name__}) replays it: {error}"
        ) from error


def _walk(seed: int, steps: int, kind: type[Machine]) -> set[str]:
    chance = Stream(seed, "walk")
    machine = kind()
    machine.set_up(chance.choice((-20_000, -1, 500, 10**6, 10**7)))
    succeeded = set()
    plain_call = machine.call

    def call(operation, arguments):
        result = plain_call(operation, arguments)
        if result.ok:
            succeeded.add(operation.name)
        return result

    machine.call = call  # type: ignore[method-assign]
    for _ in range(steps):
        match chance.below(9):
            case 0:
                machine.read(chance.below(2**40))
            case 1 | 2:
                machine.use_an_instance(chance.below(2**40))
            case 3:
                machine.write_twice(chance.below(2**40))
            case 5:
                machine.use_a_service(chance.below(2**40))
            case 4:
                machine.wait(chance.choice((10, 61, HOUR, DAY)))
            case _:
                machine.write(chance.below(2**40))
        for law in LAWS:
            law(machine)
    machine.teardown()
    return succeeded


LAWS = (
    Machine.money_is_conserved,
    Machine.every_reference_leads_somewhere,
    Machine.the_log_tells_of_declared_changes_and_new_ids_only,
    Machine.one_id_is_one_record,
    Machine.the_index_of_references_is_right,
)


def test_long_walks_keep_the_laws_and_every_tool_works_in_some():
    succeeded = set().union(*(walk(seed, 60) for seed in range(100)))
    assert sorted(set(ALL.operations) - succeeded) == []


def test_the_neighbours_ids_are_told_from_ours():
    assert foreign("i-plain") == "i-plain-theirs"
    assert foreign("111") == "1119"
