"""Verdicts: comparisons of models by a measure, on the same or on different samples; and values with limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._catalogue.written import written
from matrics._uncertainty.compare import compare
from matrics._uncertainty.formulas import formula_of
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.models import compare_models, intervals_are_of_replicates
from matrics._uncertainty.results import Interval, ModelComparison
from matrics._wording import between, with_limits

__all__ = ["Limited", "ModelVerdict", "best_of", "judged_alone", "judged_together", "ranked"]


# Measures of scores whose lower values are better.
LOSSES = ("log_loss", "brier_score")


@dataclass(frozen=True)
class ModelVerdict:
    """A measure of all models: estimates with limits, differences from the best model, and models tied with it.

    Parameters
    ----------
    label : str
        The measure, with the class if each class has a value.
    estimate, low, high : array, shape (M,)
        The values of the models and their limits.
    difference, difference_low, difference_high : array, shape (M,)
        How much better the best model is than each model, and the limits of this difference.
    best : int or None
        The model with the best value; None if the measure is undefined for all.
    tied : array of bool, shape (M,)
        Which models are not significantly different from the best.
    probability_best : array, shape (M,), or None
        The probability that each model is the best; only for models on the same samples.
    higher_is_better : bool
        Whether higher values are better.
    status : array of int, shape (M,)
        Codes of :class:`matrics.IntervalStatus`.
    method : str
        The method of the limits of the compared models: ``"replicates"`` or a formula; empty without limits.
    p_value : array, shape (M,), or None
        The p-values of the differences from the best model; only for measures of scores.
    """

    label: str
    estimate: Array
    low: Array
    high: Array
    difference: Array
    difference_low: Array
    difference_high: Array
    best: int | None
    tied: Array
    probability_best: Array | None
    higher_is_better: bool
    status: Array
    method: str = ""
    p_value: Array | None = None

    @property
    def title(self) -> str:
        """The label as a title: ``Cohen's kappa``."""
        return written(self.label)


def judged_together(
    true: Array,
    predictions: Array,
    samples: Array,
    metrics: Mapping[str, Metric],
    classes: Sequence[str],
    **options: Any,
) -> list[ModelVerdict]:
    """Verdicts on models that predicted the same samples; several rows of a sample are a cluster.

    ``options`` are those of :func:`matrics.compare_models`.
    """
    repeated = len(np.unique(samples)) < len(true)
    compared = compare_models(
        true,
        predictions,
        list(metrics.values()),
        num_classes=len(classes),
        clusters=samples if repeated else None,
        workers=-1,
        **options,
    )
    weights = options.get("sample_weight")
    weighted = weights is not None and bool(np.ptp(weights) > 0)
    verdicts = []
    for key, metric in metrics.items():
        comparison = compared[str(metric)]
        side = 1 if metric.higher_is_better else -1
        scheme = "clusters" if repeated else "multinomial"
        of_replicates = intervals_are_of_replicates(metric, weighted=weighted, clustered=repeated)
        method = "replicates" if of_replicates else formula_of(Measure.of(metric), "auto", scheme)
        verdicts += [
            _verdict(label, comparison, side > 0, k=k, method=method) for k, label in _values(key, metric, classes)
        ]
    return verdicts


def ranked(compared: Mapping[str, ModelComparison], *, turned: bool = True) -> list[ModelVerdict]:
    """Verdicts on models that scored the same samples, by measures of their scores.

    Without ``turned``, differences of losses are negative if the best model is better.
    """
    return [_verdict(name, comparison, name not in LOSSES, turned=turned) for name, comparison in compared.items()]


def _verdict(
    label: str,
    compared: ModelComparison,
    higher_is_better: bool,  # noqa: FBT001 (callers pass an expression)
    *,
    k: int | None = None,
    method: str = "",
    turned: bool = True,
) -> ModelVerdict:
    """The verdict by a measure; ``k`` is the class if each class has a value."""
    side = 1 if higher_is_better else -1
    estimate, low, high = (_of_class(part, k) for part in compared.intervals[:3])
    best = best_of(estimate, side)
    apart = [_of_class(part, k)[best or 0] for part in compared.differences[:3]]
    gap, least, most = _towards(apart, side if turned else 1)
    return ModelVerdict(
        label=label,
        estimate=estimate,
        low=low,
        high=high,
        difference=gap,
        difference_low=least,
        difference_high=most,
        best=best,
        tied=_of_class(compared.tied, k),
        probability_best=_of_class(compared.probability_best, k) if compared.p_value is None else None,
        higher_is_better=higher_is_better,
        status=_of_class(compared.intervals.status, k),
        method=method,
        p_value=None if compared.p_value is None else compared.p_value[best or 0],
    )


