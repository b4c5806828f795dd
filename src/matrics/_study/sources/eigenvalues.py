"""Source 000, Dembélé's eigenvalues entropy: Tables 1 to 11, the numbers in the text, and its claims."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from matrics._scoring.score import score
from matrics._stacks.transform import normalize, transpose
from matrics._study.sources.recompute import Compute, Step, compute_with_library
from matrics._study.sources.records import Matrix, Record, matrices

# The columns of the tables, scaled so that 1 is the best value.
OVERALL: dict[str, tuple[str, Callable[[float], float]]] = {
    "accuracy": ("accuracy", lambda x: x),
    "kappa": ("cohen_kappa", lambda x: x),
    "mcc.s": ("mcc", lambda x: (x + 1) / 2),
    "nmi": ("nmi(normalizer=joint)", lambda x: x),
    "cen.s": ("cen", lambda x: 1 - x),
    "mcen.s": ("mcen", lambda x: 1 - x),
    "eve": ("eve", lambda x: x),
    "ir": ("imbalance_ratio", lambda x: 1 / x),
}
BINARY = {
    "sensitivity": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "F1-score": "f1",
    "fmi": "fowlkes_mallows",
    "auc": "auc_of_labels",
}
BOUNDS = {"thr_min": "lower", "thr_max": "upper"}
CHANGE = re.compile(r"(drop|\|?change\|?)\(?%\)? (?P<measure>.+)")
PRINTED_PRECISION = 2  # the digits of the numbers from which the percentages of section 3.1 were computed


def value(record: Record, compute: Compute = compute_with_library) -> float:
    """The recomputed value of a record."""
    if record.table in CLAIMS:
        return float(CLAIMS[record.table](record, compute))
    if CHANGE.fullmatch(record.measure):
        return _change(record, compute)
    return _cell(record.table, record.matrix_name, record.measure, record.cells, compute)


def readings(record: Record) -> dict[str, float]:
    """The values under other readings of the printed text."""
    if (record.table, record.matrix_name, record.measure) == ("Table 4", "Mtilde7", "mcen.s"):
        steps: list[Step] = ["transpose", "repair", "rebalance"]
        return {"of M7 + J5/5, rebalanced": 1 - compute_with_library(record.cells, steps, "mcen")}
    if record.table.startswith("inline example") and CHANGE.fullmatch(record.measure):
        return {"computed from values rounded to two digits": _change(record, compute_with_library, PRINTED_PRECISION)}
    if record.printed == "NA":
        return {"the harmonic mean of precision and recall is 0/0": _harmonic_f1(record)}
    return {}


def _cell(table: str, name: str, measure: str, matrix: Matrix, compute: Compute) -> float:
    """The value of a cell of a table, or of a similar number in the text."""
    steps, first = _steps(table, name)
    if eigen := re.fullmatch(r"(mu|lambda)(\d+)", measure):
        return compute(matrix, steps, f"eigenvalues of {'A' if eigen[1] == 'mu' else 'B'}", -int(eigen[2]))
    if measure in BOUNDS:
        return compute(matrix, steps, BOUNDS[measure])
    if measure in BINARY:
        return compute(matrix, steps, BINARY[measure] + (" of 0" if first else ":binary"))
    spec, scaled = OVERALL[measure]
    return scaled(compute(matrix, steps, spec))


def _steps(table: str, name: str) -> tuple[list[Step], bool]:
    """The transforms of a matrix before it is scored, and whether its first class is then positive."""
    steps: list[Step] = ["transpose"]  # the paper has predicted classes in rows
    if name.endswith("+J5/5") or (table, name) == ("Table 5", "Mtilde7"):
        steps += ["repair"]
    if name.startswith("Mtilde"):
        steps += ["rebalance"]
    if table == "Table 5":
        return [*steps, "pair_counts"], False
    if match := re.search(r"class (\d), (non )?modified", name):
        steps += [("one_vs_rest", int(match[1]) - 1)]
        return steps + ([] if match[2] else ["repair", "rebalance"]), False
    return steps, True


# Changes in percent ---------------------------------------------------------------------------------------------------


def _change(record: Record, compute: Compute, digits: int | None = None) -> float:
    """The change of a measure from a matrix to another matrix, in percent of the first value."""
    match = CHANGE.fullmatch(record.measure)
    if match is None:
        raise ValueError(f"{record.measure}: expected a drop or a change in percent, got another measure")
    names = record.matrix_name.removeprefix("drop ").split("->")
    before, after = (
        _cell(record.table, name, match["measure"], matrices()[f"000 {name.replace('tilde', '')}"], compute)
        for name in names
    )
    if digits is not None:
        before, after = round(before, digits), round(after, digits)
    change = 100 * (after / before - 1)
    return {"drop": -change, "change": change, "|change|": abs(change)}[match[1]]


def _harmonic_f1(record: Record) -> float:
    precision, recall = (
        _cell(record.table, record.matrix_name, measure, record.cells, compute_with_library)
        for measure in ("precision", "sensitivity")
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else math.nan


# Claims ---------------------------------------------------------------------------------------------------------------


def _of_rates(record: Record, compute: Compute) -> float:
    """The value of a measure of two classes, which are defined by their rates."""
    p11, p22 = (float(text) for text in re.findall(r"=([\d.]+)", record.matrix_name))
    matrix, steps = ((p11, 1 - p22), (1 - p11, p22)), ["transpose"]
    if record.measure in ("auc", "eve"):
        return _cell("", "", record.measure, matrix, compute)
    smallest, largest = (compute(matrix, steps, "eigenvalues of B", place) for place in (0, 1))
    return {"lambda1*lambda2": smallest * largest, "lambda2>0": float(smallest > 0), "lambda1": largest}[record.measure]


def _gap_above_lower_bound(record: Record, compute: Compute) -> float:
    """The smallest eigenvalue minus the printed lower bound."""
    smallest = compute(record.cells, ["transpose"], "eigenvalues of B", 0)
    return smallest - compute(record.cells, ["transpose"], "lower")


def _positive_definite(record: Record, compute: Compute) -> float:
    return float(compute(record.cells, ["transpose"], "eigenvalues of B", 0) > 0)


def _same_number_of_eigenvalues(record: Record, _: Compute) -> float:
    """Whether a matrix and its rates have equally many nonzero eigenvalues, which the rank of a high power counts."""
    matrix = np.asarray(record.cells)
    rates = normalize(matrix, over="pred")  # columns are true classes here
    counts = [np.linalg.matrix_rank(np.linalg.matrix_power(cells, len(matrix))) for cells in (matrix, rates)]
    return float(counts[0] == counts[1])


def _accuracy_of_literal_pairs(record: Record, _: Compute) -> float:
    """The accuracy by equations (13) and (14) as printed, which count m/2 twice."""
    matrix = np.asarray(record.cells)
    samples = matrix.sum()
    rows, columns = np.sum(matrix.sum(1) ** 2), np.sum(matrix.sum(0) ** 2)
    pairs = samples * (samples - 1) / 2
    together = (np.sum(matrix**2) - samples) / 2
    return float((together + pairs - (rows + columns) / 2 + together) / pairs)


def _specificity_of_inverted_root(record: Record, _: Compute) -> float:
    """The specificity by the first form of equation (27), which scales the errors of the second class by a root."""
    (tp, fp), (fn, tn) = record.cells
    return tn / (tn + fp * math.sqrt((fp + tn) / (tp + fn)))


def _largest_cen(_: Record, compute: Compute) -> float:
    """The largest confusion entropy of two classes with equal error rates: of many rates, and where the slope is 0."""
    shares = np.append(np.linspace(0, 1, 2001), 2 / np.e)
    stack = np.stack([np.stack([1 - shares, shares], -1), np.stack([shares, 1 - shares], -1)], -2)
    best = stack[int(np.argmax(score(stack, "cen")["cen"]))]
    return compute(best, [], "cen")


def _asymmetry_of_rates(record: Record, _: Compute) -> float:
    rates = transpose(normalize(transpose(record.cells)))
    return float(rates[0, 1] - rates[1, 0])


# The functions by the table of the record; records of other tables are cells.
CLAIMS: dict[str, Callable[[Record, Compute], float]] = {
    "inline sec 3.3": _of_rates,
    "inline sec 3.3.1": _of_rates,
    "claim: spe -> 0 gives lambda = auc +- (sen-1)": _of_rates,
    "claim: thr_min is a lower bound of sigma(B)": _gap_above_lower_bound,
    "Result 3: (25) => B positive definite": _positive_definite,
    "Result 4: M and P have the same number of non-zero eigenvalues": _same_number_of_eigenvalues,
    "eq (13)-(14) literal": _accuracy_of_literal_pairs,
    "eq (27), first form": _specificity_of_inverted_root,
    "CEN exceeds 1": _largest_cen,
    "claim: M symmetric => B = P symmetric stochastic": _asymmetry_of_rates,
}
