"""Who can reach whom: addresses, security group rules, guests and gateways, read as one path.

Pure functions of what a change-set can see. They read the records of several services by kind and
field name, so that each service that tells of reachability tells the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, ip_network
from typing import Any, Final, Literal, NamedTuple

from cirrus_env.cloud.api import view
from cirrus_env.cloud.model import Resource
from cirrus_env.cloud.work import Work

INSTANCE: Final = "ecs.instance"
ANYWHERE: Final = "0.0.0.0/0"
MAIL_PORT: Final = 25
"""Outbound TCP 25 is closed by the platform, whatever any rule says."""

Verdict = Literal["open", "refused", "timeout"]
"""What somebody who tries sees: a connection, an answer that nothing listens, or silence."""


class Path(NamedTuple):
    """How a connection ends.

    Attributes:
        verdict: What is seen.
        stop: What stops it: ``none``, ``instance``, ``address``, ``security-group``,
            ``guest-firewall``, ``program``, ``platform`` or ``gateway``.
        address: Outbound: the public address that the other side sees.
    """

    verdict: Verdict
    stop: str = "none"
    address: str = ""


@lru_cache(maxsize=1024)
def network(text: str) -> IPv4Network | None:
    """The IPv4 network of an address or CIDR block; None where it is none."""
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return None
    return found if isinstance(found, IPv4Network) else None


_PRIVATE: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")


def is_private(source: str) -> bool:
    """Whether a source is inside private networks."""
    asked = network(source)
    return asked is not None and any(covers(block, source) for block in _PRIVATE)


def covers(block: str, source: str) -> bool:
    """Whether a CIDR block holds all of another."""
    outer, inner = network(block), network(source)
    return outer is not None and inner is not None and inner.subnet_of(outer)


def port_bounds(text: str) -> tuple[int, int] | None:
    """The ports of a range such as ``22/22``; ``-1/-1`` is all; None where it is no range."""
    first, slash, last = text.partition("/")
    if text == "-1/-1":
        return 0, 65_535
    if not slash or not _plain(first) or not _plain(last):
        return None
    bounds = int(first), int(last)
    return bounds if 1 <= bounds[0] <= bounds[1] <= 65_535 else None


def _plain(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) <= 5


# -- security groups -----------------------------------------------------------------------------

GROUP: Final = "network.security_group"
RULE: Final = "network.rule"
_DEFAULT_OPEN: Final = (("TCP", 22), ("TCP", 3389), ("ICMP", 0))
"""What a default security group, one that has no record, lets in."""


def admitted(
    work: Work, instance: Resource, direction: str, protocol: str, port: int, other: str
) -> bool:
    """Whether the instance's security groups let a connection through.

    The strongest matching rule decides, and of equally strong ones a refusal. Without a match what
    comes in is refused and what goes out is let through.
    """
    groups: tuple[str, ...] = view(instance, "security_groups")
    matching: list[tuple[int, bool]] = []
    for group in groups:
        rules = work.linked(RULE, group)
        matching += [
            (view(rule, "priority"), view(rule, "policy") == "Accept")
            for rule in rules
            if view(rule, "direction") == direction and _fits(work, rule, protocol, port, other)
        ]
        default = direction == "ingress" and work.peek(GROUP, group) is None
        if default and (protocol, 0 if protocol == "ICMP" else port) in _DEFAULT_OPEN:
            matching.append((110, True))
    if not matching:
        return direction == "egress"
    return min(matching)[1]


def _fits(work: Work, rule: Resource, protocol: str, port: int, other: str) -> bool:
    if view(rule, "protocol") not in ("ALL", protocol):
        return False
    bounds = port_bounds(view(rule, "port_range"))
    if protocol != "ICMP" and (bounds is None or not bounds[0] <= port <= bounds[1]):
        return False
    group = view(rule, "source_group_id")
    if group:
        return any(
            view(peer, "private_ip") == other and group in view(peer, "security_groups")
            for peer in work.peek_all(INSTANCE)
        )
    cidr = view(rule, "cidr")
    if view(rule, "policy") == "Drop" and other == ANYWHERE:
        return network(cidr) is not None  # who asks for everybody is refused if anybody is
    return covers(cidr, other)


# -- the two ways --------------------------------------------------------------------------------


def inbound(work: Work, instance: Resource, port: int, source: str, protocol: str) -> Path:
    """What ``source`` sees when it connects to the instance; port 0 and ICMP for a ping."""
    if not guest_up(instance):
        return Path("timeout", "instance")
    if not is_private(source) and not _public(work, instance, port):
        return Path("timeout", "address")
    if not admitted(work, instance, "ingress", protocol, port, source):
        return Path("timeout", "security-group")
    if protocol == "ICMP":
        return Path("open")
    if str(port) in view(instance, "guest_blocked"):
        return Path("timeout", "guest-firewall")
    listening: tuple[str, ...] = view(instance, "listening")
    if not any(entry in (str(port), f"0.0.0.0:{port}") for entry in listening):
        return Path("refused", "program")
    return Path("open")


def guest_up(instance: Resource) -> bool:
    """Whether the instance's guest runs."""
    return bool(view(instance, "status") == "Running" and view(instance, "os_state") == "running")


