"""Pictures of which measures agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from matplotlib.patches import Rectangle
from pictures import compare

STACK = matrics.simulate.random_matrices(200, 3, rng=0)


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("agreement", lambda: plot.agreement(STACK)),
        pytest.param(
            "agreement_kendall",
            lambda: plot.agreement(STACK, "core, agreement, information", correlation="kendall", least_correlation=0.8),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)


def test_correlations_are_those_of_scipy_in_the_order_of_the_tree() -> None:
    stats, hierarchy = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.cluster.hierarchy")
    metrics = ["accuracy", "cen", "mcc", "imbalance_ratio", "error_rate", "joint_entropy"]
    display = plot.agreement(STACK, metrics)
    values = matrics.score(STACK, metrics)
    values["cen"], values["error_rate"] = -values["cen"], -values["error_rate"]
    expected = stats.spearmanr(np.stack([values[name] for name in display.names], axis=1)).statistic
    np.testing.assert_allclose(display.correlation, expected, rtol=1e-9)
    tree = hierarchy.dendrogram(display.linkage, no_plot=True)
    assert [metrics[leaf] for leaf in tree["leaves"]] == list(display.names)
    assert ["accuracy", "error_rate", "mcc"] in [sorted(family) for family in display.families]
    texts = [text.get_text() for text in display.ax_.texts]
    assert len(texts) == 36
    assert any(text.startswith("−.") for text in texts)
    frames = [patch for patch in display.ax_.patches if isinstance(patch, Rectangle) and patch.get_lw() < 2]
    assert len(frames) == sum(len(family) > 1 for family in display.families)
    first = next(family for family in display.families if len(family) > 1)
    assert frames[0].get_y() == display.names.index(first[0]) - 0.5
    assert frames[0].get_height() == len(first)


def test_of_many_measures_families_have_names() -> None:
    """At least a line of text apart, the largest family first."""
    random = np.random.default_rng(0)
    base = random.random((40, 6))
    values = np.concatenate([np.repeat(base[:, :3], 18, axis=1), base[:, 3:]], axis=1)
    values += 1e-4 * random.random(values.shape)
    names = (*(f"measure_{k}" for k in range(54)), "mcc", "a", "b")
    ranks = values.argsort(axis=0).argsort(axis=0)
    correlation = np.corrcoef(ranks.T)
    tables = (correlation, correlation, correlation, correlation, np.full(correlation.shape, 40))
    display = plot.agreement(matrics.study.Agreement(names, *tables))
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert sum(label.endswith("and 17 more") for label in labels) == 3
    rows = display.ax_.get_yticks()
    assert np.diff(rows).min() * 72 * display._side() / 57 >= 9
    assert not display.text


def test_what_is_undefined_is_grey_and_told() -> None:
    stack = np.array([[[5, 0], [0, 5]], [[4, 1], [2, 3]], [[3, 2], [2, 3]]])
    display = plot.agreement(stack, ["accuracy", "mcc", "imbalance_ratio"])  # the last is constant
    assert np.isnan(display.correlation).any()
    assert display.describe().endswith("2 of 3 are undefined, and grey.")
    assert "3 measures, which form 2 families" in display.describe()
    nothing = plot.agreement(stack[:1], ["accuracy", "mcc"])
    assert nothing.describe().endswith("1 of 1 are undefined, and grey.")


@pytest.mark.exhaustive
def test_the_whole_catalogue_is_no_large_picture() -> None:
    display = plot.agreement(STACK, "all")
    assert len(display.names) == len(matrics.list_metrics("all"))
    assert len(display.svg()) < 150_000


def test_a_result_is_taken_as_it_is() -> None:
    found = matrics.study.agreement(STACK, ["accuracy", "cen", "mcc"])
    display = plot.agreement(found, correlation="kendall", text=False)
    order = found.order(correlation="kendall")
    np.testing.assert_array_equal(display.correlation, found.kendall[np.ix_(order, order)])
    assert display.ax_.get_xlabel() == "columns in the order of the rows"


@pytest.mark.sampled(1)
def test_matrices_of_any_library(backend: object) -> None:
    metrics = ["accuracy", "cen", "mcc"]
    display = plot.agreement(backend.asarray(STACK[:20]), metrics, text=False)
    np.testing.assert_allclose(display.correlation, plot.agreement(STACK[:20], metrics, text=False).correlation)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correlation": "pearson"}, "correlation: expected 'spearman' or 'kendall'"),
        ({"least_correlation": 2}, "least_correlation: expected a number from 0 to 1"),
        ({"text": 3}, "text: expected 'auto'"),
        ({"metrics": "mcc"}, "metrics: expected at least two measures, got 1"),
    ],
)
def test_errors_say_what_was_expected(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.agreement(STACK[:5], **options)
