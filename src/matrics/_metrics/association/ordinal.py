"""Association of classes that have an order."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "kendall_tau",
]


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=(
        r"\frac{2 \sum_{ij} c_{ij} \left( \sum_{k > i, l > j} c_{kl} - \sum_{k > i, l < j} c_{kl} \right)}"
        r"{\sqrt{\sum_k t_k (m - t_k)}\,\sqrt{\sum_k k_k (m - k_k)}}"
    ),
    source="Kendall 1945",
    undefined="all samples in a single true class or in a single predicted class",
    aliases=("kendalltau", "kendall_tau_b", "kendall_rank_corrcoef"),
    chance="any sizes",
    symmetric=True,
    ordinal=True,
)
def kendall_tau(t: Table) -> Array:
    """Kendall's rank correlation τ_b of ordered classes, in the order of their numbers.

    Pairs of samples that true and predicted classes put in the same order, less those in opposite orders, over the
    geometric mean of the pairs that each of the two puts in an order. With two classes it is Matthews' correlation.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kendall_tau([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.653)
    """
    axes, (true, pred, not_true, not_pred) = (t.true_axis, t.pred_axis), t.sizes
    cells, later = t.wide(t.cells), t.sums_beyond(t.cells, t.true_axis, ascending=True)
    alike, opposite = (t.wide(t.sums_beyond(later, t.pred_axis, ascending=up)) for up in (True, False))
    beyond = t.sum(cells * alike, axis=axes) - t.sum(cells * opposite, axis=axes)
    spread = t.sum(true * not_true, axis=0) * t.sum(pred * not_pred, axis=0)
    return t.define(t.within(t.ratio(2 * beyond, t.sqrt(spread)), -1, 1), ~t.is_zero(spread))
