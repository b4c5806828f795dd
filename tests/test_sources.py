"""Every cell of source 000's Tables 1-11, and the numbers in its text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

RECORDS = [
    record
    for record in json.loads(Path(__file__).with_name("data").joinpath("tables.json").read_text())
    if record["source"] == "000"
]
CELLS = [record for record in RECORDS if re.fullmatch(r"Table \d+", record["table"])]

# The paper's columns: scaled so that 1 is the best, where they are not already.
OVERALL = {
    "accuracy": matrics.accuracy,
    "kappa": matrics.cohen_kappa,
    "mcc.s": lambda cm: (matrics.mcc(cm) + 1) / 2,
    "nmi": lambda cm: matrics.nmi(cm, normalizer="joint"),
    "cen.s": lambda cm: 1 - matrics.cen(cm),
    "mcen.s": lambda cm: 1 - matrics.mcen(cm),
    "eve": matrics.eve,
}
BINARY = {
    "sensitivity": matrics.recall,
    "specificity": matrics.specificity,
    "precision": matrics.precision,
    "F1-score": matrics.f1,
    "fmi": matrics.fowlkes_mallows,
    "auc": matrics.auc,
}


def value_of(record: dict[str, Any]) -> float:  # noqa: C901 (one case a table)
    """What the library makes of a record's matrix."""
    table, name, measure = record["table"], record["matrix_name"], record["measure"]
    if measure.startswith("drop(%)"):
        before, after = (
            next(r for r in CELLS if r["table"] == table and r["matrix_name"] == m and measure.endswith(r["measure"]))
            for m in ("M8", "M9")
        )
        return 100 * (1 - value_of(after) / value_of(before))
    cm = matrics.transpose(np.asarray(record["matrix"]))  # the paper has predicted classes in rows
    positive = 0
    if name.startswith("Mtilde"):
        if table == "Table 5" and name == "Mtilde7":
            cm = matrics.repair(cm, where="zero_diagonal")
        cm = matrics.rebalance(cm)
    if table == "Table 3" and name.endswith("+J5/5"):
        cm = matrics.repair(cm, where="zero_diagonal")
    if table == "Table 5":
        cm, positive = matrics.pair_counts(cm), 1
    one_class = re.search(r"class (\d), (non )?modified", name)
    if one_class:
        cm, positive = matrics.one_vs_rest(cm)[int(one_class[1]) - 1], 1
        if not one_class[2]:
            cm = matrics.rebalance(matrics.repair(cm, where="zero_diagonal"))
    if eigen := re.fullmatch(r"(mu|lambda)(\d+)", measure):
        return float(matrics.eigenvalues(cm, "A" if eigen[1] == "mu" else "B")[-int(eigen[2])])
    if measure in ("thr_min", "thr_max"):
        bounds = matrics.gershgorin_bounds(cm)
        return float(bounds.lower if measure == "thr_min" else bounds.upper)
    if measure in BINARY:
        return float(BINARY[measure](cm, average="binary", pos_label=positive))
    return float(OVERALL[measure](cm))


def test_every_table_is_here() -> None:
    assert {record["table"] for record in CELLS} == {f"Table {number}" for number in range(1, 12)}
    assert len(CELLS) == 734


@pytest.mark.parametrize(
    "record", CELLS, ids=[f"{r['table'].replace(' ', '')}-{r['matrix_name']}-{r['measure']}" for r in CELLS]
)
def test_table_cell(record: dict[str, Any]) -> None:
    value = value_of(record)
    if record["printed_value"] == "NA":  # the harmonic form is 0/0 where there are errors and no hit; by counts it is 0
        assert record["measure"] == "F1-score"
        assert value == 0
        return
    assert value == pytest.approx(record["computed_value"], rel=1e-9, abs=1e-12)
    if record["verdict"] in ("match", "rounding"):
        printed = record["printed_value"].rstrip("%")
        digits = len(printed.partition(".")[2])
        assert abs(value - float(printed)) <= 10.0**-digits * (1 + 1e-9)


@pytest.mark.parametrize(
    "record", [r for r in RECORDS if r["table"].startswith("claim: thr_min")], ids=lambda r: r["matrix_name"]
)
def test_printed_lower_bound_fails_and_ours_holds(record: dict[str, Any]) -> None:
    cm = matrics.transpose(record["matrix"])
    bounds, smallest = matrics.gershgorin_bounds(cm), matrics.eigenvalues(cm)[0]
    assert smallest - bounds.lower == pytest.approx(record["computed_value"])
    assert smallest < bounds.lower
    assert smallest >= bounds.valid_lower - 1e-12


def test_inline_imbalanced_example() -> None:
    """Section 3.1: sensitivity, specificity, precision and AUC before and after M̃, for class sizes 1 to 5."""
    found = {}
    for record in RECORDS:
        if record["table"] == "inline example ir=1/5" and record["measure"] in BINARY:
            cm = matrics.transpose(record["matrix"])
            if record["matrix_name"] == "Mtilde":
                cm = matrics.rebalance(cm)
            value = BINARY[record["measure"]](cm, average="binary", pos_label=0)
            assert value == pytest.approx(record["computed_value"])
            found[record["matrix_name"], record["measure"]] = round(float(value), 2)
    assert found[("M", "precision")] == 0.44
    assert found[("Mtilde", "precision")] == 0.64
    assert len(found) == 8


def test_eve_is_not_symmetric() -> None:
    """M2 of the paper is 0.952 one way and 0 the other."""
    m2 = [[9, 80], [1, 210]]
    assert round(float(matrics.eve(matrics.transpose(m2))), 3) == 0.952
    assert matrics.eve(m2) == 0


def test_result_3_is_false_for_three_classes() -> None:
    """Column diagonally dominant, and yet an eigenvalue is negative."""
    smallest = matrics.eigenvalues(matrics.transpose([[10, 9, 9], [0, 10, 0], [9, 0, 10]]))[0]
    assert smallest == pytest.approx(-0.003279, abs=1e-6)


def test_eve_of_classes_swapped_in_pairs() -> None:
    """Always wrong, and yet ln(n/2) / ln n."""
    swapped = np.eye(10)[[1, 0, 3, 2, 5, 4, 7, 6, 9, 8]]
    assert matrics.accuracy(swapped) == 0
    assert matrics.eve(swapped) == pytest.approx(np.log(5) / np.log(10))


def test_eve_of_chance_is_zero() -> None:
    sizes = np.asarray([3.0, 5.0, 11.0])
    assert matrics.eve(sizes[:, None] * [0.2, 0.3, 0.5]) == pytest.approx(0, abs=1e-12)


def test_largest_cen_of_two_classes() -> None:
    share = 2 / np.e  # of errors
    cm = [[1 - share, share], [share, 1 - share]]
    assert matrics.cen(cm) == pytest.approx(2 / (np.e * np.log(2)), rel=1e-12)
    assert matrics.cen([[0.0, 1.0], [1.0, 0.0]]) == 1
