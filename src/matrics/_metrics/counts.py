"""Counts of a class against the rest, and their fractions of all samples."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "automatic_manual_difference",
    "class_accuracy",
    "class_error",
    "class_error_count",
    "false_negatives",
    "false_positives",
    "negatives",
    "population",
    "positives",
    "predicted_negatives",
    "predicted_positives",
    "predicted_prevalence",
    "prevalence",
    "true_negatives",
    "true_positives",
]

_NEVER = "never"
_EMPTY = "an empty matrix"


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"tp",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("tp", "hits"),
    symmetric=True,
    scale_free=False,
)
def true_positives(t: Table) -> Array:
    """Samples of a class that are predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.true_positives([[8, 2], [3, 7]], average="class")
    array([8., 7.])
    """
    return t.tp


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"tn",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("tn", "correct_rejections"),
    symmetric=True,
    scale_free=False,
)
def true_negatives(t: Table) -> Array:
    """Samples of other classes that are not predicted as this class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.true_negatives([[8, 2], [3, 7]], average="class")
    array([7., 8.])
    """
    return t.tn


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"fp",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("fp", "false_alarms"),
    scale_free=False,
)
def false_positives(t: Table) -> Array:
    """Samples of other classes that are predicted as this class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.false_positives([[8, 2], [3, 7]], average="class")
    array([3., 2.])
    """
    return t.fp


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"fn",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("fn", "misses"),
    scale_free=False,
)
def false_negatives(t: Table) -> Array:
    """Samples of a class that are predicted as another.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.false_negatives([[8, 2], [3, 7]], average="class")
    array([2., 3.])
    """
    return t.fn


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"tp + fn",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("support", "condition_positives"),
    scale_free=False,
)
def positives(t: Table) -> Array:
    """Samples of a class: its row sum.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.positives([[8, 2], [3, 7]], average="class")
    array([10., 10.])
    """
    return t.true


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"tn + fp",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("condition_negatives",),
    scale_free=False,
)
def negatives(t: Table) -> Array:
    """Samples of the other classes.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.negatives([[8, 2], [3, 7]], average="class")
    array([10., 10.])
    """
    return t.not_true


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"tp + fp",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("test_outcome_positives",),
    scale_free=False,
)
def predicted_positives(t: Table) -> Array:
    """Samples predicted as a class: its column sum.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.predicted_positives([[8, 2], [3, 7]], average="class")
    array([11.,  9.])
    """
    return t.pred


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"tn + fn",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    aliases=("test_outcome_negatives",),
    scale_free=False,
)
def predicted_negatives(t: Table) -> Array:
    """Samples predicted as another class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.predicted_negatives([[8, 2], [3, 7]], average="class")
    array([ 9., 11.])
    """
    return t.not_pred


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"m = tp + fp + fn + tn",
    source="Mullick et al., section 2",
    undefined=_NEVER,
    symmetric=True,
    scale_free=False,
)
def population(t: Table) -> Array:
    """Number of all samples, the same for every class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.population([[8, 2], [3, 7]], average="class")
    array([20., 20.])
    """
    return t.xp.broadcast_to(t.total[None, ...], t.tp.shape)


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"fp + fn",
    source="Hamming 1950; Haghighi et al. 2018 (PyCM)",
    undefined=_NEVER,
    aliases=("class_errors",),
    symmetric=True,
    scale_free=False,
)
def class_error_count(t: Table) -> Array:
    """Errors that involve a class: false negatives plus false positives.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_error_count([[8, 2], [3, 7]], average="class")
    array([5., 5.])
    """
    return t.class_errors


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=None,
    formula=r"(tp + fp) - (tp + fn) = fp - fn",
    source="Haghighi et al. 2018 (PyCM)",
    undefined=_NEVER,
    aliases=("difference_between_automatic_and_manual",),
    scale_free=False,
)
def automatic_manual_difference(t: Table) -> Array:
    """Samples predicted as a class minus samples of the class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.automatic_manual_difference([[8, 2], [3, 7]], average="class")
    array([ 1., -1.])
    """
    return t.fp - t.fn


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{tp + fn}{m}",
    source="Sokolova and Lapalme 2009",
    undefined=_EMPTY,
    aliases=("base_rate",),
    proportion_of="total",
)
def prevalence(t: Table) -> Array:
    """Fraction of the samples that are of a class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.prevalence([[8, 2], [3, 7]], average="class")
    array([0.5, 0.5])
    """
    return t.divide(t.true, t.total[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{tp + fp}{m}",
    source="Powers 2011",
    undefined=_EMPTY,
    aliases=("detection_prevalence", "test_outcome_positive_rate"),
    proportion_of="total",
)
def predicted_prevalence(t: Table) -> Array:
    """Fraction of the samples that are predicted as a class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.predicted_prevalence([[8, 2], [3, 7]], average="class")
    array([0.55, 0.45])
    """
    return t.divide(t.pred, t.total[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp + tn}{m}",
    source="Mullick et al., section 2",
    undefined=_EMPTY,
    aliases=("simple_matching",),
    symmetric=True,
    proportion_of="total",
)
def class_accuracy(t: Table) -> Array:
    """Fraction of the samples that are true positives or true negatives of a class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_accuracy([[8, 2], [3, 7]], average="class")
    array([0.75, 0.75])
    """
    total = t.total[None, ...]
    return t.define(t.within(t.ratio(t.tp + t.tn, total), 0, 1), total != 0)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{m}",
    source="Mullick et al., section 2, its complement",
    undefined=_EMPTY,
    aliases=("class_error_rate",),
    symmetric=True,
    proportion_of="total",
)
def class_error(t: Table) -> Array:
    """Fraction of the samples that are false negatives or false positives of a class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_error([[8, 2], [3, 7]], average="class")
    array([0.25, 0.25])
    """
    return t.divide(t.class_errors, t.total[None, ...])
