"""Labelled hash streams: the only source of chance."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.world import Stream, first_below
from cirrus_env.world.entropy import fresh_seed

seeds = st.integers(-(2**70), 2**70)


def test_the_bytes_are_these_for_ever():
    stream = Stream(7, "golden")
    assert [stream.below(1000) for _ in range(4)] == [983, 679, 108, 708]
    assert Stream(7, "golden").letters(15) == "b5bv9ilk0xsq6ls"
    assert Stream(7, "golden").digits(6) == "379983"
    assert Stream(-1, "é").hexadecimal(8) == "f4f7c270"


@given(seeds, st.integers(1, 2**128))
def test_a_number_is_below_its_bound(seed, bound):
    stream = Stream(seed, "x")
    assert all(0 <= stream.below(bound) < bound for _ in range(5))


@given(seeds, st.integers(-100, 100), st.integers(0, 100))
def test_an_integer_is_in_its_range(seed, low, width):
    assert low <= Stream(seed, "x").integer(low, low + width) <= low + width


@given(seeds)
def test_one_more_draw_under_a_label_shifts_no_other(seed):
    one, two = Stream(seed, "one"), Stream(seed, "two")
    expected = [two.below(10**9) for _ in range(3)]
    one.below(5)
    again = Stream(seed, "two")
    assert [again.below(10**9) for _ in range(3)] == expected


def test_labels_and_seeds_are_not_confused():
    firsts = {Stream(s, label).below(2**100) for s in (1, 11) for label in ("a", "1a", "")}
    assert len(firsts) == 6


@given(seeds, st.lists(st.integers(), max_size=20))
def test_a_shuffle_keeps_the_items(seed, items):
    before = list(items)
    assert sorted(Stream(seed, "x").shuffled(items)) == sorted(before)
    assert items == before


@given(seeds, st.integers(1, 36), st.integers(1, 30))
def test_texts_have_the_length_and_letters_asked_for(seed, length, digits):
    letters = Stream(seed, "l").letters(length)
    assert len(letters) == length
    assert set(letters) <= set("0123456789abcdefghijklmnopqrstuvwxyz")
    number = Stream(seed, "d").digits(digits)
    assert len(number) == digits
    assert number[0] != "0"
    hexadecimal = Stream(seed, "h").hexadecimal(min(length, 32))
    assert len(hexadecimal) == min(length, 32)
    int(hexadecimal, 16)


def test_every_value_is_about_as_likely():
    stream = Stream(1, "fair")
    counts = [0] * 7
    for _ in range(7000):
        counts[stream.below(7)] += 1
    assert all(900 < count < 1100 for count in counts)
    assert {Stream(n, "c").choice("abc") for n in range(50)} == set("abc")


@given(seeds, st.integers(0, 9))
def test_a_copy_goes_on_as_the_stream_does(seed, drawn):
    stream = Stream(seed, "x")
    for _ in range(drawn):
        stream.below(2**90)
    twins = [stream.copy(), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]
    expected = [stream.below(1000) for _ in range(5)]
    assert all([twin.below(1000) for _ in range(5)] == expected for twin in twins)


def test_a_fresh_seed_is_a_small_number():
    assert 0 <= fresh_seed() < 2**32
    assert len({fresh_seed() for _ in range(20)}) > 1


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_is_positive(bound):
    with pytest.raises(ValueError, match="positive"):
        Stream(1, "x").below(bound)


@pytest.mark.parametrize("hashseed", ["0", "1", "random"])
def test_a_fresh_process_draws_the_same(hashseed):
    code = "from cirrus_env.world import Stream; print(Stream(5, 'p').letters(20))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": hashseed, "PATH": ""},
    )  # fmt: skip
    assert out.stdout.strip() == Stream(5, "p").letters(20)


@given(st.integers(), st.text(max_size=12), st.integers(1, 2**128))
def test_the_first_draw_alone_is_the_streams_first(seed, label, bound):
    assert first_below(seed, label, bound) == Stream(seed, label).below(bound)
