"""The target prevalence of limits: the share of each class, and its covariance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._stacks.prevalence import PrevalenceEstimate, read_prevalence
from matrics._uncertainty.options import DRAWING, OF_PROPORTIONS, OF_RATIOS

# The smallest share in derivatives by the shares, which would be 0/0 for a share of 0.
LEAST = 1e-6


class Target(NamedTuple):
    """The shares of the classes, and their covariance if they are estimated."""

    shares: Array  # (*P, n), or (B, n) of tables
    covariance: Array | None  # (*P, n, n), or (B, n, n)
    matrix: Array | None = None  # (*P, n, n): the matrix from whose rates they were estimated
    by_cells: Array | None = None  # (*P, n, n, n), or (B, n, n²): the derivatives of the shares by its cells

    def part(self, which: slice | Array) -> Target:
        """The target of some of the tables."""
        return Target(*(None if x is None else x[which, ...] for x in self))

    def of_same(self, whole: Array, backend: Standard) -> Target:
        """The target of tables (B, n, n). If a table is the matrix of the estimate, its rows also move the shares.

        The covariance then excludes these rows.
        """
        xp = backend.xp
        if self.matrix is None or self.by_cells is None or self.covariance is None:
            return self._replace(matrix=None, by_cells=None)
        count, n = self.shares.shape
        is_same = xp.all(xp.astype(self.matrix, whole.dtype) == whole, axis=(-2, -1))[:, None, None]
        by_cells = xp.where(is_same, xp.reshape(self.by_cells, (count, n, n * n)), 0)
        products = by_cells * xp.reshape(whole, (count, 1, n * n))
        of_rows = xp.sum(products[:, :, None, :] * by_cells[:, None, :, :], axis=-1)
        return Target(self.shares, self.covariance - of_rows, None, by_cells)


def as_independent(target: Target | None) -> Target | None:
    """The target with an estimate that is independent of the matrices."""
    return None if target is None else target._replace(matrix=None, by_cells=None)


def of_tables(target: Target | None, batch: tuple[int, ...], backend: Standard) -> Target | None:
    """The target of each table of a batch: (B, n)."""
    if target is None:
        return None

    def flat(x: Array, axes: int) -> Array:
        ends = tuple(x.shape[-axes:])
        return backend.xp.reshape(backend.xp.broadcast_to(x, (*batch, *ends)), (math.prod(batch), *ends))

    return Target(*(None if x is None else flat(x, axes) for x, axes in zip(target, (1, 2, 2, 3), strict=True)))


def batch_of(batch: tuple[int, ...], target: Target | None, name: str = "cm") -> tuple[int, ...]:
    """The broadcast shape of the batches of matrices and of shares."""
    if target is None:
        return batch
    of_shares = tuple(target.shares.shape[:-1])
    try:
        shape: tuple[int, ...] = np.broadcast_shapes(batch, of_shares)
    except ValueError as error:
        raise ArgumentError(
            "prevalence", f"expected a batch that broadcasts with that of {name}, {batch}, got {of_shares}"
        ) from error
    return shape


def scheme_at(prevalence: Any, method: Any, scheme: Any, cluster_axis: Any) -> Any:
    """The scheme of limits: ``"rows"`` at a prevalence, where other schemes and methods raise an error."""
    if prevalence is None:
        return scheme
    if scheme not in (None, "rows"):
        raise ArgumentError(
            "scheme",
            f"expected 'rows' with prevalence, as the sizes of the classes are not random but given, got "
            f"{quoted(scheme)}",
        )
    if cluster_axis is not None:
        raise ArgumentError(
            "cluster_axis",
            f"expected None with prevalence, as the predictions of each class are random on their own "
            f"(scheme='rows'), got {quoted(cluster_axis)}",
        )
    if method in (*OF_PROPORTIONS, *OF_RATIOS):
        raise ArgumentError("method", f"expected another than {quoted(method)} with prevalence, such as 'auto'")
    if method in DRAWING and isinstance(prevalence, PrevalenceEstimate):
        raise ArgumentError(
            "method",
            f"expected 'auto' or 'delta' with an estimated prevalence, got {quoted(method)}, which would not "
            "draw the prevalence anew; pass its field .prevalence as a known prevalence",
        )
    return "rows"


def target_of(
    prevalence: Any, view: Array | None, array: Array, backend: Standard, positive: int | None
) -> tuple[Target | None, bool]:
    """The target, and whether the host has all arrays: a view of the matrices, and the prevalence.

    ``positive`` is the index of the class, among two, of a scalar prevalence.
    """
    if prevalence is None:
        return None, view is not None
    on_host = None if view is None else _on_host(prevalence, backend)
    if view is None or on_host is None:
        return _read(prevalence, array, backend, positive), False
    return _read(on_host, view.astype(np.float64), NUMPY, positive), True


def _read(prevalence: Any, array: Array, backend: Standard, positive: int | None) -> Target:
    cells = backend.to_float(array)
    shares = backend.detached(read_prevalence(prevalence, cells, backend, positive))
    if not isinstance(prevalence, PrevalenceEstimate):
        return Target(shares, None)
    covariance = _covariance(prevalence.covariance, cells, backend)
    if prevalence.matrix is None or prevalence.by_cells is None:
        return Target(shares, covariance)
    of_matrix = (backend.xp.astype(x, cells.dtype) for x in (prevalence.matrix, prevalence.by_cells))
    return Target(shares, covariance, *map(backend.detached, of_matrix))


def _on_host(prevalence: Any, backend: Standard) -> Any:
    """The prevalence with arrays of NumPy; None if the host does not have it, or its library is not the matrices'."""
    if isinstance(prevalence, PrevalenceEstimate):
        names = ("prevalence", "covariance", "matrix", "by_cells")
        values = {name: getattr(prevalence, name) for name in names if getattr(prevalence, name) is not None}
        parts = {name: _on_host(part, backend) for name, part in values.items()}
        return None if any(part is None for part in parts.values()) else PrevalenceEstimate(**parts)
    if not hasattr(prevalence, "dtype"):
        return prevalence
    library, (array,) = as_arrays(prevalence=prevalence)
    if library is not NUMPY and library is not backend:
        return None
    array = library.detached(array)
    return library.to_numpy(array) if type(library) is Standard else library.host_view(array)


def _covariance(covariance: Any, cells: Array, backend: Standard) -> Array:
    """The covariance of the shares (*P, n, n); a number is the variance of the share of either of two classes."""
    n = cells.shape[-1]
    library, (array,) = as_arrays(covariance=covariance)
    if array.ndim == 0 and n == 2:
        array = library.xp.stack([library.xp.stack([array, -array]), library.xp.stack([-array, array])])
    if tuple(array.shape[-2:]) != (n, n):
        also = ", or a number" if n == 2 else ""
        raise ArgumentError(
            "covariance",
            f"expected that of {n} shares, shape ({n}, {n}) or (*P, {n}, {n}){also}; got shape {tuple(array.shape)}",
        )
    view = library.host_view(library.detached(array))
    if view is not None:
        variances = np.diagonal(view, axis1=-2, axis2=-1)
        if (variances < 0).any() or np.isinf(view).any():
            raise ArgumentError("covariance", f"expected finite variances from 0 on, got {variances.min():g}")
    if library is not backend:
        array = backend.xp.asarray(library.to_numpy(array), dtype=cells.dtype, **backend.device_option(cells))
    return backend.detached(backend.xp.astype(array, cells.dtype))
