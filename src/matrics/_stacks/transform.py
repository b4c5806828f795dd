"""Transformations of stacks: valid matrices stay valid (unless NaN is requested), and invalid matrices stay invalid."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args, overload

from matrics._arrays import NUMPY, Array
from matrics._arrays.inputs import library
from matrics._engine.evaluation import as_stack
from matrics._engine.execution import table_in_order
from matrics._engine.table import Table
from matrics._quoting import quoted
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray

Over = Literal["true", "pred", "all"]
Empty = Literal["nan", "repair"]
Where = Literal["empty_class", "zero_diagonal"]


def _table(cm: Any, *, floating: bool) -> Table:
    backend, cm = as_stack(cm)
    cells = backend.to_float(cm) if floating else backend.to_wide(cm)
    return table_in_order(cells, backend)


def table_of_counts(cm: Any) -> Table:
    """The table of a stack for sums of cells: integers, or floats where a sum might wrap."""
    t = _table(cm, floating=False)
    if t.looks and t.cells.dtype == t.xp.int64 and t.cells.sum((-2, -1), dtype=float).max(initial=0) > 2**62:
        return _table(cm, floating=True)
    return t


def invalid_stays(table: Table, result: Array) -> Array:
    """The result ``(*B, …)`` with the results of invalid matrices marked: NaN, or -1 where the dtype has no NaN."""
    marker = math.nan if table.backend.is_float(result) else -1
    valid = table.xp.reshape(table.valid, (*table.valid.shape, *(1,) * (result.ndim - table.valid.ndim)))
    return table.xp.where(valid, result, marker)


def check_over(over: Any, name: str = "over") -> None:
    """Raise an error unless ``over`` is a valid normalisation; None means no normalisation."""
    if over is not None and not _is_value_of(over, Over):
        raise ValueError(f"{name}: expected 'true', 'pred' or 'all', got {quoted(over)}")


def _is_value_of(word: Any, words: Any) -> bool:
    """Whether the word is a value of a Literal type; an array, which compares by element, is not."""
    return isinstance(word, str) and word in get_args(words)


@overload
def transpose(cm: HostArray) -> NumPyArray: ...
@overload
def transpose(cm: ArrayT) -> ArrayT: ...
def transpose(cm: Any) -> Array:
    """Exchange rows and columns, for matrices with predicted classes in rows.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are predicted classes, columns true classes (or the reverse).

    Returns
    -------
    array, shape (*B, n, n)
        The same cells, with true classes in rows (or the reverse); a view where the backend has views.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.transpose([[9, 80], [1, 210]])
    array([[  9,   1],
           [ 80, 210]])
    """
    backend, cm = as_stack(cm)
    batch = cm.ndim - 2
    return backend.xp.permute_dims(cm, (*range(batch), batch + 1, batch))


@overload
def normalize(cm: HostArray, *, over: Over = ...) -> NumPyArray: ...
@overload
def normalize(cm: ArrayT, *, over: Over = ...) -> ArrayT: ...
def normalize(cm: Any, *, over: Over = "true") -> Array:
    """Scale rows, columns or whole matrices to sum 1.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    over : {"true", "pred", "all"}
        Make every true class (row), every predicted class (column), or the whole matrix sum to 1.

    Returns
    -------
    array, shape (*B, n, n)
        Floating. An empty row, column or matrix stays 0.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``over`` has another value.
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.normalize([[3, 1], [0, 0]])
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    check_over(over)
    t = _table(cm, floating=True)
    with t.backend.quiet():
        if over == "all":
            return invalid_stays(t, t.shares)
        sums = t.rowwise(t.true) if over == "true" else t.columnwise(t.pred)
        return invalid_stays(t, t.ratio(t.cells, sums))


