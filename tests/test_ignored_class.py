"""A class that is ignored takes no part in averages: as in scikit-learn with ``labels=`` of the others."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from public_names import of_scores

import matrics

sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(6)
Y_TRUE = RANDOM.integers(0, 4, 300)
Y_PRED = np.where(RANDOM.random(300) < 0.6, Y_TRUE, RANDOM.integers(0, 4, 300))
SCORES = RANDOM.random((300, 4)) + np.eye(4)[Y_TRUE]
SCORES /= SCORES.sum(1, keepdims=True)
# Two of four classes; a prediction of either stays an error of its true class.
IGNORED, OTHERS = [0, 2], [1, 3]
KEPT = ~np.isin(Y_TRUE, IGNORED)
SPECS = ["f1", "precision:micro", "recall:weighted", "jaccard:macro", "f1:class", "f1:min", "accuracy"]
every_library = pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])


def expected(names: Any = range(4)) -> dict[str, float]:
    true, pred = Y_TRUE[KEPT], Y_PRED[KEPT]

    def of(function: Any, average: Any, labels: Any = OTHERS) -> Any:
        return function(true, pred, labels=labels, average=average, zero_division=0)

    return {
        "f1": of(sk.f1_score, "macro"),
        "precision:micro": of(sk.precision_score, "micro"),
        "recall:weighted": of(sk.recall_score, "weighted"),
        "jaccard:macro": of(sk.jaccard_score, "macro"),
        **{f"f1/{name}": value for name, value in zip(names, of(sk.f1_score, None, range(4)), strict=True)},
        "f1:min": min(of(sk.f1_score, None)),
        "accuracy": np.mean(true == pred),
    }


def logged(library: str, kind: str, given: tuple[Any, ...], *batch: np.ndarray, **options: Any) -> dict[str, float]:
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    metric = getattr(importlib.import_module(f"matrics.{library}"), kind)(*given, **options)
    asarray = importlib.import_module("jax.numpy" if library == "flax" else "torch").asarray
    metric.update(*map(asarray, batch[::-1] if library == "torchmetrics" else batch))
    return {name: value for name, value in metric.log_dict().items() if name != "dropped"}


@pytest.mark.sampled(1)
@every_library
@pytest.mark.parametrize("kind", ["ConfusionMetric", "MarginMetric"])
def test_metrics_of_labels(library: str, kind: str) -> None:
    found = logged(library, kind, (4, SPECS), Y_TRUE, Y_PRED, ignore_index=IGNORED)
    assert found == pytest.approx(expected(), abs=1e-6)


@pytest.mark.sampled(1)
@every_library
def test_the_example_of_the_report(library: str) -> None:
    """F1 0.8 of the two other classes, by hand: 4 and 4 correct, one error in each direction."""
    y_true = np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
    y_pred = np.array([0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1])
    found = logged(library, "ConfusionMetric", (3, "f1, f1[0]"), y_true, y_pred, ignore_index=0, fill_undefined=None)
    assert found["f1"] == pytest.approx(0.8, abs=1e-6)
    labels = {"labels": [7, 8, 9], "ignore_index": 7}
    found = logged(library, "ConfusionMetric", (None, "f1"), y_true + 7, y_pred + 7, **labels)
    assert found["f1"] == pytest.approx(0.8, abs=1e-6)


@pytest.mark.sampled(2)
@every_library
def test_metrics_of_scores(library: str) -> None:
    """One-vs-rest, of the other classes; for zero_division=0 an ignored class would be an area of 0."""
    specs = ["roc_auc", "roc_auc:micro", "average_precision:macro", "ece:class_wise", "top_k_recall(k=1)"]
    options = {"ignore_index": IGNORED, "zero_division": 0.0, "bits": 12}
    found = logged(library, "ScoreMetric", (4, specs), Y_TRUE, SCORES.astype(np.float32), **options)
    is_class, scores = np.eye(4)[Y_TRUE[KEPT]][:, OTHERS], SCORES[KEPT][:, OTHERS]
    values = {
        "roc_auc": sk.roc_auc_score(is_class, scores, average="macro"),
        "roc_auc:micro": sk.roc_auc_score(is_class, scores, average="micro"),
        "average_precision:macro": sk.average_precision_score(is_class, scores, average="macro"),
        "ece:class_wise": np.mean([error(*column) for column in zip(is_class.T, scores.T, strict=True)]),
        "top_k_recall(k=1)": sk.recall_score(
            Y_TRUE[KEPT], SCORES[KEPT].argmax(1), labels=OTHERS, average="macro", zero_division=0
        ),
    }
    for name, value in values.items():
        assert found[name] == pytest.approx(value, abs=2e-3 if "roc" in name or "precision" in name else 1e-5), name


def error(is_class: np.ndarray, p: np.ndarray) -> float:
    """The calibration error in 15 bins of equal width."""
    bins = np.minimum((p * 15).astype(int), 14)
    return sum(abs((is_class - p)[bins == k].sum()) for k in range(15)) / len(p)


@pytest.mark.filterwarnings("ignore:only among the predicted labels")
def test_functions_of_labels() -> None:
    names = np.array(["ant", "bee", "cat", "dog"])
    true, pred, left = names[Y_TRUE], names[Y_PRED], ["ant", "cat"]
    for labels in (None, list(names)):
        found = matrics.to_dict(matrics.score_labels(true, pred, SPECS, labels=labels, ignore_index=left))
        assert found == pytest.approx(expected(names))
        report = matrics.classification_report(true, pred, labels=labels, ignore_index=left)
        place = len(names) + 1  # the mean of the classes stands below these and the accuracy
        assert report.f1.estimate[place] == pytest.approx(expected()["f1"])
        assert report.recall.estimate[place] == pytest.approx(
            sk.recall_score(Y_TRUE[KEPT], Y_PRED[KEPT], labels=OTHERS, average="macro")
        )
    options: dict[str, Any] = {"num_classes": 4, "ignore_index": IGNORED, "num": 100, "rng": 0}
    assert matrics.stats.permutation_test(Y_TRUE, Y_PRED, "f1", **options).score == pytest.approx(expected()["f1"])
    models = matrics.compare_models(Y_TRUE, {"a": Y_PRED, "b": Y_TRUE}, "f1", **options)
    assert models["f1"].intervals.estimate[0] == pytest.approx(expected()["f1"])


@pytest.mark.parametrize("workers", [1, 2])
def test_functions_of_scores(workers: int) -> None:
    is_class, scores, true = np.eye(4)[Y_TRUE[KEPT]][:, OTHERS], SCORES[KEPT][:, OTHERS], Y_TRUE[KEPT]
    options: dict[str, Any] = {"ignore_index": IGNORED, "zero_division": 0.0}
    for average in ("macro", "weighted", "micro"):
        for name in ("roc_auc", "average_precision"):
            found = of_scores(name)(Y_TRUE, SCORES, average=average, workers=workers, **options)
            function = getattr(sk, {"roc_auc": "roc_auc_score"}.get(name, f"{name}_score"))
            assert found == pytest.approx(function(is_class, scores, average=average)), (name, average)
    pair = sk.roc_auc_score(true == 1, SCORES[KEPT][:, 1]), sk.roc_auc_score(true == 3, SCORES[KEPT][:, 3])
    found = matrics.ranking.roc_auc(Y_TRUE, SCORES, multi_class="one_vs_one", **options)
    assert found == pytest.approx(np.mean(pair))
    batch = matrics.ranking.roc_auc(Y_TRUE, np.stack([SCORES, SCORES**2]), average="micro", **options)
    assert batch[0] == pytest.approx(sk.roc_auc_score(is_class, scores, average="micro"))
    assert matrics.ranking.roc_auc(Y_TRUE, SCORES, average="class", **options).shape == (4,)
    found = matrics.probabilities.expected_calibration_error(Y_TRUE, SCORES, of="class_wise", ignore_index=IGNORED)
    assert found == pytest.approx(np.mean([error(*column) for column in zip(is_class.T, scores.T, strict=True)]))
    recall = sk.recall_score(true, SCORES[KEPT].argmax(1), labels=OTHERS, average="macro")
    assert matrics.ranking.top_k_recall(Y_TRUE, SCORES, 1, **options) == pytest.approx(recall)


def test_an_ignored_class_of_two_columns_of_scores() -> None:
    """All other samples are of one class, which has no area; the metric and the function agree."""
    y_true, y_score = np.array([0, 1, 1, 0]), np.array([[0.2, 0.8], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    for left, precision in ((0, 1.0), (1, np.nan)):
        assert np.isnan(matrics.ranking.roc_auc(y_true, y_score, ignore_index=left))
        found = matrics.ranking.average_precision(y_true, y_score, ignore_index=left)
        np.testing.assert_equal(float(found), precision)
        found = logged(
            "torch", "ScoreMetric", (2, "average_precision"), y_true, y_score, ignore_index=left, fill_undefined=None
        )
        np.testing.assert_equal(found["average_precision"], precision)
