"""Türk's ground-truth index: recall of a class, corrected for lucky guesses."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "gt_index",
]

#: Iterations for the unknown, whose error after each is 1e-3, 3e-7, 5e-14. A fourth changes only the last bits.
STEPS = 3


@metric(
    kind="per_class",
    range=(-float("inf"), 1),
    higher_is_better=True,
    formula=r"\theta_k = \frac{tpr_k - a_k}{1 - a_k}, \quad c_{ji} \approx v_j\,a_i \;\; (i \ne j), "
    r"\quad \sum_i a_i = 1",
    source="Labatut and Cherifi, section 4.7; Türk 1979",
    undefined="fewer than three classes, no errors outside the row and column of a class, or no sample of the class",
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def gt_index(t: Table) -> Array:
    """Ground-truth index: fraction of a class's samples that are known, if its other samples are guessed.

    A guess predicts class i with probability a_i, whatever the true class j. These probabilities are estimated from the
    errors, which are fitted by a product of two factors that has the same row and column sums (quasi-independence).
    Iterative proportional fitting can take hundreds of rounds; here an equation with a single unknown is solved
    instead: the missing diagonal cell of the pivot, the class with the largest √R + √K, where R and K are its false
    positives and its false negatives. Three iterations suffice: each replaces all other classes by a single equivalent
    class, and solves the problem of two classes exactly.

    The index is ill-conditioned where nearly all errors are in the row and column of a single class, or between two
    classes: a relative rounding error ε of the cells then changes it by ε times the ratio of all errors to those
    outside the row and column of the pivot.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.gt_index([[8, 2], [3, 7]], average="class").round(3)
    array([nan, nan])
    """
    if t.n < 3:
        return t.undefined_classes()
    defined, not_guessed = _not_guessed(t)
    return t.define(1 - t.fnr / not_guessed, defined[None, ...] & t.has_true)


def _not_guessed(t: Table) -> tuple[Array, Array]:
    """Where the a_i are determined, ``[*batch]``, and 1 - a_i, ``[class, *batch]``, which is 1 elsewhere.

    Let R_i and K_i be the false positives and false negatives of class i, N the number of errors, f_i the fitted
    diagonal, and V = N + Σ f the total of the fitted table. Then V = R_i + K_i + f_i + e_i with e_i f_i = R_i K_i, and
    1 - a_i = (K_i + e_i) / V. Each f_i is the smaller of the two roots, except possibly that of the pivot, whose e is
    the unknown.
    """
    xp = t.xp
    eps = float(xp.finfo(t.fp.dtype).eps)
    # The errors are scaled to about 1, whatever the diagonal is: products of four of them follow.
    unit = t.unit(t.errors)
    got, had, total = t.fp * unit[None, ...], t.fn * unit[None, ...], t.errors * unit
    first = xp.argmax(got + had + 2 * t.sqrt(got * had), axis=0)[None, ...]  # the first of equal values
    is_pivot = first == t.class_numbers
    avoid = t.errors_outside(is_pivot) * unit
    defined = t.and_valid((avoid > 0) & ~t.is_zero(avoid))
    # Where the a_i are not determined, a problem without errors is solved instead, so that no gradient is NaN.
    got, had = (xp.where(defined[None, ...], x, 0) for x in (got, had))
    total, avoid = (xp.where(defined, x, 1) for x in (total, avoid))

    reach, product = got + had, got * had
    skew = (got - had) ** 2
    least_left = total - xp.max(reach, axis=0)
    least_left = xp.where(least_left > 2 * t.n * eps * total, least_left, avoid) / 2

    def of_pivot(x: Array) -> Array:
        return t.sum(xp.where(is_pivot, x, 0), axis=0)

    pivot_reach, pivot_product = of_pivot(reach), of_pivot(product)
    product = xp.where(is_pivot, 0, product)
    # D_i = e_i - f_i, in a form without cancellation for classes similar to the pivot.
    slope, offset = 2 * (pivot_reach[None, ...] - reach), skew - of_pivot(skew)[None, ...]
    least = ((eps * total) ** 2)[None, ...]

    def solve(left: Array, other: Array) -> Array:
        """The unknown, if the other classes were a class with this product of errors; ``left`` is the rest of V."""
        linear, constant = left * avoid + pivot_product - other, avoid * other
        return avoid + 2 * constant / (linear + xp.sqrt(linear * linear + 4 * left * constant))

    # Start with the class that is equivalent to all others for large V.
    others = t.sum(product, axis=0)
    unknown = solve(total - t.ratio(t.sum(product * reach, axis=0), others), others)
    for step in range(STEPS + 1):
        diagonal = pivot_product / unknown
        size = pivot_reach + unknown + diagonal
        spread = size[None, ...] * slope + offset + ((unknown - diagonal) ** 2)[None, ...]
        gap = xp.sqrt(xp.where(spread > least, spread, least))
        twice = size[None, ...] - reach + gap  # 2 e_i of the other classes
        if step < STEPS:
            fitted = 2 * product / twice
            filled = t.sum(fitted, axis=0)
            width = (filled + eps**2 * size) / (t.sum(fitted / gap, axis=0) + eps**2)
            left = total - size + 2 * filled + width
            left = xp.where(left > least_left, left, least_left)  # only rounding can go below
            unknown = solve(left, filled * (filled + width))
    return defined, (had + xp.where(is_pivot, unknown[None, ...], twice / 2)) / size[None, ...]
