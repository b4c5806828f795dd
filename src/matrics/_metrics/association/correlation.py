"""Correlation between true and predicted classes."""

from __future__ import annotations

import math

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "mcc",
    "tmcc",
]


def _correlation(t: Table) -> tuple[Array, Array]:
    """MCC, and a mask of the matrices for which it is defined."""
    spread = t.geometric_mean(t.true_variance, t.pred_variance)
    defined = t.is_positive(spread)
    return t.rate(t.covariance, spread, defined), defined


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\sum_k (tp_k\,tn_k - fp_k\,fn_k)}{\sqrt{\sum_k t_k (m - t_k)}\,\sqrt{\sum_k k_k (m - k_k)}}",
    source="Dembélé, equation 10; Gorodkin 2004",
    undefined="all samples in a single true class or in a single predicted class",
    aliases=("matthews_corrcoef", "r_k", "phi_coefficient"),
    chance="any sizes",
    symmetric=True,
)
def mcc(t: Table) -> Array:
    """Matthews correlation coefficient for any number of classes.

    scikit-learn and Jurman et al. define the undefined case as 0, as with ``zero_division=0`` here.

    Examples
    --------
    >>> import matrics
    >>> matrics.mcc([[[8, 0], [0, 8]], [[10**17, 3], [2, 5]]])
    array([1.        , 0.6681531])
    """
    return t.define(*_correlation(t))


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"(1 - \mathrm{MCC}) \left( 1 - \log_{2n-2}(1 - \mathrm{ACC}) \right) \left( 1 - \tfrac{1}{n} \right)",
    source="Jurman et al., equation 3",
    undefined="MCC is undefined and there are errors, an empty matrix, or a single class",
    aliases=("transformed_mcc",),
    symmetric=True,
)
def tmcc(t: Table) -> Array:
    """MCC transformed to resemble confusion entropy; 0 without errors.

    For random matrices it is approximately k(n) CEN, where k(n) = 1 + 0.18924 / ln n - 0.06694 / ln² n (Jurman et al.).

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.tmcc([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.561)
    """
    if t.n == 1:
        return t.undefined()
    value, defined = _correlation(t)
    logs = t.log_share(t.errors[None, ...], t.hits[None, ...])[0, ...] / math.log(2 * t.n - 2)
    value = (1 - value) * (1 - logs) * (1 - 1 / t.n)
    perfect = t.errors == 0
    return t.define(t.xp.where(perfect, 0, value), defined | (perfect & (t.total != 0)))
