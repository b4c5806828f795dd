"""Association, information and the spectrum."""

from __future__ import annotations

import math
from collections.abc import Callable

from mpmath import mp, mpf

from .counts import Counts, Number, Undefined, log, overall, per_class, quotient, x_log_x

# Association


@overall
def chi_squared(counts: Counts) -> Number:
    if not counts.total:
        raise Undefined
    cells = [
        (counts.c[i][j], t * k / counts.total)
        for i, t in enumerate(counts.true)
        for j, k in enumerate(counts.pred)
        if t and k
    ]
    return sum((cell - expected) ** 2 / expected for cell, expected in cells)


@overall
def chi_squared_degrees_of_freedom(counts: Counts) -> Number:
    return mpf((counts.n - 1) ** 2)


@overall
def phi_squared(counts: Counts) -> Number:
    return chi_squared(counts) / counts.total


@overall
def phi(counts: Counts) -> Number:
    return mp.sqrt(phi_squared(counts))


@overall
def pearson_c(counts: Counts) -> Number:
    chi2 = chi_squared(counts)
    return mp.sqrt(chi2 / (chi2 + counts.total))


@overall
def cramers_v(counts: Counts, *, effective: bool = False) -> Number:
    rows, columns = _classes_with_items(counts, effective=effective)
    return _root_of_part(phi_squared(counts), mpf(min(rows, columns) - 1))


@overall
def tschuprows_t(counts: Counts, *, effective: bool = False) -> Number:
    rows, columns = _classes_with_items(counts, effective=effective)
    return _root_of_part(phi_squared(counts), mp.sqrt((rows - 1) * (columns - 1)))


@overall
def goodman_kruskal_lambda(counts: Counts, *, direction: str = "true_given_pred") -> Number:
    return _reduction_of_error(counts, direction, max)


@overall
def goodman_kruskal_tau(counts: Counts, *, direction: str = "true_given_pred") -> Number:
    return _reduction_of_error(counts, direction, lambda sizes: quotient(sum(size**2 for size in sizes), sum(sizes)))


@overall
def theil_u(counts: Counts, *, direction: str = "true_given_pred") -> Number:
    entropies = [true_entropy(counts), pred_entropy(counts)]
    of = {"true_given_pred": entropies[:1], "pred_given_true": entropies[1:], "symmetric": entropies}[direction]
    return quotient(len(of) * mutual_information(counts), sum(of))


def _classes_with_items(counts: Counts, *, effective: bool) -> tuple[int, int]:
    if not effective:
        return counts.n, counts.n
    return sum(t > 0 for t in counts.true), sum(k > 0 for k in counts.pred)


def _root_of_part(phi2: Number, largest: Number) -> Number:
    """φ² over its largest value, which is 0 where one side has a single class: φ² is 0 as well there."""
    if not largest:
        raise Undefined
    return mp.sqrt(phi2 / largest)


def _reduction_of_error(counts: Counts, direction: str, hits: Callable[[list[Number]], Number]) -> Number:
    """How many errors a guess makes less when it knows the other class; symmetric: both guesses together."""
    columns = [[row[j] for row in counts.c] for j in counts.classes]
    both = [(counts.true, columns), (counts.pred, counts.c)]
    guesses = {"true_given_pred": both[:1], "pred_given_true": both[1:], "symmetric": both}[direction]
    before = sum(hits(sizes) for sizes, _ in guesses)
    after = sum(hits(cells) for _, groups in guesses for cells in groups if sum(cells))
    return quotient(after - before, len(guesses) * counts.total - before)


# Information


@overall
def joint_entropy(counts: Counts, *, base: float = math.e) -> Number:
    return _entropy([cell for row in counts.c for cell in row], counts.total, base)


@overall
def true_entropy(counts: Counts, *, base: float = math.e) -> Number:
    return _entropy(counts.true, counts.total, base)


@overall
def pred_entropy(counts: Counts, *, base: float = math.e) -> Number:
    return _entropy(counts.pred, counts.total, base)


@overall
def mutual_information(counts: Counts, *, base: float = math.e) -> Number:
    if not counts.total:
        raise Undefined
    with mp.workprec(mp.prec + 300):  # near independence little is left of the terms
        m = counts.total
        terms = [
            counts.c[i][j] / m * mp.log(counts.c[i][j] * m / (t * k))
            for i, t in enumerate(counts.true)
            for j, k in enumerate(counts.pred)
            if counts.c[i][j]
        ]
        return sum(terms) / _log_of_base(base)


