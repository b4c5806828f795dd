"""Logistic models of what happens by what was predicted, from which measures of calibration follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrics._arrays import Array

STEPS = 50
# Coefficients beyond these are on their way to infinity: the outcomes are separated.
LARGEST = 1e3
# By which part a sum of logarithms may be off.
ROUNDING = 1e-10
# Where Harrell puts the knots: quantiles of what was predicted.
KNOTS = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}


class Logistic(NamedTuple):
    """A logistic model that was fitted."""

    coefficients: Array  # (K,)
    covariance: Array  # (K, K)


def fit_logistic(x: Array, y: Array, offset: Array | None, units: Array | None) -> Logistic | None:
    """The most likely coefficients of the columns (N, K) for outcomes (N,), by Newton's method; None if there are none.

    The covariance is the sandwich of Huber and White for K samples, or clusters (N,), with a factor K / (K - 1): the
    inverse of the information alone is too small where probabilities are too extreme.
    """
    if len(y) <= x.shape[1] or len(np.unique(y)) < 2:
        return None
    fixed = np.zeros(len(y)) if offset is None else offset
    found = np.zeros(x.shape[1])
    likelihood = _likelihood(x, y, fixed, found)
    for _ in range(STEPS):
        p = _sigmoid(fixed + x @ found)
        weight = p * (1 - p)
        information = x.T @ (weight[:, None] * x)
        try:
            step = np.linalg.solve(information, x.T @ (y - p))
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        least = likelihood - ROUNDING * abs(likelihood)
        while (new := _likelihood(x, y, fixed, found + size * step)) < least and size > 1e-6:
            size /= 2  # a full step may go too far
        found, likelihood = found + size * step, new
        if not np.isfinite(found).all() or np.abs(found).max() > LARGEST:
            return None
        if np.abs(step).max() < 1e-10 * max(1.0, np.abs(found).max()):
            break
    else:
        return None
    p = _sigmoid(fixed + x @ found)
    information = x.T @ ((p * (1 - p))[:, None] * x)
    if np.linalg.cond(information) > 1e12:
        return None
    inverse = np.linalg.inv(information)
    scores = (y - p)[:, None] * x
    if units is not None:
        of_units = np.zeros((int(units.max()) + 1, x.shape[1]))
        np.add.at(of_units, units, scores)
        scores = of_units
    number = len(scores)
    return Logistic(found, inverse @ (scores.T @ scores * number / max(1, number - 1)) @ inverse)


def _likelihood(x: Array, y: Array, fixed: Array, coefficients: Array) -> float:
    z = fixed + x @ coefficients
    return float(np.sum(y * z - np.logaddexp(0, z)))


def _sigmoid(z: Array) -> Array:
    return np.exp(-np.logaddexp(0, -z))


class Smooth(NamedTuple):
    """A calibration curve without bins: a logistic model with a restricted cubic spline of the logit."""

    model: Logistic
    knots: Array

    def columns(self, logit: Array) -> Array:
        """The columns of the model for some logits (N, K)."""
        return spline_columns(logit, self.knots)

    def at(self, logit: Array, coefficients: Array | None = None) -> Array:
        """The probability that corresponds to these logits."""
        return _sigmoid(self.columns(logit) @ (self.model.coefficients if coefficients is None else coefficients))


def fit_smooth(logit: Array, y: Array, units: Array | None) -> Smooth | None:
    """A smooth calibration curve with as many knots as the numbers of outcomes and of different logits allow."""
    rarer = min(np.count_nonzero(y), np.count_nonzero(1 - y))
    for number in (5, 4, 3):
        knots = np.unique(np.quantile(logit, KNOTS[number])) if logit.size else np.zeros(0)
        if knots.size == number and rarer >= 5 * number:
            model = fit_logistic(spline_columns(logit, knots), y, None, units)
            if model is not None:
                return Smooth(model, knots)
    knots = np.zeros(0)
    model = fit_logistic(spline_columns(logit, knots), y, None, units)
    return None if model is None else Smooth(model, knots)


def spline_columns(x: Array, knots: Array) -> Array:
    """1, x, and the columns of a cubic spline that is straight beyond the outer knots (Harrell): (N, knots)."""
    columns = [np.ones_like(x), x]
    if knots.size >= 3:
        last, before = knots[-1], knots[-2]
        scale = (last - knots[0]) ** 2

        def cube(knot: float) -> Array:
            return np.maximum(x - knot, 0) ** 3

        columns += [
            (
                cube(knot)
                - cube(before) * (last - knot) / (last - before)
                + cube(last) * (before - knot) / (last - before)
            )
            / scale
            for knot in knots[:-2]
        ]
    return np.stack(columns, axis=-1)
