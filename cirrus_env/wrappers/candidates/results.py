"""What tool results tell: one reader an operation, each a fixed rule.

A result gives the fields of the record that is about what the dialogue named. Where it lists
several records, a rule that is the same for all tickets picks one, such as the newest order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from cirrus_env.world.clock import parse_iso
from cirrus_env.wrappers.candidates.facts import Facts, day, money

Json = dict[str, Any]


def shown(facts: Facts, operation: str, arguments: Json, data: Json, language: str) -> None:
    """Take in a result.

    Args:
        facts: Gains what the operation's reader finds.
        operation: What was called.
        arguments: With what.
        data: What came back.
        language: For dates and amounts.
    """
    reader = READERS.get(operation)
    if reader is not None:
        for name, value in reader(facts, arguments, data, language):
            if value:
                facts[name] = str(value)


Found = Iterable[tuple[str, Any]]
Reader = Callable[[Facts, Json, Json, str], Found]


def _about(records: Iterable[Json], key: str, id: str | None) -> Json:
    """The record of this id, or the only one where nothing was named."""
    listed = list(records)
    for record in listed:
        if record.get(key) == id:
            return record
    return listed[0] if id is None and len(listed) == 1 else {}


def _list(data: Json, *path: str) -> list[Json]:
    value: Any = data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _day(value: Any, language: str) -> str:
    return day(parse_iso(value), language) if value else ""


def _instances(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    listed = _list(data, "Instances", "Instance")
    one = _about(listed, "InstanceId", facts.get("instance"))
    if not one:
        return
    yield "instance", one["InstanceId"]
    yield "key", one["KeyPairName"]
    yield "group", next(iter(one["SecurityGroupIds"]["SecurityGroupId"]), "")
    yield "vswitch", one["VpcAttributes"]["VSwitchId"]
    public = next(iter(one["PublicIpAddress"]["IpAddress"]), "")
    yield "public_ip", public or one["EipAddress"]["IpAddress"]


def _disks(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for disk in _list(data, "Disks", "Disk"):
        if disk["InstanceId"] == facts.get("instance"):
            yield ("disk" if disk["Type"] == "data" else "system_disk"), disk["DiskId"]


def _snapshots(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    """The newest one from before this dialogue, of the data disk and of any other."""
    own, other = "", ""
    for one in _list(data, "Snapshots", "Snapshot"):
        if one["SourceDiskId"] == facts.get("disk"):
            if not own and one["SnapshotName"] != "kept-by-support":
                own = one["SnapshotId"]
                hour = (int(one["CreationTime"][11:13]) + 8) % 24
                yield "snapshot_hour", f"{hour:02d}:{one['CreationTime'][14:16]}"
        elif not other:
            other = one["SnapshotId"]
    yield "snapshot", own or ("" if "disk" in facts else other)
    yield "other_snapshot", other


def _policies(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for one in _list(data, "AutoSnapshotPolicies", "AutoSnapshotPolicy")[:1]:
        yield "policy", one["AutoSnapshotPolicyId"]


def _addresses(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    listed = _list(data, "EipAddresses", "EipAddress")
    one = _about(listed, "IpAddress", facts.get("ip"))
    if not one and len(listed) == 1:
        one = listed[0]
    if not one:
        return
    yield "eip", one["AllocationId"]
    yield "eip_until", _day(one["ExpiredTime"], language)
    if one["InstanceId"].startswith("ngw-"):
        yield "gateway", one["InstanceId"]


def _gateways(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for one in _list(data, "NatGateways", "NatGateway")[:1]:
        yield "gateway", one["NatGatewayId"]
        lists = _list(one, "IpLists", "IpList")
        if lists:
            yield "eip", lists[0].get("AllocationId", "")
            yield "snat_ip", lists[0].get("IpAddress", "")
        tables = one.get("SnatTableIds", {}).get("SnatTableId", [])
        yield "snat_table", next(iter(tables), "")


def _snat(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for one in _list(data, "SnatTableEntries", "SnatTableEntry")[:1]:
        yield "snat_table", one["SnatTableId"]
        yield "snat_ip", one["SnatIp"]


def _group(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for rule in _list(data, "Permissions", "Permission"):
        if rule["PortRange"] == "22/22" and rule["Policy"] == "Accept":
            yield "rule_source", rule["SourceCidrIp"].removesuffix("/32")
            return


def _orders(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    """The newest of each type that was not cancelled; what the customer named stays."""
    live = [
        o for o in _list(data, "Data", "OrderList", "Order") if o["PaymentStatus"] != "Cancelled"
    ]
    newest: dict[str, Json] = {}
    for order in live:
        newest.setdefault(order["OrderType"], order)
    for kind, name in (("Upgrade", "upgrade"), ("Renew", "renewal")):
        if kind in newest:
            yield f"{name}_order", newest[kind]["OrderId"]
            yield f"{name}_amount", money(_price(newest[kind]), language)
    if "Refund" in newest:
        yield "refund_order", newest["Refund"]["OrderId"]
        yield "refund_day", _day(newest["Refund"]["CreateTime"], language)
    bought = [order for order in live if order["OrderType"] != "Refund"]
    if "order" not in facts and bought:
        yield "order", bought[0]["OrderId"]
        facts["order"] = bought[0]["OrderId"]
    one = _about(live, "OrderId", facts.get("order"))
    if not one:
        return
    yield "order_amount", money(_price(one), language)
    yield "order_start", _day(one.get("UsageStartTime"), language)
    yield "order_until", _day(one.get("UsageEndTime"), language)
    yield "operator", one.get("Operator", "")
    yield "voucher", one.get("CouponNo", "")
    about = [id for id in one.get("InstanceIDs", ()) if id.startswith("i-")]
    if about and "instance" not in facts:
        yield "instance", about[0]


def _price(order: Json) -> str:
    return str(order["PaymentAmount"])


def _bill(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    items = _list(data, "Data", "Items", "Item")
    if not items:
        return
    amount = money(sum(float(item["PretaxAmount"]) for item in items), language)
    id = arguments.get("InstanceID")
    if arguments.get("Granularity") != "DAILY":
        yield "total", amount
    elif id == facts.get("disk"):
        yield "disk_daily", amount
    elif id == facts.get("eip"):
        yield "eip_daily", amount
    else:
        compute = [item for item in items if item["BillingItem"] == "compute"]
        yield "daily", money(compute[0]["PretaxAmount"], language) if compute else amount


def _balance(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    amount = data.get("Data", {}).get("AvailableAmount", "0").replace(",", "")
    if float(amount) < 0:
        yield "arrears", money(amount, language)


def _quote(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    if "RefundAmount" in data.get("Data", {}):
        yield "refund_amount", money(data["Data"]["RefundAmount"], language)


def _events(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    for one in _list(data, "InstanceSystemEventSet", "InstanceSystemEventType")[:1]:
        yield "event", one["EventId"]
        yield "appeal_url", one.get("ExtendedAttribute", {}).get("PunishUrl", "")


def _term(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    one = _about(_list(data, "Data", "InstanceList"), "InstanceID", facts.get("instance"))
    yield "paid_until", _day(one.get("EndTime"), language)


def _coupons(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    """The named coupon, and another that is available, has money on it and fits its product."""
    listed = _list(data, "Data", "CashCoupon")
    one = _about(listed, "CashCouponNo", facts.get("coupon"))
    if one:
        yield "coupon", one["CashCouponNo"]
        yield "coupon_minimum", money(one["MinimumOrderAmount"], language)
        yield "coupon_until", _day(one["ExpiryTime"], language)
    for other in listed:
        usable = other["Status"] == "Available" and float(other["Balance"]) > 0
        if other is not one and usable and other["ApplicableProducts"] == "ecs":
            yield "other_coupon", other["CashCouponNo"]
            return


def _renewal_price(facts: Facts, arguments: Json, data: Json, language: str) -> Found:
    price = data.get("PriceInfo", {}).get("Price", {}).get("TradePrice")
    if price is not None:
        second = arguments.get("ResourceId") == facts.get("instance2")
        yield ("renew_price2" if second else "renew_price"), money(price, language)


READERS: Final[Mapping[str, Reader]] = {
    "DescribeInstances": _instances,
    "DescribeDisks": _disks,
    "DescribeSnapshots": _snapshots,
    "DescribeAutoSnapshotPolicyEx": _policies,
    "DescribeEipAddresses": _addresses,
    "DescribeNatGateways": _gateways,
    "DescribeSnatTableEntries": _snat,
    "DescribeSecurityGroupAttribute": _group,
    "QueryOrders": _orders,
    "GetOrderDetail": _orders,
    "QueryInstanceBill": _bill,
    "QueryAccountBalance": _balance,
    "InquiryPriceRefundInstance": _quote,
    "DescribeInstanceHistoryEvents": _events,
    "QueryAvailableInstances": _term,
    "QueryCashCoupons": _coupons,
    "DescribeRenewalPrice": _renewal_price,
}
"""Operation -> what its result tells."""
