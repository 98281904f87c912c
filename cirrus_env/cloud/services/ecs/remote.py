"""Reaching a guest from outside: its screen, and commands that an agent in it runs."""

from __future__ import annotations

from base64 import b64encode
from hashlib import blake2b
from typing import Any, Final

from cirrus_env.cloud.api import REGION_ID, one_of, parameters, text, view
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.reach import guest_up
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.models import Instance, Invocation
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second

VNC_SECONDS: Final = 300
"""How long an address of the screen is good for while nobody uses it."""


def vnc_url(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeInstanceVncUrl."""
    instance = find(work, arguments["InstanceId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.status != "Running":
        raise errors.wrong_status(instance.status, "Running")
    key = blake2b(f"{instance.id}:{work.now // VNC_SECONDS}".encode(), digest_size=12).hexdigest()
    return {"VncUrl": f"https://vnc.example.com/{instance.region}/?ticket={key}"}


def run_command(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """RunCommand."""
    instance = find(work, arguments["InstanceId"])
    if instance.status != "Running":
        raise errors.wrong_status(instance.status, "Running")
    if not instance.assistant_online or not guest_up(instance):
        raise CloudError("ClientNotOnline", "The agent in the guest doesn't answer.", 403)
    if instance.os_type == "windows" and arguments.get("Type") == "RunShellScript":
        raise CloudError("CmdTypeMismatch", "Windows runs no shell scripts.", 403)
    command = arguments["CommandContent"].strip()
    output = _output(work, instance, command)
    invocation = Invocation(
        work.new_id(Invocation), work.tenant, instance_id=instance.id, command=command,
        exit_code=127 if output is None else 0, created_time=work.now,
        output=f"sh: {command.split()[0] if command else ''}: command not found"
        if output is None else output,
    )  # fmt: skip
    work.put(invocation)
    return {"InvokeId": invocation.id, "CommandId": "c-" + invocation.id.removeprefix("t-")}


def _output(work: Work, instance: Instance, command: str) -> str | None:
    """What a few harmless commands write; None for one that this guest doesn't have."""
    if command == "nproc":
        return str(instance.cpu)
    if command == "hostname":
        return instance.host_name or instance.id
    if command == "uptime":
        up = work.now - max(instance.started_time, instance.guest_booted)
        return f"up {up // 86_400} days, {up % 86_400 // 3600} hours"
    if command in ("ss -lnt", "netstat -lnt"):
        entries = [e if ":" in e else f"0.0.0.0:{e}" for e in instance.listening]
        return "\n".join(f"LISTEN {e}" for e in entries)
    if command in ("lsblk", "df -h"):
        disks = [d for d in work.linked("disk.disk", instance.id) if view(d, "status") == "In_use"]
        whole = command == "lsblk"
        return "\n".join(f"{view(d, 'device')} {_size(d, whole)}G" for d in disks)
    return None


def _size(disk: Any, whole: bool) -> int:
    seen: int = view(disk, "guest_size_gib") or view(disk, "size_gib")
    return seen if whole else min(view(disk, "filesystem_gib") or seen, seen)


def results(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeInvocationResults."""
    found = [
        i for i in work.all(Invocation)
        if arguments.get("InvokeId") in (None, i.id)
        and arguments.get("InstanceId") in (None, i.instance_id)
    ]  # fmt: skip
    shown = [
        {
            "InvokeId": i.id,
            "InstanceId": i.instance_id,
            "InvocationStatus": "Success" if i.exit_code == 0 else "Failed",
            "ExitCode": i.exit_code,
            "Output": b64encode(i.output.encode()).decode(),
            "StartTime": iso_second(i.created_time),
        }
        for i in found[-20:]
    ]
    return {"Invocation": {"InvocationResults": {"InvocationResult": shown}}}


OPERATIONS: Final = (
    Operation(
        name="DescribeInstanceVncUrl",
        description=(
            "An address at which the customer sees a running instance's screen; it is good for "
            "300 seconds. Logging in there is the customer's."
        ),
        effect="read",
        parameters=parameters(("InstanceId",), RegionId=REGION_ID, InstanceId=INSTANCE_ID),
        run=vnc_url,
    ),
    Operation(
        name="RunCommand",
        description=(
            "Run a command in a running instance's guest by the agent in it; only with the "
            "customer's consent. DescribeInvocationResults gives what it wrote."
        ),
        effect="write",
        parameters=parameters(
            ("InstanceId", "CommandContent"),
            RegionId=REGION_ID,
            InstanceId=INSTANCE_ID,
            CommandContent=text("The command, in plain text.", 2048),
            Type=one_of("RunShellScript", "RunPowerShellScript", default="RunShellScript"),
        ),
        run=run_command,
        resource="InstanceId",
        propose={
            "en": (("run", "execute"), ("command", "script")),
            "zh": (("执行", "运行"), ("命令", "脚本")),
        },
    ),
    Operation(
        name="DescribeInvocationResults",
        description="What commands run in guests came to; the output is base64 encoded.",
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            InvokeId=text("The id that RunCommand gave.", 64),
            InstanceId=INSTANCE_ID,
        ),
        run=results,
    ),
)
