"""cost_saved(): how much less the errors of a rule cost than those of the present rule, with limits."""

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

FEW_SAMPLES = 20  # whose costs differ; a normal distribution needs more of very unequal costs


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
        or a number for each, such as the amount of a payment. Both are needed.
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
        The sum over all N samples, with the limits of N samples that are drawn as these were, and the standard error.
        Above 0 the new rule costs less.

    Raises
    ------
    TypeError, ValueError
        Labels or costs do not fit, or there are fewer than two samples or clusters.

    Notes
    -----
    The estimate is N times the mean of the differences of single samples, which are 0 where both rules agree; limits
    are those of Student's t distribution of the mean of paired differences, with clusters of the mean of their sums. If
    the threshold of the new rule was chosen on the same samples, it saves less on others: use samples that were not
    used for the choice.

    Examples
    --------
    >>> import matrics
    >>> y_true, present, new = [0, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0]
    >>> amount = [20, 80, 300, 10, 40, 120]
    >>> matrics.ranking.cost_saved(y_true, present, new, cost_false_negative=amount, cost_false_positive=5.0)
    Interval(estimate=305, low=-463.7, high=1074, standard_error=299, undefined=0, status=1)
    """
    level = check_level(level)
    given = {"y_true": y_true, "y_a": y_a, "y_b": y_b}
    (samples, is_positive), (_, of_a), (_, of_b) = (_read(name, labels, positive) for name, labels in given.items())
    if is_positive.ndim != 1 or not is_positive.shape == of_a.shape == of_b.shape:
        shapes = ", ".join(str(part.shape) for part in (is_positive, of_a, of_b))
        raise ValueError(f"y_true, y_a, y_b: expected the labels of the same samples, (N,), got {shapes}")
    costs = read_costs(samples, cost_false_negative, cost_false_positive)
    if costs is None:
        raise ArgumentError("cost_false_negative", "expected a number, or an array of them, got None")
    each = np.asarray(costs.weight) * ((of_a != is_positive).astype(float) - (of_b != is_positive))
    sums = each if clusters is None else np.bincount(cluster_codes(clusters, each.size), each)
    number = sums.size
    if number < 2:
        raise ValueError(f"y_true: expected at least two samples, got {number}")
    error = math.sqrt(number) * float(np.std(sums, ddof=1))
    saved, reach = float(sums.sum()), student_quantile(level, number - 1) * error
    reasons = {
        IntervalStatus.FEW_SAMPLES: np.count_nonzero(sums) < FEW_SAMPLES,
        IntervalStatus.NO_VARIATION: error == 0,
    }
    status = int(graver(np.int64(0), reasons, np))
    low, high = (math.nan, math.nan) if error == 0 else (saved - reach, saved + reach)
    return Interval(saved, low, high, error, 0, status)


def _read(name: str, labels: Any, positive: Hashable) -> tuple[ScoredSamples, NumPyArray]:
    """Labels, read as true labels of scores are, and which are positive."""
    try:
        samples = read(labels, np.zeros(len(labels)), positive=positive)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("y_true", name)) from error
    is_positive: NumPyArray = np.asarray(on_host(samples.y_true, name)) == 1
    return samples, is_positive
