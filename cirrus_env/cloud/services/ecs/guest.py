"""What a customer sees and does in the guest and in its own console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import BOOLEAN, parameters
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Measure, Operation
from cirrus_env.cloud.reach import guest_up
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.models import Instance
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, find
from cirrus_env.cloud.work import Work


def _up(work: Work, arguments: dict[str, Any]) -> Instance:
    instance = find(work, arguments["InstanceId"])
    if not guest_up(instance):
        raise errors.wrong_status(instance.status, "Running with its guest up")
    return instance


def reboot(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """A restart from inside: the platform sees nothing of it, so nothing pending takes effect."""
    instance = _up(work, arguments)
    work.change(instance, guest_booted=work.now)
    return {}


def processors(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``nproc`` and ``free`` show."""
    instance = _up(work, arguments)
    return {"Processors": instance.cpu, "MemoryMiB": instance.memory_mib}


def vnc(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the screen shows to somebody who looks at it and logs in."""
    instance = find(work, arguments["InstanceId"])
    if instance.status != "Running":
        return {"Screen": "No signal.", "LoggedIn": False}
    if instance.os_state == "halted":
        return {"Screen": "System halted.", "LoggedIn": False}
    if instance.screen:
        return {"Screen": instance.screen, "LoggedIn": False}
    return {"Screen": f"{instance.host_name or instance.id} login:", "LoggedIn": True}


def start_service(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """The customer starts the program that serves a port, such as ``sshd``."""
    instance = _up(work, arguments)
    port = str(arguments["Port"])
    running = any(entry in (port, f"0.0.0.0:{port}") for entry in instance.listening)
    if not running:
        work.change(instance, listening=(*instance.listening, port))
    return {"Active": True, "WasActive": running}


def protect(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """The customer switches the protection against releases."""
    instance = find(work, arguments["InstanceId"])
    work.change(instance, deletion_protection=arguments["DeletionProtection"])
    return {}


def new_password(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """The customer types a new password into the console; it waits for a restart from outside."""
    instance = find(work, arguments["InstanceId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.status not in ("Running", "Stopped"):
        raise errors.wrong_status(instance.status, "Running or Stopped")
    work.change(instance, password_reset=True)
    return {}


def guest_processors(cloud: Cloud, of: str) -> int:
    """The processors that the guest has now; 0 while it is down."""
    instance = cloud.find(Instance.kind, of)
    return instance.cpu if isinstance(instance, Instance) and guest_up(instance) else 0


MEASURES: Final[Mapping[str, Measure]] = {"guest_processors": guest_processors}

OPERATIONS: Final = (
    Operation(
        name="GuestReboot",
        description="The customer restarts the operating system from inside.",
        effect="write",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=reboot,
        resource="InstanceId",
        propose={
            "en": (("reboot", "restart"), ("inside", "operating system", "guest")),
            "zh": (("重启", "重新启动"), ("系统内", "操作系统")),
        },
        actor="customer",
    ),
    Operation(
        name="GuestProcessors",
        description="The customer looks how many processors the guest has (nproc).",
        effect="read",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=processors,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="VncLogin",
        description="The customer looks at the instance's screen and tries to log in.",
        effect="read",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=vnc,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="GuestStartService",
        description="The customer starts the program that serves a port, inside the guest.",
        effect="write",
        parameters=parameters(
            ("InstanceId", "Port"),
            InstanceId=INSTANCE_ID,
            Port={"type": "integer", "minimum": 1, "maximum": 65_535, "description": "The port."},
        ),
        run=start_service,
        resource="InstanceId",
        propose={
            "en": (("start", "restart"), ("service", "sshd", "daemon")),
            "zh": (("启动", "重启"), ("服务", "sshd")),
        },
        actor="customer",
    ),
    Operation(
        name="ConsoleSetDeletionProtection",
        description="The customer switches the instance's protection against releases.",
        effect="write",
        parameters=parameters(
            ("InstanceId", "DeletionProtection"),
            InstanceId=INSTANCE_ID,
            DeletionProtection=BOOLEAN,
        ),
        run=protect,
        resource="InstanceId",
        propose={
            "en": (("turn off", "turn on", "switch", "disable", "enable"), ("protection",)),
            "zh": (("关闭", "开启", "取消"), ("释放保护", "保护")),
        },
        actor="customer",
    ),
    Operation(
        name="ConsoleResetPassword",
        description="The customer sets a new login password in the console.",
        effect="write",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=new_password,
        resource="InstanceId",
        propose={
            "en": (("reset", "set", "change"), ("password",)),
            "zh": (("重置", "设置", "修改"), ("密码",)),
        },
        actor="customer",
    ),
)
