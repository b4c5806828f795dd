"""Measures of a class for imbalanced data: precision at equal sizes, and products and means of the two rates."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.options import NotNegative
from matrics._catalogue.registry import metric
from matrics._engine.table import Table
from matrics._metrics.rates import mean_of_precision_and_recall

__all__ = [
    "adjusted_f_score",
    "adjusted_geometric_mean",
    "aurpc",
    "iba",
    "maurpc",
    "mprecision",
    "optimization_precision",
]

_ONE_KIND = "no sample of the true class, or none of another"
_NOT_BOTH = "no sample of the class, or none predicted as it"


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2} \left( \frac{tp}{tp + fn} + \frac{tp}{tp + fp} \right)",
    source="Mullick et al., AURPC",
    undefined=_NOT_BOTH,
    aliases=("aupr",),
    symmetric=True,
    needs_every_class=True,
)
def aurpc(t: Table) -> Array:
    """Area under the recall-precision curve of a single operating point.

    The same value as :func:`kulczynski`, under the name used by Mullick et al.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.aurpc([[8, 2], [3, 7]], average="class").round(3)
    array([0.764, 0.739])
    """
    return mean_of_precision_and_recall(t)


def _balanced_precision(t: Table) -> Array:
    (tp, fp, _, _), (true, _, not_true, _) = t.outcomes, t.sizes
    return t.ratio(tp * not_true, tp * not_true + fp * true)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tpr}{tpr + fpr}",
    source="Mullick et al., modified precision",
    undefined="no sample of the true class, or none of another, or none predicted as the class",
    aliases=("modified_precision",),
    chance="any sizes",
    chance_value=0.5,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def mprecision(t: Table) -> Array:
    """Precision that would result if the class had as many samples as all others together.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.mprecision([[8, 2], [3, 7]], average="class").round(3)
    array([0.727, 0.778])
    """
    return t.define(_balanced_precision(t), t.in_truth & t.has_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2} \left( tpr + \frac{tpr}{tpr + fpr} \right)",
    source="Mullick et al., modified AURPC",
    undefined="no sample of the true class, or none of another, or none predicted as the class",
    aliases=("modified_aurpc",),
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def maurpc(t: Table) -> Array:
    """Mean of recall and modified precision; it does not depend on the prevalence of the class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.maurpc([[8, 2], [3, 7]], average="class").round(3)
    array([0.764, 0.739])
    """
    return t.define((t.tpr + _balanced_precision(t)) / 2, t.in_truth & t.has_pred)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp + tn}{m} - \frac{|tnr - tpr|}{tnr + tpr}",
    source="Ranawana and Palade 2006",
    undefined="no sample of the true class, or none of another, or tp = tn = 0",
    aliases=("optimisation_precision",),
    needs_every_class=True,
)
def optimization_precision(t: Table) -> Array:
    """Accuracy of a class minus the relative difference of its recall and specificity.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.optimization_precision([[8, 2], [3, 7]], average="class").round(3)
    array([0.683, 0.683])
    """
    (tp, fp, fn, tn), (true, _, not_true, _) = t.outcomes, t.sizes
    # Difference and sum of the two rates, both times true * not_true; in the difference, tp * tn has cancelled.
    imbalance = t.ratio(t.abs(tp * fp - tn * fn), tp * not_true + tn * true)
    defined = t.in_truth & ~(t.is_zero(t.tp) & t.is_zero(t.tn))
    return t.define(t.within(t.share(t.tp + t.tn) - imbalance, -1, 1), defined)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\left( 1 + \alpha (tpr - tnr) \right) tpr \cdot tnr",
    source="García et al. 2009",
    undefined=_ONE_KIND,
    aliases=("index_of_balanced_accuracy",),
    needs_every_class=True,
    ignores_class_sizes="two classes",
    limits_need=lambda _: math.inf,
)
def iba(t: Table, *, alpha: NotNegative = 1.0) -> Array:
    """Index of balanced accuracy: recall times specificity, weighted by 1 + alpha (recall - specificity).

    It is within [0, 1] for alpha up to 1, the default; for a larger alpha it may be below 0 or above 1.

    Parameters
    ----------
    alpha
        Weight of the difference between recall and specificity.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.iba([[8, 2], [3, 7]], average="class").round(3)
    array([0.616, 0.504])
    """
    return t.define((1 + alpha * (t.tpr - t.tnr)) * t.tpr * t.tnr, t.in_truth)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\sqrt{tpr \cdot tnr} + tnr \cdot (tn + fp) / m}{1 + (tn + fp) / m}, \text{ 0 without a hit}",
    source="Batuwita and Palade 2009",
    undefined=_ONE_KIND,
    aliases=("agm",),
    needs_every_class=True,
)
def adjusted_geometric_mean(t: Table) -> Array:
    """Mean of √(recall × specificity) and specificity, weighted by 1 and by the fraction of the rest; 0 if tp = 0.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.adjusted_geometric_mean([[8, 2], [3, 7]], average="class").round(3)
    array([0.732, 0.766])
    """
    others = t.share(t.not_true)
    mean = (t.sqrt(t.tpr) * t.sqrt(t.tnr) + t.tnr * others) / (1 + others)
    return t.define(t.xp.where(t.tp == 0, 0, mean), t.in_truth)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\sqrt{\frac{5\,tp}{5\,tp + 4\,fn + fp} \cdot \frac{5\,tn}{5\,tn + 4\,fn + fp}}",
    source="Maratea et al. 2014",
    undefined="either quotient is 0/0",
    aliases=("agf", "adjusted_f_measure"),
)
def adjusted_f_score(t: Table) -> Array:
    """Geometric mean of the class's F2 and the F½ of the rest, so that true negatives count as well.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.adjusted_f_score([[8, 2], [3, 7]], average="class").round(3)
    array([0.773, 0.727])
    """
    tp, fp, fn, tn = t.outcomes
    errors = 0.8 * fn + 0.2 * fp
    positive, negative = tp + errors, tn + errors
    product = t.sqrt(t.ratio(tp, positive)) * t.sqrt(t.ratio(tn, negative))
    return t.define(product, ~(t.is_zero(positive) | t.is_zero(negative)))
