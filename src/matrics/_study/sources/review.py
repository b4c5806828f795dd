"""Source 001, the review of Labatut and Cherifi: Tables 2 to 8, and statements of its text."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from matrics._scoring.score import score
from matrics._stacks.simulate import class_proportions
from matrics._study.sources.recompute import Compute, compute_with_library, rows_true
from matrics._study.sources.records import Record

OVERALL = {
    "OSR": "accuracy",
    "CKC": "cohen_kappa",
    "CKP": "cohen_kappa",
    "SPC": "scott_pi(proportions=true)",
    "MRE": "bennett_s",
    "CSI": "csi",
    "maximal association: Cramer V": "cramers_v",
    "min kappa (printed -inf)": "cohen_kappa",
    "min MRE = -1/(k-1)": "bennett_s",
}
BY_CLASS = {
    "TPR": "recall",
    "TNR": "specificity",
    "PPV": "precision",
    "NPV": "npv",
    "F": "f1",
    "JCC": "jaccard",
    "ICSI": "icsi",
}
# The ground-truth indices and the guesses from which the matrix of the records was made.
KNOWN, LUCK = np.asarray([0.6, 0.7, 0.5, 0.8]), np.asarray([0.1, 0.2, 0.3, 0.4])


def value(record: Record, compute: Compute = compute_with_library) -> float:
    """The recomputed value of a record."""
    if record.table in CLAIMS:
        return CLAIMS[record.table](record)
    steps, measure = rows_true(record), record.measure
    if measure in OVERALL:
        return compute(record.cells, steps, OVERALL[measure])
    measure, _, place = measure.partition("_")
    match = re.search(r"class (\d)", record.matrix_name)
    place = match[1] if match else place
    return compute(record.cells, steps, f"{BY_CLASS[measure]}:class", int(place) - 1)


def _proportion(record: Record) -> float:
    """The share of a class by equation (10), with five classes and p = 1."""
    return float(class_proportions(5, [1.0])[0][int(record.matrix_name.removeprefix("pi_")) - 1])


def _largest_error_of_index(record: Record) -> float:
    """The largest error of the fitted ground-truth index, for a matrix with known parts."""
    scores = score(record.cells, ["gt_index:class", "recall:class"])
    index, recall = scores["gt_index:class"], scores["recall:class"]
    if "theta" in record.measure:
        return float(np.abs(index - KNOWN).max())
    return float(np.abs((recall - index) / (1 - index) - LUCK).max())


CLAIMS: dict[str, Callable[[Record], float]] = {
    "inline eq 10, k=5, p=1": _proportion,
    "GTI": _largest_error_of_index,
}
