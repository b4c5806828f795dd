"""Pictures of how a measure is distributed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

CM = np.array([[40, 10], [5, 45]])


def kinds() -> dict:
    """Many values, few of them, values of which few differ, and none."""
    random = np.random.default_rng(0)
    return {
        "replicates": random.normal(0.8, 0.03, 4000),
        "folds": random.normal(0.7, 0.05, 5),
        "one of three": random.integers(0, 3, 300) / 2,
        "none": [np.nan] * 3,
    }


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("distribution", lambda: plot.distribution(kinds(), title="f1", estimates=[0.81, 0.7, 0.5, np.nan])),
        pytest.param(
            "distribution_100",
            lambda: plot.distribution(np.linspace(-2, 2, 81)[:, None] ** 3 + np.sin(np.arange(100.0))),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)


def points(display: plot.Display, marker: str = "o") -> np.ndarray:
    found = [line.get_xdata() for line in display.ax_.lines if line.get_marker() == marker]
    return np.sort(np.concatenate([np.ravel(one) for one in found]))


def test_few_values_are_all_drawn() -> None:
    values = np.array([0.7, 0.7, 0.9, np.nan, 0.4, np.inf])
    display = plot.distribution(values, title="mcc")
    np.testing.assert_array_equal(points(display), [0.4, 0.7, 0.7, 0.9])
    heights = next(line.get_ydata() for line in display.ax_.lines if len(line.get_xdata()) == 4)
    assert len(set(heights[:3])) > 1  # equal values are next to each other
    assert display.describe() == "Distribution of mcc. 4 values around 0.7, from 0.4 to 0.9 (1 undefined, 1 infinite)."
    assert display.ax_.get_yticklabels()[0].get_text() == "\n(1 undefined, 1 infinite)"


def test_many_values_are_a_histogram_and_quantiles() -> None:
    replicates = matrics.mcc(matrics.simulate.resample(CM, 3000, rng=0))
    display = plot.distribution(replicates, estimates=matrics.mcc(CM), level=0.9)
    expected = np.quantile(replicates, [0.05, 0.25, 0.5, 0.75, 0.95])
    np.testing.assert_array_equal(display.quantiles[0], expected)
    lines = [line.get_xdata()[:2] for line in display.ax_.lines if len(line.get_xdata()) == 3]
    np.testing.assert_array_equal(lines, [expected[[0, 4]], expected[[1, 3]]])
    np.testing.assert_array_equal(points(display), expected[[2]])
    np.testing.assert_array_equal(points(display, "^"), [matrics.mcc(CM)])
    (shape, _) = display.ax_.patches
    heights, edges, base = shape.get_data()
    assert (base - heights).max() == pytest.approx(0.55)
    assert edges[-1] - edges[0] == pytest.approx(np.ptp(np.quantile(replicates, [0.0005, 0.9995])))
    assert "90% of the values" in display.ax_.texts[-1].get_text()


def test_values_of_which_few_differ_are_lines() -> None:
    display = plot.distribution([0.0, 0.5, 0.5, 1.0] * 40)
    (lines,) = display.ax_.collections
    tops = {segment[0, 0]: segment[1, 1] - segment[0, 1] for segment in lines.get_segments()}
    assert tops == {0: pytest.approx(0.275), 0.5: pytest.approx(0.55), 1: pytest.approx(0.275)}


def test_many_groups_are_sorted_and_thinned() -> None:
    medians = np.random.default_rng(0).permutation(500) / 500
    medians[7] = np.nan
    display = plot.distribution(medians + np.linspace(-1, 1, 101)[:, None] / 10, title="f1")
    assert len(display.rows) == 200
    assert display.rows[-1] == 7
    assert (np.diff(medians[display.rows[:-1]]) < 0).all()
    assert len(display.ax_.get_yticks()) == 40
    assert display.describe().endswith("200 of 500 groups are shown, evenly chosen by their medians.")
    assert len(display.svg()) < 150_000
    some = plot.distribution(medians[:30] + np.zeros((100, 1)))
    assert some.rows == list(range(30))
    assert "The medians of all groups are between" in some.describe()


def test_groups_without_values() -> None:
    display = plot.distribution({"a": [np.nan, np.nan], "b": []})
    assert [text.get_text() for text in display.ax_.texts[:2]] == ["no value", "no value"]
    assert display.describe() == "Distribution of values in 2 groups. a: no value (2 undefined). b: no value."
    assert "The medians" not in plot.distribution(np.full((3, 60), np.nan)).describe()


@pytest.mark.sampled(2)
def test_arrays_of_any_library(backend: object) -> None:
    values = np.arange(12.0).reshape(4, 3)
    display = plot.distribution(backend.asarray(values), names=["a", "b", "c"], estimates=backend.asarray(values[0]))
    np.testing.assert_array_equal(display.values, values.T)
    assert display.names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.zeros((2, 2, 2)), {}, r"values: expected \(R,\), or \(R, G\)"),
        ({"a": np.zeros((2, 2))}, {}, r"values: expected \(R,\) in each group"),
        ({}, {}, "values: expected at least one"),
        (np.zeros(0), {}, "values: expected at least one"),
        ([1.0], {"names": ["a", "b"]}, "names: expected 1, a name for each group"),
        ([1.0], {"estimates": [1, 2]}, "estimates: expected 1, a value for each group, got 2"),
        ([1.0], {"level": 1}, "level: expected"),
    ],
)
def test_errors_say_what_was_expected(values: object, options: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        plot.distribution(values, **options)


def test_groups_that_are_measures_have_their_titles() -> None:
    scores = matrics.score([[[9, 1], [2, 8]], [[8, 2], [1, 9]]], "recall,recall:macro,sensitivity")
    assert "recall of class 1: 2 values" in matrics.plot.distribution(scores).describe()
    assert "recall, macro: 2 values" in matrics.plot.distribution(scores).describe()
    assert "sensitivity of class 1: 2 values" in matrics.plot.distribution(scores).describe()
