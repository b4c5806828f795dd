"""Rates, counts, their combinations, and odds of a class."""

from __future__ import annotations

import math

from mpmath import mp, mpf

from .counts import Counts, Number, Undefined, log, per_class, quotient

# ---- rates ----------------------------------------------------------------------------------------------------------


@per_class
def recall(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k], counts.true[k])


@per_class
def specificity(counts: Counts, k: int) -> Number:
    return quotient(counts.tn[k], counts.not_true[k])


@per_class
def precision(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k], counts.pred[k])


@per_class
def npv(counts: Counts, k: int) -> Number:
    return quotient(counts.tn[k], counts.not_pred[k])


@per_class
def fpr(counts: Counts, k: int) -> Number:
    return quotient(counts.fp[k], counts.not_true[k])


@per_class
def fnr(counts: Counts, k: int) -> Number:
    return quotient(counts.fn[k], counts.true[k])


@per_class
def fdr(counts: Counts, k: int) -> Number:
    return quotient(counts.fp[k], counts.pred[k])


@per_class
def false_omission_rate(counts: Counts, k: int) -> Number:
    return quotient(counts.fn[k], counts.not_pred[k])


@per_class
def f1(counts: Counts, k: int) -> Number:
    tp, fp, fn = counts.tp[k], counts.fp[k], counts.fn[k]
    return quotient(2 * tp, 2 * tp + fp + fn)


@per_class
def fbeta(counts: Counts, k: int, beta: float = 1) -> Number:
    tp, squared = counts.tp[k], mpf(beta) ** 2
    return quotient((1 + squared) * tp, (1 + squared) * tp + squared * counts.fn[k] + counts.fp[k])


@per_class
def jaccard(counts: Counts, k: int) -> Number:
    tp, fp, fn = counts.tp[k], counts.fp[k], counts.fn[k]
    return quotient(tp, tp + fp + fn)


@per_class
def fowlkes_mallows(counts: Counts, k: int) -> Number:
    return mp.sqrt(precision(counts, k) * recall(counts, k))


@per_class
def auc_of_labels(counts: Counts, k: int) -> Number:
    return (recall(counts, k) + specificity(counts, k)) / 2


@per_class
def gini(counts: Counts, k: int) -> Number:
    """2 auc - 1, as one quotient, which is an exact 0 where it is 0; so are the two below."""
    return quotient(_determinant(counts, k), counts.true[k] * counts.not_true[k])


@per_class
def informedness(counts: Counts, k: int) -> Number:
    return quotient(_determinant(counts, k), counts.true[k] * counts.not_true[k])


@per_class
def markedness(counts: Counts, k: int) -> Number:
    return quotient(_determinant(counts, k), counts.pred[k] * counts.not_pred[k])


def _determinant(counts: Counts, k: int) -> Number:
    return counts.tp[k] * counts.tn[k] - counts.fp[k] * counts.fn[k]


# ---- counts ---------------------------------------------------------------------------------------------------------


@per_class
def true_positives(counts: Counts, k: int) -> Number:
    return counts.tp[k]


@per_class
def true_negatives(counts: Counts, k: int) -> Number:
    return counts.tn[k]


@per_class
def false_positives(counts: Counts, k: int) -> Number:
    return counts.fp[k]


@per_class
def false_negatives(counts: Counts, k: int) -> Number:
    return counts.fn[k]


@per_class
def positives(counts: Counts, k: int) -> Number:
    return counts.tp[k] + counts.fn[k]


@per_class
def negatives(counts: Counts, k: int) -> Number:
    return counts.tn[k] + counts.fp[k]


@per_class
def predicted_positives(counts: Counts, k: int) -> Number:
    return counts.tp[k] + counts.fp[k]


@per_class
def predicted_negatives(counts: Counts, k: int) -> Number:
    return counts.tn[k] + counts.fn[k]


@per_class
def population(counts: Counts, k: int) -> Number:
    return counts.tp[k] + counts.fp[k] + counts.fn[k] + counts.tn[k]


@per_class
def class_error_count(counts: Counts, k: int) -> Number:
    return counts.fp[k] + counts.fn[k]


@per_class
def automatic_manual_difference(counts: Counts, k: int) -> Number:
    return counts.fp[k] - counts.fn[k]


@per_class
def bray_curtis_dissimilarity(counts: Counts, k: int) -> Number:
    return quotient(abs(counts.fp[k] - counts.fn[k]), 2 * counts.total)


@per_class
def prevalence(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k] + counts.fn[k], counts.total)


@per_class
def predicted_prevalence(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k] + counts.fp[k], counts.total)


@per_class
def class_accuracy(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k] + counts.tn[k], counts.total)


@per_class
def class_error(counts: Counts, k: int) -> Number:
    return quotient(counts.fp[k] + counts.fn[k], counts.total)


# ---- combined -------------------------------------------------------------------------------------------------------


@per_class
def icsi(counts: Counts, k: int) -> Number:
    """tp/p + tp/t - 1, over one denominator: an exact 0 where it is 0."""
    true, pred = counts.true[k], counts.pred[k]
    return quotient(counts.tp[k] * (true + pred) - true * pred, true * pred)


@per_class
def kulczynski(counts: Counts, k: int) -> Number:
    return (precision(counts, k) + recall(counts, k)) / 2


@per_class
def aurpc(counts: Counts, k: int) -> Number:
    return (recall(counts, k) + precision(counts, k)) / 2


@per_class
def mprecision(counts: Counts, k: int) -> Number:
    tpr = recall(counts, k)
    return quotient(tpr, tpr + fpr(counts, k))


@per_class
def maurpc(counts: Counts, k: int) -> Number:
    return (recall(counts, k) + mprecision(counts, k)) / 2


