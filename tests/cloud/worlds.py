"""Small worlds for the tests of the cloud."""

from __future__ import annotations

from typing import Any

from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.cloud.kernel import CallResult, Cloud
from cirrus_env.cloud.model import Posting, Resource
from cirrus_env.world.clock import DAY, EPOCH

ACCOUNT = "1234567890"
NEIGHBOUR = "9876543210"
RESOURCE_SERVICES = ("ecs", "disk", "vpc")


def world(*records: Resource, services: tuple[str, ...] = RESOURCE_SERVICES, cash: int = 100_000):
    """A cloud with these records and some money."""
    cloud = Cloud(catalogue(services), 7, ACCOUNT, EPOCH)
    for record in records:
        cloud.insert(record)
    if cash > 0:
        pay_in(cloud, cash)
    elif cash < 0:
        cloud.ledger.append(
            [Posting(EPOCH - DAY, f"cash:{ACCOUNT}", "provider", -cash, "compute", "", "")]
        )
    return cloud


def pay_in(cloud: Cloud, cents: int) -> None:
    """Money that the account has from before."""
    posting = Posting(EPOCH - DAY, f"bank:{ACCOUNT}", f"cash:{ACCOUNT}", cents, "payment", "", "")
    cloud.ledger.append([posting])


def everything() -> Cloud:
    """A cloud with every service."""
    return Cloud(catalogue(tuple(SERVICES)), 7, ACCOUNT, EPOCH)


def ok(cloud: Cloud, name: str, actor: Any = "assistant", **arguments: Any) -> dict[str, Any]:
    """The result of a call that has to work."""
    result: CallResult = cloud.call(name, arguments, actor)
    assert result.ok, result.result
    return result.result


def refusal(cloud: Cloud, name: str, actor: Any = "assistant", **arguments: Any) -> tuple[str, int]:
    """The code and status of a call that has to be refused and to change nothing."""
    before = cloud.dump()
    result = cloud.call(name, arguments, actor)
    assert not result.ok, result.result
    assert result.changed == ()
    assert cloud.dump() == before
    assert result.result["Code"] == result.code
    assert result.result["Message"]
    return result.code, result.result["HttpStatus"]
