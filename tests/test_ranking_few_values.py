"""Limits of measures of scores with few values, such as votes: how often they contain the true value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import matrics

# The probabilities of each value, the lowest first, of positive and of negative samples.
LAWS = {
    "three levels": ([0.05, 0.05, 0.9], [0.9, 0.07, 0.03]),
    "three levels, most are sure": ([0.03, 0.07, 0.9], [0.95, 0.03, 0.02]),
    "five levels": ([0.02, 0.03, 0.05, 0.1, 0.8], [0.8, 0.1, 0.05, 0.03, 0.02]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("negatives", [40, 100, 400])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.97), (0.9, 0.9)])
def test_areas_of_two_values_are_covered_by_enumeration(sensitivity: float, specificity: float, negatives: int) -> None:
    # The area of scores of 0 and 1 is the balanced accuracy.
    positives = 40
    hits, rejections = (
        np.arange(int(stats.binom(size, p).ppf(1e-4)), int(stats.binom(size, p).ppf(1 - 1e-4)) + 1)
        for size, p in ((positives, sensitivity), (negatives, specificity))
    )
    h, r = (x.ravel() for x in np.meshgrid(hits, rejections, indexing="ij"))
    probability = stats.binom(positives, sensitivity).pmf(h) * stats.binom(negatives, specificity).pmf(r)
    y_score = np.concatenate([np.arange(positives) < h[:, None], np.arange(negatives) >= r[:, None]], axis=1).astype(
        float
    )
    y_true = np.broadcast_to(np.arange(positives + negatives) < positives, y_score.shape).astype(int)
    one = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    truth = (sensitivity + specificity) / 2
    misses = (one.low > truth) | (truth > one.high)
    assert probability.sum() > 0.999
    assert probability[misses].sum() < 0.04
    assert probability[misses & (one.status == 0)].sum() < 0.04


def test_samples_that_all_miss_the_same_part_are_not_many() -> None:
    # 40 positive samples without an error: the upper limit of their share of errors is about 9 %.
    y_true = np.repeat([1, 0], [40, 400])
    y_score = np.repeat([1.0, 0.0], [40, 400])
    y_score[40:52] = 1.0
    one = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    assert one.estimate == pytest.approx(0.985)
    assert one.low < (1 - stats.beta(1, 40).ppf(0.95) + 0.97) / 2
    assert one.status == matrics.IntervalStatus.FEW_SAMPLES


@pytest.mark.exhaustive
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("positives", "negatives"), [(40, 40), (40, 400), (100, 100)])
def test_few_values_are_covered(law: str, positives: int, negatives: int) -> None:
    sets, random = 600, np.random.default_rng(0)
    p, q = map(np.asarray, LAWS[law])
    y_true = np.broadcast_to(np.arange(positives + negatives) < positives, (sets, positives + negatives)).astype(int)
    y_score = np.concatenate(
        [random.choice(len(x), (sets, size), p=x) for x, size in ((p, positives), (q, negatives))], axis=1
    ).astype(float)
    tp, fp = (np.cumsum(x[::-1]) * size for x, size in ((p, positives), (q, negatives)))
    truths = {
        "roc_auc": np.sum(p * (np.cumsum(q) - q / 2)),
        "average_precision": np.sum(p[::-1] * tp / (tp + fp)),
    }
    for name, one in matrics.ranking.interval(y_true, y_score, list(truths)).items():
        misses = (one.low > truths[name]) | (truths[name] > one.high)
        assert np.mean(misses & (one.status == 0)) < 0.07 + 2 * np.sqrt(0.07 * 0.93 / sets), name
