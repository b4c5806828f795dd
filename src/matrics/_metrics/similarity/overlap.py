"""Overlap of a class's samples with its predictions: Jaccard and its relatives."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.options import NotNegative
from matrics._catalogue.registry import metric
from matrics._engine.table import Table
from matrics._metrics.rates import mean_of_precision_and_recall

__all__ = [
    "braun_blanquet",
    "csi",
    "fowlkes_mallows",
    "icsi",
    "jaccard",
    "kulczynski",
    "overlap_coefficient",
    "tversky_index",
]

_NOT_BOTH = "no sample of the class, or none predicted as it"


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fp + fn}",
    source="Jaccard 1901",
    undefined="no sample of the class and none predicted as it",
    aliases=("iou", "jaccard_index", "jaccard_score", "threat_score", "critical_success_index"),
    symmetric=True,
)
def jaccard(t: Table) -> Array:
    """Intersection over union of the samples of a class and the samples predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.jaccard([[8, 2], [0, 2]], average="class")
    array([0.8, 0.5])
    """
    return t.divide(t.tp, t.tp + t.class_errors)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\sqrt{\frac{tp}{tp + fp} \cdot \frac{tp}{tp + fn}}",
    source="Dembélé, equation 6",
    undefined="no sample of the class, or none predicted as it",
    aliases=("fmi", "fowlkes_mallows_index", "otsuka_ochiai", "cosine_similarity"),
    symmetric=True,
    needs_every_class=True,
)
def fowlkes_mallows(t: Table) -> Array:
    """Geometric mean of precision and recall.

    scikit-learn's ``fowlkes_mallows_score`` is a different measure: this measure for pairs of samples
    (``fowlkes_mallows(pair_counts(cm), average="binary")``).

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fowlkes_mallows([[8, 2], [2, 3]], average="class")
    array([0.8, 0.6])
    """
    true, pred, _, _ = t.sizes
    return t.divide(t.wide(t.tp), t.sqrt(true * pred))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fp} + \frac{tp}{tp + fn} - 1",
    source="Labatut and Cherifi, section 4.5 (ICSI)",
    undefined=_NOT_BOTH,
    aliases=("individual_classification_success_index",),
    symmetric=True,
    needs_every_class=True,
)
def icsi(t: Table) -> Array:
    """Precision plus recall minus 1: individual classification success index.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.icsi([[8, 2], [3, 7]], average="class").round(3)
    array([0.527, 0.478])
    """
    return t.define(t.ppv + t.tpr - 1, t.in_both)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2} \left( \frac{tp}{tp + fp} + \frac{tp}{tp + fn} \right)",
    source="Labatut and Cherifi, section 4.4; Kulczynski 1927",
    undefined=_NOT_BOTH,
    symmetric=True,
    needs_every_class=True,
)
def kulczynski(t: Table) -> Array:
    """Arithmetic mean of precision and recall.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kulczynski([[8, 2], [3, 7]], average="class").round(3)
    array([0.764, 0.739])
    """
    return mean_of_precision_and_recall(t)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{\min(tp + fp, tp + fn)}",
    source="Szymkiewicz 1934; Simpson 1943",
    undefined=_NOT_BOTH,
    aliases=("szymkiewicz_simpson",),
    symmetric=True,
    needs_every_class=True,
)
def overlap_coefficient(t: Table) -> Array:
    """The larger of precision and recall.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.overlap_coefficient([[8, 2], [3, 7]], average="class").round(3)
    array([0.8  , 0.778])
    """
    return t.divide(t.tp, t.xp.minimum(t.pred, t.true))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{\max(tp + fp, tp + fn)}",
    source="Braun-Blanquet 1932; Mosley 2013 for its mean over the classes",
    undefined="no sample of the class and none predicted as it",
    aliases=("class_balance_accuracy",),
    symmetric=True,
    limits_need=lambda _: math.inf,
)
def braun_blanquet(t: Table) -> Array:
    """The smaller of precision and recall. Its mean over the classes is the class balance accuracy.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.braun_blanquet([[8, 2], [3, 7]], average="class").round(3)
    array([0.727, 0.7  ])
    """
    return t.divide(t.tp, t.xp.maximum(t.pred, t.true))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + \alpha\,fn + \beta\,fp}",
    source="Tversky 1977",
    undefined="no sample of the class and none predicted as it (with a weight of 0: tp = 0 and no weighted errors)",
)
def tversky_index(t: Table, *, alpha: NotNegative = 0.5, beta: NotNegative = 0.5) -> Array:
    """True positives over these plus weighted errors: Dice for ½ and ½, Jaccard for 1 and 1, recall for 1 and 0.

    Parameters
    ----------
    alpha
        Weight of false negatives.
    beta
        Weight of false positives.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.tversky_index([[8, 2], [3, 7]], average="class").round(3)
    array([0.762, 0.737])
    """
    return t.divide(t.tp, t.tp + (alpha * t.fn + beta * t.fp))


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{1}{n} \sum_k \left( \frac{tp_k}{tp_k + fp_k} + \frac{tp_k}{tp_k + fn_k} - 1 \right)",
    source="Labatut and Cherifi, section 4.5 (CSI)",
    undefined="a true class is empty, or a class is never predicted",
    aliases=("classification_success_index",),
    symmetric=True,
    needs_every_class=True,
)
def csi(t: Table) -> Array:
    """Mean of the individual classification success indices of the classes (:func:`icsi`).

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.csi([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.4)
    """
    return t.define(t.sum(t.ppv + t.tpr, axis=0) / t.n - 1, t.xp.all(t.in_both, axis=0))
