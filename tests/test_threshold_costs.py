"""Costs of each sample, and bounds on rows of weighted samples: beside sums over all thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from matrics import ranking

RANDOM = np.random.default_rng(7)
NUMBER = 400
Y_TRUE = (RANDOM.random(NUMBER) < 0.2).astype(int)
SCORE = (Y_TRUE + RANDOM.normal(size=NUMBER)).round(1)
AMOUNT = RANDOM.lognormal(3, 1, NUMBER)
FEE = 5.0


def cost_at(threshold: float, miss: Any = AMOUNT, alarm: Any = FEE, weight: Any = 1.0) -> float:
    """What the errors at a threshold cost."""
    chosen = threshold <= SCORE
    each = np.where(Y_TRUE == 1, ~chosen * miss, chosen * alarm)
    return float((each * weight).sum())


THRESHOLDS = np.r_[np.inf, np.unique(SCORE)[::-1]]
COSTS: dict[str, Any] = {"cost_false_negative": AMOUNT, "cost_false_positive": FEE}


def test_the_curve_has_the_cost_of_all_errors() -> None:
    curve = ranking.threshold_curve(Y_TRUE, SCORE, "recall", unique=True, **COSTS)
    np.testing.assert_array_equal(curve.thresholds, THRESHOLDS)
    np.testing.assert_allclose(curve["cost"], [cost_at(t) for t in THRESHOLDS], rtol=1e-12)
    given = ranking.threshold_curve(Y_TRUE, SCORE, "recall", thresholds=[0.3, 1.0], **COSTS)
    np.testing.assert_allclose(given["cost"], [cost_at(0.3), cost_at(1.0)], rtol=1e-12)
    weight = RANDOM.random(NUMBER)
    weighted = ranking.threshold_curve(Y_TRUE, SCORE, "recall", unique=True, sample_weight=weight, **COSTS)
    np.testing.assert_allclose(weighted["cost"], [cost_at(t, weight=weight) for t in THRESHOLDS], rtol=1e-12)


def test_equal_costs_are_the_number_of_errors() -> None:
    curve = ranking.threshold_curve(Y_TRUE, SCORE, "hamming_loss", cost_false_negative=1, cost_false_positive=1)
    np.testing.assert_allclose(curve["cost"], NUMBER * curve["hamming_loss"])


def test_the_name_of_the_cost() -> None:
    """Alone, and among others; without costs it is an error that names them."""
    y_true, y_score, costs = [0, 1, 1, 0, 1], [0.1, 0.4, 0.8, 0.6, 0.9], {"cost_false_negative": [1, 2, 3, 4, 5.0]}
    for metrics, names in (
        ("cost", ["cost"]),
        ("recall, cost", ["recall", "cost"]),
        (["mcc", "cost"], ["mcc", "cost"]),
    ):
        curve = ranking.threshold_curve(y_true, y_score, metrics, thresholds=[0.5], **costs, cost_false_positive=5)
        assert list(curve.values) == names
        assert curve["cost"].tolist() == [2 + 5]
        with pytest.raises(ValueError, match="'cost', which needs cost_false_negative= and cost_false_positive="):
            ranking.threshold_curve(y_true, y_score, metrics)
    with pytest.raises(ValueError, match="at least one metric"):
        ranking.threshold_curve(y_true, y_score, [], **costs, cost_false_positive=5)


def test_the_cheapest_threshold() -> None:
    costs = [cost_at(t) for t in THRESHOLDS]
    best = ranking.best_threshold(Y_TRUE, SCORE, "cost", **COSTS)
    assert best.threshold == THRESHOLDS[np.argmin(costs)]
    assert best.value == pytest.approx(min(costs), rel=1e-12)
    few = [(cost, t) for cost, t in zip(costs, THRESHOLDS, strict=True) if (t <= SCORE).sum() <= 30]
    bounded = ranking.best_threshold(Y_TRUE, SCORE, "cost", subject_to="predicted_positives<=30", **COSTS)
    assert (bounded.value, bounded.threshold) == (pytest.approx(min(few)[0], rel=1e-12), min(few)[1])
    assert (bounded.threshold <= SCORE).sum() <= 30 < (best.threshold <= SCORE).sum()


def test_the_cost_has_limits() -> None:
    """The optimism is what Efron's formula is of the same draws, counted by hand."""
    best = ranking.best_threshold(Y_TRUE, SCORE, "cost", level=0.95, num=200, rng=3, **COSTS)
    assert best.value == pytest.approx(cost_at(float(best.threshold)), rel=1e-12)
    assert best.value_interval.low < best.value < best.value_interval.high
    assert best.optimism < 0  # a cost is higher on other samples
    generator = np.random.default_rng(3)
    times = [np.bincount(generator.integers(0, NUMBER, NUMBER), minlength=NUMBER) for _ in range(200)]
    # The draws are of the samples in the order of their scores, positive ones first.
    order = np.lexsort((Y_TRUE != 1, -SCORE))
    gaps = []
    for row in times:
        weight = np.zeros(NUMBER)
        weight[order] = row
        drawn = [cost_at(t, weight=weight) for t in THRESHOLDS]
        place = int(np.argmin(drawn))
        gaps.append(drawn[place] - cost_at(THRESHOLDS[place]))
    assert best.optimism == pytest.approx(np.mean(gaps), rel=1e-9)


