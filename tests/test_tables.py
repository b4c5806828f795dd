"""The numbers in sources 001 to 004 that are values of measures, and their claims that random matrices can try."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roads
from roads import Asked, Comparison, Graph, Road, answers
from test_sources import hold_printed

import matrics

RECORDS = [
    record
    for record in json.loads(Path(__file__).with_name("data").joinpath("tables.json").read_text())
    if record["source"] != "000"
]
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
    "MCC": "mcc",
    "ACC = N/(N^2+A-1)": "accuracy",
    "CEN": "cen",
    "CEN = (1-1/N)log_{2N-2}2N": "cen",
    "CEN = F/(T+F) log2(2(T+F)/F)": "cen",
    "CEN identity in MCC": "cen",
    "tMCC = CEN identity": "tmcc",
    "AUROC-OVA": "auroc_ova",
    "AUROC-OVO = C/(2(C-1)) ACSA + (C-2)/(2(C-1))": "auroc_ovo",
    "L(AUROC-OVO)=(C-2)/(2(C-1))": "auroc_ovo",
    "L(AUROC-OVA)": "auroc_ova",
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
VALUES = [
    record
    for record in RECORDS
    if record["matrix"]
    and record["measure"].removesuffix("_1") in {**OVERALL, **BY_CLASS}
    and record["verdict"] != "ambiguous"
]


def test_how_many() -> None:
    assert len(VALUES) == 196


# Numbers compared, by the classes of the matrix that is scored; half of them, or a little more, in float32.
LEAST = {2: 73, 3: 166, 4: 6, 5: 68, 6: 6, 7: 6, 8: 66}


def hold_tables(graph_of: Callable[[int], Graph | None], comparison: Comparison) -> None:
    """Compare every value whose matrix has a size for which there is a graph."""
    for record, value, dtype in answers(VALUES, value_of, graph_of):
        what = f"{record['measure']} in {record['source']}, {record['table']}"
        hold_printed(comparison, what, value, record, dtype)


def value_of(record: dict[str, Any], ask: Asked) -> float:
    """What the library makes of a record's matrix."""
    measure, name = record["measure"], record["matrix_name"]
    steps = ["transpose"] if record["orientation"].startswith("rows=predicted") else []
    if measure in OVERALL:
        return float(ask(record["matrix"], steps, OVERALL[measure]))
    place = 0 if measure.endswith("_1") else int(re.search(r"class (\d)", name)[1]) - 1
    values = ask(record["matrix"], steps, f"{BY_CLASS[measure.removesuffix('_1')]}:class")
    return float(values[place] if ask.answered else values)


def test_values(eager: Road, record_property: Any) -> None:
    """On the roads that compile nothing; test_roads.py takes the others."""
    comparison = Comparison(eager.name)
    hold_tables(lambda n: Graph(eager, n, np.float64, roads.referenced()), comparison)
    comparison.settle(sum(LEAST.values()), record_property)


def test_range_of_kappa() -> None:
    """Printed as (-∞, 1] by Labatut and Cherifi; it is [-1, 1], and only their π has no least value."""
    random = np.random.default_rng(20261121)
    stack = random.dirichlet(np.full(9, 0.1), 20_000).reshape(-1, 3, 3) * (1 - np.eye(3))
    assert np.nanmin(matrics.cohen_kappa(stack)) >= -1
    assert matrics.cohen_kappa([[0, 5], [5, 0]]) == -1
    assert matrics.scott_pi([[0, 1000], [1, 0]], proportions="true") < -400


def test_ground_truth_index_of_quasi_independent_errors() -> None:
    """Of a matrix made of known parts, those parts come out."""
    (record,) = (r for r in RECORDS if r["table"] == "GTI" and "theta" in r["measure"])
    cm = np.asarray(record["matrix"])
    luck = np.asarray([0.1, 0.2, 0.3, 0.4])  # cell (i, j) is v_i luck_j off the diagonal
    np.testing.assert_allclose(cm[0, 1:] / cm[0, 1], luck[1:] / luck[1])
    np.testing.assert_allclose(cm[1, [0, 2, 3]] / cm[1, 0], luck[[0, 2, 3]] / luck[0])
    recall = np.diag(cm) / cm.sum(1)
    np.testing.assert_allclose(matrics.gt_index(cm, average=None), (recall - luck) / (1 - luck), rtol=1e-12)


# 002 ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 5, 8])
def test_limits(n: int) -> None:
    one_cell, row = np.ones((n, n)), np.ones((n, n))
    one_cell[-1, 0], row[-1] = 1e12, 1e12
    assert matrics.mcc(one_cell) == pytest.approx(-1 / (2 * (n - 1)), abs=1e-9)  # printed without the 2
    assert matrics.cen(one_cell) == pytest.approx(0, abs=1e-9)
    assert matrics.cen(row) == pytest.approx((n - 1) / (2 * n) * math.log(n + 1, 2 * n - 2), abs=1e-9)
    assert matrics.mcc(row) == pytest.approx(0, abs=1e-9)


