"""Facts that fill the handbook's places: read from the transcript by fixed rules, nothing else.

Here is what there is to know, and what the system message and the customer's words tell of it: ids,
digits, an address, a date. What tool results tell is in ``results.py``. What no message has shown
is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.world.clock import DAY, billing_cycle, billing_date, parse_iso

Facts = dict[str, str]

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
