"""Shares of classes from the probabilities of a calibrated model, by the method of Saerens et al."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._errors import ArgumentError
from matrics._stacks.prevalence import PrevalenceEstimate, read_prevalence
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


def shares_of_probabilities(probabilities: Any, training_prevalence: Any, level: float) -> PrevalenceEstimate:
    """The estimate from probabilities that are calibrated for other shares."""
    library, (values,) = as_arrays(probabilities=probabilities)
    check_numbers(library, probabilities=values)
    if library.is_integer(values) or values.ndim == 0:
        raise ValueError(
            f"probabilities: expected floating numbers of shape (*B, N, n), or (N,) of class 1 of two, got shape "
            f"{tuple(values.shape)} and dtype {values.dtype}"
        )
    prevalences = []
    if hasattr(training_prevalence, "dtype") and not isinstance(training_prevalence, np.generic):
        prevalences = as_arrays(probabilities=values, training_prevalence=training_prevalence)[1][1:]
    backend, (values, *prevalences) = at_hand(library, values, *prevalences)
    xp = backend.xp
    values = values if values.ndim > 1 else xp.stack([1 - values, values], axis=-1)
    n, number, batch = values.shape[-1], values.shape[-2], tuple(values.shape[:-2])
    flat = xp.reshape(values, (math.prod(batch), number, n))
    eye = identity(flat, backend)
    training = _training(prevalences[0] if prevalences else training_prevalence, eye[0, ...], backend)
    with backend.quiet():
        valid = xp.all(xp.isfinite(flat) & (flat >= 0), axis=(-2, -1)) & xp.all(xp.sum(flat, axis=-1) > 0, axis=-1)
        likelihoods = xp.where(valid[:, None, None], flat, 1.0) / training[None, None, :]
        weights = xp.full_like(flat[..., 0], 1 / max(1, number))
        shares = most_likely_shares(likelihoods, weights, backend)
        parts = likelihoods / xp.sum(likelihoods * shares[:, None, :], axis=-1)[..., None]
        covariance, determined = _inverse_on_simplex(backend.sum_of_products(parts, parts), backend)
        never = xp.zeros_like(valid)
        reasons = {
            IntervalStatus.FEW_SAMPLES: ~never if number < FEW_SAMPLES else never,
            IntervalStatus.AT_THE_EDGE: xp.any(shares < of_bits(EDGE, shares, xp), axis=-1),
            IntervalStatus.UNDETERMINED: ~determined,
            IntervalStatus.NO_SAMPLES: ~never if number == 0 else never,
            IntervalStatus.INVALID: ~valid,
        }
        reach = quantile(level, flat, backend) * errors_of(covariance, eye, xp)
        return finished(Shares(shares, covariance, shares, reach), reasons, batch, backend, library)


def _inverse_on_simplex(information: Array, backend: Standard) -> tuple[Array, Array]:
    """The covariance (B, n, n) of shares that add up to 1, from their information, and whether it exists."""
    xp, n = backend.xp, information.shape[-1]
    if n == 1:
        return xp.zeros_like(information), information[:, 0, 0] > 0
    # The directions in which shares may move: each share against the last share.
    eye = identity(information, backend)
    along = eye[:, :-1, :] - eye[:, -1:, :]
    inner = around_product(along, information, xp)
    determined = differ(inner, backend)
    inverse = backend.of_matrices("inv", xp.where(determined[:, None, None], inner, eye[:, :-1, :-1]))
    return around_product(xp.matrix_transpose(along), inverse, xp), determined


def _training(prevalence: Any, like: Array, backend: Standard) -> Array:
    """The shares of the training data, all above 0; NaN for invalid shares that cannot be inspected."""
    try:
        shares = read_prevalence(prevalence, like, backend)
    except ArgumentError as error:
        raise ArgumentError(f"training_{error.argument}", error.text) from error
    except TypeError as error:
        raise TypeError(f"training_{error}") from error
    view = backend.host_view(backend.detached(shares))
    if view is not None and not (view > 0).all():
        raise ValueError(f"training_prevalence: expected shares above 0, got {view.min():g}")
    if shares.ndim != 1:
        raise ValueError(f"training_prevalence: expected shape ({like.shape[-1]},), got {tuple(shares.shape)}")
    return shares
