"""Measures for imbalanced classes (Mullick et al.)."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "auroc_ova",
    "auroc_ova_lower_bound",
    "auroc_ovo",
    "aurpc_ova",
    "g_mean",
    "imbalance_ratio",
    "maurpc_ova",
    "nauroc_ova",
]

_EMPTY_CLASS = "a true class is empty"


def _mean_recall(t: Table) -> Array:
    return t.sum(t.tpr, axis=0) / t.n


def _mean_auc(t: Table) -> Array:
    return (_mean_recall(t) + t.sum(t.tnr, axis=0) / t.n) / 2


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\left( \prod_k \frac{tp_k}{tp_k + fn_k} \right)^{1/n}",
    source="Mullick et al., GMean; Kubat and Matwin 1997",
    undefined=_EMPTY_CLASS,
    aliases=("gmean", "geometric_mean"),
    needs_every_class=True,
    ignores_class_sizes="always",
)
def g_mean(t: Table) -> Array:
    """Geometric mean of the recalls of all classes; 0 if a class has no true positive.

    For two classes, and so with ``:one_vs_rest``, it is the square root of recall times specificity.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.g_mean([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.695)
    """
    mean = t.xp.exp(t.sum(t.log(t.tpr), axis=0) / t.n)
    return t.define(t.xp.where(t.xp.any(t.is_zero(t.tpr), axis=0), 0, mean), t.has_every_class)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{n (n - 1)} \sum_i \sum_{j \ne i} "
    r"\tfrac{1}{2} \left( 1 + \frac{c_{ii}}{t_i} - \frac{c_{ji}}{t_j} \right) "
    r"= \frac{n}{2 (n - 1)} \mathrm{ACSA} + \frac{n - 2}{2 (n - 1)}",
    source="Mullick et al., equation 12 and lemma 2",
    undefined="a true class is empty, or there is a single class",
    lowest=lambda n: (n - 2) / (2 * (n - 1)),
    chance="any sizes",
    chance_value=0.5,
    needs_every_class=True,
    ignores_class_sizes="always",
)
def auroc_ovo(t: Table) -> Array:
    """Area under the ROC curve of a single operating point, averaged over pairs of classes.

    It is a linear function of the mean recall (the right-hand form). Its smallest value, (n - 2) / (2n - 2), approaches
    ½ for many classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.auroc_ovo([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.775)
    """
    if t.n == 1:
        return t.undefined()
    return t.define((t.n * _mean_recall(t) + t.n - 2) / (2 * (t.n - 1)), t.has_every_class)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2n} \sum_k \left( 1 + \frac{tp_k}{tp_k + fn_k} - \frac{fp_k}{fp_k + tn_k} \right)",
    source="Mullick et al., equation 13",
    undefined="a true class is empty, or there is a single class",
    lowest=lambda n: (n - 2) / (2 * n),
    chance="any sizes",
    chance_value=0.5,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def auroc_ova(t: Table) -> Array:
    """Area under the ROC curve of a single operating point, averaged over the classes, each against the rest.

    Its smallest value for given class sizes is :func:`auroc_ova_lower_bound`.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.auroc_ova([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.775)
    """
    if t.n == 1:
        return t.undefined()
    return t.define(_mean_auc(t), t.has_every_class)


@metric(
    kind="overall",
    range=(0, 0.5),
    higher_is_better=None,
    formula=r"\frac{1}{2n} \left( n - 1 - \frac{t_{(n)}}{m - t_{(n-1)}} \right), "
    r"\quad t_{(n-1)} \le t_{(n)} \text{ the two largest true classes}",
    source="Mullick et al., equation 19",
    undefined="an empty matrix, or a single class",
    lowest=lambda n: (n - 2) / (2 * n),
    ignores_class_sizes="two classes",
    limits_need=lambda _: math.inf,
)
def auroc_ova_lower_bound(t: Table) -> Array:
    """The smallest AUROC-OVA for these class sizes: each sample is predicted as the largest of the other classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.auroc_ova_lower_bound([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.25)
    """
    if t.n == 1:
        return t.undefined()
    xp = t.xp
    largest = xp.max(t.true, axis=0)
    # Second largest: the largest of the smaller sizes, or the largest itself if two classes have it.
    smaller = t.true < largest[None, ...]
    tied = t.sum(xp.astype(smaller, t.true.dtype), axis=0) < t.n - 1.5
    second = xp.where(tied, largest, xp.max(xp.where(smaller, t.true, 0), axis=0))
    bound = (t.n - 1 - t.ratio(largest, t.total - second)) / (2 * t.n)
    return t.define(t.within(bound, (t.n - 2) / (2 * t.n), 0.5), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\rho - \lambda}{1 - \lambda}, \quad \rho = \text{AUROC-OVA}, \quad \lambda = \frac{n - 2}{2n}",
    source="Mullick et al., section 4 (nAUROC-OVA)",
    undefined="a true class is empty, or there is a single class",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def nauroc_ova(t: Table) -> Array:
    """AUROC-OVA, scaled to [0, 1] for any number of classes.

    It approaches 0, but does not reach it, as the two largest classes take all samples; for three classes of equal size
    its smallest value is 0.1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.nauroc_ova([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.73)
    """
    if t.n == 1:
        return t.undefined()
    least = (t.n - 2) / (2 * t.n)
    return t.define((_mean_auc(t) - least) / (1 - least), t.has_every_class)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2n} \sum_k \left( \frac{tp_k}{tp_k + fp_k} + \frac{tp_k}{tp_k + fn_k} \right)",
    source="Mullick et al., equation 14",
    undefined="a true class is empty, or a class is never predicted",
    symmetric=True,
    needs_every_class=True,
)
def aurpc_ova(t: Table) -> Array:
    """Area under the recall-precision curve of a single operating point, averaged over the classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.aurpc_ova([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.7)
    """
    return t.define(t.sum(t.ppv + t.tpr, axis=0) / (2 * t.n), t.xp.all(t.in_both, axis=0))


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2n} \sum_i \left( \frac{c_{ii} / t_i}{\sum_j c_{ji} / t_j} + \frac{c_{ii}}{t_i} \right)",
    source="Mullick et al., equation 25",
    undefined="a true class is empty, or a class is never predicted",
    needs_every_class=True,
    ignores_class_sizes="always",
)
def maurpc_ova(t: Table) -> Array:
    """AURPC-OVA as it would be if all classes had the same size.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.maurpc_ova([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.7)
    """
    precision = t.ratio(t.tpr, t.sum_over(t.true_axis, t.true_rates))
    return t.define(t.sum(precision + t.tpr, axis=0) / (2 * t.n), t.xp.all(t.in_both, axis=0))


@metric(
    kind="overall",
    range=(1, math.inf),
    higher_is_better=None,
    formula=r"\frac{\max_k t_k}{\min_k t_k}",
    source="Mullick et al., RRT; Dembélé, section 3.1",
    undefined=_EMPTY_CLASS,
    aliases=("ir", "rrt"),
    needs_every_class=True,
)
def imbalance_ratio(t: Table) -> Array:
    """Size of the largest true class over that of the smallest.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.imbalance_ratio([[80, 20], [3, 7]])
    np.float64(10.0)
    """
    return t.divide(t.xp.max(t.true, axis=0), t.xp.min(t.true, axis=0))
