"""decision_curve(): net benefit of a model at thresholds of probability, compared with treating all or none."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, on_host
from matrics._arrays.draws import generator_of
from matrics._arrays.sizes import check_draws
from matrics._engine.results import NamedResult, columns_of, frame_of, short_repr
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._ranking.inference.compare import named_scores
from matrics._ranking.inference.measure_estimates import DEFAULT_NUM, FEW_EFFECTIVE, FEW_UNITS, MANY_UNDEFINED
from matrics._ranking.inference.replicates import drawn_times
from matrics._ranking.inference.samples import Samples, SampleScores
from matrics._ranking.inputs import is_number
from matrics._uncertainty.limits import percentile_limits, spread
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver
from matrics.typing import ArrayLike

__all__ = ["DecisionCurve", "decision_curve"]

# The number of cells of replicates in memory at a time.
CELLS_AT_ONCE = 2**21


class DecisionCurve(NamedResult):
    """The result of :func:`matrics.ranking.decision_curve`: the decision curves of models.

    Parameters
    ----------
    thresholds : array, shape (T,)
        Samples with at least this probability are treated.
    net_benefit : Interval
        The net benefit of the model: arrays (*B, T).
    treat_all : Interval
        The net benefit of treating every sample: arrays (*B, T). The net benefit of treating none is 0.
    standardized : Interval
        The net benefit of the model divided by the prevalence, which is its maximum: arrays (*B, T).
    interventions_avoided : Interval
        The reduction of treatments per 100 samples, without missing more positive samples: arrays (*B, T).
    prevalence : array, shape (*B,)
        The share of positive samples.
    names : tuple of str, length M, or None
        The names of the models, if the probabilities are a mapping.
    """

    thresholds: Array
    net_benefit: Interval
    treat_all: Interval
    standardized: Interval
    interventions_avoided: Interval
    prevalence: Array
    names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return short_repr(self) if self.names is not None else short_repr(self).replace(", names=None)", ")")

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each threshold of each model."""
        shape = tuple(self.net_benefit.estimate.shape)
        columns: dict[str, Any] = {"threshold": np.broadcast_to(np.asarray(self.thresholds), shape)}
        if self.names is not None:
            columns = {"model": np.broadcast_to(np.asarray(self.names, object)[:, None], shape), **columns}
        for name in ("net_benefit", "treat_all", "standardized", "interventions_avoided"):
            columns[name] = getattr(self, name)
        return frame_of(columns, indexed=len(shape) > 1 and self.names is None)


