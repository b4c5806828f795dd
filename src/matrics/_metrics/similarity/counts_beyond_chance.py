"""True positives of a class beyond those expected by chance, with various denominators."""

from __future__ import annotations

import math

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table
from matrics._metrics.inference import special

__all__ = [
    "dennis",
    "eyraud",
    "gilbert_wells",
    "kuhns_i",
    "kuhns_ii",
    "kuhns_iii",
    "kuhns_iv",
    "kuhns_v",
    "kuhns_vi",
    "kuhns_vii",
]


def _variances(t: Table) -> tuple[Array, Array]:
    true, pred, not_true, not_pred = t.sizes
    return pred * not_pred, true * not_true


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\frac{tp - k\,t / m}{\sqrt{k\,t / m}}",
    source="Dennis 1965",
    undefined="no sample of the class, or none predicted as it",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    scale_free=False,
)
def dennis(t: Table) -> Array:
    """True positives beyond chance, over the square root of the number expected by chance.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.dennis([[8, 2], [3, 7]], average="class").round(3)
    array([1.066, 1.179])
    """
    true, pred, _, _ = t.sizes
    return t.define(t.ratio(t.beyond_chance, t.sqrt(t.whole * (true * pred))), t.in_both)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=None,
    formula=r"\frac{tp - k\,t}{k\,t\,(m - k)(m - t)}",
    source="Eyraud 1936",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    symmetric=True,
    needs_every_class=True,
    scale_free=False,
    limits_need=lambda n: 80 * n**2,
)
def eyraud(t: Table) -> Array:
    """Eyraud's coefficient, in the form used by PyCM and abydos.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.eyraud([[8, 2], [3, 7]], average="class").round(3)
    array([-0.01 , -0.008])
    """
    true, pred, not_true, not_pred = t.sizes
    both = true * pred
    value = t.ratio(t.wide(t.tp) - both, both * (not_true * not_pred))
    return t.define(value, t.in_truth & t.has_pred & t.has_not_pred)


@metric(
    kind="per_class",
    range=(-0.5, 0.5),
    higher_is_better=True,
    formula=r"\frac{2 \delta}{m}, \quad \delta = tp - \frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="an empty matrix",
    chance="any sizes",
    symmetric=True,
)
def kuhns_i(t: Table) -> Array:
    """True positives beyond chance, over half the number of samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_i([[8, 2], [3, 7]], average="class")
    array([0.25, 0.25])
    """
    return t.define(t.within(2 * t.class_covariance_share, -0.5, 0.5), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\max(k, t)}, \quad \delta = tp - \frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="no sample of the class and none predicted as it",
    chance="any sizes",
    symmetric=True,
)
def kuhns_ii(t: Table) -> Array:
    """True positives beyond chance, over the larger of the class's row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.227, 0.25 ])
    """
    true, pred, _, _ = t.sizes
    return t.divide(t.beyond_chance, t.whole * t.larger(pred, true))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\left( 1 - \frac{tp}{k + t} \right) \left( k + t - \frac{k\,t}{m} \right)}, \quad "
    r"\delta = tp - \frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="no sample of the class and none predicted as it",
    chance="any sizes",
    symmetric=True,
)
def kuhns_iii(t: Table) -> Array:
    """True positives beyond chance × (row + column sum), over the product of observed and expected tp + fp + fn.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_iii([[8, 2], [3, 7]], average="class").round(3)
    array([0.261, 0.273])
    """
    true, pred, _, not_pred = t.sizes
    either = t.wide(t.tp + t.class_errors)  # k + t - tp
    return t.divide(t.beyond_chance * (true + pred), either * (t.whole * pred + true * not_pred))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\min(k, t)}, \quad \delta = tp - \frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="no sample of the class, or none predicted as it",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def kuhns_iv(t: Table) -> Array:
    """True positives beyond chance, over the smaller of the class's row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_iv([[8, 2], [3, 7]], average="class").round(3)
    array([0.25 , 0.278])
    """
    true, pred, _, _ = t.sizes
    value = t.ratio(t.beyond_chance, t.whole * t.smaller(pred, true))
    return t.define(t.within(value, -1, 1), t.in_both)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\max\left( k \frac{m - k}{m}, t \frac{m - t}{m} \right)}, \quad \delta = tp - "
    r"\frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="at least three of tp, fp, fn and tn are 0",
    chance="any sizes",
    symmetric=True,
)
def kuhns_v(t: Table) -> Array:
    """Covariance of truth and prediction over the larger of their variances.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_v([[8, 2], [3, 7]], average="class")
    array([0.5, 0.5])
    """
    return t.divide(t.beyond_chance, t.larger(*_variances(t)))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\min\left( k \frac{m - k}{m}, t \frac{m - t}{m} \right)}, \quad \delta = tp - "
    r"\frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def kuhns_vi(t: Table) -> Array:
    """Covariance of truth and prediction over the smaller of their variances.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_vi([[8, 2], [3, 7]], average="class").round(3)
    array([0.505, 0.505])
    """
    return t.divide(t.beyond_chance, t.smaller(*_variances(t)))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\delta}{\sqrt{k\,t}}, \quad \delta = tp - \frac{k\,t}{m}",
    source="Kuhns 1965",
    undefined="no sample of the class, or none predicted as it",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def kuhns_vii(t: Table) -> Array:
    """True positives beyond chance, over the geometric mean of the class's row and column sums.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kuhns_vii([[8, 2], [3, 7]], average="class").round(3)
    array([0.238, 0.264])
    """
    true, pred, _, _ = t.sizes
    return t.divide(t.beyond_chance, t.whole * t.sqrt(pred * true))


