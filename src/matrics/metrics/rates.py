"""Measures of one class against the rest: rates of its row, of its column, or of both."""

from __future__ import annotations

from matrics._backend import Array
from matrics.catalogue.registry import metric
from matrics.table import Table

__all__ = [
    "auc",
    "f1",
    "false_omission_rate",
    "fbeta",
    "fdr",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "gini",
    "informedness",
    "jaccard",
    "markedness",
    "npv",
    "precision",
    "recall",
    "specificity",
]


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fn}",
    source="Dembélé, equation 1",
    undefined="no sample of the true class",
    aliases=("tpr", "sensitivity", "true_positive_rate", "hit_rate", "producers_accuracy", "recall_score"),
    needs_every_class=True,
    ignores_class_sizes="always",
)
def recall(t: Table) -> Array:
    """Fraction of a class's samples that are predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.recall([[8, 2], [5, 5]], average=None)
    array([0.8, 0.5])
    """
    return t.define(t.tpr, t.has_true)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tn}{tn + fp}",
    source="Dembélé, equation 2",
    undefined="no sample of another true class",
    aliases=("tnr", "selectivity", "true_negative_rate", "inverse_recall"),
    ignores_class_sizes="two classes",
)
def specificity(t: Table) -> Array:
    """Fraction of the other classes' samples that are not predicted as this one.

    Examples
    --------
    >>> import matrics
    >>> matrics.specificity([[8, 2], [5, 5]], average="binary")
    np.float64(0.8)
    """
    return t.define(t.tnr, t.has_not_true)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fp}",
    source="Dembélé, equation 3",
    undefined="no sample predicted as the class",
    aliases=("ppv", "positive_predictive_value", "confidence", "users_accuracy", "precision_score"),
)
def precision(t: Table) -> Array:
    """Fraction of a class's predictions that are correct.

    Examples
    --------
    >>> import matrics
    >>> matrics.precision([[8, 2], [2, 3]], average=None)
    array([0.8, 0.6])
    """
    return t.define(t.ppv, t.has_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tn}{tn + fn}",
    source="Dembélé, equation 4",
    undefined="all samples predicted as the class",
    aliases=("negative_predictive_value", "inverse_precision"),
)
def npv(t: Table) -> Array:
    """Fraction of the samples not predicted as the class that are not of it: negative predictive value.

    Examples
    --------
    >>> import matrics
    >>> matrics.npv([[8, 2], [2, 3]], average="binary")
    np.float64(0.8)
    """
    return t.define(t.npv, t.has_not_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp}{fp + tn}",
    source="Dembélé, section 2",
    undefined="no sample of another true class",
    aliases=("false_positive_rate", "fall_out", "false_alarm_rate"),
    ignores_class_sizes="two classes",
)
def fpr(t: Table) -> Array:
    """Fraction of the other classes' samples that are predicted as this one: false positive rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.fpr([[8, 2], [5, 5]], average=None)
    array([0.5, 0.2])
    """
    return t.define(t.fpr, t.has_not_true)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fn}{fn + tp}",
    source="Dembélé, section 2",
    undefined="no sample of the true class",
    aliases=("false_negative_rate", "miss_rate"),
    needs_every_class=True,
    ignores_class_sizes="always",
)
def fnr(t: Table) -> Array:
    """Fraction of a class's samples that are predicted as another: false negative rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.fnr([[8, 2], [5, 5]], average=None)
    array([0.2, 0.5])
    """
    return t.define(t.fnr, t.has_true)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp}{fp + tp}",
    source="Dembélé, equation 3, its complement",
    undefined="no sample predicted as the class",
    aliases=("false_discovery_rate",),
)
def fdr(t: Table) -> Array:
    """Fraction of a class's predictions that are wrong: false discovery rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.fdr([[8, 2], [2, 3]], average=None)
    array([0.2, 0.4])
    """
    return t.divide(t.fp, t.pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fn}{fn + tn}",
    source="Dembélé, equation 4, its complement",
    undefined="all samples predicted as the class",
    aliases=("for",),
)
def false_omission_rate(t: Table) -> Array:
    """Fraction of the samples not predicted as the class that are of it.

    Examples
    --------
    >>> import matrics
    >>> matrics.false_omission_rate([[8, 2], [2, 3]], average="binary")
    np.float64(0.2)
    """
    return t.divide(t.fn, t.not_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{2\,tp}{2\,tp + fp + fn}",
    source="Dembélé, equation 5, by counts",
    undefined="no sample of the class and none predicted as it",
    aliases=("f1_score", "dice", "f_measure"),
    symmetric=True,
)
def f1(t: Table) -> Array:
    """Harmonic mean of precision and recall, computed from the counts.

    From the counts it is 0 where a class has errors but no true positive; the harmonic mean would be 0/0 there.

    Examples
    --------
    >>> import matrics
    >>> matrics.f1([[8, 2], [2, 3]], average=None)
    array([0.8, 0.6])
    """
    # Each is halved, as the sum could overflow; by a multiplication, which is three times as fast as a division.
    return t.divide(t.tp, 0.5 * t.true + 0.5 * t.pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{(1 + \beta^2)\,tp}{(1 + \beta^2)\,tp + \beta^2 fn + fp}",
    source="van Rijsbergen 1979",
    undefined="no sample of the class and none predicted as it",
    aliases=("fbeta_score", "f_beta"),
)
def fbeta(t: Table, *, beta: float = 1.0) -> Array:
    """Weighted harmonic mean of precision and recall; recall counts beta times as much.

    Examples
    --------
    >>> import matrics
    >>> matrics.fbeta([[8, 2], [2, 3]], beta=2, average=None)
    array([0.8, 0.6])
    """
    # β² / (1 + β²) and 1 / (1 + β²), from the smaller of β and 1 / β, as β² could overflow.
    square = min(beta, 1 / beta) ** 2
    smaller, larger = square / (1 + square), 1 / (1 + square)
    missed, false = (larger, smaller) if beta > 1 else (smaller, larger)
    return t.divide(t.tp, t.tp + (missed * t.fn + false * t.fp))


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
    >>> matrics.jaccard([[8, 2], [0, 2]], average=None)
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

    scikit-learn's ``fowlkes_mallows_score`` is a different measure: this one for pairs of samples
    (``fowlkes_mallows(pair_counts(cm), average="binary")``).

    Examples
    --------
    >>> import matrics
    >>> matrics.fowlkes_mallows([[8, 2], [2, 3]], average=None)
    array([0.8, 0.6])
    """
    true, pred, _, _ = t.sizes
    return t.divide(t.wide(t.tp), t.sqrt(true * pred))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2} \left( \frac{tp}{tp + fn} + \frac{tn}{tn + fp} \right)",
    source="Dembélé, equation 7",
    undefined="no sample of the true class, or none of another",
    aliases=("area_under_curve",),
    chance="any sizes",
    chance_value=0.5,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def auc(t: Table) -> Array:
    """Area under the ROC curve of one operating point: the mean of recall and specificity.

    Examples
    --------
    >>> import matrics
    >>> matrics.auc([[8, 2], [4, 6]], average="binary")
    np.float64(0.7)
    """
    return t.define((t.tpr + t.tnr) / 2, t.in_truth)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"2\,\mathrm{auc} - 1",
    source="Dembélé, equation 36",
    undefined="no sample of the true class, or none of another",
    aliases=("gini_index",),
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def gini(t: Table) -> Array:
    """Gini index of one operating point: twice the area under its ROC curve minus one.

    The same value as :func:`informedness`, under the name used by Dembélé.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.gini([[8, 2], [4, 6]], average="binary")), 6)
    0.4
    """
    return t.define(t.informedness, t.in_truth)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fn} + \frac{tn}{tn + fp} - 1 = \frac{tp\,tn - fp\,fn}{(tp + fn)(tn + fp)}",
    source="Youden 1950; Powers 2011",
    undefined="no sample of the true class, or none of another",
    aliases=("youden_j", "bookmaker_informedness", "peirce_skill_score"),
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def informedness(t: Table) -> Array:
    """Recall plus specificity minus one: how much the prediction depends on the true class.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.informedness([[8, 2], [4, 6]], average="binary")), 6)
    0.4
    """
    return t.define(t.informedness, t.in_truth)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fp} + \frac{tn}{tn + fn} - 1 = \frac{tp\,tn - fp\,fn}{(tp + fp)(tn + fn)}",
    source="Powers 2011",
    undefined="all samples or none predicted as the class",
    aliases=("delta_p",),
    chance="any sizes",
)
def markedness(t: Table) -> Array:
    """Precision plus negative predictive value minus one: how much the true class depends on the prediction.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.markedness([[6, 2], [4, 8]], average="binary")), 6)
    0.4
    """
    return t.define(t.markedness, t.has_pred & t.has_not_pred)
