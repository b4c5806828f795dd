"""Similarity of a class's samples and its predictions, beyond that expected by chance."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "abydos_kendall_tau",
    "benini_i",
    "benini_ii",
    "digby",
    "dispersion",
    "doolittle",
    "forbes_ii",
    "goodman_kruskal_lambda_r",
    "kent_foster_i",
    "kent_foster_ii",
    "kuder_richardson",
]


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp\,tn - fp\,fn}{t\,(m - k)}",
    source="Benini 1901",
    undefined="no sample of the true class, or all samples predicted as the class",
    chance="any sizes",
    needs_every_class=True,
)
def benini_i(t: Table) -> Array:
    """Benini's attraction: covariance over its value without false negatives, for the same row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.benini_i([[8, 2], [3, 7]], average="class").round(3)
    array([0.556, 0.455])
    """
    true, _, _, not_pred = t.sizes
    return t.divide(t.beyond_chance, true * not_pred)


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp\,tn - fp\,fn}{\min(t\,(m - k), k\,(m - t))}",
    source="Benini 1901",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def benini_ii(t: Table) -> Array:
    """Covariance over its largest possible value for the class's row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.benini_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.556, 0.556])
    """
    true, pred, not_true, not_pred = t.sizes
    return t.divide(t.beyond_chance, t.smaller(true * not_pred, pred * not_true))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{(tp\,tn)^{3/4} - (fp\,fn)^{3/4}}{(tp\,tn)^{3/4} + (fp\,fn)^{3/4}}",
    source="Digby 1983",
    undefined="tp tn and fp fn are both 0",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def digby(t: Table) -> Array:
    """The odds ratio to the power ¾, mapped to [-1, 1]: between Yule's Q and Y.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.digby([[8, 2], [3, 7]], average="class").round(3)
    array([0.685, 0.685])
    """
    right, wrong = (t.sqrt(product) for product in t.odds)
    right, wrong = right * t.sqrt(right), wrong * t.sqrt(wrong)
    return t.divide(right - wrong, right + wrong)


@metric(
    kind="per_class",
    range=(-0.25, 0.25),
    higher_is_better=True,
    formula=r"\frac{tp\,tn - fp\,fn}{m^2}",
    source="IBM, SPSS Statistics Algorithms",
    undefined="an empty matrix",
    chance="any sizes",
    symmetric=True,
)
def dispersion(t: Table) -> Array:
    """Covariance of being of the class and being predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.dispersion([[8, 2], [3, 7]], average="class")
    array([0.125, 0.125])
    """
    return t.define(t.within(t.class_covariance_share, -0.25, 0.25), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{(tp\,tn - fp\,fn)^2}{k\,t\,(m - k)(m - t)}",
    source="Doolittle 1885",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def doolittle(t: Table) -> Array:
    """Product of informedness and markedness: the squared MCC of the class against the rest.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.doolittle([[8, 2], [3, 7]], average="class").round(3)
    array([0.253, 0.253])
    """
    return t.define(t.informedness * t.markedness, t.in_truth & t.has_pred & t.has_not_pred)


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp\,tn - fp\,fn}{\min(k, t) \min(m - k, m - t)}",
    source="Forbes 1925",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def forbes_ii(t: Table) -> Array:
    """Covariance over its largest possible value for the class's row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.forbes_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.556, 0.556])
    """
    true, pred, not_true, not_pred = t.sizes
    return t.divide(t.beyond_chance, t.smaller(pred, true) * t.smaller(not_pred, not_true))


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{tp + tn - s}{m - s}, \quad s = \tfrac{1}{2} \left( \max(k, m - k) + \max(t, m - t) \right)",
    source="Goodman and Kruskal 1954",
    undefined="all samples are in tp, or all are in tn; -∞ if all are in fp, or all are in fn",
    symmetric=True,
    limits_need=lambda _: math.inf,
)
def goodman_kruskal_lambda_r(t: Table) -> Array:
    """Reliability λ: relative reduction of errors against guessing the mode, averaged over truth and prediction.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.goodman_kruskal_lambda_r([[8, 2], [3, 7]], average="class").round(3)
    array([0.474, 0.474])
    """
    smaller = t.xp.minimum
    most = (smaller(t.pred, t.not_pred) + smaller(t.true, t.not_true)) / 2
    return t.quotient(most - t.class_errors, most)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\frac{2 (tp + tn - fp - fn)}{m (m - 1)}",
    source="Kendall 1938 (abydos)",
    undefined="no sample, or a single sample",
    symmetric=True,
    scale_free=False,
)
def abydos_kendall_tau(t: Table) -> Array:
    """Kendall's τ in PyCM and abydos: tp + tn minus errors, over the pairs of samples.

    It is not the rank correlation, which is :func:`kendall_tau`.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.abydos_kendall_tau([[8, 2], [3, 7]], average="class").round(3)
    array([0.053, 0.053])
    """
    total = t.total[None, ...]
    value = t.ratio(2 * t.ratio((t.tp + t.tn) - t.class_errors, total), total - 1)
    return t.define(value, (total != 0) & (total != 1))


@metric(
    kind="per_class",
    range=(-0.5, 0),
    higher_is_better=True,
    formula=r"\frac{-fp\,fn}{(fp + fn)(tp + fp + fn) - fp\,fn}",
    source="Kent and Foster 1977",
    undefined="no errors",
    symmetric=True,
)
def kent_foster_i(t: Table) -> Array:
    """Occurrence agreement beyond chance, among samples that are of the class or predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kent_foster_i([[8, 2], [3, 7]], average="class").round(3)
    array([-0.102, -0.111])
    """
    tp, fp, fn, _ = t.outcomes
    product = fp * fn
    whole = tp * (fp + fn) + fp * fp + product + fn * fn
    return t.define(0 - t.ratio(product, whole), ~t.is_zero(whole))  # 0 without a sign


@metric(
    kind="per_class",
    range=(-0.5, 0),
    higher_is_better=True,
    formula=r"\frac{-fp\,fn}{(fp + fn)(tn + fp + fn) - fp\,fn}",
    source="Kent and Foster 1977",
    undefined="no errors",
    symmetric=True,
)
def kent_foster_ii(t: Table) -> Array:
    """Non-occurrence agreement beyond chance, among samples that are not of the class or not predicted as it.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kent_foster_ii([[8, 2], [3, 7]], average="class").round(3)
    array([-0.111, -0.102])
    """
    _, fp, fn, tn = t.outcomes
    product = fp * fn
    whole = tn * (fp + fn) + fp * fp + product + fn * fn
    return t.define(0 - t.ratio(product, whole), ~t.is_zero(whole))


@metric(
    kind="per_class",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{4 (tp\,tn - fp\,fn)}{4\,tp\,tn + (tp + tn)(fp + fn)}",
    source="Kuder and Richardson 1937; Cronbach 1951",
    undefined="fp = fn = tp tn = 0, or tp = tn = fp fn = 0; -∞ if only tp and tn are 0",
    chance="any sizes",
    symmetric=True,
)
def kuder_richardson(t: Table) -> Array:
    """Kuder-Richardson reliability of a test of two questions: the true and the predicted class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuder_richardson([[8, 2], [3, 7]], average="class").round(3)
    array([0.669, 0.669])
    """
    tp, fp, fn, tn = t.outcomes
    return t.quotient(4 * t.beyond_chance, 4 * (tp * tn) + (tp + tn) * (fp + fn))