def test_samples_that_are_left_out_cost_nothing() -> None:
    true = np.append(Y_TRUE, 9)
    amount = np.append(AMOUNT, np.nan)
    best = ranking.best_threshold(
        true, np.append(SCORE, 0.0), "cost", ignore_index=9, cost_false_negative=amount, cost_false_positive=FEE
    )
    assert best.value == ranking.best_threshold(Y_TRUE, SCORE, "cost", **COSTS).value
    words = np.asarray(["ok", "fraud"])[Y_TRUE]
    named = ranking.best_threshold(words, SCORE, "cost", positive="fraud", **COSTS)
    assert named.value == best.value


@pytest.mark.parametrize("limits", [{}, {"level": 0.95, "num": 50, "rng": 0}])
def test_a_bound_on_a_number_counts_rows_of_weighted_samples(limits: dict[str, Any]) -> None:
    """The best recall of amounts with at most so many alerts; a bound of a share is one of the weights."""
    best = ranking.best_threshold(
        Y_TRUE, SCORE, "recall", subject_to="predicted_positives<=40", sample_weight=AMOUNT, **limits
    )
    allowed = [t for t in THRESHOLDS if (t <= SCORE).sum() <= 40]
    assert best.threshold == min(allowed)
    chosen = min(allowed) <= SCORE
    assert best.value == pytest.approx((AMOUNT * chosen * Y_TRUE).sum() / (AMOUNT * Y_TRUE).sum(), rel=1e-12)
    share = ranking.best_threshold(Y_TRUE, SCORE, "recall", subject_to="precision>=0.5", sample_weight=AMOUNT)
    recalls = {
        t: (AMOUNT * Y_TRUE)[t <= SCORE].sum() / (AMOUNT * Y_TRUE).sum()
        for t in THRESHOLDS[1:]
        if (AMOUNT * Y_TRUE)[t <= SCORE].sum() >= 0.5 * AMOUNT[t <= SCORE].sum()
    }
    assert share.value == pytest.approx(max(recalls.values()), rel=1e-12)
    assert share.value == pytest.approx(recalls[float(share.threshold)], rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "options", "error", "message"),
    [
        ("cost", {}, ValueError, "metric: expected a measure other than 'cost'"),
        ("f1", COSTS, ValueError, "metric: expected 'cost'"),
        ("cost", {"cost_false_negative": 1.0}, ValueError, "cost_false_positive: expected a number"),
        ("cost", {**COSTS, "cost_false_negative": -AMOUNT}, ValueError, "not negative"),
        ("cost", {**COSTS, "cost_false_positive": np.ones(3)}, ValueError, r"shape \(400,\), got shape \(3,\)"),
        ("cost", {**COSTS, "cost_false_positive": "five"}, TypeError, "cost_false_positive: expected"),
        ("cost", {**COSTS, "prevalence": 0.1}, ValueError, "prevalence: expected None with costs"),
    ],
)
def test_bad_costs_raise(metric: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ranking.best_threshold(Y_TRUE, SCORE, metric, **options)
