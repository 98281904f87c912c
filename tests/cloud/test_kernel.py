"""The kernel: commits, refusals, the clock, marks and forks, on a service made for the purpose."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from cirrus_env.cloud.catalogue import Catalogue, catalogue
from cirrus_env.cloud.kernel import Cloud, rebuild, replay
from cirrus_env.cloud.model import Link, Operation, Resource, Service, Transition
from cirrus_env.errors import CloudError, InvariantError
from cirrus_env.world.clock import HOUR

NOW = 1_796_025_600
ANY = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Box(Resource):
    kind: ClassVar[str] = "toy.box"
    id_prefix: ClassVar[str] = "box-"
    status: str = "closed"
    inside: str = ""
    notes: tuple[str, ...] = ()


def _box(work, arguments):
    box = work.get(Box, arguments["id"])
    if box is None:
        raise CloudError("NoBox", "There is no such box.", 404)
    return box


def _open(work, arguments):
    box = work.change(_box(work, arguments), status="opening")
    work.later(arguments.get("after", 10), box, status="open")
    return {"was": "closed"}


def _make(work, arguments):
    box = Box(work.new_id(Box), work.tenant, inside=arguments.get("inside", ""))
    work.put(box)
    return {"id": box.id}


def _peek(work, arguments):
    return {"inside": [b.id for b in work.linked("toy.box", arguments["id"])]}


def _empty_out(work, arguments):
    box = _box(work, arguments)
    work.delete(box)
    work.emit("toy.emptied", record=box)
    return {}


def _bad_read(work, arguments):
    work.change(_box(work, arguments), notes=("read",))
    return {}


def _leap(work, arguments):
    work.change(_box(work, arguments), status="open")
    return {}


def _fail_late(work, arguments):
    work.change(_box(work, arguments), notes=("half",))
    work.post("cash:a", "provider", 5, item="x", resource="y")
    raise CloudError("Late", "Too late.", 409)


def _steal(work, arguments):
    work.put(Box("box-x", "b"))
    return {}


def _steal_away(work, arguments):
    work.delete(Box("box-x", "b"))
    return {}


def _lie(work, arguments):
    box = _box(work, arguments)
    work.change(box, notes=("x",))
    work.change(box, notes=box.notes)
    return {}


def _pay(work, arguments):
    work.post("cash:a", "provider", arguments["cents"], item="x", resource="y", memo="m")
    return {"left": work.balance("cash:a"), "got": work.balance("provider")}


def _on_emptied(work, data):
    if data["record"].notes == ("stay",):
        raise CloudError("Stays", "The handler refuses.", 403)
    for box in work.linked("toy.box", data["record"].id):
        work.change(box, inside="")
        work.emit("toy.emptied", record=replace(box, notes=()))


def _on_hour(work, data):
    for box in work.all(Box):
        if box.notes != ("stay",):
            work.change(box, notes=(*box.notes, f"{work.tenant}@{work.now}"))


def _on_open(work, data):
    work.change(data["record"], notes=(*data["record"].notes, "opened"))


def operation(name, run, effect="write", **rest):
    return Operation(name, name, effect, ANY, run, **rest)


TOY = Service(
    "toy",
    (Box,),
    (
        operation("Open", _open),
        operation("Make", _make),
        operation("Peek", _peek, "read"),
        operation("EmptyOut", _empty_out, "irreversible"),
        operation("BadRead", _bad_read, "read"),
        operation("Leap", _leap),
        operation("FailLate", _fail_late),
        operation("Steal", _steal),
        operation("StealAway", _steal_away),
        operation("Lie", _lie),
        operation("Pay", _pay),
        operation("Mine", _peek, "read", actor="customer"),
    ),
    lifecycle={"toy.box": frozenset({("closed", "opening"), ("opening", "open")})},
    rates={"toy.box": lambda box, now: (("room", 3),)},
    measures={"boxes": lambda cloud, of: len(cloud.records("toy.box"))},
    handlers={"toy.emptied": _on_emptied, "clock.hour": _on_hour, "toy.box.open": _on_open},
    links={"toy.box": Link("inside", "toy.box")},
)


@pytest.fixture
def cloud() -> Cloud:
    cloud = Cloud(Catalogue([TOY]), 3, "a", NOW)
    cloud.insert(Box("box-1", "a"))
    cloud.insert(Box("box-2", "a", inside="box-1"))
    cloud.insert(Box("box-3", "b", inside="box-1"))
    return cloud


def box(cloud, id="box-1"):
    found = cloud.find("toy.box", id)
    assert isinstance(found, Box)
    return found


# -- calls ---------------------------------------------------------------------------------------


def test_a_success_tells_what_it_changed_and_carries_a_request_id(cloud):
    result = cloud.call("Open", {"id": "box-1"})
    assert result.ok
    assert result.result["was"] == "closed"
    assert len(result.result["RequestId"]) == 36
    [entry] = result.changed
    assert (entry.actor, entry.operation, entry.at) == ("assistant", "Open", NOW)
    assert (entry.before, entry.after) == (Box("box-1", "a"), Box("box-1", "a", "opening"))
    assert cloud.audit == [entry]


def test_a_refusal_changes_nothing_and_is_an_envelope(cloud):
    before = cloud.dump()
    result = cloud.call("FailLate", {"id": "box-1"})
    assert (result.ok, result.code, result.changed) == (False, "Late", ())
    assert result.result["HttpStatus"] == 409
    assert result.result["Message"] == "Too late."
    assert cloud.dump() == before


def test_a_handlers_refusal_refuses_the_whole_call(cloud):
    cloud.insert(Box("box-4", "a", notes=("stay",)))
    before = cloud.dump()
    assert cloud.call("EmptyOut", {"id": "box-4"}).code == "Stays"
    assert cloud.call("EmptyOut", {"id": "box-4", "DryRun": True}).code == "Stays"
    assert cloud.dump() == before


def test_a_dry_run_is_an_error_that_says_it_would_work(cloud):
    before = cloud.dump()
    assert cloud.call("Open", {"id": "box-1", "DryRun": True}).code == "DryRunOperation"
    assert cloud.dump() == before


def test_unknown_tools_and_other_peoples_tools_do_not_exist(cloud):
    for name, actor in (("Nothing", "assistant"), ("Mine", "assistant"), ("Open", "customer")):
        result = cloud.call(name, {}, actor)
        assert (result.code, result.arguments) == ("InvalidAction.NotFound", None)
    assert len(cloud.call("x" * 10**6, {}).result["Message"]) < 100
    assert cloud.call("Mine", {"id": "box-1"}, "customer").ok


def test_a_client_token_makes_a_call_take_effect_once(cloud):
    first = cloud.call("Make", {"ClientToken": "t"})
    second = cloud.call("Make", {"ClientToken": "t"})
    assert second.replayed
    assert second.result == first.result
    assert second.changed == ()
    second.result["id"] = "spoilt"
    assert cloud.call("Make", {"ClientToken": "t"}).result == first.result
    other = cloud.call("Make", {"ClientToken": "t", "inside": "box-1"})
    assert other.code == "IdempotentParameterMismatch"
    assert len(cloud.records("toy.box")) == 3
    assert not cloud.call("EmptyOut", {"ClientToken": "t", "id": "box-1"}).replayed


def test_a_failed_call_does_not_use_its_token_up(cloud):
    assert cloud.call("Open", {"ClientToken": "t", "id": "none"}).code == "NoBox"
    assert cloud.call("Open", {"ClientToken": "t", "id": "box-1"}).ok


def test_a_change_that_changes_nothing_is_none(cloud):
    result = cloud.call("Lie", {"id": "box-1"})
    assert result.ok
    assert result.changed == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BadRead", "is a read"),
        ("Leap", "goes from closed to open"),
        ("Steal", "writes"),
        ("StealAway", "writes"),
    ],
)
def test_a_service_that_breaks_a_law_is_caught_before_anything_changes(cloud, name, words):
    before = cloud.dump()
    with pytest.raises(InvariantError, match=words):
        cloud.call(name, {"id": "box-1"})
    assert cloud.dump() == before


def test_money_moves_only_with_the_commit(cloud):
    result = cloud.call("Pay", {"cents": 7})
    assert (result.result["left"], result.result["got"]) == (-7, 7)
    assert (cloud.ledger.balance("cash:a"), cloud.ledger.total()) == (-7, 0)
    assert cloud.call("Pay", {"cents": 0}).ok
    assert len(cloud.ledger.postings) == 1


# -- tenants, references, ids --------------------------------------------------------------------


def test_a_neighbours_records_are_not_there(cloud):
    assert cloud.find("toy.box", "box-3") is None
    assert cloud.call("Open", {"id": "box-3"}).code == "NoBox"
    assert cloud.call("Peek", {"id": "box-1"}).result["inside"] == ["box-2"]
    assert cloud.tenants() == ("a", "b")
    assert list(cloud.records("toy.box", "b")) == ["box-3"]


def test_references_are_found_through_every_change(cloud):
    made = cloud.call("Make", {"inside": "box-1"}).result["id"]
    assert cloud.linked("toy.box", "box-1") == ("box-2", made)
    mark = cloud.snapshot()
    cloud.call("EmptyOut", {"id": "box-2"})
    assert cloud.linked("toy.box", "box-1") == (made,)
    cloud.call("EmptyOut", {"id": "box-1"})
    assert cloud.linked("toy.box", "box-1") == ()
    assert box(cloud, made).inside == ""
    cloud.restore(mark)
    assert cloud.linked("toy.box", "box-1") == ("box-2", made)
    assert cloud.linked("toy.none", "box-1") == ()


def test_a_kind_without_a_link_refers_to_nothing():
    def look(work, arguments):
        work.put(Box("new", "a"))
        return {"found": work.linked("other.kind", "box-1")}

    service = Service("x", (Box,), (operation("Look", look),))
    assert Cloud(Catalogue([service]), 1, "a", NOW).call("Look", {}).result["found"] == []


def test_a_reference_that_leads_nowhere_is_found(cloud):
    assert cloud.dangling() == [("toy.box", "box-3", "box-1")]  # it is in another account
    cloud.insert(Box("box-3", "b"))
    assert cloud.dangling() == []


def test_new_ids_avoid_those_that_set_up_gave(cloud):
    id = cloud.fork().call("Make", {}).result["id"]
    assert id.startswith("box-")
    cloud.insert(Box(id, "b"))
    other = cloud.call("Make", {}).result["id"]
    assert other != id
    assert cloud.call("Make", {}).result["id"] not in (id, other)


def test_ids_depend_on_the_seed_and_on_how_many_were_made():
    def ids(seed):
        cloud = Cloud(Catalogue([TOY]), seed, "a", NOW)
        return [cloud.call("Make", {}).result["id"] for _ in range(3)]

    assert ids(1) == ids(1)
    assert not set(ids(1)) & set(ids(2))


def test_rates_and_measures_are_those_of_the_services(cloud):
    assert cloud.rates(box(cloud)) == (("room", 3),)
    assert cloud.measure("boxes", "") == 2


# -- the clock -----------------------------------------------------------------------------------


def test_transitions_and_hours_come_in_the_order_of_time(cloud):
    cloud.call("Open", {"id": "box-1", "after": HOUR - 1})
    cloud.call("Open", {"id": "box-2", "after": HOUR + 1})
    cloud.advance(2 * HOUR)
    assert box(cloud).notes == ("opened", f"a@{NOW + HOUR}", f"a@{NOW + 2 * HOUR}")
    assert box(cloud, "box-2").notes == (f"a@{NOW + HOUR}", "opened", f"a@{NOW + 2 * HOUR}")
    assert cloud.now == NOW + 2 * HOUR
    ats = [entry.at for entry in cloud.audit]
    assert ats == sorted(ats)
    hours = cloud.records("toy.box", "b")["box-3"]
    assert isinstance(hours, Box)
    assert hours.notes == (f"b@{NOW + HOUR}", f"b@{NOW + 2 * HOUR}")


def test_a_transition_on_the_hour_comes_before_the_hour(cloud):
    cloud.call("Open", {"id": "box-1", "after": HOUR})
    cloud.advance(HOUR)
    assert box(cloud).notes == ("opened", f"a@{NOW + HOUR}")


@pytest.mark.parametrize("steps", [[7200], [1] * 60 + [7140], [3600, 3600], [3599, 1, 3600]])
def test_the_size_of_the_steps_does_not_matter(cloud, steps):
    cloud.call("Open", {"id": "box-1", "after": 30})
    whole = cloud.fork()
    whole.advance(7200)
    for step in steps:
        cloud.advance(step)
    assert cloud.dump() == whole.dump()
    assert cloud.audit == whole.audit


def test_a_transition_is_void_if_the_status_is_another_by_then(cloud):
    cloud.schedule(Transition(NOW + 5, "a", "toy.box", "box-1", (("status", "open"),), ()))
    cloud.schedule(Transition(NOW + 5, "a", "toy.box", "gone", (), ()))
    before = cloud.dump()["records"]
    cloud.advance(10)
    assert cloud.dump()["records"] == before
    assert cloud.dump()["pending"] == []


def test_what_was_due_before_set_up_comes_at_once_and_in_order(cloud):
    for due, status in ((NOW - 1, "open"), (NOW - 5, "opening")):
        before = "closed" if status == "opening" else "opening"
        cloud.schedule(
            Transition(due, "a", "toy.box", "box-1", (("status", before),), (("status", status),))
        )
    cloud.advance(1)
    assert box(cloud).status == "open"
    assert cloud.now == NOW + 1


def test_the_clock_never_goes_back(cloud):
    with pytest.raises(InvariantError):
        cloud.advance(-1)
    cloud.advance(0)
    assert cloud.now == NOW


def test_a_refusal_that_nobody_asked_for_is_a_fault():
    def refuse(work, data):
        raise CloudError("No", "No.")

    cloud = Cloud(Catalogue([Service("x", (), (), handlers={"clock.hour": refuse})]), 1, "a", NOW)
    cloud.insert(Box("b", "a"))
    with pytest.raises(InvariantError, match="was refused"):
        cloud.advance(HOUR)


# -- marks, forks, copies ------------------------------------------------------------------------


def busy(cloud):
    cloud.call("Open", {"id": "box-1"})
    cloud.call("Make", {"ClientToken": "t", "inside": "box-1"})
    cloud.call("Pay", {"cents": 5})
    cloud.call("EmptyOut", {"id": "box-2"})
    cloud.advance(HOUR + 30)


def test_a_mark_brings_everything_back_and_then_forward_again(cloud):
    start = cloud.snapshot()
    before = cloud.dump()
    busy(cloud)
    end = cloud.snapshot()
    after, log = cloud.dump(), list(cloud.audit)
    cloud.restore(start)
    assert cloud.dump() == before
    assert cloud.audit == []
    assert not cloud.call("Make", {"ClientToken": "t"}).replayed
    cloud.restore(end)
    assert (cloud.dump(), cloud.audit) == (after, log)
    cloud.restore(start)
    busy(cloud)
    assert (cloud.dump(), cloud.audit) == (after, log)


def test_what_happens_after_a_mark_does_not_touch_it(cloud):
    marks, dumps = [], []
    for _ in range(3):
        marks.append(cloud.snapshot())
        dumps.append(cloud.dump())
        cloud.call("Make", {"inside": "box-1"})
        cloud.call("Pay", {"cents": 1})
    for mark, dump in reversed(list(zip(marks, dumps, strict=True))):
        cloud.restore(mark)
        assert cloud.dump() == dump
        cloud.call("EmptyOut", {"id": "box-1"})
    cloud.restore(marks[2])
    assert cloud.dump() == dumps[2]


@pytest.mark.parametrize(
    "twin_of",
    [Cloud.fork, copy.copy, copy.deepcopy],
    ids=["fork", "copy", "deepcopy"],
)
def test_a_twin_goes_its_own_way(cloud, twin_of):
    cloud.call("Make", {})
    twin = twin_of(cloud)
    start = cloud.dump()
    busy(twin)
    assert cloud.dump() == start
    busy(cloud)
    assert cloud.dump() == twin.dump()
    assert cloud.audit == twin.audit


def test_a_fork_may_go_to_its_origins_marks(cloud):
    mark = cloud.snapshot()
    busy(cloud)
    twin = cloud.fork()
    twin.restore(mark)
    busy(twin)
    assert twin.dump() == cloud.dump()


def test_a_pickled_cloud_goes_on_as_the_same():
    cloud = Cloud(catalogue(("ecs", "disk", "vpc")), 3, "a", NOW)
    cloud.call("AllocateEipAddress", {"ClientToken": "t"})
    twin = pickle.loads(pickle.dumps(cloud))
    assert twin.catalogue is cloud.catalogue
    for each in (cloud, twin):
        each.call("AllocateEipAddress", {})
    assert twin.dump() == cloud.dump()
    assert twin.call("AllocateEipAddress", {"ClientToken": "t"}).replayed


# -- the audit log -------------------------------------------------------------------------------


def test_the_audit_log_leads_from_set_up_to_the_records(cloud):
    start = cloud.fork()
    busy(cloud)
    assert rebuild(start, cloud).dump() == cloud.dump()
    replay(start, cloud.audit)
    assert start.dump()["records"] == cloud.dump()["records"]
    assert start.linked("toy.box", "box-1") == cloud.linked("toy.box", "box-1")


def test_the_log_leads_on_from_any_moment(cloud):
    busy(cloud)
    middle = cloud.fork()
    cloud.call("Make", {})
    assert rebuild(middle, cloud).dump() == cloud.dump()
    assert middle.dump() != cloud.dump()


# -- catalogues ----------------------------------------------------------------------------------


def test_two_services_may_not_offer_the_same_operation():
    with pytest.raises(InvariantError, match="two services offer"):
        Catalogue([TOY, TOY])


def test_a_catalogue_is_one_object_however_it_is_copied():
    one = catalogue(("disk", "ecs"))
    assert one.names == ("ecs", "disk")
    assert copy.deepcopy(one) is one
    assert pickle.loads(pickle.dumps(one)) is catalogue(("ecs", "disk"))
    assert one.service_of["StopInstance"] == "ecs"


# -- cost ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_large_world_costs_no_more():
    from timeit import timeit

    def world(others):
        cloud = Cloud(Catalogue([TOY]), 3, "a", NOW)
        for n in range(others):
            cloud.insert(Box(f"box-x{n}", "a", inside=f"box-x{n // 2}"))
        cloud.insert(Box("box-1", "a"))
        cloud.insert(Box("box-2", "a", inside="box-1"))
        return cloud

    def looks(cloud):
        return lambda: cloud.call("Peek", {"id": "box-1"})

    def marks(cloud):
        return lambda: cloud.restore(cloud.snapshot())

    small, large = world(20), world(2000)
    for act in (looks, marks):  # by turns, for other work on the machine slows both
        pairs = [
            (timeit(act(small), number=500), timeit(act(large), number=500)) for _ in range(40)
        ]
        least = [min(times) / 500 for times in zip(*pairs, strict=True)]
        assert least[1] <= 1.2 * least[0]
    assert least[1] <= 20e-6


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"id": "box-1"}, "box-1"),
        ({"id": '["box-1"]'}, "box-1"),
        ({"id": '["box-1","box-2"]'}, '["box-1","box-2"]'),
        ({}, ""),
    ],
)
def test_what_a_call_acts_on(arguments, expected):
    assert Operation("Open", "Opens.", "write", ANY, _open, resource="id").target(arguments) == (
        expected
    )
    assert Operation("Open", "Opens.", "write", ANY, _open).target(arguments) == ""
