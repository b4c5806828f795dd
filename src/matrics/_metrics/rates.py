"""Measures of a class against the rest: rates of its row, of its column, or of both."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.options import OddsOfThreshold
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "auc_of_labels",
    "distance_index",
    "f1",
    "false_omission_rate",
    "fbeta",
    "fdr",
    "fnr",
    "fpr",
    "gini",
    "informedness",
    "markedness",
    "net_benefit",
    "npv",
    "precision",
    "recall",
    "similarity_index",
    "specificity",
]

_ONE_KIND = "no sample of the true class, or none of another"


def mean_of_precision_and_recall(t: Table) -> Array:
    return t.define((t.ppv + t.tpr) / 2, t.in_both)


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
    proportion_of="true",
)
def recall(t: Table) -> Array:
    """Fraction of a class's samples that are predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.recall([[8, 2], [5, 5]], average="class")
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
    proportion_of="not_true",
)
def specificity(t: Table) -> Array:
    """Fraction of the other classes' samples that are not predicted as this class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.specificity([[8, 2], [5, 5]], average="binary")
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
    proportion_of="pred",
)
def precision(t: Table) -> Array:
    """Fraction of a class's predictions that are correct.

    Examples
    --------
    >>> import matrics
    >>> matrics.precision([[8, 2], [2, 3]], average="class")
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
    proportion_of="not_pred",
)
def npv(t: Table) -> Array:
    """Fraction of the samples not predicted as the class that are of other classes: negative predictive value.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.npv([[8, 2], [2, 3]], average="binary")
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
    proportion_of="not_true",
)
def fpr(t: Table) -> Array:
    """Fraction of the other classes' samples that are predicted as this class: false positive rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fpr([[8, 2], [5, 5]], average="class")
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
    proportion_of="true",
)
def fnr(t: Table) -> Array:
    """Fraction of a class's samples that are predicted as another: false negative rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fnr([[8, 2], [5, 5]], average="class")
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
    proportion_of="pred",
)
def fdr(t: Table) -> Array:
    """Fraction of a class's predictions that are wrong: false discovery rate.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fdr([[8, 2], [2, 3]], average="class")
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
    proportion_of="not_pred",
)
def false_omission_rate(t: Table) -> Array:
    """Fraction of the samples not predicted as the class that belong to it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.false_omission_rate([[8, 2], [2, 3]], average="binary")
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
    >>> matrics.f1([[8, 2], [2, 3]], average="class")
    array([0.8, 0.6])
    """
    return t.divide(t.tp, t.mean_size)


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

    Parameters
    ----------
    beta
        How many times as much as precision recall counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fbeta([[8, 2], [2, 3]], beta=2, average="class")
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
    formula=r"\frac{1}{2} \left( \frac{tp}{tp + fn} + \frac{tn}{tn + fp} \right)",
    source="Dembélé, equation 7",
    undefined="no sample of the true class, or none of another",
    chance="any sizes",
    chance_value=0.5,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def auc_of_labels(t: Table) -> Array:
    """Area under the ROC curve of a single operating point: the mean of recall and specificity.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.auc_of_labels([[8, 2], [4, 6]], average="binary")
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
    """Gini index of a single operating point: twice the area under its ROC curve minus 1.

    The same value as :func:`informedness`, under the name used by Dembélé.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.metrics.gini([[8, 2], [4, 6]], average="binary")), 6)
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
    """Recall plus specificity minus 1: how much the prediction depends on the true class.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.metrics.informedness([[8, 2], [4, 6]], average="binary")), 6)
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
    """Precision plus negative predictive value minus 1: how much the true class depends on the prediction.

    Examples
    --------
    >>> import matrics
    >>> round(float(matrics.metrics.markedness([[6, 2], [4, 8]], average="binary")), 6)
    0.4
    """
    return t.define(t.markedness, t.has_pred & t.has_not_pred)


def _distance_from_the_corner(t: Table) -> Array:
    return t.hypot(t.fpr, t.fnr)


@metric(
    kind="per_class",
    range=(0, math.sqrt(2)),
    higher_is_better=False,
    formula=r"\sqrt{(1 - tnr)^2 + (1 - tpr)^2}",
    source="Ballabio et al. 2018 (dInd)",
    undefined=_ONE_KIND,
    aliases=("dind",),
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def distance_index(t: Table) -> Array:
    """Distance of the operating point from the perfect corner of the ROC plane.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.distance_index([[8, 2], [3, 7]], average="class").round(3)
    array([0.361, 0.361])
    """
    return t.define(_distance_from_the_corner(t), t.in_truth)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"1 - \sqrt{\tfrac{1}{2} \left( (1 - tnr)^2 + (1 - tpr)^2 \right)}",
    source="Ballabio et al. 2018 (sInd)",
    undefined=_ONE_KIND,
    aliases=("sind",),
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def similarity_index(t: Table) -> Array:
    """1 minus the distance of the operating point from the perfect corner of the ROC plane, scaled to [0, 1].

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.similarity_index([[8, 2], [3, 7]], average="class").round(3)
    array([0.745, 0.745])
    """
    return t.define(1 - _distance_from_the_corner(t) / math.sqrt(2), t.in_truth)


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp - w\,fp}{m}",
    source="Vickers and Elkin 2006",
    undefined="an empty matrix",
)
def net_benefit(t: Table, *, weight: OddsOfThreshold) -> Array:
    """True positives minus weighted false positives, over all samples; the weight is the odds of the threshold.

    Who treats at a probability of 0.2 finds a missed positive sample four times as bad as a false alarm: the weight is
    0.2 / 0.8 = 0.25. A matrix does not say at which threshold it was counted, so the weight is needed; where thresholds
    of probabilities are known, as in :func:`matrics.ranking.threshold_curve`, it is filled in.

    Parameters
    ----------
    weight
        How many true positives a false positive costs.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.net_benefit([[8, 2], [3, 7]], weight=0.25, average="class")
    array([0.3625, 0.325 ])
    """
    return t.divide(t.tp - weight * t.fp, t.total[None, ...])
