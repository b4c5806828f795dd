"""Estimates of prevalences: their status, matrix products and inverses, and the result."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.status import Reasons, graver

# Samples of a class, and predictions in all, below which the coverage of limits may be too low.
FEW_SAMPLES = 20
# Rows of rates count as equal if the smallest singular value is at most this part of the largest, by the bits.
ALIKE = {64: 1e-9, 32: 1e-4}
# Shares up to this number are at the edge, by the bits.
EDGE = {64: 1e-9, 32: 1e-5}
# The reasons for which there is no estimate.
WITHOUT_ESTIMATE = (
    IntervalStatus.UNDETERMINED,
    IntervalStatus.EMPTY_CLASS,
    IntervalStatus.NO_SAMPLES,
    IntervalStatus.INVALID,
)


class Shares(NamedTuple):
    """Estimates of a batch (B,): shares, their covariances, and the middles and half widths of their limits."""

    shares: Array
    covariance: Array
    middle: Array
    reach: Array
    matrix: Array | None = None
    by_cells: Array | None = None


def check_numbers(backend: Standard, **arrays: Array) -> None:
    """Raise an error unless these are arrays of real numbers."""
    for name, array in arrays.items():
        if array.dtype == backend.xp.bool or not (backend.is_integer(array) or backend.is_float(array)):
            raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")


def at_hand(library: Standard, *arrays: Array) -> tuple[Standard, list[Array]]:
    """Floating arrays of the same dtype: of NumPy if the host has all values, otherwise of their library."""
    views = [library.host_view(array) for array in arrays]
    if all(view is not None for view in views):
        return NUMPY, [np.asarray(view, dtype=float) for view in views]
    floats = [library.to_float(array) for array in arrays]
    dtype = floats[0].dtype if len({array.dtype for array in floats}) == 1 else library.widest_float(floats[0])
    return library, [library.xp.astype(array, dtype) for array in floats]


def identity(like: Array, backend: Standard) -> Array:
    """The identity matrix (1, n, n) of arrays with n along the last axis."""
    n = like.shape[-1]
    return backend.constant([[float(i == j) for j in range(n)] for i in range(n)], like)[None, ...]


def quantile(level: float, like: Array, backend: Standard) -> Any:
    """The normal quantile, by the library itself for torch.compile, which does not support Python's function."""
    if backend is NUMPY:
        return normal_quantile(level)
    share = backend.xp.full((), (1 + level) / 2, dtype=like.dtype, **backend.device_option(like))
    return backend.normal_quantile(share)


def of_bits(table: dict[int, float], x: Array, xp: Any) -> float:
    """The entry for the bits of the dtype."""
    return table[xp.finfo(x.dtype).bits]


def differ(x: Array, backend: Standard) -> Array:
    """Whether matrices (B, n, n) are invertible."""
    values = backend.of_matrices("svdvals", x)
    return values[:, -1] > of_bits(ALIKE, x, backend.xp) * values[:, 0]


def around_product(outer: Array, middle: Array, xp: Any) -> Array:
    """The product O M Oᵀ, computed by sums, as autocast would round a product of matrices."""
    half = xp.sum(outer[..., None] * middle[..., None, :, :], axis=-2)
    return xp.sum(half[..., :, None, :] * outer[..., None, :, :], axis=-1)


def errors_of(covariance: Array, eye: Array, xp: Any) -> Array:
    """The standard errors (B, n) for covariances (B, n, n)."""
    variances = xp.sum(covariance * eye, axis=-1)
    return xp.sqrt(xp.where(variances > 0, variances, 0))


def finished(
    estimates: Shares,
    reasons: Reasons,
    batch: tuple[int, ...],
    backend: Standard,
    library: Standard,
) -> PrevalenceEstimate:
    """The estimate in the shape of the batch and in the library of the user; NaN without an estimate."""
    xp = backend.xp
    status = xp.zeros(
        estimates.shares.shape[0],
        dtype=backend.widest_int(estimates.shares) or xp.int32,
        **backend.device_option(estimates.shares),
    )
    status = graver(status, reasons, xp)
    known = ~xp.any(xp.stack([reasons[code] for code in WITHOUT_ESTIMATE if code in reasons]), axis=0)
    shares = xp.where(estimates.shares < of_bits(EDGE, estimates.shares, xp), 0.0, estimates.shares)
    low, high = (xp.clip(estimates.middle + side * estimates.reach, 0, 1) for side in (-1, 1))
    low, high = xp.minimum(low, shares), xp.maximum(high, shares)
    fields = [shares, estimates.covariance, low, high]
    fields = [xp.where(known[(..., *(None,) * (x.ndim - 1))], x, math.nan) for x in fields]
    shaped = [
        None if x is None else xp.reshape(x, (*batch, *x.shape[1:]))
        for x in (*fields, status, estimates.matrix, estimates.by_cells)
    ]
    return PrevalenceEstimate(
        *(library.from_host(np.asarray(x)[()]) if backend is NUMPY and x is not None else x for x in shaped)
    )
