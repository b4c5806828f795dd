"""Agreement, correlation, correction for chance, class imbalance, the ground-truth index, and inference."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from mpmath import mp, mpf

from .counts import Counts, Number, Undefined, overall, per_class, quotient, ratio

# Agreement


@overall
def kendall_tau(counts: Counts) -> Number:
    """By all pairs of cells."""
    n, beyond = counts.n, mpf(0)
    for i, j, k, l in itertools.product(range(n), repeat=4):
        beyond += counts.c[i][j] * counts.c[k][l] * ((k > i) - (k < i)) * ((l > j) - (l < j))
    spread = [sum(size * (counts.total - size) for size in sizes) for sizes in (counts.true, counts.pred)]
    return quotient(beyond, mp.sqrt(spread[0] * spread[1]))


@overall
def accuracy(counts: Counts) -> Number:
    return quotient(counts.hits, counts.total)


@overall
def balanced_accuracy(counts: Counts) -> Number:
    recalls = [counts.tp[k] / counts.true[k] for k in counts.classes if counts.true[k]]
    return quotient(sum(recalls), len(recalls))


@overall
def bangdiwala_b(counts: Counts) -> Number:
    return quotient(sum(tp**2 for tp in counts.tp), _sum_of_products(counts.true, counts.pred))


@overall
def adjusted_rand_index(counts: Counts) -> Number:
    if counts.total < 2:
        raise Undefined
    n, cells = counts.n, [((i, j), counts.c[i][j]) for i in counts.classes for j in counts.classes]
    together = max(sum(c * (c - 1) for _, c in cells) / 2, mpf(0))  # negative for soft counts only
    in_pred = sum(c * counts.c[i][j] for (k, j), c in cells for i in range(n) if i != k) / 2
    in_true = sum(c * counts.c[i][j] for (i, k), c in cells for j in range(n) if j != k) / 2
    apart = sum(c * other for (i, j), c in cells for (k, l), other in cells if i != k and j != l) / 2
    return quotient(
        2 * (together * apart - in_pred * in_true),
        (together + in_pred) * (in_pred + apart) + (together + in_true) * (in_true + apart),
    )


@overall
def hamming_loss(counts: Counts) -> Number:
    return quotient(counts.errors, counts.total)


@overall
def zero_one_loss_count(counts: Counts) -> Number:
    return counts.errors


@overall
def global_performance_index(counts: Counts) -> Number:
    return counts.total / counts.n


# Correlation


@overall
def mcc(counts: Counts) -> Number:
    true, pred, m = counts.true, counts.pred, counts.total
    spread = (m**2 - sum(t**2 for t in true)) * (m**2 - sum(k**2 for k in pred))
    return quotient(m * counts.hits - _sum_of_products(true, pred), mp.sqrt(spread))


@overall
def tmcc(counts: Counts) -> Number:
    if counts.n == 1 or not counts.total:
        raise Undefined
    if not counts.errors:
        return mpf(0)
    correlation = mcc(counts)
    errors = mp.log(hamming_loss(counts)) / mp.log(2 * counts.n - 2)
    return (1 - correlation) * (1 - errors) * (1 - mpf(1) / counts.n)


# Correction for chance


@overall
def cohen_kappa(counts: Counts, *, weights: str = "none") -> Number:
    expected = [[t * k / counts.total for k in counts.pred] for t in counts.true] if counts.total else counts.c
    return 1 - quotient(_disagreement(counts.c, weights), _disagreement(expected, weights))


@overall
def scott_pi(counts: Counts, *, proportions: str = "pooled") -> Number:
    return _beyond(accuracy(counts), random_accuracy(counts, proportions=proportions))


@overall
def bennett_s(counts: Counts) -> Number:
    return _beyond(accuracy(counts), mpf(1) / counts.n)


@overall
def gwet_ac1(counts: Counts) -> Number:
    return _beyond(accuracy(counts), quotient(sum(p * (1 - p) for p in _pooled(counts)), counts.n - 1))


@overall
def krippendorff_alpha(counts: Counts, *, weights: str = "none") -> Number:
    m = counts.total
    if 2 * m <= 1:
        raise Undefined
    pooled = _pooled(counts)
    expected = _disagreement([[p * q for q in pooled] for p in pooled], weights)
    return 1 - (1 - 1 / (2 * m)) * quotient(_disagreement(counts.c, weights) / m, expected)


@overall
def random_accuracy(counts: Counts, *, proportions: str = "separate") -> Number:
    return sum(class_random_accuracy(counts, k, proportions=proportions) for k in counts.classes)


@per_class
def class_random_accuracy(counts: Counts, k: int, *, proportions: str = "separate") -> Number:
    t, p, m = counts.true[k], counts.pred[k], counts.total
    if proportions == "pooled":
        return quotient((t + p) ** 2, (2 * m) ** 2)
    return quotient(t * (t if proportions == "true" else p), m * m)


@overall
def kappa_no_prevalence(counts: Counts) -> Number:
    return 2 * accuracy(counts) - 1


# Class imbalance


@overall
def g_mean(counts: Counts) -> Number:
    return mp.root(mp.fprod(_recalls(counts)), counts.n)


@overall
def auroc_ovo(counts: Counts) -> Number:
    c, t, n = counts.c, counts.true, counts.n
    areas = [
        (1 + quotient(c[i][i], t[i]) - quotient(c[j][i], t[j])) / 2
        for i in counts.classes
        for j in counts.classes
        if j != i
    ]
    return quotient(sum(areas), n * (n - 1))


@overall
def auroc_ova(counts: Counts) -> Number:
    false_alarms = [quotient(counts.fp[k], counts.not_true[k]) for k in counts.classes]
    return sum(1 + recall - alarm for recall, alarm in zip(_recalls(counts), false_alarms, strict=True)) / (
        2 * counts.n
    )


@overall
def auroc_ova_lower_bound(counts: Counts) -> Number:
    if counts.n < 2:
        raise Undefined
    *_, second, largest = sorted(counts.true)
    return (counts.n - 1 - quotient(largest, counts.total - second)) / (2 * counts.n)


@overall
def nauroc_ova(counts: Counts) -> Number:
    return _beyond(auroc_ova(counts), mpf(counts.n - 2) / (2 * counts.n))


@overall
def aurpc_ova(counts: Counts) -> Number:
    return (sum(_precisions(counts)) + sum(_recalls(counts))) / (2 * counts.n)


@overall
def maurpc_ova(counts: Counts) -> Number:
    recalls = _recalls(counts)
    calls = [sum(counts.c[j][i] / counts.true[j] for j in counts.classes) for i in counts.classes]
    return sum(quotient(r, called) + r for r, called in zip(recalls, calls, strict=True)) / (2 * counts.n)


@overall
def imbalance_ratio(counts: Counts) -> Number:
    if not min(counts.true):
        raise Undefined
    return max(counts.true) / min(counts.true)


@overall
def csi(counts: Counts) -> Number:
    return sum(p + r - 1 for p, r in zip(_precisions(counts), _recalls(counts), strict=True)) / counts.n


# The ground-truth index


@per_class
def gt_index(counts: Counts, k: int) -> Number:
    if counts.n < 3 or any(counts.fp[i] + counts.fn[i] == counts.errors for i in counts.classes):
        raise Undefined
    tpr = quotient(counts.tp[k], counts.true[k])
    with mp.workprec(mp.prec + 100):
        guess = _guesses(tuple(counts.fp), tuple(counts.fn), mp.prec // 2)[k]
        return (tpr - guess) / (1 - guess)


@functools.lru_cache(16)
def _guesses(false_alarms: tuple[Number, ...], misses: tuple[Number, ...], bits: int) -> list[Number]:
    """The a of the product v_j a_i, i ≠ j, with the row and column sums of the errors, and Σa = 1.

    With V = Σv, each a solves V = R/a + K/(1 - a), R being the class's false alarms and K its misses; of the two roots
    it is the smaller one, except perhaps for the class of the largest √R + √K. That class's log odds are the unknown.
    """
    pairs = list(zip(false_alarms, misses, strict=True))
    pivot = max(range(len(pairs)), key=lambda i: mp.sqrt(pairs[i][0]) + mp.sqrt(pairs[i][1]))
    r_pivot, k_pivot = pairs[pivot]

    def shares(log_odds: Number) -> list[Number]:
        odds = mp.exp(log_odds)
        if r_pivot:
            total, of_pivot = r_pivot * (1 + 1 / odds) + k_pivot * (1 + odds), odds / (1 + odds)
        else:  # then a = 0, and V is free
            total, of_pivot = k_pivot * (1 + 1 / odds), mpf(0)
        return [of_pivot if i == pivot else smaller_root(total, *pair) for i, pair in enumerate(pairs)]

    def smaller_root(total: Number, r: Number, k: Number) -> Number:
        middle = total - k + r
        square = middle**2 - 4 * total * r
        return 2 * r / (middle + mp.sqrt(max(square, mpf(0)))) if r else mpf(0)

    return shares(_increasing_root(lambda log_odds: sum(shares(log_odds)) - 1, bits))


def _increasing_root(function: Callable[[Number], Number], bits: int) -> Number:
    """Where a function turns from negative to positive, to so many bits: bisection, then the Illinois method."""
    low, high = mpf(-1), mpf(1)
    while function(low) >= 0:
        low *= 2
    while function(high) <= 0:
        high *= 2
    below, above = function(low), function(high)
    last, steps = 0, 0
    while high - low > mp.ldexp(1, -bits):
        steps += 1
        if high - low > mpf("1e-3") or steps % 4 == 0:
            middle = (low + high) / 2
        else:
            middle = (low * above - high * below) / (above - below)
        value = function(middle)
        if value == 0:
            return middle
        if value < 0:
            low, below, above = middle, value, above / (2 if last < 0 else 1)
        else:
            high, above, below = middle, value, below / (2 if last > 0 else 1)
        last = value
    return (low + high) / 2


# Inference


@overall
def accuracy_standard_error(counts: Counts) -> Number:
    rate = accuracy(counts)
    return mp.sqrt(rate * (1 - rate) / counts.total)


@overall
def accuracy_confidence_limit(
    counts: Counts, *, bound: str = "lower", method: str = "wilson", confidence: float = 0.95
) -> Number:
    rate, m, z = accuracy(counts), counts.total, _normal_quantile(confidence)
    step = -z if bound == "lower" else z
    if method == "wilson":
        root = mp.sqrt(rate * (1 - rate) / m + z**2 / (4 * m**2))
        return (rate + z**2 / (2 * m) + step * root) / (1 + z**2 / m)
    if method == "agresti_coull":
        rate, m = (counts.hits + z**2 / 2) / (m + z**2), m + z**2
    return _cut(rate + step * mp.sqrt(rate * (1 - rate) / m), 0, 1)


@overall
def kappa_standard_error(counts: Counts, *, method: str = "fleiss") -> Number:
    """As Fleiss, Cohen and Everitt print it, with the sums of hits and of errors apart; or Cohen's of 1960."""
    if method == "cohen":
        rate, chance = accuracy(counts), random_accuracy(counts)
        return mp.sqrt(quotient(rate * (1 - rate), counts.total * (1 - chance) ** 2))
    with mp.workprec(mp.prec + 2000):  # the root of what rounding leaves of 0 must vanish with any count
        rate, chance, m = accuracy(counts), random_accuracy(counts), counts.total
        true, pred = [size / m for size in counts.true], [size / m for size in counts.pred]
        hits = sum(counts.tp[k] / m * ((1 - chance) - (true[k] + pred[k]) * (1 - rate)) ** 2 for k in counts.classes)
        pairs = [(i, j) for i in counts.classes for j in counts.classes if i != j]
        errors = (1 - rate) ** 2 * sum(counts.c[i][j] / m * (pred[i] + true[j]) ** 2 for i, j in pairs)
        variance = quotient(hits + errors - (rate * chance - 2 * chance + rate) ** 2, m * (1 - chance) ** 4)
        return mp.sqrt(max(variance, mpf(0)))


