"""Odds of a class against the rest: likelihood ratios, odds ratios, and functions of them."""

from __future__ import annotations

import math
from typing import Annotated

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "diagnostic_odds_ratio",
    "discriminant_power",
    "information_score",
    "lift",
    "negative_likelihood_ratio",
    "positive_likelihood_ratio",
    "sensitivity_index",
    "yule_q",
    "yule_y",
]

Base = Annotated[float, 1]

# Wichura 1988 (AS 241), routine PPND16: numerators and denominators, highest power first.
_CENTRAL = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_MIDDLE = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def _rational(x: Array, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    upper, lower = (0 * x + powers[0] for powers in coefficients)
    for a, b in zip(*(powers[1:] for powers in coefficients), strict=True):
        upper, lower = upper * x + a, lower * x + b
    return upper / lower


def _normal_quantile(t: Table, share: Array, rest: Array, log_smaller: Array) -> Array:
    """Normal quantile of ``share``, given its complement ``rest`` and the logarithm of the smaller of the two."""
    xp = t.xp
    middle = (share - rest) / 2
    central = xp.abs(middle) <= 0.425
    inner = xp.where(central, middle, 0)
    radius = xp.sqrt(xp.where(central, math.log(2), 0 - log_smaller))
    far = radius > 5
    outer = _rational(xp.where(far, 0, radius - 1.6), _MIDDLE)
    if not t.nowhere(far):
        outer = xp.where(far, _rational(xp.where(far, radius - 5, 0), _TAIL), outer)
    outer = xp.where(middle < 0, 0 - outer, outer)
    return xp.where(central, inner * _rational(0.180625 - inner * inner, _CENTRAL), outer)


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\frac{tp / (tp + fn)}{fp / (fp + tn)}",
    source="Deeks and Altman 2004",
    undefined="no sample of the true class or none of another, or tp = fp = 0; ∞ if only fp is 0",
    aliases=("plr", "lr_plus"),
    chance="any sizes",
    chance_value=1,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def positive_likelihood_ratio(t: Table) -> Array:
    """Recall over false positive rate: positive likelihood ratio.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.positive_likelihood_ratio([[8, 2], [3, 7]], average="class").round(3)
    array([2.667, 3.5  ])
    """
    (tp, fp, _, _), (true, _, not_true, _) = t.outcomes, t.sizes
    return t.define(t.quotient(tp * not_true, true * fp), t.in_truth)


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"\frac{fn / (tp + fn)}{tn / (fp + tn)}",
    source="Deeks and Altman 2004",
    undefined="no sample of the true class or none of another, or fn = tn = 0; ∞ if only tn is 0",
    aliases=("nlr", "lr_minus"),
    chance="any sizes",
    chance_value=1,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def negative_likelihood_ratio(t: Table) -> Array:
    """False negative rate over specificity: negative likelihood ratio.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.negative_likelihood_ratio([[8, 2], [3, 7]], average="class").round(3)
    array([0.286, 0.375])
    """
    (_, _, fn, tn), (true, _, not_true, _) = t.outcomes, t.sizes
    return t.define(t.quotient(fn * not_true, true * tn), t.in_truth)


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\frac{tp\,tn}{fp\,fn}",
    source="Glas et al. 2003",
    undefined="tp tn and fp fn are both 0; ∞ if only fp fn is 0",
    aliases=("dor", "odds_ratio"),
    chance="any sizes",
    chance_value=1,
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def diagnostic_odds_ratio(t: Table) -> Array:
    """Odds of being predicted as a class among its samples, over those among the other samples.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.diagnostic_odds_ratio([[8, 2], [3, 7]], average="class").round(3)
    array([9.333, 9.333])
    """
    right, wrong = t.odds
    return t.quotient(right, wrong)


def _parts_of_lift(t: Table) -> tuple[Array, Array]:
    true, pred, _, _ = t.sizes
    return t.whole * t.wide(t.tp), true * pred


@metric(
    kind="per_class",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\frac{tp / (tp + fp)}{(tp + fn) / m}",
    source="Brin et al. 1997; Forbes 1907",
    undefined="no sample of the class, or none predicted as it",
    aliases=("lift_score",),
    chance="any sizes",
    chance_value=1,
    symmetric=True,
    needs_every_class=True,
)
def lift(t: Table) -> Array:
    """Precision over prevalence: how much more frequent a class is among its predictions; 1 for random guessing.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.lift([[8, 2], [3, 7]], average="class").round(3)
    array([1.455, 1.556])
    """
    return t.divide(*_parts_of_lift(t))


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\ln \frac{tp / (tp + fp)}{(tp + fn) / m}",
    source="Kononenko and Bratko 1991",
    undefined="no sample of the class, or none predicted as it; -∞ if there are both, but no true positive",
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
)
def information_score(t: Table, *, base: Base = math.e) -> Array:
    """Logarithm of the lift, in nats or to another base: information that a prediction gives about its class.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.information_score([[8, 2], [3, 7]], average="class").round(3)
    array([0.375, 0.442])
    """
    return t.define(t.log_quotient(*_parts_of_lift(t)) / math.log(base), t.in_both)


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\frac{\sqrt{3}}{\pi} \ln \frac{tp\,tn}{fp\,fn}",
    source="Blakeley and Oddone 1995; Sokolova et al. 2006",
    undefined="tp tn and fp fn are both 0; ∞ if only fp fn is 0, -∞ if only tp tn is 0",
    aliases=("discriminatory_power",),
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def discriminant_power(t: Table, *, base: Base = math.e) -> Array:
    """Logarithm of the diagnostic odds ratio, in standard deviations of the logistic distribution.

    The factor √3/π belongs to the natural logarithm. PyCM uses the decimal logarithm: ``base=10``.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.discriminant_power([[8, 2], [3, 7]], average="class").round(3)
    array([1.231, 1.231])
    """
    right, wrong = t.odds
    value = t.log_quotient(right, wrong) * (math.sqrt(3) / math.pi / math.log(base))
    return t.define(value, ~(t.is_zero(right) & t.is_zero(wrong)))


