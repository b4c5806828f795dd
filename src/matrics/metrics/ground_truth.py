"""Türk's ground-truth index: what a class owes to knowledge, what it owes to luck."""

from __future__ import annotations

from matrics._backend import Array
from matrics.catalogue.registry import metric
from matrics.table import Table

__all__ = [
    "gt_index",
]

#: Each step multiplies the correct digits of the one unknown: 1e-3, 3e-7, 5e-14. One more only polishes the last bits.
STEPS = 3


@metric(
    kind="per_class",
    range=(-float("inf"), 1),
    higher_is_better=True,
    formula=r"\theta_k = \frac{tpr_k - a_k}{1 - a_k}, \quad c_{ji} \approx v_j\,a_i \;\; (i \ne j), "
    r"\quad \sum_i a_i = 1",
    source="Labatut and Cherifi, section 4.7; Türk 1979",
    undefined="fewer than three classes, no errors, all errors touch one class, or no item of the class",
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def gt_index(t: Table) -> Array:
    """Ground-truth index: the share of a class's items that is known, if the others are guessed.

    The guesses call every item class i with one probability a_i, whatever its true class j. The errors tell it: they
    are fitted by a product of two factors that has their row and column sums (quasi-independence). What usually takes
    up to hundreds of rounds of proportional fitting is here one equation of one unknown, the missing diagonal cell of
    the pivot (the class with the largest √R + √K, where R and K are its false alarms and its misses). Three steps solve
    it: each replaces all other classes by one that behaves alike, and solves the problem of two classes exactly.

    It is ill-conditioned where nearly all errors touch one class, or lie between two: rounding of the cells by a part
    ε then moves it by ε times all errors over those that avoid the pivot.

    Examples
    --------
    >>> import matrics
    >>> matrics.gt_index([[8, 2], [3, 7]], average=None).round(3)
    array([nan, nan])
    """
    if t.n < 3:
        return t.undefined_classes()
    defined, not_guessed = _not_guessed(t)
    return t.define(1 - t.fnr / not_guessed, defined[None, ...] & t.has_true)


def _not_guessed(t: Table) -> tuple[Array, Array]:
    """Whether the guesses are determined, ``[*batch]``, and 1 - a_i, ``[class, *batch]``; 1 where they are not.

    With R_i and K_i the errors that a class gets and has, N their sum, and the fitted diagonal f_i completing the table
    to V = N + Σ f, a class satisfies V = R_i + K_i + f_i + e_i with e_i f_i = R_i K_i, and 1 - a_i = (K_i + e_i) / V.
    All f_i are the smaller of the two roots but, perhaps, that of the pivot, whose e is the unknown.
    """
    xp = t.xp
    eps = float(xp.finfo(t.fp.dtype).eps)
    # In a unit that brings the errors near 1, whatever lies on the diagonal: products of four of them follow.
    unit = t.unit(t.errors)
    got, had, total = t.fp * unit[None, ...], t.fn * unit[None, ...], t.errors * unit
    first = xp.argmax(got + had + 2 * t.sqrt(got * had), axis=0)[None, ...]  # of several alike, the first
    is_pivot = first == t.class_numbers
    avoid = t.errors_outside(is_pivot) * unit
    defined = t.and_valid((avoid > 0) & ~t.is_zero(avoid))
    # Where there is nothing to solve, a problem of zeros is solved instead, so that no gradient is NaN.
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
    # D_i = e_i - f_i as a form in which classes like the pivot do not cancel.
    slope, offset = 2 * (pivot_reach[None, ...] - reach), skew - of_pivot(skew)[None, ...]
    least = ((eps * total) ** 2)[None, ...]

    def solve(left: Array, other: Array) -> Array:
        """The unknown, if the other classes were one with this product of errors; ``left`` is what they leave."""
        linear, constant = left * avoid + pivot_product - other, avoid * other
        return avoid + 2 * constant / (linear + xp.sqrt(linear * linear + 4 * left * constant))

    # First the class that is like all others for large V.
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
            left = xp.where(left > least_left, left, least_left)  # which rounding alone could miss
            unknown = solve(left, filled * (filled + width))
    return defined, (had + xp.where(is_pivot, unknown[None, ...], twice / 2)) / size[None, ...]
