"""Logical time as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.world import clock

moments = st.integers(0, 4_000_000_000)


def test_the_opening_moment_is_what_it_says():
    assert clock.iso_minute(clock.EPOCH) == "2026-11-30T08:00Z"
    assert clock.iso_second(clock.EPOCH + 1) == "2026-11-30T08:00:01Z"
    assert clock.billing_date(clock.EPOCH) == "2026-11-30"
    assert clock.billing_cycle(clock.EPOCH) == "2026-11"


def test_bills_change_their_date_at_midnight_in_utc_plus_8():
    midnight = clock.parse_iso("2026-11-30T16:00:00Z")
    assert clock.billing_date(midnight - 1) == "2026-11-30"
    assert clock.billing_date(midnight) == "2026-12-01"
    assert clock.billing_cycle(midnight) == "2026-12"


@given(moments)
def test_a_moment_written_and_read_is_the_same(moment):
    assert clock.parse_iso(clock.iso_second(moment)) == moment
    assert clock.parse_iso(clock.iso_minute(moment)) == moment // 60 * 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T08:00Z", 0),
        ("2026-11-30T08:00:30Z", 30),
        ("2026-11-30T16:00:00+08:00", 0),
        ("2026-11-30T08:00:00", 0),
        ("2026-11-30", -8 * clock.HOUR),
    ],
)
def test_iso_texts_with_and_without_a_zone(text, expected):
    assert clock.parse_iso(text) == clock.EPOCH + expected


@pytest.mark.parametrize("text", ["", "now", "2026-13-01", "2026-11-30T25:00Z", "1796025600"])
def test_a_text_that_is_no_date_is_told(text):
    with pytest.raises(ValueError):
        clock.parse_iso(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-3d", -3 * 86400), ("+1h", 3600), ("-2d+4h", -2 * 86400 + 14400), ("+0s", 0), ("+5m", 300)],
)
def test_relative_moments(text, expected):
    assert clock.relative(text, 1_000_000) == 1_000_000 + expected


@pytest.mark.parametrize("text", ["", "3d", "-3", "-3w", "-3d ", "tomorrow", "--3d", "-3d4h"])
def test_a_text_that_is_no_offset_is_told(text):
    with pytest.raises(ValueError, match="relative"):
        clock.relative(text, 0)
