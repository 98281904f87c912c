"""What a customer finds out by trying: telnet, ping, curl, netstat; and the same as measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import FLAG, one_of, parameters, text, view
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Measure, Operation, Resource
from cirrus_env.cloud.reach import (
    ANYWHERE,
    INSTANCE,
    asked,
    exit_address,
    inbound,
    network,
    outbound,
    port_bounds,
    reader,
    working_eips,
)
from cirrus_env.cloud.services.network import errors
from cirrus_env.cloud.services.network.groups import INSTANCE_ID
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

EXPOSED: Final = (22, 3389, 3306, 5432, 1433, 6379, 27017)
"""Ports of remote logins, databases and caches: never for everybody."""

_SEEN: Final = {
    "open": "Connected.",
    "refused": "Connection refused.",
    "timeout": "Connection timed out.",
}


def _instance(work: Work, id: str) -> Resource:
    instance = work.peek(INSTANCE, id)
    if instance is None:
        raise errors.no_instance(id)
    return instance


def _source(arguments: Mapping[str, Any]) -> str:
    source: str = arguments.get("SourceIp", ANYWHERE)
    if network(source) is None:
        raise CloudError("InvalidSourceIp.Malformed", "SourceIp is no IPv4 address.", 400)
    return source


def probe_port(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``telnet`` shows to somebody who tries a port."""
    instance, source = _instance(work, arguments["InstanceId"]), _source(arguments)
    port: int = arguments["Port"]
    path = inbound(work, instance, port, source, arguments.get("Protocol", "TCP"))
    return {"Port": port, "Result": path.verdict, "Message": _SEEN[path.verdict]}


