"""Standard errors and confidence limits, and the test of the accuracy against the no-information rate."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "accuracy_confidence_limit",
    "accuracy_standard_error",
    "kappa_confidence_limit",
    "kappa_standard_error",
    "no_information_p_value",
    "no_information_rate",
]

Bound = Literal["lower", "upper"]
Confidence = Annotated[float, 0, 1]
KappaMethod = Literal["fleiss", "cohen"]

_EMPTY = "an empty matrix"


def special(name: str) -> Any:
    """A function of ``scipy.special``, which the extra ``stats`` installs."""
    try:
        import scipy.special
    except ImportError as error:
        raise ImportError('this measure needs SciPy: python -m pip install "matrics[stats]"') from error
    return getattr(scipy.special, name)


def _two_sided_quantile(confidence: float) -> float:
    """The z for which ±z standard deviations contain this fraction of a normal distribution."""
    # Newton's method from 0 converges from below: math has no inverse of erf. torch.compile folds all of this.
    z = 0.0
    for _ in range(60):
        miss = math.erfc(z / math.sqrt(2)) - (1 - confidence)
        z += miss * math.sqrt(math.pi / 2) * math.exp(z * z / 2)
    return z


def _accuracy_error(t: Table) -> Array:
    hits, errors, total = t.wide(t.hits), t.wide(t.errors), t.wide(t.total)
    return t.ratio(t.sqrt(hits * errors), total * t.sqrt(total))


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"\sqrt{\frac{p_o (1 - p_o)}{m}}",
    source="Wald 1943",
    undefined=_EMPTY,
    aliases=("accuracy_se",),
    symmetric=True,
    scale_free=False,
)
def accuracy_standard_error(t: Table) -> Array:
    """Standard error of the accuracy, from the binomial distribution.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.accuracy_standard_error([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.084)
    """
    return t.define(_accuracy_error(t), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{p_o + \frac{z^2}{2m} \pm z \sqrt{\frac{p_o (1 - p_o)}{m} + \frac{z^2}{4 m^2}}}{1 + z^2 / m}",
    source="Wilson 1927; Agresti and Coull 1998; Brown et al. 2001",
    undefined=_EMPTY,
    symmetric=True,
    scale_free=False,
)
def accuracy_confidence_limit(
    t: Table,
    *,
    bound: Bound = "lower",
    method: Literal["wilson", "wald", "agresti_coull"] = "wilson",
    confidence: Confidence = 0.95,
) -> Array:
    """Lower or upper limit of a confidence interval of the accuracy.

    The formula is Wilson's, which stays within [0, 1]. The other two may exceed this range, and are clipped to it.
    Wald's, p ± z standard errors, contains the true value too rarely if there are few errors. Agresti and Coull's is
    Wald's after adding z²/2 correct and z²/2 wrong predictions.

    Parameters
    ----------
    bound
        Which of the two limits.
    method
        The formula of the interval: Wilson's, Wald's, or Agresti and Coull's.
    confidence
        The confidence level of the interval between both limits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.accuracy_confidence_limit([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.521)
    """
    xp, z = t.xp, _two_sided_quantile(confidence)
    side = -1 if bound == "lower" else 1
    hits, errors, total = t.hits, t.errors, t.total
    if method == "wald":
        return t.define(t.clip(t.share(hits) + side * z * _accuracy_error(t), 0, 1), total != 0)
    center = (hits + z * z / 2) / (total + z * z)
    if method == "wilson":
        spread = t.ratio(hits * t.share(errors), total + z * z) + z * z / 4 / (total + z * z)
    else:
        spread = center * ((errors + z * z / 2) / (total + z * z))
    reach = z * xp.sqrt(spread) / xp.sqrt(total + z * z)
    return t.define(t.clip(center + side * reach, 0, 1), total != 0)


def _kappa_error(t: Table, method: KappaMethod) -> Array:
    """The root of Σ p d² / m, where each cell's d is κ's derivative by its share, less their mean: ``[*batch]``."""
    total, (true, _, _, not_pred) = t.wide(t.total), t.sizes
    room = t.sum(true * not_pred, axis=0)
    if method == "cohen":
        return t.ratio(t.sqrt(t.wide(t.hits) * t.wide(t.errors) * total), room)
    cells, slopes = t.wide(t.cells), t.wide(_slopes_of_kappa(t, t.ratio(t.wide(t.errors) * total, room)))
    return t.ratio(t.sqrt(t.sum(cells * slopes * slopes, axis=(t.true_axis, t.pred_axis))) * total, room)


def _slopes_of_kappa(t: Table, complement: Array) -> Array:
    """The size of (1 - pₑ) d for each cell, in the order of the cells, where 1 - κ is known: ``complement``.

    With r and c for a cell's true and predicted share, d is (1 - κ)(1 + pₑ - r - c) on the diagonal, elsewhere
    κ + (1 - κ)(c of the row's class + r of the column's - pₑ). With a dominant class all of these are nearly 1 and
    cancel: that class's part of pₑ is taken from the others first, and the other classes' parts are added up apart.
    """
    xp, true, pred = t.xp, t.true_share, t.pred_share
    not_true, not_pred = t.share(t.not_true), t.share(t.not_pred)
    agreed = t.others(true * pred, 0)  # by chance, in the other classes
    kappa = t.ratio(t.covariance, t.disagreement_by_chance)
    by_row = t.rowwise(pred * not_true - agreed) + t.columnwise(true)
    by_column = t.rowwise(pred) + t.columnwise(true * not_pred - agreed)
    beyond = xp.where(t.rowwise(agreed) <= t.columnwise(agreed), by_row, by_column)
    miss = t.cellwise(kappa) + t.cellwise(complement) * beyond
    hit = t.cellwise(complement) * t.rowwise(not_true * not_pred + agreed)
    return t.abs(xp.where(t.is_diagonal, hit, miss))


def _kappa_defined(t: Table) -> Array:
    return t.xp.any((t.true != 0) & (t.not_pred != 0), axis=0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=(
        r"\frac{1}{(1 - p_e)^2 \sqrt{m}} \sqrt{\textstyle\sum_{ij} p_{ij} \left( [i = j] (1 - p_e) - (1 - p_o) "
        r"\frac{k_i + t_j}{m} \right)^2 - (p_o p_e - 2 p_e + p_o)^2}"
    ),
    source="Fleiss, Cohen and Everitt 1969; Cohen 1960",
    undefined="all samples in a single cell of the diagonal",
    aliases=("kappa_se",),
    symmetric=True,
    scale_free=False,
)
def kappa_standard_error(t: Table, *, method: KappaMethod = "fleiss") -> Array:
    r"""Standard error of Cohen's κ in large samples.

    It is that of Fleiss, Cohen and Everitt, as in SAS, statsmodels and R's psych: the delta method on the cells of a
    multinomial sample. Cohen's own of 1960 (``method="cohen"``), which PyCM has, is √(pₒ (1 - pₒ) / m) / (1 - pₑ): it
    takes pₑ as known, and is then mostly too large.

    Parameters
    ----------
    method
        The formula: that of Fleiss, Cohen and Everitt, or Cohen's of 1960.

    Examples
    --------
    >>> import matrics
    >>> cm = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    >>> matrics.metrics.kappa_standard_error(cm).round(4)
    np.float64(0.0877)
    >>> matrics.metrics.kappa_standard_error(cm, method="cohen").round(4)
    np.float64(0.092)
    """
    return t.define(_kappa_error(t, method), _kappa_defined(t))


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=None,
    formula=r"\kappa \pm z \cdot \text{kappa_standard_error}",
    source="Fleiss, Cohen and Everitt 1969; Cohen 1960",
    undefined="all samples in a single cell of the diagonal",
    symmetric=True,
    scale_free=False,
)
def kappa_confidence_limit(
    t: Table, *, bound: Bound = "lower", method: KappaMethod = "fleiss", confidence: Confidence = 0.95
) -> Array:
    """Lower or upper limit of a confidence interval of Cohen's κ, clipped to [-1, 1].

    The methods are those of :func:`kappa_standard_error`.

    Parameters
    ----------
    bound
        Which of the two limits.
    method
        The formula of the standard error, that of Fleiss, Cohen and Everitt, or Cohen's of 1960.
    confidence
        The confidence level of the interval between both limits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kappa_confidence_limit([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.304)
    """
    room = t.disagreement_by_chance
    reach = (-1 if bound == "lower" else 1) * _two_sided_quantile(confidence) * _kappa_error(t, method)
    return t.define(t.clip(t.ratio(t.covariance, room) + reach, -1, 1), _kappa_defined(t))


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{\max_k t_k}{m}",
    source="Kuhn 2008 (caret)",
    undefined=_EMPTY,
    aliases=("nir", "majority_baseline"),
    lowest=lambda n: 1 / n,
)
def no_information_rate(t: Table) -> Array:
    """Accuracy of always predicting the largest true class.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.no_information_rate([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.333)
    """
    return t.divide(t.xp.max(t.true, axis=0), t.total)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=False,
    formula=r"P(X \ge {\textstyle\sum_k tp_k}), \quad X \sim \mathrm{Binomial}(m, \max_k t_k / m)",
    source="Kuhn 2008 (caret)",
    undefined=_EMPTY,
    on_host=True,
    chance="equal sizes of equal classes",
    chance_value=0.500012,
    scale_free=False,
)
def no_information_p_value(t: Table) -> Array:
    """P-value of the test that the accuracy is above that of always predicting the largest true class.

    The test is the one-sided exact binomial test. It is computed as the incomplete beta function I(Σ tp, errors + 1) of
    the no-information rate, which also accepts counts that are not integers. SciPy (extra ``stats``) computes it on the
    host: it does not work under jit or compile, and has no gradient.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.no_information_p_value([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.0)
    """

    def tail(hits: Array, errors: Array, rest: Array) -> Array:
        positive = hits > 0
        return np.where(positive, special("betaincc")(errors + 1, np.where(positive, hits, 1), rest), 1)

    rest = t.ratio(t.xp.min(t.not_true, axis=0), t.total)
    return t.define(t.backend.on_host(tail, t.hits, t.errors, rest), t.total != 0)
