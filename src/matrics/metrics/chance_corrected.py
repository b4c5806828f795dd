"""Agreement beyond what chance would make: κ, and those that take chance to be something else."""

from __future__ import annotations

import math
from typing import Literal

from matrics._backend import Array
from matrics.catalogue.registry import metric
from matrics.catalogue.weights import SymmetricWeights, WeightMatrix
from matrics.table import Table

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

Weights = Literal["none", "linear", "quadratic"] | WeightMatrix
Differences = Literal["none", "linear", "quadratic"] | SymmetricWeights
Proportions = Literal["separate", "pooled", "true"]

_EMPTY = "an empty matrix"


def _distances(t: Table, weights: Weights | Differences) -> Array:
    """How far apart the classes of each cell are, as a share of the farthest; in the order of the cells."""
    if isinstance(weights, tuple):
        if len(weights) != t.n:
            given = f"({len(weights)}, {len(weights)})"
            raise ValueError(f"weights: expected a matrix ({t.n}, {t.n}) for {t.n} classes, got {given}")
        most = max([max(row) for row in weights]) or 1.0  # only their proportions matter; products stay in range
        shares = [[weight / most for weight in row] for row in weights]
        return t.constant(shares)
    distance = t.class_distances / max(t.n - 1, 1)
    return t.beside_cells(distance if weights == "linear" else distance * distance)


def _disagreement(t: Table, weights: Weights | Differences, true: Array, pred: Array) -> tuple[Array, Array]:
    """Observed disagreement, and what is expected of independent classes of these sizes; both times m²."""
    axes, distances = (t.true_axis, t.pred_axis), t.wide(_distances(t, weights))
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
    undefined="all items in one and the same true and predicted class",
    aliases=("kappa", "heidke_skill_score", "cohens_kappa", "cohen_kappa_score"),
    chance="any sizes",
    symmetric=True,
)
def cohen_kappa(t: Table, *, weights: Weights = "none") -> Array:
    """Agreement beyond what the class sizes make happen by chance.

    The form on the right has no difference of nearly equal numbers, and so keeps its digits at any count. ``weights``
    is for classes in an order: errors count by how many classes they are off, or by the square of that. A matrix of
    weights w says of each error what it counts, and κ is 1 - Σ w p / Σ w pₑ: p are the shares of the cells, pₑ those
    that chance would make. Weights are of disagreement, as in Cohen 1968 and PyCM: 0 is full agreement, and only their
    proportions matter. Those of agreement, as in SAS, become such by 1 - w. With a matrix of weights κ may be below -1;
    it is undefined where no item could be in a cell of positive weight; and a transposed matrix has the same value if
    the weights are symmetric.

    Examples
    --------
    >>> import matrics
    >>> print(f"{matrics.cohen_kappa([[20, 5], [10, 15]]):.4f}")
    0.4000
    >>> grave = matrics.cohen_kappa.using(weights=[[0, 1, 3], [1, 0, 3], [6, 6, 0]])  # to miss the last class is worst
    >>> print(f"{grave([[20, 5, 1], [10, 15, 0], [1, 2, 9]]):.4f}")
    0.6611
    >>> print(grave)
    cohen_kappa(weights=[[0,1,3],[1,0,3],[6,6,0]])
    """
    if weights == "none":
        return t.divide(t.covariance, t.disagreement_by_chance)
    observed, expected = _disagreement(t, weights, t.true, t.pred)
    return t.divide(expected - observed, expected)


@metric(
    kind="overall",
    range=(-math.inf, 1),
    higher_is_better=True,
    formula=r"\frac{p_o - p_e}{1 - p_e}, \quad p_e = \sum_k \left( \frac{t_k + k_k}{2m} \right)^2 "
    r"\quad \left( \text{proportions=true: } \sum_k (t_k / m)^2 \right)",
    source="Labatut and Cherifi, section 4.6; Scott 1955",
    undefined="all items in one and the same true and predicted class (proportions=true: in one true class)",
    aliases=("scotts_pi",),
    chance="true sizes",
)
def scott_pi(t: Table, *, proportions: Literal["pooled", "true"] = "pooled") -> Array:
    """Agreement beyond chance, where both sides share one distribution of classes.

    Scott pools the true classes with the predicted ones; then the least value is -1. The numbers of Labatut and Cherifi
    come of the true ones alone, and then there is none.

    Examples
    --------
    >>> import matrics
    >>> matrics.scott_pi([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.55)
    """
    if proportions == "true":
        (true, _, not_true, _), (_, fp, fn, _) = t.sizes, t.outcomes
        gain = t.beyond_chance + (true * fp - true * fn)
        return t.divide(t.sum(gain, axis=0), t.sum(true * not_true, axis=0))
    return t.divide(*_beyond_pooled_chance(t))


def _beyond_pooled_chance(t: Table) -> tuple[Array, Array]:
    """Agreement beyond that of pooled classes by chance, and the most there could be; both times m²."""
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
    """Agreement beyond that of a guess that takes every class alike: Bennett's S, Maxwell's random error.

    Examples
    --------
    >>> import matrics
    >>> matrics.bennett_s([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
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
    """Agreement beyond chance, where only items that are hard to tell are guessed: Gwet's AC1.

    Examples
    --------
    >>> import matrics
    >>> matrics.gwet_ac1([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
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
    undefined="all items in one and the same true and predicted class, or items of half a count or less in all",
    aliases=("krippendorffs_alpha",),
    chance="true sizes",
    symmetric=True,
    scale_free=False,
)
def krippendorff_alpha(t: Table, *, weights: Differences = "none") -> Array:
    """Scott's π with a correction for few items: Krippendorff's α of two observers and nominal classes.

    ``weights`` is for classes in an order, as in :func:`cohen_kappa`; with squares it is the α of interval data. A
    matrix of weights is Krippendorff's difference function, δ² of each pair of classes, and so symmetric, with 0 on the
    diagonal. The correction supposes counts: shares of a total of 1 make no sense.

    Examples
    --------
    >>> import matrics
    >>> matrics.krippendorff_alpha([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
    np.float64(0.558)
    """
    enough = t.total > 0.5
    if weights == "none":
        gain, most = _beyond_pooled_chance(t)
        gain = gain + t.wide(t.errors / 2)
    else:
        size = (t.true + t.pred) / 2
        observed, most = _disagreement(t, weights, size, size)
        gain = most - observed * t.wide(1 - 0.5 / t.xp.where(enough, t.total, 1))
    return t.define(t.ratio(gain, most), ~t.is_zero(most) & enough)


def _chance_agreement(t: Table, proportions: Proportions) -> Array:
    """The share of all items for which a guess of each class is right, ``[class, *batch]``."""
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
    """Accuracy that chance would have with these class sizes: what κ (separate) and π (pooled) correct for.

    Examples
    --------
    >>> import matrics
    >>> matrics.random_accuracy([[7, 2, 1], [3, 6, 1], [0, 2, 8]]).round(3)
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
    """What each class adds to the accuracy that chance would have (:func:`random_accuracy`).

    Examples
    --------
    >>> import matrics
    >>> matrics.class_random_accuracy([[8, 2], [3, 7]], average=None)
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
    """Twice the accuracy, less one: κ of two classes if both were equally common.

    Examples
    --------
    >>> import matrics
    >>> matrics.kappa_no_prevalence([[7, 2, 1], [3, 6, 1], [0, 2, 8]])
    np.float64(0.4)
    """
    return t.divide(t.hits - t.errors, t.total)
