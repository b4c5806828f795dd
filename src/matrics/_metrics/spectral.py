"""Dembélé's measure: the eigenvalues of a confusion matrix and their entropy."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args, overload

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.evaluation import Invalid, evaluate
from matrics._engine.results import NamedResult
from matrics._engine.table import Table
from matrics._quoting import quoted
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray

__all__ = [
    "GershgorinBounds",
    "eigenvalues",
    "eve",
    "gershgorin_bounds",
]

Matrix = Literal["B", "A"]


class GershgorinBounds(NamedResult):
    """Bounds of the eigenvalues of B.

    Attributes
    ----------
    lower : array, shape (*B,)
        1 - r, as printed by Dembélé; a lower bound of the eigenvalues of A, but not of those of B.
    upper : array, shape (*B,)
        1 + r; no eigenvalue of A or B is larger.
    valid_lower : array, shape (*B,)
        A lower bound that holds for B: min_j b_jj (1 - r) if r <= 1, else max_j b_jj (1 - r).
    """

    lower: Array
    upper: Array
    valid_lower: Array


def _symmetric_part(t: Table, x: Array) -> Array:
    """(X + Xᵀ) / 2 of matrices in the order of the cells; for X = P, each true class scaled to 1, this is B."""
    return (x + t.transposed(x)) / 2


def _scaled(t: Table, b: Array) -> Array:
    """A = Q^-½ B Q^-½ with Q the diagonal of B, in the order of the cells; 0 in rows and columns of a zero diagonal."""
    root = t.sqrt(t.diagonal(b))
    return t.ratio(t.ratio(b, t.rowwise(root)), t.columnwise(root))


def _eigenvalues(t: Table, rates: Array, defined: Array) -> Array:
    """Ascending eigenvalues ``[class, *batch]`` of the symmetric part of matrices in the order of the cells."""
    xp = t.xp
    safe = t.zero_unless(
        defined, rates
    )  # NaN or infinity in a matrix makes LAPACK's callers raise an error for the stack
    if t.n > 3:
        return t.eigenvalues(_symmetric_part(t, safe))

    def twice(i: int, j: int) -> Array:
        return t.cell(safe, i, j) + t.cell(safe, j, i)

    diagonal = [t.cell(safe, k, k) for k in range(t.n)]

    if t.n == 1:
        return xp.stack(diagonal)
    if t.n == 2:
        return xp.stack(_pair(t, diagonal[0], diagonal[1], twice(0, 1)))
    a, b, c = diagonal
    return xp.stack(_triple(t, (a, b, c), (0.5 * twice(0, 1), 0.5 * twice(0, 2), 0.5 * twice(1, 2))))


def _pair(t: Table, a: Array, c: Array, twice: Array) -> tuple[Array, Array]:
    """Ascending eigenvalues of [[a, b], [b, c]] for twice = 2 b, both with the absolute precision of the larger."""
    trace, difference = a + c, a - c
    reach = t.sqrt(difference * difference + twice * twice)
    return 0.5 * (trace - reach), 0.5 * (trace + reach)


Three = tuple[Array, Array, Array]


def _triple(t: Table, diagonal: Three, rest: Three) -> Three:
    """Ascending eigenvalues of [[a, d, e], [d, b, f], [e, f, c]], each with the absolute precision of the largest.

    The trigonometric formula gives the eigenvalue that is farthest from the other two to full precision, but these, if
    nearly equal, to half the digits only. So only the farthest is taken from it; its eigenvector is split off, and the
    other two are solved as a pair.
    """
    xp, (a, b, c), (d, e, f) = t.xp, diagonal, rest
    mean = (a + b + c) / 3
    a, b, c = a - mean, b - mean, c - mean
    spread = t.sqrt((a * a + b * b + c * c + 2 * (d * d + e * e + f * f)) / 6)
    determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    skew = t.clip(t.ratio(determinant / 2, spread * spread * spread), -1, 1)
    size = t.abs(skew)
    # The angle as an arc tangent: the arc cosine has an infinite gradient at 1.
    far = 2 * spread * xp.cos(xp.atan2(t.sqrt(1 - size * size), size) / 3)
    far = t.sign(skew) * far
    vector = _null_vector(t, (a - far, b - far, c - far), rest)
    across, along = _complement(t, *vector)

    def sent(x: Array, y: Array, z: Array) -> Three:
        return a * x + d * y + e * z, d * x + b * y + f * z, e * x + f * y + c * z

    sent_along = sent(*along)
    low, high = _pair(t, _dot(across, sent(*across)), _dot(along, sent_along), 2 * _dot(across, sent_along))
    # The three sum to 0. As in a Rayleigh quotient, the gradient of the vector does not matter.
    both = low + high
    far = -both
    # These two, not the skew, decide whether the farthest is the smallest or the largest: if the middle eigenvalue is
    # half way, either answer will do, but XLA may compute the skew again for each use and get different answers.
    # Comparing the three would not do: a maximum of two equal values halves their gradients.
    below = both > 0
    return mean + xp.where(below, far, low), mean + xp.where(below, low, high), mean + xp.where(below, high, far)


def _dot(u: Three, v: Three) -> Array:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _null_vector(t: Table, diagonal: Three, rest: Three) -> Three:
    """Unit null vector of a singular matrix [[a, d, e], [d, b, f], [e, f, c]] of rank 2; 0 for lower ranks."""
    xp, (a, b, c), (d, e, f) = t.xp, diagonal, rest
    # The rows of the adjugate matrix, each the cross product of two rows of the matrix.
    left, middle, right = d * f - b * e, d * e - a * f, e * f - c * d
    rows = (b * c - f * f, right, left), (right, a * c - e * e, middle), (left, middle, a * b - d * d)
    first, second, third = (_dot(row, row) for row in rows)
    take_first = xp.astype((first >= second) & (first >= third), a.dtype)
    take_second = (1 - take_first) * xp.astype(second >= third, a.dtype)
    take_third = 1 - take_first - take_second

    def longest(x: Array, y: Array, z: Array) -> Array:
        return take_first * x + take_second * y + take_third * z

    length = t.sqrt(longest(first, second, third))
    x, y, z = (t.ratio(longest(*parts), length) for parts in zip(*rows, strict=True))
    return x, y, z


def _complement(t: Table, x: Array, y: Array, z: Array) -> tuple[Three, Three]:
    """Two unit vectors orthogonal to (x, y, z) and to each other (Duff et al. 2017)."""
    sign = t.sign(z)
    a = -1 / (sign + z)
    b = x * y * a
    return (1 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


def _has_eigenvalue_near_0(t: Table) -> Array:
    """Whether an eigenvalue is within two standard errors of 0, where it may enter the sum or leave it.

    The standard error of an eigenvalue is at most the largest root of 2 (1 - recall) / samples over the classes.
    """
    least = t.xp.min(t.abs(_eigenvalues(t, t.true_rates, t.has_every_class)), axis=0)
    variance = t.xp.max(t.ratio(2 * (t.true - t.tp), t.true * t.true), axis=0)
    return least * least < 4 * variance


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"-\sum_i \eta_i \log_n \eta_i, \quad \eta_i = \lambda_i / {\textstyle\sum_{\lambda_j > 0} \lambda_j}, "
    r"\quad \lambda_i > 0 \text{ eigenvalues of } \tfrac{1}{2} (P + P^\mathsf{T}), \quad p_{ij} = c_{ji} / t_j",
    source="Dembélé, equation 24",
    undefined="a true class is empty (see the option empty), or there is a single class",
    aliases=("eigenvalues_entropy",),
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="always",
    limits_need=lambda n: 80 if n == 2 else 20 * n**2,
    limits_miss=_has_eigenvalue_near_0,
)
def eve(t: Table, *, empty: Literal["nan", "repair", "zero"] = "nan") -> Array:
    """Eigenvalues entropy: normalized entropy of the positive eigenvalues; 1 without errors.

    ``empty`` selects what to do with a matrix that has an empty true class: give NaN (``"nan"``), add 1/n to every
    cell (``"repair"``, as Dembélé), or set the rates of the class to 0 (``"zero"``, as the author's R package).

    Two caveats: it can be high for a classifier that is always wrong, as classes swapped in pairs give ln(n/2) / ln n;
    and it is not symmetric, as transposing [[9, 1], [80, 210]] changes it from 0.95 to 0.

    Parameters
    ----------
    empty
        Treatment of an empty true class: the measure is NaN, or 1/n is added to every cell, or the rates of the
        class are 0.

    Examples
    --------
    >>> import matrics
    >>> matrics.eve([[[9, 1], [80, 210]], [[9, 80], [1, 210]]])
    array([0.9523835, 0.       ])
    """
    if t.n == 1:
        return t.undefined()
    if empty == "repair":
        t = t.repaired
    present = t.not_empty if empty == "zero" else t.has_every_class
    values = _eigenvalues(t, t.true_rates, present)
    positive = t.not_negative(values)
    shares = t.ratio(positive, t.classwise(t.sum(positive, axis=0)))
    value = t.within((0 - t.sum(t.x_log_x(shares), axis=0)) / math.log(t.n), 0, 1)
    # Of equal eigenvalues it is 1, and has no slope; the sum may miss it by a bit.
    if not (t.looks and t.nowhere(value > 0.99)):
        are_equal = values[0, ...] == values[-1, ...]
        value = t.xp.where(are_equal & (values[0, ...] > 0), 1, value)
    return t.define(value, present)


@overload
def eigenvalues(cm: HostArray, *, matrix: Matrix = ..., invalid: Invalid = ...) -> NumPyArray: ...
@overload
def eigenvalues(cm: ArrayT, *, matrix: Matrix = ..., invalid: Invalid = ...) -> ArrayT: ...
def eigenvalues(cm: Any, *, matrix: Matrix = "B", invalid: Invalid = "warn") -> Array:
    """Eigenvalues of the symmetric matrices that Dembélé derives from a confusion matrix.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    matrix : {"B", "A"}
        B = (P + Pᵀ) / 2, where P has every true class scaled to 1 (Dembélé, equation 23); or A, which is B scaled to a
        diagonal of 1 (Dembélé, equation 29).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell; they alone are NaN in any case.

    Returns
    -------
    array, shape (*B, n)
        In ascending order. NaN where a true class is empty, and for A where the diagonal has a zero;
        :func:`matrics.transform.repair` removes both.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``matrix`` is neither ``"B"`` nor ``"A"``.
    TypeError
        The cells are not real numbers.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Examples
    --------
    >>> import matrics
    >>> matrics.study.eigenvalues([[45, 5], [5, 45]])
    array([0.8, 1. ])
    """
    if matrix not in get_args(Matrix):
        raise ValueError(f"matrix: expected 'B' or 'A', got {quoted(matrix)}")

    def spectrum(t: Table) -> Array:
        b = t.true_rates
        defined = t.xp.all((t.true if matrix == "B" else t.tp) != 0, axis=0)
        if matrix == "B":
            return t.define(_eigenvalues(t, b, defined), defined[None, ...])
        a = t.zero_unless(defined, _scaled(t, _symmetric_part(t, b)))
        unit = t.unit(t.xp.max(a, axis=(t.true_axis, t.pred_axis)))  # a diagonal near 0 makes the others large
        return t.define(_eigenvalues(t, a * t.cellwise(unit), defined) / unit[None, ...], defined[None, ...])

    return evaluate(cm, [spectrum], invalid=invalid)[0]


def gershgorin_bounds(cm: ArrayLike, *, invalid: Invalid = "warn") -> GershgorinBounds:
    """Bounds of the eigenvalues from Gershgorin's circles, as printed by Dembélé and corrected.

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
    Dembélé uses 1 - r as a lower bound of the eigenvalues of B. It is not a bound: it fails on the paper's own
    examples, as in the example below, where the smallest eigenvalue is 0.8.

    Examples
    --------
    >>> import matrics
    >>> bounds = matrics.study.gershgorin_bounds([[45, 5], [5, 45]])
    >>> print(f"{bounds.lower:.3f} {bounds.upper:.3f} {bounds.valid_lower:.3f}")
    0.889 1.111 0.800
    """

    def reach(t: Table) -> Array:
        a = t.xp.where(t.is_diagonal, 0, _scaled(t, _symmetric_part(t, t.true_rates)))
        return t.xp.max(t.sum_over(t.pred_axis, a), axis=0)

    def lower(t: Table) -> Array:
        return t.define(1 - reach(t), t.xp.all(t.tp != 0, axis=0))

    def upper(t: Table) -> Array:
        return t.define(1 + reach(t), t.xp.all(t.tp != 0, axis=0))

    def valid_lower(t: Table) -> Array:
        bound = lower(t)
        return bound * t.xp.where(bound >= 0, t.xp.min(t.tpr, axis=0), t.xp.max(t.tpr, axis=0))

    return GershgorinBounds(*evaluate(cm, [lower, upper, valid_lower], invalid=invalid))
