"""How sure the best threshold is: the whole choice, repeated on resampled samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics._backend import NUMPY, Array
from matrics.catalogue.record import Metric
from matrics.labels import check_count
from matrics.ranking.best import Goal, best_threshold, read_goal
from matrics.ranking.inputs import read
from matrics.ranking.rows import Rows, as_rows, new_scores, sort
from matrics.typing import ArrayLike
from matrics.uncertainty.options import check_level
from matrics.uncertainty.results import Interval, IntervalStatus

# So many matrices, those of all thresholds of some replicates, are scored at a time.
MATRICS_AT_ONCE = 2**18
# As for other intervals.
FEW_SAMPLES = 20
MANY_UNDEFINED = 0.05


class BestThresholdInterval(NamedTuple):
    """How sure a best threshold is, as from :func:`matrics.best_threshold_interval`.

    Parameters
    ----------
    threshold : Interval
        Of the threshold.
    value : Interval
        Of the measure at the threshold, on new samples: its estimate is that of the samples less the optimism.
    optimism : array
        By how much the value is better on the samples on which the threshold was chosen than on others.
    """

    threshold: Interval
    value: Interval
    optimism: Array


def best_threshold_interval(
    y_true: ArrayLike,
    scores: ArrayLike,
    metric: str | Metric,
    *,
    subject_to: str | Iterable[str] | None = None,
    level: float = 0.95,
    num: int = 1000,
    rng: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> BestThresholdInterval:
    """Intervals of the best threshold and of its value: bootstrap of the samples, with the choice repeated each time.

    Parameters
    ----------
    y_true, scores, metric, subject_to, zero_division, workers
        As of :func:`matrics.best_threshold`; arrays in the memory of the CPU.
    level : float, default 0.95
        The coverage of the intervals.
    num : int, default 1000
        Number of replicates.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed.

    Returns
    -------
    BestThresholdInterval
        ``threshold`` and ``value``, each an :class:`matrics.Interval` with fields of shape (*B,), and ``optimism``.
        Replicates in which no threshold keeps to the constraints are counted as undefined.

    Raises
    ------
    TypeError
        Arrays are on a device or traced; or as :func:`matrics.best_threshold`.
    ValueError
        There are no samples; or as :func:`matrics.best_threshold`.

    Notes
    -----
    The best of many values is high by luck as well. The optimism is how much better the choice of a replicate does on
    the replicate than on the samples themselves, on average (Efron); it is taken off the value. Limits of the threshold
    are quantiles of the replicates, and wide where the measure is flat around its best value: then many thresholds will
    do. A choice is no smooth function of the samples, and its bootstrap only nearly right: on simulated data (F1 and
    MCC; 60, 200 and 1,000 samples) 95 % limits held the value on new samples in 87, 89 and 93 % of the cases, and the
    optimism was two thirds of the real one.

    References
    ----------
    Efron 1983, "Estimating the error rate of a prediction rule: improvement on cross-validation".

    Examples
    --------
    >>> import matrics, numpy
    >>> random = numpy.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 400)
    >>> scores = y_true + random.normal(size=400)
    >>> found = matrics.best_threshold_interval(y_true, scores, "f1", rng=1)
    >>> print(f"{found.threshold.estimate:.2f}, between {found.threshold.low:.2f} and {found.threshold.high:.2f}")
    -0.30, between -0.53 and 0.30
    >>> print(f"{found.value.estimate:.2f}, between {found.value.low:.2f} and {found.value.high:.2f}")
    0.77, between 0.73 and 0.80
    """
    goal, level, num = read_goal(metric, subject_to), check_level(level), check_count(num, "num")
    samples = read(y_true, scores)
    if samples.backend is not NUMPY:
        raise TypeError(
            "best_threshold_interval: expected arrays in the memory of the CPU, outside jit, compile and vmap"
        )
    options: dict[str, Any] = {"zero_division": zero_division, "workers": workers}
    constraints = [constraint.text for constraint in goal.constraints]
    if samples.y_true.shape[-1] == 0:
        raise ValueError("expected samples to draw from, got none")
    best = best_threshold(samples.y_true, samples.scores, goal.metric, subject_to=constraints, **options)
    rows, shape = as_rows(samples)
    generator = np.random.default_rng(rng)
    parts = []
    for k, (threshold, value) in enumerate(zip(np.ravel(best.threshold), np.ravel(best.value), strict=True)):
        drawn = _replicates(rows.cut(slice(k, k + 1)), goal, num, generator, options)
        status = _status(rows.positive[k], drawn)
        with NUMPY.quiet():  # measures may be infinite
            parts.append(_intervals(drawn, float(threshold), float(value), level, status))

    def gathered(which: int) -> Interval:
        fields = zip(*(part[which] for part in parts), strict=True) if parts else [()] * len(Interval._fields)
        arrays = [np.asarray(field, dtype) for field, dtype in zip(fields, _DTYPES, strict=True)]
        return Interval(*(samples.finish(array.reshape(shape)) for array in arrays))

    optimism = np.asarray([part[2] for part in parts], float).reshape(shape)
    return BestThresholdInterval(gathered(0), gathered(1), samples.finish(optimism))


_DTYPES = (float, float, float, float, np.int64, np.int64)


class _Replicates(NamedTuple):
    """The choice of each replicate, those without one left out."""

    thresholds: Array
    values: Array  # of the replicate there
    others: Array  # of the samples themselves there
    undefined: int


def _replicates(row: Rows, goal: Goal, num: int, rng: np.random.Generator, options: dict[str, Any]) -> _Replicates:
    """Draw samples with replacement, as often as there are samples, and choose a threshold each time."""
    ranked = sort(row)
    length = row.scores.shape[1]
    starts = np.flatnonzero(new_scores(ranked.keys, NUMPY)[0])
    limits = np.concatenate([[math.inf], ranked.decode(ranked.keys)[0, starts]])
    at_once = max(1, MATRICS_AT_ONCE // limits.size)

    def measured(draws: Array) -> list[Array]:
        """The measures at all thresholds of samples that were drawn so often, (R, N)."""
        counts = []
        for of_class in (ranked.negative, ranked.positive):
            of_score = np.add.reduceat(draws * of_class, starts, axis=-1) if length else np.zeros((len(draws), 0), int)
            counts.append(np.concatenate([np.zeros((len(draws), 1), int), of_score.cumsum(-1)], axis=-1))
        cells = [np.stack([up[:, -1:] - up, up], axis=-1) for up in counts]
        return goal.measured(np.stack(cells, axis=-2), **options)

    own = measured(np.ones((1, length), int))[0][0]
    found = []
    for start in range(0, num, at_once):
        number = min(at_once, num - start)
        draws = rng.multinomial(length, np.full(length, 1 / max(1, length)), size=number)
        values = measured(draws)
        order = goal.ranked(values, NUMPY)
        place = order.argmax(axis=-1)
        each = np.arange(number)
        kept = order[each, place] > -math.inf
        found.append(np.stack([limits[place], values[0][each, place], own[place]])[:, kept])
    thresholds, values_there, others = np.concatenate(found, axis=-1)
    return _Replicates(thresholds, values_there, others, num - thresholds.size)


def _intervals(
    drawn: _Replicates, threshold: float, value: float, level: float, status: int
) -> tuple[Interval, Interval, float]:
    shares = [(1 - level) / 2, (1 + level) / 2]
    if not drawn.values.size or math.isnan(value):
        nothing = Interval(threshold, math.nan, math.nan, math.nan, drawn.undefined, IntervalStatus.UNDEFINED)
        return nothing, nothing._replace(estimate=value), math.nan
    # A measure that was undefined or infinite on all samples at the threshold of a replicate tells nothing.
    gaps = drawn.values - drawn.others
    gaps = gaps[np.isfinite(gaps)]
    optimism = float(gaps.mean()) if gaps.size else math.nan
    low, high = np.quantile(drawn.thresholds, shares, method="inverted_cdf")  # of which some may be infinite
    spread = float(np.std(drawn.thresholds)) if np.isfinite(drawn.thresholds).all() else math.nan
    low, high = min(low, threshold), max(high, threshold)
    of_threshold = Interval(threshold, low, high, spread, drawn.undefined, status)
    if math.isnan(optimism):
        nothing = Interval(value, math.nan, math.nan, math.nan, drawn.undefined, IntervalStatus.NO_VARIATION)
        return of_threshold, nothing, optimism
    # The replicates are better than the samples by the optimism, and these than new ones by the same again.
    low, high = np.quantile(drawn.values, shares) - 2 * optimism
    estimate = value - optimism
    low, high = min(low, estimate), max(high, estimate)  # few replicates, or few values, may leave it outside
    of_value = Interval(estimate, low, high, float(np.std(drawn.values)), drawn.undefined, status)
    return of_threshold, of_value, optimism


def _status(positive: Array, drawn: _Replicates) -> int:
    if drawn.undefined > MANY_UNDEFINED * (drawn.undefined + drawn.values.size):
        return IntervalStatus.UNDEFINED_REPLICATES
    fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
    return IntervalStatus.FEW_SAMPLES if fewest < FEW_SAMPLES else IntervalStatus.OK
