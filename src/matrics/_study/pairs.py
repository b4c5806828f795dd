"""Consistency and discriminancy of two measures, from pairs of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._engine.results import NamedResult
from matrics._study.ranks import Pairs, Ranking, count_by_matrix
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.options import check_level
from matrics.typing import ArrayLike


class PairShares(NamedResult):
    """A comparison of two measures on pairs of matrices, as from :func:`matrics.study.consistency`.

    Parameters
    ----------
    value : float
        The consistency or the discriminancy.
    low, high : float
        The confidence limits; NaN if they do not exist.
    standard_error : float
        The standard error, by the jackknife.
    agreeing : int
        The number of pairs of matrices that both measures order, in the same way (R).
    opposing : int
        The number of pairs that both order, in opposite ways (S).
    only_f : int
        The number of pairs that f orders, and on which g has equal values (P).
    only_g : int
        The number of pairs that g orders, and on which f has equal values (Q).
    left_out : int
        The number of matrices left out because one of the measures is NaN.
    """

    value: float
    low: float
    high: float
    standard_error: float
    agreeing: int
    opposing: int
    only_f: int
    only_g: int
    left_out: int


def consistency(f: ArrayLike, g: ArrayLike, *, level: float = 0.95) -> PairShares:
    """Of the pairs of matrices that two measures order, the share that they order in the same way: R / (R + S).

    R is the number of pairs with f(a) > f(b) and g(a) > g(b), S the number with f(a) > f(b) and g(a) < g(b). The
    consistency is in [0, 1]: 1 if the measures never contradict each other, 1/2 if their orders are independent. Values
    have no direction: negate the values of a measure that is better when lower, such as ``cen``.

    Parameters
    ----------
    f, g : array_like, shape (N,)
        The values of two measures for the same N matrices, of any array library; compared as float64. Matrices with a
        NaN in f or g are left out. Only identical numbers are equal, so round values that differ in the last digit
        only; :func:`matrics.study.agreement` does that.
    level : float, default 0.95
        The confidence level of the interval.

    Returns
    -------
    PairShares
        The consistency, its limits and standard error, and the numbers of pairs. The value is NaN if no pair is ordered
        by both measures.

    Raises
    ------
    ValueError
        The arrays have different shapes, or not one axis, or ``level`` is not between 0 and 1.

    Notes
    -----
    Source: Huang & Ling 2005, definition 1; Jurman & Furlanello 2010, section 2. Pairs are counted exactly,
    in O(N log N). Matrices are assumed to be independent draws. Pairs are not independent, as each matrix is in N - 1
    pairs. The standard error is computed by the jackknife, which leaves out a matrix at a time. The interval is
    symmetric on the logit scale. It does not exist (NaN) if the value is 0 or 1, because the jackknife values are then
    all equal, or if a single matrix is in all pairs that both measures order.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.study.consistency([1, 2, 2, 5, 7, 7], [1, 3, 2, 2, 9, 9])
    >>> round(result.value, 3), result.agreeing, result.opposing
    (0.917, 11, 1)
    """
    pairs, each, left_out, z = _pair_counts(f, g, level)
    both = pairs.agreeing + pairs.opposing
    value = pairs.consistency
    error = _jackknife(pairs.agreeing - each[0], both - each[0] - each[1])
    varies = 0 < value < 1 and math.isfinite(error)
    reach = z * error / (value * (1 - value)) if varies else math.nan
    odds = value / (1 - value) if varies else math.nan
    low, high = (1 / (1 + math.exp(-side * reach) / odds) for side in (-1, 1))
    return PairShares(value, low, high, error, *pairs, left_out)


def discriminancy(f: ArrayLike, g: ArrayLike, *, level: float = 0.95) -> PairShares:
    """The number of pairs that only f distinguishes, divided by the number that only g distinguishes: P / Q.

    P is the number of pairs with f(a) > f(b) and g(a) = g(b), Q the number with f(a) = f(b) and g(a) > g(b). Above 1, f
    distinguishes more pairs than g. The directions of the measures do not matter.

    Parameters
    ----------
    f, g : array_like, shape (N,)
        The values of two measures for the same N matrices, of any array library; compared as float64. Matrices with a
        NaN in f or g are left out. Only identical numbers are equal, on which the discriminancy depends: round values
        that differ in the last digit only; :func:`matrics.study.agreement` does that.
    level : float, default 0.95
        The confidence level of the interval.

    Returns
    -------
    PairShares
        The discriminancy, its limits and standard error, and the numbers of pairs. The value is infinite if P > 0 and Q
        = 0, and NaN if both are 0.

    Raises
    ------
    ValueError
        The arrays have different shapes, or not one axis, or ``level`` is not between 0 and 1.

    Notes
    -----
    Source: Huang & Ling 2005, definition 2; Jurman & Furlanello 2010, section 2. As
    :func:`matrics.study.consistency`, with an interval that is symmetric on the logarithmic scale. It does not exist
    (NaN) if P or Q is 0, or if a single matrix is in all pairs of Q. With few matrices the jackknife overestimates
    (Efron & Stein 1981), so the interval is too wide rather than too narrow.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.study.discriminancy([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8])
    >>> result.value, result.only_f, result.only_g
    (5.0, 5, 1)
    """
    pairs, each, left_out, z = _pair_counts(f, g, level)
    value = pairs.discriminancy
    error = _jackknife(pairs.only_f - each[2], pairs.only_g - each[3])
    varies = 0 < value < math.inf and math.isfinite(error)
    factor = math.exp(z * error / value) if varies else math.nan
    return PairShares(value, value / factor, value * factor, error, *pairs, left_out)


def _pair_counts(f: Any, g: Any, level: Any) -> tuple[Pairs, tuple[Array, Array, Array, Array], int, float]:
    """The numbers of all pairs, the numbers of pairs of each matrix, the number of matrices left out, and z."""
    z = normal_quantile(check_level(level))
    values = [_as_values(name, array) for name, array in (("f", f), ("g", g))]
    if values[0].shape != values[1].shape:
        raise ValueError(f"expected f and g for the same matrices, got shapes {values[0].shape} and {values[1].shape}")
    kept = ~(np.isnan(values[0]) | np.isnan(values[1]))
    each = count_by_matrix(*(Ranking.of(array[kept]) for array in values))
    return Pairs(*(int(part.sum()) // 2 for part in each)), each, len(kept) - int(kept.sum()), z


def _as_values(name: str, values: Any) -> Array:
    backend, (array,) = as_arrays(**{name: values})
    if array.ndim != 1:
        raise ValueError(f"{name}: expected a value for each of N matrices, (N,), got shape {tuple(array.shape)}")
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    return np.asarray(backend.to_numpy(array), np.float64)


def _jackknife(numerators: Array, denominators: Array) -> float:
    """The standard error of a ratio, from the numerators and denominators without each matrix."""
    if not len(numerators) or not denominators.all():
        return math.nan
    ratios = numerators / denominators
    return math.sqrt((len(ratios) - 1) / len(ratios) * float(((ratios - ratios.mean()) ** 2).sum()))
