"""What other services' events do to elastic addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.services.vpc.models import ASSOCIATE_SECONDS, Eip
from cirrus_env.cloud.work import Work


def on_instance_released(work: Work, data: Mapping[str, Any]) -> None:
    """What is released lets its addresses go; the addresses stay, and are charged."""
    for eip in work.linked(Eip.kind, data["record"].id):
        leaving = work.change(eip, status="Unassociating", instance_id="")
        work.later(ASSOCIATE_SECONDS, leaving, status="Available")


def on_suspended(work: Work, data: Mapping[str, Any]) -> None:
    """Arrears past the grace period slow pay-as-you-go addresses to nothing."""
    for eip in work.all(Eip):
        if eip.charge_type == "PostPaid" and eip.business_status == "Normal":
            work.change(
                eip, business_status="FinancialLocked",
                lock_reasons=(*eip.lock_reasons, "financial"),
            )  # fmt: skip


def on_paid(work: Work, data: Mapping[str, Any]) -> None:
    """Once the debt is paid, addresses work again."""
    for eip in work.all(Eip):
        if eip.charge_type == "PostPaid" and eip.business_status == "FinancialLocked":
            kept = tuple(reason for reason in eip.lock_reasons if reason != "financial")
            work.change(eip, business_status="Normal", lock_reasons=kept)


HANDLERS: Final = {
    "ecs.instance.released": on_instance_released,
    "nat.released": on_instance_released,
    "account.suspended": on_suspended,
    "account.paid": on_paid,
}