def _rest_of_factorial(x: Array) -> Array:
    """Return ln x! - x ln x + x, which is much smaller than its three terms for large x."""
    large = np.where(x > 10, x, 10)
    series = np.log(2 * np.pi * large) / 2 + 1 / (12 * large) - 1 / (360 * large**3) + 1 / (1260 * large**5)
    series += -1 / (1680 * large**7) + 1 / (1188 * large**9) - 691 / (360360 * large**11)
    small = np.where(x > 10, 10, x)
    return np.where(x > 10, series, special("gammaln")(small + 1) - special("xlogy")(small, small) + small)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\ln \frac{m^3}{2 \pi\,k\,t\,(m - k)(m - t)} + 2 \ln \frac{m!\,tp!\,fp!\,fn!\,tn!}{k!\,t!\,(m - "
    r"k)!\,(m - t)!}",
    source="Gilbert and Wells 1966",
    undefined="no sample of the true class or none of another, or all samples or none predicted as the class",
    on_host=True,
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    scale_free=False,
)
def gilbert_wells(t: Table) -> Array:
    """Logarithmic measure of how improbable a class's counts are by chance.

    SciPy (extra ``stats``) computes the logarithms of the factorials on the host: it does not work under jit or
    compile, and has no gradient.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.gilbert_wells([[8, 2], [3, 7]], average="class").round(3)
    array([4.824, 4.824])
    """

    def logarithm(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        cells, total = np.stack([tp, fp, fn, tn]), tp + fp + fn + tn
        sums = np.stack([tp + fp, tp + fn, fp + tn, fn + tn])
        pred, true, not_true, not_pred = sums
        # Mutual information as a sum of nonnegative terms: m p ln(p / e) with p = e (1 + x).
        expected = np.stack([pred * true, pred * not_true, not_pred * true, not_pred * not_true]) / total
        covariance = tp * tn - fp * fn
        beyond = np.stack([covariance, -covariance, -covariance, covariance]) / total / expected
        shared = expected * (special("xlog1py")(1 + beyond, beyond) - beyond)
        factorials = _rest_of_factorial(np.concatenate([cells, total[None]])).sum(axis=0)
        factorials -= _rest_of_factorial(sums).sum(axis=0)
        size = 3 * np.log(total) - np.log(2 * np.pi) - np.log(sums).sum(axis=0)
        return size + 2 * (np.where(cells == 0, expected, shared).sum(axis=0) + factorials)

    value = t.backend.on_host(logarithm, t.tp, t.fp, t.fn, t.tn)
    return t.define(value, t.in_truth & t.has_pred & t.has_not_pred)
