"""Every cell of source 000's Tables 1-11, and the numbers in its text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import roads
from roads import Comparison, Graph, Road, answers

import matrics
from matrics._study.sources import eigenvalues
from matrics._study.sources.records import Record, load, matrices

RECORDS = [record for record in load() if record.source == "000"]
CELLS = [record for record in RECORDS if re.fullmatch(r"Table \d+", record.table)]

# Numbers compared, by the classes of the matrix that is scored; half of them, or a little more, in float32.
LEAST = {2: 1156, 3: 74, 5: 103, 10: 124}


def hold_sources(graph_of: Callable[[int], Graph | None], comparison: Comparison) -> None:
    """Compare every cell whose matrix has a size for which there is a graph."""
    for record, value, dtype in answers(CELLS, eigenvalues.value, graph_of):
        what, of = f"{record.measure} in {record.table}", record.matrix_name
        if record.printed == "NA":  # the harmonic form is 0/0 where there are errors and no hit; by counts 0
            assert record.measure == "F1-score"
            comparison.hold(what, of, value, 0, rtol=0, atol=0)
        else:
            hold_printed(comparison, what, value, record, dtype)


def hold_printed(comparison: Comparison, what: str, value: float, record: Record, dtype: type | None) -> None:
    """Compare with the value of the oracle, and in float64, if the paper is right, with as many digits as it prints."""
    of, wanted = record.matrix_name, record.computed
    tolerance = {"rtol": 1e-9, "atol": 1e-12}
    if dtype is np.float32:  # a drop is a percentage, of a quotient
        tolerance = {"rtol": 3e-4, "atol": 3e-3 if record.measure.startswith("drop") else 3e-5}
    comparison.hold(what, of, value, wanted, **tolerance)
    if record.verdict in ("match", "rounding") and dtype is np.float64:
        printed = record.printed.rstrip("%")
        digits = len(printed.partition(".")[2])
        allowed = 10.0**-digits * (1 + 1e-9) + 1e-12
        comparison.hold(f"{what}, printed", of, value, float(printed), rtol=0, atol=allowed)


def test_every_table_is_here() -> None:
    assert {record.table for record in CELLS} == {f"Table {number}" for number in range(1, 12)}
    assert len(CELLS) == 734


@pytest.mark.sampled(1)
def test_tables(eager: Road, record_property: Any) -> None:
    """On the roads that compile nothing; test_roads.py takes the others."""
    comparison = Comparison(eager.name)
    hold_sources(lambda n: Graph(eager, n, np.float64, roads.referenced()), comparison)
    comparison.settle(sum(LEAST.values()), record_property)


@pytest.mark.parametrize("name", ["Mb", "M1", "M2", "M3", "M4"])
def test_printed_lower_bound_fails_and_ours_holds(name: str) -> None:
    """The gap below the printed bound is an erratum of the records; that the other bound holds is in none."""
    cm = matrics.transform.transpose(matrices()[f"000 {name}"])
    bounds, smallest = matrics.study.gershgorin_bounds(cm), matrics.study.eigenvalues(cm)[0]
    assert smallest < bounds.lower
    assert smallest >= bounds.valid_lower - 1e-12


def test_eve_is_not_symmetric() -> None:
    """M2 of the paper is 0.952 one way and 0 the other."""
    m2 = [[9, 80], [1, 210]]
    assert round(float(matrics.eve(matrics.transform.transpose(m2))), 3) == 0.952
    assert matrics.eve(m2) == 0


def test_eve_of_classes_swapped_in_pairs() -> None:
    """Always wrong, and yet ln(n/2) / ln n."""
    swapped = np.eye(10)[[1, 0, 3, 2, 5, 4, 7, 6, 9, 8]]
    assert matrics.accuracy(swapped) == 0
    assert matrics.eve(swapped) == pytest.approx(np.log(5) / np.log(10))


def test_eve_of_chance_is_zero() -> None:
    sizes = np.asarray([3.0, 5.0, 11.0])
    assert matrics.eve(sizes[:, None] * [0.2, 0.3, 0.5]) == pytest.approx(0, abs=1e-12)


def test_largest_cen_of_two_classes() -> None:
    (record,) = (r for r in RECORDS if r.table == "CEN exceeds 1")
    assert eigenvalues.value(record) == pytest.approx(2 / (math.e * math.log(2)), rel=1e-12)
    assert matrics.cen([[0.0, 1.0], [1.0, 0.0]]) == 1
