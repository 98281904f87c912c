"""Reading instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cirrus_env.cloud.api import (
    REGION,
    REGION_ID,
    cursor,
    fuzzy,
    id_list,
    locks,
    one_of,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.ecs.models import Instance
from cirrus_env.cloud.work import Work
from cirrus_env.world.clock import iso_minute


def moment(seconds: int) -> str:
    """A moment as the API writes it; empty for none."""
    return iso_minute(seconds) if seconds else ""


def eip_of(work: Work, instance_id: str) -> Resource | None:
    """The elastic address bound to an instance."""
    bound = work.linked("vpc.eip", instance_id)
    return bound[0] if bound else None


def shown(work: Work, instance: Instance) -> dict[str, Any]:
    """An instance as DescribeInstances shows it."""
    eip = eip_of(work, instance.id)
    return {
        "InstanceId": instance.id,
        "InstanceName": instance.name,
        "Description": instance.description,
        "HostName": instance.host_name,
        "Status": instance.status,
        "InstanceType": instance.instance_type,
        "Cpu": instance.cpu,
        "Memory": instance.memory_mib,
        "OSName": instance.os_name,
        "OSType": instance.os_type,
        "ImageId": instance.image_id,
        "RegionId": instance.region,
        "ZoneId": instance.zone,
        "InstanceChargeType": instance.charge_type,
        "StoppedMode": instance.stopped_mode,
        "ExpiredTime": moment(instance.expired_time),
        "AutoReleaseTime": moment(instance.auto_release_time),
        "CreationTime": moment(instance.created_time),
        "StartTime": moment(instance.started_time),
        "InstanceNetworkType": instance.network,
        "InternetChargeType": instance.internet_charge,
        "InternetMaxBandwidthOut": instance.bandwidth_mbps,
        "PublicIpAddress": {"IpAddress": [instance.public_ip] if instance.public_ip else []},
        "EipAddress": {
            "AllocationId": view(eip, "id"),
            "IpAddress": view(eip, "ip_address"),
            "Bandwidth": view(eip, "bandwidth_mbps") or 0,
        },
        "VpcAttributes": {
            "VpcId": instance.vpc_id,
            "VSwitchId": instance.vswitch_id,
            "PrivateIpAddress": {"IpAddress": [instance.private_ip]},
        },
        "SecurityGroupIds": {"SecurityGroupId": list(instance.security_groups)},
        "DeletionProtection": instance.deletion_protection,
        "CreditSpecification": (
            instance.credit_specification if instance.instance_type.startswith("ecs.t") else ""
        ),
        "KeyPairName": instance.key_pair,
        "MetadataOptions": {"HttpEndpoint": "enabled", "HttpTokens": instance.http_tokens},
        "OperationLocks": locks(instance.lock_reasons),
    }


_FILTERS: Final[Mapping[str, Callable[[str], Callable[[Instance], bool]]]] = {
    "Status": lambda wanted: lambda i: i.status == wanted,
    "InstanceName": lambda wanted: lambda i: fuzzy(wanted, i.name),
    "InstanceChargeType": lambda wanted: lambda i: i.charge_type == wanted,
    "VpcId": lambda wanted: lambda i: i.vpc_id == wanted,
}


def describe_instances(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeInstances: every filter narrows; nothing found is an empty list, not an error."""
    region = arguments.get("RegionId", REGION)
    if "InstanceIds" in arguments:
        ids = dict.fromkeys(id_list(arguments["InstanceIds"], "InstanceIds"))
        found = [i for i in (work.get(Instance, id) for id in ids) if i is not None]
    else:
        found = work.all(Instance)
    matching = [i for i in found if i.region == region]
    tests = [test(arguments[name]) for name, test in _FILTERS.items() if name in arguments]
    if tests:
        matching = [i for i in matching if all(test(i) for test in tests)]
    if "PublicIpAddresses" in arguments:
        addresses = id_list(arguments["PublicIpAddresses"], "PublicIpAddresses")
        matching = [i for i in matching if i.public_ip and i.public_ip in addresses]
    if "EipAddresses" in arguments:
        addresses = id_list(arguments["EipAddresses"], "EipAddresses")
        matching = [i for i in matching if view(eip_of(work, i.id), "ip_address") in addresses]
    items, paging = cursor(matching, arguments)
    return {"Instances": {"Instance": [shown(work, i) for i in items]}, **paging}


OPERATIONS: Final = (
    Operation(
        name="DescribeInstances",
        description=(
            "List the account's instances in a region with status, charge type, stop mode, "
            "addresses and locks. Filters narrow the list; no match gives an empty list."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            InstanceIds=text('A JSON array of up to 100 ids as text, such as ["i-bp1abc"].', 8192),
            Status=one_of("Pending", "Starting", "Running", "Stopping", "Stopped"),
            InstanceName=text("A name or a part of one; * stands for anything.", 128),
            InstanceChargeType=one_of("PostPaid", "PrePaid"),
            VpcId=text("Only instances of this VPC.", 64),
            PublicIpAddresses=text("A JSON array of static public addresses as text.", 4096),
            EipAddresses=text("A JSON array of elastic addresses as text.", 4096),
            MaxResults={"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            NextToken={"type": "string", "maxLength": 64},
        ),
        run=describe_instances,
    ),
)
