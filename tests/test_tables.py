"""The numbers in sources 001 to 003 that are values of measures, on every road; test_reproduce.py has the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import roads
from roads import Comparison, Graph, Road, answers
from test_sources import hold_printed

import matrics
from matrics._study.sources import entropy, imbalance, review
from matrics._study.sources.recompute import Compute
from matrics._study.sources.records import Record, load

MODULES = {"001": review, "002": entropy, "003": imbalance}
# A score of the matrix of the record, and not what a module makes of many, or of a matrix of its own.
VALUES = [
    record
    for record in load()
    if record.source in MODULES
    and record.matrix is not None
    and record.table not in MODULES[record.source].CLAIMS
    and record.measure not in ("CEN>1 for 0<T<F", "Precision RRT=10 given 0.93 at RRT=1")
    and record.verdict != "ambiguous"
]


def test_how_many() -> None:
    assert len(VALUES) == 196


# Numbers compared, by the classes of the matrix that is scored; half of them, or a little more, in float32.
LEAST = {2: 73, 3: 166, 4: 6, 5: 68, 6: 6, 7: 6, 8: 66}


def hold_tables(graph_of: Callable[[int], Graph | None], comparison: Comparison) -> None:
    """Compare every value whose matrix has a size for which there is a graph."""
    for record, value, dtype in answers(VALUES, value_of, graph_of):
        what = f"{record.measure} in {record.source}, {record.table}"
        hold_printed(comparison, what, value, record, dtype)


def value_of(record: Record, ask: Compute) -> float:
    return MODULES[record.source].value(record, ask)


@pytest.mark.sampled(1)
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
    assert matrics.metrics.scott_pi([[0, 1000], [1, 0]], proportions="true") < -400


# 002 ------------------------------------------------------------------------------------------------------------------


def test_single_column() -> None:
    """0/0: undefined here, 0 in the paper and in scikit-learn."""
    cm = np.asarray([[3, 0, 0], [2, 0, 0], [4, 0, 0]])
    assert np.isnan(matrics.mcc(cm))
    assert matrics.mcc(cm, zero_division=0) == 0


# 003 ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", range(2, 9))
def test_least_auroc_ova_for_class_sizes(classes: int) -> None:
    (record,) = (r for r in load() if r.measure == "L(AUROC-OVA)" and len(r.cells) == classes)
    cm = np.asarray(record.cells)
    assert matrics.metrics.auroc_ova_lower_bound(cm) == pytest.approx(record.computed, abs=1e-12)
    assert matrics.metrics.auroc_ova(cm) == pytest.approx(matrics.metrics.auroc_ova_lower_bound(cm), abs=1e-12)
