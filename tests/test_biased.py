"""Limits of the lowest value of the classes, which is biased where classes are similar, and of measures like it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus
from matrics._arrays import NUMPY
from matrics._uncertainty.bias import bias_of
from matrics._uncertainty.measure import Measure, Task, score_of
from matrics._uncertainty.options import Options

BIASED, OK = int(IntervalStatus.BIASED), int(IntervalStatus.OK)


@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True)
def lowest_recall(t: Any) -> Any:
    """The lowest recall, as a measure of one's own."""
    return t.xp.min(t.divide(t.tp, t.true), axis=0)


@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True)
def highest_recall(t: Any) -> Any:
    """The highest recall."""
    return t.xp.max(t.divide(t.tp, t.true), axis=0)


@matrics.metric(kind="overall", range=(-1, 1), higher_is_better=True)
def smooth(t: Any) -> Any:
    """The mean of the recalls, less 1 and doubled."""
    return t.xp.mean(2 * t.divide(t.tp, t.true), axis=0) - 1


def law(recalls: Any) -> np.ndarray:
    """Shares of the cells of equal classes with these recalls, whose errors go to all other classes alike."""
    n = len(recalls)
    cm = np.repeat((1 - np.asarray(recalls))[:, None] / (n - 1), n, axis=1)
    np.fill_diagonal(cm, recalls)
    return cm / n


TIED, APART = (np.round(law(recalls) * 900) for recalls in ([0.8] * 4, [0.6, 0.84, 0.88, 0.88]))


def covered(one: Any, exact: float) -> tuple[float, float]:
    """The share of the data sets whose limits contain the truth, and of those that miss it with the status 0."""
    held = (one.low <= exact) & (exact <= one.high)
    return held.mean(), (~held & (one.status == OK)).mean()


@pytest.mark.sampled(4)
def test_the_status_of_own_measures(backend: Any) -> None:
    cells = backend.asarray(np.stack([TIED, APART]).astype(int))
    found = matrics.interval(cells, [lowest_recall, highest_recall, smooth, "recall:min"])
    statuses = [backend.numpy(one.status).tolist() for one in found.values()]
    assert statuses == [[BIASED, OK], [BIASED, BIASED], [OK, OK], [OK, OK]]  # two classes share the highest recall


def test_the_status_of_each_method() -> None:
    cells = np.stack([TIED, APART])
    for method in ("auto", "delta", "bootstrap", "bca", "posterior"):
        options: dict[str, Any] = {} if method in {"auto", "delta"} else {"num": 100, "rng": 0}
        own, least = matrics.interval(cells, [lowest_recall, "recall:min"], method=method, **options).values()
        assert own.status.tolist() == [BIASED, OK]
        assert least.status.tolist() == [BIASED if method == "delta" else OK, OK]
        _, least = matrics.compare(cells, cells, [lowest_recall, "recall:min"], method=method, **options).values()
        assert least.status.tolist() == [OK if method == "auto" else BIASED, OK]


def test_models_with_a_lowest_value_have_biased_differences() -> None:
    y_true = np.repeat(np.arange(4), 225)
    third = np.round(law([0.64, 0.84, 0.88, 0.88]) * 900)
    models = [np.concatenate([np.repeat(np.arange(4), row.astype(int)) for row in cm]) for cm in (APART, TIED, third)]
    found = matrics.compare_models(y_true, models, "recall:min", num_classes=4, num=200, rng=0)["recall:min"]
    assert found.intervals.status.tolist() == [OK, OK, OK]
    assert found.differences.status[[0, 1, 0], [1, 2, 2]].tolist() == [BIASED, BIASED, OK]


def test_a_bias_downwards_leaves_lower_limits() -> None:
    """A gate whose requirement is on the side where limits hold passes."""
    for measure, sign, bound, verdict in (
        (lowest_recall, ">=", 0.5, "pass"),
        (lowest_recall, "<=", 0.95, "undecided"),
        (highest_recall, ">=", 0.5, "undecided"),
        (highest_recall, "<=", 0.95, "pass"),
    ):
        matrics.register(measure)
        (one,) = matrics.gate(TIED.astype(int), f"{measure.name} {sign} {bound}").requirements
        assert (one.verdict, one.status) == (verdict, OK if verdict == "pass" else BIASED)


@pytest.mark.parametrize("scheme", ["multinomial", "clusters"])
def test_the_bias_is_that_of_replicates(scheme: str) -> None:
    """The mean of multinomial replicates, or of replicates of clusters, less the estimate, in standard errors."""
    random, clustered = np.random.default_rng(0), scheme == "clusters"
    if clustered:
        shares = random.dirichlet(law([0.8] * 4).ravel() * 9, 60)
        cells = np.stack([random.multinomial(20, row) for row in shares]).reshape(-1, 1, 4, 4)
        times = random.multinomial(60, np.full(60, 1 / 60), 4000)
        drawn = np.tensordot(times, cells[:, 0], axes=1)
    else:
        cells = random.multinomial(800, law([0.8] * 4).ravel()).reshape(1, 4, 4)
        drawn = random.multinomial(800, cells.ravel() / 800, 4000).reshape(-1, 4, 4)
    whole = cells.sum(axis=0) if clustered else cells

    def lowest(cm: np.ndarray) -> np.ndarray:
        return (np.diagonal(cm, axis1=-2, axis2=-1) / cm.sum(-1)).min(-1)

    values = lowest(drawn)
    expected = (values.mean() - lowest(whole)[0]) / values.std()
    measure = Measure.of(lowest_recall)
    options = Options(0.95, "auto", scheme, 0)
    task = Task(cells * 1.0, whole * 1.0, [], [measure], score_of([measure], 0.0), options, 0.0, 1, NUMPY)
    assert expected < -0.3
    assert bias_of(task, measure)[0] == pytest.approx(expected, abs=0.15)


@pytest.mark.sampled(1)
def test_limits_of_a_lowest_value_by_draws_hold() -> None:
    """Quantiles of its replicates contained it in 55 % of the data sets."""
    shares = law([0.8] * 5)
    cells = np.random.default_rng(0).multinomial(1000, shares.ravel(), 300).reshape(-1, 5, 5)
    one = matrics.interval(cells, "recall:min", method="bootstrap", num=200, rng=0)["recall:min"]
    assert (one.status == OK).all()
    assert covered(one, 0.8)[0] > 0.92


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["auto", "delta", "bootstrap"])
def test_status_0_means_93_percent(method: str) -> None:
    """The lowest recall of tied, near and separate classes, of the catalogue and of one's own."""
    options: dict[str, Any] = {"num": 200, "rng": 0} if method == "bootstrap" else {}
    laws = ([0.8] * 2, [0.8] * 3, [0.8] * 5, [0.76, 0.78, 0.8, 0.82, 0.84], [0.6, 0.8, 0.85, 0.9, 0.95])
    for recalls in laws:
        shares, size, sets = law(recalls), 200 * len(recalls), 1000 if options else 2000
        cells = np.random.default_rng(size).multinomial(size, shares.ravel(), sets).reshape(-1, *shares.shape)
        own, least = matrics.interval(cells, [lowest_recall, "recall:min"], method=method, **options).values()
        held, missed = covered(least, min(recalls))
        assert method == "delta" or (held > 0.93 and (least.status == OK).all()), (recalls, held)
        assert missed < 0.07, (recalls, missed)
        assert covered(own, min(recalls))[1] < 0.07, recalls
