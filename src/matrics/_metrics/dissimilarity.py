"""Dissimilarity of a class's samples and its predictions: coefficients based on the errors."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "batagelj_bren",
    "baulieu_i",
    "baulieu_ii",
    "baulieu_iii",
    "baulieu_iv",
    "baulieu_ix",
    "baulieu_v",
    "baulieu_vi",
    "baulieu_vii",
    "baulieu_viii",
    "baulieu_x",
    "baulieu_xi",
    "baulieu_xii",
    "baulieu_xiii",
    "baulieu_xiv",
    "baulieu_xv",
    "bray_curtis_dissimilarity",
    "canberra",
]


def _cube(t: Table) -> Array:
    """The values tp (tp - 4)², as a factor of products."""
    distance = t.wide(t.abs(t.tp - 4))
    return t.wide(t.tp) * distance * distance


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"\frac{fp\,fn}{tp\,tn}",
    source="Batagelj and Bren 1995",
    undefined="fp fn and tp tn are both 0; ∞ if only tp tn is 0",
    chance="any sizes",
    chance_value=1,
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def batagelj_bren(t: Table) -> Array:
    """Reciprocal of the odds ratio of a class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.batagelj_bren([[8, 2], [3, 7]], average="class").round(3)
    array([0.107, 0.107])
    """
    right, wrong = t.odds
    return t.quotient(wrong, right)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"1 - \frac{tp^2}{k\,t}",
    source="Baulieu 1989",
    undefined="no sample of the class, or none predicted as it",
    symmetric=True,
    needs_every_class=True,
)
def baulieu_i(t: Table) -> Array:
    """1 minus the product of precision and recall.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_i([[8, 2], [3, 7]], average="class").round(3)
    array([0.418, 0.456])
    """
    tp, fp, fn, _ = t.outcomes
    true, pred, _, _ = t.sizes
    value = t.ratio(tp * (fp + fn) + fp * fn, true * pred)
    return t.define(t.within(value, 0, 1), t.in_both)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{tp^2\,tn^2}{k\,t\,(m - k)(m - t)}",
    source="Baulieu 1989",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    symmetric=True,
    needs_every_class=True,
)
def baulieu_ii(t: Table) -> Array:
    """Product of precision, recall, specificity and negative predictive value: a similarity.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.317, 0.317])
    """
    return t.define(t.ppv * t.tpr * t.npv * t.tnr, t.in_truth & t.has_pred & t.has_not_pred)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{1}{2} - \frac{2 (tp\,tn - fp\,fn)}{m^2}",
    source="Baulieu 1989",
    undefined="an empty matrix",
    chance="any sizes",
    chance_value=0.5,
    symmetric=True,
)
def baulieu_iii(t: Table) -> Array:
    """1/2 minus twice the covariance.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_iii([[8, 2], [3, 7]], average="class")
    array([0.25, 0.25])
    """
    return t.define(t.within(0.5 - 2 * t.class_covariance_share, 0, 1), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=False,
    formula=r"\frac{fp + fn - (tp + \tfrac{1}{2})(tn + \tfrac{1}{2})\,tn\,e}{m}",
    source="Baulieu 1997",
    undefined="an empty matrix",
    symmetric=True,
    scale_free=False,
    limits_need=lambda _: math.inf,
)
def baulieu_iv(t: Table) -> Array:
    """Errors minus a product of tp and tn terms, over all samples; unbounded below.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_iv([[8, 2], [3, 7]], average="class").round(3)
    array([-60.402, -69.066])
    """
    total = t.total[None, ...]
    matches = t.ratio(t.wide(t.tp + 0.5) * t.wide(t.tn + 0.5) * t.wide(t.tn), t.whole) * math.e
    return t.define(t.ratio(t.class_errors, total) - matches, total != 0)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn + 1}{tp + fp + fn + 1}",
    source="Baulieu 1997",
    undefined="never",
    symmetric=True,
    scale_free=False,
)
def baulieu_v(t: Table) -> Array:
    """Errors over errors plus true positives, with another error in both.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_v([[8, 2], [3, 7]], average="class").round(3)
    array([0.429, 0.462])
    """
    errors = t.class_errors + 1
    return errors / (t.tp + errors)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{tp + fp + fn + 1}",
    source="Baulieu 1997",
    undefined="never",
    symmetric=True,
    scale_free=False,
)
def baulieu_vi(t: Table) -> Array:
    """Errors over errors plus true positives plus 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_vi([[8, 2], [3, 7]], average="class").round(3)
    array([0.357, 0.385])
    """
    errors = t.class_errors
    return errors / (t.tp + errors + 1)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{m + tp (tp - 4)^2}",
    source="Baulieu 1997",
    undefined="an empty matrix",
    symmetric=True,
    scale_free=False,
    limits_need=lambda _: math.inf,
)
def baulieu_vii(t: Table) -> Array:
    """Errors over all samples plus a cubic term in the true positives.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_vii([[8, 2], [3, 7]], average="class").round(3)
    array([0.034, 0.06 ])
    """
    return t.divide(t.wide(t.class_errors), t.whole + _cube(t))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{(fp - fn)^2}{m^2}",
    source="Baulieu 1997",
    undefined="an empty matrix",
    symmetric=True,
)
def baulieu_viii(t: Table) -> Array:
    """Squared difference of the class's prevalence and predicted prevalence.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_viii([[8, 2], [3, 7]], average="class").round(3)
    array([0.003, 0.003])
    """
    difference = t.share(t.fp - t.fn)
    return t.define(difference * difference, (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + 2\,fn}{tp + fp + 2\,fn + tn}",
    source="Baulieu 1997",
    undefined="an empty matrix",
)
def baulieu_ix(t: Table) -> Array:
    """Errors over all samples, where false negatives count twice.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_ix([[8, 2], [3, 7]], average="class").round(3)
    array([0.318, 0.348])
    """
    errors = t.fp + 2 * t.fn
    return t.divide(errors, t.tp + errors + t.tn)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn + \max(fp, fn)}{m + \max(fp, fn)}",
    source="Baulieu 1997",
    undefined="an empty matrix",
    symmetric=True,
)
def baulieu_x(t: Table) -> Array:
    """Errors over all samples, where the more frequent kind of error counts twice.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_x([[8, 2], [3, 7]], average="class").round(3)
    array([0.348, 0.348])
    """
    errors = t.class_errors + t.xp.maximum(t.fp, t.fn)
    return t.divide(errors, t.tp + errors + t.tn)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{fp + fn + tn}",
    source="Baulieu 1997",
    undefined="all samples are true positives",
    symmetric=True,
)
def baulieu_xi(t: Table) -> Array:
    """Errors over errors plus true negatives.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_xi([[8, 2], [3, 7]], average="class").round(3)
    array([0.417, 0.385])
    """
    errors = t.class_errors
    return t.divide(errors, errors + t.tn)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=None,
    formula=r"\frac{fp + fn}{tp + fp + fn - 1}",
    source="Baulieu 1997",
    undefined="tp + fp + fn = 1",
    symmetric=True,
    scale_free=False,
)
def baulieu_xii(t: Table) -> Array:
    """Errors over errors plus true positives minus 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_xii([[8, 2], [3, 7]], average="class").round(3)
    array([0.417, 0.455])
    """
    # 1 is subtracted from the larger of the two, which is exact where their sum is near 1.
    errors = t.class_errors
    larger, smaller = t.xp.maximum(t.tp, errors), t.xp.minimum(t.tp, errors)
    less = (1 - larger) - smaller
    return t.define(0 - t.ratio(errors, less), ~t.is_zero(less))  # 0 without a sign


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{tp + fp + fn + tp (tp - 4)^2}",
    source="Baulieu 1997",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
    scale_free=False,
    limits_need=lambda _: math.inf,
)
def baulieu_xiii(t: Table) -> Array:
    """Errors over errors plus true positives plus a cubic term in the true positives.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_xiii([[8, 2], [3, 7]], average="class").round(3)
    array([0.035, 0.067])
    """
    errors = t.class_errors
    return t.divide(t.wide(errors), t.wide(t.tp + errors) + _cube(t))


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + 2\,fn}{tp + fp + 2\,fn}",
    source="Baulieu 1997",
    undefined="no sample of the class and none predicted as it",
)
def baulieu_xiv(t: Table) -> Array:
    """Errors over errors plus true positives, where false negatives count twice.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_xiv([[8, 2], [3, 7]], average="class").round(3)
    array([0.467, 0.533])
    """
    errors = t.fp + 2 * t.fn
    return t.divide(errors, t.tp + errors)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn + \max(fp, fn)}{tp + fp + fn + \max(fp, fn)}",
    source="Baulieu 1997",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
)
def baulieu_xv(t: Table) -> Array:
    """Errors over errors plus true positives, where the more frequent kind of error counts twice.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.baulieu_xv([[8, 2], [3, 7]], average="class").round(3)
    array([0.5  , 0.533])
    """
    errors = t.class_errors + t.xp.maximum(t.fp, t.fn)
    return t.divide(errors, t.tp + errors)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\frac{fp + fn}{2\,tp + fp + fn}",
    source="Lance and Williams 1967",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
)
def canberra(t: Table) -> Array:
    """Errors over row sum plus column sum of the class: 1 minus F1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.canberra([[8, 2], [3, 7]], average="class").round(3)
    array([0.238, 0.263])
    """
    errors = t.class_errors
    return t.divide(errors, 2 * t.tp + errors)


@metric(
    kind="per_class",
    range=(0, 0.5),
    higher_is_better=False,
    formula=r"\frac{|fp - fn|}{2 m}",
    source="Bray and Curtis 1957",
    undefined="an empty matrix",
    symmetric=True,
)
def bray_curtis_dissimilarity(t: Table) -> Array:
    """Absolute difference of a class's row sum and column sum, over twice the number of samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.bray_curtis_dissimilarity([[8, 2], [3, 7]], average="class")
    array([0.025, 0.025])
    """
    return t.divide(t.abs(t.fp - t.fn) / 2, t.total[None, ...])
