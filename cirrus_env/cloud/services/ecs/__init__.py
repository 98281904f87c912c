"""Elastic servers: instances, their power, their way of paying and their history.

Events that it tells: ``ecs.instance.released`` (record) when an instance is gone;
``order.placed``, ``renewal.ordered``, ``renewal.set`` and ``subscription.repriced`` (instance,
monthly), which billing answers; ``system_disk.replaced`` (instance, image, size, disk), which the
disk service answers; and
``subscription.ended`` (instance, order, cents) when one became pay-as-you-go, the value of the time
left being posted already. What it listens to is listed in ``handlers``.
"""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.ecs import (
    charging,
    describe,
    guest,
    history,
    manage,
    power,
    prices,
    reinstall,
    remote,
    specs,
)
from cirrus_env.cloud.services.ecs.handlers import HANDLERS
from cirrus_env.cloud.services.ecs.models import (
    LIFECYCLE,
    Instance,
    InstanceEvent,
    Invocation,
    rates,
)

SERVICE: Final = Service(
    name="ecs",
    kinds=(Instance, InstanceEvent, Invocation),
    operations=(
        *describe.OPERATIONS,
        *power.OPERATIONS,
        *manage.OPERATIONS,
        *prices.OPERATIONS,
        *charging.OPERATIONS,
        *history.OPERATIONS,
        *specs.OPERATIONS,
        *reinstall.OPERATIONS,
        *remote.OPERATIONS,
        *guest.OPERATIONS,
    ),
    lifecycle={Instance.kind: LIFECYCLE},
    rates={Instance.kind: rates},
    handlers=HANDLERS,
    measures=guest.MEASURES,
    links={
        InstanceEvent.kind: Link("instance_id", Instance.kind, kept=True),
        Invocation.kind: Link("instance_id", Instance.kind, kept=True),
    },
)

__all__ = ["SERVICE", "Instance", "InstanceEvent", "Invocation"]
