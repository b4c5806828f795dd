"""Discrimination lines, with closed forms in exact fractions, values to 60 digits, and a plain search."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics.study import LineStatus, discrimination_line

LINES = json.loads(Path(__file__).with_name("data").joinpath("vectors.json").read_text())["extra"][
    "discrimination_lines_001"
]
MEASURES: dict[str, tuple[str, int | None]] = {
    "osr": ("accuracy", None),
    "kappa": ("cohen_kappa", None),
    "mre": ("bennett_s", None),
    "csi": ("csi", None),
    "mcc": ("mcc", None),
    "eve": ("eve", None),
    "f_class1": ("f1", 0),
    "icsi_class1": ("icsi", 0),
    "tpr_class1": ("recall", 0),
}
X = [Fraction(i, 20) for i in range(1, 21)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['measure']}-{line['k']}-{line['p']}")
def test_lines_to_many_digits(line: dict[str, Any]) -> None:
    metric, positive = MEASURES[line["measure"]]
    x, y = np.asarray(line["points_x_y"], float).T
    found = discrimination_line(metric, line["k"], line["p"], positive=positive, hits=x)
    np.testing.assert_allclose(found.y, y, rtol=0, atol=2e-9)
    assert found.roots.shape[-1] <= 1
    np.testing.assert_array_equal(found.status, np.where(np.isnan(y), LineStatus.ONE_CLASS, LineStatus.CROSSES))


# Closed forms, by equating the measure's fraction of both series ------------------------------------------------------


def proportions(k: int, p: Fraction) -> list[Fraction]:
    return [(1 - p) / k + p * Fraction(2 ** (k - i), 2**k - 1) for i in range(1, k + 1)]


def accuracy(x: Fraction, _k: int, pi: list[Fraction]) -> Fraction:
    return 1 - (1 - x) / pi[0]


def recall(x: Fraction, _k: int, _pi: list[Fraction]) -> Fraction:
    return x


def npv(x: Fraction, k: int, _pi: list[Fraction]) -> Fraction:
    return 1 - (1 - x) / (x + (1 - x) * Fraction(k - 2, k - 1))


def icsi(x: Fraction, k: int, pi: list[Fraction]) -> Fraction:
    return x * pi[0] / (x * pi[0] + (1 - x) * (1 - pi[0]) / (k - 1)) + x - 1


def f1(x: Fraction, k: int, pi: list[Fraction]) -> Fraction:
    value = 2 * x * pi[0] / (pi[0] * (1 + x) + (1 - x) * (1 - pi[0]) / (k - 1))
    return value / (2 - value)


def precision_of_second(x: Fraction, _k: int, pi: list[Fraction]) -> Fraction:
    return 1 - (1 - x) * (1 - pi[1]) / (x * pi[0])


def specificity_of_second(x: Fraction, _k: int, pi: list[Fraction]) -> Fraction:
    return 1 - (1 - x) * (1 - pi[1]) / pi[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("metric", "positive", "wanted"),
    [
        ("accuracy", None, accuracy),
        ("recall", 0, recall),
        ("npv", 0, npv),
        ("icsi", 0, icsi),
        ("f1", 0, f1),
        ("jaccard[0]", None, f1),
        ("precision", 1, precision_of_second),
        ("specificity", 1, specificity_of_second),
    ],
)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_closed_forms(metric: str, positive: int | None, wanted: Any, k: int) -> None:
    levels = [Fraction(0), Fraction(1, 3), Fraction(1)]
    exact = [[wanted(x, k, proportions(k, p)) for x in X] for p in levels]
    found = discrimination_line(metric, k, [float(p) for p in levels], positive=positive, hits=[*map(float, X)])
    # Without any sample predicted as the first class, ICSI is undefined.
    wanted = np.asarray(
        [[float(y) if y > 0 or (y == 0 and metric != "icsi") else math.nan for y in row] for row in exact]
    )
    np.testing.assert_allclose(found.y, wanted, rtol=0, atol=2e-9)
    np.testing.assert_array_equal(found.status == LineStatus.ONE_CLASS, np.isnan(wanted))
    assert not found.has_interval.any()


def test_another_value_for_the_same_thing_has_the_same_line() -> None:
    one, other = (discrimination_line(name, 3, 0.4, positive=0) for name in ("recall", "fnr"))
    np.testing.assert_allclose(one.y, other.y, rtol=0, atol=2e-9)
    np.testing.assert_array_equal(one.status, other.status)


# Lines that are none --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "positive"),
    [("precision", 0), ("specificity", 0), ("recall", 1), ("npv", 1), ("positive_likelihood_ratio", 0)],
)
def test_vertical_lines(metric: str, positive: int) -> None:
    """What does not see errors of the first class prefers them to any others."""
    found = discrimination_line(metric, 3, [0, 1], positive=positive, hits=[0, 0.5, 0.9, 1])
    wanted = [LineStatus.ONE_CLASS] * 3 + [LineStatus.EQUAL]
    np.testing.assert_array_equal(found.status, [wanted, wanted])
    assert np.isnan(found.y[:, :3]).all()
    np.testing.assert_array_equal(found.y[:, 3], 1)
    assert found.has_interval[:, 3].all()


def test_what_no_error_changes() -> None:
    found = discrimination_line("true_entropy", 3, hits=[0, 0.3, 1])
    np.testing.assert_array_equal(found.status, LineStatus.EQUAL)
    np.testing.assert_array_equal(found.roots, [[0, 1]] * 3)


def test_undefined() -> None:
    found = discrimination_line("gt_index", 3, hits=[0.2, 1])  # all errors touch the first class
    np.testing.assert_array_equal(found.status, LineStatus.UNDEFINED)
    assert found.roots.shape == (2, 0)
    assert np.isnan(found.y).all()


def test_which_value_is_preferred() -> None:
    """The loss of one class of three is at most a third; the entropy of all cells, of which more is better, is less."""
    for metric, wanted in (("hamming_loss", LineStatus.ONE_CLASS), ("joint_entropy", LineStatus.ALL_CLASSES)):
        assert discrimination_line(metric, 3, hits=[0.5]).status == wanted


# Several roots --------------------------------------------------------------------------------------------------------


def test_two_roots() -> None:
    """With two equal classes the joint entropies are ln 2 + H(y)/2 and ln 2 + H(x), where H is that of a coin."""

    def coin(share: Any) -> Any:
        return -share * np.log(share) - (1 - share) * np.log(1 - share)

    x = np.asarray([0.02, 0.1, 0.5, 0.9, 0.97])
    found = discrimination_line("joint_entropy", 2, hits=x)
    possible = 2 * coin(x) <= math.log(2)
    np.testing.assert_array_equal(np.isfinite(found.roots), possible[:, None] & [True, True])
    roots = found.roots[possible]
    np.testing.assert_allclose(coin(roots), 2 * coin(x[possible])[:, None] * [1, 1], rtol=1e-7)
    np.testing.assert_allclose(roots.sum(axis=-1), 1, rtol=0, atol=4e-9)
    np.testing.assert_array_equal(found.y[possible], roots[:, 1])
    np.testing.assert_array_equal(found.status[~possible], LineStatus.ALL_CLASSES)  # a higher entropy


def test_an_interval_of_equal_values() -> None:
    """EVE of two classes is 0 up to √sensitivity + √specificity = √2: up to x = 1/2, and y = (√2 - 1)²."""
    found = discrimination_line("eve", 2, hits=[0, 0.3, 0.5, 0.51])
    np.testing.assert_allclose(found.roots[:3], [[0, 3 - math.sqrt(8)]] * 3, rtol=0, atol=2e-9)
    np.testing.assert_array_equal(found.has_interval, [True, True, True, False])
    np.testing.assert_array_equal(found.status, LineStatus.CROSSES)
    assert 3 - math.sqrt(8) < found.y[3] < 0.5


def test_a_jump() -> None:
    """Where the largest predicted class changes, so does the preference, although no value is the same."""
    found = discrimination_line("goodman_kruskal_lambda", 2, 0.5, hits=[0.6])
    assert found.status == LineStatus.CROSSES
    y = found.y[0]
    sizes = matrics.simulate.class_proportions(2, 0.5)
    wanted = matrics.metrics.goodman_kruskal_lambda(matrics.simulate.controlled_errors(sizes, 0.6))
    below, above = (
        matrics.metrics.goodman_kruskal_lambda(matrics.simulate.controlled_errors(sizes, [y + step, 1]))
        for step in (-1e-6, 1e-6)
    )
    assert below <= wanted <= above


@pytest.mark.sampled(2)
@pytest.mark.parametrize("metric", ["cen", "mcen", "nmi", "kappa_standard_error", "bangdiwala_b", "class_cen:macro"])
@pytest.mark.parametrize("k", [2, 3])
def test_beside_a_plain_search(metric: str, k: int) -> None:
    """The number of changes of sign on a fine grid, and where they are."""
    x, y = np.linspace(0.021, 0.987, 39), np.linspace(0.00005, 0.99995, 10_000)
    sizes = matrics.simulate.class_proportions(k, 0.7)
    recalls = np.ones((len(y), k))
    recalls[:, 0] = y
    one, other = (
        matrics.score(matrics.simulate.controlled_errors(sizes, hits), metric)[metric]
        for hits in (recalls, np.repeat(x[:, None], k, axis=1))
    )
    positive = one > other[:, None]
    wanted = [y[:-1][row[1:] != row[:-1]] + 0.00005 for row in positive]
    found = discrimination_line(metric, k, 0.7, hits=x)
    for roots, places in zip(found.roots, wanted, strict=True):
        np.testing.assert_allclose(roots[roots > y[0]], places, rtol=0, atol=0.00006)


# The call -------------------------------------------------------------------------------------------------------------


def test_batches() -> None:
    levels = np.asarray([[0, 0.3, 0.5], [0.8, 0.9, 1]])
    found = discrimination_line("cen", 3, levels)
    assert found.x.shape == (101,)
    assert found.y.shape == found.status.shape == found.has_interval.shape == (2, 3, 101)
    for place in np.ndindex(2, 3):
        alone = discrimination_line("cen", 3, levels[place])
        np.testing.assert_array_equal(alone.y, found.y[place])
        np.testing.assert_array_equal(alone.roots, found.roots[place][:, : alone.roots.shape[-1]])
    assert discrimination_line("cen", 3, levels[:0]).y.shape == (0, 3, 101)
    assert discrimination_line("cen", 3, hits=[]).y.shape == (0,)


def test_tolerance() -> None:
    """From a grid of two points as well; a coarse tolerance keeps its promise."""
    exact = [3 * x - 2 for x in (0.7, 0.91)]
    found = discrimination_line("accuracy", 3, hits=[0.7, 0.91], tolerance=1e-12, intervals=1)
    np.testing.assert_allclose(found.y, exact, rtol=0, atol=1e-11)  # what rounding of the measure allows
    found = discrimination_line("accuracy", 3, hits=[0.7, 0.91], tolerance=1e-3, intervals=1)
    np.testing.assert_allclose(found.y, exact, rtol=0, atol=1e-3)


@pytest.mark.parametrize("metric", ["accuracy[2]", matrics.recall.using(positive=2), "recall"])
def test_values_of_a_class(metric: Any) -> None:
    found = discrimination_line(metric, 3, positive=2 if metric == "recall" else None, hits=[0.5, 1])
    if metric == "accuracy[2]":  # errors in this class against the rest: (1-y)π/2 and (1-x)π (1 + 2/2)
        np.testing.assert_allclose(found.y, [math.nan, 1], rtol=0, atol=1e-9)
    assert found.status[0] == LineStatus.ONE_CLASS


def test_an_average() -> None:
    one, other = (discrimination_line(name, 4, 0.2) for name in ("recall", "balanced_accuracy"))
    np.testing.assert_allclose(one.y, other.y, rtol=0, atol=2e-9)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("recall:class", 3), {}, r"metric: expected a single value .* got recall:class .* such as 'recall\[0\]'"),
        (("mcc:one_vs_rest", 3), {}, r"metric: expected a single value .* got mcc:one_vs_rest .* such as 'mcc\[0\]'"),
        (("recall", 3), {"positive": 3}, "positive: expected the index of a class, from 0 to 2"),
        (("recall", 3), {"positive": True}, "positive: expected the index of a class, from 0 to 2"),
        (("recall[3]", 3), {}, r"recall\[3\]: expected the index of a class, from 0 to 2"),
        (("mcc", 1), {}, "num_classes: expected at least 2"),
        (("mcc", 3, 1.5), {}, r"imbalance: expected numbers in \[0, 1\]"),
        (("mcc", 3), {"hits": [0.5, 1.5]}, r"hits: expected recalls in \[0, 1\], got 1.5"),
        (("mcc", 3), {"hits": [math.nan]}, r"hits: expected recalls in \[0, 1\], got nan"),
        (("mcc", 3), {"hits": 0.5}, r"hits: expected a single axis of recalls \(X,\), got shape \(\)"),
        (("mcc", 3), {"tolerance": 0}, "tolerance: expected a number between 0 and 1"),
        (("mc", 3), {}, "mc"),
    ],
)
def test_what_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        discrimination_line(*arguments, **options)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in matrics.list_metrics() if matrics.get_metric(name).scale_free])
def test_every_measure(name: str) -> None:
    """At every root the values are equal, or the sign of their difference changes; without one it never does."""
    metric, k = matrics.get_metric(name), 3
    positive, spec = (0, metric.using(average="class")) if metric.kind == "per_class" else (None, metric)
    sizes, x = matrics.simulate.class_proportions(k, 0.6), np.linspace(0.013, 0.99, 30)

    def values(recalls: np.ndarray) -> np.ndarray:
        found = matrics.score(matrics.simulate.controlled_errors(sizes, recalls), [spec])[str(spec)]
        return found if positive is None else found[..., positive]

    def of_first(y: np.ndarray) -> np.ndarray:
        return values(np.stack([y, np.ones_like(y), np.ones_like(y)], axis=-1))

    line = discrimination_line(name, k, 0.6, positive=positive, hits=x)
    wanted = values(np.repeat(x[:, None], k, axis=1))
    row, column = np.nonzero(np.isfinite(line.roots))
    roots = line.roots[row, column]
    below, at, above = (of_first(np.clip(roots + step, 0, 1)) - wanted[row] for step in (-1e-6, 0, 1e-6))
    assert np.all((below * above <= 0) | (np.abs(at) < 1e-6 * (1 + np.abs(wanted[row]))))
    signs = np.sign(of_first(np.linspace(0.001, 0.999, 2000)) - wanted[np.isnan(line.y), None])
    assert all(len(np.unique(some[np.isfinite(some)])) <= 1 for some in signs)
