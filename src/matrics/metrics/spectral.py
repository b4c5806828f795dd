"""Dembélé's measure: the eigenvalues of a confusion matrix and their entropy."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

from matrics import _backend
from matrics._backend import Array
from matrics.evaluation import Invalid, evaluate
from matrics.metrics.catalogue import metric
from matrics.table import Table

Matrix = Literal["B", "A"]


class GershgorinBounds(NamedTuple):
    """Where the eigenvalues of B can lie, each of shape (*B,)."""

    lower: Array
    """1 - r, as Dembélé prints it; it bounds the eigenvalues of A, not those of B."""
    upper: Array
    """1 + r, no eigenvalue of A or B is larger."""
    valid_lower: Array
    """A bound that holds for B, which is min_j b_jj (1 - r) if r <= 1, and else max_j b_jj (1 - r)."""


def _symmetric(t: Table) -> Array:
    """B = (P + Pᵀ) / 2 in the order of the cells, where P has every true class scaled to 1; 0 for an empty class."""
    rates = t.true_rates
    axes = (1, 0, *range(2, rates.ndim)) if t.class_first else (*range(rates.ndim - 2), rates.ndim - 1, rates.ndim - 2)
    return (rates + t.xp.permute_dims(rates, axes)) / 2


def _scaled(t: Table, b: Array) -> Array:
    """A = Q^-½ B Q^-½ with Q the diagonal of B, in the order of the cells; 0 beside a zero of the diagonal."""
    root = t.sqrt(t.diagonal(b))
    return t.ratio(t.ratio(b, t.rowwise(root)), t.columnwise(root))


def _eigenvalues(t: Table, symmetric: Array, defined: Array) -> Array:
    """Ascending eigenvalues ``[class, *batch]`` of a stack in the order of the cells."""
    xp = t.xp
    # One NaN or infinity makes LAPACK's callers raise for the whole stack, so those matrices are replaced by zeros; on
    # the host they have been already.
    safe = symmetric if t.is_host else xp.where(t.cellwise(t.valid & defined), symmetric, 0)
    return t.lead(_backend.eigvalsh(t.as_matrices(safe), xp))


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"-\sum_i \eta_i \log_n \eta_i, \quad \eta_i = \lambda_i / \textstyle\sum_{\lambda_j > 0} \lambda_j, "
    r"\quad \lambda_i > 0 \text{ eigenvalues of } \tfrac{1}{2} (P + P^\mathsf{T}), \quad p_{ij} = c_{ji} / t_j",
    source="Dembélé, equation 24",
    undefined="a true class is empty (unless empty says otherwise), or there is a single class",
    aliases=("eigenvalues_entropy",),
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="always",
)
def eve(t: Table, *, empty: Literal["nan", "repair", "zero"] = "nan") -> Array:
    """Eigenvalues entropy: how evenly the positive eigenvalues share their sum; 1 without errors.

    ``empty`` says what becomes of a matrix with an empty true class: undefined, repaired by 1/n in every cell
    (Dembélé), or a class of zeros (what the author's R package does).

    Two things to know. It can be high for a classifier that is always wrong: classes swapped in pairs give ln(n/2) /
    ln n. And it is not symmetric: transposing [[9, 1], [80, 210]] takes it from 0.95 to 0.

    Examples
    --------
    >>> import matrics
    >>> matrics.eve([[[9, 1], [80, 210]], [[9, 80], [1, 210]]])
    array([0.9523835, 0.       ])
    """
    if t.n == 1:
        return t.undefined()
    xp = t.xp
    if empty == "repair":
        t = t.repaired
    present = xp.all(t.true != 0, axis=0)
    if empty == "zero":
        present = t.total != 0
    values = _eigenvalues(t, _symmetric(t), present)
    positive = xp.where(values > 0, values, 0)
    shares = t.ratio(positive, xp.sum(positive, axis=0)[None, ...])
    return t.define(t.within((0 - xp.sum(t.x_log_x(shares), axis=0)) / math.log(t.n), 0, 1), present)


def eigenvalues(cm: Any, matrix: Matrix = "B", *, invalid: Invalid = "warn") -> Array:
    """Eigenvalues of the symmetric matrices that Dembélé makes of a confusion matrix.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    matrix : {"B", "A"}
        B = (P + Pᵀ) / 2, where P has every true class scaled to 1 (Dembélé, equation 23); or A, which is B scaled to a
        diagonal of ones (Dembélé, equation 29).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell; they alone are NaN in any case.

    Returns
    -------
    array, shape (*B, n)
        Ascending. NaN where a true class is empty, and for A where the diagonal has a zero; :func:`matrics.repair`
        mends both.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``matrix`` is neither of the two.
    TypeError
        The cells are not real numbers.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Examples
    --------
    >>> import matrics
    >>> matrics.eigenvalues([[45, 5], [5, 45]])
    array([0.8, 1. ])
    """
    if matrix not in get_args(Matrix):
        raise ValueError(f"matrix: expected 'B' or 'A', got {matrix!r}")

    def spectrum(t: Table) -> Array:
        b = _symmetric(t)
        defined = t.xp.all((t.true if matrix == "B" else t.tp) != 0, axis=0)
        values = _eigenvalues(t, b if matrix == "B" else _scaled(t, b), defined)
        return t.define(values, defined[None, ...])

    return evaluate(cm, [spectrum], invalid=invalid)[0]


def gershgorin_bounds(cm: Any, *, invalid: Invalid = "warn") -> GershgorinBounds:
    """Bounds of the eigenvalues by Gershgorin's circles, as printed by Dembélé and as they hold.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell; they alone are NaN in any case.

    Returns
    -------
    GershgorinBounds
        ``lower`` = 1 - r and ``upper`` = 1 + r with r the largest row sum of A - I (Dembélé, equation 30), and
        ``valid_lower``; each of shape (*B,). NaN where the diagonal has a zero.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Notes
    -----
    Dembélé takes 1 - r for a lower bound of the eigenvalues of B. It is not: it fails on the paper's own examples,
    as below, where the smallest eigenvalue is 0.8.

    Examples
    --------
    >>> import matrics
    >>> bounds = matrics.gershgorin_bounds([[45, 5], [5, 45]])
    >>> print(f"{bounds.lower:.3f} {bounds.upper:.3f} {bounds.valid_lower:.3f}")
    0.889 1.111 0.800
    """

    def reach(t: Table) -> Array:
        a = t.xp.where(t.is_diagonal, 0, _scaled(t, _symmetric(t)))
        return t.xp.max(t.sum_over(t.pred_axis, a), axis=0)

    def lower(t: Table) -> Array:
        return t.define(1 - reach(t), t.xp.all(t.tp != 0, axis=0))

    def upper(t: Table) -> Array:
        return t.define(1 + reach(t), t.xp.all(t.tp != 0, axis=0))

    def valid_lower(t: Table) -> Array:
        bound = lower(t)
        return bound * t.xp.where(bound >= 0, t.xp.min(t.tpr, axis=0), t.xp.max(t.tpr, axis=0))

    return GershgorinBounds(*evaluate(cm, [lower, upper, valid_lower], invalid=invalid))
