"""Integers of narrow types and half precision give the results of 64 bits: no product, square or sum overflows.

The reference is the same call with float64 (or int64 for labels), and for some numbers exact fractions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from public_names import of_scores

import matrics
from matrics import raters, study

RANDOM = np.random.default_rng(48)
SIZE = 120
WIDE = np.float64
COUNTS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float16", "float32")
NAMES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64")
DTYPES = {"counts": COUNTS, "weights": COUNTS, "names": NAMES, "two": ("bool", *NAMES)}

TRUE, PRED, OTHER, JUDGE = RANDOM.integers(0, 3, (4, SIZE))
TWO = RANDOM.integers(0, 2, SIZE)
SCORES = np.round(RANDOM.random(SIZE), 2)
PROBABILITIES = RANDOM.dirichlet(np.ones(3), SIZE)
LABELLED = RANDOM.random(SIZE) < 0.5
TAGS, FOUND = RANDOM.integers(0, 2, (2, SIZE, 3))

MATRIX = np.asarray([[100, 3, 20], [110, 120, 5], [7, 90, 115]])
COSTS = np.asarray([[0, 120, 20], [110, 0, 5], [7, 90, 0]])
STACK = RANDOM.integers(90, 120, (6, 3, 3))
JOINT = RANDOM.integers(90, 120, (3, 3, 3))
GROUPS = RANDOM.integers(90, 120, (4, 2, 2))
WEIGHTS = RANDOM.integers(90, 120, SIZE)
MANY = RANDOM.integers(0, 100, SIZE)  # names of classes, groups or clusters, whose products with 100 are large
RATINGS = RANDOM.integers(0, 100, (20, 3))
OF_FOLDS = RANDOM.integers(1, 120, 10)

Call = tuple[str, np.ndarray, Callable[[Any], Any]]


def of_matrices() -> Iterator[tuple[str, np.ndarray, Callable[[Any], Any]]]:
    yield "score", STACK, lambda x: matrics.score(x, "all")
    yield "interval", MATRIX, lambda x: matrics.interval(x, ["accuracy", "mcc", "precision", "eve"])
    yield "interval of clusters", STACK, lambda x: matrics.interval(x, ["accuracy", "mcc"], cluster_axis=0)
    yield "squared weights", MATRIX, lambda x: matrics.interval(MATRIX, "mcc", squared_weights=x)
    yield "compare", MATRIX, lambda x: matrics.compare(x, STACK[0], ["accuracy", "mcc"])
    yield "compare_paired", JOINT, lambda x: matrics.compare_paired(x, ["accuracy", "mcc"])
    yield "mcnemar", JOINT, lambda x: [matrics.stats.mcnemar(x), matrics.stats.mcnemar(x, exact=False)]
    yield "normalize", MATRIX, matrics.transform.normalize
    yield "one_vs_rest", MATRIX, matrics.transform.one_vs_rest
    yield "pair_counts", MATRIX, matrics.transform.pair_counts
    yield "rebalance", MATRIX, matrics.transform.rebalance
    yield "repair", MATRIX, matrics.transform.repair
    yield (
        "weight_cells",
        MATRIX,
        lambda x: [matrics.transform.weight_cells(x, COSTS), matrics.transform.weight_cells(x, x)],
    )
    yield "merge_classes", MATRIX, lambda x: matrics.transform.merge_classes(x, [0, 1, 1])
    yield "at_prevalence", MATRIX, lambda x: matrics.transform.at_prevalence(x, [0.2, 0.3, 0.5])
    yield "estimate_prevalence", MATRIX, lambda x: matrics.stats.estimate_prevalence(x, x[0])
    yield "resample", MATRIX, lambda x: matrics.simulate.resample(x, 3, rng=0)
    yield "diagnostic_table", GROUPS[0], matrics.stats.diagnostic_table
    yield "cost", COSTS, lambda x: [matrics.metrics.cost(x)(MATRIX), matrics.metrics.cost(COSTS)(x)]
    yield "fairness", GROUPS, lambda x: [matrics.fairness.demographic_parity(x), matrics.fairness.equalized_odds(x)]
    yield "disparity", MATRIX, matrics.fairness.disparity
    yield "gate", MATRIX, lambda x: matrics.gate(x, "accuracy >= 0.5")
    yield "compare_folds", OF_FOLDS, lambda x: matrics.stats.compare_folds(x, OF_FOLDS[::-1], test_fraction=0.1)
    yield "compare_datasets", STACK[:, 0], matrics.stats.compare_datasets
    yield "study.agreement", STACK, lambda x: study.agreement(x, ["accuracy", "mcc"])
    yield (
        "thresholds",
        np.asarray([20, 100, 120]),
        lambda x: matrics.ranking.threshold_curve(TWO, SCORES * 150, thresholds=x),
    )


def of_weights() -> Iterator[tuple[str, np.ndarray, Callable[[Any], Any]]]:
    two = {"num_classes": 2}
    three = {"num_classes": 3}
    judged: dict[str, Any] = {"y_true": TRUE, "y_judge": JUDGE, "labelled": LABELLED, **three}
    calls: dict[str, Callable[[Any], Any]] = {
        "confusion_matrix": lambda w: matrics.confusion_matrix(TRUE, PRED, sample_weight=w, **three),
        "joint": lambda w: matrics.stats.joint_confusion_matrix(TRUE, PRED, OTHER, sample_weight=w, **three),
        "soft": lambda w: matrics.soft_confusion_matrix(TRUE, PROBABILITIES, sample_weight=w),
        "soft targets": lambda w: matrics.soft_confusion_matrix(PROBABILITIES, PROBABILITIES, sample_weight=w),
        "score_labels": lambda w: list(matrics.score_labels(TRUE, PRED, sample_weight=w).values()),
        "classification_report": lambda w: matrics.classification_report(TRUE, PRED, sample_weight=w),
        "compare_models": lambda w: matrics.compare_models(
            TRUE, [PRED, OTHER], "accuracy", sample_weight=w, num=20, rng=0, **three
        ),
        "gate": lambda w: matrics.gate(TWO, "accuracy >= 0.5", y_pred=SCORES > 0.5, sample_weight=w, **two),
        "gate with a baseline": lambda w: matrics.gate(
            TRUE, "accuracy", y_pred=PRED, baseline=OTHER, sample_weight=w, **three
        ),
        "judged_counts": lambda w: matrics.judged.count(y_pred=PRED, sample_weight=w, **judged),
        "judged_compare": lambda w: matrics.judged.compare(PRED, OTHER, "accuracy", sample_weight=w, **judged),
        "multilabel": lambda w: matrics.multilabel.score(TAGS, FOUND, "f1", sample_weight=w, average="samples"),
        "subset_accuracy": lambda w: matrics.multilabel.subset_accuracy(TAGS, FOUND, sample_weight=w),
        "top_k_recall": lambda w: matrics.ranking.top_k_recall(TRUE, PROBABILITIES, 2, sample_weight=w),
        "best_threshold": lambda w: matrics.ranking.best_threshold(TWO, SCORES, "f1", sample_weight=w),
        "threshold_curve": lambda w: matrics.ranking.threshold_curve(TWO, SCORES, sample_weight=w),
        "ConfusionState": lambda w: matrics.ConfusionState.zeros(3, dtype=WIDE).update(TRUE, PRED, sample_weight=w),
        "MarginState": lambda w: matrics.MarginState.zeros(3, dtype=WIDE).update(TRUE, PRED, sample_weight=w),
        "ScoreState": lambda w: matrics.ScoreState.zeros(bits=4, losses=True, dtype=WIDE).update(
            TWO, SCORES, sample_weight=w
        ),
        "MultilabelState": lambda w: matrics.MultilabelState.zeros(3, dtype=WIDE).update(TAGS, FOUND, sample_weight=w),
    }
    areas = ["roc_auc", "average_precision", "roc_curve", "precision_recall_curve", "log_loss", "brier_score"]
    for name in (*areas, "brier_decomposition", "reliability_curve", "expected_calibration_error"):
        calls[name] = lambda w, name=name: of_scores(name)(TWO, SCORES, sample_weight=w)
    for name, call in calls.items():
        yield name, WEIGHTS, call


def of_names() -> Iterator[tuple[str, np.ndarray, Callable[[Any], Any]]]:
    hundred = {"num_classes": 100}
    grouped: dict[str, Any] = {"num_groups": 100, **hundred}
    few = MANY % 12

    def judged(x: Any) -> Any:
        return matrics.judged.count(x, x[::-1], x, labelled=LABELLED, num_classes=12)

    yield "groups", MANY, lambda x: matrics.confusion_matrix(x, x[::-1], groups=x, **grouped)
    yield "labels=", MANY, lambda x: matrics.confusion_matrix(x, x[::-1], labels=range(100))
    yield "joint", few, lambda x: matrics.stats.joint_confusion_matrix(x, x[::-1], x, num_classes=12)
    yield "soft groups", MANY, lambda x: matrics.soft_confusion_matrix(TRUE, PROBABILITIES, groups=x, num_groups=100)
    yield "score_labels", few, lambda x: list(matrics.score_labels(x, x[::-1]).values())
    yield "classification_report", few, lambda x: matrics.classification_report(x, x[::-1])
    yield "compare_models", few, lambda x: matrics.compare_models(x, [x, x[::-1]], "mcc", num=5, rng=0, num_classes=12)
    yield (
        "clusters",
        MANY,
        lambda x: matrics.compare_models(TRUE, [PRED, OTHER], "mcc", clusters=x, num=5, rng=0, num_classes=3),
    )
    yield (
        "permutation_test",
        few,
        lambda x: matrics.stats.permutation_test(x, x, "accuracy", num=5, rng=0, num_classes=12),
    )
    yield "gate", few, lambda x: matrics.gate(x, "accuracy", y_pred=x, baseline=x[::-1])
    yield "judged_counts", few, judged
    yield "draw_for_labelling", few, lambda x: matrics.judged.choose_samples(np.ones((12, 12)), x, x[::-1], rng=0)
    yield "ConfusionState", MANY, lambda x: matrics.ConfusionState.zeros(**grouped).update(x, x, groups=x)
    yield "MarginState", MANY, lambda x: matrics.MarginState.zeros(100).update(x, x[::-1])
    yield "ranking clusters", MANY, lambda x: matrics.ranking.interval(TWO, SCORES, clusters=x)
    yield "top_k_accuracy", TRUE, lambda x: matrics.ranking.top_k_accuracy(x, PROBABILITIES, 2)
    yield "log_loss", TRUE, lambda x: matrics.probabilities.log_loss(x, PROBABILITIES)
    yield "fleiss_kappa", RATINGS, lambda x: raters.fleiss_kappa(x, **hundred)
    yield "conger_kappa", RATINGS, lambda x: raters.conger_kappa(x, **hundred)
    yield "krippendorff_alpha", RATINGS, lambda x: raters.krippendorff_alpha(x, weights="interval", **hundred)


def of_two() -> Iterator[tuple[str, np.ndarray, Callable[[Any], Any]]]:
    for name in ("roc_auc", "average_precision", "log_loss", "brier_score", "threshold_curve", "roc_auc_variance"):
        yield name, TWO, lambda x, name=name: of_scores(name)(x, SCORES)
    yield "multilabel", TAGS, lambda x: matrics.multilabel.score(x, FOUND.astype(x.dtype), "f1", average="samples")
    yield "ScoreState", TWO, lambda x: matrics.ScoreState.zeros(bits=4).update(x, SCORES)


CASES = {"counts": of_matrices, "weights": of_weights, "names": of_names, "two": of_two}


def numbers_of(found: Any) -> np.ndarray:
    """All numbers of a result, in one row."""
    if isinstance(found, (np.ndarray, np.generic, float, int)):
        array = np.asarray(found)
        return array.ravel().astype(float) if array.dtype.kind in "biuf" else np.zeros(0)
    if isinstance(found, dict):
        found = list(found.values())
    elif hasattr(found, "__dataclass_fields__"):
        found = [getattr(found, name) for name in found.__dataclass_fields__]
    return np.concatenate([np.zeros(0), *map(numbers_of, found)]) if isinstance(found, (list, tuple)) else np.zeros(0)


pytestmark = pytest.mark.skipif(
    "numpy" not in os.environ.get("MATRICS_BACKEND", "all").replace("all", "numpy").split(","), reason="of NumPy"
)


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "values", "call"),
    [
        pytest.param(kind, values, call, id=f"{kind}: {name}")
        for kind, cases in CASES.items()
        for name, values, call in cases()
    ],
)
def test_narrow_types_have_the_results_of_64_bits(kind: str, values: np.ndarray, call: Callable[[Any], Any]) -> None:
    expected = numbers_of(call(values.astype(np.float64 if kind in {"counts", "weights"} else np.int64)))
    assert expected.size
    for dtype in DTYPES[kind]:
        found = numbers_of(call(values.astype(dtype)))
        tolerance = 2e-4 if dtype.startswith("float") else 1e-12
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [*COUNTS, "list"])
def test_the_effective_number_of_weighted_samples(dtype: str) -> None:
    """Kish's (Σ w)² / Σ w², as a fraction: a gate says it."""
    y_true = np.asarray([0] * 6 + [1] * 6)
    y_pred = np.asarray([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0])
    weights = [100, 120, 90, 120, 100, 30, 40, 110, 120, 17, 99, 120]
    given: Any = weights if dtype == "list" else np.asarray(weights, dtype)
    found = matrics.gate(y_true, "accuracy >= 0.5", y_pred=y_pred, num_classes=2, sample_weight=given)
    kish = Fraction(sum(weights)) ** 2 / sum(weight**2 for weight in weights)
    assert found.samples == pytest.approx(float(kish), rel=1e-6)
    of_floats = matrics.gate(
        y_true, "accuracy >= 0.5", y_pred=y_pred, num_classes=2, sample_weight=[*map(float, weights)]
    )
    assert found.requirements[0].low == pytest.approx(of_floats.requirements[0].low, rel=1e-5)
