"""Chance-corrected agreement: Cohen's κ, and coefficients with other definitions of chance."""

from __future__ import annotations

import math
from typing import Literal

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._catalogue.weights import Agreement, Disagreement, SymmetricAgreement, SymmetricDisagreement
from matrics._engine.table import Table

__all__ = [
    "bennett_s",
    "class_random_accuracy",
    "cohen_kappa",
    "gwet_ac1",
    "kappa_no_prevalence",
    "krippendorff_alpha",
    "random_accuracy",
    "scott_pi",
]

Weights = Literal["none", "linear", "quadratic"] | Agreement
Costs = Literal["none"] | Disagreement
SymmetricWeights = Literal["none", "linear", "quadratic"] | SymmetricAgreement
SymmetricCosts = Literal["none"] | SymmetricDisagreement
Proportions = Literal["separate", "pooled", "true"]

_EMPTY = "an empty matrix"


def _distances(t: Table, weights: Weights | SymmetricWeights, costs: Costs | SymmetricCosts) -> Array:
    """Distance between the two classes of each cell as a fraction of the largest, in the order of the cells."""
    if isinstance(weights, tuple):
        return t.constant([[1 - weight for weight in row] for row in weights])
    if isinstance(costs, tuple):
        most = max([max(row) for row in costs]) or 1.0  # only ratios of costs matter; keeps products in range
        return t.constant([[cost / most for cost in row] for row in costs])
    distance = t.class_distances / max(t.n - 1, 1)
    return t.broadcast_pairs(distance if weights == "linear" else distance * distance)


def _has_weights(weights: Weights | SymmetricWeights, costs: Costs | SymmetricCosts) -> bool:
    """Whether errors have different weights; raises if they are given twice."""
    if weights != "none" and costs != "none":
        raise ValueError("expected weights= of agreement or costs= of disagreement, got both")
    return weights != "none" or costs != "none"


def _disagreement(t: Table, distances: Array, true: Array, pred: Array) -> tuple[Array, Array]:
    """Observed disagreement, and that expected of independent classes of these sizes; both times m²."""
    axes, distances = (t.true_axis, t.pred_axis), t.wide(distances)
    observed = t.wide(t.cells) * t.wide(t.cellwise(t.total)) * distances
    expected = t.wide(t.rowwise(true)) * t.wide(t.columnwise(pred)) * distances
    return t.sum(observed, axis=axes), t.sum(expected, axis=axes)


def _mean_share(t: Table) -> Array:
    return (t.true_share + t.pred_share) / 2


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - p_e}{1 - p_e} = \frac{\sum_k (tp_k\,tn_k - fp_k\,fn_k)}{\sum_k t_k (m - k_k)}",
    source="Dembélé, equation 9; Cohen 1960",
    undefined="all samples in a single cell of the diagonal",
    aliases=("kappa", "heidke_skill_score", "cohens_kappa", "cohen_kappa_score"),
    chance="any sizes",
    symmetric=True,
    ordinal=("linear", "quadratic"),
)
def cohen_kappa(t: Table, *, weights: Weights = "none", costs: Costs = "none") -> Array:
    """Agreement beyond that expected by chance from the class sizes.

    The right-hand form has no difference of nearly equal numbers, and so keeps its precision for any counts.
    ``weights`` is for ordered classes: errors are weighted by the distance of the two classes in that order, or by its
    square. A matrix instead says how far the classes of each cell agree, from 1 on the diagonal down to 0, as in SAS
    and in :mod:`matrics.raters`. ``costs`` is a matrix d of how far they disagree, as in Cohen 1968 and PyCM: 0 on the
    diagonal, more for worse errors, and only the proportions matter. Then κ = 1 - Σ d p / Σ d pₑ, where p are the
    fractions of the cells, pₑ those expected by chance, and d is 1 - w with weights w. With a matrix, κ may be below
    -1; it is undefined if every cell of positive d has pₑ = 0; and a transposed matrix has the same value if d is
    symmetric.

    Parameters
    ----------
    weights
        Partial agreement of different classes: none, or less with the distance of the classes in their order
        (``"linear"``) or with its square (``"quadratic"``).
    costs
        How far the classes of each error disagree, in place of ``weights``.

    Examples
    --------
    >>> import matrics
    >>> print(f"{matrics.cohen_kappa([[20, 5], [10, 15]]):.4f}")
    0.4000
    >>> grave = matrics.cohen_kappa.using(costs=[[0, 1, 3], [1, 0, 3], [6, 6, 0]])  # missing the last class is worst
    >>> print(f"{grave([[20, 5, 1], [10, 15, 0], [1, 2, 9]]):.4f}")
    0.6611
    >>> print(grave)
    cohen_kappa(costs=[[0,1,3],[1,0,3],[6,6,0]])
    """
    if not _has_weights(weights, costs):
        return t.divide(t.covariance, t.disagreement_by_chance)
    observed, expected = _disagreement(t, _distances(t, weights, costs), t.true, t.pred)
    return t.divide(expected - observed, expected)


