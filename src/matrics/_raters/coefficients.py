"""The public coefficients of agreement of several raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, get_args

from matrics._arrays import Array
from matrics._quoting import quoted
from matrics._raters import formulas
from matrics._raters.formulas import Linearised
from matrics._raters.ratings import Ratings, read_ratings
from matrics._raters.weights import Weights, class_values, weight_matrix
from matrics.typing import ArrayLike

Distances = Literal["nominal", "ordinal", "interval", "ratio"]

#: Coefficients by name; the weights of an AC1 are none, and Krippendorff's are distances.
FORMULAS: dict[str, Callable[[Ratings, Array], Linearised]] = {
    "percent_agreement": formulas.percent_agreement,
    "brennan_prediger": formulas.brennan_prediger,
    "fleiss_kappa": formulas.fleiss,
    "conger_kappa": formulas.conger,
    "gwet_ac1": formulas.gwet,
    "gwet_ac2": formulas.gwet,
}
NAMES = (*FORMULAS, "krippendorff_alpha")


def linearised(name: str, ratings: Ratings, weights: Any, labels: Any) -> Linearised:
    """A coefficient by its name, with the contributions of the items."""
    n = ratings.chosen.shape[-1]
    values = class_values(labels, n)
    if name == "krippendorff_alpha":
        if isinstance(weights, str) and weights not in formulas.DISTANCES:
            words = ", ".join(map(repr, get_args(Distances)))
            raise ValueError(f"weights: expected one of {words} for krippendorff_alpha, got {quoted(weights)}")
        return formulas.krippendorff(ratings, weights, values)
    if name == "gwet_ac1":
        weights = "none"
    matrix = weight_matrix(weights, n, values)
    with ratings.backend.quiet():
        return FORMULAS[name](ratings, formulas.as_weights(matrix, ratings))


def _value(name: str, ratings: Any, num_classes: int | None, labels: Iterable[Hashable] | None, weights: Any) -> Any:
    known = None if labels is None else tuple(labels)
    read = read_ratings(ratings, num_classes, known)
    return read.returned(linearised(name, read, weights, known).value)


def percent_agreement(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Weights | ArrayLike = "none",
) -> Any:
    """The share of pairs of raters that agree on an item, on average over the items with two ratings or more.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"none", "linear", "quadratic", "ordinal", "radical", "ratio"} or array_like, shape (n, n)
        How much two ratings agree: 1 for equal ratings, and less for others. Linear, quadratic and radical weights fall
        with the distance of the labels where these are numbers, and else with that of their places. Ordinal weights
        fall with the number of places between them, and ratio weights with the square of (a - b) / (a + b).

    Returns
    -------
    array, shape (*B,)
        Up to 1. NaN where no item has two ratings.

    Raises
    ------
    ValueError
        A rating is out of range or unknown, or weights do not exist or have another shape.
    TypeError
        Not exactly one of ``num_classes`` and ``labels`` is given.

    Examples
    --------
    >>> from matrics import raters
    >>> ratings = [["a", "a", "a"], ["a", "b", None], ["b", "b", "a"]]
    >>> float(raters.percent_agreement(ratings, labels=["a", "b"]))  # 1, 0 and a third
    0.4444444444444444
    """
    return _value("percent_agreement", ratings, num_classes, labels, weights)


def brennan_prediger(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Weights | ArrayLike = "none",
) -> Any:
    """Agreement beyond that of raters who choose all classes equally often (Brennan and Prediger 1981).

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"none", "linear", "quadratic", "ordinal", "radical", "ratio"} or array_like, shape (n, n)
        How much two ratings agree: 1 for equal ratings, and less for others. Linear, quadratic and radical weights fall
        with the distance of the labels where these are numbers, and else with that of their places. Ordinal weights
        fall with the number of places between them, and ratio weights with the square of (a - b) / (a + b).

    Returns
    -------
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, and for a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Examples
    --------
    >>> from matrics import raters
    >>> print(f"{raters.brennan_prediger([[0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, -1]], num_classes=2):.4f}")
    0.6667
    """
    return _value("brennan_prediger", ratings, num_classes, labels, weights)


def fleiss_kappa(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Weights | ArrayLike = "none",
) -> Any:
    """Agreement beyond that of two ratings drawn from all of them (Fleiss 1971), also with gaps (Gwet 2014).

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"none", "linear", "quadratic", "ordinal", "radical", "ratio"} or array_like, shape (n, n)
        How much two ratings agree: 1 for equal ratings, and less for others. Linear, quadratic and radical weights fall
        with the distance of the labels where these are numbers, and else with that of their places. Ordinal weights
        fall with the number of places between them, and ratio weights with the square of (a - b) / (a + b).

    Returns
    -------
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, or all ratings are of a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Notes
    -----
    With two raters it is Scott's π, and not Cohen's κ, which :func:`conger_kappa` is.

    Examples
    --------
    >>> from matrics import raters
    >>> round(float(raters.fleiss_kappa([[0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, -1]], num_classes=2)), 4)
    0.6571
    """
    return _value("fleiss_kappa", ratings, num_classes, labels, weights)


def conger_kappa(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Weights | ArrayLike = "none",
) -> Any:
    """Agreement beyond that of raters with their own frequencies of the classes (Conger 1980); of two, Cohen's κ.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"none", "linear", "quadratic", "ordinal", "radical", "ratio"} or array_like, shape (n, n)
        How much two ratings agree: 1 for equal ratings, and less for others. Linear, quadratic and radical weights fall
        with the distance of the labels where these are numbers, and else with that of their places. Ordinal weights
        fall with the number of places between them, and ratio weights with the square of (a - b) / (a + b).

    Returns
    -------
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, or all ratings are of a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Examples
    --------
    >>> import matrics
    >>> first, second = [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0]
    >>> matrics.raters.conger_kappa([list(pair) for pair in zip(first, second)], num_classes=3)
    np.float64(0.5)
    >>> matrics.cohen_kappa(matrics.confusion_matrix(first, second, num_classes=3))
    np.float64(0.5)
    """
    return _value("conger_kappa", ratings, num_classes, labels, weights)


def gwet_ac1(ratings: ArrayLike, *, num_classes: int | None = None, labels: Iterable[Hashable] | None = None) -> Any:
    """Agreement beyond that on items which are hard to rate (Gwet 2008): high where κ is low for rare classes.

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
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, and for a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Examples
    --------
    All raters agree on nineteen items, and disagree on the twentieth: κ treats this as chance.

    >>> from matrics import raters
    >>> ratings = [[0, 0, 0]] * 19 + [[0, 0, 1]]
    >>> ac1, kappa = (f(ratings, num_classes=2) for f in (raters.gwet_ac1, raters.fleiss_kappa))
    >>> print(f"{ac1:.2f} {kappa:.2f}")
    0.97 -0.02
    """
    return _value("gwet_ac1", ratings, num_classes, labels, "none")


def gwet_ac2(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Weights | ArrayLike = "quadratic",
) -> Any:
    """Gwet's AC1 with weights: ratings that are close agree in part.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"quadratic", "none", "linear", "ordinal", "radical", "ratio"} or array_like, shape (n, n)
        How much two ratings agree: 1 for equal ratings, and less for others. Linear, quadratic and radical weights fall
        with the distance of the labels where these are numbers, and else with that of their places. Ordinal weights
        fall with the number of places between them, and ratio weights with the square of (a - b) / (a + b).

    Returns
    -------
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, and for a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Examples
    --------
    >>> from matrics import raters
    >>> ratings = [[1, 1, 2], [2, 2, 2], [3, 3, 2], [4, 4, 5], [5, 5, 5]]
    >>> print(f"{raters.gwet_ac2(ratings, labels=[1, 2, 3, 4, 5], weights='linear'):.4f}")
    0.7656
    """
    return _value("gwet_ac2", ratings, num_classes, labels, weights)


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Distances | ArrayLike = "nominal",
) -> Any:
    """1 less the disagreement within items over that of any two ratings (Krippendorff 1970, 2018).

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    weights : {"nominal", "ordinal", "interval", "ratio"} or array_like, shape (n, n)
        The level of measurement, which says how far ratings are apart: equal or not; by the ratings between them; by
        their difference; by their difference over their sum. The last two take ``labels`` for the values of the classes
        where these are numbers, and else 1 to n. Or a matrix of weights of agreement, from 0 to 1 for equal ratings.

    Returns
    -------
    array, shape (*B,)
        Up to 1; 0 for chance. NaN where no item has two ratings, or all such ratings are of a single class.

    Raises
    ------
    ValueError, TypeError
        As :func:`percent_agreement`.

    Notes
    -----
    Items with a single rating do not count. The catalogue's ``krippendorff_alpha`` is of a matrix of two raters.

    Examples
    --------
    >>> from matrics import raters
    >>> ratings = [[1, 1, -1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4],
    ...            [1, 1, 2, 1], [2, 2, 2, 2], [-1, 5, 5, 5], [-1, -1, 1, 1], [-1, -1, 3, -1]]
    >>> for level in ["nominal", "ordinal", "interval", "ratio"]:
    ...     print(f"{level} {raters.krippendorff_alpha(ratings, labels=[1, 2, 3, 4, 5], weights=level):.3f}")
    nominal 0.743
    ordinal 0.815
    interval 0.849
    ratio 0.797
    """
    return _value("krippendorff_alpha", ratings, num_classes, labels, weights)
