"""Matrices as they would be where the classes have other shares, such as in another hospital."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.inputs import library
from matrics._engine.evaluation import as_stack
from matrics._engine.execution import table_in_order
from matrics._engine.results import NamedResult, frame_of
from matrics._errors import ArgumentError
from matrics._quoting import quoted, quoted_list
from matrics._stacks.transform import invalid_stays
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray

# The largest distance of a sum of shares from 1, also for floats of 32 bits.
ROUNDING = 1e-5


class PrevalenceEstimate(NamedResult):
    """An estimate of the share of each class, as from :func:`matrics.stats.estimate_prevalence`, or from elsewhere.

    Functions with ``prevalence=`` take it, and :func:`matrics.interval` and :func:`matrics.compare` let its
    covariance widen their limits. A published prevalence needs the first two fields only:
    ``PrevalenceEstimate(0.12, 0.12 * 0.88 / 1000)`` is a share of 12 % of 1,000 people, with the square of its standard
    error.

    Parameters
    ----------
    prevalence : array, shape (*B, n)
        The share of each class. For two classes a number is that of the positive class.
    covariance : array, shape (*B, n, n)
        The covariance of the shares. For two classes a number is the variance of either share.
    low, high : array, shape (*B, n), optional
        The limits of each share.
    status : array of int, shape (*B,), optional
        Why the estimate is missing or not to be relied on: a code of :class:`matrics.IntervalStatus`.
    matrix : array, shape (*B, n, n), optional
        The matrix whose rates gave the estimate. Errors in the rates are errors of the estimate as well, and limits of
        measures of the same matrix account for that.
    by_cells : array, shape (*B, n, n, n), optional
        The derivative of each share by each cell of that matrix.
    """

    prevalence: Any
    covariance: Any
    low: Any = None
    high: Any = None
    status: Any = None
    matrix: Any = None
    by_cells: Any = None

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays; without the matrix."""
        return frame_of(self._replace(matrix=None, by_cells=None))


#: What functions with ``prevalence=`` take.
PrevalenceLike = ArrayLike | PrevalenceEstimate


@overload
def at_prevalence(cm: HostArray, prevalence: PrevalenceLike, *, positive: Hashable = ...) -> NumPyArray: ...
@overload
def at_prevalence(cm: ArrayT, prevalence: PrevalenceLike, *, positive: Hashable = ...) -> ArrayT: ...
def at_prevalence(cm: Any, prevalence: Any, *, positive: Hashable = None) -> Array:
    """The matrix as it would be where the true classes have other shares, with the same rates in each class.

    Any measure of the result is that measure there: of a case-control study with equal numbers of ill and healthy
    people,
    the positive predictive value in a hospital where 2 % are ill.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    prevalence : float, array_like or PrevalenceEstimate
        The share of each true class, ``(n,)`` or ``(*P, n)``, which add up to 1; the batches ``*P`` and ``*B``
        broadcast. For two classes a number, or an array ``(*P, 1)``, is the share of the positive class. An estimate
        (:class:`matrics.results.PrevalenceEstimate`) counts as known.
    positive : str or int, optional
        The class of two whose share a number is: a label of a data frame, else an index. Class 1 if left out; texts in
        alphabetical order have no such default.

    Returns
    -------
    array, shape (*B, n, n)
        Floating. Each row is multiplied so that it has its share of the matrix's samples, whose number does not change.
        If a class with a share above 0 has no samples, its row is unknown: all cells of the matrix are NaN. The
        row of a class whose share is 0 becomes 0.

    Raises
    ------
    ValueError
        A share is negative or NaN, or they do not add up to 1, where values can be checked (elsewhere the matrix
        becomes NaN); or a shape is not as above.
    TypeError
        The cells or the shares are not real numbers, or ``prevalence`` is an array of another library.

    See Also
    --------
    rebalance : Dembélé's estimate, which is another thing: it multiplies cells of a row by different numbers, and takes
        no target.

    Notes
    -----
    The method assumes that samples of a class are equally easy there: sensitivity and specificity are the same. That is
    not so where, for example, the ill are diagnosed at an earlier stage.

    Examples
    --------
    A test detects 90 of 100 ill people, and is wrong about 5 of 100 healthy people. Where 2 % are ill, 73 % of its
    alarms
    are false:

    >>> import matrics
    >>> cm = [[95, 5], [10, 90]]
    >>> there = matrics.transform.at_prevalence(cm, 0.02)
    >>> there
    array([[186.2,   9.8],
           [  0.4,   3.6]])
    >>> print(f"{matrics.precision(cm, average='binary'):.2f} {matrics.precision(there, average='binary'):.2f}")
    0.95 0.27
    """
    backend, array = as_stack(cm)
    cells = backend.to_float(array)
    shares = read_prevalence(prevalence, cells, backend, _positive(cm, positive, cells.shape[-1]))
    cells, shares = together(cells, shares, backend)
    t = table_in_order(cells, backend)
    with backend.quiet():
        return invalid_stays(t, reweighted(cells, shares, backend))


