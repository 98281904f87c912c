"""What other services' events, and the clock, do to instances.

The account's debt comes in two steps: from ``account.overdue`` on everything runs for a grace
period, at ``account.suspended`` pay-as-you-go instances stop and are locked, and ``account.paid``
brings those back that the platform had stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import view
from cirrus_env.cloud.services.ecs.models import TYPES, Instance, InstanceEvent, StoppedBy
from cirrus_env.cloud.services.ecs.power import reboot, start, stop
from cirrus_env.cloud.work import Work

_NOTES: Final[Mapping[str, tuple[str, str]]] = {
    "arrears": ("AccountUnbalanced.Stop", "The account had owed money for 15 days."),
    "expiry": ("InstanceExpiration.Stop", "The subscription ended."),
}
_RENEWAL: Final = {"ManualRenewal": "Normal"}


def release(work: Work, instance: Instance) -> None:
    """Give an instance up for good and tell who holds things of it."""
    work.delete(instance)
    work.emit("ecs.instance.released", record=instance)


def suspend(work: Work, instance: Instance, why: StoppedBy) -> None:
    """Lock an instance that isn't paid for, and stop it."""
    if "financial" in instance.lock_reasons:
        return
    locked = work.change(instance, lock_reasons=(*instance.lock_reasons, "financial"))
    if locked.status != "Running":
        return
    stop(work, locked, "StopCharging", why)
    name, reason = _NOTES[why]
    work.put(
        InstanceEvent(
            work.new_id(InstanceEvent), work.tenant, instance_id=instance.id, name=name,
            not_before=work.now, finished=work.now, reason=reason,
        )
    )  # fmt: skip


def lift(work: Work, instance: Instance) -> Instance:
    """Take the financial lock off, and start what the platform had stopped for it."""
    kept = tuple(reason for reason in instance.lock_reasons if reason != "financial")
    if kept != instance.lock_reasons:
        instance = work.change(instance, lock_reasons=kept)
    if instance.status == "Stopped" and instance.stopped_by and not kept and not instance.no_stock:
        start(work, instance)
    return instance


def on_suspended(work: Work, data: Mapping[str, Any]) -> None:
    """The grace period of an overdue account is over: subscriptions run on."""
    for instance in work.all(Instance):
        if instance.charge_type == "PostPaid":
            suspend(work, instance, "arrears")


def on_paid(work: Work, data: Mapping[str, Any]) -> None:
    """The account's debt is paid."""
    for instance in work.all(Instance):
        if instance.charge_type == "PostPaid" and "financial" in instance.lock_reasons:
            lift(work, instance)


def on_running(work: Work, data: Mapping[str, Any]) -> None:
    """An instance that was locked while it started doesn't stay up."""
    instance = data["record"]
    if "financial" in instance.lock_reasons:
        unlocked = tuple(reason for reason in instance.lock_reasons if reason != "financial")
        why: StoppedBy = "expiry" if instance.charge_type == "PrePaid" else "arrears"
        suspend(work, work.change(instance, lock_reasons=unlocked), why)


def on_stopped(work: Work, data: Mapping[str, Any]) -> None:
    """An instance that was paid for while it stopped comes back."""
    instance = data["record"]
    if instance.stopped_by and "financial" not in instance.lock_reasons:
        lift(work, instance)


def on_expired(work: Work, data: Mapping[str, Any]) -> None:
    """A subscription has ended."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        suspend(work, instance, "expiry")


def on_renewed(work: Work, data: Mapping[str, Any]) -> None:
    """A subscription goes on."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        lift(work, work.change(instance, expired_time=data["ends"]))


def on_shortened(work: Work, data: Mapping[str, Any]) -> None:
    """A renewal was given back before its period began."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        work.change(instance, expired_time=data["ends"])


def on_renewal_set(work: Work, data: Mapping[str, Any]) -> None:
    """Billing changed how a subscription is renewed."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        status = data["renewal_status"]
        work.change(instance, renewal_status=_RENEWAL.get(status, status))


def on_released(work: Work, data: Mapping[str, Any]) -> None:
    """A subscription was not renewed in time, so its instance goes."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        release(work, instance)


def on_refunded(work: Work, data: Mapping[str, Any]) -> None:
    """An instance was given back: it goes at once, or is stopped and locked first."""
    instance = work.get(Instance, data["instance"])
    if instance is None:
        return
    if data["immediately"]:
        release(work, instance)
        return
    locked = work.change(instance, lock_reasons=(*instance.lock_reasons, "refunded"))
    if locked.status == "Running":
        stop(work, locked, "StopCharging")


def subscribe(work: Work, instance: Instance, ends: int) -> None:
    """Make a pay-as-you-go instance a subscription."""
    work.change(
        instance, charge_type="PrePaid", expired_time=ends, stopped_mode="Not-applicable",
        renewal_status="Normal",
    )  # fmt: skip


def on_order_paid(work: Work, data: Mapping[str, Any]) -> None:
    """A paid order takes effect: a subscription at once, an upgrade at the next restart."""
    instance = work.get(Instance, data["instance"]) if data["instance"] else None
    if instance is None:
        return
    if data["order_type"] in ("Upgrade", "Downgrade") and data["config"] in TYPES:
        work.change(instance, pending_type=data["config"])
    elif data["order_type"] == "Convert" and instance.charge_type == "PostPaid":
        order = work.peek("billing.order", data["order"])
        subscribe(work, instance, view(order, "ends"))


def on_groups_changed(work: Work, data: Mapping[str, Any]) -> None:
    """The network service put an instance into a security group or took it out."""
    instance = work.get(Instance, data["instance"])
    if instance is not None:
        work.change(instance, security_groups=data["groups"])


def on_restart_wanted(work: Work, data: Mapping[str, Any]) -> None:
    """Restart once the order that was placed in the same call has taken effect."""
    instance = work.get(Instance, data["instance"])
    if instance is None or instance.status != "Running":
        return
    if instance.pending_type:
        reboot(work, instance)
    elif data["again"]:  # the order's own event comes after this one
        work.emit("instance.restart_wanted", instance=instance.id, again=False)


HANDLERS: Final = {
    "instance.restart_wanted": on_restart_wanted,
    "security_groups.changed": on_groups_changed,
    "account.suspended": on_suspended,
    "account.paid": on_paid,
    "ecs.instance.Running": on_running,
    "ecs.instance.Stopped": on_stopped,
    "subscription.expired": on_expired,
    "subscription.renewed": on_renewed,
    "subscription.shortened": on_shortened,
    "subscription.renewal_set": on_renewal_set,
    "subscription.released": on_released,
    "instance.refunded": on_refunded,
    "order.paid": on_order_paid,
}
