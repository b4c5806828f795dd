"""Per-class measures that combine several rates into one number."""

from __future__ import annotations

import math
from typing import Annotated

from matrics._backend import Array
from matrics.catalogue.registry import metric
from matrics.table import Table

__all__ = [
    "adjusted_f_score",
    "adjusted_geometric_mean",
    "aurpc",
    "braun_blanquet",
    "distance_index",
    "iba",
    "icsi",
    "kulczynski",
    "maurpc",
    "mprecision",
    "net_benefit",
    "optimization_precision",
    "overlap_coefficient",
    "similarity_index",
    "tversky_index",
]

NotNegative = Annotated[float, 0, math.inf, True]

_ONE_KIND = "no sample of the true class, or none of another"
_NOT_BOTH = "no sample of the class, or none predicted as it"


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
    """Precision plus recall minus one: individual classification success index.

    Examples
    --------
    >>> import matrics
    >>> matrics.icsi([[8, 2], [3, 7]], average=None).round(3)
    array([0.527, 0.478])
    """
    return t.define(t.ppv + t.tpr - 1, t.in_both)


def _mean_of_precision_and_recall(t: Table) -> Array:
    return t.define((t.ppv + t.tpr) / 2, t.in_both)


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
    >>> matrics.kulczynski([[8, 2], [3, 7]], average=None).round(3)
    array([0.764, 0.739])
    """
    return _mean_of_precision_and_recall(t)


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
    """Area under the recall-precision curve of one operating point.

    The same value as :func:`kulczynski`, under the name used by Mullick et al.

    Examples
    --------
    >>> import matrics
    >>> matrics.aurpc([[8, 2], [3, 7]], average=None).round(3)
    array([0.764, 0.739])
    """
    return _mean_of_precision_and_recall(t)


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
    """Precision as it would be if the class had as many samples as all others together.

    Examples
    --------
    >>> import matrics
    >>> matrics.mprecision([[8, 2], [3, 7]], average=None).round(3)
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
    >>> matrics.maurpc([[8, 2], [3, 7]], average=None).round(3)
    array([0.764, 0.739])
    """
    return t.define((t.tpr + _balanced_precision(t)) / 2, t.in_truth & t.has_pred)


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
    >>> matrics.distance_index([[8, 2], [3, 7]], average=None).round(3)
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
    """One minus the distance of the operating point from the perfect corner of the ROC plane, scaled to [0, 1].

    Examples
    --------
    >>> import matrics
    >>> matrics.similarity_index([[8, 2], [3, 7]], average=None).round(3)
    array([0.745, 0.745])
    """
    return t.define(1 - _distance_from_the_corner(t) / math.sqrt(2), t.in_truth)


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
    >>> matrics.optimization_precision([[8, 2], [3, 7]], average=None).round(3)
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
)
def iba(t: Table, *, alpha: NotNegative = 1.0) -> Array:
    """Index of balanced accuracy: recall times specificity, weighted by 1 + alpha (recall - specificity).

    It is within [0, 1] for alpha up to 1, the default; for a larger alpha it may be below 0 or above 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.iba([[8, 2], [3, 7]], average=None).round(3)
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
    >>> matrics.adjusted_geometric_mean([[8, 2], [3, 7]], average=None).round(3)
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
    undefined="one of the two quotients is 0/0",
    aliases=("agf", "adjusted_f_measure"),
)
def adjusted_f_score(t: Table) -> Array:
    """Geometric mean of the class's F2 and the F½ of the rest, so that true negatives count as well.

    Examples
    --------
    >>> import matrics
    >>> matrics.adjusted_f_score([[8, 2], [3, 7]], average=None).round(3)
    array([0.773, 0.727])
    """
    tp, fp, fn, tn = t.outcomes
    errors = 0.8 * fn + 0.2 * fp
    positive, negative = tp + errors, tn + errors
    product = t.sqrt(t.ratio(tp, positive)) * t.sqrt(t.ratio(tn, negative))
    return t.define(product, ~(t.is_zero(positive) | t.is_zero(negative)))


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
    >>> matrics.overlap_coefficient([[8, 2], [3, 7]], average=None).round(3)
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
)
def braun_blanquet(t: Table) -> Array:
    """The smaller of precision and recall. Its mean over the classes is the class balance accuracy.

    Examples
    --------
    >>> import matrics
    >>> matrics.braun_blanquet([[8, 2], [3, 7]], average=None).round(3)
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

    Examples
    --------
    >>> import matrics
    >>> matrics.tversky_index([[8, 2], [3, 7]], average=None).round(3)
    array([0.762, 0.737])
    """
    return t.divide(t.tp, t.tp + (alpha * t.fn + beta * t.fp))


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp - w\,fp}{m}",
    source="Vickers and Elkin 2006",
    undefined="an empty matrix",
)
def net_benefit(t: Table, *, weight: NotNegative = 1.0) -> Array:
    """True positives minus weighted false positives, over all samples; the weight is the odds of the threshold.

    Examples
    --------
    >>> import matrics
    >>> matrics.net_benefit([[8, 2], [3, 7]], average=None)
    array([0.25, 0.25])
    """
    return t.divide(t.tp - weight * t.fp, t.total[None, ...])