@metric(
    kind="per_class",
    range=(-math.inf, math.inf),
    higher_is_better=True,
    formula=r"\Phi^{-1}\!\left(\frac{tp}{tp + fn}\right) - \Phi^{-1}\!\left(\frac{fp}{fp + tn}\right)",
    source="Green and Swets 1966; Wichura 1988 for the quantile",
    undefined="no sample of the class or none of another, or both rates 0 or both 1; otherwise ±∞ if a rate is 0 or 1",
    aliases=("d_prime", "dprime"),
    chance="any sizes",
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def sensitivity_index(t: Table) -> Array:
    """d': distance of the mean score of a class from that of the others, in standard deviations (normal scores).

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.sensitivity_index([[8, 2], [3, 7]], average="class").round(3)
    array([1.366, 1.366])
    """
    xp = t.xp

    def quantile(part: Array, rest: Array, rate: Array, other: Array) -> Array:
        inside = ~(t.is_zero(part) | t.is_zero(rest))
        part, rest = (t.wide(xp.where(inside, x, 1)) for x in (part, rest))
        log_smaller = t.log(t.smaller(part, rest) / (part + rest))
        value = _normal_quantile(t, xp.where(inside, rate, 0.5), xp.where(inside, other, 0.5), log_smaller)
        return xp.where(inside, value, xp.where(rate < 0.5, -math.inf, math.inf * xp.ones_like(rate)))

    of_hits, of_false_alarms = quantile(t.tp, t.fn, t.tpr, t.fnr), quantile(t.fp, t.tn, t.fpr, t.tnr)
    # Equal infinities occur where both rates are 0, or both 1.
    same = (of_hits == of_false_alarms) & (xp.abs(of_hits) == math.inf)
    return t.define(xp.where(same, 0, of_hits) - xp.where(same, 0, of_false_alarms), t.in_truth & ~same)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{tp\,tn - fp\,fn}{tp\,tn + fp\,fn}",
    source="Labatut and Cherifi, section 4.1; Yule 1900",
    undefined="tp tn and fp fn are both 0",
    aliases=("yules_q",),
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def yule_q(t: Table) -> Array:
    """Yule's Q: the odds ratio mapped to [-1, 1].

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.yule_q([[8, 2], [3, 7]], average="class").round(3)
    array([0.806, 0.806])
    """
    right, wrong = t.odds
    return t.divide(right - wrong, right + wrong)


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\sqrt{tp\,tn} - \sqrt{fp\,fn}}{\sqrt{tp\,tn} + \sqrt{fp\,fn}}",
    source="Labatut and Cherifi, section 4.1; Yule 1912",
    undefined="tp tn and fp fn are both 0",
    aliases=("yules_y", "coefficient_of_colligation"),
    chance="any sizes",
    symmetric=True,
    needs_every_class=True,
    ignores_class_sizes="two classes",
)
def yule_y(t: Table) -> Array:
    """Yule's Y, the coefficient of colligation: Yule's Q of the square roots of the counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.yule_y([[8, 2], [3, 7]], average="class").round(3)
    array([0.507, 0.507])
    """
    right, wrong = (t.sqrt(product) for product in t.odds)
    return t.divide(right - wrong, right + wrong)
