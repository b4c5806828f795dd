"""Entropies of the joint distribution, and confusion entropy."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "cen",
    "class_cen",
    "class_mcen",
    "conditional_entropy",
    "joint_entropy",
    "kl_divergence",
    "margin_cross_entropy",
    "mcen",
    "mutual_information",
    "nmi",
    "pred_entropy",
    "rci",
    "true_entropy",
]

_EMPTY = "an empty matrix"
Base = Annotated[float, 1]


def _share_of(t: Table, entropy: Array, is_all: Array) -> Array:
    """The mutual information as a fraction of an entropy that is never smaller; 1 where it is known to be all."""
    value = t.within(t.ratio(t.mutual_information, entropy), 0, 1)
    return t.define(t.xp.where(is_all, 1, value), ~t.is_zero(entropy))


def _in_base(t: Table, nats: Array, base: float) -> Array:
    return t.define(nats / math.log(base), t.total != 0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"-\sum_{ij} p_{ij} \ln p_{ij}",
    source="Dembélé, equation 11",
    undefined=_EMPTY,
    aliases=("h_joint",),
    symmetric=True,
)
def joint_entropy(t: Table, *, base: Base = math.e) -> Array:
    """Joint entropy of true and predicted classes (the cells), in nats or to another base.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.joint_entropy([[2, 0], [1, 1]], base=2)
    np.float64(1.5)
    """
    return _in_base(t, t.joint_entropy, base)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"-\sum_i p_{i\cdot} \ln p_{i\cdot}",
    source="Dembélé, section 2",
    undefined=_EMPTY,
    aliases=("h_true", "reference_entropy"),
)
def true_entropy(t: Table, *, base: Base = math.e) -> Array:
    """Entropy of the true class distribution (row sums), in nats or to another base.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.true_entropy([[2, 0], [1, 1]], base=2)
    np.float64(1.0)
    """
    return _in_base(t, t.true_entropy, base)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"-\sum_j p_{\cdot j} \ln p_{\cdot j}",
    source="Dembélé, section 2",
    undefined=_EMPTY,
    aliases=("h_pred", "response_entropy"),
)
def pred_entropy(t: Table, *, base: Base = math.e) -> Array:
    """Entropy of the predicted class distribution (column sums), in nats or to another base.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.pred_entropy([[2, 0], [0, 2]], base=2)
    np.float64(1.0)
    """
    return _in_base(t, t.pred_entropy, base)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=True,
    formula=r"\sum_{ij} p_{ij} \ln \frac{p_{ij}}{p_{i\cdot}\,p_{\cdot j}}",
    source="Dembélé, equation 12",
    undefined=_EMPTY,
    aliases=("transmitted_information",),
    chance="any sizes",
    symmetric=True,
)
def mutual_information(t: Table, *, base: Base = math.e) -> Array:
    """Information that the predicted class gives about the true class, in nats or to another base.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.mutual_information([[2, 0], [0, 2]], base=2).round(12)
    np.float64(1.0)
    """
    return _in_base(t, t.within(t.mutual_information, 0, math.inf), base)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{I(\mathrm{true}; \mathrm{pred})}{\tfrac{1}{2} (H(\mathrm{true}) + H(\mathrm{pred}))}",
    source="Dembélé, section 2 (normalizer=joint); Vinh et al. 2010",
    undefined="the normalizer is 0: a single true class, a single predicted class, or both",
    aliases=("normalized_mutual_information", "v_measure"),
    chance="any sizes",
    symmetric=True,
)
def nmi(t: Table, *, normalizer: Literal["arithmetic", "joint", "geometric", "min", "max"] = "arithmetic") -> Array:
    """Mutual information over a mean of the two entropies, over the joint entropy, or over either entropy.

    The formula is that of the default, as in scikit-learn; Dembélé divides by the joint entropy.

    Parameters
    ----------
    normalizer
        What the mutual information is divided by: the arithmetic mean of the two entropies, the joint entropy, the
        geometric mean, the smaller, or the larger entropy.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.nmi([[2, 0], [0, 2]], normalizer="joint")
    np.float64(1.0)
    >>> matrics.metrics.nmi([[1, 1], [1, 1]])
    np.float64(0.0)
    """
    xp, true, pred = t.xp, t.true_entropy, t.pred_entropy
    scale = {
        "arithmetic": lambda: (true + pred) / 2,
        "joint": lambda: t.joint_entropy,
        "geometric": lambda: t.sqrt(true) * t.sqrt(pred),
        "min": lambda: xp.minimum(true, pred),
        "max": lambda: xp.maximum(true, pred),
    }[normalizer]()
    of_true, of_pred = t.is_determined(t.true_axis), t.is_determined(t.pred_axis)
    return _share_of(t, scale, of_true | of_pred if normalizer == "min" else of_true & of_pred)


def _confusion_entropy(t: Table, diagonal_weight: float) -> Array:
    """Σ_j q_j CEN_j over twice the total, in nats, where q_j = true + pred - (1 - diagonal_weight) tp.

    Computed directly, x ln x of the fractions C_jk / q_j and C_kj / q_j takes two logarithms of every cell. With q_j
    moved out of the logarithm, it takes a logarithm of every cell, which the joint entropy shares, and of every q_j.
    """
    _, spread = _class_confusion(t, diagonal_weight)
    return t.sum(spread, axis=0) / 2


def _class_confusion(t: Table, diagonal_weight: float) -> tuple[Array, Array]:
    """The q_j as fractions of the total, and q_j CEN_j in nats."""
    errors = t.share(t.class_errors)
    reach = errors + (1 + diagonal_weight) * t.share(t.tp)
    spread = (0 - t.class_error_logs) + errors * t.log(reach)  # in this order, without errors 0 has no sign
    return reach, t.within(spread, 0, math.inf)


@metric(
    kind="overall",
    range=(0, 2 / (math.e * math.log(2))),
    higher_is_better=False,
    formula=r"\sum_j \frac{q_j}{2m} \cdot \frac{-1}{\ln(2n - 2)} \sum_{k \ne j} "
    r"\left( \frac{c_{jk}}{q_j} \ln \frac{c_{jk}}{q_j} + \frac{c_{kj}}{q_j} \ln \frac{c_{kj}}{q_j} \right), "
    r"\quad q_j = t_j + k_j",
    source="Jurman et al. (CEN); Wei et al. 2010",
    undefined="an empty matrix, or a single class",
    aliases=("confusion_entropy",),
    symmetric=True,
)
def cen(t: Table) -> Array:
    """Confusion entropy: how evenly the errors are spread over the cells; 0 without errors.

    It measures how the errors are spread, not how many there are: all samples in a single off-diagonal cell give 0 as
    well. It can exceed 1 for two classes only, where its largest value is 2 / (e ln 2) = 1.0615.

    Examples
    --------
    >>> import matrics
    >>> matrics.cen([[5, 0], [0, 5]])
    np.float64(0.0)
    >>> matrics.cen([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).round(12)
    np.float64(1.0)
    """
    if t.n == 1:
        return t.undefined()
    return t.define(_confusion_entropy(t, 1) / math.log(2 * t.n - 2), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=False,
    formula=r"\sum_j \frac{q_j}{2m - \alpha \sum_k c_{kk}} \cdot \frac{-1}{\ln(2n - 2)} \sum_{k \ne j} "
    r"\left( \frac{c_{jk}}{q_j} \ln \frac{c_{jk}}{q_j} + \frac{c_{kj}}{q_j} \ln \frac{c_{kj}}{q_j} \right), "
    r"\quad q_j = t_j + k_j - c_{jj}",
    source="Dembélé, section 2; Delgado & Núñez-González 2019",
    undefined="an empty matrix, or a single class",
    aliases=("modified_confusion_entropy",),
    symmetric=True,
)
def mcen(t: Table) -> Array:
    """Modified confusion entropy, which stays within [0, 1].

    α is ½ for two classes and 1 for more: this reproduces Dembélé's tables.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.mcen([[0, 5], [5, 0]])
    np.float64(1.0)
    """
    if t.n == 1:
        return t.undefined()
    alpha = 0.5 if t.n == 2 else 1.0
    weights = 1 - alpha * t.share(t.hits) / 2
    return t.define(t.within(_confusion_entropy(t, 0) / weights / math.log(2 * t.n - 2), 0, 1), t.total != 0)


_CLASS_CEN = (
    r"\frac{-1}{\ln(2n - 2)} \sum_{j \ne k} "
    r"\left( \frac{c_{kj}}{q_k} \ln \frac{c_{kj}}{q_k} + \frac{c_{jk}}{q_k} \ln \frac{c_{jk}}{q_k} \right), \quad "
)


def _class_confusion_entropy(t: Table, diagonal_weight: float) -> Array:
    if t.n == 1:
        return t.undefined_classes()
    reach, spread = _class_confusion(t, diagonal_weight)
    return t.define(t.ratio(spread / math.log(2 * t.n - 2), reach), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 2 / (math.e * math.log(2))),
    higher_is_better=False,
    formula=_CLASS_CEN + r"q_k = t_k + k_k",
    source="Jurman et al. (CEN_j); Wei et al. 2010",
    undefined="an empty matrix, or a single class",
    symmetric=True,
)
def class_cen(t: Table) -> Array:
    """Confusion entropy of a class: how evenly the errors of its row and column are spread; 0 without errors.

    The overall :func:`cen` is the mean of these, weighted by row sum plus column sum.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_cen([[7, 2, 1], [3, 6, 1], [0, 2, 8]], average="class").round(3)
    array([0.479, 0.646, 0.382])
    """
    return _class_confusion_entropy(t, 1)


@metric(
    kind="per_class",
    range=(0, 2 / (math.e * math.log(2))),
    higher_is_better=False,
    formula=_CLASS_CEN + r"q_k = t_k + k_k - c_{kk}",
    source="Dembélé, section 2; Delgado & Núñez-González 2019",
    undefined="an empty matrix, or a single class",
    symmetric=True,
)
def class_mcen(t: Table) -> Array:
    """Modified confusion entropy of a class, in which its true positives count once, not twice.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_mcen([[7, 2, 1], [3, 6, 1], [0, 2, 8]], average="class").round(3)
    array([0.594, 0.775, 0.514])
    """
    return _class_confusion_entropy(t, 0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"H(\mathrm{pred} \mid \mathrm{true}) = -\sum_{ij} p_{ij} \ln \frac{p_{ij}}{p_{i \cdot}}",
    source="Shannon 1948",
    undefined=_EMPTY,
)
def conditional_entropy(
    t: Table, *, direction: Literal["pred_given_true", "true_given_pred"] = "pred_given_true", base: Base = math.e
) -> Array:
    """Entropy of the predicted class given the true class (or the reverse), in nats or to another base.

    Parameters
    ----------
    direction
        Which class is known: the true class, or the predicted class.
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.conditional_entropy([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.733)
    """
    known = t.true_entropy if direction == "pred_given_true" else t.pred_entropy
    rest = t.within(t.joint_entropy - known, 0, math.inf)
    is_none = t.is_determined(t.pred_axis if direction == "pred_given_true" else t.true_axis)
    return _in_base(t, t.xp.where(is_none, 0, rest), base)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=None,
    formula=r"-\sum_k \frac{t_k}{m} \ln \frac{k_k}{m}",
    source="Shannon 1948; Good 1956",
    undefined="an empty matrix; ∞ if a class with samples is never predicted",
)
def margin_cross_entropy(t: Table, *, base: Base = math.e) -> Array:
    """Cross entropy of the predicted relative to the true class distribution, in nats or to another base.

    It compares class sizes only: it is not the cross-entropy loss, which compares probabilities sample by sample.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.margin_cross_entropy([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(1.099)
    """
    nats = 0 - t.sum(t.true_share * t.log_share(t.pred, t.not_pred), axis=0)
    return t.define(t.xp.where(_covered(t), nats / math.log(base), math.inf), t.total != 0)


def _covered(t: Table) -> Array:
    """Whether every class with samples is predicted at least once."""
    return t.xp.all((t.true == 0) | t.has_pred, axis=0)


@metric(
    kind="overall",
    range=(0, math.inf),
    higher_is_better=False,
    formula=r"\sum_k \frac{t_k}{m} \ln \frac{t_k}{k_k}",
    source="Kullback and Leibler 1951",
    undefined="an empty matrix; ∞ if a class with samples is never predicted",
    aliases=("kullback_leibler_divergence",),
)
def kl_divergence(t: Table, *, base: Base = math.e) -> Array:
    """Kullback-Leibler divergence D(true ‖ pred) of the class distributions, in nats or to another base.

    Parameters
    ----------
    base
        Base of the logarithm; e gives nats, 2 bits.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kl_divergence([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.0)
    """
    logs = t.log_share(t.true, t.not_true) - t.log_share(t.pred, t.not_pred)
    nats = t.sum(t.true_share * logs, axis=0)
    value = t.within(nats, 0, math.inf) / math.log(base)
    return t.define(t.xp.where(_covered(t), value, math.inf), t.total != 0)


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{I(\mathrm{true}; \mathrm{pred})}{H(\mathrm{true})}",
    source="Sindhwani et al. 2001",
    undefined="all samples in a single true class",
    aliases=("relative_classifier_information",),
    chance="any sizes",
)
def rci(t: Table) -> Array:
    """Relative classifier information: fraction of the entropy of the true class that the predictions explain.

    The same value as :func:`theil_u` of the true class (its default), under the name used in classification.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.rci([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.332)
    """
    return _share_of(t, t.true_entropy, t.is_determined(t.true_axis))