def reweighted(cells: Array, shares: Array, backend: Standard) -> Array:
    """Matrices (*B, n, n) at shares (*B, n) of their rows; NaN without samples of a class with a share."""
    xp = backend.xp
    size = xp.sum(cells, axis=-1, keepdims=True)
    target_counts = shares[..., None] * xp.sum(size, axis=-2, keepdims=True)
    has_samples = size >= float(xp.finfo(cells.dtype).smallest_normal)
    rates = backend.divide(cells, xp.where(has_samples, size, 1))
    is_unknown = xp.any(~has_samples & (target_counts != 0), axis=-2, keepdims=True)
    return xp.where(is_unknown, math.nan, rates * target_counts)


def together(cells: Array, shares: Array, backend: Standard, name: str = "cm") -> tuple[Array, Array]:
    """Matrices and shares with the same batch."""
    of_cells, of_shares, n = tuple(cells.shape[:-2]), tuple(shares.shape[:-1]), cells.shape[-1]
    try:
        batch = np.broadcast_shapes(of_cells, of_shares)
    except ValueError as error:
        raise ArgumentError(
            "prevalence", f"expected a batch that broadcasts with that of {name}, {of_cells}, got {of_shares}"
        ) from error
    if of_cells != batch:
        cells = backend.xp.broadcast_to(cells, (*batch, n, n))
    return cells, shares if of_shares == batch else backend.xp.broadcast_to(shares, (*batch, n))


# Reading -------------------------------------------------------------------------------------------------------------


def read_prevalence(prevalence: Any, cells: Array, backend: Standard, positive: int | None = 1) -> Array:
    """The shares (*P, n) of the classes of some matrices, in their library; NaN for invalid shares on devices.

    ``positive`` is the index of the class of two that a single number is of.
    """
    xp, n = backend.xp, cells.shape[-1]
    may_be_missing = isinstance(prevalence, PrevalenceEstimate)  # for some matrices of a batch
    if may_be_missing:
        prevalence = prevalence.prevalence
    numbers = prevalence if isinstance(prevalence, (list, tuple)) else [prevalence]
    if numbers and all(map(_is_number, numbers)):  # torch.compile should not trace an array of NumPy
        shares = _all_of(numbers, n, positive, is_listed=isinstance(prevalence, (list, tuple)))
        return backend.constant([shares], cells)[0, :]
    own, (array,) = as_arrays(prevalence=prevalence)
    if own.xp is not xp and own is not NUMPY:
        of_cells, of_shares = library(cells), library(array)
        raise TypeError(
            f"prevalence: expected an array of the library of the matrices ({of_cells}), got an array of {of_shares}"
        )
    if array.dtype == own.xp.bool or not (own.is_integer(array) or own.is_float(array)):
        raise TypeError(f"prevalence: expected real numbers, got dtype {array.dtype}")
    length = array.shape[-1] if array.ndim else 1
    if length != n and not (n == 2 and length == 1):
        _refuse(f"shape {tuple(array.shape)}", n)
    view = own.host_view(own.detached(array))
    if view is not None:
        known = _with_rest(np.asarray(view, dtype=float), n, positive, np)
        _check_all(known, np.isnan(known).all(axis=-1) & may_be_missing)
    if own is not backend:
        array = xp.asarray(array.astype(float), dtype=cells.dtype, **backend.device_option(cells))
    shares = _with_rest(xp.astype(array, cells.dtype), n, positive, xp)
    if view is not None:
        return shares
    off = xp.abs(xp.sum(shares, axis=-1, keepdims=True) - 1)
    return xp.where(xp.all(shares >= 0, axis=-1, keepdims=True) & (off <= ROUNDING), shares, math.nan)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _all_of(numbers: Sequence[Any], n: int, positive: int | None, *, is_listed: bool) -> list[float]:
    """The share of each class, from Python's numbers."""
    if len(numbers) == 1 and n == 2:
        share = float(numbers[0])
        if not 0 <= share <= 1:
            raise ArgumentError("prevalence", f"expected a share from 0 to 1, got {share:g}")
        return [1 - share, share] if _is_second(positive) else [share, 1 - share]
    if len(numbers) != n or not is_listed:
        _refuse(f"{len(numbers)} of them" if is_listed else "a single number", n)
    shares = [float(number) for number in numbers]
    _check(shares)
    return shares


