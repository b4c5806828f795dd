"""Stack to stack: none of these makes an invalid matrix of a valid one without being told to."""

from __future__ import annotations

from typing import Any, Literal, get_args

from matrics import _backend
from matrics._backend import Array
from matrics.evaluation import as_stack
from matrics.table import Table

Over = Literal["true", "pred", "all"]
Empty = Literal["nan", "repair"]
Where = Literal["empty_class", "zero_diagonal"]


def _table(cm: Any, *, floating: bool) -> Table:
    xp, cm = as_stack(cm)
    return Table((_backend.to_float if floating else _backend.to_wide)(cm, xp), xp)


def _batch_first(table: Table, x: Array, axes: int) -> Array:
    """``[a, b, *batch]`` with so many leading axes as ``(*B, a, b)``."""
    return table.xp.permute_dims(x, (*range(axes, x.ndim), *range(axes)))


def transpose(cm: Any) -> Array:
    """Exchange rows and columns: for matrices with predicted classes in rows.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Rows are predicted classes, columns true ones (or the reverse).

    Returns
    -------
    array, shape (*B, n, n)
        The same cells, rows being true classes (or the reverse); a view where the backend has views.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.transpose([[9, 80], [1, 210]])
    array([[  9,   1],
           [ 80, 210]])
    """
    xp, cm = as_stack(cm)
    batch = cm.ndim - 2
    return xp.permute_dims(cm, (*range(batch), batch + 1, batch))


def normalize(cm: Any, over: Over = "true") -> Array:
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
        The shape is not (*B, n, n), or ``over`` is none of the three.
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.normalize([[3, 1], [0, 0]])
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    if over not in get_args(Over):
        raise ValueError(f"over: expected 'true', 'pred' or 'all', got {over!r}")
    t = _table(cm, floating=True)
    with _backend.quiet(t.xp):
        if over == "all":
            return t.shares
        sums = t.rowwise(t.true) if over == "true" else t.columnwise(t.pred)
        return t.ratio(t.cells, sums)


def repair(cm: Any, where: Where = "empty_class") -> Array:
    """Add 1/n to every cell of the matrices that need it, as Dembélé does before it divides.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    where : {"empty_class", "zero_diagonal"}
        Which matrices: those with an empty true class, which EVE and M̃ cannot divide by, or those with a zero on the
        diagonal, which the matrix A cannot.

    Returns
    -------
    array, shape (*B, n, n)
        Floating. The other matrices are as they were.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``where`` is neither of the two.
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.repair([[[5, 1], [2, 7]], [[5, 1], [0, 0]]])
    array([[[5. , 1. ],
            [2. , 7. ]],
    <BLANKLINE>
           [[5.5, 1.5],
            [0.5, 0.5]]])
    """
    if where not in get_args(Where):
        raise ValueError(f"where: expected 'empty_class' or 'zero_diagonal', got {where!r}")
    t = _table(cm, floating=True)
    with _backend.quiet(t.xp):
        return (t.repaired if where == "empty_class" else t.repair_where(t.xp.any(t.tp == 0, axis=0))).cells


def rebalance(cm: Any, empty: Empty = "nan") -> Array:
    """Dembélé's estimate M̃ of the confusion matrix, which brings class sizes nearer to each other.

    Cell (t, p) is multiplied by √(size of p / size of t), where sizes are those of the true classes.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    empty : {"nan", "repair"}
        A matrix with an empty true class becomes NaN, or is first repaired by 1/n in every cell.

    Returns
    -------
    array, shape (*B, n, n)
        Floating.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``empty`` is neither of the two.
    TypeError
        The cells are not real numbers.

    Notes
    -----
    Dembélé, equation 22. The diagonal stays; the sum of the cells does not.

    Examples
    --------
    >>> import matrics
    >>> matrics.rebalance([[8, 8], [2, 2]])
    array([[8., 4.],
           [4., 2.]])
    """
    if empty not in get_args(Empty):
        raise ValueError(f"empty: expected 'nan' or 'repair', got {empty!r}")
    t = _table(cm, floating=True)
    with _backend.quiet(t.xp):
        if empty == "repair":
            t = t.repaired
        root = t.sqrt(t.true)  # a root each: the quotient of two sizes could leave the range of the numbers
        cells = t.ratio(t.cells, t.rowwise(root)) * t.columnwise(root)
        return t.define(cells, t.cellwise(t.xp.all(t.true != 0, axis=0)))


def one_vs_rest(cm: Any) -> Array:
    """Each class against the rest: a 2×2 matrix a class, in which the class itself is index 1.

    Any overall measure of the result is that measure of each class.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.

    Returns
    -------
    array, shape (*B, n, 2, 2)
        ``[[tn, fp], [fn, tp]]``. Integers stay integers where there are 64-bit ones, and become floats where a sum
        might wrap (default JAX).

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Examples
    --------
    >>> import matrics
    >>> matrics.one_vs_rest([[5, 1, 0], [0, 7, 2], [0, 0, 4]])[0]
    array([[13,  0],
           [ 1,  5]])
    """
    t = _table(cm, floating=False)
    return _batch_first(t, t.xp.permute_dims(t.one_vs_rest.cells, (2, 0, 1, *range(3, t.cells.ndim + 1))), 3)


def pair_counts(cm: Any) -> Array:
    """Count pairs of items by whether they share their true class, and their predicted one.

    This is how clusterings are compared: the class numbers do not matter, only who is with whom.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts; rows are true classes, columns predicted ones.

    Returns
    -------
    array, shape (*B, 2, 2)
        Floating. Rows: the pair is apart (0) or together (1) in truth; columns: the same in the prediction. A soft
        matrix of fewer than one pair together has 0 there.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.

    Notes
    -----
    Dembélé, equations 13 and 14, of which the printed form counts m/2 twice. With rows = true,
    a = Σ c (c - 1) / 2 is ``[1, 1]``, b (together in the prediction only) is ``[0, 1]``, c is ``[1, 0]``, d is
    ``[0, 0]``. All four are sums of products, so that none loses digits to a subtraction.

    Examples
    --------
    >>> import matrics
    >>> matrics.pair_counts([[2, 1], [0, 3]])
    array([[6., 3.],
           [2., 4.]])
    """
    t = _table(cm, floating=True)
    xp, axes = t.xp, (t.true_axis, t.pred_axis)
    with _backend.quiet(xp):
        # Each pair is two of: the same cell, the same row, the same column, or neither.
        rest_of_row, rest_of_column, elsewhere = t.around
        together = xp.clip(xp.sum(t.cells * (t.cells - 1), axis=axes) / 2, 0, None)
        true_only = xp.sum(t.cells * rest_of_row, axis=axes) / 2
        pred_only = xp.sum(t.cells * rest_of_column, axis=axes) / 2
        apart = xp.sum(t.cells * elsewhere, axis=axes) / 2
        return xp.stack([xp.stack([apart, pred_only], axis=-1), xp.stack([true_only, together], axis=-1)], axis=-2)
