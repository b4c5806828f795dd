"""Logistic models of the outcomes by the predictions, for measures of calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrics._arrays import Array

STEPS = 50
# Larger coefficients diverge, because the predictions separate the outcomes.
LARGEST = 1e3
# The relative rounding error of a sum of logarithms.
ROUNDING = 1e-10
# The quantiles of the predictions at which Harrell places the knots.
KNOTS = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}


class Logistic(NamedTuple):
    """A fitted logistic model."""

    coefficients: Array  # (K,)
    covariance: Array  # (K, K)


def fit_logistic(x: Array, y: Array, offset: Array | None, units: Array | None) -> Logistic | None:
    """The maximum likelihood fit of the columns (N, K) to outcomes (N,), by Newton's method; None if there is none.

    The covariance is the sandwich estimator of Huber and White for m samples, or clusters (N,), times m / (m - 1). The
    inverse of the information is too small where probabilities are too extreme.
    """
    if len(y) <= x.shape[1] or len(np.unique(y)) < 2:
        return None
    offsets = np.zeros(len(y)) if offset is None else offset
    coefficients = np.zeros(x.shape[1])
    likelihood = _likelihood(x, y, offsets, coefficients)
    for _ in range(STEPS):
        p = _sigmoid(offsets + x @ coefficients)
        weight = p * (1 - p)
        information = x.T @ (weight[:, None] * x)
        try:
            step = np.linalg.solve(information, x.T @ (y - p))
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        minimum = likelihood - ROUNDING * abs(likelihood)
        while (new := _likelihood(x, y, offsets, coefficients + size * step)) < minimum and size > 1e-6:
            size /= 2  # a full step may overshoot
        coefficients, likelihood = coefficients + size * step, new
        if not np.isfinite(coefficients).all() or np.abs(coefficients).max() > LARGEST:
            return None
        if np.abs(step).max() < 1e-10 * max(1.0, np.abs(coefficients).max()):
            break
    else:
        return None
    p = _sigmoid(offsets + x @ coefficients)
    information = x.T @ ((p * (1 - p))[:, None] * x)
    if np.linalg.cond(information) > 1e12:
        return None
    inverse = np.linalg.inv(information)
    scores = (y - p)[:, None] * x
    if units is not None:
        sums_of_units = np.zeros((int(units.max()) + 1, x.shape[1]))
        np.add.at(sums_of_units, units, scores)
        scores = sums_of_units
    number = len(scores)
    return Logistic(coefficients, inverse @ (scores.T @ scores * number / max(1, number - 1)) @ inverse)


def _likelihood(x: Array, y: Array, offsets: Array, coefficients: Array) -> float:
    z = offsets + x @ coefficients
    return float(np.sum(y * z - np.logaddexp(0, z)))


def _sigmoid(z: Array) -> Array:
    return np.exp(-np.logaddexp(0, -z))


class Smooth(NamedTuple):
    """A calibration curve without bins: a logistic model with a restricted cubic spline of the logit."""

    model: Logistic
    knots: Array

    def columns(self, logit: Array) -> Array:
        """The columns (N, K) of the model for logits (N,)."""
        return spline_columns(logit, self.knots)

    def at(self, logit: Array, coefficients: Array | None = None) -> Array:
        """The calibrated probability for each logit."""
        return _sigmoid(self.columns(logit) @ (self.model.coefficients if coefficients is None else coefficients))


def fit_smooth(logit: Array, y: Array, units: Array | None) -> Smooth | None:
    """A smooth calibration curve; the number of knots depends on the outcomes and on the number of different logits."""
    smaller_class = min(np.count_nonzero(y), np.count_nonzero(1 - y))
    for number in (5, 4, 3):
        knots = np.unique(np.quantile(logit, KNOTS[number])) if logit.size else np.zeros(0)
        if knots.size == number and smaller_class >= 5 * number:
            model = fit_logistic(spline_columns(logit, knots), y, None, units)
            if model is not None:
                return Smooth(model, knots)
    knots = np.zeros(0)
    model = fit_logistic(spline_columns(logit, knots), y, None, units)
    return None if model is None else Smooth(model, knots)


def spline_columns(x: Array, knots: Array) -> Array:
    """The columns (N, knots) of a cubic spline that is linear beyond the outer knots (Harrell), with 1 and x first."""
    columns = [np.ones_like(x), x]
    if knots.size >= 3:
        last_knot, second_last_knot = knots[-1], knots[-2]
        scale = (last_knot - knots[0]) ** 2

        def cube(knot: float) -> Array:
            return np.maximum(x - knot, 0) ** 3

        columns += [
            (
                cube(knot)
                - cube(second_last_knot) * (last_knot - knot) / (last_knot - second_last_knot)
                + cube(last_knot) * (second_last_knot - knot) / (last_knot - second_last_knot)
            )
            / scale
            for knot in knots[:-2]
        ]
    return np.stack(columns, axis=-1)
