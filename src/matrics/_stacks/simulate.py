"""Simulation: resampled and random confusion matrices, class proportions, and matrices with controlled errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.draws import RandomSource, source_of
from matrics._arrays.inputs import library
from matrics._arrays.sizes import check_count, check_draws
from matrics._engine.evaluation import InvalidConfusionMatrix, as_stack, describe_invalid
from matrics._quoting import quoted
from matrics.typing import ArrayLike

__all__ = ["class_proportions", "controlled_errors", "random_matrices", "resample"]

Scheme = Literal["multinomial", "rows", "poisson", "dirichlet", "clusters"]
SCHEMES = get_args(Scheme)

# Cells drawn at a time, which fit in a cache. Each block has its own random stream, so draws depend on this number.
CELLS_AT_ONCE = 2**16
MOST_SAMPLES = 2.0**62


def resample(
    cm: ArrayLike,
    num: int,
    *,
    scheme: Scheme = "multinomial",
    prior: ArrayLike | None = None,
    rng: Any = None,
) -> Array:
    """Draw replicates of confusion matrices, as resampling their samples would.

    N samples drawn with replacement from the N samples of a matrix have multinomial cells. So a replicate costs n²
    draws, however many samples there are.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts; rows are true classes. With ``scheme="clusters"`` ``(K, *B, n, n)``: a matrix for each cluster, such as
        a patient, a document or a site.
    num : int
        Number of replicates of each matrix.
    scheme : {"multinomial", "rows", "poisson", "dirichlet", "clusters"}
        The random part. ``"multinomial"``: all cells, with a fixed total. ``"rows"``: the cells of each row, with fixed
        class sizes. ``"poisson"``: all cells, with a random total. ``"dirichlet"``: the shares of the cells, from the
        posterior distribution given these counts, scaled to the matrix's total. ``"clusters"``: K whole clusters, drawn
        with replacement.
    prior : float or array_like, shape (n, n), optional
        For ``"dirichlet"``: the number added to each cell; 1/n² if left out, one sample in all.
    rng : Generator, key or int, optional
        Where random numbers come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or a key of
        ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed for NumPy.
        New draws every time if left out.

    Returns
    -------
    array, shape (num, *B, n, n)
        Integers; floating numbers for ``"dirichlet"``, and for clusters of floating cells.

    Raises
    ------
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite (where values can be inspected; elsewhere its replicates are -1).
    ValueError
        A cell is not integer-valued although the scheme draws samples, ``num`` is not an integer of at least 1, or the
        scheme does not exist.
    TypeError
        ``rng`` is of another library than the matrix.

    Notes
    -----
    In default JAX, which has no 64-bit numbers, counts above 2**24 are drawn with the digits of float32.

    Examples
    --------
    >>> import matrics, numpy
    >>> draws = matrics.simulate.resample([[45, 5], [10, 40]], 1000, rng=numpy.random.default_rng(0))
    >>> draws.shape, int(draws[0].sum())
    ((1000, 2, 2), 100)
    >>> matrics.accuracy(draws).std().round(3)  # the standard error of the accuracy: √(0.85 · 0.15 / 100)
    np.float64(0.037)
    """
    num = check_count(num, "num", most=None)
    if scheme not in SCHEMES:
        raise ValueError(f"scheme: expected one of {', '.join(map(repr, SCHEMES))}, got {quoted(scheme)}")
    if prior is not None and scheme != "dirichlet":
        raise ValueError(f"prior: expected None, as scheme={quoted(scheme)} has no prior; it belongs to 'dirichlet'")
    source, cells, valid, integers = drawable(cm, rng, scheme)
    n = cells.shape[-1]
    batch = tuple(cells.shape[(1 if scheme == "clusters" else 0) : -2])
    if scheme == "clusters" and (cells.ndim < 3 or cells.shape[0] == 0):
        raise ValueError(f"cm: expected a leading axis of clusters (K, *B, n, n), got shape {tuple(cells.shape)}")
    check_draws(num, math.prod(batch) * n * n, num_classes=n)
    added = check_prior(prior, (n, n), source) if scheme == "dirichlet" else None
    plan = Plan.of(math.prod(batch), num, n * n, scheme)
    xp = source.backend.xp
    flat = in_a_row(cells, scheme, xp)
    if source.backend is NUMPY:
        out = np.empty((num, plan.matrices, n, n), np.int64 if integers else np.float64)
        for (which, when), stream in zip(plan.tasks(), source.split(plan.number), strict=True):
            out[when, which] = draw(stream, flat, which, when.stop - when.start, scheme=scheme, prior=added)
    else:
        out = draw(source, flat, slice(0, plan.matrices), num, scheme=scheme, prior=added)
    dtype = source.backend.widest_int(cells) or xp.int32
    out = xp.reshape(xp.astype(out, dtype) if integers else out, (num, *batch, n, n))
    return out if valid is None else xp.where(valid[..., None, None], out, xp.full_like(out, -1))


class Plan(NamedTuple):
    """The division of draws into chunks, which depends only on the stack and the number, not on blocks and threads."""

    matrices: int
    num: int
    width: int  # matrices of a task
    height: int  # replicates of a task

    @classmethod
    def of(cls, matrices: int, num: int, cells: int, scheme: str) -> Plan:
        """The plan for a number of matrices, their number of cells, and the replicates of each."""
        draws = max(1, CELLS_AT_ONCE // cells)
        width = matrices if scheme == "clusters" else max(1, draws // num)  # whole clusters are drawn for all matrices
        return cls(matrices, num, max(1, width), min(num, draws))

    @property
    def number(self) -> int:
        """The number of tasks."""
        return math.ceil(self.matrices / self.width) * math.ceil(self.num / self.height)

    def tasks(self) -> Iterator[tuple[slice, slice]]:
        """The matrices and the replicates of each task, matrices first."""
        for first in range(0, self.matrices, self.width):
            for start in range(0, self.num, self.height):
                yield (
                    slice(first, min(first + self.width, self.matrices)),
                    slice(start, min(start + self.height, self.num)),
                )


class Drawable(NamedTuple):
    """The distributions to draw from."""

    source: RandomSource
    cells: Array  # in the library of the source, floating
    valid: Array | None  # whether matrices are valid, if values cannot be inspected; invalid matrices are zeros
    integers: bool  # whether draws are integers


def drawable(cm: Any, rng: Any, scheme: str) -> Drawable:
    """The cells of a matrix with its source; if values can be inspected, an invalid matrix raises an error."""
    source = source_of(rng)
    backend, array = as_stack(cm)
    integers = scheme in ("multinomial", "rows", "poisson") or (scheme == "clusters" and backend.is_integer(array))
    if isinstance(cm, (list, tuple)) or backend is source.backend:
        cells = source.asarray(array)
    elif rng is None or isinstance(rng, (int, np.integer)):
        if backend.host_view(array) is None:
            raise TypeError(
                f"rng: expected a generator of the matrix's library ({library(cm)}), which decides the device, got "
                f"{'none' if rng is None else 'a seed, which is for NumPy'}"
            )
        cells = source.asarray(backend.host_view(array))
    else:
        raise TypeError(
            f"rng: expected a generator of the library of the matrix, got {library(rng)}'s and a matrix of "
            f"{library(cm)}: a matrix of NumPy takes numpy.random.default_rng(seed), a tensor a torch.Generator on its "
            "device, an array of JAX jax.random.key(seed)"
        )
    if not source.backend.can_look(cells):
        xp = source.backend.xp
        valid = xp.all(xp.isfinite(cells) & (cells >= 0), axis=(-2, -1))
        valid = xp.all(valid, axis=0) if scheme == "clusters" else valid
        good = valid[..., None, None]
        return Drawable(source, xp.where(good, cells, 0), valid, integers)
    check_drawable(source.backend.to_numpy(cells), scheme)
    return Drawable(source, cells, None, integers)


def check_drawable(cells: Array, scheme: str, name: str = "cm") -> None:
    """Raise an error unless a scheme can draw these cells, an array of NumPy."""
    if scheme != "dirichlet" and np.sum(cells, where=np.isfinite(cells), dtype=np.float64) >= MOST_SAMPLES:
        raise ValueError(f"{name}: expected fewer than 2**62 samples, got {np.sum(cells, dtype=np.float64):g}")
    fine = np.isfinite(cells) & (cells >= 0)
    if not fine.all():
        bad = np.flatnonzero(~fine.all(axis=(-2, -1)))
        raise InvalidConfusionMatrix(describe_invalid(cells, bad))
    if scheme in ("multinomial", "rows") and (cells != np.rint(cells)).any():
        first = np.argwhere(cells != np.rint(cells))[0]
        raise ValueError(
            f"{name}: expected counts, as scheme={quoted(scheme)} draws samples, got the cell {cells[tuple(first)]} at "
            f"{tuple(map(int, first))}; 'poisson' and 'dirichlet' take soft counts as well"
        )


def check_prior(prior: Any, shape: tuple[int, ...], source: RandomSource) -> Array:
    """The number added to each cell; by default a single sample over all cells."""
    values = np.asarray(1 / math.prod(shape) if prior is None else prior)
    if values.dtype.kind not in "iuf" or values.shape not in ((), shape):
        got = f"shape {values.shape}" if values.dtype.kind in "iuf" else repr(prior)
        raise ValueError(f"prior: expected a number or an array {shape}, got {got}")
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"prior: expected positive numbers, got {values.min()}")
    return source.asarray(np.broadcast_to(values, shape).copy())


def in_a_row(cells: Array, scheme: str, xp: Any) -> Array:
    """Matrices along a single axis: (B, n, n), or (K, B, n, n) for clusters."""
    n, lead = cells.shape[-1], cells.shape[:1] if scheme == "clusters" else ()
    return xp.reshape(cells, (*lead, math.prod(cells.shape[len(lead) : -2]), n, n))


def draw(source: RandomSource, cells: Array, which: slice, num: int, *, scheme: str, prior: Array | None) -> Array:
    """Replicates (num, b, r, c) of some of the tables (B, r, c), or (K, B, r, c) of clusters."""
    xp, (rows, columns) = source.backend.xp, cells.shape[-2:]
    if scheme == "clusters":
        number = cells.shape[0]
        part_of_cells = cells[:, which, :, :]
        weights = source.multinomial(
            source.asarray([number]), source.asarray([[1 / number] * number]), num
        )  # (num, 1, K): how often each cluster is drawn
        flat = xp.reshape(part_of_cells, (number, -1))
        return xp.reshape(
            xp.matmul(source.asarray(weights[:, 0, :]), flat), (num, part_of_cells.shape[1], rows, columns)
        )
    part_of_cells = cells[which, :, :]
    count = part_of_cells.shape[0]
    if scheme == "poisson":
        return source.poisson(part_of_cells, num)
    if scheme in ("dirichlet", "dirichlet rows"):
        drawn = source.gamma(part_of_cells if prior is None else part_of_cells + prior[None, ...], num)
        axes = (-2, -1) if scheme == "dirichlet" else -1
        return drawn * (
            xp.sum(part_of_cells, axis=axes, keepdims=True)[None, ...] / xp.sum(drawn, axis=axes, keepdims=True)
        )
    samples = xp.reshape(part_of_cells, (count * rows, columns) if scheme == "rows" else (count, rows * columns))
    totals = xp.sum(samples, axis=-1)
    shares = samples / xp.where(totals > 0, totals, 1)[:, None]
    return xp.reshape(source.multinomial(totals, shares, num), (num, count, rows, columns))


def random_matrices(
    num: int, num_classes: int, *, rng: Any = None, largest: int = 1000, errors: tuple[float, float] = (0.01, 1.0)
) -> Array:
    """Random confusion matrices of very different quality.

    The diagonal cells are uniform integers from 1 to ``largest``; the other cells of a matrix are uniform integers from
    1 to ``largest`` times a ratio, which is drawn anew for each matrix.

    Parameters
    ----------
    num : int
        Number of matrices.
    num_classes : int
        Number of classes.
    rng : Generator, key or int, optional
        Where random numbers come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or a key of
        ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed for NumPy.
        New draws every time if left out.
    largest : int, default 1000
        The largest cell.
    errors : (float, float), default (0.01, 1.0)
        The range of the ratio, which is uniform.

    Returns
    -------
    array of int, shape (num, num_classes, num_classes)

    References
    ----------
    Jurman and Furlanello, "A unifying view for performance measures in multi-class prediction", section 2.

    Examples
    --------
    >>> import matrics
    >>> matrics.simulate.random_matrices(2, 3, rng=0).shape
    (2, 3, 3)
    """
    n = check_count(num_classes, "num_classes")
    num, largest = check_draws(num, n * n, num_classes=n), check_count(largest, "largest", most=None)
    two = isinstance(errors, (tuple, list)) and len(errors) == 2 and all(isinstance(x, (int, float)) for x in errors)
    if not (two and 0 < errors[0] <= errors[1] <= 1):
        raise ValueError(f"errors: expected two ratios, 0 < lowest <= highest <= 1, got {quoted(errors)}")
    source = source_of(rng)
    ratio = source.uniform(float(errors[0]), float(errors[1]), (num, 1, 1))
    is_diagonal = np.eye(n, dtype=np.bool_)
    if source.backend is not NUMPY:
        return _random_cells(source, ratio, is_diagonal, largest)
    # Whole matrices, or rows of a matrix, that fit in a cache: drawn in sequence, they equal a single draw.
    out = np.empty((num, n, n), np.int64)
    matrices, rows = max(1, CELLS_AT_ONCE // n**2), max(1, CELLS_AT_ONCE // n)
    for first in range(0, num, matrices):
        for row in range(0, n, rows):
            which, part_of_cells = slice(first, first + matrices), slice(row, row + rows)
            out[which, part_of_cells] = _random_cells(source, ratio[which], is_diagonal[part_of_cells], largest)
    return out


def _random_cells(source: RandomSource, ratio: Array, is_diagonal: Array, largest: int) -> Array:
    """Random rows of matrices with these ratios (B, 1, 1)."""
    xp = source.backend.xp
    cells = source.uniform(0.0, 1.0, (ratio.shape[0], *is_diagonal.shape))
    own = source.asarray(is_diagonal) > 0
    top = xp.where(own, source.asarray(float(largest)), xp.floor(xp.clip(largest * ratio, 1, largest)))
    dtype = source.backend.widest_int(cells) or xp.int32
    # A number of at least 0, converted to an integer, is rounded down.
    return xp.astype(xp.clip(cells * top, 0, largest - 1), dtype) + 1


def class_proportions(num_classes: int, imbalance: ArrayLike) -> Array:
    """Proportions of classes, from equal proportions to proportions that halve from class to class.

    Parameters
    ----------
    num_classes : int
        Number of classes, k.
    imbalance : array_like, shape (*B,)
        p in [0, 1]: with 0 all classes have the same size, with 1 each class is half as large as the previous class.

    Returns
    -------
    array, shape (*B, k)
        They add up to 1.

    References
    ----------
    Labatut and Cherifi, "Accuracy measures for the comparison of classifiers", eq. 10.

    Examples
    --------
    >>> import matrics
    >>> matrics.simulate.class_proportions(5, [0, 1]).round(2)
    array([[0.2 , 0.2 , 0.2 , 0.2 , 0.2 ],
           [0.52, 0.26, 0.13, 0.06, 0.03]])
    """
    k = check_count(num_classes, "num_classes")
    backend, p = _fractions(imbalance, "imbalance")
    xp = backend.xp
    halves = xp.asarray([0.5 ** (i + 1) / (1 - 0.5**k) for i in range(k)], dtype=p.dtype, **backend.device_option(p))
    return (1 - p)[..., None] / k + p[..., None] * halves


def controlled_errors(proportions: ArrayLike, hits: ArrayLike) -> Array:
    """Confusion matrices with given class sizes and recalls, whose errors are spread evenly over the other classes.

    Parameters
    ----------
    proportions : array_like, shape (*B, k)
        Sizes of the true classes, for example of :func:`class_proportions`.
    hits : array_like, shape (*B, k) or (*B, 1), or a number
        The recall of each class, or a single recall: the fraction of its samples that are predicted correctly.
        Broadcasts
        against ``proportions``.

    Returns
    -------
    array, shape (*B, k, k)
        Shares of samples; rows are true classes.

    References
    ----------
    Labatut and Cherifi, "Accuracy measures for the comparison of classifiers", Table 9.

    Examples
    --------
    >>> import matrics
    >>> matrics.simulate.controlled_errors(matrics.simulate.class_proportions(3, 0), [0.7, 1, 1]).round(2)
    array([[0.23, 0.05, 0.05],
           [0.  , 0.33, 0.  ],
           [0.  , 0.  , 0.33]])
    """
    alone: Any = hits
    if isinstance(alone, (int, float)):
        backend, (sizes,) = as_arrays(proportions=proportions)
        recalls = backend.xp.full_like(backend.to_float(sizes), float(alone))
    else:
        backend, (sizes, recalls) = as_arrays(proportions=proportions, hits=hits)
    xp = backend.xp
    sizes, recalls = backend.to_float(sizes), backend.to_float(recalls)
    if sizes.ndim == 0:
        raise ValueError("proportions: expected an axis of classes (*B, k), got a number")
    k = sizes.shape[-1]
    if k < 2:
        raise ValueError("proportions: expected at least two classes, as errors go to the other classes, got 1")
    for name, values in (("proportions", sizes), ("hits", recalls)):
        if backend.can_look(values) and not bool(xp.all((values >= 0) & (values < math.inf))):
            wrong = backend.to_numpy(values)
            raise ValueError(f"{name}: expected numbers from 0, got {wrong[~(np.isfinite(wrong) & (wrong >= 0))][0]}")
    if backend.can_look(recalls) and not bool(xp.all(recalls <= 1)):
        raise ValueError(f"hits: expected recalls in [0, 1], got {backend.to_numpy(recalls).max()}")
    if recalls.ndim and recalls.shape[-1] not in (1, k):
        raise ValueError(f"hits: expected {k} recalls along the last axis, or 1, got shape {tuple(recalls.shape)}")
    others = max(k - 1, 1)
    correct, wrong = sizes * recalls, sizes * (1 - recalls) / others
    eye = backend.constant([[float(i == j) for j in range(k)] for i in range(k)], correct)
    return correct[..., None] * eye + wrong[..., None] * (1 - eye)


def _fractions(values: Any, name: str) -> tuple[Standard, Array]:
    backend, (array,) = as_arrays(**{name: values})
    array = backend.to_float(array)
    if backend.can_look(array) and not bool(backend.xp.all((array >= 0) & (array <= 1))):
        raise ValueError(f"{name}: expected numbers in [0, 1], got {backend.to_numpy(array)}")
    return backend, array
