"""Facts that fill the handbook's places: read from the transcript by fixed rules, nothing else.

The customer's words give what it names (ids, digits, an address, a date); a tool result gives the
fields of the record that is about what was named. Where a result lists several records, a rule that
is the same for all tickets picks one, such as the newest order. What no message has shown is no
fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from cirrus_env.world.clock import DAY, billing_cycle, billing_date, parse_iso

Facts = dict[str, str]
Json = dict[str, Any]

NAMES: Final = (
    # from the system message
    "account", "month", "month_start", "year_start", "yesterday",
    # from the customer's words
    "instance", "instance2", "phone", "ip", "client_ip", "order", "coupon", "size", "last_day",
    # from results
    "group", "vswitch", "public_ip", "key", "disk", "system_disk", "snapshot", "snapshot_hour",
    "other_snapshot", "policy", "eip", "eip_until", "gateway", "snat_table", "snat_ip",
    "order_amount", "order_start", "order_until", "operator", "upgrade_order", "upgrade_amount",
    "renewal_order", "renewal_amount", "refund_order", "refund_day", "voucher", "daily", "total",
    "disk_daily", "eip_daily", "arrears", "refund_amount", "event", "appeal_url", "paid_until",
    "rule_source", "coupon_minimum", "coupon_until", "other_coupon", "renew_price",
    "renew_price2",
)  # fmt: skip
"""The facts, in the order of their bits."""

BITS: Final[Mapping[str, int]] = {name: 1 << number for number, name in enumerate(NAMES)}
"""Name -> its bit."""

KEPT_DAYS: Final = 15
"""How long an expired subscription's data is kept (article ``renewal/subscription-expiry``)."""

_INSTANCE: Final = re.compile(r"(?<![\w-])i-[0-9a-z]{6,20}", re.ASCII)
_ORDER: Final = re.compile(r"(?<![\w-])\d{15}(?![\w-])", re.ASCII)
_COUPON: Final = re.compile(r"(?<![\w-])Q-[0-9a-f]{6,}", re.ASCII)
_FOUR: Final = re.compile(r"(?<![\w./:-])\d{4}(?![\w:/-]|\.\d| ?年)", re.ASCII)
_IP: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)", re.ASCII)
_SIZE: Final = re.compile(r"(\d+) ?(?:GiB|GB|G\b)")
_DATE: Final = re.compile(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})")
_DATE_ZH: Final = re.compile(r"(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?日")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def said(facts: Facts, text: str, language: str) -> int | None:
    """Take in what the customer says.

    Args:
        facts: Gains what is named; what an earlier message named stays, sizes and phone excepted.
        text: Its words.
        language: ``en`` or ``zh``.

    Returns:
        The date that it names as a moment; None for none.
    """
    found = _INSTANCE.findall(text)
    for name in ("instance", "instance2"):
        while found and found[0] in (facts.get("instance"), facts.get("instance2")):
            found.pop(0)
        if found and name not in facts:
            facts[name] = found.pop(0)
    for name, pattern in (("order", _ORDER), ("coupon", _COUPON)):
        match = pattern.search(text)
        if match and name not in facts:
            facts[name] = match[0]
    addresses = _IP.findall(text)
    if addresses:
        facts.setdefault("ip", addresses[0])
        facts.setdefault("client_ip", addresses[0])
    digits = _FOUR.findall(_DATE.sub("", _INSTANCE.sub(" ", text)))
    if digits:
        facts["phone"] = digits[-1]
    size = _SIZE.search(text)
    if size:
        facts["size"] = size[1]
    moment = _moment(text)
    if moment is not None:
        facts["last_day"] = day(moment + KEPT_DAYS * DAY, language)
    return moment


def _moment(text: str) -> int | None:
    match = _DATE.search(text)
    if match and match[2] in _MONTHS:
        return _noon(int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1]))
    match = _DATE_ZH.search(text)
    return _noon(*map(int, match.groups())) if match else None


def _noon(year: int, month: int, date: int) -> int | None:
    try:
        return parse_iso(f"{year:04d}-{month:02d}-{date:02d}T04:00Z")
    except ValueError:
        return None


def opened(facts: Facts, system: str) -> int:
    """Take in the system message: the account and the date.

    Returns:
        The moment that it names.
    """
    stamp = re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", system)
    now = parse_iso(stamp[0]) if stamp else 0
    account = re.search(r"(?<!\d)\d{16}(?!\d)", system)
    if account:
        facts["account"] = account[0]
    if now:
        month = billing_cycle(now)
        facts["month"] = month
        facts["month_start"] = f"{month}-01T00:00:00Z"
        facts["year_start"] = f"{month[:4]}-01-01T00:00:00Z"
        facts["yesterday"] = billing_date(now - DAY)
    return now


def day(moment: int, language: str) -> str:
    """A date as it is said to a customer."""
    year, month, date = billing_date(moment).split("-")
    if language == "zh":
        return f"{year}年{int(month)}月{int(date)}日"
    return f"{int(date)} {_MONTHS[int(month) - 1]} {year}"


def money(amount: Any, language: str) -> str:
    """An amount of yuan as it is said to a customer."""
    value = abs(float(amount))
    return f"{value:.2f} 元" if language == "zh" else f"CNY {value:.2f}"


# -- results: one reader an operation ----------------------------------------------------------


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
