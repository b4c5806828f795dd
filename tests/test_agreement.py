"""Agreement of measures with SciPy, plain definitions, exact counts of source 002, and models chosen by hand."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.ranks import Ranking
from matrics.study import Agreement, agreement, consistency, discriminancy

RANDOM = np.random.default_rng(5)
NAMES = ["accuracy", "error_rate", "mcc", "cen", "kendall_tau", "recall", "lift", "population"]


def sparse(*batch: int, n: int = 3) -> np.ndarray:
    """Matrices of few samples: ties and undefined values are frequent."""
    return RANDOM.poisson(0.8, (*batch, n, n)) * (RANDOM.random((*batch, n, 1)) < 0.8)


def oriented(stack: np.ndarray, names: list[str]) -> list[np.ndarray]:
    """Values of which higher ones are better, rounded so that equal ones are equal numbers."""
    scores = matrics.score(stack, names)
    signs = [-1 if matrics.get_metric(name).higher_is_better is False else 1 for name in names]
    return [sign * np.round(scores[name].ravel(), 10) for sign, name in zip(signs, names, strict=True)]


@pytest.fixture(scope="module")
def stack() -> np.ndarray:
    return sparse(30, 20)


@pytest.fixture(scope="module")
def found(stack: np.ndarray) -> Agreement:
    return agreement(stack, NAMES, model_axis=1)


# Matrices of pairs of measures ----------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_beside_the_functions_of_two_measures(stack: np.ndarray, found: Agreement) -> None:
    values = oriented(stack, NAMES)
    assert np.isnan(values[2]).any()
    assert found.names == tuple(NAMES)
    for i, j in itertools.product(range(len(NAMES)), repeat=2):
        alike, apart = consistency(values[i], values[j]), discriminancy(values[i], values[j])
        assert found.defined[i, j] == 600 - alike.left_out
        np.testing.assert_allclose(found.consistency[i, j], alike.value, rtol=1e-15)
        np.testing.assert_allclose(found.discriminancy[i, j], apart.value, rtol=1e-15)


def test_beside_scipy(stack: np.ndarray, found: Agreement) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = oriented(stack, NAMES)
    for i, j in itertools.product(range(len(NAMES)), repeat=2):
        f, g = values[i], values[j]
        both = ~np.isnan(f + g)
        tau = stats.kendalltau(f[both], g[both]).statistic
        np.testing.assert_allclose(found.kendall[i, j], tau, rtol=1e-10, err_msg=NAMES[i] + " " + NAMES[j])
        rho = stats.spearmanr(f[both], g[both]).statistic
        np.testing.assert_allclose(found.spearman[i, j], rho, rtol=1e-10, atol=1e-13)


def test_directions(found: Agreement) -> None:
    """The error rate is better when lower: it agrees with accuracy on everything."""
    assert found.kendall[0, 1] == found.spearman[0, 1] == found.consistency[0, 1] == 1
    assert found.disagreement is not None
    assert found.disagreement[0, 1] == 0
    assert np.isnan(found.discriminancy[0, 1])  # neither tells apart what the other does not
    assert found.consistency[0, 3] > 0.5  # cen
    np.testing.assert_array_equal(found.kendall, found.kendall.T)


def with_row_sums(*sums: int) -> np.ndarray:
    """All matrices with these row sums."""
    rows = [
        [row for row in itertools.product(range(total + 1), repeat=len(sums)) if sum(row) == total] for total in sums
    ]
    return np.asarray(list(itertools.product(*rows)))


def test_cen_over_mcc() -> None:
    """Source 002, section 2: about 6. MCC is 0 there where all samples are predicted as one class.

    Of the 1,124,250 pairs of the 1,500 matrices 6,250 are equal in MCC alone and 1,000 in CEN alone.
    """
    cm = with_row_sums(4, 3, 3)
    assert len(cm) == 1500
    found = agreement(cm, ["cen", "mcc"], zero_division=0)
    assert found.discriminancy[0, 1] == 6250 / 1000
    assert found.discriminancy[1, 0] == 1000 / 6250
    scores = {name: np.round(values, 12) for name, values in matrics.score(cm, "cen, mcc", zero_division=0).items()}
    by_hand = discriminancy(-scores["cen"], scores["mcc"])
    assert (by_hand.only_f, by_hand.only_g) == (6250, 1000)
    assert found.consistency[0, 1] == by_hand.agreeing / (by_hand.agreeing + by_hand.opposing)
    # The last bits of CEN tell apart what is equal.
    assert agreement(cm, ["cen", "mcc"], zero_division=0, digits=None).discriminancy[0, 1] > 6.25
    left_out = agreement(cm, ["cen", "mcc"])
    np.testing.assert_array_equal(left_out.defined, [[1500, 1497], [1497, 1497]])


def test_equal_values() -> None:
    """Neighbours closer than 10**-digits of themselves, or of 1, are one value; so are infinite ones."""
    values = np.asarray(
        [2, 2 + 1e-13, 2 + 1e-10, -1e-20, 0, -0.0, 1e-11, math.inf, math.inf, -math.inf, math.nan, 1e300]
    )
    assert Ranking.of(values, 12).ranks.tolist() == [3, 3, 4, 1, 1, 1, 2, 6, 6, 0, -1, 5]
    assert Ranking.of(values, 14).ranks.tolist() == [3, 4, 5, 1, 1, 1, 2, 7, 7, 0, -1, 6]
    assert Ranking.of(values, 9).ranks.tolist() == [2, 2, 2, 1, 1, 1, 1, 4, 4, 0, -1, 3]
    assert Ranking.of(values).ranks.tolist() == [4, 5, 6, 1, 2, 2, 3, 8, 8, 0, -1, 7]
    assert Ranking.of(-values, 12).ranks.tolist() == [3, 3, 2, 5, 5, 5, 4, 0, 0, 6, -1, 1]
    small = np.asarray([1e-30, 2e-30, -1e-30, 1e-50, 0])  # a stack of tiny cells has counts of this size
    assert Ranking.of(small, 12).ranks.tolist() == [2, 3, 0, 1, 1]
    assert Ranking.of(np.asarray([math.nan, math.inf]), 12).ranks.tolist() == [-1, 0]


@pytest.mark.parametrize("workers", [1, 2, -1])
def test_threads(stack: np.ndarray, found: Agreement, workers: int) -> None:
    again = agreement(stack, NAMES, model_axis=1, workers=workers)
    for name in ("consistency", "discriminancy", "spearman", "kendall", "defined", "disagreement"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


@pytest.mark.sampled(1)
def test_any_library(backend: Any, stack: np.ndarray, found: Agreement) -> None:
    """Floating stacks are scored as float64, so that those of float32 have the same ties."""
    for cm in (backend.asarray(stack), backend.asarray(stack.astype(np.float32)), stack.tolist()):
        again = agreement(cm, NAMES)
        np.testing.assert_array_equal(again.discriminancy, found.discriminancy)
        np.testing.assert_array_equal(again.kendall, found.kendall)


# Undefined values -----------------------------------------------------------------------------------------------------


def test_constant_and_undefined_measures() -> None:
    cm = with_row_sums(4, 3, 3)[:, :2]
    cm = np.concatenate([cm, np.zeros((1500, 1, 3), int)], axis=1)  # without samples of the last class
    found = agreement(cm, ["accuracy", "population", "g_mean"], model_axis=0)
    for table in (found.spearman, found.kendall, found.consistency):
        assert np.isnan(table[1:]).all()
        assert table[0, 0] == 1
    np.testing.assert_array_equal(found.defined, [[1500, 1500, 0], [1500, 1500, 0], [0, 0, 0]])
    assert found.discriminancy[0, 1] == math.inf
    assert found.discriminancy[1, 0] == 0
    assert found.disagreement is not None
    np.testing.assert_array_equal(found.disagreement, [[0, 0, np.nan], [0, 0, np.nan], [np.nan] * 3])


def test_invalid_matrices_are_left_out(stack: np.ndarray) -> None:
    names = ["accuracy", "mcc", "cen"]
    bad = np.concatenate([stack.reshape(-1, 3, 3).astype(float), [np.full((3, 3), np.nan), -np.ones((3, 3))]])
    one, other = agreement(bad, names), agreement(stack, names)
    for name in ("consistency", "discriminancy", "spearman", "kendall", "defined"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("number", [0, 1])
def test_too_few_matrices(number: int) -> None:
    found = agreement(np.ones((number, 3, 3)), ["accuracy", "mcc"], model_axis=0)
    assert np.isnan(found.kendall).all()
    assert np.isnan(found.disagreement).all()
    np.testing.assert_array_equal(found.defined, number)


# The best models ------------------------------------------------------------------------------------------------------


def choices(values: np.ndarray, other: np.ndarray) -> float:
    """The share of the rows in which no column is best by both; columns where one is undefined do not count."""
    differ, number = 0, 0
    for f, g in zip(values, other, strict=True):
        known = [k for k in range(len(f)) if not np.isnan(f[k] + g[k])]
        if len(known) > 1:
            best = [{k for k in known if x[k] == max(x[q] for q in known)} for x in (f, g)]
            number += 1
            differ += not best[0] & best[1]
    return differ / number if number else math.nan


@pytest.mark.sampled(1)
@pytest.mark.parametrize("axis", [0, 1, 2, -3, -5])
def test_the_best_model(axis: int) -> None:
    stack = sparse(4, 5, 6)
    found = agreement(stack, NAMES, model_axis=axis)
    position = axis + 5 if axis < 0 else axis
    values = [
        np.moveaxis(x.reshape(4, 5, 6), position, -1).reshape(-1, (4, 5, 6)[position]) for x in oriented(stack, NAMES)
    ]
    wanted = [[choices(f, g) for g in values] for f in values]
    assert found.disagreement is not None
    np.testing.assert_allclose(found.disagreement, wanted, rtol=1e-14)
    assert agreement(stack, NAMES).disagreement is None


# Families -------------------------------------------------------------------------------------------------------------


def test_families(found: Agreement) -> None:
    pytest.importorskip("scipy")
    for by in ("spearman", "kendall"):
        same = found.families(least_correlation=1, correlation=by)
        assert ["accuracy", "error_rate"] in same
        assert found.families(least_correlation=0, correlation=by) == [NAMES]
        order = found.order(correlation=by)
        assert sorted(order) == list(range(len(NAMES)))
        assert abs(order.index(0) - order.index(1)) == 1
    text = found.describe(least_correlation=1)
    assert text.startswith(f"8 measures in {len(same)} families (average |spearman| at least 1)\n")
    assert "\n2: accuracy; hamming_loss\n" in text
    assert "; recall, macro; " in text
    assert repr(found).startswith("<Agreement of 8 measures: accuracy; hamming_loss; mcc; ")
    assert "alone: " in text


def test_clusters_by_hand() -> None:
    """Three measures: the last joins the first two at the mean of its distances from both."""
    pytest.importorskip("scipy")
    rho = np.asarray([[1, -0.95, 0.7], [-0.95, 1, 0.5], [0.7, 0.5, 1]])
    nothing = np.full((3, 3), np.nan)
    found = Agreement(("a", "b", "c"), nothing, nothing, rho, nothing, nothing)
    np.testing.assert_allclose(found.linkage()[:, 2], [0.05, 0.4])
    assert found.families() == [["a", "b"], ["c"]]
    assert found.families(least_correlation=0.6) == [["a", "b", "c"]]
    assert found.families(least_correlation=0.61) == [["a", "b"], ["c"]]
    assert found.order() in ([1, 0, 2], [2, 0, 1])  # c is nearer to a
    assert found.families(least_correlation=0.5, correlation="kendall") == [["a"], ["b"], ["c"]]
    with pytest.raises(ValueError, match="least_correlation: expected a number from 0 to 1, got 95"):
        found.families(least_correlation=95)
    with pytest.raises(ValueError, match="correlation: expected 'spearman' or 'kendall', got 'pearson'"):
        found.families(correlation="pearson")


def test_one_measure(stack: np.ndarray) -> None:
    found = agreement(stack, "mcc")
    assert found.kendall.shape == (1, 1)
    assert found.families() == [["mcc"]]
    assert found.order() == [0]
    with pytest.raises(ValueError, match="names: expected at least two measures for a clustering, got 1"):
        found.linkage()


def test_without_scipy(found: Agreement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.cluster.hierarchy", None)
    with pytest.raises(ImportError, match=r'pip install "matrics\[stats\]"'):
        found.families()


# Input ----------------------------------------------------------------------------------------------------------------


def test_bad_input(stack: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"got measures with a value for each class: recall:class, mcc:one_vs_rest"):
        agreement(stack, ["recall:class", "mcc", "mcc:one_vs_rest"])
    with pytest.raises(
        ValueError, match=r"stack: expected several matrices, \(\*B, n, n\), got a single matrix, shape \(3, 3\)"
    ):
        agreement(stack[0, 0], "core")
    with pytest.raises(ValueError, match="mattews"):
        agreement(stack, "mattews")
    for axis in (2, -1, -5, True, "models"):
        with pytest.raises(
            ValueError, match=r"model_axis: expected an axis before the axes of the classes, got .* \(30, 20\)"
        ):
            agreement(stack, "core", model_axis=axis)
    with pytest.raises(ValueError, match="digits: expected at most 15"):
        agreement(stack, "core", digits=16)
    with pytest.raises(ValueError, match="digits: expected an integer of at least 1, got 0"):
        agreement(stack, "core", digits=0)
    with pytest.raises(ValueError, match="workers: expected a number of threads"):
        agreement(stack, "core", workers=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [60, pytest.param(300, marks=pytest.mark.exhaustive)])
def test_the_whole_catalogue(number: int) -> None:
    """Of every measure a correlation with accuracy as SciPy has it, from values that are rounded instead of ranked."""
    stats = pytest.importorskip("scipy.stats")
    stack = sparse(number, n=4)
    names = [*matrics.score(stack, "all")]
    found = agreement(stack, "all")
    assert found.names == tuple(names)
    others = range(len(names)) if number > 100 else [names.index("accuracy")]
    values = oriented(stack, names)
    for i, j in itertools.product(others, range(len(names))):
        both = ~(np.isnan(values[i]) | np.isnan(values[j]))
        f, g = values[i][both], values[j][both]
        varies = len(np.unique(f)) > 1 and len(np.unique(g)) > 1
        wanted = stats.kendalltau(f, g).statistic if varies else math.nan
        np.testing.assert_allclose(found.kendall[i, j], wanted, rtol=0, atol=1e-9, err_msg=f"{names[i]} {names[j]}")
    assert sum(map(len, found.families())) == len(names)


def test_two_names_of_one_measure() -> None:
    stack = np.random.default_rng(0).integers(0, 20, (50, 3, 3))
    found = matrics.study.agreement(stack, ["mcc", "matthews_corrcoef", "error_rate", "hamming_loss"])
    assert found.names == ("mcc", "matthews_corrcoef", "error_rate", "hamming_loss")
    np.testing.assert_array_equal(found.spearman[0], found.spearman[1])
    assert "1 family" in matrics.study.agreement(stack, ["mcc", "matthews_corrcoef"]).describe()