@overall
def kappa_confidence_limit(
    counts: Counts, *, bound: str = "lower", method: str = "fleiss", confidence: float = 0.95
) -> Number:
    z, error = _normal_quantile(confidence), kappa_standard_error(counts, method=method)
    return _cut(cohen_kappa(counts) + (-z if bound == "lower" else z) * error, -1, 1)


@overall
def no_information_rate(counts: Counts) -> Number:
    return quotient(max(counts.true), counts.total)


@overall
def no_information_p_value(counts: Counts) -> Number:
    """The incomplete beta function I(hits, errors + 1) of the rate."""
    rate = no_information_rate(counts)
    if not counts.hits or rate == 1:
        return mpf(1)
    with mp.workprec(200 + 2 * max(0, mp.mag(counts.total)) + abs(mp.mag(rate)) + abs(mp.mag(1 - rate))):
        return _incomplete_beta(counts.hits, counts.errors, rate)


def _incomplete_beta(a: Number, b: Number, x: Number) -> Number:
    """I_x(a, b + 1), which is the integral of exp(a u) (1 - exp u)^b over u < ln x, over B(a, b + 1)."""
    factor = mp.exp(mp.loggamma(a + b + 1) - mp.loggamma(a + 1) - mp.loggamma(b + 1))  # 1 / (a B(a, b + 1))
    if a < 1:
        return _incomplete_beta(a + 1, b, x) + factor * x**a * (1 - x) ** (b + 1)
    y = min(x, a / (a + b))  # where the integrand is largest
    unit = 1 / max(a - b * y / (1 - y), mp.sqrt(b * y) / (1 - y)) if b else 1 / a
    precision = mp.prec

    def density(v: Number) -> Number:
        """The integrand, v units from its largest value, as a part of that."""
        with mp.workprec(precision):
            u = v * unit
            return mp.exp(max(a * u + (b * mp.log((1 - y * mp.exp(u)) / (1 - y)) if b else 0), -mpf(1000)))

    def edges(direction: int, limit: Number) -> list[Number]:
        """Pieces that double in length: away from the largest value the logarithm falls ever faster."""
        far = [mpf(0)]
        while far[-1] < limit and density(direction * far[-1]) > 1e-40:
            far.append(min(2 * far[-1] or mpf(1), limit))
        return sorted(direction * v for v in far)

    pieces = edges(-1, mp.inf) + edges(1, mp.log(x / y) / unit)[1:]
    with mp.workprec(90):
        area = mp.quad(density, pieces, method="gauss-legendre")
    return factor * a * y**a * (1 - y) ** b * unit * area


