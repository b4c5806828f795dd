"""Source 003, the analysis of Mullick et al.: Example 1, Lemmas 2 and 3, Condition 1 and Theorem 5."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from matrics._metrics.imbalance import auroc_ova_lower_bound
from matrics._scoring.score import score
from matrics._study.sources.recompute import Compute, compute_with_library
from matrics._study.sources.records import Record

OVERALL = {
    "AUROC-OVA": "auroc_ova",
    "AUROC-OVO = C/(2(C-1)) ACSA + (C-2)/(2(C-1))": "auroc_ovo",
    "L(AUROC-OVO)=(C-2)/(2(C-1))": "auroc_ovo",
    "L(AUROC-OVA)": "auroc_ova",
}
# Condition 1: measures of four classes, and of two.
INVARIANT = {
    "GMean": (4, "g_mean"),
    "ACSA": (4, "balanced_accuracy"),
    "AUROC-OVO": (4, "auroc_ovo"),
    "AUROC-OVA": (4, "auroc_ova"),
    "nAUROC-OVA": (4, "nauroc_ova"),
    "AURPC-OVA": (4, "aurpc_ova"),
    "mAURPC-OVA": (4, "maurpc_ova"),
    "GMean (2)": (2, "g_mean"),
    "AUROC": (2, "auc_of_labels:binary"),
    "Precision": (2, "precision:binary"),
    "AURPC": (2, "aurpc:binary"),
    "mPrecision": (2, "mprecision:binary"),
    "mAURPC": (2, "maurpc:binary"),
}
RANDOM_MATRICES, SEED = 25, 20261121
LARGE, SMALL = 1e9, 1e-12  # in place of limits


def value(record: Record, compute: Compute = compute_with_library) -> float:
    """The recomputed value of a record."""
    if record.table in CLAIMS:
        return CLAIMS[record.table](record)
    if record.matrix_name == "Precision at x=4":
        return _precision_of_smaller_class(0.935)
    return compute(record.cells, [], OVERALL[record.measure])


def readings(record: Record) -> dict[str, float]:
    """The values under other readings of the printed text."""
    if record.printed == "0.77":  # the accuracy was read from a figure
        return {"with an accuracy of 0.61": compute_with_library(_balanced(6, 0.61), [], "auroc_ova")}
    return {}


def _balanced(classes: int, accuracy: float) -> np.ndarray:
    """A matrix of classes of equal size, with errors spread evenly over all other classes."""
    cm = np.full((classes, classes), (1 - accuracy) / (classes - 1))
    np.fill_diagonal(cm, accuracy)
    return cm


def _precision_of_smaller_class(balanced: float) -> float:
    """The precision with ten negative samples per positive sample, given the precision of equal classes."""
    cm = _balanced(2, balanced) * [[1], [10]]
    return compute_with_library(cm, [], "precision of 0")


def _classes(record: Record) -> int:
    match = re.search(r"C=(\d+)", record.matrix_name)
    if match is None:
        raise ValueError(f"{record.matrix_name}: expected a name with the number of classes, C=, got none")
    return int(match[1])


def _least_with_two_large_classes(record: Record) -> float:
    """The lower bound of AUROC-OVA for a matrix in which two classes have nearly all samples."""
    sizes = np.ones(_classes(record))
    sizes[-2:] = LARGE
    return float(auroc_ova_lower_bound(np.diag(sizes)))


def _number_invariant(record: Record) -> float:
    """The number of random matrices whose value does not change when the samples of each class are multiplied."""
    n, spec = INVARIANT[record.measure.removeprefix("#invariant ")]
    random = np.random.default_rng(SEED)
    cm = random.integers(1, 50, (RANDOM_MATRICES, n, n))
    factors = random.uniform(0.1, 9, (RANDOM_MATRICES, n, 1))
    before, after = (score(stack, spec)[spec] for stack in (cm, cm * factors))
    return float(np.isclose(before, after, rtol=1e-9).sum())


def _one_class_missed(record: Record) -> float:
    """The value in Theorem 5: a class has almost no hits, and the others have almost no errors, spread evenly."""
    n = _classes(record)
    cm = _balanced(n, 1 - SMALL)
    cm[0] = (1 - SMALL) / (n - 1)
    cm[0, 0] = SMALL
    if "mAURPC" in record.measure:
        return float(compute_with_library(cm, [], "maurpc_ova") > 3 * (n - 1) / (4 * n))
    return compute_with_library(cm, [], "balanced_accuracy" if "ACSA" in record.measure else "g_mean")


CLAIMS: dict[str, Callable[[Record], float]] = {
    "sec 4 lambda_C": _least_with_two_large_classes,
    "Theorems 1-4, Condition 1": _number_invariant,
    "Theorem 5": _one_class_missed,
    "Theorem 5 (eq 28)": _one_class_missed,
}
