"""Weighted samples: matrices of weights and of squared weights, and effective numbers of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._quoting import quoted
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import DRAWING, OF_RATIOS, Options

# The largest distance of a count from a whole number, due to rounding of sums.
ROUNDING = 1e-6

_COUNTED = "as confusion_matrix(..., sample_weight=weights**2) counts them"


def read_squares(squares: Any, array: Array, name: str = "squared_weights", of: str = "cm") -> Array:
    """Check the matrix of squared weights against the matrix of weights: library, shape, and cells above 0."""
    backend, (array, squares) = as_arrays(**{of: array, name: squares})
    if tuple(squares.shape) != tuple(array.shape):
        raise ValueError(
            f"{name}: expected the shape of {of}, {tuple(array.shape)}, {_COUNTED}, got {tuple(squares.shape)}"
        )
    if not (backend.is_integer(squares) or backend.is_float(squares)):
        raise TypeError(f"{name}: expected real numbers, {_COUNTED}, got dtype {squares.dtype}")
    squares = backend.detached(squares)
    view, cells = backend.host_view(squares), backend.host_view(backend.detached(array))
    if view is not None and cells is not None:
        _check(view.astype(np.float64), cells.astype(np.float64), name, of)
    return squares


def _check(squares: Array, cells: Array, name: str, of: str) -> None:
    valid = np.isfinite(cells) & (cells >= 0)  # the others belong to invalid matrices
    bad = valid & ~(np.isfinite(squares) & (squares >= 0) & ((squares > 0) == (cells > 0)))
    if not bad.any():
        return
    place = tuple(map(int, np.argwhere(bad)[0]))
    raise ValueError(
        f"{name}: expected finite numbers from 0 on, above 0 where {of} is and nowhere else, {_COUNTED}; got "
        f"{squares[place]:g} where {of} has {cells[place]:g}, at {place if len(place) > 2 else list(place)}"
    )


def refuse_unweighted(options: Options, measures: Sequence[Measure]) -> None:
    """Raise an error for limits that do not support weights: of resampling, of clusters, and of sums of weights."""
    if options.method in (*DRAWING, *OF_RATIOS):
        raise ValueError(
            "method: expected 'auto', 'delta' or a method of proportions with squared_weights, got "
            f"{quoted(options.method)}: it is about numbers of samples, which weights are not; "
            "compare_models(..., sample_weight=) draws weighted samples"
        )
    if options.scheme == "clusters":
        raise ValueError(
            "squared_weights: expected None with cluster_axis, because the clusters' matrices of weights already show "
            "how much they vary"
        )
    sums = [measure.name for measure in measures if not measure.scale_free]
    if sums:
        raise ValueError(
            f"squared_weights: expected measures that depend only on proportions, got {', '.join(sums[:5])}: with all "
            "weights twice as large it has another value"
        )


def effective(cells: Array, squares: Array, backend: Standard) -> tuple[Array, Array]:
    """Weights and squared weights (B, r, c) in units of an effective sample.

    Both then add up to the effective number, Kish's (Σ w)² / Σ w². So a common factor of all weights does not change
    the limits.
    """
    xp = backend.xp
    total, of_squares = (xp.sum(x, axis=(-2, -1), keepdims=True) for x in (cells, squares))
    unit = xp.where(total > 0, of_squares, 1) / xp.where(total > 0, total, 1)
    unit = xp.where(unit > 0, unit, 1)
    return cells / unit, squares / unit / unit


def kish(weights: Array, squares: Array, backend: Standard) -> Array:
    """The effective number of samples, (Σ w)² / Σ w²; 0 without samples."""
    xp = backend.xp
    return xp.where(squares > 0, weights * weights / xp.where(squares > 0, squares, 1), 0)


def are_counts(cells: Array, backend: Standard) -> Array:
    """Whether tables (B, r, c) have only whole numbers, up to rounding."""
    xp = backend.xp
    distances = xp.abs(cells - xp.round(cells))
    return xp.all((distances <= ROUNDING * (1 + cells)) | ~(cells < math.inf), axis=(-2, -1))


def squares_on_host(squares: Array | None, backend: Standard) -> Array | None:
    """The squared weights as an array of NumPy, if the matrices are scored by NumPy."""
    if squares is None:
        return None
    return backend.to_numpy(squares) if type(backend) is Standard else backend.host_view(squares)


def squares_of(squares: Array | None, batch: tuple[int, ...], whole: Array, backend: Standard) -> Array:
    """The squared weights as tables (B, r, c), zeros if the matrix has none; None for samples without weights."""
    if squares is None:
        return None
    xp, ends = backend.xp, tuple(whole.shape[-2:])
    tables = xp.broadcast_to(backend.to_float(squares), (*batch, *ends))
    tables = xp.reshape(tables, tuple(whole.shape))
    if backend is NUMPY:
        tables = tables.astype(np.float64, copy=False)
    return xp.where((whole > 0) & (tables > 0) & xp.isfinite(tables), tables, 0)
