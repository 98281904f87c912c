"""Elastic public addresses."""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Link, Service
from cirrus_env.cloud.services.vpc import binding, tools
from cirrus_env.cloud.services.vpc.handlers import HANDLERS
from cirrus_env.cloud.services.vpc.models import LIFECYCLE, Eip, ReleasedEip, rates

SERVICE: Final = Service(
    name="vpc",
    kinds=(Eip, ReleasedEip),
    operations=(*tools.OPERATIONS, *binding.OPERATIONS),
    lifecycle={Eip.kind: LIFECYCLE},
    rates={Eip.kind: rates},
    handlers=HANDLERS,
    links={Eip.kind: Link("instance_id", "ecs.instance", also=("nat.nat",))},
)

__all__ = ["SERVICE", "Eip", "ReleasedEip"]
