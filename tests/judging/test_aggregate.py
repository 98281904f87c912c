"""Means, intervals, comparisons: against values computed by hand and by brute force."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.errors import OptionError
from cirrus_env.judging.aggregate import (
    Estimate,
    compare_paired,
    detectable_difference,
    estimate,
    mean_pass,
    pass_at_k,
    pass_hat_k,
    sign_flip_p,
    success_rates,
    wilson,
)
from cirrus_env.world import Stream


@given(st.integers(1, 6), st.data())
def test_pass_k_is_the_share_of_draws(n, data):
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_hat_k(c, n, k) == Fraction(sum(map(all, draws)), len(draws))
    assert pass_at_k(c, n, k) == Fraction(sum(map(any, draws)), len(draws))


def test_mean_pass_over_tickets():
    assert mean_pass([(1, 2), (2, 2)], 2) == (0.5, 1.0)
    with pytest.raises(OptionError, match="no tickets"):
        mean_pass([], 1)


@pytest.mark.parametrize(("c", "n", "k"), [(3, 2, 1), (-1, 2, 1), (1, 2, 0), (1, 2, 3)])
def test_impossible_counts_are_refused(c, n, k):
    with pytest.raises(OptionError):
        pass_hat_k(c, n, k)
    with pytest.raises(OptionError):
        pass_at_k(c, n, k)


def test_an_estimate_of_nothing():
    assert estimate({}) == Estimate(None, None, None, 0, 0)
    assert estimate({("a", 0): None}) == Estimate(None, None, None, 0, 0)


def test_values_that_agree_leave_no_doubt():
    values = {(t, s): 1.0 for t in "abc" for s in range(3)}
    assert estimate(values) == Estimate(1.0, 1.0, 1.0, 9, 3)


def test_the_interval_is_that_of_whole_tickets():
    values = {("good", s): 1.0 for s in range(5)} | {("bad", s): 0.0 for s in range(5)}
    # Of two tickets drawn from two, both are bad or both good a quarter of the time each.
    assert estimate(values) == Estimate(0.5, 0.0, 1.0, 10, 2)


def test_a_single_ticket_is_resampled_by_episode():
    values = {("only", s): float(s % 2) for s in range(100)}
    got = estimate(values)
    assert (got.mean, got.n, got.clusters) == (0.5, 100, 1)
    assert 0.38 <= got.low <= 0.42
    assert 0.58 <= got.high <= 0.62


def test_missing_values_are_left_out():
    assert estimate({("a", 0): 1.0, ("a", 1): None, ("b", 0): 0.0}).n == 2


def resampled(values, seed):
    """The bootstrap once more, number by number."""
    tickets = sorted({ticket for ticket, _ in values})
    sums = [sum(round(10 * v) for (t, _), v in values.items() if t == name) for name in tickets]
    key, mask = Stream(seed, "bootstrap").below(1 << 64), (1 << 64) - 1
    counter = 0
    for _ in range(10_000):
        total = 0
        for _ in tickets:
            counter += 1
            x = (counter * 0x9E3779B97F4A7C15 + key) & mask
            x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
            x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
            x ^= x >> 31
            total += sums[((x >> 32) * len(tickets)) >> 32]
        yield total * 100_000 / len(values) / 1_000_000


def test_the_same_seed_gives_the_same_bits():
    values = {(f"t{t}", s): (t * 7 + s * 3) % 10 / 10 for t in range(9) for s in range(4)}
    turned = dict(reversed(values.items()))
    assert estimate(values, seed=3) == estimate(turned, seed=3)
    means = sorted(resampled(values, 3))
    assert estimate(values, seed=3) == Estimate(16 / 36, means[250], means[9750], 36, 9)
    assert estimate(values, seed=3)[1:3] == (0.3888888888888889, 0.5055555555555555)
    assert estimate(values, resamples=1).low == estimate(values, resamples=1).high


def test_resamples_must_be_some():
    with pytest.raises(OptionError, match="resamples"):
        estimate({("a", 0): 1.0}, resamples=0)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=7))
def test_the_exact_p_tries_every_assignment_of_signs(differences):
    observed = abs(sum(differences))
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(flip >= observed for flip in flips) / len(flips)
    assert sign_flip_p(differences) == expected


def test_a_sampled_p_is_close_and_never_zero():
    assert sign_flip_p([1] * 200) == 1 / 10_001
    assert 0.9 < sign_flip_p([1, -1] * 50) <= 1
    # 20 of 30 in favour: the binomial's two-sided tail is 0.0987.
    assert abs(sign_flip_p([1] * 20 + [-1] * 10) - 0.0987) < 0.01
    assert sign_flip_p([1] * 20 + [-1] * 10, seed=1) != sign_flip_p([1] * 20 + [-1] * 10, seed=2)


def test_no_pairs_no_p():
    assert sign_flip_p([]) is None
    assert sign_flip_p([0, 0]) == 1.0


def test_the_detectable_difference_by_hand():
    # Two tickets, differences 1 and 0: mean 1/2, residuals 1/2 and -1/2,
    # variance 2/1 x (1/4 + 1/4) / 4 = 1/4.
    got = detectable_difference({("a", 0): 1.0, ("b", 0): 0.0})
    assert got == pytest.approx((1.959964 + 0.841621) * 0.5, abs=1e-6)
    assert detectable_difference({("a", 0): 1.0, ("a", 1): 0.0}) == got
    assert detectable_difference({("a", 0): 1.0}) is None
    assert detectable_difference({}) is None


def test_agents_are_compared_on_the_same_ticket_and_seed():
    a = {("x", 0): 1.0, ("x", 1): 1.0, ("y", 0): 1.0, ("y", 1): None, ("z", 0): 1.0}
    b = {("x", 0): 0.0, ("x", 1): 1.0, ("y", 0): 0.0, ("y", 1): 1.0}
    got = compare_paired(a, b)
    assert got.difference.mean == pytest.approx(2 / 3)
    assert (got.difference.n, got.difference.clusters) == (3, 2)
    assert got.p == 0.5
    assert got.unpaired == 2
    nothing = compare_paired({}, b)
    assert (nothing.p, nothing.detectable, nothing.unpaired) == (None, None, 4)


def test_a_crash_lowers_the_floor_only():
    episodes = {
        ("a", 0): (True, True),
        ("a", 1): (False, False),
        ("b", 0): (False, True),
        ("b", 1): (None, True),
    }
    got = success_rates(episodes)
    assert (got.sr.mean, got.sr_floor.mean) == (0.5, pytest.approx(1 / 3, abs=1e-9))
    assert (got.valid, got.invalid, got.unscored) == (2, 1, 1)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0),
     (95, 100, 0.8882, 0.9785)],
)  # fmt: skip
def test_wilson_intervals(hits, n, low, high):
    assert wilson(hits, n) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_wilson_of_nothing_and_of_nonsense():
    assert wilson(0, 0) is None
    with pytest.raises(OptionError):
        wilson(2, 1)