# What several of them are made of


def _beyond(agreement: Number, chance: Number) -> Number:
    return ratio(agreement - chance, 1 - chance)


def _sum_of_products(xs: list[Number], ys: list[Number]) -> Number:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def _pooled(counts: Counts) -> list[Number]:
    return [quotient(counts.true[k] + counts.pred[k], 2 * counts.total) for k in counts.classes]


def _disagreement(cells: list[list[Number]], weights: str) -> Number:
    weigh = {"none": lambda d: int(d != 0), "linear": abs, "quadratic": lambda d: d * d}[weights]
    return sum(weigh(i - j) * cell for i, row in enumerate(cells) for j, cell in enumerate(row))


def _recalls(counts: Counts) -> list[Number]:
    return [quotient(counts.tp[k], counts.true[k]) for k in counts.classes]


def _precisions(counts: Counts) -> list[Number]:
    return [quotient(counts.tp[k], counts.pred[k]) for k in counts.classes]


@functools.cache
def _normal_quantile(confidence: float) -> Number:
    """The z of which a normal variable is within ±z so often."""
    with mp.workprec(300):
        return mp.sqrt(2) * mp.erfinv(mpf(confidence))


def _cut(x: Number, low: int, high: int) -> Number:
    return min(max(x, mpf(low)), mpf(high))
