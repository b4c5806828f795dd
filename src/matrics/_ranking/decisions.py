"""decision_curve(): what a model is worth to those who decide at a threshold, beside treating all or none."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, on_host
from matrics._arrays.draws import generator_of
from matrics._arrays.sizes import check_draws
from matrics._engine.results import NamedResult, columns_of, frame_of, short_repr
from matrics._quoting import quoted
from matrics._ranking.inference.compare import named_scores
from matrics._ranking.inference.measured import DEFAULT_NUM, FEW_EFFECTIVE, FEW_UNITS, MANY_UNDEFINED
from matrics._ranking.inference.replicates import drawn_times
from matrics._ranking.inference.samples import Samples, SampleScores
from matrics._ranking.inputs import is_number
from matrics._uncertainty.limits import percentile_limits, spread
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver
from matrics.typing import ArrayLike

__all__ = ["DecisionCurve", "decision_curve"]

# Cells of replicates that are in memory at a time.
CELLS_AT_ONCE = 2**21


class DecisionCurve(NamedResult):
    """The decision curve of one or several models, as from :func:`matrics.ranking.decision_curve`.

    Parameters
    ----------
    thresholds : array, shape (T,)
        The probability from which on a sample is treated.
    net_benefit : Interval
        Of the model: arrays (*B, T).
    treat_all : Interval
        The net benefit of treating every sample: arrays (*B, T). That of treating none is 0.
    standardized : Interval
        The net benefit of the model divided by the prevalence, which is the largest there can be: arrays (*B, T).
    interventions_avoided : Interval
        How many fewer of 100 samples are treated than if all were, with no positive one missed in exchange: arrays
        (*B, T).
    prevalence : array, shape (*B,)
        The share of positive samples.
    names : tuple of str, length M, or None
        The names of the models, where probabilities were a mapping of names.
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
        """A data frame of pandas with a row for each threshold of each model."""
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
    r"""Net benefit of a model at thresholds of probability, beside treating all samples or none, with limits.

    Who treats at a probability of t finds a missed positive sample (1 - t) / t times as bad as a false alarm. In these
    units the net benefit is the share of true positives less what the false positives cost:
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
        The share of positive samples where the model will be used, if it is another than here, as in a case-control
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
        probabilities are of several classes: ``positive=`` picks one.
    TypeError
        Arrays are traced; or as :func:`matrics.ranking.roc_auc`.

    Notes
    -----
    Limits are quantiles of replicates: of the samples, or, at a given prevalence, of those of each class. A replicate
    is one draw of the counts between thresholds, whatever the number of samples.

    A net benefit is only comparable at the same threshold. The best threshold is not where the curve is highest: it is
    the one at which those who decide treat.

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
        raise ValueError("y_prob: expected the probabilities of one class; of several classes positive= picks one")
    if not samples.are_probabilities:
        raise ValueError("y_prob: expected probabilities, from 0 to 1, got others; of logits take the sigmoid first")
    limits = _thresholds(thresholds)
    generator = generator_of(rng)
    # Models of the same samples have the same draws, so that equal models have equal limits.
    shared = len(samples.shape) == 1 and np.ndim(on_host(y_true)) == 1
    seed = int(generator.integers(2**63)) if shared else None
    # As p >= threshold does, which rounds the threshold to the type of p.
    compared = _as_scores_are(limits, scores)
    found = [
        _of_element(
            one, limits, compared, prevalence, level, num, generator if seed is None else np.random.default_rng(seed)
        )
        for one in samples.elements()
    ]
    parts = [[row[k] for row in found] for k in range(len(MEASURES))]

    def finished(part: list[Interval]) -> Interval:
        return Interval(*(samples.finish_rows(list(field), limits.size) for field in columns_of(part, Interval)))

    benefit, of_all, standardized, avoided = map(finished, parts)
    shares = samples.finish_rows([np.asarray(row[-1]) for row in found], None)
    return DecisionCurve(samples.read.finish(limits), benefit, of_all, standardized, avoided, shares, names)


MEASURES = ("net_benefit", "treat_all", "standardized", "interventions_avoided")


def _thresholds(thresholds: Any) -> Array:
    if thresholds is None:
        return np.arange(1, 100) / 100
    found = np.asarray(on_host(thresholds, "thresholds"))
    if found.ndim != 1 or found.dtype.kind not in "iuf":
        raise ValueError(f"thresholds: expected numbers of shape (T,), got shape {found.shape} and dtype {found.dtype}")
    found = found.astype(np.float64)
    bad = ~((found >= 0) & (found < 1))
    if bad.any():
        raise ValueError(f"thresholds: expected probabilities from 0 to below 1, got {found[bad][0]:g}")
    return found


def _as_scores_are(thresholds: Array, scores: Any) -> Array:
    """Thresholds rounded to the type of scores of less than double precision, in double precision."""
    backend, (array,) = as_arrays(scores=scores)
    if not backend.is_float(array):
        return thresholds
    rounded = backend.to_numpy(backend.xp.astype(backend.xp.asarray(thresholds), array.dtype))
    return np.asarray(rounded, np.float64)


def _of_element(  # noqa: PLR0917 (as of the door)
    samples: SampleScores,
    thresholds: Array,
    compared: Array,
    prevalence: float | None,
    level: float,
    num: int,
    rng: np.random.Generator,
) -> tuple[Any, ...]:
    """The intervals of one set of samples, and its prevalence."""
    order = np.argsort(thresholds, kind="stable")
    # The number of thresholds up to each probability says at which of them a sample is treated.
    reached = np.searchsorted(compared[order], samples.scores[0], side="right")
    size = thresholds.size + 1
    place = reached + size * samples.positive[0]
    counts = np.bincount(place, minlength=2 * size).reshape(1, 2, size).astype(np.float64)
    back = np.argsort(order, kind="stable")

    def measured(cells: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return _measures(cells, thresholds[order], prevalence)[..., back]

    own = measured(counts)[:, 0]
    step = max(1, CELLS_AT_ONCE // max(2 * size, samples.number if samples.units is not None else 0))
    drawn = [
        measured(_replicates(samples, counts[0], place, min(step, num - start), rng, within=prevalence is not None))
        for start in range(0, num, step)
    ]
    replicated = np.moveaxis(np.concatenate(drawn, axis=1), 1, -1)  # (4, T, R)
    with NUMPY.quiet():  # there may be no defined replicate
        low, high = percentile_limits(replicated, level, NUMPY)
        error, undefined = spread(replicated, NUMPY)
    few = min(samples.class_sizes) < FEW_UNITS
    moved = measured(counts + _one_more(size)) - own[:, None]
    number, units = (x[:, back] for x in _of_outcomes(samples, reached, size))
    few = few | _are_few(moved, number, units, error)
    varies, spoiled = error > 1e-12, bool(samples.spoiled[0])
    reasons = {
        IntervalStatus.FEW_SAMPLES: few,
        IntervalStatus.UNDEFINED_REPLICATES: undefined > MANY_UNDEFINED * num,
        IntervalStatus.NO_VARIATION: ~varies,
        IntervalStatus.UNDEFINED: np.isnan(own),
        IntervalStatus.INVALID: spoiled,
    }
    status = graver(np.zeros(own.shape, np.int64), reasons, np)
    if spoiled:
        own = np.full(own.shape, math.nan)
    known = varies & ~np.isnan(own)
    low, high = np.minimum(low, own), np.maximum(high, own)
    low, high = (np.where(known, limit, math.nan) for limit in (low, high))
    error = np.where(np.isnan(own), math.nan, error)
    total = counts.sum()
    share = prevalence if prevalence is not None else counts[0, 1].sum() / total if total else math.nan
    rows = (Interval(*row) for row in zip(own, low, high, error, undefined, status, strict=True))
    return (*rows, math.nan if spoiled else share)


def _one_more(size: int) -> Array:
    """One sample of each outcome at all thresholds (4, 2, T + 1): untreated or treated, of each class."""
    found = np.zeros((4, 2, size))
    found[[0, 1, 2, 3], [0, 0, 1, 1], [0, -1, 0, -1]] = 1
    return found


def _of_outcomes(samples: SampleScores, reached: Array, size: int) -> tuple[Array, Array]:
    """The samples that have each of these outcomes at ascending thresholds, and their clusters, if any; (4, T)."""

    def both(untreated: Array, treated: Array) -> list[Array]:
        """How many are up to each threshold by the first, and above it by the second."""
        up_to, below = (np.cumsum(np.bincount(x, minlength=size))[:-1] for x in (untreated, treated))
        return [up_to, treated.size - below]

    number, of_units = [], []
    for chosen in (~samples.positive[0], samples.positive[0]):
        own = reached[chosen]
        number += both(own, own)
        if samples.units is not None:
            least, most = np.full(samples.number, size), np.full(samples.number, -1)
            np.minimum.at(least, samples.units[chosen], own)
            np.maximum.at(most, samples.units[chosen], own)
            has_class = most >= 0
            of_units += both(least[has_class], most[has_class])
    return np.asarray(number), np.asarray(of_units or number)


def _are_few(moved: Array, number: Array, units: Array, error: Array) -> Array:
    """Which limits (4, T) depend on an outcome of few samples or clusters: five would have most of the variance.

    Above a high threshold there may be a handful of samples, each of which weighs as much as the odds; below a low
    threshold those that are missed. ``moved`` (4, 4, T) is what a sample more of each outcome changes.
    """
    of_unit = moved * np.maximum(number, 1) / np.maximum(units, 1)
    with np.errstate(invalid="ignore"):
        return np.any((units < FEW_EFFECTIVE) & (FEW_EFFECTIVE * of_unit**2 > error[:, None] ** 2), axis=1)


def _measures(cells: Array, thresholds: Array, prevalence: float | None) -> Array:
    """All four at ascending thresholds (4, R, T), from counts between them (R, 2, T + 1) of both classes."""
    totals = cells.sum(axis=-1)
    above = np.cumsum(cells[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    odds = thresholds / (1 - thresholds)
    number = totals.sum(axis=-1)[:, None]
    if prevalence is None:
        hits, alarms, share = above[:, 1] / number, above[:, 0] / number, totals[:, 1:] / number
        rest = totals[:, :1] / number
    else:
        hits = prevalence * above[:, 1] / totals[:, 1:]
        alarms = (1 - prevalence) * above[:, 0] / totals[:, :1]
        share, rest = np.full(number.shape, prevalence), np.full(number.shape, 1 - prevalence)
    benefit = hits - odds * alarms
    of_all = share - odds * rest
    avoided = np.where(odds > 0, 100 * (benefit - of_all) / np.where(odds > 0, odds, 1), math.nan)
    standardized = np.where(share > 0, benefit / np.where(share > 0, share, 1), math.nan)
    return np.stack([benefit, of_all, standardized, avoided])


def _replicates(
    samples: SampleScores, counts: Array, place: Array, num: int, rng: np.random.Generator, *, within: bool
) -> Array:
    """Counts between thresholds (R, 2, T + 1) of samples, or clusters, that are drawn anew; or within each class."""
    if samples.units is not None:
        of_unit = np.zeros((samples.number, counts.size))
        np.add.at(of_unit, (samples.units, place), 1)
        return (drawn_times(samples.number, num, rng).astype(np.float64) @ of_unit).reshape(num, *counts.shape)
    sides = counts if within else counts.reshape(1, -1)
    found = [
        rng.multinomial(int(side.sum()), side / max(side.sum(), 1), size=num)
        if side.sum()
        else np.zeros((num, side.size))
        for side in sides
    ]
    return np.stack(found, axis=1).reshape(num, *counts.shape).astype(np.float64)