@per_class
def distance_index(counts: Counts, k: int) -> Number:
    return mp.sqrt((1 - specificity(counts, k)) ** 2 + (1 - recall(counts, k)) ** 2)


@per_class
def similarity_index(counts: Counts, k: int) -> Number:
    return 1 - mp.sqrt(((1 - specificity(counts, k)) ** 2 + (1 - recall(counts, k)) ** 2) / 2)


@per_class
def optimization_precision(counts: Counts, k: int) -> Number:
    """Over one denominator, as icsi; the two rates times both class sizes."""
    true, others = counts.true[k], counts.not_true[k]
    if not true or not others:
        raise Undefined
    tpr, tnr = counts.tp[k] * others, counts.tn[k] * true
    right = counts.tp[k] + counts.tn[k]
    return quotient(right * (tnr + tpr) - abs(tnr - tpr) * counts.total, (tnr + tpr) * counts.total)


@per_class
def iba(counts: Counts, k: int, alpha: float = 1) -> Number:
    """The weight over one denominator, as icsi."""
    sizes = counts.true[k] * counts.not_true[k]
    difference = counts.tp[k] * counts.not_true[k] - counts.tn[k] * counts.true[k]
    return quotient(sizes + mpf(alpha) * difference, sizes) * recall(counts, k) * specificity(counts, k)


@per_class
def adjusted_geometric_mean(counts: Counts, k: int) -> Number:
    tpr, tnr = recall(counts, k), specificity(counts, k)
    if not tpr:
        return mpf(0)
    others = counts.not_true[k] / counts.total
    return (mp.sqrt(tpr * tnr) + tnr * others) / (1 + others)


@per_class
def adjusted_f_score(counts: Counts, k: int) -> Number:
    tp, fp, fn, tn = counts.tp[k], counts.fp[k], counts.fn[k], counts.tn[k]
    return mp.sqrt(quotient(5 * tp, 5 * tp + 4 * fn + fp) * quotient(5 * tn, 5 * tn + 4 * fn + fp))


@per_class
def overlap_coefficient(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k], min(counts.pred[k], counts.true[k]))


@per_class
def braun_blanquet(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k], max(counts.pred[k], counts.true[k]))


@per_class
def tversky_index(counts: Counts, k: int, alpha: float = 0.5, beta: float = 0.5) -> Number:
    return quotient(counts.tp[k], counts.tp[k] + mpf(alpha) * counts.fn[k] + mpf(beta) * counts.fp[k])


@per_class
def net_benefit(counts: Counts, k: int, weight: float = 1) -> Number:
    return quotient(counts.tp[k] - mpf(weight) * counts.fp[k], counts.total)


# ---- odds -----------------------------------------------------------------------------------------------------------


@per_class
def positive_likelihood_ratio(counts: Counts, k: int) -> Number:
    return quotient(recall(counts, k), fpr(counts, k))


@per_class
def negative_likelihood_ratio(counts: Counts, k: int) -> Number:
    return quotient(fnr(counts, k), specificity(counts, k))


@per_class
def diagnostic_odds_ratio(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k] * counts.tn[k], counts.fp[k] * counts.fn[k])


@per_class
def lift(counts: Counts, k: int) -> Number:
    return quotient(counts.tp[k] * counts.total, counts.pred[k] * counts.true[k])


@per_class
def information_score(counts: Counts, k: int, base: float = math.e) -> Number:
    return log(lift(counts, k)) / _ln(base)


@per_class
def discriminant_power(counts: Counts, k: int, base: float = math.e) -> Number:
    return mp.sqrt(3) / mp.pi * log(diagnostic_odds_ratio(counts, k)) / _ln(base)


@per_class
def sensitivity_index(counts: Counts, k: int) -> Number:
    tp, fp, fn, tn = counts.tp[k], counts.fp[k], counts.fn[k], counts.tn[k]
    if not (tp + fn) or not (fp + tn):
        raise Undefined
    if 0 in (tp, fp, fn, tn):
        hits, alarms = ((mp.inf if not b else -mp.inf if not a else mpf(0)) for a, b in ((tp, fn), (fp, tn)))
        if hits == alarms:  # ∞ - ∞
            raise Undefined
        return hits - alarms
    # The two quantiles may differ by as little as the two odds do.
    lost = -mp.mag(tp * tn / (fp * fn) - 1) if tp * tn != fp * fn else 0
    with mp.workprec(max(200, min(mp.prec, 1000)) + max(0, lost)):
        return _normal_quantile(tp, fn) - _normal_quantile(fp, tn)


@per_class
def yule_q(counts: Counts, k: int) -> Number:
    hits, errors = counts.tp[k] * counts.tn[k], counts.fp[k] * counts.fn[k]
    return quotient(hits - errors, hits + errors)


@per_class
def yule_y(counts: Counts, k: int) -> Number:
    hits, errors = mp.sqrt(counts.tp[k] * counts.tn[k]), mp.sqrt(counts.fp[k] * counts.fn[k])
    return quotient(hits - errors, hits + errors)


def _ln(base: float) -> Number:
    return mpf(1) if base == math.e else mp.log(mpf(base))


def _normal_quantile(a: Number, b: Number) -> Number:
    """Φ⁻¹(a / (a + b)): by Newton's method on ln Φ of the smaller tail, which is concave."""
    if a == b:
        return mpf(0)
    wanted = mp.log(min(a, b) / (a + b))
    x, step = mp.sqrt(-2 * wanted), mpf(1)  # beyond the root, for Φ(-x) < exp(-x²/2)
    while abs(step) > mp.ldexp(1, 8 - mp.prec) * (1 + x):
        tail = mp.erfc(x / mp.sqrt(2)) / 2
        step = (mp.log(tail) - wanted) * tail * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x += step
    return -x if a < b else x
