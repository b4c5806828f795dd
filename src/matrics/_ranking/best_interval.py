"""best_threshold(): the best threshold, and its limits from repeating the choice on resampled samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.sizes import check_draws
from matrics._catalogue.record import Metric
from matrics._engine.results import columns_of
from matrics._errors import ArgumentError
from matrics._progress import steps
from matrics._ranking.best import BestThreshold, Goal, find_best, read_goal
from matrics._ranking.best_cells import drawn_cells, is_best_at_positives, matrices_at
from matrics._ranking.costs import read_costs
from matrics._ranking.inputs import read
from matrics._ranking.prevalence import read_shares
from matrics._ranking.rows import SampleRows, as_rows
from matrics._ranking.unlabelled import Unlabelled
from matrics._stacks.prevalence import PrevalenceLike
from matrics._uncertainty.model_samples import cluster_codes
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver
from matrics.typing import ArrayLike

# Matrices per chunk: all thresholds of some replicates.
MATRICS_AT_ONCE = 2**18
# How far the limits are moved beyond the quantiles without the optimism, in units of the optimism: a third of the real
# optimism stays, and replicates of a choice vary less than new samples. Closer limits hold in fewer than 93 % of cases.
BELOW, ABOVE = 1.0, 0.75
# The same number as for other intervals.
FEW_SAMPLES = 20
# The default number of replicates.
NUM_REPLICATES = 1000
MANY_UNDEFINED = 0.05


# Each of the highest scores is a threshold in every replicate. A replicate without any of their samples has the
# probability e^-64.
HIGHEST = 64


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: str | Metric,
    *,
    subject_to: str | Iterable[str] | None = None,
    cost_false_negative: ArrayLike | float | None = None,
    cost_false_positive: ArrayLike | float | None = None,
    unlabelled_scores: ArrayLike | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    prevalence: PrevalenceLike | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    clusters: ArrayLike | None = None,
    level: float | None = None,
    num: int | None = None,
    rng: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> BestThreshold:
    """The best threshold for a measure, of all thresholds between different scores; with ``level`` also its limits.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes, each compared with the rest. They are scores of classes if
        they have an axis more than the labels, after the axis of samples. Otherwise both broadcast. With ``level``,
        arrays in the memory of the CPU.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against the
        rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class. A sample is then predicted as positive if its score is at most the threshold.
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative. With ``level``, samples keep their weights when they are
        drawn, and samples of weight 0 are not drawn.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. They are not
        drawn either.
    metric : str or Metric
        The measure to maximise, or to minimise if lower values are better. A per-class measure
        without an average is the value of the positive class. ``"cost"`` minimises the cost of all errors.
    subject_to : str or list of str, optional
        Constraints: a measure, ``>=``, ``<=``, ``>`` or ``<``, and a number, such as ``"recall>=0.9"``; several
        in a list, or with commas between them. A threshold at which such a measure is undefined does not satisfy the
        constraint. A bound on a number of samples, such as ``"predicted_positives<=500"``, applies to the samples that
        are not left out: to their number, also where samples have weights.
    cost_false_negative, cost_false_positive : float or array_like, shape (*B, N), optional
        What it costs if a positive sample is predicted as negative, and the other way round; the same for all samples,
        or a number for each, such as the amount of a payment. For the metric ``"cost"``. Weights multiply costs.
    unlabelled_scores : array_like of floating numbers, shape (M,), optional
        The scores of samples whose true label is not known. Bounds on ``predicted_positives`` and
        ``predicted_negatives`` count these as well, such as all cases that a team can look at in a day; everything else
        is of the samples with labels. With ``level`` they are the same in all replicates.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of the positive class where the results are used, if it differs from that of the samples: a
        number, ``(2,)``, ``(*P, 1)`` or ``(*P, 2)``. It changes the measure and the constraints. With ``level``,
        samples are drawn within their classes, or clusters as wholes, and the prevalence itself counts as known.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image. With ``level``, whole clusters are
        resampled.
    level : float, optional
        The coverage of the intervals of the threshold and of its value. Without it there are none.
    num : int, optional
        Number of replicates with ``level``; 1,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed, with ``level``; new draws every time if left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0). NaN is never the best.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    BestThreshold
        ``threshold``, a score, or infinity if it is best to predict no sample as positive; and ``value``.
        Both of shape (*B,), or (*B, n) of n classes, each against the rest. Of several best thresholds the highest. NaN
        if the measure is undefined at every threshold, or a score is NaN. With several curves, or if values cannot be
        inspected, also NaN if no threshold satisfies the constraints, or the measure is undefined at all that do.
        With ``level`` also ``threshold_interval`` and ``value_interval``, each an :class:`matrics.Interval`, and
        ``optimism``. Replicates in which no threshold satisfies the constraints count as undefined. With
        ``unlabelled_scores`` also ``rows_of_constraints``, how many samples bounds on a number of samples count.

    Raises
    ------
    TypeError
        With ``level``, arrays are on a device or traced; ``clusters``, ``num`` or ``rng`` are given without it. Or as
        :func:`matrics.ranking.threshold_curve`.
    ValueError
        No threshold of a single curve satisfies the constraints: the message has the best attainable value of each. Or
        some do, and the measure is undefined at all of these. With ``level``, there are no samples, or fewer than two
        clusters. Or as :func:`matrics.ranking.threshold_curve`.

    Notes
    -----
    The value is the best of many on the same samples, and so biased upwards. With ``level`` the samples are resampled,
    and the choice is repeated each time. The optimism is how much better the threshold of a replicate scores on the
    replicate than on the samples themselves, on average (Efron); the estimate of ``value_interval`` is the value minus
    that. Limits of the threshold are quantiles of the replicates, and wide if the measure is flat around its best
    value: then many thresholds will do.

    A choice is no smooth function of the samples: a third of the real optimism stays in the estimate, and replicates
    vary less than new samples. The limits of the value therefore are quantiles of the replicates less twice the
    optimism. They are moved outwards by the optimism on the side of worse values, and by three quarters of the optimism
    on the other side.
    On simulated data (accuracy, F1, MCC and informedness; 60 to 1,000 samples, 3 to 50 % positive), 95 % limits
    contained the value on new samples in 95 to 97 % of the data sets. With a constraint the limits are wider than
    necessary and contained this value in 99 to 100 % of the data sets, because the threshold, and with it the value,
    varies with the samples.

    References
    ----------
    Efron 1983, "Estimating the error rate of a prediction rule: improvement on cross-validation".

    Examples
    --------
    >>> import matrics
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9]
    >>> matrics.ranking.best_threshold(y_true, y_score, "f1")
    BestThreshold(threshold=0.3, value=0.8571)
    >>> matrics.ranking.best_threshold(y_true, y_score, "recall", subject_to="precision>=0.9")
    BestThreshold(threshold=0.6, value=0.6667)

    If 1 % of the samples are positive, false alarms count for more:

    >>> matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=0.01)
    BestThreshold(threshold=0.6, value=0.8)

    The cost of errors, if a missed payment costs its amount and a false alarm costs 5:

    >>> amount = [20, 80, 300, 10, 40, 120]
    >>> options = {"cost_false_negative": amount, "cost_false_positive": 5.0}
    >>> matrics.ranking.best_threshold(y_true, y_score, "cost", **options)
    BestThreshold(threshold=0.3, value=5)

    At most three of all samples can be looked at, of which four have no label yet:

    >>> matrics.ranking.best_threshold(
    ...     y_true, y_score, "recall", subject_to="predicted_positives<=3", unlabelled_scores=[0.2, 0.4, 0.7, 0.8]
    ... )
    BestThreshold(threshold=0.9, value=0.3333, rows_of_constraints=10)

    With limits:

    >>> import numpy
    >>> random = numpy.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 400)
    >>> y_score = y_true + random.normal(size=400)
    >>> best = matrics.ranking.best_threshold(y_true, y_score, "f1", level=0.95, rng=1)
    >>> threshold, value = best.threshold_interval, best.value_interval
    >>> print(f"{threshold.estimate:.2f}, between {threshold.low:.2f} and {threshold.high:.2f}")
    -0.30, between -0.53 and 0.17
    >>> print(f"{value.estimate:.2f}, between {value.low:.2f} and {value.high:.2f}")
    0.77, between 0.72 and 0.81
    """
    if level is not None:
        level, num = check_level(level), NUM_REPLICATES if num is None else check_draws(num)
    elif unused := [
        name for name, option in {"clusters": clusters, "num": num, "rng": rng}.items() if option is not None
    ]:
        raise TypeError(f"{unused[0]}: expected None without level=, as only limits need it; pass level=0.95 for these")
    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    samples, shares = read_shares(prevalence, samples)
    costs = read_costs(samples, cost_false_negative, cost_false_positive)
    goal = read_goal(metric, subject_to, samples.classes, has_costs=costs is not None)._replace(shares=shares)
    unlabelled = goal.unlabelled(unlabelled_scores, samples)
    if costs is not None and shares is not None:
        raise ValueError("prevalence: expected None with costs, which are sums over the samples as they are")
    options: dict[str, Any] = {"zero_division": zero_division, "workers": workers}
    if level is None or num is None:
        return find_best(samples, costs, goal, unlabelled, **options)
    if samples.backend is not NUMPY:
        raise TypeError("level: for limits expected arrays in the memory of the CPU, outside jit, compile and vmap")
    codes = None if clusters is None else cluster_codes(clusters, samples.y_true.shape[-1])
    if shares is not None and shares.ndim > 1:
        raise ArgumentError(
            "prevalence", f"expected the same for all curves, a number or shape (2,), got {shares.shape[:-1]}"
        )
    if samples.y_true.shape[-1] == 0:
        raise ValueError("expected samples to draw from, got none")
    best = find_best(samples, costs, goal, unlabelled, **options)
    rows, shape = as_rows(samples)
    error_costs = None if costs is None else as_rows(costs)[0].weight
    generator = np.random.default_rng(rng)
    results_of_curves: list[tuple[Any, ...]] = []
    for k, (threshold, value) in enumerate(
        zip(np.ravel(samples.directed(best.threshold)), np.ravel(best.value), strict=True)
    ):
        row = _Row.of(rows, k, codes, error_costs)
        replicates = _replicates(row, goal, unlabelled, num, generator, options)
        status = _status(row, replicates)
        with NUMPY.quiet():  # measures may be infinite
            results_of_curves.append(_intervals(replicates, float(threshold), float(value), goal.sign, level, status))

    def stacked(results: Sequence[Interval]) -> Interval:
        fields = zip(columns_of(results, Interval), _DTYPES, strict=True)
        return Interval(*(samples.finish(np.asarray(field, dtype).reshape(shape)) for field, dtype in fields))

    threshold_intervals, value_intervals, optimism = (
        zip(*results_of_curves, strict=True) if results_of_curves else ((), (), ())
    )
    threshold_intervals = tuple(_reversed(limits) if lower_is_positive else limits for limits in threshold_intervals)
    optimisms = samples.finish(np.asarray(optimism, float).reshape(shape))
    num_rows: Any = None if unlabelled is None else best.rows_of_constraints
    return BestThreshold(
        best.threshold, best.value, stacked(threshold_intervals), stacked(value_intervals), optimisms, num_rows
    )


_DTYPES = (float, float, float, float, np.int64, np.int64)


class _Replicates(NamedTuple):
    """The chosen threshold of each replicate that has a best threshold."""

    thresholds: Array
    values: Array  # of the measure at the threshold, on the replicate
    others: Array  # of the measure at the threshold, on the samples themselves
    undefined: int


class _Row(NamedTuple):
    """The samples of a curve that may be drawn, in descending order of their scores."""

    scores: Array  # (N,)
    positive: Array  # (N,)
    weight: Array | None  # (N,), if there are weights
    unit: Array  # (N,): the cluster of each sample, or its own number
    units: int
    cost: Array | None  # (N,): of an error, if there are costs

    @classmethod
    def of(cls, rows: SampleRows, k: int, clusters: Array | None, costs: Array | None) -> _Row:
        """The samples of row ``k``."""
        scores, positive = rows.scores[k], rows.positive[k]
        order = np.lexsort((~positive, -scores))
        weight = None if rows.weight is None else rows.weight[k]
        if weight is not None:
            order = order[weight[order] > 0]
        units = np.arange(order.size) if clusters is None else np.unique(clusters[order], return_inverse=True)[1]
        weights = (
            None if weight is None or (weight[order] == 1).all() else weight[order]
        )  # weights of 0 are left out above
        cost = None if costs is None else costs[k][order]
        return cls(scores[order], positive[order], weights, units, int(units.max()) + 1 if units.size else 0, cost)

    def drawn(self, times: Array, weight: Array | None) -> Array:
        """How often each sample is drawn, times its weight, (R, N); ``times`` are the draws of each cluster (R, K)."""
        drawn = times[:, self.unit]
        return drawn if weight is None else drawn * weight

    def times(self, number: int, rng: np.random.Generator, *, within_classes: bool) -> Array:
        """How often each cluster, or sample, is drawn in each replicate, (R, K)."""
        groups = [np.ones(self.units, bool)]
        if within_classes:
            groups = [np.zeros(self.units, bool)]
            groups[0][self.unit[self.positive]] = True
            groups.append(~groups[0])
        counts = np.zeros((number, self.units), np.int64)
        for members in map(np.flatnonzero, groups):
            for times in counts:  # drawing multinomial counts would take five times as long
                times[members] = np.bincount(rng.integers(0, members.size, members.size), minlength=members.size)
        return counts

    def segments(self, *, ends_positive: bool) -> tuple[Array, Array]:
        """The first sample of each segment between two thresholds, (T,), and the thresholds, (T + 1,).

        The first threshold is infinite. A segment has a single score. With ``ends_positive``, a segment after the
        highest scores ends with the score of a positive sample.
        """
        is_first = np.ones(self.scores.size, bool)
        is_first[1:] = self.scores[1:] != self.scores[:-1]
        starts = np.flatnonzero(is_first)
        if ends_positive:
            has_positive = np.logical_or.reduceat(self.positive, starts)
            has_positive[:HIGHEST] = True
            starts = starts[np.concatenate([[True], has_positive[:-1]])]
        ends = np.append(starts[1:], self.scores.size)[: starts.size] - 1
        return starts, np.concatenate([[math.inf], self.scores[ends]])

    @property
    def is_plain(self) -> bool:
        """Whether samples are drawn independently, and have neither weights nor costs."""
        return self.weight is None and self.cost is None and self.units == self.scores.size

    def fewest(self) -> int:
        """The number of clusters, or samples, of the smaller class."""
        return min(np.unique(self.unit[of_class]).size for of_class in (self.positive, ~self.positive))


def _replicates(  # noqa: PLR0917 (a curve)
    row: _Row,
    goal: Goal,
    unlabelled: Unlabelled | None,
    num: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> _Replicates:
    """The chosen thresholds of replicates: as many samples or clusters as there are, drawn with replacement."""
    sizes = [int(np.count_nonzero(row.positive == of_class)) for of_class in (False, True)]
    from_cells = (
        row.is_plain and unlabelled is None and min(sizes) >= FEW_SAMPLES and is_best_at_positives(goal, *sizes)
    )
    starts, limits = row.segments(ends_positive=from_cells)
    within_classes = goal.shares is not None and row.units == row.scores.size
    has_rows = goal.needs_rows and (row.weight is not None or unlabelled is not None)

    def counted(draws: Array) -> Array:
        """The matrices at all thresholds, (R, T, 2, 2), from the draws or weights of the samples (R, N)."""
        if not starts.size:
            return matrices_at([np.zeros((len(draws), 0), draws.dtype)] * 2)
        return matrices_at(
            [np.add.reduceat(draws * of_class, starts, axis=-1) for of_class in (~row.positive, row.positive)]
        )

    def measured(times: Array) -> list[Array]:
        """The measures at all thresholds, from the draws of each cluster (R, K)."""
        rows = counted(row.drawn(times, None)) if has_rows else None
        rows = rows if rows is None or unlabelled is None else unlabelled.added(rows, limits)
        costs = None if row.cost is None else counted(row.drawn(times, row.cost))
        return goal.measured(counted(row.drawn(times, row.weight)), rows, costs, **options)

    cells = [np.add.reduceat(row.positive == of_class, starts) for of_class in (False, True)] if from_cells else []

    def values_of(number: int) -> list[Array]:
        """The measures at all thresholds of new replicates."""
        if not from_cells:
            return measured(row.times(number, rng, within_classes=within_classes))
        return goal.measured(matrices_at(drawn_cells(cells, number, rng, within_classes=within_classes)), **options)

    values_of_samples = measured(np.ones((1, row.units), int))[0][0]
    chunk = max(1, MATRICS_AT_ONCE // limits.size)
    chosen = []
    for start in steps(range(0, num, chunk)):
        number = min(chunk, num - start)
        values = values_of(number)
        order = goal.ranked(values, NUMPY)
        best_index = order.argmax(axis=-1)
        index = np.arange(number)
        has_best = order[index, best_index] > -math.inf
        chosen.append(
            np.stack([limits[best_index], values[0][index, best_index], values_of_samples[best_index]])[:, has_best]
        )
    thresholds, values, others = np.concatenate(chosen, axis=-1)
    return _Replicates(thresholds, values, others, num - thresholds.size)


def _intervals(  # noqa: PLR0917 (the results of a curve)
    replicates: _Replicates, threshold: float, value: float, side: int, level: float, status: int
) -> tuple[Interval, Interval, float]:
    """The interval of the threshold, the interval of the value, and the optimism.

    ``side`` is -1 if lower values are better.
    """
    quantiles = [(1 - level) / 2, (1 + level) / 2]
    if not replicates.values.size or math.isnan(value):
        undefined = Interval(threshold, math.nan, math.nan, math.nan, replicates.undefined, IntervalStatus.UNDEFINED)
        return undefined, undefined._replace(estimate=value), math.nan
    # The optimism of a replicate is unknown if the measure is undefined or infinite on the samples at its threshold.
    gaps = replicates.values - replicates.others
    gaps = gaps[np.isfinite(gaps)]
    optimism = float(gaps.mean()) if gaps.size else math.nan
    low, high = np.quantile(replicates.thresholds, quantiles, method="inverted_cdf")  # thresholds may be infinite
    spread = float(np.std(replicates.thresholds)) if np.isfinite(replicates.thresholds).all() else math.nan
    low, high = min(low, threshold), max(high, threshold)
    threshold_interval = Interval(threshold, low, high, spread, replicates.undefined, status)
    if math.isnan(optimism):
        undefined = Interval(value, math.nan, math.nan, math.nan, replicates.undefined, IntervalStatus.NO_VARIATION)
        return threshold_interval, undefined, optimism
    # Replicates are better than the samples by the optimism, and the samples are better than new samples by the same.
    low, high = np.quantile(replicates.values, quantiles) - 2 * optimism
    below, above = (BELOW, ABOVE) if side > 0 else (ABOVE, BELOW)
    low, high = low - below * max(side * optimism, 0), high + above * max(side * optimism, 0)
    estimate = value - optimism
    low, high = min(low, estimate), max(high, estimate)  # with few replicates or values, the estimate may be outside
    value_interval = Interval(estimate, low, high, float(np.std(replicates.values)), replicates.undefined, status)
    return threshold_interval, value_interval, optimism


def _reversed(limits: Interval) -> Interval:
    """The interval of a threshold whose scores have the other sign."""
    return limits._replace(estimate=-limits.estimate, low=-limits.high, high=-limits.low)


def _status(row: _Row, replicates: _Replicates) -> int:
    reasons = {
        IntervalStatus.FEW_SAMPLES: row.fewest() < FEW_SAMPLES,
        IntervalStatus.UNDEFINED_REPLICATES: replicates.undefined
        > MANY_UNDEFINED * (replicates.undefined + replicates.values.size),
    }
    return int(graver(np.int64(0), reasons, np))
