"""Shares of classes from counts of predictions and the rates of a confusion matrix, with their covariance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._uncertainty.mixture import most_likely_shares
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.shares import (
    EDGE,
    FEW_SAMPLES,
    Shares,
    around_product,
    at_hand,
    check_numbers,
    differ,
    errors_of,
    finished,
    identity,
    of_bits,
    quantile,
)


def shares_of_counts(cm: Any, predicted_counts: Any, method: str, level: float) -> PrevalenceEstimate:
    """The estimate from a matrix and counts of predictions; ``method`` is a method of ``estimate_prevalence``."""
    library, (matrices, counts) = as_arrays(cm=cm, predicted_counts=predicted_counts)
    check_numbers(library, cm=matrices, predicted_counts=counts)
    n = matrices.shape[-1] if matrices.ndim else 0
    if matrices.ndim < 2 or matrices.shape[-2] != n or n == 0:
        raise ValueError(f"cm: expected a matrix (n, n) or several (*B, n, n), got shape {tuple(matrices.shape)}")
    if counts.ndim < 1 or counts.shape[-1] != n:
        raise ValueError(
            f"predicted_counts: expected the number of predictions of each of {n} classes, shape ({n},) or (*B, {n}), "
            f"got {tuple(counts.shape)}"
        )
    backend, (matrices, counts) = at_hand(library, matrices, counts)
    batch = _batch(tuple(matrices.shape[:-2]), tuple(counts.shape[:-1]))
    xp, size = backend.xp, math.prod(batch)
    with backend.quiet():
        cells = xp.reshape(xp.broadcast_to(matrices, (*batch, n, n)), (size, n, n))
        predictions = xp.reshape(xp.broadcast_to(counts, (*batch, n)), (size, n))
        valid = xp.all(xp.isfinite(cells) & (cells >= 0), axis=(-2, -1))
        valid = valid & xp.all(xp.isfinite(predictions) & (predictions >= 0), axis=-1)
        cells, predictions = xp.where(valid[:, None, None], cells, 1), xp.where(valid[:, None], predictions, 1)
        sizes, number = xp.sum(cells, axis=-1), xp.sum(predictions, axis=-1)
        rates = cells / xp.where(sizes > 0, sizes, 1)[..., None]
        determined = differ(rates, backend)
        exact = _by_inverse(cells, predictions, determined, backend)
        z = quantile(level, predictions, backend)
        smoothed = _by_inverse(cells + 2 / n, predictions + z * z / n, determined, backend)
        shares = exact.shares
        if method == "em":
            weights = predictions / xp.where(number > 0, number, 1)[:, None]
            safe = xp.where(determined[:, None, None], xp.matrix_transpose(rates), 1.0)
            shares = most_likely_shares(safe, weights, backend)
        reasons = {
            IntervalStatus.FEW_SAMPLES: (number < FEW_SAMPLES) | xp.any(sizes < FEW_SAMPLES, axis=-1),
            IntervalStatus.AT_THE_EDGE: xp.any(exact.middle < -of_bits(EDGE, exact.middle, xp), axis=-1),
            IntervalStatus.UNDETERMINED: ~determined,
            IntervalStatus.EMPTY_CLASS: xp.any(sizes == 0, axis=-1),
            IntervalStatus.NO_SAMPLES: number == 0,
            IntervalStatus.INVALID: ~valid,
        }
        estimates = exact._replace(shares=shares, middle=smoothed.middle, reach=z * smoothed.reach)
        return finished(estimates, reasons, batch, backend, library)


def _by_inverse(cells: Array, counts: Array, determined: Array, backend: Standard) -> Shares:
    """The shares that lead to these predictions, their covariance by the delta method, and their standard errors."""
    xp, eye = backend.xp, identity(cells, backend)
    sizes, number = xp.sum(cells, axis=-1), xp.sum(counts, axis=-1)
    sizes, number = xp.where(sizes > 0, sizes, 1), xp.where(number > 0, number, 1)
    rates, predicted = cells / sizes[..., None], counts / number[:, None]
    inverse = backend.of_matrices("inv", xp.where(determined[:, None, None], rates, eye))
    exact = xp.sum(predicted[..., None] * inverse, axis=-2)
    shares = nearest_shares(exact, backend)
    spread = _multinomial(predicted, number, eye)
    of_rows = _multinomial(rates, sizes, eye[:, None, :, :])
    spread = spread + xp.sum(shares[..., None, None] ** 2 * of_rows, axis=-3)
    covariance = around_product(xp.matrix_transpose(inverse), spread, xp)
    # Another sample of class t, predicted as p, moves the rates of t by (e_p - rates) / size, and the shares by -π_t
    # times the inverse of this.
    changes = xp.matrix_transpose(inverse)[:, :, None, :] - xp.matrix_transpose(eye)[:, :, :, None]
    by_cells = -(shares / sizes)[:, None, :, None] * changes
    return Shares(shares, covariance, exact, errors_of(covariance, eye, xp), cells, by_cells)


def nearest_shares(x: Array, backend: Standard) -> Array:
    """The shares (B, n) with the smallest Euclidean distance from x: x less a constant, clipped at 0."""
    xp, n = backend.xp, x.shape[-1]
    ordered = xp.flip(xp.sort(x, axis=-1), axis=-1)
    place = xp.astype(backend.class_index(n, x), x.dtype)[None, :] + 1
    excess = (backend.running_sum(ordered) - 1) / place
    # The constant is the largest of these quotients; its place is the number of shares above 0.
    return xp.clip(x - xp.max(excess, axis=-1, keepdims=True), 0, None)


def _multinomial(shares: Array, number: Array, eye: Array) -> Array:
    """The covariance (…, n, n) of the shares (…, n) in samples of these sizes (…,)."""
    return (shares[..., None] * eye - shares[..., None] * shares[..., None, :]) / number[..., None, None]


def _batch(of_matrices: tuple[int, ...], of_counts: tuple[int, ...]) -> tuple[int, ...]:
    try:
        batch: tuple[int, ...] = np.broadcast_shapes(of_matrices, of_counts)
    except ValueError as error:
        raise ValueError(
            f"expected batches that broadcast, got {of_matrices} in cm and {of_counts} in predicted_counts"
        ) from error
    return batch