@metric(
    kind="overall",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - p_e}{1 - p_e}, \quad p_e = \sum_k \left( \frac{t_k + k_k}{2m} \right)^2 "
    r"\quad \left( \text{proportions=true: } \sum_k (t_k / m)^2 \right)",
    source="Labatut and Cherifi, section 4.6; Scott 1955",
    undefined="all samples in a single cell of the diagonal (proportions=true: in a single true class)",
    aliases=("scotts_pi",),
    chance="true sizes",
)
def scott_pi(t: Table, *, proportions: Literal["pooled", "true"] = "pooled") -> Array:
    """Agreement beyond chance, where chance assumes equal class distributions of truth and prediction.

    Scott pools the sizes of the true and the predicted classes; the smallest value is then -1. The values of Labatut
    and Cherifi use the true classes alone (``proportions="true"``); there is then no lower bound.

    Parameters
    ----------
    proportions
        The class sizes from which agreement by chance is computed: of the true and the predicted classes together, or
        of the true classes alone.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.scott_pi([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.55)
    """
    if proportions == "true":
        (true, _, not_true, _), (_, fp, fn, _) = t.sizes, t.outcomes
        gain = t.beyond_chance + (true * fp - true * fn)
        return t.divide(t.sum(gain, axis=0), t.sum(true * not_true, axis=0))
    return t.divide(*_beyond_pooled_chance(t))


def _beyond_pooled_chance(t: Table) -> tuple[Array, Array]:
    """Agreement beyond that expected from the pooled class sizes, and its largest possible value; both times m²."""
    bias = t.wide(t.abs(t.fp - t.fn) / 2)
    size, rest = t.wide((t.true + t.pred) / 2), t.wide((t.not_true + t.not_pred) / 2)
    return t.sum(t.beyond_chance - bias * bias, axis=0), t.sum(size * rest, axis=0)


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - 1/n}{1 - 1/n}",
    source="Labatut and Cherifi, section 4.6 (MRE); Bennett et al. 1954; Maxwell 1977",
    undefined="an empty matrix, or a single class",
    aliases=("mre", "maxwell_re", "pabak"),
    lowest=lambda n: -1 / (n - 1),
    chance="equal sizes",
    symmetric=True,
)
def bennett_s(t: Table) -> Array:
    """Agreement beyond that of guessing all classes equally often: Bennett's S, Maxwell's random error.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.bennett_s([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.55)
    """
    if t.n == 1:
        return t.undefined()
    return t.divide(t.hits - t.errors / (t.n - 1), t.total)


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - p_e}{1 - p_e}, \quad p_e = \frac{1}{n - 1} \sum_k \pi_k (1 - \pi_k), "
    r"\quad \pi_k = \frac{t_k + k_k}{2m}",
    source="Gwet 2008",
    undefined="an empty matrix, or a single class",
    aliases=("ac1",),
    lowest=lambda n: -1 / (n - 1),
    chance="equal sizes of equal classes",
    symmetric=True,
)
def gwet_ac1(t: Table) -> Array:
    """Agreement beyond chance, where only samples that are hard to classify count as guessed: Gwet's AC1.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.gwet_ac1([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.55)
    """
    if t.n == 1:
        return t.undefined()
    share = _mean_share(t)
    chance = t.sum(share * (1 - share), axis=0) / (t.n - 1)
    return t.divide(t.share(t.hits) - chance, t.xp.where(t.total == 0, 0, 1 - chance))