def probe_ping(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``ping`` shows."""
    instance, source = _instance(work, arguments["InstanceId"]), _source(arguments)
    answered = inbound(work, instance, 0, source, "ICMP").verdict == "open"
    loss = 0 if answered else 100
    return {
        "Reachable": answered,
        "Message": f"4 packets transmitted, {4 if answered else 0} received, {loss}% packet loss",
    }


def ssh_login(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``ssh`` shows: a login, or the words with which it gives up."""
    instance, source = _instance(work, arguments["InstanceId"]), _source(arguments)
    address = arguments.get("Address", "")
    known = {view(instance, "public_ip"), view(instance, "private_ip")}
    known |= {view(eip, "ip_address") for eip in working_eips(work, instance.id)}
    path = inbound(work, instance, 22, source, "TCP")
    if path.verdict == "timeout" or (address and address not in known):
        raise CloudError("ConnectionTimedOut", _SEEN["timeout"], 400)
    if path.verdict == "refused":
        raise CloudError("ConnectionRefused", _SEEN["refused"], 400)
    return {"LoggedIn": True, "HostName": view(instance, "host_name") or instance.id}


def guest_curl(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a connection from inside the guest to the Internet shows."""
    instance = _instance(work, arguments["InstanceId"])
    path = outbound(work, instance, arguments.get("Port", 443))
    if arguments.get("MustConnect") and path.verdict != "open":
        raise CloudError("NoConnection", _SEEN[path.verdict], 504)
    return {
        "Port": arguments.get("Port", 443),
        "Result": path.verdict,
        "Message": _SEEN[path.verdict],
        "PublicIpSeen": path.address,
    }


def guest_listening(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``netstat`` lists inside the guest."""
    instance = _instance(work, arguments["InstanceId"])
    up = view(instance, "status") == "Running" and view(instance, "os_state") == "running"
    if not up:
        raise CloudError("IncorrectInstanceStatus", "The guest isn't running.", 403)
    entries = [e if ":" in e else f"0.0.0.0:{e}" for e in view(instance, "listening")]
    return {"Listening": entries, "BlockedByGuestFirewall": list(view(instance, "guest_blocked"))}


# -- measures ------------------------------------------------------------------------------------


def port_open(cloud: Cloud, of: str) -> int:
    """1 if ``instance:port:source`` gets a connection over TCP; without a source, if all do."""
    work = reader(cloud)
    id, port, source = asked(of)
    instance = work.peek(INSTANCE, id)
    return int(
        instance is not None and inbound(work, instance, port, source, "TCP").verdict == "open"
    )


def port_admitted(cloud: Cloud, of: str) -> int:
    """As ``port_open``, but 1 also where only the program on the guest is missing."""
    work = reader(cloud)
    id, port, source = asked(of)
    instance = work.peek(INSTANCE, id)
    if instance is None:
        return 0
    path = inbound(work, instance, port, source, "TCP")
    return int(path.verdict != "timeout" or path.stop == "guest-firewall")


def ping_open(cloud: Cloud, of: str) -> int:
    """1 if ``instance`` or ``instance::source`` answers a ping."""
    work = reader(cloud)
    id, _, source = asked(of)
    instance = work.peek(INSTANCE, id)
    return int(instance is not None and inbound(work, instance, 0, source, "ICMP").verdict
               == "open")  # fmt: skip


def outbound_open(cloud: Cloud, of: str) -> int:
    """1 if ``instance:port`` can be reached from the instance on the Internet; never port 25."""
    work = reader(cloud)
    id, port, target = asked(of)
    instance = work.peek(INSTANCE, id)
    return int(instance is not None and outbound(work, instance, port, target).verdict == "open")


def has_exit(cloud: Cloud, of: str) -> int:
    """1 if the instance has any way to the Internet, whatever its rules say."""
    work = reader(cloud)
    instance = work.peek(INSTANCE, of)
    return int(instance is not None and bool(exit_address(work, instance)))


def exposed_ports(cloud: Cloud, of: str) -> int:
    """How many ports for logins, databases and caches a group's or instance's rules open to all."""
    work = reader(cloud)
    instance = work.peek(INSTANCE, of)
    groups = (of,) if instance is None else view(instance, "security_groups")
    return sum(any(_open_to_all(work, group, port) for group in groups) for port in EXPOSED)


def _open_to_all(work: Work, group: str, port: int) -> bool:
    for rule in work.linked("network.rule", group):
        bounds = port_bounds(view(rule, "port_range"))
        if (
            view(rule, "direction") == "ingress"
            and view(rule, "policy") == "Accept"
            and view(rule, "protocol") in ("TCP", "ALL")
            and view(rule, "cidr") == ANYWHERE
            and bounds is not None
            and bounds[0] <= port <= bounds[1]
        ):
            return True
    return False


MEASURES: Final[Mapping[str, Measure]] = {
    "port_open": port_open,
    "port_admitted": port_admitted,
    "ping_open": ping_open,
    "outbound_open": outbound_open,
    "has_exit": has_exit,
    "exposed_ports": exposed_ports,
}

_PORT: Final = {"type": "integer", "minimum": 1, "maximum": 65_535, "description": "The port."}
_SOURCE_IP: Final = text("The address that is tried from; anywhere unless named.", 64)
OPERATIONS: Final = (
    Operation(
        name="ProbePort",
        description="The customer tries a port of the instance with telnet.",
        effect="read",
        parameters=parameters(
            ("InstanceId", "Port"),
            InstanceId=INSTANCE_ID,
            Port=_PORT,
            SourceIp=_SOURCE_IP,
            Protocol=one_of("TCP", "UDP", default="TCP"),
        ),
        run=probe_port,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="SshLogin",
        description="The customer logs in to the instance with SSH, at an address that it knows.",
        effect="read",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            SourceIp=_SOURCE_IP,
            Address=text("The address that is dialled; the instance's own unless named.", 64),
        ),
        run=ssh_login,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="ProbePing",
        description="The customer pings the instance.",
        effect="read",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID, SourceIp=_SOURCE_IP),
        run=probe_ping,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="GuestCurl",
        description="The customer connects to the Internet from inside the guest.",
        effect="read",
        parameters=parameters(
            ("InstanceId",),
            InstanceId=INSTANCE_ID,
            Port={**_PORT, "default": 443},
            MustConnect={**FLAG, "description": "Whether it fails where nothing answers."},
        ),
        run=guest_curl,
        resource="InstanceId",
        actor="customer",
    ),
    Operation(
        name="GuestListening",
        description="The customer lists the ports that programs in the guest listen on.",
        effect="read",
        parameters=parameters(("InstanceId",), InstanceId=INSTANCE_ID),
        run=guest_listening,
        resource="InstanceId",
        actor="customer",
    ),
)
