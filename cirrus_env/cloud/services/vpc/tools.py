"""Operations on elastic addresses: having, changing and giving up."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DOCUMENTATION_NETWORKS,
    DRY_RUN,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    locks,
    one_of,
    overdue,
    page,
    parameters,
    text,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.vpc import errors
from cirrus_env.cloud.services.vpc.models import (
    FREQUENT,
    QUOTA,
    Eip,
    ReleasedEip,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import DAY, HOUR, iso_second

ECS: Final = "ecs.instance"


def find(work: Work, id: str) -> Eip:
    """The address, or the refusal that there is none."""
    eip = work.get(Eip, id)
    if eip is None:
        raise errors.not_found(id)
    return eip


def shown(eip: Eip) -> dict[str, Any]:
    """An address as DescribeEipAddresses shows it."""
    return {
        "AllocationId": eip.id,
        "IpAddress": eip.ip_address,
        "Name": eip.name,
        "Descritpion": eip.description,  # sic: the provider keeps this spelling
        "Status": eip.status,
        "RegionId": eip.region,
        "InstanceId": eip.instance_id,
        "InstanceType": eip.instance_type if eip.instance_id else "",
        "Bandwidth": str(eip.bandwidth_mbps),
        "InternetChargeType": eip.internet_charge,
        "ChargeType": eip.charge_type,
        "AllocationTime": iso_second(eip.allocated_time),
        "ExpiredTime": iso_second(eip.expired_time) if eip.expired_time else "",
        "BusinessStatus": eip.business_status,
        "OperationLocks": locks(eip.lock_reasons),
        "BandwidthPackageId": eip.bandwidth_package_id,
        "DeletionProtection": eip.deletion_protection,
        "ISP": eip.isp,
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeEipAddresses."""
    region = arguments.get("RegionId", REGION)
    if "AllocationId" in arguments:
        ids = dict.fromkeys(id.strip() for id in arguments["AllocationId"].split(",", 50)[:50])
        found = [e for e in (work.get(Eip, id) for id in ids) if e is not None]
    elif "AssociatedInstanceId" in arguments:
        bound = work.linked(Eip.kind, arguments["AssociatedInstanceId"])
        found = [e for e in bound if isinstance(e, Eip)]
    else:
        found = work.all(Eip)
    instance = arguments.get("AssociatedInstanceId")
    kind = arguments.get("AssociatedInstanceType")
    status = arguments.get("Status")
    address = arguments.get("EipAddress")
    name = arguments.get("EipName")
    charge = arguments.get("ChargeType")
    matching = [
        e for e in found
        if e.region == region
        and (instance is None or e.instance_id == instance)
        and (kind is None or (bool(e.instance_id) and e.instance_type == kind))
        and (status is None or e.status == status)
        and (address is None or e.ip_address == address)
        and (name is None or fuzzy(name, e.name))
        and (charge is None or e.charge_type == charge)
    ]  # fmt: skip
    items, paging = page(matching, arguments)
    return {"EipAddresses": {"EipAddress": [shown(e) for e in items]}, **paging}


