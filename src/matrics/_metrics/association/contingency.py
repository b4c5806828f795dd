"""Association between true and predicted classes, as in any contingency table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "chi_squared",
    "chi_squared_degrees_of_freedom",
    "cramers_v",
    "goodman_kruskal_lambda",
    "goodman_kruskal_tau",
    "pearson_c",
    "phi",
    "phi_squared",
    "theil_u",
    "tschuprows_t",
]

Direction = Literal["true_given_pred", "pred_given_true", "symmetric"]

_EMPTY = "an empty matrix"
_ONE_TRUE = "all samples in a single true class (pred_given_true: predicted class; symmetric: cell)"


def _classes_in_use(t: Table) -> tuple[Array, Array]:
    """Number of true classes that have samples, and number of classes that are predicted."""
    dtype = t.true.dtype
    return tuple(t.sum(t.xp.astype(x != 0, dtype), axis=0) for x in (t.true, t.pred))


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\sum_{ij} \frac{(c_{ij} - t_i k_j / m)^2}{t_i k_j / m}",
    source="Labatut and Cherifi, section 4.1; Pearson 1900",
    undefined=_EMPTY,
    aliases=("chi2", "pearson_chi_squared"),
    chance="any sizes",
    symmetric=True,
    scale_free=False,
)
def chi_squared(t: Table) -> Array:
    """Pearson's χ² statistic of independence; empty classes contribute 0.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.chi_squared([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(20.4)
    """
    return t.define(t.mean_square_contingency * t.total, t.total != 0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"(n - 1)^2",
    source="Pearson 1900",
    undefined="never",
    aliases=("chi_squared_df",),
    symmetric=True,
    ignores_class_sizes="always",
)
def chi_squared_degrees_of_freedom(t: Table) -> Array:
    """Degrees of freedom of χ²; empty classes count as well.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.chi_squared_degrees_of_freedom([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(4.0)
    """
    return 0 * t.total + (t.n - 1.0) ** 2  # 0 * total gives it a gradient (of zeros)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\chi^2 / m",
    source="Labatut and Cherifi, section 4.1",
    undefined=_EMPTY,
    aliases=("mean_square_contingency",),
    chance="any sizes",
    symmetric=True,
)
def phi_squared(t: Table) -> Array:
    """Mean square contingency; between 0 and n - 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.phi_squared([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.68)
    """
    return t.define(t.mean_square_contingency, t.total != 0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\sqrt{\chi^2 / m}",
    source="Labatut and Cherifi, section 4.1",
    undefined=_EMPTY,
    chance="any sizes",
    symmetric=True,
)
def phi(t: Table) -> Array:
    """Square root of the mean square contingency, between 0 and √(n - 1); absolute value of MCC for two classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.phi([[8, 2], [3, 7]]).round(3)
    np.float64(0.503)
    """
    return t.define(t.sqrt(t.mean_square_contingency), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\sqrt{\frac{\chi^2}{\chi^2 + m}}",
    source="Labatut and Cherifi, section 4.1; Pearson 1904",
    undefined=_EMPTY,
    aliases=("contingency_coefficient", "pearsons_c"),
    chance="any sizes",
    symmetric=True,
)
def pearson_c(t: Table) -> Array:
    """Pearson's contingency coefficient; between 0 and √((n - 1) / n).

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.pearson_c([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.636)
    """
    squared = t.mean_square_contingency
    return t.define(t.sqrt(squared / (1 + squared)), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\sqrt{\frac{\chi^2}{m (n - 1)}}",
    source="Labatut and Cherifi, section 4.1; Cramér 1946",
    undefined="an empty matrix, or a single class (effective: a single true or predicted class in use)",
    aliases=("cramer_v",),
    chance="any sizes",
    symmetric=True,
)
def cramers_v(t: Table, *, effective: bool = False) -> Array:
    """Cramér's V: square root of χ² over its largest possible value.

    With ``effective``, only classes in use count: n is the number of true classes that have samples or the number of
    classes that are predicted, whichever is smaller.

    Parameters
    ----------
    effective
        Whether only the classes in use count.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.cramers_v([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.583)
    """
    if t.n == 1:
        return t.undefined()
    if not effective:
        return t.define(t.within(t.sqrt(t.mean_square_contingency / (t.n - 1)), 0, 1), t.total != 0)
    true, pred = _classes_in_use(t)
    return t.divide_root(t.mean_square_contingency, t.xp.minimum(true, pred) - 1)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\sqrt{\frac{\chi^2}{m (n - 1)}}",
    source="Labatut and Cherifi, section 4.1; Tschuprow 1925",
    undefined="an empty matrix, or a single class (effective: a single true or predicted class in use)",
    aliases=("tschuprow_t",),
    chance="any sizes",
    symmetric=True,
)
def tschuprows_t(t: Table, *, effective: bool = False) -> Array:
    """Tschuprow's T: equal to Cramér's V if there are as many true as predicted classes.

    With ``effective``, only classes in use count: √((r - 1)(s - 1)) replaces n - 1, where r true classes have samples
    and s classes are predicted. T and V then differ if r and s do.

    Parameters
    ----------
    effective
        Whether only the classes in use count.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.tschuprows_t([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.583)
    """
    if not effective:
        return cramers_v.function(t)
    true, pred = _classes_in_use(t)
    value = t.divide_root(t.mean_square_contingency, t.sqrt((true - 1) * (pred - 1)))
    return t.define(value, t.total != 0)


# Proportional reduction of error ------------------------------------------------------------------------------------


def _reduction(
    t: Table,
    direction: Direction,
    true_given_pred: Callable[[], tuple[Array, Array]],
    pred_given_true: Callable[[], tuple[Array, Array]],
) -> Array:
    """Reduction over the largest possible reduction, in either direction, or in both combined.

    It is 1, without the rounding of sums, where either class determines the other.
    """
    if direction == "symmetric":
        gain, all_there_is = (a + b for a, b in zip(true_given_pred(), pred_given_true(), strict=True))
    else:
        gain, all_there_is = true_given_pred() if direction == "true_given_pred" else pred_given_true()
    is_defined = ~t.is_zero(all_there_is)
    value = t.define(t.within(t.ratio(gain, all_there_is), 0, 1), is_defined)
    axes = {"true_given_pred": [t.true_axis], "pred_given_true": [t.pred_axis]}
    for axis in axes.get(direction, [t.true_axis, t.pred_axis]):
        is_defined = is_defined & t.is_determined(axis)
    return t.xp.where(is_defined, 1, value)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\sum_j \max_i c_{ij} - \max_i t_i}{m - \max_i t_i}",
    source="Labatut and Cherifi, section 4.1; Goodman and Kruskal 1954",
    undefined=_ONE_TRUE,
    aliases=("gk_lambda",),
    chance="any sizes",
)
def goodman_kruskal_lambda(t: Table, *, direction: Direction = "true_given_pred") -> Array:
    """Goodman and Kruskal's λ: relative reduction of errors in guessing the mode if the other class is known.

    Parameters
    ----------
    direction
        Which class is explained, and by which: the true class by the predicted class, the reverse, or both, in the
        symmetric form.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.goodman_kruskal_lambda([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.55)
    """
    xp = t.xp

    def gain(axis: int, sums: Array) -> tuple[Array, Array]:
        # Σ max - max Σ, computed as min Σ (max - c): a sum of differences of single cells.
        # No product precedes the differences: if a compiler fused the two, the mode itself would not give exactly 0.
        most = xp.max(t.cells, axis=axis, keepdims=True)
        missed = t.sum_over(t.pred_axis if axis == t.true_axis else t.true_axis, most - t.cells)
        return xp.min(missed, axis=0), xp.min(sums, axis=0)

    return _reduction(t, direction, lambda: gain(t.true_axis, t.not_true), lambda: gain(t.pred_axis, t.not_pred))


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\sum_{ij} p_{ij}^2 / p_{\cdot j} - \sum_i p_{i \cdot}^2}{1 - \sum_i p_{i \cdot}^2}",
    source="Labatut and Cherifi, section 4.1; Goodman and Kruskal 1954",
    undefined=_ONE_TRUE,
    aliases=("gk_tau",),
    chance="any sizes",
)
def goodman_kruskal_tau(t: Table, *, direction: Direction = "true_given_pred") -> Array:
    """Goodman and Kruskal's τ: as λ, but classes are guessed in proportion to their sizes instead of by the mode.

    Parameters
    ----------
    direction
        Which class is explained, and by which: the true class by the predicted class, the reverse, or both, in the
        symmetric form.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.goodman_kruskal_tau([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.34)
    """
    axes, total = (t.true_axis, t.pred_axis), t.wide(t.total)
    of_true, of_pred, of_others, of_unpredicted = t.sizes

    def true() -> tuple[Array, Array]:
        gain = t.wide(t.columnwise(t.pred)) * t.wide(t.beyond_true_share**2)
        return t.sum(gain, axis=axes) * total, t.sum(of_true * of_others, axis=0)

    def pred() -> tuple[Array, Array]:
        gain = t.wide(t.rowwise(t.true)) * t.wide(t.beyond_pred_share**2)
        return t.sum(gain, axis=axes) * total, t.sum(of_pred * of_unpredicted, axis=0)

    return _reduction(t, direction, true, pred)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{I(\mathrm{true}; \mathrm{pred})}{H(\mathrm{true})}",
    source="Labatut and Cherifi, section 4.1; Theil 1970",
    undefined=_ONE_TRUE,
    aliases=("uncertainty_coefficient", "theils_u"),
    chance="any sizes",
)
def theil_u(t: Table, *, direction: Direction = "true_given_pred") -> Array:
    """Theil's U: fraction of the entropy of the true class that the predicted class explains (or the reverse).

    Parameters
    ----------
    direction
        Which class is explained, and by which: the true class by the predicted class, the reverse, or both, in the
        symmetric form.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.theil_u([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.332)
    """
    shared = t.mutual_information
    return _reduction(t, direction, lambda: (shared, t.true_entropy), lambda: (shared, t.pred_entropy))
