"""cost_saved(): how much less the errors of a new rule cost than the errors of the present rule, with limits."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from matrics._arrays import on_host
from matrics._errors import ArgumentError
from matrics._ranking.costs import read_costs
from matrics._ranking.inputs import ScoredSamples, read
from matrics._uncertainty.limits import student_quantile
from matrics._uncertainty.model_samples import cluster_codes
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["cost_saved"]

FEW_SAMPLES = 20  # with different costs of both rules; very unequal costs need more for a normal distribution


def cost_saved(
    y_true: ArrayLike,
    y_a: ArrayLike,
    y_b: ArrayLike,
    *,
    cost_false_negative: ArrayLike | float | None = None,
    cost_false_positive: ArrayLike | float | None = None,
    positive: Hashable = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """What a new rule saves: the cost of all errors of the present rule, less that of the errors of the new rule.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (N,)
        True labels: 0 and 1, or any labels with ``positive=``.
    y_a, y_b : array_like, shape (N,)
        The labels that the present rule, and the new rule, predict, such as ``y_score >= threshold``: 0 and 1, or any
        labels with ``positive=``.
    cost_false_negative, cost_false_positive : float or array_like, shape (N,), optional
        What it costs if a positive sample is predicted as negative, and the other way round; the same for all samples,
        or a number for each, such as the amount of a payment. Both costs are required.
    positive : str or int, optional
        The label of the class that ``y_b`` is of, among labels of any kind: it counts as 1, and all others as 0, as in
        the other labels. Without it labels are 0 and 1, and 1 is positive.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: samples of a cluster are not independent.
    level : float, default 0.95
        The coverage of the limits.

    Returns
    -------
    Interval
        The sum over all N samples, its limits for N new samples from the same population, and its standard error. A
        positive value means that the new rule costs less.

    Raises
    ------
    TypeError, ValueError
        Labels or costs do not fit, or there are fewer than two samples or clusters.

    Notes
    -----
    The estimate is N times the mean difference of the costs of a sample, which is 0 where both rules agree. The limits
    are those of Student's t distribution for the mean of paired differences; with ``clusters``, for the mean of their
    sums. If the threshold of the new rule was chosen on the same samples, it saves less on others: use samples that
    were not used for the choice.

    Examples
    --------
    >>> import matrics
    >>> y_true, present, new = [0, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0]
    >>> amount = [20, 80, 300, 10, 40, 120]
    >>> matrics.ranking.cost_saved(y_true, present, new, cost_false_negative=amount, cost_false_positive=5.0)
    Interval(estimate=305, low=-463.7, high=1074, standard_error=299, undefined=0, status=1)
    """
    level = check_level(level)
    labels = {"y_true": y_true, "y_a": y_a, "y_b": y_b}
    (samples, is_positive), (_, is_positive_a), (_, is_positive_b) = (
        _read(name, values, positive) for name, values in labels.items()
    )
    if is_positive.ndim != 1 or not is_positive.shape == is_positive_a.shape == is_positive_b.shape:
        shapes = ", ".join(str(part.shape) for part in (is_positive, is_positive_a, is_positive_b))
        raise ValueError(f"y_true, y_a, y_b: expected the labels of the same samples, (N,), got {shapes}")
    costs = read_costs(samples, cost_false_negative, cost_false_positive)
    if costs is None:
        raise ArgumentError("cost_false_negative", "expected a number, or an array of numbers, got None")
    savings = np.asarray(costs.weight) * ((is_positive_a != is_positive).astype(float) - (is_positive_b != is_positive))
    sums = savings if clusters is None else np.bincount(cluster_codes(clusters, savings.size), savings)
    number = sums.size
    if number < 2:
        raise ValueError(f"y_true: expected at least two samples, got {number}")
    error = math.sqrt(number) * float(np.std(sums, ddof=1))
    saved, half_width = float(sums.sum()), student_quantile(level, number - 1) * error
    reasons = {
        IntervalStatus.FEW_SAMPLES: np.count_nonzero(sums) < FEW_SAMPLES,
        IntervalStatus.NO_VARIATION: error == 0,
    }
    status = int(graver(np.int64(0), reasons, np))
    low, high = (math.nan, math.nan) if error == 0 else (saved - half_width, saved + half_width)
    return Interval(saved, low, high, error, 0, status)


def _read(name: str, labels: Any, positive: Hashable) -> tuple[ScoredSamples, NumPyArray]:
    """The checked labels, and whether each is positive."""
    try:
        samples = read(labels, np.zeros(len(labels)), positive=positive)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("y_true", name)) from error
    is_positive: NumPyArray = np.asarray(on_host(samples.y_true, name)) == 1
    return samples, is_positive
