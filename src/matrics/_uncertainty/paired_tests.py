"""P-values of paired comparisons: McNemar's test of the samples that a proportion counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matrics._arrays import Array
from matrics._uncertainty.measure import Task, like
from matrics._uncertainty.weighted import are_counts

__all__ = ["p_values"]


def p_values(pair: Task, differences: Sequence[Array], valid: Array) -> list[Array]:
    """The p-value of each measure, (B,) or (B, C); NaN where there is no test.

    Parameters
    ----------
    pair
        The joint tables (B, n, n²) and the measures.
    differences
        The differences of the measures, whose shapes the p-values have.
    valid
        Which tables (B,) are valid.
    """
    tested = valid & are_counts(pair.whole, pair.backend)
    if pair.options.scheme == "clusters" or pair.squares is not None or pair.target is not None:
        tested = valid & ~valid
    xp, n = pair.backend.xp, pair.whole.shape[-2]
    diagonal = xp.linalg.diagonal
    cube = xp.reshape(pair.whole, (*pair.whole.shape[:-1], n, n))
    both = diagonal(cube)  # predicted as class k by both: [true, k]
    a, b = xp.sum(cube, axis=-1) - both, xp.sum(cube, axis=-2) - both  # and by a or b alone
    of_class = diagonal(a), diagonal(b)
    of_others = xp.sum(b, axis=-2) - of_class[1], xp.sum(a, axis=-2) - of_class[0]  # which is right for other classes
    results = []
    for measure, difference in zip(pair.measures, differences, strict=True):
        alone, metric = None, measure.metric
        name = "" if metric is None or measure.trials is None or metric.is_own else metric.name
        if name in ("recall", "fnr"):
            alone = of_class
        elif name in ("specificity", "fpr"):
            alone = of_others
        elif name in ("class_accuracy", "class_error"):
            alone = of_class[0] + of_others[0], of_class[1] + of_others[1]
        elif name in ("accuracy", "hamming_loss"):
            alone = xp.sum(of_class[0], axis=-1), xp.sum(of_class[1], axis=-1)
        if alone is None or metric is None:
            results.append(difference * math.nan)
            continue
        if metric.average == "binary":
            alone = alone[0][:, metric.classes[0]], alone[1][:, metric.classes[0]]
        number, gap = alone[0] + alone[1], xp.abs(alone[0] - alone[1])
        positive = number > 0
        p_value = 2 * pair.backend.normal_cdf(-gap / xp.sqrt(xp.where(positive, number, 1)))
        known = like(tested, number, xp) & ~xp.isnan(difference)
        results.append(xp.where(known, xp.where(positive, p_value, 1), math.nan))
    return results
