"""Pairs of raters as confusion matrices, and the agreement without each rater."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

from matrics._progress import steps
from matrics._quoting import quoted
from matrics._raters.coefficients import NAMES, linearised
from matrics._raters.limits import default_weights
from matrics._raters.ratings import read_ratings
from matrics.typing import ArrayLike


def pairwise(ratings: ArrayLike, *, num_classes: int | None = None, labels: Iterable[Hashable] | None = None) -> Any:
    """The confusion matrices of all pairs of raters, over the items that both have rated.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.

    Returns
    -------
    array of int, shape (*B, raters, raters, n, n)
        ``[a, b]`` has the ratings of a in rows and those of b in columns; ``[a, a]`` is diagonal.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Examples
    --------
    Every measure of a matrix is a measure of pairs of raters:

    >>> import matrics
    >>> ratings = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 0, 1], [1, 1, -1]]
    >>> matrics.cohen_kappa(matrics.raters.pairwise(ratings, num_classes=2)).round(2)
    array([[1.  , 0.62, 0.5 ],
           [0.62, 1.  , 0.2 ],
           [0.5 , 0.2 , 1.  ]])
    """
    read = read_ratings(ratings, num_classes, labels)
    xp, chosen = read.backend.xp, read.chosen
    raters = chosen.shape[-2]
    rows = [
        xp.sum(chosen[..., a, None, :, None] * chosen[..., :, None, :], axis=-4) for a in range(raters)
    ]  # a rater at a time: (*B, raters, n, n) from (*B, items, raters, n, n)
    integer = read.backend.widest_int(chosen) or xp.int32
    return read.returned(xp.astype(xp.stack(rows, axis=-4), integer))


def leave_one_out(
    ratings: ArrayLike,
    coefficient: str,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Any = None,
) -> Any:
    """The agreement of the other raters without each of them, which shows who agrees least with the rest.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    coefficient : str
        The name of a coefficient, such as ``"krippendorff_alpha"``.
    weights : str or array_like, optional
        How much two ratings agree, by name or as a matrix (n, n); the default of the coefficient if left out.

    Returns
    -------
    array, shape (*B, raters)
        The coefficient of all ratings but those of each rater. Where it is higher than that of all, the rater disagrees
        with the others.

    Raises
    ------
    ValueError
        The coefficient does not exist, or as :func:`percent_agreement`.

    Examples
    --------
    >>> from matrics import raters
    >>> ratings = [[0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 0]]
    >>> raters.leave_one_out(ratings, "fleiss_kappa", num_classes=2).round(2)
    array([0.1 , 0.1 , 0.11, 0.77])
    """
    if coefficient not in NAMES:
        raise ValueError(f"coefficient: expected {', '.join(map(repr, NAMES))}, got {quoted(coefficient)}")
    known = None if labels is None else tuple(labels)
    read = read_ratings(ratings, num_classes, known)
    xp, chosen = read.backend.xp, read.chosen
    raters = chosen.shape[-2]
    own = weights if weights is not None else default_weights(coefficient)
    values = []
    for rater in steps(range(raters)):
        others = xp.concat([chosen[..., :rater, :], chosen[..., rater + 1 :, :]], axis=-2)
        values.append(linearised(coefficient, read._replace(chosen=others), own, known).value)
    if not values:
        return read.returned(xp.zeros((*chosen.shape[:-3], 0), dtype=chosen.dtype) * math.nan)
    return read.returned(xp.stack(values, axis=-1))