@overload
def repair(cm: HostArray, *, where: Where = ...) -> NumPyArray: ...
@overload
def repair(cm: ArrayT, *, where: Where = ...) -> ArrayT: ...
def repair(cm: Any, *, where: Where = "empty_class") -> Array:
    """Add 1/n to every cell of the matrices that need it, as Dembélé does before dividing.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    where : {"empty_class", "zero_diagonal"}
        The matrices to change: those with an empty true class (EVE and M̃ divide by its size), or with a zero on the
        diagonal, which the matrix A divides by.

    Returns
    -------
    array, shape (*B, n, n)
        Floating. The other matrices are unchanged.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``where`` has another value.
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.repair([[[5, 1], [2, 7]], [[5, 1], [0, 0]]])
    array([[[5. , 1. ],
            [2. , 7. ]],
    <BLANKLINE>
           [[5.5, 1.5],
            [0.5, 0.5]]])
    """
    if not _is_value_of(where, Where):
        raise ValueError(f"where: expected 'empty_class' or 'zero_diagonal', got {quoted(where)}")
    t = _table(cm, floating=True)
    with t.backend.quiet():
        repaired = t.repaired if where == "empty_class" else t.repair_where(t.xp.any(t.tp == 0, axis=0))
        return invalid_stays(t, repaired.cells)


@overload
def rebalance(cm: HostArray, *, empty: Empty = ...) -> NumPyArray: ...
@overload
def rebalance(cm: ArrayT, *, empty: Empty = ...) -> ArrayT: ...
def rebalance(cm: Any, *, empty: Empty = "nan") -> Array:
    """Dembélé's estimate M̃ of the confusion matrix, which makes class sizes more equal.

    Cell (t, p) is multiplied by √(size of p / size of t), where the sizes are those of the true classes.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    empty : {"nan", "repair"}
        A matrix with an empty true class becomes NaN, or is first repaired by adding 1/n to every cell.

    Returns
    -------
    array, shape (*B, n, n)
        Floating.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``empty`` has another value.
    TypeError
        The cells are not real numbers.

    See Also
    --------
    at_prevalence : The matrix at given class sizes, with the same rates in each row.

    Notes
    -----
    Dembélé, equation 22. The diagonal does not change; the sum of the cells does.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.rebalance([[8, 8], [2, 2]])
    array([[8., 4.],
           [4., 2.]])
    """
    if not _is_value_of(empty, Empty):
        raise ValueError(f"empty: expected 'nan' or 'repair', got {quoted(empty)}")
    t = _table(cm, floating=True)
    with t.backend.quiet():
        whole = t.repaired if empty == "repair" else t
        root = t.sqrt(whole.true)  # separate roots: the quotient of two sizes could overflow or underflow
        cells = t.ratio(whole.cells, t.rowwise(root)) * t.columnwise(root)
        return invalid_stays(t, t.define(cells, t.cellwise(t.xp.all(whole.true != 0, axis=0))))


@overload
def one_vs_rest(cm: HostArray) -> NumPyArray: ...
@overload
def one_vs_rest(cm: ArrayT) -> ArrayT: ...
def one_vs_rest(cm: Any) -> Array:
    """Each class against the rest: a 2×2 matrix per class, in which the class itself has index 1.

    Any overall measure of the result is that measure for each class.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.

    Returns
    -------
    array, shape (*B, n, 2, 2)
        ``[[tn, fp], [fn, tp]]``. Integers stay integers, and become floats where a sum might wrap: in default JAX,
        which has no 64-bit integers, and on NumPy, where the check is cheap, beyond 2**62 samples.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.one_vs_rest([[5, 1, 0], [0, 7, 2], [0, 0, 4]])[0]
    array([[13,  0],
           [ 1,  5]])
    """
    t = table_of_counts(cm)
    with t.backend.quiet():
        cells = t.one_vs_rest.cells  # [2, 2, class, *batch]
        return invalid_stays(t, t.xp.permute_dims(cells, (*range(3, cells.ndim), 2, 0, 1)))