def _with_rest(array: Array, n: int, positive: int | None, xp: Any) -> Array:
    """The shares of both classes, if a single share is given."""
    if array.ndim and array.shape[-1] == n:
        return array
    share = array[..., 0] if array.ndim else array
    return xp.stack([1 - share, share] if _is_second(positive) else [share, 1 - share], axis=-1)


def _is_second(positive: int | None) -> bool:
    if positive is None:
        raise ArgumentError(
            "positive", "expected the class that the prevalence is of, got None, and the classes are texts"
        )
    return positive == 1


def _check(shares: Sequence[float], place: str = "") -> None:
    """Raise an error unless these are shares of a whole."""
    expected = "expected shares from 0 to 1 that add up to 1"
    for share in shares:
        if not 0 <= share < math.inf:
            raise ArgumentError("prevalence", f"{expected}, got {share:g}{place}")
    if not abs(math.fsum(shares) - 1) <= ROUNDING:
        raise ArgumentError("prevalence", f"{expected}, got a sum of {math.fsum(shares):.6g}{place}")


def _check_all(shares: NumPyArray, missing: NumPyArray) -> None:
    """Check the shares of each row, except for missing rows."""
    good = missing | (shares >= 0).all(axis=-1) & (np.abs(shares.sum(axis=-1) - 1) <= ROUNDING)
    if not good.all():
        first = np.argwhere(~good)[0]
        _check(shares[tuple(first)].tolist(), f" at {first.tolist()}" if good.ndim else "")


def _refuse(got: str, n: int) -> None:
    also = ", or a number or (*P, 1), the share of the positive class" if n == 2 else ""
    raise ArgumentError(
        "prevalence", f"expected the share of each of {n} classes, shape ({n},) or (*P, {n}){also}; got {got}"
    )


def _positive(cm: Any, positive: Any, n: int) -> int | None:
    """The index of the class, of two, to which a single number belongs; None if it must be named."""
    is_frame = hasattr(cm, "columns") and hasattr(cm, "index")
    labels = list(cm.index) if is_frame else [0, 1]
    if positive is None:
        # The order of the alphabet does not determine which of two classes is positive.
        is_text = all(isinstance(label, str) for label in labels)
        return None if is_text and labels == sorted(labels) else 1
    if n != 2:
        raise ArgumentError(
            "positive", f"expected None for {n} classes, as prevalence has a share for each, got {quoted(positive)}"
        )
    if positive not in labels:
        raise ArgumentError("positive", f"expected one of {quoted_list(labels)}, got {quoted(positive)}")
    return labels.index(positive)
