"""Elastic servers: instances, their power, their way of paying and their history."""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.ecs import describe, power
from cirrus_env.cloud.services.ecs.models import LIFECYCLE, Instance, InstanceEvent, rates

SERVICE: Final = Service(
    name="ecs",
    kinds=(Instance, InstanceEvent),
    operations=(*describe.OPERATIONS, *power.OPERATIONS),
    lifecycle={Instance.kind: LIFECYCLE},
    rates={Instance.kind: rates},
    links={InstanceEvent.kind: Link("instance_id", Instance.kind, kept=True)},
)

__all__ = ["SERVICE", "Instance", "InstanceEvent"]
