"""Consistency and discriminancy with their definition, SciPy, a jackknife by hand, and simulated populations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.inversions import inversions, inversions_of_each, stable_order
from matrics.study import consistency, discriminancy

RANDOM = np.random.default_rng(3)


def definition(f: Any, g: Any) -> tuple[int, int, int, int]:
    """R, S, P and Q from all ordered pairs."""
    f, g = np.asarray(f), np.asarray(g)
    above, below, same = (
        (g[:, None] > g) & (f[:, None] > f),
        (f[:, None] > f) & (g[:, None] < g),
        (f[:, None] > f) & (g[:, None] == g),
    )
    return int(above.sum()), int(below.sum()), int(same.sum()), int(((f[:, None] == f) & (g[:, None] > g)).sum())


def values(number: int, f_kinds: float, g_kinds: float) -> list[np.ndarray]:
    """Two measures that are related, with so many different values each."""
    f = RANDOM.random(number)
    g = f + RANDOM.normal(0, 0.3, number)
    return [np.floor(x * kinds) / kinds for x, kinds in ((f, f_kinds), (g, g_kinds))]


# Counts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", [*range(20), 31, 32, 33, 255, 256, 257, 600])
def test_inversions(number: int) -> None:
    permutation = RANDOM.permutation(number)
    places = np.arange(number)
    crossed = (places[:, None] < places) & (permutation[:, None] > permutation)
    assert inversions(permutation) == crossed.sum()
    each = np.zeros(number, int)
    each[permutation] = crossed.sum(axis=0) + crossed.sum(axis=1)
    np.testing.assert_array_equal(inversions_of_each(permutation), each)


@pytest.mark.parametrize("number", [65_535, 65_536, 65_537, 140_000])
def test_inversions_of_many(number: int) -> None:
    """All of a reversed order; of a rotated one those between its two parts."""
    assert inversions(np.arange(number)[::-1]) == number * (number - 1) // 2
    assert inversions(np.roll(np.arange(number), 1000)) == 1000 * (number - 1000)
    shuffled = RANDOM.permutation(number)
    assert inversions(shuffled) + inversions(shuffled[::-1]) == number * (number - 1) // 2
    assert inversions(shuffled) * 2 == inversions_of_each(shuffled).sum()


@pytest.mark.parametrize("number", [1, 2, 300, 2**16, 2**16 + 1, 200_000])
def test_stable_order(number: int) -> None:
    keys = RANDOM.integers(0, number, 1000)
    np.testing.assert_array_equal(stable_order(keys, number), np.argsort(keys, kind="stable"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kinds", [(3, 4), (1, 5), (5, 1), (1e9, 7), (7, 1e9), (40, 40), (1e9, 1e9)])
def test_many_ties(kinds: tuple[float, float]) -> None:
    f, g = values(2000, *kinds)
    r, s, p, q = definition(f, g)
    for found in (consistency(f, g), discriminancy(f, g)):
        assert found[4:] == (r, s, p, q, 0)
    assert consistency(f, g).value == pytest.approx(r / (r + s) if r + s else math.nan, rel=1e-15, nan_ok=True)
    wanted = p / q if q else math.inf if p else math.nan
    assert discriminancy(f, g).value == pytest.approx(wanted, rel=1e-15, nan_ok=True)


@pytest.mark.parametrize(
    ("f", "g", "alike", "apart"),
    [
        ([1, 2, 2, 5, 7, 7], [1, 3, 2, 2, 9, 9], 0.9166666666666666, 1.0),
        ([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], 0.5909090909090909, 5.0),
    ],
)
def test_small_examples(f: list[int], g: list[int], alike: float, apart: float) -> None:
    """Values from another implementation."""
    assert consistency(f, g).value == pytest.approx(alike, rel=1e-15)
    assert discriminancy(f, g).value == apart
    assert discriminancy(g, f).value == 1 / apart
    assert consistency(f, [-x for x in g]).value == pytest.approx(1 - alike, rel=1e-15)


@pytest.mark.parametrize("number", [50, 3000, 100_000])
def test_kendall_from_the_counts(number: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    for kinds in ((20, 30), (1e9, 50), (1e9, 1e9)):
        f, g = values(number, *kinds)
        found = consistency(f, g)
        both = found.agreeing + found.opposing
        tau = (found.agreeing - found.opposing) / math.sqrt((both + found.only_f) * (both + found.only_g))
        assert tau == pytest.approx(stats.kendalltau(f, g).statistic, rel=1e-12)


# Undefined values -----------------------------------------------------------------------------------------------------


def test_nan_is_left_out() -> None:
    f, g = values(200, 10, 10)
    holes_f, holes_g = f.copy(), g.copy()
    holes_f[:7], holes_g[5:11] = math.nan, math.nan
    for function in (consistency, discriminancy):
        found, wanted = function(holes_f, holes_g), function(f[11:], g[11:])
        assert found == wanted._replace(left_out=11)


@pytest.mark.parametrize("f", [[], [1.0], [math.nan, 2.0], [3, 3, 3]])
def test_nothing_to_compare(f: list[float]) -> None:
    for found in (consistency(f, f), discriminancy(f, f)):
        assert all(math.isnan(x) for x in found[:4])
        assert found[4:8] == (0, 0, 0, 0)


def test_ends() -> None:
    """Where all pairs agree, or only one measure tells matrices apart, nothing varies: no interval."""
    ascending, tied = np.arange(10), np.arange(10) // 2
    found = consistency(ascending, ascending**3)
    assert (found.value, found.standard_error) == (1, 0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert consistency(ascending, -ascending).value == 0
    assert discriminancy(ascending, tied)[:1] == (math.inf,)
    assert discriminancy(tied, ascending).value == 0
    assert all(math.isnan(x) for x in discriminancy(ascending, tied)[1:4])
    assert math.isnan(discriminancy(ascending, ascending).value)
    infinite = consistency([1, math.inf, -math.inf, math.inf], [1, 2, 0, 3])
    assert (infinite.agreeing, infinite.only_g) == (5, 1)


@pytest.mark.sampled(2)
def test_any_library(backend: Any) -> None:
    f, g = (np.round(x * 8) for x in values(60, 20, 20))
    assert consistency(backend.asarray(f), backend.asarray(g)) == consistency(f.tolist(), g.tolist())


@pytest.mark.parametrize("function", [consistency, discriminancy])
def test_bad_input(function: Any) -> None:
    with pytest.raises(ValueError, match=r"f: expected one value for each of N matrices, \(N,\), got shape \(2, 2\)"):
        function([[1, 2], [3, 4]], [1, 2])
    with pytest.raises(ValueError, match=r"same matrices, got shapes \(2,\) and \(3,\)"):
        function([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match="g: expected real numbers"):
        function([1, 2], np.asarray([1j, 2]))
    with pytest.raises(ValueError, match="level: expected a number between 0 and 1"):
        function([1, 2], [1, 2], level=95)


# Intervals ------------------------------------------------------------------------------------------------------------


def test_standard_error_is_the_jackknife() -> None:
    f, g = values(60, 12, 9)
    without = [definition(np.delete(f, k), np.delete(g, k)) for k in range(60)]
    for function, (part, others) in ((consistency, (0, (0, 1))), (discriminancy, (2, (3,)))):
        left = np.asarray([counts[part] / sum(counts[k] for k in others) for counts in without])
        wanted = math.sqrt(59 / 60 * ((left - left.mean()) ** 2).sum())
        assert function(f, g).standard_error == pytest.approx(wanted, rel=1e-10)


def test_limits() -> None:
    """Symmetric on their scales; z = 1.959964 of two sides at 0.95, and 1.644854 at 0.9."""
    f, g = values(400, 30, 20)
    for level, z in ((0.95, 1.959964), (0.9, 1.644854)):
        found = consistency(f, g, level=level)
        low, middle, high = (math.log(x / (1 - x)) for x in (found.low, found.value, found.high))
        reach = z * found.standard_error / (found.value * (1 - found.value))
        assert (low, high) == pytest.approx((middle - reach, middle + reach), rel=1e-6)
        found = discriminancy(f, g, level=level)
        reach = z * found.standard_error / found.value
        assert (found.low, found.high) == pytest.approx((found.value / math.exp(reach), found.value * math.exp(reach)))


def test_one_matrix_in_all_pairs() -> None:
    """Without it the ratio is undefined, so there is no standard error."""
    f, g = [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]
    found = discriminancy(f, g)
    assert found.value == 5
    assert all(math.isnan(x) for x in found[1:4])


def population(kinds: int) -> tuple[np.ndarray, float, float]:
    """A joint distribution of two measures, and its exact consistency and discriminancy."""
    f, g = np.arange(kinds)[:, None], np.arange(kinds)
    law = np.exp(-0.5 * ((f - g) / (kinds / 5)) ** 2) * (1 + f)
    law /= law.sum()
    total = np.zeros(4)
    for i in range(kinds):
        for j in range(kinds):
            parts = (
                law[:i, :j].sum(),
                law[:i, j + 1 :].sum(),
                law[:i, j].sum(),
                law[i, :j].sum(),
            )
            total += law[i, j] * np.asarray(parts)
    return law, total[0] / (total[0] + total[1]), total[2] / total[3]


@pytest.mark.parametrize(
    ("number", "times"),
    [
        (80, 300),
        pytest.param(40, 2000, marks=pytest.mark.exhaustive),
        pytest.param(300, 2000, marks=pytest.mark.exhaustive),
    ],
)
def test_coverage(number: int, times: int) -> None:
    """Of so many samples of a known population 95% or more have limits that hold the truth.

    With few matrices the jackknife overestimates the spread of a discriminancy, so more of its limits hold.
    """
    law, alike, apart = population(6)
    held, values, errors = np.zeros(2), [], []
    for _ in range(times):
        f, g = np.divmod(RANDOM.choice(36, number, p=law.ravel()), 6)
        found = (consistency(f, g), discriminancy(f, g))
        held += [one.low <= truth <= one.high for one, truth in zip(found, (alike, apart), strict=True)]
        values.append([one.value for one in found])
        errors.append([one.standard_error for one in found])
    share, slack = held / times, 3 * math.sqrt(0.95 * 0.05 / times)
    assert (share > 0.93 - slack).all(), share
    assert (share < np.asarray([0.965, 0.99]) + slack).all(), share
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0)
    assert (ratio > 0.93 - 2 / math.sqrt(times)).all(), ratio
    assert (ratio < np.asarray([1.07, 1.3]) + 2 / math.sqrt(times)).all(), ratio


def test_public() -> None:
    assert matrics.study.consistency is consistency
