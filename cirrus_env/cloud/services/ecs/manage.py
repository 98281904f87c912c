"""Changing what an instance is: attributes, type, bandwidth; and giving it up."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    BOOLEAN,
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    one_of,
    overdue,
    parameters,
    text,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.handlers import release
from cirrus_env.cloud.services.ecs.models import TYPES, Instance
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, expired, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

_SYMBOLS: Final = frozenset("()`~!@#$%^&*-_+=|{}[]:;'<>,.?/")


def _strong(password: str) -> bool:
    classes = (
        any("a" <= c <= "z" for c in password),
        any("A" <= c <= "Z" for c in password),
        any("0" <= c <= "9" for c in password),
        any(c in _SYMBOLS for c in password),
    )
    return 8 <= len(password) <= 30 and sum(classes) >= 3


def modify_attribute(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyInstanceAttribute; a new password and host name wait for a restart."""
    instance = find(work, arguments["InstanceId"])
    fields = {
        "InstanceName": "name",
        "Description": "description",
        "HostName": "host_name",
        "DeletionProtection": "deletion_protection",
    }
    changes = {field: arguments[name] for name, field in fields.items() if name in arguments}
    if "SecurityGroupIds" in arguments:
        changes["security_groups"] = _groups(work, instance, arguments["SecurityGroupIds"])
    if "CreditSpecification" in arguments:
        if not instance.instance_type.startswith("ecs.t"):
            raise CloudError(
                "InvalidInstanceType.NotSupport", "Only burstable types have credits.", 403
            )
        changes["credit_specification"] = arguments["CreditSpecification"]
    if "Password" in arguments:
        if not _strong(arguments["Password"]):
            raise CloudError(
                "InvalidPassword.Malformed",
                "A password has 8 to 30 characters of at least three classes.",
            )
        if instance.status == "Starting":
            raise errors.wrong_status(instance.status, "Running or Stopped")
        changes["password_reset"] = True
    if not changes:
        raise CloudError("MissingParameter", "Name at least one attribute to change.")
    work.change(instance, **changes)
    return {}


def _groups(work: Work, instance: Instance, ids: list[str]) -> tuple[str, ...]:
    """The groups named, once each; where the world keeps groups, they have to exist."""
    known = {group.id for group in work.peek_all("network.security_group")}
    for id in ids:
        if known and id not in known and id not in instance.security_groups:
            raise CloudError(
                "InvalidSecurityGroupId.NotFound", f"This account has no security group {id}.", 404
            )
    return tuple(dict.fromkeys(ids))


