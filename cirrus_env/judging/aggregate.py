"""Means over episodes and tickets, with their uncertainty (METRICS section 6).

Everything here is deterministic on every machine: values are scaled to whole numbers, resamples
come from a counter-based integer hash keyed by a labelled stream (no library's distributions), and
the only floating-point operations are single divisions, square roots and comparisons, which IEEE
754 fixes to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from cirrus_env.errors import OptionError
from cirrus_env.world import Stream

RESAMPLES: Final = 10_000
EXACT_PAIRS: Final = 12
"""Up to so many differing pairs every assignment of signs is tried; beyond, a seeded sample."""

_MICRO: Final = 1_000_000
_CHUNK: Final = 1 << 20
_Z_TWO_SIDED_5: Final = 1.959963984540054
_Z_POWER_80: Final = 0.8416212335729143

Key = tuple[str, int]
"""Ticket and seed."""


# -- several trials a ticket ------------------------------------------------------------------


def pass_hat_k(successes: int, trials: int, k: int) -> Fraction:
    """pass^k of one ticket: the chance that k trials drawn without return all succeed.

    Raises:
        OptionError: If k is not in 1..trials, or the counts are impossible.
    """
    _check(successes, trials, k)
    return Fraction(math.comb(successes, k), math.comb(trials, k))


def pass_at_k(successes: int, trials: int, k: int) -> Fraction:
    """pass@k of one ticket: the chance that at least one of k trials succeeds.

    Raises:
        OptionError: As ``pass_hat_k``.
    """
    _check(successes, trials, k)
    return 1 - Fraction(math.comb(trials - successes, k), math.comb(trials, k))


def _check(successes: int, trials: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise OptionError(f"{successes} successes in {trials} trials")
    if not 1 <= k <= trials:
        raise OptionError(f"k must be from 1 to the {trials} trials of each ticket, not {k}")


def mean_pass(counts: Iterable[tuple[int, int]], k: int) -> tuple[float, float]:
    """Mean pass^k and pass@k over tickets, each given as (successes, trials)."""
    listed = list(counts)
    if not listed:
        raise OptionError("no tickets")
    hat = sum((pass_hat_k(c, n, k) for c, n in listed), Fraction(0)) / len(listed)
    at = sum((pass_at_k(c, n, k) for c, n in listed), Fraction(0)) / len(listed)
    return float(hat), float(at)


# -- means with intervals ---------------------------------------------------------------------


class Estimate(NamedTuple):
    """A mean with its 95 % interval.

    Attributes:
        mean: None where there is nothing to average.
        low: The interval's lower end; None without a mean.
        high: Its upper end.
        n: Values averaged.
        clusters: Tickets that they come from. With a single ticket its episodes are resampled
            instead, and the interval says nothing about other tickets.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int