def decision_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    thresholds: ArrayLike | None = None,
    *,
    prevalence: float | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    ignore_index: Any = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = None,
) -> DecisionCurve:
    r"""Net benefit of a model at thresholds of probability, compared with treating all samples or none, with limits.

    To treat at a probability of t or more means that a missed positive sample is (1 - t) / t times as bad as a false
    positive. The net benefit is the share of true positives minus the weighted share of false positives:
    tp / m - fp / m · t / (1 - t).

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, or any labels with ``labels=`` or ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N), or mapping of str to array_like, shape (N,)
        Predicted probabilities of the positive class, between 0 and 1; of several models on the same samples (M, N), or
        a mapping with their names, or a data frame with a column for each.
    thresholds : array_like, shape (T,), optional
        From 0 to below 1, in any order; 0.01, 0.02, …, 0.99 if left out.
    prevalence : float, optional
        The share of positive samples where the model will be used, if it differs from the samples, as in a case-control
        study.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_prob`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: whole clusters are resampled.
    level : float, default 0.95
        The coverage of the limits, at each threshold by itself.
    num : int, optional
        Number of replicates; 2,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed; new draws every time if left out.

    Returns
    -------
    DecisionCurve
        ``net_benefit``, ``treat_all``, ``standardized`` and ``interventions_avoided``, each an
        :class:`matrics.Interval` of arrays (*B, T), with ``thresholds`` (T,) and ``prevalence`` (*B,). Limits are NaN
        where nothing varies, such as at a threshold above all probabilities. A NaN probability makes its batch element
        NaN, with status 7. The status is 1 where a class has fewer than 20 samples, and at thresholds whose limits
        depend on fewer than 5 true positives, false positives, missed samples or true negatives. At a high threshold
        the weight of each false positive is the odds of the threshold. In simulations, 95 % limits with status 1
        contained the true net benefit in 0 to 93 % of data sets.

    Raises
    ------
    ValueError
        Probabilities or the prevalence are not between 0 and 1, a threshold is not from 0 to below 1, or the
        probabilities are of several classes: ``positive=`` selects a class.
    TypeError
        Arrays are traced; or as :func:`matrics.ranking.roc_auc`.

    Notes
    -----
    Limits are quantiles of replicates, which are drawn from all samples or, at a given prevalence, within each class. A
    replicate is a draw of the counts between thresholds, so its time does not depend on the number of samples.

    A net benefit is only comparable at the same threshold. The best threshold is not where the curve is highest: the
    costs of errors determine the threshold.

    References
    ----------
    Vickers and Elkin 2006, "Decision curve analysis: a novel method for evaluating prediction models".

    Examples
    --------
    >>> import matrics, numpy
    >>> random = numpy.random.default_rng(0)
    >>> y_prob = random.beta(1, 3, 2000)
    >>> y_true = (random.random(2000) < y_prob).astype(int)
    >>> curve = matrics.ranking.decision_curve(y_true, y_prob, [0.1, 0.3], rng=0)
    >>> curve.net_benefit.estimate.round(3), curve.treat_all.estimate.round(3)
    (array([0.193, 0.098]), array([ 0.178, -0.057]))
    >>> curve.interventions_avoided.estimate.round(1)
    array([13.6, 36.1])
    """
    level, num = check_level(level), DEFAULT_NUM if num is None else check_draws(num)
    if prevalence is not None and not (is_number(prevalence) and 0 < prevalence < 1):
        raise ValueError(f"prevalence: expected a number between 0 and 1, got {quoted(prevalence)}")
    names, scores = named_scores(y_prob, "y_prob")
    if names is not None and np.ndim(scores) != 2:
        raise ValueError(
            f"y_prob: expected the probabilities (N,) of each model in a mapping, got shape {tuple(scores.shape[1:])}; "
            "pass batches as arrays"
        )
    samples = Samples.of(
        *(y_true, scores, positive, ignore_index, clusters, "decision_curve"), labels=labels, name="y_prob"
    )
    if samples.num_classes is not None:
        raise ValueError(
            "y_prob: expected the probabilities of a single class, got several; choose a class by positive="
        )
    if not samples.are_probabilities:
        raise ValueError(
            "y_prob: expected probabilities, from 0 to 1, got others; convert logits with the sigmoid first"
        )
    limits = _thresholds(thresholds)
    generator = generator_of(rng)
    # All models of the same samples use the same draws, so that equal models have equal limits.
    shared = len(samples.shape) == 1 and np.ndim(on_host(y_true)) == 1
    seed = int(generator.integers(2**63)) if shared else None
    # The comparison p >= threshold rounds the threshold to the type of p.
    compared = _in_type_of_scores(limits, scores)
    results = [
        _element_intervals(
            element,
            limits,
            compared,
            prevalence,
            level,
            num,
            generator if seed is None else np.random.default_rng(seed),
        )
        for element in samples.elements()
    ]
    intervals = [[row[k] for row in results] for k in range(len(MEASURES))]

    def stacked(measure: list[Interval]) -> Interval:
        return Interval(*(samples.finish_rows(list(field), limits.size) for field in columns_of(measure, Interval)))

    benefit, treat_all, standardized, avoided = map(stacked, intervals)
    shares = samples.finish_rows([np.asarray(row[-1]) for row in results], None)
    return DecisionCurve(samples.read.finish(limits), benefit, treat_all, standardized, avoided, shares, names)


MEASURES = ("net_benefit", "treat_all", "standardized", "interventions_avoided")