@metric(
    kind="overall",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"1 - \left( 1 - \frac{1}{2m} \right) \frac{D_o}{D_e}, \quad D_o = \sum_{ij} w_{ij}\,p_{ij}, "
    r"\quad D_e = \sum_{ij} w_{ij}\,\pi_i \pi_j, \quad \pi_k = \frac{t_k + k_k}{2m}",
    source="Krippendorff 1970",
    undefined="all samples in a single cell of the diagonal, or a total of 0.5 or less",
    aliases=("krippendorffs_alpha",),
    chance="true sizes",
    symmetric=True,
    scale_free=False,
    ordinal=("linear", "quadratic"),
)
def krippendorff_alpha(t: Table, *, weights: SymmetricWeights = "none", costs: SymmetricCosts = "none") -> Array:
    """Scott's π with a small-sample correction: Krippendorff's α for two observers and nominal classes.

    ``weights`` and ``costs`` are as in :func:`cohen_kappa`, and symmetric; ``"quadratic"`` weights give the α of
    interval data, and costs are Krippendorff's difference function, δ² of each pair of classes. The correction requires
    counts: it is meaningless for fractions that sum to 1.

    Parameters
    ----------
    weights
        Partial agreement of different classes: none, or less with the distance of the classes in their order
        (``"linear"``) or with its square (``"quadratic"``).
    costs
        How far the classes of each error disagree, in place of ``weights``.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.krippendorff_alpha([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.558)
    """
    enough = t.total > 0.5
    if not _has_weights(weights, costs):
        gain, most = _beyond_pooled_chance(t)
        gain = gain + t.wide(t.errors / 2)
    else:
        size = (t.true + t.pred) / 2
        observed, most = _disagreement(t, _distances(t, weights, costs), size, size)
        gain = most - observed * t.wide(1 - 0.5 / t.xp.where(enough, t.total, 1))
    return t.define(t.ratio(gain, most), ~t.is_zero(most) & enough)


def _chance_agreement(t: Table, proportions: Proportions) -> Array:
    """Fraction of all samples that are expected to agree on each class by chance, ``[class, *batch]``."""
    first, second = {
        "separate": lambda: (t.true_share, t.pred_share),
        "pooled": lambda: (_mean_share(t), _mean_share(t)),
        "true": lambda: (t.true_share, t.true_share),
    }[proportions]()
    return first * second


@metric(
    kind="overall",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{1}{m^2} \sum_k t_k k_k \quad \left( \text{pooled: } \sum_k \left( \frac{t_k + k_k}{2m} \right)^2, "
    r"\text{ true: } \sum_k (t_k / m)^2 \right)",
    source="Labatut and Cherifi, section 4.6; Cohen 1960",
    undefined=_EMPTY,
    aliases=("expected_accuracy", "expected_agreement"),
)
def random_accuracy(t: Table, *, proportions: Proportions = "separate") -> Array:
    """Accuracy expected by chance from the class sizes: what κ (separate) and π (pooled) correct for.

    Parameters
    ----------
    proportions
        The class sizes from which agreement by chance is computed: of true and predicted classes separately, of both
        together, or of the true classes alone.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.random_accuracy([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.333)
    """
    return t.define(t.sum(_chance_agreement(t, proportions), axis=0), t.total != 0)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=None,
    formula=r"\frac{t_k}{m} \cdot \frac{k_k}{m} \quad \left( \text{pooled: } \left( \frac{t_k + k_k}{2m} \right)^2, "
    r"\text{ true: } (t_k / m)^2 \right)",
    source="Cohen 1960",
    undefined=_EMPTY,
)
def class_random_accuracy(t: Table, *, proportions: Proportions = "separate") -> Array:
    """Contribution of each class to the accuracy expected by chance (:func:`random_accuracy`).

    Parameters
    ----------
    proportions
        The class sizes from which agreement by chance is computed: of true and predicted classes separately, of both
        together, or of the true classes alone.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.class_random_accuracy([[8, 2], [3, 7]], average="class")
    array([0.275, 0.225])
    """
    return t.define(_chance_agreement(t, proportions), (t.total != 0)[None, ...])


@metric(
    kind="overall",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"2 p_o - 1",
    source="Byrt et al. 1993",
    undefined=_EMPTY,
    symmetric=True,
)
def kappa_no_prevalence(t: Table) -> Array:
    """Twice the accuracy minus 1: the κ of two classes if both were equally frequent.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.kappa_no_prevalence([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.4)
    """
    return t.divide(t.hits - t.errors, t.total)
