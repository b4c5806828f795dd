"""Source 004, the metric zoo: the Matthews correlation coefficient for two classes, and cross entropy of logits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrics._scoring.score import score
from matrics._study.sources.recompute import Compute, compute_with_library
from matrics._study.sources.records import Record

RANDOM_MATRICES, SEED = 40, 20261121
# The 27 points of the records on cross entropy: inputs x, logits y and labels z, including a soft label.
X, Y, Z = np.meshgrid([-2.0, 0.0, 2.0], [-30.0, 0.0, 30.0], [0.0, 0.5, 1.0])


def value(record: Record, compute: Compute = compute_with_library) -> float:
    """The recomputed value of a record: the largest difference of two formulas that should be equal."""
    del compute  # the records of this source have no matrix
    return float(np.abs(CLAIMS[record.table]()).max())


def _random_matrices() -> np.ndarray:
    return np.random.default_rng(SEED).integers(1, 100, (RANDOM_MATRICES, 2, 2)).astype(float)


def _square_less_chi_squared() -> np.ndarray:
    cm = _random_matrices()
    scores = score(cm, ["mcc", "chi_squared"])
    return np.asarray(scores["mcc"] ** 2 - scores["chi_squared"] / cm.sum((1, 2)))


def _less_formula_of_two_classes() -> np.ndarray:
    cm = _random_matrices()
    (tp, fn), (fp, tn) = np.moveaxis(cm, 0, -1)
    two = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return np.asarray(score(cm, "mcc")["mcc"] - two)


def _cross_entropy() -> np.ndarray:
    """The definition, -z ln σ(y) - (1 - z) ln(1 - σ(y))."""
    return np.asarray(Z * np.logaddexp(0, -Y) + (1 - Z) * np.logaddexp(0, Y))


def _less_stable_form() -> np.ndarray:
    return np.asarray(_cross_entropy() - (np.maximum(Y, 0) - Y * Z + np.log1p(np.exp(-np.abs(Y)))))


def _less_printed_form() -> np.ndarray:
    """The difference from the printed form, which lacks the label z and has the absolute value of the input x."""
    return np.asarray(_cross_entropy() - (np.maximum(Y, 0) - Y + np.log1p(np.exp(-np.abs(X)))))


CLAIMS: dict[str, Callable[[], np.ndarray]] = {
    "|MCC|=sqrt(chi2/n)": _square_less_chi_squared,
    "multiclass formula at K=2": _less_formula_of_two_classes,
    "stable BCE": _less_stable_form,
    "printed stable BCE": _less_printed_form,
}