def _thresholds(thresholds: Any) -> Array:
    if thresholds is None:
        return np.arange(1, 100) / 100
    values = np.asarray(on_host(thresholds, "thresholds"))
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"thresholds: expected numbers of shape (T,), got shape {values.shape} and dtype {values.dtype}"
        )
    values = values.astype(np.float64)
    is_bad = ~((values >= 0) & (values < 1))
    if is_bad.any():
        raise ValueError(f"thresholds: expected probabilities from 0 to below 1, got {values[is_bad][0]:g}")
    return values


def _in_type_of_scores(thresholds: Array, scores: Any) -> Array:
    """Thresholds rounded to the type of scores of less than double precision, in double precision."""
    backend, (array,) = as_arrays(scores=scores)
    if not backend.is_float(array):
        return thresholds
    rounded = backend.to_numpy(backend.xp.astype(backend.xp.asarray(thresholds), array.dtype))
    return np.asarray(rounded, np.float64)


def _element_intervals(  # noqa: PLR0917 (the parameters of the public function)
    samples: SampleScores,
    thresholds: Array,
    compared: Array,
    prevalence: float | None,
    level: float,
    num: int,
    rng: np.random.Generator,
) -> tuple[Any, ...]:
    """The intervals of a batch element, and its prevalence."""
    order = np.argsort(thresholds, kind="stable")
    # A sample is treated at the thresholds up to its probability.
    num_reached = np.searchsorted(compared[order], samples.scores[0], side="right")
    size = thresholds.size + 1
    place = num_reached + size * samples.positive[0]
    counts = np.bincount(place, minlength=2 * size).reshape(1, 2, size).astype(np.float64)
    inverse_order = np.argsort(order, kind="stable")

    def measured(cells: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return _measures(cells, thresholds[order], prevalence)[..., inverse_order]

    values = measured(counts)[:, 0]
    step = max(1, CELLS_AT_ONCE // max(2 * size, samples.number if samples.units is not None else 0))
    drawn = [
        measured(_replicates(samples, counts[0], place, min(step, num - start), rng, within=prevalence is not None))
        for start in steps(range(0, num, step))
    ]
    replicated = np.moveaxis(np.concatenate(drawn, axis=1), 1, -1)  # (4, T, R)
    with NUMPY.quiet():  # there may be no defined replicate
        low, high = percentile_limits(replicated, level, NUMPY)
        error, undefined = spread(replicated, NUMPY)
    few = min(samples.class_sizes) < FEW_UNITS
    changes = measured(counts + _added_samples(size)) - values[:, None]
    number, units = (x[:, inverse_order] for x in _outcome_counts(samples, num_reached, size))
    few = few | _are_few(changes, number, units, error)
    varies, spoiled = error > 1e-12, bool(samples.spoiled[0])
    reasons = {
        IntervalStatus.FEW_SAMPLES: few,
        IntervalStatus.UNDEFINED_REPLICATES: undefined > MANY_UNDEFINED * num,
        IntervalStatus.NO_VARIATION: ~varies,
        IntervalStatus.UNDEFINED: np.isnan(values),
        IntervalStatus.INVALID: spoiled,
    }
    status = graver(np.zeros(values.shape, np.int64), reasons, np)
    if spoiled:
        values = np.full(values.shape, math.nan)
    known = varies & ~np.isnan(values)
    low, high = np.minimum(low, values), np.maximum(high, values)
    low, high = (np.where(known, limit, math.nan) for limit in (low, high))
    error = np.where(np.isnan(values), math.nan, error)
    total = counts.sum()
    share = prevalence if prevalence is not None else counts[0, 1].sum() / total if total else math.nan
    rows = (Interval(*row) for row in zip(values, low, high, error, undefined, status, strict=True))
    return (*rows, math.nan if spoiled else share)


def _added_samples(size: int) -> Array:
    """Counts of an added sample of each outcome (4, 2, T + 1): untreated or treated at all thresholds, by class."""
    counts = np.zeros((4, 2, size))
    counts[[0, 1, 2, 3], [0, 0, 1, 1], [0, -1, 0, -1]] = 1
    return counts


def _outcome_counts(samples: SampleScores, reached: Array, size: int) -> tuple[Array, Array]:
    """The number of samples with each outcome at ascending thresholds (4, T), and the number of their clusters."""

    def counts_of(untreated: Array, treated: Array) -> list[Array]:
        """The number of samples that are untreated, and the number that are treated, at each threshold."""
        up_to, below = (np.cumsum(np.bincount(x, minlength=size))[:-1] for x in (untreated, treated))
        return [up_to, treated.size - below]

    number, units = [], []
    for members in (~samples.positive[0], samples.positive[0]):
        num_reached_of_class = reached[members]
        number += counts_of(num_reached_of_class, num_reached_of_class)
        if samples.units is not None:
            least, most = np.full(samples.number, size), np.full(samples.number, -1)
            np.minimum.at(least, samples.units[members], num_reached_of_class)
            np.maximum.at(most, samples.units[members], num_reached_of_class)
            has_class = most >= 0
            units += counts_of(least[has_class], most[has_class])
    return np.asarray(number), np.asarray(units or number)


def _are_few(moved: Array, number: Array, units: Array, error: Array) -> Array:
    """Whether limits (4, T) depend on an outcome of fewer than five samples or clusters.

    Few samples may be above a high threshold, and the weight of each is the odds of the threshold. Few missed samples
    may be below a low threshold. ``moved`` (4, 4, T) is the change of each measure by an added sample of each outcome.
    """
    change_of_unit = moved * np.maximum(number, 1) / np.maximum(units, 1)
    with np.errstate(invalid="ignore"):
        return np.any((units < FEW_EFFECTIVE) & (FEW_EFFECTIVE * change_of_unit**2 > error[:, None] ** 2), axis=1)


def _measures(cells: Array, thresholds: Array, prevalence: float | None) -> Array:
    """The four measures at ascending thresholds (4, R, T), from counts of both classes between them (R, 2, T + 1)."""
    totals = cells.sum(axis=-1)
    above = np.cumsum(cells[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    odds = thresholds / (1 - thresholds)
    number = totals.sum(axis=-1)[:, None]
    if prevalence is None:
        true_positives, false_positives, share = above[:, 1] / number, above[:, 0] / number, totals[:, 1:] / number
        share_of_negatives = totals[:, :1] / number
    else:
        true_positives = prevalence * above[:, 1] / totals[:, 1:]
        false_positives = (1 - prevalence) * above[:, 0] / totals[:, :1]
        share, share_of_negatives = np.full(number.shape, prevalence), np.full(number.shape, 1 - prevalence)
    benefit = true_positives - odds * false_positives
    treat_all = share - odds * share_of_negatives
    avoided = np.where(odds > 0, 100 * (benefit - treat_all) / np.where(odds > 0, odds, 1), math.nan)
    standardized = np.where(share > 0, benefit / np.where(share > 0, share, 1), math.nan)
    return np.stack([benefit, treat_all, standardized, avoided])


def _replicates(
    samples: SampleScores, counts: Array, place: Array, num: int, rng: np.random.Generator, *, within: bool
) -> Array:
    """Counts between thresholds (R, 2, T + 1) of replicates of samples or clusters; ``within`` draws by class."""
    if samples.units is not None:
        counts_of_units = np.zeros((samples.number, counts.size))
        np.add.at(counts_of_units, (samples.units, place), 1)
        return (drawn_times(samples.number, num, rng).astype(np.float64) @ counts_of_units).reshape(num, *counts.shape)
    groups = counts if within else counts.reshape(1, -1)
    drawn = [
        rng.multinomial(int(group.sum()), group / max(group.sum(), 1), size=num)
        if group.sum()
        else np.zeros((num, group.size))
        for group in groups
    ]
    return np.stack(drawn, axis=1).reshape(num, *counts.shape).astype(np.float64)
