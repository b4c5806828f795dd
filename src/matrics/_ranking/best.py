"""The search for the threshold at which a measure is best, under constraints."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import as_stack, evaluate, frames_to_the_user
from matrics._engine.results import NamedResult
from matrics._errors import ArgumentError
from matrics._quoting import cut, quoted, quoted_list
from matrics._ranking.constraints import Constraint, read_constraints
from matrics._ranking.costs import COST, cost_of
from matrics._ranking.inputs import ScoredSamples
from matrics._ranking.prevalence import at_shares
from matrics._ranking.thresholds import all_thresholds
from matrics._ranking.unlabelled import Unlabelled
from matrics._scoring.score import resolve
from matrics._uncertainty.results import Interval


class BestThreshold(NamedResult, optional=4):
    """The result of :func:`matrics.ranking.best_threshold`: a threshold and the value of the measure, arrays (*B,).

    Parameters
    ----------
    threshold : array
        Samples with a score of at least this are predicted as positive.
    value : array
        The measure at this threshold, on the samples on which it was chosen.
    threshold_interval : Interval, optional
        With ``level``: the interval of the threshold.
    value_interval : Interval, optional
        With ``level``: the interval of the value of the measure on new samples. The estimate is ``value`` minus the
        optimism.
    optimism : array, optional
        With ``level``: how much better the value is on the samples that were used for the choice than on others.
    rows_of_constraints : int, optional
        With ``unlabelled_scores``: the number of samples, with and without labels, that a bound on a number of samples
        counts.
    """

    threshold: Array
    value: Array
    threshold_interval: Interval = None  # type: ignore[assignment]  # present with a level
    value_interval: Interval = None  # type: ignore[assignment]
    optimism: Array = None
    rows_of_constraints: int = None  # type: ignore[assignment]


class Goal(NamedTuple):
    """The goal of a search: the best value of a measure, under constraints."""

    name: str  # of the measure, as given
    metric: Metric
    constraints: list[Constraint]
    shares: Array | None = None  # of the classes, for measures at another prevalence

    @property
    def sign(self) -> int:
        """The factor after which higher values are better."""
        return 1 if self.metric.higher_is_better else -1

    @property
    def budgets(self) -> list[str]:
        """The constraints on numbers of samples."""
        return [constraint.text for constraint in self.constraints if not constraint.metric.scale_free]

    @property
    def needs_rows(self) -> bool:
        """Whether a constraint is on a number of samples, which counts rows also if samples have weights."""
        return any(not constraint.metric.scale_free for constraint in self.constraints)

    def unlabelled(self, given: Any, samples: ScoredSamples) -> Unlabelled | None:
        """The scores of samples without labels, which bounds on a number of samples count; other bounds need labels."""
        if given is not None and self.shares is not None:
            raise ArgumentError("unlabelled_scores", "expected None with prevalence=, at which no rows are counted")
        counted = [(bound.text, bound.metric) for bound in self.constraints if not bound.metric.scale_free]
        return Unlabelled.read(given, samples, counted, "subject_to", "a bound on ")

    def measured(
        self,
        cm: Array,
        rows: Array | None = None,
        costs: Array | None = None,
        *,
        zero_division: float,
        workers: int,
    ) -> list[Array]:
        """The values of the measure, and of the measures of the constraints, for a stack of matrices.

        If samples have weights, ``rows`` are the matrices of their numbers; ``costs`` are the sums of their costs.
        """
        backend = as_stack(cm)[0]
        metrics = [self.metric, *(constraint.metric for constraint in self.constraints)]

        def values_of(stack: Array) -> list[Array]:
            functions = [metric.bind() for metric in metrics]
            at_prevalence = at_shares(stack, self.shares, backend)
            return evaluate(at_prevalence, functions, zero_division=zero_division, invalid="nan", workers=workers)

        values = values_of(cm)
        if rows is not None:
            values_of_rows = values_of(rows)
            values[1:] = [
                of_rows if not metric.scale_free else of_weights
                for metric, of_weights, of_rows in zip(metrics[1:], values[1:], values_of_rows[1:], strict=True)
            ]
        if costs is not None:
            values[0] = cost_of(costs)
        return values

    def ranked(self, values: list[Array], backend: Standard) -> Array:
        """Numbers that are larger for better thresholds; minus infinity for thresholds that are not allowed.

        The worst value of a measure may be infinite, and is replaced by the smallest finite number.
        """
        xp = backend.xp
        allowed = ~xp.isnan(values[0]) & self.holds(values, backend)
        worst = float(xp.finfo(values[0].dtype).min)
        return xp.where(allowed, xp.clip(self.sign * values[0], worst, None), -math.inf)

    def holds(self, values: list[Array], backend: Standard) -> Array:
        """Whether each threshold satisfies all constraints."""
        satisfied = backend.xp.ones_like(values[0], dtype=backend.xp.bool)
        for constraint, of_constraint in zip(self.constraints, values[1:], strict=True):
            satisfied = satisfied & constraint.holds(of_constraint)
        return satisfied


def read_goal(metric: Any, subject_to: Any, classes: Classes = TWO, *, has_costs: bool = False) -> Goal:
    """The goal for a measure and constraints; raises an error unless a single measure has a better direction."""
    if has_costs != (metric == COST):
        hint = "which minimises the costs" if has_costs else "which needs cost_false_negative and cost_false_positive"
        raise ArgumentError(
            "metric", f"expected {'' if has_costs else 'a measure other than '}'cost', {hint}, got {quoted(metric)}"
        )
    if has_costs:
        ((_, errors),) = resolve("hamming_loss", classes).items()
        return Goal(COST, errors, read_constraints(subject_to, classes))
    metrics = resolve(metric, classes)
    if len(metrics) != 1:
        raise ArgumentError("metric", f"expected a single measure, got {len(metrics)}: {quoted_list(metrics)}")
    ((name, measure),) = metrics.items()
    constraints = read_constraints(subject_to, classes)
    for part in (measure, *(constraint.metric for constraint in constraints)):
        if part.is_classwise:
            raise ValueError(
                f"{part}: expected a measure with a single value for each matrix, got a value for each class; "
                "choose an average, as in recall(average='macro')"
            )
    if measure.higher_is_better is None:
        raise ArgumentError(
            "metric",
            f"expected a measure for which higher or lower values are better, got {name}: "
            "use it as a constraint (subject_to=), and choose another measure as the goal",
        )
    return Goal(name, measure, constraints)


def as_counted(samples: ScoredSamples) -> ScoredSamples:
    """The samples without their weights; a weight of 0 leaves a sample out."""
    if samples.weight is None:
        return samples
    kept = samples.backend.xp.astype(samples.weight > 0, samples.weight.dtype)
    return samples._replace(weight=kept, is_weighted=False)


def find_best(
    samples: ScoredSamples,
    costs: ScoredSamples | None,
    goal: Goal,
    unlabelled: Unlabelled | None = None,
    *,
    zero_division: float,
    workers: int,
) -> BestThreshold:
    """The best threshold of samples; on the host, an error or a warning says why there is none."""
    backend, xp = samples.backend, samples.backend.xp
    limits, cm = all_thresholds(samples)
    rows = all_thresholds(as_counted(samples))[1] if goal.needs_rows and samples.is_weighted else None
    if unlabelled is not None:
        rows = unlabelled.added(cm if rows is None else rows, limits)
    cost_matrices = None if costs is None else all_thresholds(costs)[1]
    values = goal.measured(cm, rows, cost_matrices, zero_division=zero_division, workers=workers)
    limits = limits if goal.shares is None else xp.broadcast_to(limits, tuple(values[0].shape))
    orders = goal.ranked(values, backend)
    best_index = xp.argmax(orders, axis=-1)[..., None]
    best_order = backend.take_along(orders, best_index)[..., 0]
    has_best = best_order > -math.inf
    threshold = xp.where(has_best, backend.take_along(limits, best_index)[..., 0], math.nan)
    value = xp.where(has_best, backend.take_along(values[0], best_index)[..., 0], math.nan)
    if backend is NUMPY and goal.constraints and not has_best.all():
        _explain(goal, values, has_best)
    num_rows: Any = None if unlabelled is None or rows is None else int(np.max(rows[..., 0, :, :].sum(axis=(-2, -1))))
    best = samples.finish(samples.directed(threshold))
    return BestThreshold(best, samples.finish(value), rows_of_constraints=num_rows)


def _explain(goal: Goal, values: list[Array], has_best: Array) -> None:
    """Raise an error, or warn with several curves, if a curve has no best threshold under the constraints.

    There is no message if all values are undefined, for example because a score is NaN.
    """
    holds = goal.holds(values, NUMPY)
    is_undefined = ~has_best & holds.any(axis=-1)
    is_defined = ~np.all([np.isnan(part).all(axis=-1) for part in values], axis=0)
    is_missing = ~has_best & is_defined
    if not is_missing.any():
        return
    first = tuple(int(i) for i in np.argwhere(is_missing)[0])
    values_of_first = [part[first] for part in values]
    error = _undefined_error(goal, holds[first]) if is_undefined[first] else _impossible_error(goal, values_of_first)
    if has_best.ndim == 0:
        raise error
    warnings.warn(
        f"{error} (curve {list(first)}; {np.count_nonzero(is_missing)} of {has_best.size} have none)",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )


def _undefined_error(goal: Goal, holds: Array) -> ArgumentError:
    texts = cut(" and ".join(constraint.text for constraint in goal.constraints))
    number = np.count_nonzero(holds)
    where = "at the only threshold" if number == 1 else f"at all {number} thresholds"
    return ArgumentError(
        "metric",
        f"{goal.name} is undefined (0/0) {where} with {texts}: no threshold can be chosen; relax the "
        "constraint, or pass zero_division= as the value of undefined measures",
    )


def _impossible_error(goal: Goal, values: list[Array]) -> ArgumentError:
    reasons = []
    for constraint, values_of_constraint in zip(goal.constraints, values[1:], strict=True):
        attainable = float(constraint.best(values_of_constraint, np))
        is_defined = not np.isnan(values_of_constraint).all()
        reasons.append(
            f"the best attainable {constraint.name} is {attainable:.6g}"
            if is_defined
            else f"{constraint.name} is undefined"
        )
    texts = cut(" and ".join(constraint.text for constraint in goal.constraints))
    alone = " (each alone)" if len(reasons) > 1 else ""
    return ArgumentError("subject_to", f"no threshold has {texts}; {cut(', '.join(reasons))}{alone}")
