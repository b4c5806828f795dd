"""Similarity of a class's samples and its predictions: matching coefficients."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "ample",
    "anderberg",
    "andres_marzo_delta",
    "baroni_urbani_buser_i",
    "baroni_urbani_buser_ii",
    "clement",
    "fager_mcgowan",
    "faith",
    "fleiss_levin_paik",
    "fossum",
    "goodall",
    "harris_lahey",
    "hawkins_dotson",
    "koppen_i",
    "koppen_ii",
]


def _both_jaccards(t: Table) -> tuple[Array, Array]:
    """Jaccard index of the class and of the rest; 0 where undefined."""
    errors = t.class_errors
    return t.ratio(t.tp, t.tp + errors), t.ratio(t.tn, t.tn + errors)


def _smaller_lead(t: Table, x: Array, y: Array) -> Array:
    """The smaller of |x| and |y| as a share of all samples where their signs differ, and 0 where they agree."""
    x, y = t.share(x), t.share(y)
    # Where either is 0 so is the result. The gradient there is the mean of both sides, as for a maximum.
    at_kink = (t.abs(x) + t.abs(y) - t.abs(x + y)) / 2
    differ = t.xp.where((x < 0) != (y < 0), t.smaller(t.abs(x), t.abs(y)), 0)
    return t.xp.where((x == 0) | (y == 0), at_kink, differ)


def _both_kinds(t: Table) -> Array:
    errors = t.class_errors
    return (t.tp + errors != 0) & (t.tn + errors != 0)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\left| \frac{tp}{tp + fp} - \frac{fn}{fn + tn} \right|",
    source="Abreu et al. 2007",
    undefined="all samples or none predicted as the class",
    chance="any sizes",
)
def ample(t: Table) -> Array:
    """Absolute difference of precision and false omission rate: the absolute value of the markedness.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.ample([[8, 2], [3, 7]], average="class").round(3)
    array([0.505, 0.505])
    """
    return t.define(t.abs(t.markedness), t.has_pred & t.has_not_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{\max(tp, fp) + \max(fn, tn) + \max(tp, fn) + \max(fp, tn) - \max(t, m - t) - \max(k, m - k)}{2m}",
    source="Anderberg 1973",
    undefined="an empty matrix",
    chance="any sizes",
    symmetric=True,
)
def anderberg(t: Table) -> Array:
    """Errors avoided in guessing truth and prediction by the mode if the other is known, over twice all samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.anderberg([[8, 2], [3, 7]], average="class").round(3)
    array([0.225, 0.225])
    """
    # max(a, b) + max(c, d) - max(a + c, b + d) is 0 where the same side leads in both pairs, and the smaller lead
    # elsewhere. Leads are differences of counts: the maxima themselves would leave a rounding error where nothing is
    # saved.
    by_prediction = _smaller_lead(t, t.tp - t.fp, t.fn - t.tn)
    by_truth = _smaller_lead(t, t.tp - t.fn, t.fp - t.tn)
    saved = by_prediction + by_truth
    return t.define(t.within(saved / 2, 0, 1), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp + tn - 2 \sqrt{fp\,fn}}{m}",
    source="Martín Andrés and Femia Marzo 2004",
    undefined="an empty matrix",
    symmetric=True,
)
def andres_marzo_delta(t: Table) -> Array:
    """The sum tp + tn minus twice the geometric mean of fp and fn, over all samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.andres_marzo_delta([[8, 2], [3, 7]], average="class").round(3)
    array([0.505, 0.505])
    """
    tp, fp, fn, tn = (t.share(count) for count in (t.tp, t.fp, t.fn, t.tn))
    value = tp + tn - 2 * t.sqrt(fp) * t.sqrt(fn)
    return t.define(t.within(value, -1, 1), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\sqrt{tp\,tn} + tp}{\sqrt{tp\,tn} + tp + fp + fn}",
    source="Baroni-Urbani and Buser 1976",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
)
def baroni_urbani_buser_i(t: Table) -> Array:
    """True positives plus the geometric mean of tp and tn, over the same sum plus all errors.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baroni_urbani_buser_i([[8, 2], [3, 7]], average="class").round(3)
    array([0.756, 0.743])
    """
    tp, fp, fn, tn = t.outcomes
    matches = t.sqrt(tp * tn) + tp
    return t.divide(matches, matches + (fp + fn))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\sqrt{tp\,tn} + tp - fp - fn}{\sqrt{tp\,tn} + tp + fp + fn}",
    source="Baroni-Urbani and Buser 1976",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
)
def baroni_urbani_buser_ii(t: Table) -> Array:
    """The first coefficient of Baroni-Urbani and Buser, mapped to [-1, 1].

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baroni_urbani_buser_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.512, 0.487])
    """
    tp, fp, fn, tn = t.outcomes
    matches = t.sqrt(tp * tn) + tp
    return t.divide(matches - (fp + fn), matches + (fp + fn))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{k} \cdot \frac{m - k}{m} + \frac{tn}{m - k} \cdot \frac{k}{m}",
    source="Clement 1976",
    undefined="all samples or none predicted as the class",
)
def clement(t: Table) -> Array:
    """Mean of precision and negative predictive value, each weighted by the fraction of predictions of the other kind.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.clement([[8, 2], [3, 7]], average="class").round(3)
    array([0.755, 0.755])
    """
    value = t.ppv * t.share(t.not_pred) + t.npv * t.pred_share
    return t.define(t.within(value, 0, 1), t.has_pred & t.has_not_pred)


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{\sqrt{k\,t}} - \frac{1}{2 \sqrt{\max(k, t)}}",
    source="Fager and McGowan 1963",
    undefined="no sample of the class, or none predicted as it",
    symmetric=True,
    needs_every_class=True,
    scale_free=False,
)
def fager_mcgowan(t: Table) -> Array:
    """Geometric mean of precision and recall minus a small-sample correction.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fager_mcgowan([[8, 2], [3, 7]], average="class").round(3)
    array([0.612, 0.58 ])
    """
    correction = t.ratio(t.xp.full_like(t.tp, 0.5), t.sqrt(t.xp.maximum(t.pred, t.true)))
    true, pred, _, _ = t.sizes
    return t.define(t.ratio(t.wide(t.tp), t.sqrt(true * pred)) - correction, t.in_both)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp + tn / 2}{m}",
    source="Faith 1983",
    undefined="an empty matrix",
    symmetric=True,
)
def faith(t: Table) -> Array:
    """Fraction of the samples that are true positives or true negatives, where true negatives count half.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.faith([[8, 2], [3, 7]], average="class")
    array([0.575, 0.55 ])
    """
    total = t.total[None, ...]
    return t.define(t.within(t.ratio(t.tp + t.tn / 2, total), 0, 1), total != 0)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{2\,tn}{2\,tn + fp + fn}",
    source="Fleiss et al. 2003",
    undefined="all samples are true positives",
    symmetric=True,
)
def fleiss_levin_paik(t: Table) -> Array:
    """F1 of the other classes taken together.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fleiss_levin_paik([[8, 2], [3, 7]], average="class").round(3)
    array([0.737, 0.762])
    """
    return t.divide(t.tn, t.tn + t.class_errors / 2)


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"\frac{m (tp - \tfrac{1}{2})^2}{k\,t}",
    source="Fossum and Kaskey 1966",
    undefined="no sample of the class, or none predicted as it",
    symmetric=True,
    needs_every_class=True,
    scale_free=False,
)
def fossum(t: Table) -> Array:
    """The square (tp - ½)² over the number of true positives expected by chance.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.fossum([[8, 2], [3, 7]], average="class").round(3)
    array([10.227,  9.389])
    """
    (true, pred, _, _), hits = t.sizes, t.wide(t.abs(t.tp - 0.5))
    return t.define(t.ratio(t.whole * (hits * hits), true * pred), t.in_both)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{2}{\pi} \arcsin \sqrt{\frac{tp + tn}{m}}",
    source="Goodall 1967",
    undefined="an empty matrix",
    symmetric=True,
)
def goodall(t: Table) -> Array:
    """Arc sine of the square root of the class accuracy, scaled to [0, 1]; its variance is nearly constant.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.goodall([[8, 2], [3, 7]], average="class").round(3)
    array([0.667, 0.667])
    """
    # Computed as an arc tangent, whose gradient is finite at both ends.
    angle = t.xp.atan2(t.sqrt(t.tp + t.tn), t.sqrt(t.class_errors))
    return t.define(angle * (2 / math.pi), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp}{tp + fp + fn} \cdot \frac{2\,tn + fp + fn}{2m} + \frac{tn}{tn + fp + fn} \cdot "
    r"\frac{2\,tp + fp + fn}{2m}",
    source="Harris and Lahey 1978",
    undefined="all samples are true positives, or all are true negatives",
    symmetric=True,
)
def harris_lahey(t: Table) -> Array:
    """Jaccard indices of the class and of the rest, each weighted by the size of the other.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.harris_lahey([[8, 2], [3, 7]], average="class").round(3)
    array([0.599, 0.599])
    """
    present, absent = _both_jaccards(t)
    value = present * t.share(t.not_true + t.not_pred) + absent * t.share(t.true + t.pred)
    return t.define(value / 2, _both_kinds(t))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{1}{2} \left( \frac{tp}{tp + fp + fn} + \frac{tn}{tn + fp + fn} \right)",
    source="Hawkins and Dotson 1975",
    undefined="all samples are true positives, or all are true negatives",
    symmetric=True,
)
def hawkins_dotson(t: Table) -> Array:
    """Mean of the Jaccard indices of the class and of the rest.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.hawkins_dotson([[8, 2], [3, 7]], average="class").round(3)
    array([0.599, 0.599])
    """
    present, absent = _both_jaccards(t)
    return t.define((present + absent) / 2, _both_kinds(t))


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"1 - \frac{(fp + fn) / 2}{\tfrac{1}{4} (2\,tp + fp + fn)(2\,tn + fp + fn)}",
    source="Köppen 1870",
    undefined="all samples are true positives, or all are true negatives",
    symmetric=True,
    scale_free=False,
)
def koppen_i(t: Table) -> Array:
    """1 minus half the errors over the product of the mean sizes of the class and of the rest.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.koppen_i([[8, 2], [3, 7]], average="class").round(3)
    array([0.975, 0.975])
    """
    # Not half of each: of the smallest numbers it is 0.
    present, absent = t.true + t.pred, t.not_true + t.not_pred
    lost = t.ratio(2 * t.ratio(t.class_errors, present), absent)
    return t.define(1 - lost, (present != 0) & (absent != 0))


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"tp + \frac{fp + fn}{2}",
    source="Köppen 1870",
    undefined="never",
    symmetric=True,
    scale_free=False,
)
def koppen_ii(t: Table) -> Array:
    """Mean of a class's row sum and column sum.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.koppen_ii([[8, 2], [3, 7]], average="class")
    array([10.5,  9.5])
    """
    return t.tp + t.class_errors / 2