def test_single_column() -> None:
    """0/0: undefined here, 0 in the paper and in scikit-learn."""
    cm = np.asarray([[3, 0, 0], [2, 0, 0], [4, 0, 0]])
    assert np.isnan(matrics.mcc(cm))
    assert matrics.mcc(cm, zero_division=0) == 0


def test_cen_exceeds_one() -> None:
    for record in RECORDS:
        if record["measure"] == "CEN>1 for 0<T<F":
            assert matrics.cen(record["matrix"]) > 1


def test_cen_of_two_classes_in_closed_form() -> None:
    random = np.random.default_rng(20261121)
    tp, fn, fp, tn = random.integers(1, 100, (4, 40)).astype(float)
    errors, total = fp + fn, tp + fn + fp + tn
    closed = (errors * np.log2(total**2 - (tp - tn) ** 2) / (2 * total)) - (fn * np.log2(fn) + fp * np.log2(fp)) / total
    cm = np.stack([np.stack([tp, fn], -1), np.stack([fp, tn], -1)], -2)
    np.testing.assert_allclose(matrics.cen(cm), closed, rtol=1e-12)


def test_transformed_mcc_resembles_confusion_entropy() -> None:
    """The paper's experiment: correlation 0.9947 ± 0.0010 (printed 0.9941), mean ratio 1.0008 ± 0.0007 of 5,000."""
    random = np.random.default_rng(20261121)
    tmcc, cen = [], []
    for n in range(3, 31):
        stack = np.empty((5000 // 28, n, n))
        for cm in stack:
            cm[:] = random.integers(1, 1000 * random.uniform(0.01, 1), (n, n), endpoint=True)
            np.fill_diagonal(cm, random.integers(1, 1000, n, endpoint=True))
        k = 1 + 0.18924 / math.log(n) - 0.06694 / math.log(n) ** 2
        tmcc.append(matrics.tmcc(stack))
        cen.append(k * matrics.cen(stack))
    tmcc, cen = np.concatenate(tmcc), np.concatenate(cen)
    assert np.corrcoef(tmcc, cen)[0, 1] == pytest.approx(0.9947, abs=0.004)
    assert np.mean(tmcc / cen) == pytest.approx(1.0008, abs=0.003)


# 003 and 004 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", range(2, 9))
def test_least_auroc_ova_for_class_sizes(classes: int) -> None:
    (record,) = (r for r in RECORDS if r["measure"] == "L(AUROC-OVA)" and len(r["matrix"]) == classes)
    cm = np.asarray(record["matrix"])
    assert matrics.auroc_ova_lower_bound(cm) == pytest.approx(record["computed_value"], abs=1e-12)
    assert matrics.auroc_ova(cm) == pytest.approx(matrics.auroc_ova_lower_bound(cm), abs=1e-12)


def test_condition_1() -> None:
    """How many of 25 matrices keep a value when the items of their classes are multiplied: all of them, or none."""
    random = np.random.default_rng(20261121)
    names = {
        "GMean": "g_mean",
        "ACSA": "balanced_accuracy",
        "AUROC-OVO": "auroc_ovo",
        "AUROC-OVA": "auroc_ova",
        "nAUROC-OVA": "nauroc_ova",
        "AURPC-OVA": "aurpc_ova",
        "mAURPC-OVA": "maurpc_ova",
        "GMean (2)": "g_mean",
        "AUROC": "auc:binary",
        "Precision": "precision:binary",
        "AURPC": "aurpc:binary",
        "mPrecision": "mprecision:binary",
        "mAURPC": "maurpc:binary",
    }
    two = ("GMean (2)", "AUROC", "Precision", "AURPC", "mPrecision", "mAURPC")
    checked = 0
    for record in RECORDS:
        name = record["measure"].removeprefix("#invariant ")
        if name == record["measure"]:
            continue
        n = 2 if name in two else 4
        cm = random.integers(1, 50, (25, n, n))
        before, after = (
            matrics.score(x, names[name])[names[name]] for x in (cm, cm * random.uniform(0.1, 9, (25, n, 1)))
        )
        assert np.sum(np.isclose(before, after, rtol=1e-9)) == record["computed_value"], name
        checked += 1
    assert checked == len(names)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_one_class_missed(classes: int) -> None:
    """Theorem 5: what is left when one class has next to no hit, and its items go to the others alike."""
    cm = np.eye(classes)
    cm[0] = (1 - 1e-12) / (classes - 1)
    cm[0, 0] = 1e-12
    assert matrics.balanced_accuracy(cm) == pytest.approx((classes - 1) / classes, abs=1e-9)
    assert matrics.g_mean(cm) == pytest.approx(1e-12 ** (1 / classes), rel=1e-9)
    assert matrics.maurpc_ova(cm) > 3 * (classes - 1) / (4 * classes)


def test_mcc_is_the_root_of_phi_squared() -> None:
    random = np.random.default_rng(20261121)
    cm = random.integers(1, 100, (40, 2, 2))
    np.testing.assert_allclose(np.abs(matrics.mcc(cm)), np.sqrt(matrics.chi_squared(cm) / cm.sum((1, 2))), rtol=1e-12)
    np.testing.assert_allclose(np.abs(matrics.mcc(cm)), matrics.phi(cm), rtol=1e-12)
