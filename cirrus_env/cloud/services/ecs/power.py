"""Starting, stopping and restarting instances: the tools and the customer's own console."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any, Final

from cirrus_env.cloud.api import (
    DOCUMENTATION_NETWORKS,
    DRY_RUN,
    FLAG,
    one_of,
    overdue,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.reach import guest_up
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.models import (
    REBOOT_SECONDS,
    START_SECONDS,
    STOP_SECONDS,
    TYPES,
    Instance,
    StoppedBy,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

INSTANCE_ID: Final = text("The instance's id, such as i-bp1abc.", 64)

_START_WORDS: Final = {
    "en": (("start", "boot", "power on", "turn on", "switch on", "bring it up"),),
    "zh": (("启动", "开机", "开启"),),
}
_STOP_WORDS: Final = {
    "en": (("stop", "shut down", "shut it down", "power off", "turn off", "switch off"),),
    "zh": (("停止", "关机", "停机", "关闭", "关掉", "停掉"),),
}


def find(work: Work, id: str) -> Instance:
    """The instance, or the refusal that there is none."""
    instance = work.get(Instance, id)
    if instance is None:
        raise errors.not_found(id)
    return instance


def expired(instance: Instance, now: int) -> bool:
    """Whether it is a subscription that has ended."""
    return instance.charge_type == "PrePaid" and 0 < instance.expired_time <= now


def start(work: Work, instance: Instance) -> None:
    """Bring it up; what an economical stop took has to be found again."""
    changes: dict[str, Any] = {}
    if instance.reclaimed_ip:
        changes = {"public_ip": new_address(work, instance.reclaimed_ip), "reclaimed_ip": ""}
    changes |= restarted(work, instance)
    starting = work.change(
        instance, status="Starting", stopped_mode="Not-applicable", stopped_by="", **changes
    )
    work.later(
        START_SECONDS, starting, status="Running", os_state="running",
        started_time=work.now + START_SECONDS, stopped_time=0, password_reset=False,
    )  # fmt: skip


def restarted(work: Work, instance: Instance) -> dict[str, Any]:
    """What a restart makes effective: the type of a subscription's changed specification."""
    if not instance.pending_type:
        return {}
    spec = TYPES[instance.pending_type]
    work.emit("subscription.repriced", instance=instance.id, monthly=spec.monthly_cents)
    return {
        "instance_type": instance.pending_type, "pending_type": "",
        "cpu": spec.cpu, "memory_mib": spec.memory_mib,
        "hourly_cents": spec.hourly_cents, "monthly_cents": spec.monthly_cents,
    }  # fmt: skip


def stop(work: Work, instance: Instance, mode: str, by: StoppedBy = "") -> Instance:
    """Take it down; an economical stop gives back computing and the static public address."""
    prepaid = instance.charge_type == "PrePaid"
    economical = (
        mode == "StopCharging"
        and not prepaid
        and instance.network == "vpc"
        and not instance.local_disks
    )
    given = "StopCharging" if economical else "KeepCharging"
    stopping = work.change(instance, status="Stopping", stopped_by=by)
    changes: dict[str, Any] = {}
    if economical and instance.public_ip:
        changes = {"public_ip": "", "reclaimed_ip": instance.public_ip}
    work.later(
        STOP_SECONDS, stopping, status="Stopped", os_state="halted",
        stopped_mode="Not-applicable" if prepaid else given,
        stopped_time=work.now + STOP_SECONDS, **changes,
    )  # fmt: skip
    return stopping


def new_address(work: Work, *avoid: str) -> str:
    """A public address that nothing of the account has."""
    taken = {instance.public_ip for instance in work.all(Instance)} | set(avoid)
    taken |= {getattr(eip, "ip_address", "") for eip in work.peek_all("vpc.eip")}
    stream = work.stream("ecs.public_ip")
    while True:
        network = IPv4Network(f"{stream.choice(DOCUMENTATION_NETWORKS)}.0/24")
        address = str(network[stream.integer(1, 254)])
        if address not in taken:
            return address


