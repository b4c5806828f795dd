"""Models on several data sets: Demšar's example, beside SciPy, scikit-posthocs and baycomp."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import matrics
from matrics import plot

# The areas of four variants of C4.5 on 14 data sets, as Demšar 2006 has them in table 6.
DEMSAR = np.asarray([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def test_friedman_and_the_critical_difference() -> None:
    found = matrics.stats.compare_datasets(DEMSAR, names=NAMES)
    np.testing.assert_allclose(found.mean_ranks, [3.143, 2.000, 2.929, 1.929], atol=5e-4)
    theirs = stats.friedmanchisquare(*DEMSAR.T)
    assert (found.statistic, found.p_value) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    f = 13 * found.statistic / (14 * 3 - found.statistic)
    assert found.f_statistic == pytest.approx(f)
    assert found.f_p_value == pytest.approx(stats.f.sf(f, 3, 39))
    assert found.critical_difference == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=1e-3)  # table 5a
    assert (found.names, found.datasets, found.method) == (NAMES, 14, "nemenyi")


def test_nemenyi_is_that_of_scikit_posthocs() -> None:
    """scikit-posthocs 0.17.1: ``posthoc_nemenyi_friedman``."""
    found = matrics.stats.compare_datasets(DEMSAR).p_values
    expected = {(0, 1): 0.08867271, (0, 2): 0.97168647, (0, 3): 0.06168326, (1, 2): 0.22669689, (2, 3): 0.17005164}
    for (i, j), value in expected.items():
        assert found[i, j] == found[j, i] == pytest.approx(value, abs=1e-8)
    assert np.isnan(np.diagonal(found)).all()


@pytest.mark.exhaustive
def test_signed_ranks_are_corrected_by_holm() -> None:
    found = matrics.stats.compare_datasets(DEMSAR, method="wilcoxon").p_values
    pairs = list(itertools.combinations(range(4), 2))
    plain = []
    for i, j in pairs:
        gap = DEMSAR[:, i] - DEMSAR[:, j]
        plain.append(stats.wilcoxon(gap[np.abs(gap) > 0]).pvalue)
    largest = 0.0
    for place, k in enumerate(np.argsort(plain)):
        largest = max(largest, plain[k] * (6 - place))
        assert found[pairs[k]] == pytest.approx(min(1, largest), rel=1e-10)
    two = matrics.stats.compare_datasets(DEMSAR[:, :2])
    assert (two.method, two.p_values[0, 1]) == ("wilcoxon", pytest.approx(plain[0]))
    assert np.isnan(two.statistic)  # Friedman's test is of three models or more


def test_a_control_is_compared_with_all_others() -> None:
    found = matrics.stats.compare_datasets(DEMSAR, names=NAMES, method="holm", control="C4.5")
    assert np.isnan(found.p_values[1:, 1:]).all()
    error = math.sqrt(4 * 5 / (6 * 14))
    plain = [2 * stats.norm.sf(abs(found.mean_ranks[0] - found.mean_ranks[k]) / error) for k in (1, 2, 3)]
    assert found.p_values[0, 3] == pytest.approx(3 * min(plain))
    assert len(found.to_frame()) == 3


def test_probabilities_are_those_of_baycomp() -> None:
    """baycomp 1.0.3: ``SignedRankTest.probs(1000 * x, 1000 * y, 10, nsamples=50000)``, up to the error of the draws.

    Of whole numbers, as baycomp compares differences of decimals with the region by their last bit.
    """
    found = matrics.stats.compare_datasets(DEMSAR, rope=0.01, rng=0)
    assert found.probability_better is not None
    assert found.probability_equal is not None
    for (i, j), (first, equal, second) in {
        (0, 1): (0.0, 0.33068, 0.66932),
        (0, 2): (0.0857, 0.74596, 0.16834),
        (1, 2): (0.46528, 0.52788, 0.00684),
        (2, 3): (0.0009, 0.21736, 0.78174),
    }.items():
        got = found.probability_better[i, j], found.probability_equal[i, j], found.probability_better[j, i]
        np.testing.assert_allclose(got, (first, equal, second), atol=0.01)
    without = matrics.stats.compare_datasets(DEMSAR, rope=0, rng=0).probability_better
    assert without is not None
    np.testing.assert_allclose([without[0, 1], without[1, 0]], [0.00088, 0.99912], atol=0.002)


def test_lower_may_be_better_and_scores_may_be_named() -> None:
    pandas = pytest.importorskip("pandas")
    higher = matrics.stats.compare_datasets(pandas.DataFrame(DEMSAR, columns=NAMES))
    lower = matrics.stats.compare_datasets(dict(zip(NAMES, 1 - DEMSAR.T, strict=True)), higher_is_better=False)
    assert higher.names == lower.names == NAMES
    np.testing.assert_allclose(higher.mean_ranks, lower.mean_ranks)
    np.testing.assert_allclose(higher.p_values, lower.p_values)


def test_equal_scores_differ_by_nothing() -> None:
    found = matrics.stats.compare_datasets(np.ones((5, 3)))
    assert found.mean_ranks.tolist() == [2, 2, 2]
    assert np.isnan(found.p_value)
    assert found.p_values[0, 1] == 1
    assert matrics.stats.compare_datasets(np.ones((5, 2))).p_values[0, 1] == 1


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (np.ones((1, 3)), {}, r"at least two of each, got shape \(1, 3\)"),
        (np.ones(3), {}, r"expected \(datasets, models\)"),
        ([[1.0, math.nan], [2.0, 3.0]], {}, "got nan of '1' on data set 0"),
        (np.ones((4, 3)), {"names": ["a", "a", "b"]}, "'a' twice"),
        (np.ones((4, 3)), {"names": ["a"]}, "expected 3 different names"),
        (np.ones((4, 3)), {"names": 5}, "names: expected 3 different names, one for each model, got 5"),
        (np.ones((4, 3)), {"names": "abc"}, "names: expected 3 different names, one for each model, got 'abc'"),
        (np.ones((4, 3)), {"control": 0}, "Nemenyi's test is of all pairs"),
        (np.ones((4, 3)), {"control": "z", "method": "holm"}, "one of the models '0', '1', '2'"),
        (np.ones((4, 3)), {"method": "t"}, "'nemenyi', 'holm', 'wilcoxon'"),
        (np.ones((4, 3)), {"rng": 0}, "expected rope="),
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, r"'a' \(2,\), 'b' \(1,\)"),
    ],
)
def test_bad_input_raises(scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.compare_datasets(scores, **options)


@pytest.mark.parametrize("rng", ["a", -1, True, [1], np.random.RandomState(0)])
def test_generators_are_those_of_other_functions(rng: Any) -> None:
    with pytest.raises(TypeError, match="rng: expected a seed"):
        matrics.stats.compare_datasets(DEMSAR, rope=0.1, rng=rng)


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="higher_is_better: expected True or False, got 'no'"):
        matrics.stats.compare_datasets(DEMSAR, higher_is_better="no")  # type: ignore[arg-type]
    jax = pytest.importorskip("jax")
    for read in (
        matrics.stats.compare_datasets,
        lambda table: matrics.stats.compare_datasets({"a": table[:, 0], "b": table[:, 1]}),
    ):
        with pytest.raises(TypeError, match="scores: expected known values, outside jit, compile and vmap"):
            jax.jit(read)(np.ones((4, 3)))


class TestPicture:
    """``matrics.plot.critical_difference``."""

    def test_it_looks_as_it_did(self, tmp_path: Any) -> None:
        pytest.importorskip("matplotlib")
        from pictures import compare

        shifted = DEMSAR + np.asarray([0, 0.02, 0, 0.05])
        compare(plot.critical_difference(shifted, names=NAMES), "critical_difference", tmp_path)

    def test_bars_are_over_models_that_do_not_differ(self) -> None:
        pytest.importorskip("matplotlib")
        display = plot.critical_difference(DEMSAR + np.asarray([0, 0.1, 0.2, 0.3]), names=NAMES)
        p_values = display.comparison.p_values
        for group in display.groups:
            assert all(p_values[i, j] >= 0.05 for i, j in itertools.combinations(group, 2))
        together = {pair for group in display.groups for pair in itertools.combinations(sorted(group), 2)}
        apart = {pair for pair in itertools.combinations(range(4), 2) if p_values[pair] < 0.05}
        assert apart
        assert not together & apart
        assert "are not significantly different" in display.describe()
        with pytest.raises(ValueError, match="got a comparison with a control"):
            plot.critical_difference(matrics.stats.compare_datasets(DEMSAR, method="holm", control=0))

    @pytest.mark.parametrize(
        "options", [{"names": NAMES}, {"level": 0.95}, {"method": "auto"}, {"higher_is_better": True}]
    )
    def test_a_comparison_has_its_own_options(self, options: dict[str, Any]) -> None:
        pytest.importorskip("matplotlib")
        found = matrics.stats.compare_datasets(DEMSAR, level=0.9)
        assert "at 0.1" in plot.critical_difference(found).describe()
        with pytest.raises(
            TypeError, match=f"{next(iter(options))}: expected None with a comparison, which has its own"
        ):
            plot.critical_difference(found, **options)


def test_decimals_are_as_exact_as_whole_numbers() -> None:
    """0.82 − 0.81 and 0.57 − 0.56 are the same difference, and no more than 0.01."""
    whole = np.array([82, 57, 29, 35, 81, 77, 66, 43, 58, 92])
    steps = np.array([1, -1, 1, 1, -1, 1, 1, 1, -1, 1])
    for other, rope in ((whole - 1, 1), (whole + steps, 0)):
        exact = matrics.stats.compare_datasets({"a": other, "b": whole}, rope=rope, rng=0)
        found = matrics.stats.compare_datasets({"a": other / 100, "b": whole / 100}, rope=rope / 100, rng=0)
        np.testing.assert_array_equal(found.probability_equal, exact.probability_equal)
        np.testing.assert_array_equal(found.probability_better, exact.probability_better)
        np.testing.assert_array_equal(found.p_values, exact.p_values)
