"""The threshold at which a measure is best, under constraints."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import as_stack, evaluate, frames_to_the_user
from matrics._engine.results import frame_of, short_repr, to_dict
from matrics._quoting import cut, quoted_list
from matrics._ranking.constraints import Constraint, read_constraints
from matrics._ranking.inputs import ScoredSamples, read
from matrics._ranking.prevalence import at_shares, read_shares
from matrics._ranking.thresholds import all_thresholds
from matrics._scoring.score import resolve
from matrics._stacks.prevalence import PrevalenceLike
from matrics.typing import ArrayLike


class BestThreshold(NamedTuple):
    """The best threshold of a measure, and its value there; both of shape (*B,).

    Parameters
    ----------
    threshold : array
        Samples with a score of at least this are predicted as positive.
    value : array
        The measure at this threshold.
    """

    threshold: Array
    value: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)


class Goal(NamedTuple):
    """The goal of a search: the best value of a measure, under constraints."""

    name: str  # of the measure, as given
    metric: Metric
    constraints: list[Constraint]
    shares: Array | None = None  # of the classes, where measures are meant for another prevalence

    @property
    def sign(self) -> int:
        """The factor after which higher values are better."""
        return 1 if self.metric.higher_is_better else -1

    def measured(self, cm: Array, *, zero_division: float, workers: int) -> list[Array]:
        """Score a stack with the measure and the measures of the constraints."""
        cm = at_shares(cm, self.shares, as_stack(cm)[0])
        functions = [self.metric.bind(), *(constraint.metric.bind() for constraint in self.constraints)]
        return evaluate(cm, functions, zero_division=zero_division, invalid="nan", workers=workers)

    def ranked(self, values: list[Array], backend: Standard) -> Array:
        """Numbers, the largest for the best threshold; minus infinity for thresholds that are not allowed.

        The worst value, which may be infinite, is still a value.
        """
        xp = backend.xp
        allowed = ~xp.isnan(values[0]) & self.holds(values, backend)
        worst = float(xp.finfo(values[0].dtype).min)
        return xp.where(allowed, xp.clip(self.sign * values[0], worst, None), -math.inf)

    def holds(self, values: list[Array], backend: Standard) -> Array:
        """Which thresholds satisfy all constraints."""
        found = backend.xp.ones_like(values[0], dtype=backend.xp.bool)
        for constraint, of_constraint in zip(self.constraints, values[1:], strict=True):
            found = found & constraint.holds(of_constraint)
        return found


def read_goal(metric: Any, subject_to: Any, classes: Classes = TWO) -> Goal:
    """The measure to optimise; raises for anything but one measure with a better direction."""
    chosen = resolve(metric, classes)
    if len(chosen) != 1:
        raise ValueError(f"metric: expected one measure, got {len(chosen)}: {quoted_list(chosen)}")
    ((name, found),) = chosen.items()
    constraints = read_constraints(subject_to, classes)
    for one in (found, *(constraint.metric for constraint in constraints)):
        if one.is_classwise:
            raise ValueError(f"{one}: expected a measure with one value a matrix, got one with a value for each class")
    if found.higher_is_better is None:
        raise ValueError(
            f"metric: expected a measure for which higher or lower values are better, got {name}: "
            "use it as a constraint (subject_to=), and another measure as the goal"
        )
    return Goal(name, found, constraints)


def warn_of_sums(goal: Goal) -> None:
    """Warn of constraints on numbers of samples, which are sums of weights."""
    texts = [constraint.text for constraint in goal.constraints if not constraint.metric.scale_free]
    if texts:
        warnings.warn(
            f"subject_to: with sample_weight= {cut(' and '.join(texts))} is a bound of a sum of weights, and not of a "
            "number of samples; for that leave the weights out, or give a bound of a share, which has no unit",
            UserWarning,
            stacklevel=frames_to_the_user(),
        )


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: str | Metric,
    *,
    subject_to: str | Iterable[str] | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    prevalence: PrevalenceLike | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> BestThreshold:
    """The best threshold for a measure, of all thresholds between different scores.

    Parameters
    ----------
    y_true, y_score, labels, positive, sample_weight, ignore_index
        See :func:`matrics.ranking.confusion_matrix`.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of the positive class where the threshold is to be used, as in
        :func:`matrics.ranking.threshold_curve`: of the measure and of the constraints.
    metric : str or Metric
        The measure to maximise, or to minimise if lower values are better. A per-class measure
        without an average is the value of the positive class.
    subject_to : str or list of str, optional
        Constraints: a measure, one of ``>=``, ``<=``, ``>`` and ``<``, and a number, such as ``"recall>=0.9"``; several
        in a list, or with commas between them. A threshold at which such a measure is undefined does not satisfy the
        constraint. A bound on a number of samples, such as ``"predicted_positives<=500"``, applies to the samples that
        are not left out; with ``sample_weight`` it is a bound on the sum of their weights, and causes a warning.
    zero_division : float, default NaN
        The value of undefined measures. NaN is never the best.
    workers : int, default 1
        Number of threads on the host, as in :func:`matrics.score`.

    Returns
    -------
    BestThreshold
        ``threshold``, one of the scores, or infinity if it is best to predict no sample as positive; and ``value``.
        Both of shape (*B,), or (*B, n) of n classes, each against the rest. Of several best thresholds the highest. NaN
        if the measure is undefined at every threshold, or a score is NaN. With several curves, or if values cannot be
        inspected, also NaN if no threshold satisfies the constraints, or the measure is undefined at all that do.

    Raises
    ------
    TypeError
        As :func:`matrics.ranking.threshold_curve`.
    ValueError
        No threshold of a single curve satisfies the constraints: the message has the best attainable value of each. Or
        some do, and the measure is undefined at all of these. Or as :func:`matrics.ranking.threshold_curve`.

    Notes
    -----
    The value is the best of many on the same samples, and so biased upwards;
    :func:`matrics.ranking.best_threshold_interval` estimates the bias.

    Examples
    --------
    >>> import matrics
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9]
    >>> matrics.ranking.best_threshold(y_true, y_score, "f1")
    BestThreshold(threshold=0.3, value=0.8571)
    >>> matrics.ranking.best_threshold(y_true, y_score, "recall", subject_to="precision>=0.9")
    BestThreshold(threshold=0.6, value=0.6667)

    Where one sample of a hundred is positive, false alarms count for more:

    >>> matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=0.01)
    BestThreshold(threshold=0.6, value=0.8)
    """
    samples = read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive)
    samples, shares = read_shares(prevalence, samples)
    goal = read_goal(metric, subject_to, samples.classes)._replace(shares=shares)
    if samples.is_weighted:
        warn_of_sums(goal)
    return find_best(samples, goal, zero_division=zero_division, workers=workers)


def find_best(samples: ScoredSamples, goal: Goal, *, zero_division: float, workers: int) -> BestThreshold:
    """The best threshold of samples; on the host, raise or warn with the reason if there is none."""
    backend, xp = samples.backend, samples.backend.xp
    limits, cm = all_thresholds(samples)
    values = goal.measured(cm, zero_division=zero_division, workers=workers)
    limits = limits if goal.shares is None else xp.broadcast_to(limits, tuple(values[0].shape))
    order = goal.ranked(values, backend)
    place = xp.argmax(order, axis=-1)[..., None]
    found = backend.take_along(order, place)[..., 0]
    is_found = found > -math.inf
    threshold = xp.where(is_found, backend.take_along(limits, place)[..., 0], math.nan)
    value = xp.where(is_found, backend.take_along(values[0], place)[..., 0], math.nan)
    if backend is NUMPY and goal.constraints and not is_found.all():
        _say_why(goal, values, is_found)
    return BestThreshold(samples.finish(threshold), samples.finish(value))


def _say_why(goal: Goal, values: list[Array], is_found: Array) -> None:
    """Raise for one curve without a best threshold under these constraints, and warn of those of several.

    There is no message if all values are undefined, for example because a score is NaN.
    """
    holds = goal.holds(values, NUMPY)
    is_undefined = ~is_found & holds.any(axis=-1)
    is_defined = ~np.all([np.isnan(found).all(axis=-1) for found in values], axis=0)
    missing = ~is_found & is_defined
    if not missing.any():
        return
    first = tuple(int(i) for i in np.argwhere(missing)[0])
    own = [found[first] for found in values]
    message = _undefined(goal, holds[first]) if is_undefined[first] else _impossible(goal, own)
    if is_found.ndim == 0:
        raise ValueError(message)
    warnings.warn(
        f"{message} (curve {list(first)}; {np.count_nonzero(missing)} of {is_found.size} have none)",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )


def _undefined(goal: Goal, holds: Array) -> str:
    texts = cut(" and ".join(constraint.text for constraint in goal.constraints))
    number = np.count_nonzero(holds)
    where = "at the only threshold" if number == 1 else f"at all {number} thresholds"
    return (
        f"metric: {goal.name} is undefined (0/0) {where} with {texts}: no threshold can be chosen; relax the "
        "constraint, or pass zero_division= as the value of undefined measures"
    )


def _impossible(goal: Goal, values: list[Array]) -> str:
    best = []
    for constraint, found in zip(goal.constraints, values[1:], strict=True):
        attainable = float(constraint.best(found, np))
        is_defined = not np.isnan(found).all()
        best.append(
            f"the best attainable {constraint.name} is {attainable:.6g}"
            if is_defined
            else f"{constraint.name} is undefined"
        )
    texts = cut(" and ".join(constraint.text for constraint in goal.constraints))
    return f"subject_to: no threshold has {texts}; {cut(', '.join(best))}" + (" (each alone)" if len(best) > 1 else "")