def start_instance(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """StartInstance."""
    instance = find(work, arguments["InstanceId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if expired(instance, work.now):
        raise errors.expired()
    if instance.lock_reasons:
        raise errors.insufficient_balance()
    if instance.status != "Stopped":
        raise errors.wrong_status(instance.status, "Stopped")
    if instance.charge_type == "PostPaid" and overdue(work):
        raise errors.insufficient_balance()
    if instance.no_stock and instance.stopped_mode == "StopCharging":
        raise errors.no_stock()
    if resetting(work, instance.id):
        raise CloudError("InstanceNotReady", "A disk of it is being set back; try later.", 500)
    start(work, instance)
    return {}


def stop_instance(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """StopInstance."""
    instance = find(work, arguments["InstanceId"])
    if "financial" in instance.lock_reasons or expired(instance, work.now):
        raise errors.expired_or_overdue()
    if instance.status != "Running":
        raise errors.wrong_status(instance.status, "Running")
    stop(work, instance, arguments.get("StoppedMode", "KeepCharging"))
    return {}


def reboot_instance(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """RebootInstance."""
    instance = find(work, arguments["InstanceId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if "financial" in instance.lock_reasons or expired(instance, work.now):
        raise errors.expired_or_overdue()
    if instance.status != "Running":
        raise errors.wrong_status(instance.status, "Running")
    reboot(work, instance)
    return {}


def reboot(work: Work, instance: Instance) -> None:
    """Restart a running instance from outside its guest."""
    changes = restarted(work, instance)
    starting = work.change(instance, status="Starting", **changes)
    work.later(
        REBOOT_SECONDS, starting, status="Running", os_state="running", halted_time=0,
        started_time=work.now + REBOOT_SECONDS, password_reset=False,
    )  # fmt: skip


def guest_shutdown(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the customer does inside the guest: the platform's status doesn't change."""
    instance = find(work, arguments["InstanceId"])
    if instance.status != "Running" or instance.os_state != "running":
        raise errors.wrong_status(instance.status, "Running with its guest up")
    work.change(instance, os_state="halted", halted_time=work.now)
    return {}


def guest_uptime(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the customer sees when it tries to log in."""
    instance = find(work, arguments["InstanceId"])
    booted = max(instance.started_time, instance.guest_booted)
    up = guest_up(instance)
    return {"Reachable": up, "UptimeSeconds": work.now - booted if up else 0}


def resetting(work: Work, instance_id: str) -> bool:
    """Whether a disk of the instance is being set back, so that it can't start."""
    disks = work.linked("disk.disk", instance_id)
    return any(view(disk, "status") == "ReIniting" for disk in disks)


_STOPPED_MODE: Final = one_of(
    "KeepCharging", "StopCharging", default="KeepCharging",
    description=(
        "KeepCharging keeps computing, and its charge, reserved. StopCharging gives computing and "
        "the static public address back, for pay-as-you-go VPC instances."
    ),
)  # fmt: skip

OPERATIONS: Final = (
    Operation(
        name="StartInstance",
        description="Start a stopped instance. It is Starting for a while, then Running.",
        effect="write",
        parameters=parameters(
            ("InstanceId",), InstanceId=INSTANCE_ID, InitLocalDisk=FLAG, DryRun=DRY_RUN
        ),
        run=start_instance,
        resource="InstanceId",
        propose=_START_WORDS,
    ),
    Operation(
        name="StopInstance",
        description=(
            "Stop a running instance. It is Stopping for a while, then Stopped; unless StoppedMode "
            "says StopCharging, a pay-as-you-go instance goes on being charged."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId",), InstanceId=INSTANCE_ID, StoppedMode=_STOPPED_MODE,
            ForceStop={**FLAG, "description": "Cut the power; unwritten data is lost."},
            DryRun=DRY_RUN,
        ),
        run=stop_instance,
        resource="InstanceId",
        propose=_STOP_WORDS,
    ),
    Operation(
        name="RebootInstance",
        description="Restart a running instance; it is out of service until it is Running again.",
        effect="write",
        parameters=parameters(
            ("InstanceId",), InstanceId=INSTANCE_ID,
            ForceStop={**FLAG, "description": "Cut the power first; unwritten data is lost."},
            DryRun=DRY_RUN,
        ),
        run=reboot_instance,
        resource="InstanceId",
        propose={
            "en": (("reboot", "restart"),),
            "zh": (("重启", "重新启动"),),
        },
    ),
    Operation(
        name="ConsoleStartInstance",
        description="The customer starts the instance in the console.",
        effect="write",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=start_instance,
        resource="InstanceId",
        propose=_START_WORDS,
        actor="customer",
    ),
    Operation(
        name="ConsoleStopInstance",
        description="The customer stops the instance in the console.",
        effect="write",
        parameters=parameters(
            ("InstanceId",), InstanceId=INSTANCE_ID, StoppedMode=_STOPPED_MODE
        ),
        run=stop_instance,
        resource="InstanceId",
        propose=_STOP_WORDS,
        actor="customer",
    ),
    Operation(
        name="ConsoleRebootInstance",
        description="The customer restarts the instance in the console.",
        effect="write",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=reboot_instance,
        resource="InstanceId",
        propose={
            "en": (("reboot", "restart"),),
            "zh": (("重启", "重新启动"),),
        },
        actor="customer",
    ),
    Operation(
        name="GuestShutdown",
        description="The customer shuts the operating system down from inside.",
        effect="write",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=guest_shutdown,
        resource="InstanceId",
        propose={
            "en": (("shut down", "halt", "power off"), ("inside", "operating system", "guest")),
            "zh": (("关机", "关闭"), ("系统内", "操作系统")),
        },
        actor="customer",
    ),
    Operation(
        name="GuestUptime",
        description="The customer tries to log in and looks how long the guest has been up.",
        effect="read",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=guest_uptime,
        resource="InstanceId",
        actor="customer",
    ),
)  # fmt: skip
