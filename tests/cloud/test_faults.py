"""Seeded faults: what each kind does, that seeds replay them, and law R10."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest
from crowd import crowd
from test_machine import LAWS, Machine, walk
from worlds import ACCOUNT, ok, world

from cirrus_env.cloud.faults import (
    KINDS,
    PRESETS,
    STALE_SECONDS,
    FaultPlan,
    fault_plan,
    fault_rates,
    fits,
    smaller_page,
)
from cirrus_env.cloud.services.disk import Disk
from cirrus_env.cloud.services.ecs import Instance

I = "i-1"  # noqa: E741
RUNNING = Instance(I, ACCOUNT)


def faulty(*records, **rates):
    cloud = world(*records)
    cloud.faults = fault_plan(7, rates)
    return cloud


def status(cloud, id=I):
    return cloud.find("ecs.instance", id).status


# -- rates and plans -----------------------------------------------------------------------------


def test_the_presets_and_own_rates():
    assert fault_rates(None) == {}
    assert fault_rates("mild") == PRESETS["mild"]
    assert fault_rates({"stale": 1, "timeout": 0}) == {"stale": 1.0, "timeout": 0.0}
    assert set(PRESETS["harsh"]) == set(KINDS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("wild", "there are mild, harsh"),
        ({"lag": 0.1}, "no fault 'lag'"),
        ({"stale": 1.1}, "from 0 to 1"),
        ({"stale": -0.1}, "from 0 to 1"),
        ({"stale": float("nan")}, "from 0 to 1"),
        ({"stale": True}, "from 0 to 1"),
        ({"stale": "1"}, "from 0 to 1"),
        ({"stale": 0.6, "partial": 0.6}, "the rates of a read are above 1"),
        ({"throttling": 0.6, "timeout": 0.6}, "the rates of a write are above 1"),
        (["stale"], "by kind"),
    ],
)
def test_rates_that_are_none(given, words):
    with pytest.raises(ValueError, match=words):
        fault_rates(given)


def test_no_rates_are_no_plan():
    assert fault_plan(1, {}) is None
    assert fault_plan(1, {"stale": 0.0}) is None


def test_a_call_meets_only_what_fits_it():
    plan = fault_plan(3, {"throttling": 0.2, "timeout": 0.3, "stale": 0.3, "partial": 0.3})
    assert plan is not None
    reads = [plan.drawn(n, "read") for n in range(4000)]
    writes = [plan.drawn(n, "irreversible") for n in range(4000)]
    assert set(reads) == {None, "throttling", "stale", "partial"}
    assert set(writes) == {None, "throttling", "timeout"}
    for kind, drawn, expected in (
        ("throttling", reads, 800), ("stale", reads, 1200), ("partial", reads, 1200),
        ("throttling", writes, 800), ("timeout", writes, 1200),
    ):  # fmt: skip
        assert abs(drawn.count(kind) - expected) < 120
    assert fits("throttling", "write")
    assert not fits("timeout", "read")


# -- the kinds -----------------------------------------------------------------------------------


def test_throttling_does_nothing():
    cloud = faulty(RUNNING, throttling=1)
    before = cloud.dump()
    for name, arguments in (("StopInstance", {"InstanceId": I}), ("DescribeInstances", {})):
        result = cloud.call(name, arguments)
        assert (result.code, result.result["HttpStatus"]) == ("Throttling.User", 400)
        assert result.changed == ()
    assert cloud.dump() == before


def test_wrong_arguments_are_told_before_any_fault():
    cloud = faulty(RUNNING, throttling=1)
    assert cloud.call("StopInstance", {}).code == "MissingParameter"
    assert cloud.call("Nothing", {}).code == "InvalidAction.NotFound"


def test_a_timeout_hides_that_the_change_was_made():
    cloud = faulty(RUNNING, timeout=1)
    result = cloud.call("StopInstance", {"InstanceId": I})
    assert (result.ok, result.code, result.result["HttpStatus"]) == (
        False,
        "ServiceUnavailable",
        503,
    )
    assert [entry.operation for entry in result.changed] == ["StopInstance"]
    assert status(cloud) == "Stopping"
    assert cloud.call("StopInstance", {"InstanceId": I}).code == "IncorrectInstanceStatus"


def test_a_refusal_is_told_even_if_its_answer_would_be_lost():
    cloud = faulty(replace(RUNNING, status="Stopped"), timeout=1)
    assert cloud.call("StopInstance", {"InstanceId": I}).code == "IncorrectInstanceStatus"


def test_a_repeated_client_token_gives_the_lost_answer():
    cloud = faulty(RUNNING, timeout=1)
    arguments = {"ZoneId": "cn-hangzhou-h", "Size": 20, "ClientToken": "once"}
    assert cloud.call("CreateDisk", arguments).code == "ServiceUnavailable"
    [disk] = cloud.records("disk.disk")
    again = cloud.call("CreateDisk", arguments)
    assert (again.ok, again.replayed, again.result["DiskId"]) == (True, True, disk)
    assert list(cloud.records("disk.disk")) == [disk]
    other = cloud.call("CreateDisk", {**arguments, "Size": 30})
    assert other.code == "IdempotentParameterMismatch"


def test_a_stale_read_shows_what_was_before_the_latest_change():
    cloud = faulty(RUNNING, stale=1)

    def seen():
        [shown] = ok(cloud, "DescribeInstances")["Instances"]["Instance"]
        return shown["Status"]

    assert seen() == "Running"
    ok(cloud, "StopInstance", InstanceId=I)
    before = cloud.dump()
    assert (seen(), status(cloud)) == ("Running", "Stopping")
    assert cloud.dump() == before
    cloud.advance(STALE_SECONDS + 1)
    assert seen() == "Stopped"


def test_a_stale_read_may_not_know_what_was_just_made():
    cloud = faulty(stale=1)
    id = ok(cloud, "CreateDisk", ZoneId="cn-hangzhou-h", Size=20)["DiskId"]
    assert ok(cloud, "DescribeDisks")["TotalCount"] == 0
    assert cloud.call("DescribeDisks", {"DiskIds": f'["{id}"]'}).result["TotalCount"] == 0


def test_a_partial_page_says_how_to_go_on():
    records = [replace(RUNNING, id=f"i-{n}") for n in range(7)]
    cloud = faulty(*records, partial=1)
    first = ok(cloud, "DescribeInstances")
    assert [i["InstanceId"] for i in first["Instances"]["Instance"]] == ["i-0", "i-1"]
    assert (first["TotalCount"], first["NextToken"] != "") == (7, True)
    following = ok(cloud, "DescribeInstances", NextToken=first["NextToken"])
    assert [i["InstanceId"] for i in following["Instances"]["Instance"]] == ["i-2", "i-3"]
    disks = [Disk(f"d-{n}", ACCOUNT) for n in range(7)]
    page = ok(faulty(*disks, partial=1), "DescribeDisks", PageSize=15)
    assert (page["TotalCount"], page["PageSize"], len(page["Disks"]["Disk"])) == (7, 3, 3)


def test_the_smaller_page_of_an_operation():
    paged = {"properties": {"PageSize": {"default": 10}}}
    assert smaller_page(paged, {"Name": "x"}) == {"Name": "x", "PageSize": 2}
    assert smaller_page(paged, {"PageSize": 3}) == {"PageSize": 1}
    assert smaller_page({"properties": {}}, {"Name": "x"}) == {"Name": "x"}


def test_the_customer_s_own_actions_meet_no_fault():
    cloud = faulty(RUNNING, throttling=1)
    ok(cloud, "ConsoleStopInstance", "customer", InstanceId=I)
    assert status(cloud) == "Stopping"


# -- seeds ---------------------------------------------------------------------------------------


def answers(cloud):
    names = ("DescribeInstances", "StopInstance", "DescribeDisks", "CreateDisk", "StartInstance")
    given = {
        "StopInstance": {"InstanceId": "i-plain"}, "StartInstance": {"InstanceId": "i-plain"},
        "CreateDisk": {"ZoneId": "cn-hangzhou-h", "Size": 20},
    }  # fmt: skip
    found = []
    for name in names * 6:
        found.append(cloud.call(name, given.get(name, {}))[:3])
        cloud.advance(9)
    return found


def test_the_same_seed_and_calls_meet_the_same_faults():
    worlds = [crowd(10**6) for _ in range(3)]
    for cloud, seed in zip(worlds, (4, 4, 5), strict=True):
        cloud.faults = fault_plan(seed, PRESETS["harsh"])
    first, second, other = map(answers, worlds)
    assert first == second
    assert first != other
    assert {code for _, _, code in first} >= {"Throttling.User", "ServiceUnavailable", ""}


def test_marks_forks_and_copies_go_on_with_the_same_faults():
    cloud = crowd(10**6)
    cloud.faults = fault_plan(4, PRESETS["harsh"])
    answers(cloud)
    mark, twin = cloud.snapshot(), cloud.fork()
    deep = copy.deepcopy(cloud)
    first = answers(cloud)
    assert answers(twin) == first
    assert answers(deep) == first
    cloud.restore(mark)
    assert answers(cloud) == first


def test_a_plan_pickles():
    plan = FaultPlan(3, (("stale", 100),))
    assert pickle.loads(pickle.dumps(plan)) == plan


# -- law R10 -------------------------------------------------------------------------------------


class FaultyMachine(Machine):
    """Law R5's machine in a world with harsh faults."""

    def began(self):
        self.cloud.faults = fault_plan(self.cash % 7, PRESETS["harsh"])


def test_the_laws_hold_under_faults():
    for seed in range(40):
        walk(seed, 40, FaultyMachine)


@pytest.mark.long
def test_the_laws_hold_under_faults_for_long():
    for seed in range(400):
        walk(seed, 60, FaultyMachine)


def test_a_broken_law_prints_the_seed_that_replays_it(monkeypatch):
    def never(machine):
        assert machine.cloud.now < 0

    monkeypatch.setattr("test_machine.LAWS", (*LAWS, never))
    with pytest.raises(AssertionError, match=r"walk\(3, 5, FaultyMachine\) replays it"):
        walk(3, 5, FaultyMachine)