@overload
def pair_counts(cm: HostArray) -> NumPyArray: ...
@overload
def pair_counts(cm: ArrayT) -> ArrayT: ...
def pair_counts(cm: Any) -> Array:
    """Count pairs of samples by whether they share their true class, and whether they share their predicted class.

    This is how clusterings are compared: the class numbers do not matter, only which samples are grouped together.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts; rows are true classes, columns predicted ones.

    Returns
    -------
    array, shape (*B, 2, 2)
        Floating. Rows: the pair has different true classes (0) or the same class (1); columns: the same for predicted
        classes. In a soft matrix, a negative number of pairs is replaced by 0. Pairs are squares of counts: beyond
        1e19 samples they overflow float32, and beyond 1e154 float64.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Notes
    -----
    Dembélé, equations 13 and 14, whose printed form counts m/2 twice. With rows = true,
    a = Σ c (c - 1) / 2 is ``[1, 1]``, b (same class in the prediction only) is ``[0, 1]``, c is ``[1, 0]``, d is
    ``[0, 0]``. All four are sums of products, so that no digits are lost to a subtraction.

    Examples
    --------
    >>> import matrics
    >>> matrics.transform.pair_counts([[2, 1], [0, 3]])
    array([[6., 3.],
           [2., 4.]])
    """
    t = _table(cm, floating=True)
    with t.backend.quiet():
        counts = t.xp.astype(t.pairs().cells, t.cells.dtype)  # [2, 2, *batch]
        return invalid_stays(t, t.xp.permute_dims(counts, (*range(2, counts.ndim), 0, 1)))


@overload
def weight_cells(cm: HostArray, weights: ArrayLike) -> NumPyArray: ...
@overload
def weight_cells(cm: ArrayT, weights: ArrayLike) -> ArrayT: ...
def weight_cells(cm: Any, weights: Any) -> Array:
    """Multiply cells by weights: the weight of a sample of a class that is predicted as another class.

    Any measure of the result is that measure with these weights, so that measures need no option for weights.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    weights : array_like, shape (n, n), or a shape that broadcasts with (*B, n, n)
        Not negative; a list, a NumPy array, or an array of the library of ``cm``.

    Returns
    -------
    array, shape (*B, n, n)
        Floating.

    Raises
    ------
    ValueError
        A shape is not as above.
    TypeError
        The cells or the weights are not real numbers.

    Notes
    -----
    Labatut and Cherifi, section 7.1: a weight matrix sets the importance of classes and of kinds of errors, and
    makes weighted forms of each measure redundant. A negative weight makes the cell negative and the matrix invalid.

    Examples
    --------
    >>> import matrics
    >>> cm = [[8, 2, 0], [1, 9, 0], [0, 2, 8]]
    >>> harmless = [[1, 0.5, 1], [0.5, 1, 1], [1, 1, 1]]  # half weight for confusions of the first two classes
    >>> matrics.accuracy(cm).round(3), matrics.accuracy(matrics.transform.weight_cells(cm, harmless)).round(3)
    (np.float64(0.833), np.float64(0.877))
    """
    t = _table(cm, floating=True)
    backend, weights = as_stack(weights, name="weights")
    if backend is NUMPY:
        weights = t.xp.asarray(weights.astype(float), dtype=t.cells.dtype, **t.backend.device_option(t.cells))
    elif backend.xp is not t.xp:
        of_cm, of_weights = library(t.cells), library(weights)
        raise TypeError(f"weights: expected an array of the library of cm ({of_cm}), got an array of {of_weights}")
    xp, shape, weights_shape = t.xp, tuple(t.cells.shape), tuple(weights.shape)
    if (
        weights_shape[-1] != t.n
        or len(weights_shape) > len(shape)
        or any(a not in (1, b) for a, b in zip(weights_shape[::-1], shape[::-1], strict=False))
    ):
        raise ValueError(
            f"weights: expected shape ({t.n}, {t.n}), or a shape that broadcasts with {shape}, got {weights_shape}"
        )
    weights = xp.astype(xp.reshape(weights, (1,) * (len(shape) - len(weights_shape)) + weights_shape), t.cells.dtype)
    with t.backend.quiet():
        return invalid_stays(t, xp.where(weights < 0, weights, t.cells * weights))
