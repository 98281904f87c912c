"""What happened to an instance: system events, monitoring points and its console's last words."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from cirrus_env.cloud.api import PAGING, REGION_ID, one_of, page, parameters, text
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.models import Instance, InstanceEvent
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY, iso_second, parse_iso

KEPT: Final = 30 * DAY
POINTS: Final = 400
_CYCLES: Final = ("Scheduled", "Executing", "Executed", "Canceled", "Avoided")


def describe_events(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeInstanceHistoryEvents; finished ones are kept for 30 days."""
    instance = arguments.get("InstanceId")
    linked = work.all(InstanceEvent) if instance is None else work.linked("ecs.event", instance)
    cycle = arguments.get("InstanceEventCycleStatus")
    type = arguments.get("InstanceEventType")
    found = [
        e for e in linked
        if isinstance(e, InstanceEvent)
        and not 0 < e.finished < work.now - KEPT
        and (cycle is None or e.cycle == cycle)
        and (type is None or e.name == type)
    ]  # fmt: skip
    found.sort(key=lambda e: (-e.not_before, e.id))
    items, paging = page(found, arguments)
    shown = [_shown_event(e) for e in items]
    return {"InstanceSystemEventSet": {"InstanceSystemEventType": shown}, **paging}


def _shown_event(event: InstanceEvent) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "EventId": event.id,
        "InstanceId": event.instance_id,
        "EventType": {"Name": event.name},
        "EventCycleStatus": {"Name": event.cycle},
        "NotBefore": iso_second(event.not_before),
        "EventFinishTime": iso_second(event.finished) if event.finished else "",
        "Reason": event.reason,
    }
    if event.punish_type:
        shown["ExtendedAttribute"] = {
            "PunishType": event.punish_type,
            "PunishDomain": event.punish_domain,
            "PunishUrl": event.punish_url,
        }
    return shown


def _moment(value: str, name: str) -> int:
    try:
        return parse_iso(value)
    except (ValueError, OverflowError):
        raise CloudError(f"Invalid{name}.Malformed", f"{name} is no ISO 8601 time.") from None


def describe_monitor(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeInstanceMonitorData: one point a period, none from the future."""
    instance = find(work, arguments["InstanceId"])
    first = _moment(arguments["StartTime"], "StartTime")
    last = _moment(arguments["EndTime"], "EndTime")
    period: int = arguments.get("Period", 60)
    if last <= first:
        raise CloudError("InvalidParameter", "EndTime has to be later than StartTime.")
    if (last - first) // period > POINTS:
        raise CloudError("TooManyDataQueried", f"At most {POINTS} points; take a longer Period.")
    begins = -(-max(first, instance.created_time) // period) * period
    moments = range(begins, min(last, work.now) + 1, period)
    points = [_point(instance, moment) for moment in moments]
    return {"MonitorData": {"InstanceMonitorData": points}}


def _point(instance: Instance, moment: int) -> dict[str, Any]:
    down = any(0 < t <= moment for t in (instance.halted_time, instance.stopped_time))
    up = 0 if down else 1
    point: dict[str, Any] = {
        "InstanceId": instance.id,
        "TimeStamp": iso_second(moment),
        "CPU": up * instance.cpu_percent,
        "InternetTX": up * instance.traffic_kbps,
        "InternetRX": up * instance.traffic_kbps // 4,
        "IntranetTX": up * 12,
        "IntranetRX": up * 12,
        "BPSRead": up * 4096,
        "BPSWrite": up * 8192,
    }
    if instance.instance_type.startswith("ecs.t"):
        point["CPUCreditBalance"] = instance.cpu_credits
    return point


def console_output(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """GetInstanceConsoleOutput: the last lines of a Linux guest, in base64."""
    instance = find(work, arguments["InstanceId"])
    if instance.os_type != "linux":
        raise CloudError("OperationDenied", "Only Linux instances write to a console.", 403)
    if instance.status != "Running":
        raise errors.wrong_status(instance.status, "Running")
    host = instance.host_name or instance.id
    if instance.os_state == "halted":
        lines: tuple[str, ...] = (
            "[  OK  ] Stopped target Multi-User System.",
            "[  OK  ] Reached target Power-Off.",
            "reboot: System halted",
        )
        last = instance.halted_time or work.now
    else:
        lines = (f"Welcome to {instance.os_name}", f"{host} login:")
        last = instance.started_time
    output = b64encode("\n".join(lines).encode()).decode()
    return {
        "InstanceId": instance.id,
        "ConsoleOutput": output,
        "LastUpdateTime": iso_second(last),
    }


OPERATIONS: Final = (
    Operation(
        name="DescribeInstanceHistoryEvents",
        description=(
            "List system events of instances, newest first: maintenance, failures, stops because "
            "of arrears, expiry or abuse. Finished events are kept for 30 days."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            InstanceId=INSTANCE_ID,
            InstanceEventCycleStatus=one_of(*_CYCLES),
            InstanceEventType=text("Such as AccountUnbalanced.Stop.", 64),
            **PAGING,
        ),
        run=describe_events,
    ),
    Operation(
        name="DescribeInstanceMonitorData",
        description=(
            "Processor, traffic and disk activity of an instance between two times; all zero while "
            "its guest is down."
        ),
        effect="read",
        parameters=parameters(
            ("InstanceId", "StartTime", "EndTime"),
            InstanceId=INSTANCE_ID,
            StartTime=text("ISO 8601 in UTC, such as 2026-11-30T07:00:00Z.", 32),
            EndTime=text("ISO 8601 in UTC.", 32),
            Period={"type": "integer", "enum": [60, 600, 3600], "default": 60},
        ),
        run=describe_monitor,
    ),
    Operation(
        name="GetInstanceConsoleOutput",
        description=(
            "The last lines that a running Linux instance wrote to its console, base64 encoded."
        ),
        effect="read",
        parameters=parameters(("InstanceId",), RegionId=REGION_ID, InstanceId=INSTANCE_ID),
        run=console_output,
    ),
)
