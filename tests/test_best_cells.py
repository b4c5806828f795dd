"""Replicates of the choice of a threshold from counts between thresholds: the choices are those from all samples."""

from __future__ import annotations

import numpy as np
import pytest

import matrics
from matrics._arrays import NUMPY
from matrics._ranking import best_interval
from matrics._ranking.best import Goal, read_goal
from matrics._ranking.best_cells import drawn_cells, is_best_at_positives, matrices_at
from matrics._ranking.rows import SampleRows

RANDOM = np.random.default_rng(0)
GOALS = [
    ("f1", None),
    ("mcc", None),
    ("precision", None),
    ("recall", "precision>=0.4"),
    ("accuracy", "specificity>=0.6,recall>=0.3"),
    ("cohen_kappa", "fp<=9"),
    ("specificity", "recall>=0.5"),
    ("fbeta(beta=2)", None),
]


def chosen(goal: Goal, counts: list[np.ndarray]) -> tuple[int, int, float]:
    """False and true positives at the first of the best thresholds, and the value there."""
    cm = matrices_at([of_class[None] for of_class in counts])
    values = goal.measured(cm, zero_division=float("nan"), workers=1)
    place = goal.ranked(values, NUMPY)[0].argmax()
    return int(cm[0, place, 0, 1]), int(cm[0, place, 1, 1]), float(values[0][0, place])


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("measure", "bounds"), GOALS)
@pytest.mark.parametrize("shift", [1.5, 0, -1.5])
def test_the_best_threshold_of_all_is_among_the_segments(measure: str, bounds: str | None, shift: float) -> None:
    """Also where scores are the wrong way round, and where samples are drawn several times or never."""
    goal = read_goal(measure, bounds)
    for digits in (2, 3, 9) * 5:
        positive = RANDOM.random(600) < 0.3
        scores = RANDOM.normal(shift * positive).round(digits)
        rows = best_interval._Row.of(
            SampleRows(NUMPY, scores[None], positive[None], None, np.zeros(1, bool)), 0, None, None
        )
        assert is_best_at_positives(goal, int((~positive).sum()), int(positive.sum()))
        times = RANDOM.multinomial(600, np.full(600, 1 / 600))
        all_of_them, some = (rows.segments(ends_positive=short)[0] for short in (False, True))
        assert some.size < 0.9 * all_of_them.size
        sides = [times * ~rows.positive, times * rows.positive]
        first, second = (chosen(goal, [np.add.reduceat(x, starts) for x in sides]) for starts in (all_of_them, some))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("measure", "bounds"), [("cen", None), ("nmi", None), ("recall", "specificity<=0.8")])
def test_measures_that_more_false_positives_may_improve_are_searched_at_all_thresholds(
    measure: str, bounds: str | None
) -> None:
    assert not is_best_at_positives(read_goal(measure, bounds), 70, 30)


def test_own_measures_are_searched_at_all_thresholds() -> None:
    own = matrics.Metric.of(lambda t: t.tp / t.true, name="own", kind="per_class", range=(0, 1), higher_is_better=True)
    assert not is_best_at_positives(read_goal(own, None), 70, 30)


@pytest.mark.parametrize("within_classes", [False, True])
def test_drawn_counts_have_the_moments_of_drawn_samples(*, within_classes: bool) -> None:
    """Mean and variance of a multinomial number, n p and n p (1 - p)."""
    cells = [np.array([5, 0, 40, 15]), np.array([20, 10, 5, 5])]
    drawn = drawn_cells(cells, 40_000, np.random.default_rng(1), within_classes=within_classes)
    for of_class, found in zip(cells, drawn, strict=True):
        total = of_class.sum() if within_classes else 100
        np.testing.assert_allclose(found.mean(0), of_class, atol=0.1)
        np.testing.assert_allclose(found.var(0), of_class * (1 - of_class / total), rtol=0.05)
        assert not within_classes or (found.sum(-1) == total).all()


def test_limits_are_those_of_drawn_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the noise of 4,000 replicates."""
    positive = np.random.default_rng(3).random(400) < 0.3
    scores = np.random.default_rng(4).normal(1.2 * positive)
    from_cells = matrics.ranking.best_threshold(positive, scores, "f1", level=0.9, num=4000, rng=0)
    monkeypatch.setattr(best_interval, "is_best_at_positives", lambda *_: False)
    from_samples = matrics.ranking.best_threshold(positive, scores, "f1", level=0.9, num=4000, rng=0)
    np.testing.assert_allclose(from_cells.value_interval[:4], from_samples.value_interval[:4], atol=4e-3)
    np.testing.assert_allclose(from_cells.optimism, from_samples.optimism, atol=2e-3)
    np.testing.assert_allclose(from_cells.threshold_interval.low, from_samples.threshold_interval.low, atol=0.05)