def estimate(
    values: Mapping[Key, float | None], *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """The mean of the values that are there, with a bootstrap interval clustered by ticket.

    Args:
        values: By ticket and seed; None is not applicable and left out.
        seed: Of the resampling.
        resamples: How many.

    Raises:
        OptionError: If ``resamples`` is not positive.
    """
    if resamples < 1:
        raise OptionError(f"resamples must be positive, not {resamples}")
    groups = _clusters(values)
    sums, counts = _totals(groups)
    total = int(counts.sum())
    if total == 0:
        return Estimate(None, None, None, 0, 0)
    tickets = len(groups)
    if tickets == 1:
        sums = np.array(next(iter(groups.values())), dtype=np.int64)
        counts = np.ones(len(sums), dtype=np.int64)
    mean = int(sums.sum()) / total / _MICRO
    draws = _bootstrap(sums, counts, seed, resamples)
    low = draws[(resamples * 25) // 1000]
    high = draws[min(resamples - 1, (resamples * 975) // 1000)]
    return Estimate(mean, float(low), float(high), total, tickets)


def _clusters(values: Mapping[Key, float | None]) -> dict[str, list[int]]:
    """Values in millionths by ticket, in an order that doesn't depend on the mapping's."""
    groups: dict[str, list[int]] = {}
    for key in sorted(values):
        value = values[key]
        if value is not None:
            groups.setdefault(key[0], []).append(round(value * _MICRO))
    return groups


def _totals(groups: Mapping[str, list[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    sums = np.array([sum(group) for group in groups.values()], dtype=np.int64)
    counts = np.array([len(group) for group in groups.values()], dtype=np.int64)
    return sums, counts


def _bootstrap(
    sums: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], seed: int, resamples: int
) -> npt.NDArray[np.float64]:
    """The sorted means of the resamples."""
    units = len(sums)
    key = Stream(seed, "bootstrap").below(1 << 64)
    means = np.empty(resamples, dtype=np.float64)
    rows = max(1, _CHUNK // units)
    for start in range(0, resamples, rows):
        stop = min(resamples, start + rows)
        drawn = _indices(key, start * units, (stop - start) * units, units)
        picks = drawn.reshape(stop - start, units)
        means[start:stop] = sums[picks].sum(axis=1) / counts[picks].sum(axis=1) / _MICRO
    means.sort()
    return means


def _hash(key: int, start: int, count: int) -> npt.NDArray[np.uint64]:
    """64 hashed bits for each number of a counter (the splitmix64 finalizer)."""
    with np.errstate(over="ignore"):
        x = np.arange(start + 1, start + count + 1, dtype=np.uint64)
        x = x * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def _indices(key: int, start: int, count: int, bound: int) -> npt.NDArray[np.int64]:
    """Uniform indices below ``bound`` (below 2**31; off by less than one part in 2**32)."""
    high = _hash(key, start, count) >> np.uint64(32)
    return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


# -- two agents -------------------------------------------------------------------------------


class Paired(NamedTuple):
    """Agent A against agent B on the same (ticket, seed).

    Attributes:
        difference: The mean of A - B, with its interval.
        p: Two-sided sign-flip permutation p of "no difference on these tickets"; None without
            pairs.
        detectable: The smallest true difference that this many pairs would show four times in
            five (80 % power at 5 %, two-sided), from the spread between tickets; None for fewer
            than two clusters.
        unpaired: Episodes that only one of the two has.
    """

    difference: Estimate
    p: float | None
    detectable: float | None
    unpaired: int


def compare_paired(
    a: Mapping[Key, float | None], b: Mapping[Key, float | None], *, seed: int = 0
) -> Paired:
    """Compare two agents' values pair by pair; a pair with a missing value is left out."""
    differences: dict[Key, float | None] = {}
    for key in sorted(a.keys() & b.keys()):
        x, y = a[key], b[key]
        if x is not None and y is not None:
            differences[key] = (round(x * _MICRO) - round(y * _MICRO)) / _MICRO
    both = sum(v is not None for v in a.values()) + sum(v is not None for v in b.values())
    return Paired(
        estimate(differences, seed=seed),
        sign_flip_p([round(d * _MICRO) for d in differences.values() if d is not None], seed=seed),
        detectable_difference(differences),
        both - 2 * len(differences),
    )


def sign_flip_p(differences: Sequence[int], *, seed: int = 0) -> float | None:
    """Two-sided p of the sign-flip permutation test.

    Under "both agents are the same on every (ticket, seed)" each pair's difference is as likely
    with either sign. Exact for few differing pairs; otherwise from ``RESAMPLES`` seeded flips, the
    observed one counted among them, so that p is never 0.

    Args:
        differences: One whole number a pair.
        seed: Of the flips.
    """
    if not differences:
        return None
    moved = np.array([d for d in differences if d], dtype=np.int64)
    observed = abs(int(moved.sum()))
    if len(moved) <= EXACT_PAIRS:
        words = np.arange(1 << len(moved), dtype=np.int64)
        bits = (words[:, None] >> np.arange(len(moved), dtype=np.int64)) & 1
        sums = np.abs(((2 * bits - 1) * moved).sum(axis=1))
        return int((sums >= observed).sum()) / len(sums)
    key = Stream(seed, "sign-flip").below(1 << 64)
    extreme = 0
    rows = max(1, _CHUNK // len(moved))
    for start in range(0, RESAMPLES, rows):
        stop = min(RESAMPLES, start + rows)
        drawn = _hash(key, start * len(moved), (stop - start) * len(moved)) >> np.uint64(63)
        signs = 2 * drawn.astype(np.int64).reshape(stop - start, len(moved)) - 1
        extreme += int((np.abs((signs * moved).sum(axis=1)) >= observed).sum())
    return (1 + extreme) / (1 + RESAMPLES)


def detectable_difference(differences: Mapping[Key, float | None]) -> float | None:
    """The minimum detectable mean difference (80 % power, 5 %, two-sided).

    2.80 standard errors, the standard error robust to clusters (tickets); with a single ticket its
    pairs are taken one by one.
    """
    groups = _clusters(differences)
    if len(groups) == 1:
        groups = {str(i): [value] for i, value in enumerate(next(iter(groups.values())))}
    g = len(groups)
    if g < 2:
        return None
    total = sum(map(sum, groups.values()))
    n = sum(map(len, groups.values()))
    spread = sum(
        ((sum(group) - Fraction(total * len(group), n)) ** 2 for group in groups.values()),
        Fraction(0),
    )
    variance = spread * g / (g - 1) / (n * n)
    return (_Z_TWO_SIDED_5 + _Z_POWER_80) * math.sqrt(variance) / _MICRO


# -- success rates ----------------------------------------------------------------------------


class Rates(NamedTuple):
    """Success rates of a set of episodes.

    Attributes:
        sr: Over valid, scored episodes.
        sr_floor: Over scored episodes, invalid ones counted as failures; rankings use it.
        valid: Valid, scored episodes.
        invalid: Invalid ones.
        unscored: Episodes of tickets without evidence, outside both rates.
    """

    sr: Estimate
    sr_floor: Estimate
    valid: int
    invalid: int
    unscored: int


def success_rates(episodes: Mapping[Key, tuple[bool | None, bool]], *, seed: int = 0) -> Rates:
    """SR and SR_floor.

    Args:
        episodes: ``(success, valid)`` by ticket and seed; success None is an unscored ticket, an
            episode that crashed or is missing is ``(False, False)``.
        seed: Of the intervals.
    """
    strict: dict[Key, float | None] = {}
    floor: dict[Key, float | None] = {}
    unscored = 0
    for key, (success, valid) in episodes.items():
        if success is None:
            unscored += 1
        elif not valid:
            floor[key] = 0.0
        else:
            strict[key] = floor[key] = float(success)
    return Rates(
        estimate(strict, seed=seed),
        estimate(floor, seed=seed),
        len(strict),
        len(floor) - len(strict),
        unscored,
    )


def wilson(hits: int, n: int) -> tuple[float, float] | None:
    """The 95 % Wilson interval of a share; None of nothing."""
    if not 0 <= hits <= n:
        raise OptionError(f"{hits} of {n}")
    if n == 0:
        return None
    z2 = _Z_TWO_SIDED_5 * _Z_TWO_SIDED_5
    share = hits / n
    centre = share + z2 / (2 * n)
    spread = _Z_TWO_SIDED_5 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    bottom = 1 + z2 / n
    return max(0.0, (centre - spread) / bottom), min(1.0, (centre + spread) / bottom)