def working_eips(work: Work, target: str) -> list[Resource]:
    """The elastic addresses that work on an instance or gateway."""
    return [
        eip for eip in work.linked("vpc.eip", target)
        if view(eip, "status") == "InUse" and view(eip, "business_status") == "Normal"
    ]  # fmt: skip


def _public(work: Work, instance: Resource, port: int) -> bool:
    if view(instance, "public_ip") or working_eips(work, instance.id):
        return True
    return any(view(e, "internal_port") in ("Any", str(port)) for e in _forwards(work, instance))


def _forwards(work: Work, instance: Resource) -> Iterable[Resource]:
    private = view(instance, "private_ip")
    return (
        entry for entry in work.peek_all("nat.forward_entry")
        if view(entry, "internal_ip") == private and view(entry, "status") == "Available"
    )  # fmt: skip


def outbound(work: Work, instance: Resource, port: int, target: str = ANYWHERE) -> Path:
    """What a program on the instance sees when it connects to the Internet."""
    if not guest_up(instance):
        return Path("timeout", "instance")
    if port == MAIL_PORT:
        return Path("timeout", "platform")
    if not admitted(work, instance, "egress", "TCP", port, target):
        return Path("timeout", "security-group")
    address = exit_address(work, instance)
    return Path("open", "none", address) if address else Path("timeout", "gateway")


def exit_address(work: Work, instance: Resource) -> str:
    """The public address that the instance's connections come from; empty where it has no way out.

    Its own address wins over a forwarding entry for all ports, and that over source translation.
    """
    own: str = view(instance, "public_ip")
    if own:
        return own
    eips = working_eips(work, instance.id)
    if eips:
        return str(view(eips[0], "ip_address"))
    for entry in _forwards(work, instance):
        if view(entry, "internal_port") == "Any":
            return str(view(entry, "external_ip"))
    return _translated(work, instance)


def _translated(work: Work, instance: Resource) -> str:
    private, vswitch = view(instance, "private_ip"), view(instance, "vswitch_id")
    found: list[tuple[int, str]] = []
    for entry in work.peek_all("nat.snat_entry"):
        nat = work.peek("nat.nat", view(entry, "nat_id"))
        if view(entry, "status") != "Available" or view(nat, "business_status") != "Normal":
            continue
        cidr = view(entry, "source_cidr")
        block = network(cidr) if cidr else None
        fits = covers(cidr, private) if block else view(entry, "source_vswitch_id") == vswitch
        working = {view(eip, "ip_address") for eip in working_eips(work, view(entry, "nat_id"))}
        addresses = [ip for ip in view(entry, "snat_ip").split(",") if ip in working]
        if fits and addresses:
            found.append((-(block.prefixlen if block else 0), addresses[0]))
    return min(found)[1] if found else ""


def asked(of: str) -> tuple[str, int, str]:
    """The instance, port and other side of a measure's ``instance:port:source``."""
    id, _, rest = of.partition(":")
    port, _, other = rest.partition(":")
    return id, int(port) if _plain(port) else 0, other or ANYWHERE


def reader(cloud: Any) -> Work:
    """A change-set that only reads, for measures."""
    return Work(cloud, cloud.account, "system", "measure")
