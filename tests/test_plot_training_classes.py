"""The picture of a measure of each class over the steps of training."""

from __future__ import annotations

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

MATRICES = np.array([[[8, 2], [5, 5]], [[9, 1], [2, 8]], [[9, 1], [4, 6]]])


def test_matrices_of_each_step() -> None:
    display = plot.training_classes(MATRICES, class_names=["cat", "dog"], steps=[10, 20, 30])
    assert display.class_names == ("dog", "cat")  # the one that is forgotten comes first
    np.testing.assert_allclose(display.values, [[0.5, 0.8, 0.6], [0.8, 0.9, 0.9]])
    (one,) = display.forgotten
    assert (one.class_name, one.best, one.step, one.last) == ("dog", 0.8, 20, 0.6)
    assert "<svg" in display.svg()
    misses = plot.training_classes(MATRICES, "miss_rate", class_names=["cat", "dog"])
    assert not misses.higher_is_better
    assert [(found.class_name, round(found.best, 9)) for found in misses.forgotten] == [("dog", 0.2)]


def test_values_of_a_run() -> None:
    run = {"step": [0, 5], "val/recall/cat": [0.5, 0.75], "val/recall/dog": [1.0, float("nan")], "loss": [2.0, 1.0]}
    display = plot.training_classes(run)
    assert (display.metric, display.class_names) == ("val/recall", ("cat", "dog"))
    assert display.forgotten == []
    assert display.describe().endswith("1 value is undefined, drawn in grey.")
    with pytest.raises(ValueError, match=r"metric: expected a run with values of classes"):
        plot.training_classes({"loss": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"metric: expected a per-class measure, such as 'recall', got 'mcc'"):
        plot.training_classes(MATRICES, "mcc")
    with pytest.raises(ValueError, match=r"steps: expected 3, a step for each matrix"):
        plot.training_classes(MATRICES, steps=[1, 2])


def test_names_with_a_slash_and_limits_of_intervals() -> None:
    names = {"val/recall/cat": [0.5, 0.75], "val/recall/n/a": [1.0, 0.5]}
    display = plot.training_classes(names)
    assert display.class_names == ("n/a", "cat")  # n/a was left out of the picture
    limits = {"val/mcc": [0.5, 0.6], "val/mcc/low": [0.4, 0.5], "val/mcc/high": [0.6, 0.7]}
    limits |= {f"val/recall/cat/{end}": [0.4, 0.8] for end in ("low", "high")}
    assert plot.training_classes(names | limits).class_names == ("n/a", "cat")
    assert plot.training_classes({"top/TPR/n": [0.5, 0.6], "top/recall/n/a": [0.5, 0.6]}, "top/recall").class_names == (
        "n/a",
    )
    assert plot.training_classes({"TPR/n/a": [0.5, 0.6]}).metric == "TPR"
    risks = {"f1": [0.5, 0.6], "f1/low": [0.4, 0.5], "f1/high": [0.6, 0.7]}  # two classes of these names
    assert plot.training_classes(risks, "f1").class_names == ("low", "high")


def test_measures_of_scores_and_of_classes() -> None:
    run = {"roc_auc/cat": [0.5, 0.75], "miss_rate@0.5/cat": [0.1, 0.3], "top_k_recall(k=2)/cat": [0.5, 0.4]}
    assert plot.training_classes(run, "top_k_recall(k=2)").forgotten[0].best == 0.5
    misses = plot.training_classes(run, "miss_rate@0.5")
    assert not misses.higher_is_better
    assert misses.forgotten[0].best == 0.1
    whole = plot.training_classes(MATRICES)
    for name in ("recall:class", matrics.recall):
        display = plot.training_classes(MATRICES, name)
        assert display.metric == "recall"
        np.testing.assert_array_equal(display.values, whole.values)
