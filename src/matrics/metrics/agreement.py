"""Measures of agreement between the true classes and the predicted ones."""

from __future__ import annotations

from matrics._backend import Array
from matrics.metrics.averages import mean_of_defined
from matrics.metrics.catalogue import metric
from matrics.table import Table


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{m} \sum_k tp_k",
    source="Dembélé, equation 8",
    undefined="an empty matrix",
    aliases=("osr", "overall_accuracy", "overall_success_rate", "acc"),
)
def accuracy(t: Table) -> Array:
    """Share of the items that are called what they are.

    Examples
    --------
    >>> import matrics
    >>> matrics.accuracy([[[8, 2], [2, 8]], [[5, 0], [0, 5]]])
    array([0.8, 1. ])
    """
    return t.divide(t.hits, t.total)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{n} \sum_k \frac{tp_k}{tp_k + fn_k}",
    source="Mullick et al., ACSA",
    undefined="an empty matrix (empty classes are left out of the mean)",
    aliases=("acsa", "average_class_accuracy"),
)
def balanced_accuracy(t: Table) -> Array:
    """Mean recall of the classes that have items.

    Examples
    --------
    >>> import matrics
    >>> matrics.balanced_accuracy([[90, 10], [5, 5]])
    np.float64(0.7)
    """
    return mean_of_defined(t.divide(t.tp, t.true), t)


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - p_e}{1 - p_e} = \frac{\sum_k (tp_k\,tn_k - fp_k\,fn_k)}{\sum_k t_k (m - k_k)}",
    source="Dembélé, equation 9; Cohen 1960",
    undefined="all items in one and the same true and predicted class",
    aliases=("kappa", "heidke_skill_score"),
)
def cohen_kappa(t: Table) -> Array:
    """Agreement beyond what the class sizes make happen by chance.

    The form on the right has no difference of nearly equal numbers, and so keeps its digits at any count.

    Examples
    --------
    >>> import matrics
    >>> print(f"{matrics.cohen_kappa([[20, 5], [10, 15]]):.4f}")
    0.4000
    """
    return t.divide(t.covariance, t.xp.sum(t.scaled(t.true) * t.scaled(t.not_pred), axis=0))
