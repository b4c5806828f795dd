"""Every cell of source 000's Tables 1-11, and the numbers in its text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roads
from roads import Asked, Comparison, Graph, Road, answers

import matrics

RECORDS = [
    record
    for record in json.loads(Path(__file__).with_name("data").joinpath("tables.json").read_text())
    if record["source"] == "000"
]
CELLS = [record for record in RECORDS if re.fullmatch(r"Table \d+", record["table"])]

# The paper's columns: scaled so that 1 is the best, where they are not already.
OVERALL: dict[str, tuple[str, Any]] = {
    "accuracy": ("accuracy", lambda x: x),
    "kappa": ("cohen_kappa", lambda x: x),
    "mcc.s": ("mcc", lambda x: (x + 1) / 2),
    "nmi": ("nmi(normalizer=joint)", lambda x: x),
    "cen.s": ("cen", lambda x: 1 - x),
    "mcen.s": ("mcen", lambda x: 1 - x),
    "eve": ("eve", lambda x: x),
}
BINARY = {
    "sensitivity": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "F1-score": "f1",
    "fmi": "fowlkes_mallows",
    "auc": "auc",
}


def value_of(record: dict[str, Any], ask: Asked) -> float:
    """What the library makes of a record's matrix."""
    table, name, measure = record["table"], record["matrix_name"], record["measure"]
    if measure.startswith("drop(%)"):
        before, after = (
            next(r for r in CELLS if r["table"] == table and r["matrix_name"] == m and measure.endswith(r["measure"]))
            for m in ("M8", "M9")
        )
        return 100 * (1 - value_of(after, ask) / value_of(before, ask))
    steps: list[Any] = ["transpose"]  # the paper has predicted classes in rows
    positive = 0
    if name.startswith("Mtilde"):
        steps += ["repair", "rebalance"] if (table, name) == ("Table 5", "Mtilde7") else ["rebalance"]
    if table == "Table 3" and name.endswith("+J5/5"):
        steps += ["repair"]
    if table == "Table 5":
        steps, positive = [*steps, "pair_counts"], 1
    one_class = re.search(r"class (\d), (non )?modified", name)
    if one_class:
        steps, positive = [*steps, ("one_vs_rest", int(one_class[1]) - 1)], 1
        if not one_class[2]:
            steps += ["repair", "rebalance"]
    matrix = record["matrix"]
    if eigen := re.fullmatch(r"(mu|lambda)(\d+)", measure):
        values = ask(matrix, steps, f"eigenvalues of {'A' if eigen[1] == 'mu' else 'B'}")
        return float(values[-int(eigen[2])] if ask.answered else values)
    if measure in ("thr_min", "thr_max"):
        return float(ask(matrix, steps, "lower" if measure == "thr_min" else "upper"))
    if measure in BINARY:
        return float(ask(matrix, steps, BINARY[measure] + (":binary" if positive else " of 0")))
    spec, scaled = OVERALL[measure]
    return float(scaled(ask(matrix, steps, spec)))


# Numbers compared, by the classes of the matrix that is scored; half of them, or a little more, in float32.
LEAST = {2: 1156, 3: 74, 5: 103, 10: 124}


def hold_sources(graph_of: Callable[[int], Graph | None], comparison: Comparison) -> None:
    """Compare every cell whose matrix has a size for which there is a graph."""
    for record, value, dtype in answers(CELLS, value_of, graph_of):
        what, of = f"{record['measure']} in {record['table']}", record["matrix_name"]
        if record["printed_value"] == "NA":  # the harmonic form is 0/0 where there are errors and no hit; by counts 0
            assert record["measure"] == "F1-score"
            comparison.hold(what, of, value, 0, rtol=0, atol=0)
        else:
            hold_printed(comparison, what, value, record, dtype)


def hold_printed(comparison: Comparison, what: str, value: float, record: dict[str, Any], dtype: type | None) -> None:
    """Compare with the value of the oracle, and in float64, if the paper is right, with as many digits as it prints."""
    of, wanted = record["matrix_name"], record["computed_value"]
    tolerance = {"rtol": 1e-9, "atol": 1e-12}
    if dtype is np.float32:  # a drop is a percentage, of a quotient
        tolerance = {"rtol": 3e-4, "atol": 3e-3 if record["measure"].startswith("drop") else 3e-5}
    comparison.hold(what, of, value, wanted, **tolerance)
    if record["verdict"] in ("match", "rounding") and dtype is np.float64:
        printed = record["printed_value"].rstrip("%")
        digits = len(printed.partition(".")[2])
        allowed = 10.0**-digits * (1 + 1e-9) + 1e-12
        comparison.hold(f"{what}, printed", of, value, float(printed), rtol=0, atol=allowed)


def test_every_table_is_here() -> None:
    assert {record["table"] for record in CELLS} == {f"Table {number}" for number in range(1, 12)}
    assert len(CELLS) == 734


def test_tables(eager: Road, record_property: Any) -> None:
    """On the roads that compile nothing; test_roads.py takes the others."""
    comparison = Comparison(eager.name)
    hold_sources(lambda n: Graph(eager, n, np.float64, roads.referenced()), comparison)
    comparison.settle(sum(LEAST.values()), record_property)


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
            value = matrics.get_metric(BINARY[record["measure"]])(cm, average="binary", pos_label=0)
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