def judged_alone(
    stack: Array,
    metrics: Mapping[str, Metric],
    classes: Sequence[str],
    *,
    level: float,
    squared_weights: Array | None = None,
    **options: Any,
) -> list[ModelVerdict]:
    """Verdicts on matrices (M, n, n) of independent samples, with a joint level for all pairs (Bonferroni).

    ``squared_weights`` and ``options`` are those of :func:`matrics.interval`.
    """
    number, squares = len(stack), squared_weights
    intervals = interval(stack, list(metrics.values()), level=level, squared_weights=squares, **options)
    shared = 1 - (1 - level) / max(number * (number - 1) / 2, 1)
    verdicts = []
    for key, metric in metrics.items():
        limits, side = intervals[str(metric)], 1 if metric.higher_is_better else -1
        method = formula_of(Measure.of(metric), "auto", "multinomial")
        for k, label in _values(key, metric, classes):
            estimate, low, high = (_of_class(part, k) for part in limits[:3])
            best = best_of(estimate, side)
            of_both = None if squares is None else (squares[best or 0], squares)
            against = compare(stack[best or 0], stack, metric, level=shared, squared_weights=of_both, **options)
            apart = against[str(metric)]
            gap, worst, most = _towards([_of_class(part, k) for part in apart[:3]], side)
            itself = np.arange(number) == best
            worst, most = np.where(itself, np.nan, worst), np.where(itself, np.nan, most)
            tied = ~(worst > 0) & ~np.isnan(estimate)
            status = _of_class(limits.status, k)
            verdicts.append(
                ModelVerdict(label, estimate, low, high, gap, worst, most, best, tied, None, side > 0, status, method)
            )
    return verdicts


def _values(key: str, metric: Metric, classes: Sequence[str]) -> list[tuple[int | None, str]]:
    """The class (None for a measure without classes) and the name of each value of a measure."""
    labels = [title_of(label) for label in named_columns(key, metric, classes)]
    return list(enumerate(labels)) if metric.is_classwise else [(None, labels[0])]


def _of_class(values: Array, k: int | None) -> Array:
    return values if k is None else values[..., k]


def best_of(estimate: Array, side: int) -> int | None:
    """The position of the highest value, or of the lowest with the side -1; None if all values are undefined."""
    if np.isnan(estimate).all():
        return None
    return int(np.argmax(np.where(np.isnan(estimate), -np.inf, side * estimate)))


def _towards(parts: list[Array], side: int) -> list[Array]:
    """A difference and its limits, positive if the best model is better."""
    gap, low, high = (side * part for part in parts)
    return [gap, low, high] if side > 0 else [gap, high, low]


@dataclass(frozen=True)
class Limited:
    """A value with its limits, and the code of :class:`matrics.IntervalStatus`."""

    value: float
    low: float
    high: float
    status: int = 0

    @classmethod
    def of(cls, interval: Interval, place: int | tuple[int, ...]) -> Limited:
        """The element of an interval of arrays at a position."""
        estimate, low, high = (float(part[place]) for part in interval[:3])
        return cls(estimate, low, high, int(interval.status[place]))

    @property
    def between(self) -> str:
        """The limits as text; empty without limits."""
        return "" if math.isnan(self.low) or math.isnan(self.high) else between(self.low, self.high, self.value)

    @property
    def text(self) -> str:
        """The value as text, with its limits in brackets."""
        return with_limits(self.value, self.low, self.high)[0] + (f" ({self.between})" if self.between else "")

    @property
    def is_rough(self) -> bool:
        """Whether there are limits that are unreliable, such as with few samples."""
        return self.status != 0 and bool(self.between)
