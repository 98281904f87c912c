"""ECS records, their lifecycle and what they cost (domain/infrastructure.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final, Literal, NamedTuple

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

InstanceStatus = Literal["Pending", "Starting", "Running", "Stopping", "Stopped"]
StoppedMode = Literal["KeepCharging", "StopCharging", "Not-applicable"]
ChargeType = Literal["PostPaid", "PrePaid"]

StoppedBy = Literal["", "arrears", "expiry"]

START_SECONDS: Final = 30
STOP_SECONDS: Final = 20
REBOOT_SECONDS: Final = 30
RETENTION_DAYS: Final = 15
"""How long an expired or overdue instance is kept before it is released."""

LIFECYCLE: Final = frozenset(
    {
        ("Pending", "Starting"),
        ("Pending", "Stopped"),
        ("Starting", "Running"),
        ("Running", "Starting"),
        ("Running", "Stopping"),
        ("Stopping", "Stopped"),
        ("Stopped", "Starting"),
    }
)


@dataclass(frozen=True, slots=True)
class Instance(Resource):
    """One server. Moments are logical seconds since 1970 (0 for none); money is cents.

    Attributes:
        os_state: ``running``, or ``halted`` once it was shut down inside the guest; the platform
            still shows such an instance as Running.
        stopped_mode: How it was stopped; ``Not-applicable`` while it isn't, or if prepaid.
        charge_type: ``PostPaid`` is pay-as-you-go, ``PrePaid`` a subscription.
        expired_time: The end of the subscription.
        hourly_cents: What its computing costs an hour if pay-as-you-go.
        monthly_cents: What a month of its subscription costs.
        public_ip: The static public address; an economical stop gives it up.
        reclaimed_ip: The static address that an economical stop took.
        lock_reasons: ``financial``, ``security``, ``Recycling``, ``refunded``...
        stopped_by: ``arrears`` or ``expiry`` where the platform stopped it; only then does the
            platform start it again by itself once it is paid.
        halted_time: When it was shut down inside the guest; from then on its monitor shows nothing.
        no_stock: The zone has no capacity left to start it after an economical stop.
        local_disks: Whether it has local disks, which forbid an economical stop and a new type.
        pending_type: The type that a subscription upgrade brings at the next restart.
        guest_booted: When the guest was last restarted from inside.
        screen: What its screen shows instead of a login, such as a failed file system check.
        sold_out: The types that its zone has no capacity for.
        credit_specification: Whether a burstable type may go beyond its credits, for money.
        assistant_online: Whether the agent that runs remote commands answers.
        listening: The ports that programs in the guest listen on, such as ``80`` for every address
            and ``127.0.0.1:8080`` for the guest alone.
        guest_blocked: Ports that a firewall inside the guest closes.
        cpu_percent: The processor load that the monitor shows while the guest runs.
        traffic_kbps: The outbound public traffic that the monitor shows while the guest runs.
        cpu_credits: The credits that a burstable type has left.
    """

    kind: ClassVar[str] = "ecs.instance"
    id_prefix: ClassVar[str] = "i-bp1"

    name: str = ""
    status: InstanceStatus = "Running"
    os_state: Literal["running", "halted"] = "running"
    stopped_mode: StoppedMode = "Not-applicable"
    charge_type: ChargeType = "PostPaid"
    expired_time: int = 0
    auto_release_time: int = 0
    renewal_status: Literal["AutoRenewal", "Normal", "NotRenewal"] = "Normal"
    renewal_duration: int = 1
    renewal_unit: Literal["Week", "Month", "Year"] = "Month"
    hourly_cents: int = 60
    monthly_cents: int = 28_800
    region: str = REGION
    zone: str = "cn-hangzhou-h"
    instance_type: str = "ecs.g7.large"
    cpu: int = 2
    memory_mib: int = 8192
    os_name: str = "Ubuntu 22.04 64-bit"
    os_type: Literal["linux", "windows"] = "linux"
    image_id: str = "m-bp1ubuntu2204base0001"
    host_name: str = ""
    description: str = ""
    key_pair: str = ""
    http_tokens: Literal["optional", "required"] = "optional"
    created_time: int = EPOCH - 120 * DAY
    started_time: int = EPOCH - 120 * DAY
    stopped_time: int = 0
    halted_time: int = 0
    network: Literal["vpc", "classic"] = "vpc"
    vpc_id: str = "vpc-bp1default000000001"
    vswitch_id: str = "vsw-bp1default00000001"
    private_ip: str = "10.0.0.10"
    public_ip: str = ""
    reclaimed_ip: str = ""
    internet_charge: Literal["PayByTraffic", "PayByBandwidth"] = "PayByTraffic"
    bandwidth_mbps: int = 0
    security_groups: tuple[str, ...] = ("sg-bp1default0000000001",)
    deletion_protection: bool = False
    lock_reasons: tuple[str, ...] = ()
    stopped_by: StoppedBy = ""
    no_stock: bool = False
    local_disks: bool = False
    pending_type: str = ""
    password_reset: bool = False
    guest_booted: int = 0
    screen: str = ""
    sold_out: tuple[str, ...] = ()
    credit_specification: Literal["Standard", "Unlimited"] = "Standard"
    assistant_online: bool = True
    listening: tuple[str, ...] = ("22",)
    guest_blocked: tuple[str, ...] = ()
    cpu_percent: int = 12
    traffic_kbps: int = 340
    cpu_credits: int = 0


@dataclass(frozen=True, slots=True)
class InstanceEvent(Resource):
    """One entry of an instance's history, such as ``AccountUnbalanced.Stop``.

    Attributes:
        name: The event type's name.
        cycle: ``Scheduled``, ``Executing``, ``Executed``, ``Canceled`` or ``Avoided``.
        not_before: When it happened or may happen.
        punish_type: For abuse: what it was punished for.
        punish_domain: For abuse: the domain concerned.
        punish_url: For abuse: where the customer appeals.
    """

    kind: ClassVar[str] = "ecs.event"
    id_prefix: ClassVar[str] = "e-bp1"

    instance_id: str = ""
    name: str = "SystemMaintenance.Reboot"
    cycle: Literal["Scheduled", "Executing", "Executed", "Canceled", "Avoided"] = "Executed"
    not_before: int = EPOCH - DAY
    finished: int = 0
    reason: str = ""
    punish_type: str = ""
    punish_domain: str = ""
    punish_url: str = ""


@dataclass(frozen=True, slots=True)
class Invocation(Resource):
    """One command that was run remotely in a guest.

    Attributes:
        command: What was run.
        exit_code: 0 where it worked.
        output: What it wrote.
    """

    kind: ClassVar[str] = "ecs.invocation"
    id_prefix: ClassVar[str] = "t-bp1"

    instance_id: str = ""
    command: str = ""
    exit_code: int = 0
    output: str = ""
    created_time: int = 0


class TypeSpec(NamedTuple):
    """An instance type that can be bought."""

    cpu: int
    memory_mib: int
    hourly_cents: int
    monthly_cents: int


TYPES: Final = MappingProxyType(
    {
        "ecs.t6-c1m1.large": TypeSpec(2, 2048, 22, 9_900),
        "ecs.c7.large": TypeSpec(2, 4096, 48, 23_000),
        "ecs.c7.xlarge": TypeSpec(4, 8192, 96, 46_000),
        "ecs.g7.large": TypeSpec(2, 8192, 60, 28_800),
        "ecs.g7.xlarge": TypeSpec(4, 16_384, 120, 57_600),
        "ecs.g7.2xlarge": TypeSpec(8, 32_768, 240, 115_200),
        "ecs.r7.large": TypeSpec(2, 16_384, 80, 38_400),
    }
)


def compute_reserved(instance: Instance) -> bool:
    """Whether processor and memory are held for it: false only once they were given back."""
    return not (instance.status == "Stopped" and instance.stopped_mode == "StopCharging")


def rates(instance: Instance, now: int) -> tuple[tuple[str, int], ...]:
    """Computing is charged by the hour while it is reserved, halted guest or not.

    A subscription is paid in advance and accrues nothing. Arrears that lock an instance also end
    its charges.
    """
    if instance.charge_type == "PrePaid" or "financial" in instance.lock_reasons:
        return ()
    result = []
    if compute_reserved(instance):
        result.append(("compute", instance.hourly_cents))
    if instance.internet_charge == "PayByBandwidth" and instance.public_ip:
        result.append(("public bandwidth", 3 * instance.bandwidth_mbps))
    return tuple(result)
