"""Measures of agreement between true and predicted classes."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.averages import mean_of_defined
from matrics._catalogue.registry import metric
from matrics._engine.table import Table
from matrics._metrics.chance_corrected.kappa import cohen_kappa

__all__ = [
    "accuracy",
    "adjusted_rand_index",
    "balanced_accuracy",
    "bangdiwala_b",
    "global_performance_index",
    "hamming_loss",
    "zero_one_loss_count",
]

_EMPTY = "an empty matrix"


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{m} \sum_k tp_k",
    source="Dembélé, equation 8",
    undefined="an empty matrix",
    aliases=("osr", "overall_accuracy", "overall_success_rate", "acc", "accuracy_score", "pixel_accuracy"),
    symmetric=True,
    proportion_of="total",
)
def accuracy(t: Table) -> Array:
    """Fraction of samples that are predicted as their true class.

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
    undefined="an empty matrix (classes without samples are left out of the mean)",
    aliases=("acsa", "average_class_accuracy", "balanced_accuracy_score"),
    ignores_class_sizes="always",
)
def balanced_accuracy(t: Table) -> Array:
    """Mean recall of the classes that have samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.balanced_accuracy([[90, 10], [5, 5]])
    np.float64(0.7)
    """
    return mean_of_defined(t.divide(t.tp, t.true), t)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\sum_k tp_k^2}{\sum_k t_k k_k}",
    source="Bangdiwala 1985",
    undefined="no class has both samples and predictions",
    symmetric=True,
)
def bangdiwala_b(t: Table) -> Array:
    """Area of agreement in Bangdiwala's agreement chart: sum of tp² over sum of row sum times column sum.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.bangdiwala_b([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.497)
    """
    (tp, _, _, _), (true, pred, _, _) = t.outcomes, t.sizes
    return t.divide(t.sum(tp * tp, axis=0), t.sum(true * pred, axis=0))


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{2 (ad - bc)}{(a + b)(b + d) + (a + c)(c + d)} \text{ of the counts of pairs}",
    source="Hubert and Arabie 1985; Dembélé, equations 13 and 14 for the pairs",
    undefined="fewer than two samples, all samples in a single cell, or no two samples in the same row or column",
    aliases=("ari", "adjusted_rand_score"),
    chance="any sizes",
    symmetric=True,
    scale_free=False,
)
def adjusted_rand_index(t: Table) -> Array:
    """Agreement of two clusterings beyond chance: κ of the pairs of samples (:func:`pair_counts`).

    Both samples of a pair are in the same class or in two classes, so the labels of the classes do not matter. The
    cells must be counts of samples: soft counts do not form pairs.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.adjusted_rand_index([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.291)
    """
    # The counts are scaled to keep products of four of them in range; κ does not depend on the scale.
    return t.define(cohen_kappa.function(t.pairs(t.unit(t.total))), t.total >= 2)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=False,
    formula=r"1 - p_o = \frac{1}{m} \sum_{i \ne j} c_{ij}",
    source="Hamming 1950",
    undefined=_EMPTY,
    aliases=("error_rate", "misclassification_rate", "hamming_distance", "zero_one_loss"),
    symmetric=True,
    proportion_of="total",
)
def hamming_loss(t: Table) -> Array:
    """Fraction of samples that are predicted as another class.

    Their number is :func:`zero_one_loss_count`. Of samples with several labels it is
    ``matrics.multilabel.score(y_true, y_pred, "hamming_loss", average="micro")``.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.hamming_loss([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.3)
    """
    return t.divide(t.errors, t.total)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"\sum_{i \ne j} c_{ij}",
    source="Haghighi et al. 2018 (PyCM)",
    undefined="never",
    symmetric=True,
    scale_free=False,
)
def zero_one_loss_count(t: Table) -> Array:
    """Number of samples that are predicted as another class: PyCM's "Zero-one Loss".

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.zero_one_loss_count([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(9.0)
    """
    return t.errors


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"m / n",
    source="Haghighi et al. 2018 (PyCM)",
    undefined="never",
    symmetric=True,
    scale_free=False,
)
def global_performance_index(t: Table) -> Array:
    """Mean number of samples per class: all samples over the number of classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.global_performance_index([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(10.0)
    """
    return t.total / t.n
