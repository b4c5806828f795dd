"""The search for the threshold at which a measure is best, under constraints."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, on_host
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
from matrics._scoring.score import resolve
from matrics._uncertainty.results import Interval


class BestThreshold(NamedResult, optional=4):
    """The best threshold of a measure and its value, as from :func:`matrics.ranking.best_threshold`; arrays (*B,).

    Parameters
    ----------
    threshold : array
        Samples with a score of at least this are predicted as positive.
    value : array
        The measure at this threshold, on the samples on which it was chosen.
    threshold_interval : Interval, optional
        With ``level``: of the threshold.
    value_interval : Interval, optional
        With ``level``: of the value of the measure on new samples. The estimate is ``value`` minus the optimism.
    optimism : array, optional
        With ``level``: by how much the value is better on the samples on which the threshold was chosen than on others.
    rows_of_constraints : int, optional
        With ``unlabelled_scores``: how many samples a bound on a number of samples counts, with labels and without.
    """

    threshold: Array
    value: Array
    threshold_interval: Interval = None  # type: ignore[assignment]  # is there with a level
    value_interval: Interval = None  # type: ignore[assignment]
    optimism: Array = None
    rows_of_constraints: int = None  # type: ignore[assignment]


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

    @property
    def needs_rows(self) -> bool:
        """Whether a constraint is on a number of samples, which is that of rows also where samples have weights."""
        return any(not constraint.metric.scale_free for constraint in self.constraints)

    def measured(
        self,
        cm: Array,
        rows: Array | None = None,
        costs: Array | None = None,
        *,
        zero_division: float,
        workers: int,
    ) -> list[Array]:
        """Score a stack with the measure and the measures of the constraints.

        Where samples have weights, ``rows`` has their numbers, and ``costs`` the sums of their costs.
        """
        backend = as_stack(cm)[0]
        metrics = [self.metric, *(constraint.metric for constraint in self.constraints)]

        def scored(stack: Array) -> list[Array]:
            functions = [metric.bind() for metric in metrics]
            there = at_shares(stack, self.shares, backend)
            return evaluate(there, functions, zero_division=zero_division, invalid="nan", workers=workers)

        values = scored(cm)
        if rows is not None:
            of_rows = scored(rows)
            values[1:] = [
                other if not metric.scale_free else own
                for metric, own, other in zip(metrics[1:], values[1:], of_rows[1:], strict=True)
            ]
        if costs is not None:
            values[0] = cost_of(costs)
        return values

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


def read_goal(metric: Any, subject_to: Any, classes: Classes = TWO, *, has_costs: bool = False) -> Goal:
    """The measure to optimise; raises for anything but one measure with a better direction."""
    if has_costs != (metric == COST):
        hint = "which minimises the costs" if has_costs else "which needs cost_false_negative and cost_false_positive"
        raise ArgumentError(
            "metric", f"expected {'' if has_costs else 'another than '}'cost', {hint}, got {quoted(metric)}"
        )
    if has_costs:
        ((_, errors),) = resolve("hamming_loss", classes).items()
        return Goal(COST, errors, read_constraints(subject_to, classes))
    chosen = resolve(metric, classes)
    if len(chosen) != 1:
        raise ArgumentError("metric", f"expected one measure, got {len(chosen)}: {quoted_list(chosen)}")
    ((name, found),) = chosen.items()
    constraints = read_constraints(subject_to, classes)
    for one in (found, *(constraint.metric for constraint in constraints)):
        if one.is_classwise:
            raise ValueError(f"{one}: expected a measure with one value a matrix, got one with a value for each class")
    if found.higher_is_better is None:
        raise ArgumentError(
            "metric",
            f"expected a measure for which higher or lower values are better, got {name}: "
            "use it as a constraint (subject_to=), and another measure as the goal",
        )
    return Goal(name, found, constraints)


class Unlabelled(NamedTuple):
    """The scores of samples without labels, which bounds on a number of samples count as well."""

    scores: Array  # (M,), ascending

    @classmethod
    def read(cls, given: Any, samples: ScoredSamples, goal: Goal) -> Unlabelled | None:
        """The scores, if there are any; other bounds need labels."""
        if given is None:
            return None
        if samples.backend is not NUMPY or samples.num_classes is not None:
            raise ArgumentError(
                "unlabelled_scores", "expected None with arrays on a device, while tracing, and with several classes"
            )
        if goal.shares is not None:
            raise ArgumentError("unlabelled_scores", "expected None with prevalence=, at which no rows are counted")
        counted = [constraint for constraint in goal.constraints if not constraint.metric.scale_free]
        known = ("predicted_positives", "predicted_negatives")
        odd = [constraint.text for constraint in counted if constraint.metric.name not in known]
        if odd or not counted:
            raise ArgumentError(
                "subject_to",
                "expected a bound on predicted_positives or predicted_negatives with unlabelled_scores=, as nothing "
                f"else is known of samples without labels, got {quoted(odd[0]) if odd else 'none'}",
            )
        scores = np.asarray(on_host(given, "unlabelled_scores"))
        if scores.dtype.kind not in "iuf" or scores.ndim != 1:
            raise ArgumentError(
                "unlabelled_scores", f"expected numbers, shape (M,), got dtype {scores.dtype}, shape {scores.shape}"
            )
        if np.isnan(scores).any():
            place = int(np.flatnonzero(np.isnan(scores))[0])
            raise ArgumentError("unlabelled_scores", f"expected numbers, got NaN at position {place}")
        return cls(np.sort(samples.directed(scores.astype(np.float64))))

    def added(self, cm: Array, limits: Array) -> Array:
        """Matrices (…, T, 2, 2) of the other samples with these as well, in the row of the negative class."""
        below = np.searchsorted(self.scores, limits, side="left")
        return cm + np.stack(
            [np.stack([below, self.scores.size - below], axis=-1), np.zeros((*below.shape, 2))], axis=-2
        )


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
    """The best threshold of samples; on the host, raise or warn with the reason if there is none."""
    backend, xp = samples.backend, samples.backend.xp
    limits, cm = all_thresholds(samples)
    rows = all_thresholds(as_counted(samples))[1] if goal.needs_rows and samples.is_weighted else None
    if unlabelled is not None:
        rows = unlabelled.added(cm if rows is None else rows, limits)
    of_costs = None if costs is None else all_thresholds(costs)[1]
    values = goal.measured(cm, rows, of_costs, zero_division=zero_division, workers=workers)
    limits = limits if goal.shares is None else xp.broadcast_to(limits, tuple(values[0].shape))
    order = goal.ranked(values, backend)
    place = xp.argmax(order, axis=-1)[..., None]
    found = backend.take_along(order, place)[..., 0]
    is_found = found > -math.inf
    threshold = xp.where(is_found, backend.take_along(limits, place)[..., 0], math.nan)
    value = xp.where(is_found, backend.take_along(values[0], place)[..., 0], math.nan)
    if backend is NUMPY and goal.constraints and not is_found.all():
        _say_why(goal, values, is_found)
    number = None if unlabelled is None or rows is None else int(np.max(rows[..., 0, :, :].sum(axis=(-2, -1))))
    return BestThreshold(samples.finish(samples.directed(threshold)), samples.finish(value), rows_of_constraints=number)  # type: ignore[arg-type]


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
    error = _undefined(goal, holds[first]) if is_undefined[first] else _impossible(goal, own)
    if is_found.ndim == 0:
        raise error
    warnings.warn(
        f"{error} (curve {list(first)}; {np.count_nonzero(missing)} of {is_found.size} have none)",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )


def _undefined(goal: Goal, holds: Array) -> ArgumentError:
    texts = cut(" and ".join(constraint.text for constraint in goal.constraints))
    number = np.count_nonzero(holds)
    where = "at the only threshold" if number == 1 else f"at all {number} thresholds"
    return ArgumentError(
        "metric",
        f"{goal.name} is undefined (0/0) {where} with {texts}: no threshold can be chosen; relax the "
        "constraint, or pass zero_division= as the value of undefined measures",
    )


def _impossible(goal: Goal, values: list[Array]) -> ArgumentError:
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
    alone = " (each alone)" if len(best) > 1 else ""
    return ArgumentError("subject_to", f"no threshold has {texts}; {cut(', '.join(best))}{alone}")