def allocate(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """AllocateEipAddress."""
    traffic = arguments.get("InternetChargeType", "PayByTraffic") == "PayByTraffic"
    bandwidth = arguments.get("Bandwidth", 5)
    if traffic and bandwidth > 200:
        raise CloudError("InvalidParameter", "Bandwidth: at most 200 if paid by traffic.")
    if overdue(work):
        raise CloudError("InsufficientBalance", "The account owes money.", 400)
    if len(work.all(Eip)) >= QUOTA:
        raise CloudError("QuotaExceeded.Eip", f"The account may hold {QUOTA} addresses.", 400)
    released = [r for r in work.all(ReleasedEip) if r.released_time > work.now - DAY]
    if len(released) >= FREQUENT:
        raise CloudError(
            "FrequentPurchase.EIP", "Addresses were bought and released too often lately.", 409
        )
    wanted = arguments.get("IpAddress")
    if wanted is None:
        address = new_address(work)
    else:
        address = wanted
        hour = work.now // HOUR
        past = next((r for r in released if r.ip_address == wanted), None)
        if past is None or past.released_time // HOUR != hour:
            raise CloudError("ReserveIpFail", f"The address {wanted} can't be had again.", 400)
        work.delete(past)
    eip = Eip(
        id=work.new_id(Eip), tenant=work.tenant, ip_address=address,
        name=arguments.get("Name", ""), bandwidth_mbps=bandwidth,
        internet_charge="PayByTraffic" if traffic else "PayByBandwidth",
        isp=arguments.get("ISP", "BGP"), region=arguments.get("RegionId", REGION),
        allocated_time=work.now, bandwidth_cents=0 if traffic else 3 * bandwidth,
    )  # fmt: skip
    work.put(eip)
    return {"AllocationId": eip.id, "EipAddress": eip.ip_address}


def new_address(work: Work) -> str:
    """A public address that nothing of the account has or had."""
    taken = {e.ip_address for e in work.all(Eip)} | {r.ip_address for r in work.all(ReleasedEip)}
    taken |= {getattr(instance, "public_ip", "") for instance in work.peek_all(ECS)}
    stream = work.stream("vpc.ip_address")
    while True:
        network = IPv4Network(f"{stream.choice(DOCUMENTATION_NETWORKS)}.0/24")
        address = str(network[stream.integer(1, 254)])
        if address not in taken:
            return address


def release(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ReleaseEipAddress."""
    eip = find(work, arguments["AllocationId"])
    if eip.charge_type == "PrePaid":
        raise CloudError(
            "Forbidden.ChargeTypeIsPrepaid", "An address bought as a subscription stays.", 400
        )
    if eip.deletion_protection:
        raise CloudError(
            "OperationDenied.DeletionProtection", "The address is protected from release.", 400
        )
    if eip.status != "Available":
        raise errors.wrong_status(eip.status, "Available")
    work.delete(eip)
    work.put(ReleasedEip(eip.id, work.tenant, eip.ip_address, work.now))
    work.emit("vpc.eip.released", record=eip)
    return {}


def modify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyEipAddressAttribute."""
    eip = find(work, arguments["AllocationId"])
    changes: dict[str, Any] = {}
    if "Bandwidth" in arguments:
        bandwidth: int = arguments["Bandwidth"]
        if overdue(work) or eip.business_status != "Normal":
            raise CloudError("InsufficientBalance.Eip", "The account owes money.", 400)
        if eip.internet_charge == "PayByTraffic" and bandwidth > 200:
            raise CloudError("InvalidParameter", "Bandwidth: at most 200 if paid by traffic.")
        changes["bandwidth_mbps"] = bandwidth
        if eip.internet_charge == "PayByBandwidth":
            changes["bandwidth_cents"] = -(-eip.bandwidth_cents * bandwidth // eip.bandwidth_mbps)
    if "Name" in arguments:
        changes["name"] = arguments["Name"]
    if "Description" in arguments:
        changes["description"] = arguments["Description"]
    if not changes:
        raise CloudError("MissingParameter", "Name what to change: Bandwidth, Name, Description.")
    work.change(eip, **changes)
    return {}


TYPES: Final = (
    "EcsInstance", "SlbInstance", "Nat", "HaVip", "NetworkInterface", "IpAddress",
)  # fmt: skip
ALLOCATION_ID: Final = text("The address's AllocationId, such as eip-bp1abc.", 64)
_BANDWIDTH: Final = {
    "type": "integer", "minimum": 1, "maximum": 500,
    "description": "Mbit/s; at most 200 if paid by traffic.",
}  # fmt: skip
OPERATIONS: Final = (
    Operation(
        name="DescribeEipAddresses",
        description=(
            "List elastic public addresses with status, what they are bound to and how they are "
            "paid. An address that is bound to nothing shows Available."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            AllocationId=text("Up to 50 AllocationIds, parted by commas.", 4096),
            EipAddress=text("Only this public address.", 64),
            Status=one_of("Associating", "Available", "InUse", "Unassociating", "Releasing"),
            AssociatedInstanceId=text("Only what is bound to this instance.", 64),
            AssociatedInstanceType=one_of(*TYPES),
            EipName=text("A name or a part of one.", 128),
            ChargeType=one_of("PostPaid", "PrePaid"),
            **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="AllocateEipAddress",
        description=(
            "Buy a pay-as-you-go elastic address. A just released address can be claimed again by "
            "IpAddress until the clock hour ends."
        ),
        effect="write",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            Bandwidth={**_BANDWIDTH, "default": 5},
            InternetChargeType=one_of("PayByTraffic", "PayByBandwidth", default="PayByTraffic"),
            ISP=one_of("BGP", "BGP_PRO", default="BGP"),
            IpAddress=text("An address released in this clock hour.", 64),
            Name=text("The address's name.", 128),
            ClientToken=CLIENT_TOKEN,
        ),
        run=allocate,
        propose={
            "en": (("buy", "allocate", "get", "claim", "apply for"), ("eip", "elastic", "address")),
            "zh": (("购买", "申请", "新建", "找回"), ("eip", "弹性公网", "公网地址", "地址")),
        },
    ),
    Operation(
        name="ReleaseEipAddress",
        description=(
            "Give an idle pay-as-you-go elastic address up for good, which ends its charges. It "
            "can be claimed again only until the clock hour ends."
        ),
        effect="irreversible",
        parameters=parameters(
            ("AllocationId",),
            RegionId=REGION_ID,
            AllocationId=ALLOCATION_ID,
            ClientToken=CLIENT_TOKEN,
            DryRun=DRY_RUN,
        ),
        run=release,
        resource="AllocationId",
        propose={
            "en": (("release", "give up", "delete", "return"),),
            "zh": (("释放", "删除", "退还"),),
        },
    ),
    Operation(
        name="ModifyEipAddressAttribute",
        description="Change an elastic address's bandwidth, name or description.",
        effect="write",
        parameters=parameters(
            ("AllocationId",),
            RegionId=REGION_ID,
            AllocationId=ALLOCATION_ID,
            Bandwidth=_BANDWIDTH,
            Name=text("The new name.", 128),
            Description=text("The new description.", 256),
            ClientToken=CLIENT_TOKEN,
        ),
        run=modify,
        resource="AllocationId",
        propose={
            "en": (("change", "raise", "lower", "increase", "reduce", "set", "rename"),),
            "zh": (("修改", "调整", "提高", "降低", "设置", "改名"),),
        },
    ),
)
