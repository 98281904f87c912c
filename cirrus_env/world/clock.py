"""Logical time: whole seconds since 1970 (UTC), moved only by the engine."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

MINUTE = 60
HOUR = 3600
DAY = 86400

BILLING_ZONE = timezone(timedelta(hours=8))
"""Bills and renewals run in UTC+8 (domain/infrastructure.md, section 0.2)."""

EPOCH = 1_796_025_600
"""The default opening moment of a ticket: 2026-11-30T08:00:00Z."""

_RELATIVE = re.compile(r"([+-]\d+)([smhd])")
_UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}


@lru_cache(maxsize=4096)
def iso_minute(moment: int) -> str:
    """A moment as the APIs write it, such as ``2026-11-30T08:00Z``."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%MZ")


@lru_cache(maxsize=4096)
def iso_second(moment: int) -> str:
    """A moment with seconds, such as ``2026-11-30T08:00:00Z``."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=4096)
def billing_date(moment: int) -> str:
    """The date in UTC+8, such as ``2026-11-30``."""
    return datetime.fromtimestamp(moment, BILLING_ZONE).strftime("%Y-%m-%d")


def billing_cycle(moment: int) -> str:
    """The month in UTC+8, such as ``2026-11``."""
    return billing_date(moment)[:7]


def parse_iso(text: str) -> int:
    """The moment of an ISO-8601 text with or without seconds.

    Raises:
        ValueError: If the text is no such date.
    """
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())


def relative(text: str, now: int) -> int:
    """The moment of a relative text such as ``-3d`` or ``-2d+4h``, from ``now``.

    Raises:
        ValueError: If the text is no such offset.
    """
    parts = _RELATIVE.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text:
        raise ValueError(f"{text!r} is no relative time such as '-3d+4h'")
    return now + sum(int(amount) * _UNITS[unit] for amount, unit in parts)
