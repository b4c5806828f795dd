"""Source 002, Jurman and Furlanello's comparison of MCC and confusion entropy: families of matrices, limits, claims."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from matrics._scoring.score import score
from matrics._study.pairs import discriminancy
from matrics._study.sources import experiment
from matrics._study.sources.recompute import Compute, compute_with_library
from matrics._study.sources.records import Record

OVERALL = {
    "MCC": "mcc",
    "ACC = N/(N^2+A-1)": "accuracy",
    "CEN": "cen",
    "CEN = (1-1/N)log_{2N-2}2N": "cen",
    "CEN = F/(T+F) log2(2(T+F)/F)": "cen",
    "CEN identity in MCC": "cen",
    "tMCC = CEN identity": "tmcc",
}
RANDOM_MATRICES, SEED = 40, 20261121
LARGE_MCC, LARGE_CEN = 1e9, 1e12  # in place of A → ∞: the confusion entropy converges like ln A / A


def value(record: Record, compute: Compute = compute_with_library, *, num: int = experiment.NUM) -> float:
    """The recomputed value of a record; ``num`` is the number of matrices of the random experiment."""
    if record.table == experiment.TABLE:
        return experiment.value(record, num)
    if record.table in CLAIMS:
        return float(CLAIMS[record.table](record))
    result = compute(record.cells, [], OVERALL.get(record.measure, "cen"))
    return float(result > 1) if record.measure == "CEN>1 for 0<T<F" else result


def readings(record: Record) -> dict[str, float]:
    """The values under other readings of the printed text."""
    if record.table == "MCC=0 single column":
        return {"0/0 is set to 0": float(score(record.cells, "mcc", zero_division=0)["mcc"])}
    return {}


def error(record: Record, num: int = experiment.NUM) -> float:
    """The standard error of a number from random matrices, and 0 for other numbers."""
    return experiment.error(record, num) if record.table == experiment.TABLE else 0.0


def _limit(record: Record) -> float:
    """The limit of a measure for matrices of 1s with a single large cell, or with a large last row."""
    match = re.fullmatch(r"N=(\d+)", record.matrix_name)
    if match is None:
        raise ValueError(f"{record.matrix_name}: expected a name with the number of classes, N=, got another")
    cm = np.ones((int(match[1]),) * 2)
    spec, large = ("mcc", LARGE_MCC) if "MCC" in record.measure else ("cen", LARGE_CEN)
    cm[(-1, 0) if record.table.startswith("Z_A") else -1] = large
    return compute_with_library(cm, [], spec)


def _largest_difference_of_forms(record: Record) -> float:
    """The largest difference of the library's MCC from two other forms, for random matrices of 2 to 6 classes."""
    random = np.random.default_rng(SEED)
    form = _triple_sum if "triple" in record.measure else _covariances
    differences = []
    for _ in range(RANDOM_MATRICES):
        n = random.integers(2, 7)
        cm = random.integers(1, 50, (n, n)).astype(float)
        differences.append(abs(compute_with_library(cm, [], "mcc") - form(cm)))
    return max(differences)


def _triple_sum(cm: np.ndarray) -> float:
    """The MCC as Σ_klm (C_kk C_ml - C_lk C_km), divided by the roots of the sums of class size times the rest."""
    numerator = np.einsum("kk,ml->", cm, cm) - np.einsum("lk,km->", cm, cm)
    by_size = [np.sum(sizes * (cm.sum() - sizes)) for sizes in (cm.sum(0), cm.sum(1))]
    return float(numerator / np.sqrt(by_size[0]) / np.sqrt(by_size[1]))


def _covariances(cm: np.ndarray) -> float:
    """The MCC as cov(X, Y) / √(cov(X, X) cov(Y, Y)), with indicators X, Y of true and predicted classes."""
    true, pred = (np.repeat(index.ravel(), cm.ravel().astype(int)) for index in np.indices(cm.shape))
    x, y = (np.eye(len(cm))[labels] for labels in (true, pred))
    x, y = x - x.mean(0), y - y.mean(0)
    return float(np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y)))


def _largest_difference_from_closed_form(_: Record) -> float:
    """The largest difference of the confusion entropy of two classes from its closed form."""
    cm = np.random.default_rng(SEED).integers(1, 100, (RANDOM_MATRICES, 2, 2)).astype(float)
    (tp, fn), (fp, tn) = np.moveaxis(cm, 0, -1)
    errors, total = fp + fn, tp + fn + fp + tn
    closed = errors * np.log2(total**2 - (tp - tn) ** 2) / (2 * total) - (fn * np.log2(fn) + fp * np.log2(fp)) / total
    return float(np.abs(score(cm, "cen")["cen"] - closed).max())


def matrices_with_class_sizes(*sizes: int) -> np.ndarray:
    """Every confusion matrix with these sizes of its true classes, shape (B, n, n)."""
    rows = []
    for size in sizes:
        cells = np.indices((size + 1,) * len(sizes)).reshape(len(sizes), -1).T
        rows.append(cells[cells.sum(1) == size])
    places = np.indices([len(row) for row in rows]).reshape(len(rows), -1)
    return np.stack([row[place] for row, place in zip(rows, places, strict=True)], axis=1)


def _discriminancy(_: Record) -> float:
    """The discriminancy of CEN and MCC over all matrices with class sizes 4, 3 and 3."""
    scores = score(matrices_with_class_sizes(4, 3, 3), ["cen", "mcc"], zero_division=0)
    # Rounding: equal values may differ in the last digits, and different values differ in the first ten digits.
    return float(discriminancy(scores["cen"].round(10), scores["mcc"].round(10)).value)


CLAIMS: dict[str, Callable[[Record], float]] = {
    "Z_A limit A->inf": _limit,
    "last row A limit": _limit,
    "MCC two formulas": _largest_difference_of_forms,
    "binary CEN closed form": _largest_difference_from_closed_form,
    "degree of discriminancy": _discriminancy,
}
