"""Law R4 at the cloud's door: whatever is sent, a typed answer comes back and nothing breaks."""

from __future__ import annotations

import pytest
from crowd import ALL, arguments_for, crowd, fingerprint, known_ids
from worlds import ACCOUNT

from cirrus_env.wire.jsontext import canonical
from cirrus_env.world import Stream
from cirrus_env.world.clock import DAY

DEEP: list = []
for _ in range(1000):
    DEEP = [DEEP]
WEIRD = (
    1, 1.0, "1", True, None, "", " x ", "１２３", "I-PLAIN", 2**64, -(2**70), -0.0, -1, 0.5, 1e300,
    float("nan"), float("inf"), [], {}, [1], {"a": 1}, DEEP, "x" * 10**6, "\x00", "\ud800",
    "i-plain\n", "云服务器", "🙂" * 20, "'; drop table", '["i-plain"', '["\\ud800"]', "[" * 500,
    '{"a": 1, "a": 2}', "NaN", "9" * 5000, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    "2026-11-30T08:00:00+99:99", "２０２６-11-30", ",,,", "*" * 30 + "x", ("tuple",), {1: 2}, b"x",
)  # fmt: skip
OPERATIONS = sorted(ALL.operations)


def answer(cloud, name, arguments, actor):
    before = fingerprint(cloud)
    result = cloud.call(name, arguments, actor)
    assert isinstance(result.result, dict)
    assert len(canonical(result.result)) < 100_000
    if not result.ok:
        assert result.code
        assert len(result.result["Message"]) < 10_000
        assert fingerprint(cloud) == before
    return result


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_weird_value_in_every_parameter(name):
    operation = ALL.operations[name]
    cloud = crowd(10**6)
    mark = cloud.snapshot()
    chance = Stream(1, name)
    for parameter in [*operation.parameters["properties"], "Unknown"]:
        for value in WEIRD:
            arguments = arguments_for(chance, operation, known_ids(cloud))
            result = answer(cloud, name, {**arguments, parameter: value}, operation.actor)
            if result.ok:
                cloud.advance(DAY // 2)
                cloud.restore(mark)


@pytest.mark.parametrize("arguments", [*WEIRD, {"InstanceId": DEEP}, {"": ""}, {"\ud800": 1}])
def test_what_is_no_object_of_arguments(arguments):
    cloud = crowd(0)
    for name in OPERATIONS:
        takes_nothing = not ALL.operations[name].parameters["properties"]
        result = answer(cloud, name, arguments, ALL.operations[name].actor)
        if arguments != {} and not takes_nothing:
            assert result.code in ("InvalidParameter", "MissingParameter")


@pytest.mark.parametrize("name", ["", "stopinstance", "StopInstance ", "ＳtopInstance", "\ud800"])
def test_an_unknown_tool(name):
    cloud = crowd(0)
    assert answer(cloud, name, {"InstanceId": "i-plain"}, "assistant").code == (
        "InvalidAction.NotFound"
    )


def test_an_id_counts_by_every_letter():
    cloud = crowd(10**6)
    for id in ("I-plain", "i-plain ", " i-plain", "i-plain\n", "i-plain\x00", "ｉ-plain", "i-plai"):
        refused = answer(cloud, "StopInstance", {"InstanceId": id}, "assistant")
        assert refused.code == "InvalidInstanceId.NotFound"
    assert set(cloud.records("ecs.instance", ACCOUNT)) == set(
        crowd(0).records("ecs.instance", ACCOUNT)
    )