@overall
def nmi(counts: Counts, *, normalizer: str = "arithmetic") -> Number:
    true, pred = true_entropy(counts), pred_entropy(counts)
    normal = {
        "arithmetic": (true + pred) / 2,
        "joint": joint_entropy(counts),
        "geometric": mp.sqrt(true * pred),
        "min": min(true, pred),
        "max": max(true, pred),
    }[normalizer]
    return quotient(mutual_information(counts), normal)


@overall
def cen(counts: Counts) -> Number:
    weights = [quotient(counts.true[k] + counts.pred[k], 2 * counts.total) for k in counts.classes]
    return sum(weight * class_cen(counts, k) for k, weight in enumerate(weights))


@overall
def mcen(counts: Counts) -> Number:
    alpha = mpf("0.5") if counts.n == 2 else mpf(1)
    q = [counts.true[k] + counts.pred[k] - counts.tp[k] for k in counts.classes]
    weights = [quotient(q_k, 2 * counts.total - alpha * counts.hits) for q_k in q]
    return sum(weight * class_mcen(counts, k) for k, weight in enumerate(weights))


@per_class
def class_cen(counts: Counts, k: int) -> Number:
    return _confusion_entropy(counts, k, counts.true[k] + counts.pred[k])


@per_class
def class_mcen(counts: Counts, k: int) -> Number:
    return _confusion_entropy(counts, k, counts.true[k] + counts.pred[k] - counts.tp[k])


@overall
def conditional_entropy(counts: Counts, *, direction: str = "pred_given_true", base: float = math.e) -> Number:
    known_true = direction == "pred_given_true"
    terms = [
        quotient(c, counts.total) * log(quotient(c, counts.true[i] if known_true else counts.pred[j]))
        for i, row in enumerate(counts.c)
        for j, c in enumerate(row)
        if c
    ]
    return _negated_sum(counts, terms, base)


@overall
def margin_cross_entropy(counts: Counts, *, base: float = math.e) -> Number:
    m = counts.total
    return _negated_sum(counts, [t / m * log(k / m) for t, k in zip(counts.true, counts.pred, strict=True) if t], base)


@overall
def kl_divergence(counts: Counts, *, base: float = math.e) -> Number:
    m = counts.total
    with mp.workprec(mp.prec + 300):  # as the mutual information
        terms = [t / m * log(k / t) for t, k in zip(counts.true, counts.pred, strict=True) if t]
        return _negated_sum(counts, terms, base)


@overall
def rci(counts: Counts) -> Number:
    return quotient(mutual_information(counts), true_entropy(counts))


def _log_of_base(base: float) -> Number:
    return mpf(1) if base == math.e else mp.log(mpf(base))


def _negated_sum(counts: Counts, terms: list[Number], base: float) -> Number:
    if not counts.total:
        raise Undefined
    return -sum(terms) / _log_of_base(base)


def _entropy(sizes: list[Number], total: Number, base: float) -> Number:
    return -sum(x_log_x(quotient(size, total)) for size in sizes) / _log_of_base(base)


def _confusion_entropy(counts: Counts, k: int, q: Number) -> Number:
    if counts.n < 2 or not counts.total:
        raise Undefined
    errors = [cell for j in counts.classes if j != k for cell in (counts.c[k][j], counts.c[j][k])]
    return -sum(x_log_x(cell / q) for cell in errors) / mp.log(2 * counts.n - 2) if q else mpf(0)


# The spectrum


@overall
def eve(counts: Counts, *, empty: str = "nan") -> Number:
    n, c = counts.n, counts.c
    if n < 2:
        raise Undefined
    if empty == "repair" and not all(counts.true):
        c = [[cell + mpf(1) / n for cell in row] for row in c]
    sizes = [sum(row) for row in c]
    if empty == "nan" and not all(sizes):
        raise Undefined
    rates = [[cell / size if size else mpf(0) for cell in row] for row, size in zip(c, sizes, strict=True)]
    with mp.workprec(mp.prec + 50):
        b = mp.matrix([[(rates[i][j] + rates[j][i]) / 2 for j in range(n)] for i in range(n)])
        positive = [value for value in mp.eigsy(b, eigvals_only=True) if value > 0]
        if not positive:
            raise Undefined
        return -sum(x_log_x(value / sum(positive)) for value in positive) / mp.log(n)
