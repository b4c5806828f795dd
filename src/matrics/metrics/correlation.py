"""Correlation of the true classes with the predicted ones."""

from __future__ import annotations

from matrics._backend import Array
from matrics.metrics.catalogue import metric
from matrics.table import Table


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\sum_k (tp_k\,tn_k - fp_k\,fn_k)}{\sqrt{\sum_k t_k (m - t_k)}\,\sqrt{\sum_k k_k (m - k_k)}}",
    source="Dembélé, equation 10; Gorodkin 2004",
    undefined="all items in one true class or in one predicted class",
    aliases=("matthews_corrcoef", "r_k"),
)
def mcc(t: Table) -> Array:
    """Matthews correlation coefficient for any number of classes.

    scikit-learn and Jurman et al. call the undefined case 0: ``zero_division=0``.

    Examples
    --------
    >>> import matrics
    >>> matrics.mcc([[[8, 0], [0, 8]], [[10**17, 3], [2, 5]]])
    array([1.        , 0.6681531])
    """
    true_variance = t.xp.sum(t.scaled(t.true) * t.scaled(t.not_true), axis=0)
    pred_variance = t.xp.sum(t.scaled(t.pred) * t.scaled(t.not_pred), axis=0)
    # Not the root of the product, which leaves the range of float32. The product of roots may miss 1 by a bit where the
    # two are equal; there their mean is exact, and has the same gradient.
    equal = true_variance == pred_variance
    spread = t.xp.where(equal, (true_variance + pred_variance) / 2, t.sqrt(true_variance) * t.sqrt(pred_variance))
    return t.divide(t.covariance, spread)