def modify_spec(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyInstanceSpec: a pay-as-you-go instance's type or its bandwidth, never both."""
    instance = find(work, arguments["InstanceId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.charge_type == "PrePaid":
        raise errors.charge_type_violation("A subscription is upgraded or downgraded by an order.")
    if instance.lock_reasons or overdue(work):
        raise errors.arrearage()
    type = arguments.get("InstanceType")
    bandwidth = arguments.get("InternetMaxBandwidthOut")
    if type is not None and bandwidth is not None:
        raise CloudError("InvalidParameter.Mismatch", "Change the type or the bandwidth, not both.")
    if type is not None:
        _retype(work, instance, type)
    elif bandwidth is not None:
        if instance.status not in ("Running", "Stopped"):
            raise errors.wrong_status(instance.status, "Running or Stopped")
        work.change(instance, bandwidth_mbps=bandwidth)
    else:
        raise CloudError("MissingParameter", "Name InstanceType or InternetMaxBandwidthOut.")
    return {}


def _retype(work: Work, instance: Instance, type: str) -> None:
    spec = TYPES.get(type)
    if spec is None or type == instance.instance_type:
        raise CloudError(
            "InvalidInstanceType.ValueNotSupported",
            f"The type can't become {type}; on offer are {', '.join(TYPES)}.",
        )
    if type in instance.sold_out:
        raise errors.no_stock()
    if instance.local_disks:
        raise CloudError("CategoryViolation", "An instance with local disks keeps its type.", 403)
    if instance.status != "Stopped":
        raise CloudError(
            "InvalidInstanceStatus.NotStopped", f"The instance is {instance.status}, not Stopped."
        )
    work.change(
        instance, instance_type=type, cpu=spec.cpu, memory_mib=spec.memory_mib,
        hourly_cents=spec.hourly_cents, monthly_cents=spec.monthly_cents, no_stock=False,
    )  # fmt: skip


def delete_instance(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteInstance."""
    instance = find(work, arguments["InstanceId"])
    if instance.charge_type == "PrePaid":
        if not expired(instance, work.now):
            raise errors.charge_type_violation("A subscription that still runs can't be released.")
        if not arguments.get("TerminateSubscription"):
            raise errors.charge_type_violation("Set TerminateSubscription to release it.")
    if instance.deletion_protection:
        raise CloudError(
            "InvalidOperation.DeletionProtection", "The instance is protected from release.", 403
        )
    if instance.status == "Pending":
        raise CloudError(
            "IncorrectInstanceStatus.Initializing", "The instance is still being created.", 403
        )
    if instance.status != "Stopped" and not (
        instance.status == "Running" and arguments.get("Force")
    ):
        raise errors.wrong_status(instance.status, "Stopped, or Running with Force")
    release(work, instance)
    return {}


OPERATIONS: Final = (
    Operation(
        name="ModifyInstanceAttribute",
        description=(
            "Change an instance's name, description, host name, password, security groups or "
            "protection. Host name and password become effective at the next restart."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            InstanceName=text("The new name.", 128),
            Description=text("The new description.", 256),
            HostName=text("The new host name.", 64),
            Password=text("8 to 30 characters of three classes; the customer's to choose.", 64),
            SecurityGroupIds={
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 64},
                "minItems": 1,
                "maxItems": 5,
            },
            DeletionProtection={**BOOLEAN, "description": "Whether a release is refused."},
            CreditSpecification=one_of(
                "Standard",
                "Unlimited",
                description="Burstable types: Unlimited goes beyond the credits, for money.",
            ),
        ),
        run=modify_attribute,
        resource="InstanceId",
        propose={
            "en": (("change", "set", "rename", "reset", "turn off", "turn on", "switch"),),
            "zh": (("修改", "设置", "重置", "改名", "关闭", "开启"),),
        },
    ),
    Operation(
        name="ModifyInstanceSpec",
        description=(
            "Change a pay-as-you-go instance's type, for which it has to be Stopped, or its public "
            "bandwidth. The price changes with it."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            InstanceType=text("The new type, such as ecs.g7.xlarge.", 64),
            InternetMaxBandwidthOut={
                "type": "integer", "minimum": 0, "maximum": 100, "description": "Mbit/s.",
            },
            ClientToken=CLIENT_TOKEN,
            DryRun=DRY_RUN,
        ),
        run=modify_spec,
        resource="InstanceId",
        propose={
            "en": (("change", "upgrade", "downgrade", "resize", "switch", "move"),),
            "zh": (("变更", "升级", "降级", "更换", "调整"),),
        },
    ),
    Operation(
        name="DeleteInstance",
        description=(
            "Release an instance for good, with every disk that is set to go with it. Manual "
            "snapshots and elastic addresses stay and are charged. Subscriptions only once expired."
        ),
        effect="irreversible",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            Force={**FLAG, "description": "Release it although it is Running."},
            TerminateSubscription={**FLAG, "description": "Release an expired subscription."},
            DryRun=DRY_RUN,
        ),
        run=delete_instance,
        resource="InstanceId",
        propose={
            "en": (("release", "delete", "terminate", "remove", "destroy"),),
            "zh": (("释放", "删除", "销毁"),),
        },
    ),
)  # fmt: skip
