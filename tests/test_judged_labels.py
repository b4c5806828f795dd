"""How good a judge is, labels that are drawn by strata, and labels to buy."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import judged_samples
import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
CASES = json.loads((Path(__file__).parent / "data" / "judged.json").read_text())["cases"]


def labels(n: int, number: int, **options: Any) -> tuple[Any, Any, Any]:
    return judged_samples.labels(RANDOM, n, number, **options)


def counts_of(n: int, number: int, labelled: int, **options: Any) -> matrics.results.JudgedCounts:
    known = np.arange(number) < labelled
    return matrics.judged.count(*labels(n, number, **options), labelled=known, num_classes=n)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(np.shape(case["unlabelled"])))
def test_quality_beside_statsmodels(case: dict[str, Any]) -> None:
    counts = matrics.results.JudgedCounts(np.asarray(case["labelled"]), np.asarray(case["unlabelled"]))
    found = matrics.judged.quality(counts)
    np.testing.assert_allclose(
        [found.odds_ratio, found.statistic, found.p_value], case["errors"], rtol=1e-9, atol=1e-15
    )
    assert found.matrix.tolist() == np.asarray(case["labelled"]).sum(-1).tolist()
    assert found.scores["accuracy"] == matrics.interval(found.matrix, "accuracy")["accuracy"]


def test_labels_by_strata() -> None:
    """Half of the strata are labelled ten times as often: only design="strata" has no bias then."""
    true, judge, pred = labels(2, 400_000)
    odd = judge != pred
    known = np.random.default_rng(0).random(400_000) < np.where(odd, 0.2, 0.02)
    counts = matrics.judged.count(true, judge, pred, labelled=known, num_classes=2)
    truth = (true == pred).mean()
    right = matrics.judged.interval(counts, "accuracy", design="strata")["accuracy"]
    assert right.low < truth < right.high
    drawn = matrics.judged.interval(counts, "accuracy", design="strata", limits="bootstrap", num=2000, rng=0)[
        "accuracy"
    ]
    assert math.isclose(drawn.standard_error, right.standard_error, rel_tol=0.08)
    for method in ("labelled", "tuned"):
        wrong = matrics.judged.interval(counts, "accuracy", method=method)["accuracy"]
        assert not wrong.low < truth < wrong.high


def test_labels_that_are_bought() -> None:
    """The half-width that was asked for comes out, with labels at random and in strata; those are fewer."""
    true, judge, pred = labels(3, 30_000)
    known = np.arange(30_000) < 600
    counts = matrics.judged.count(true, judge, pred, labelled=known, num_classes=3)
    for metric, half_width in (("accuracy", 0.012), ("mcc", 0.02)):
        needed = matrics.judged.labels_needed(counts, metric, half_width=half_width)
        assert needed.more == needed.labels - 600
        assert needed.in_strata < needed.labels
        assert needed.allocation.sum() == needed.in_strata - 600
        more = matrics.judged.count(true, judge, pred, labelled=np.arange(30_000) < int(needed.labels), num_classes=3)
        found = matrics.judged.interval(more, metric)[metric]
        assert math.isclose((found.high - found.low) / 2, half_width, rel_tol=0.08)
        drawn = matrics.judged.choose_samples(needed.allocation, judge, pred, labelled=known, rng=0)
        assert len(drawn) == needed.allocation.sum()
        assert not known[drawn].any()
        both = known.copy()
        both[drawn] = True
        more = matrics.judged.count(true, judge, pred, labelled=both, num_classes=3)
        found = matrics.judged.interval(more, metric, design="strata")[metric]
        assert math.isclose((found.high - found.low) / 2, half_width, rel_tol=0.08)


def test_labels_that_cannot_be_bought() -> None:
    counts = counts_of(2, 1000, 200)
    needed = matrics.judged.labels_needed(counts, "accuracy", half_width=0.001)
    assert needed.labels == needed.in_strata == math.inf
    assert np.isnan(needed.allocation).all()
    enough = matrics.judged.labels_needed(counts, "accuracy", half_width=0.2)
    assert enough.more == 0
    assert enough.allocation.sum() == 0
    ends = matrics.judged.labels_needed(counts, "accuracy", difference=0.2, power=0.8)
    assert ends.labels > enough.labels
