"""The mean cost of a prediction as a measure: it needs the costs, and so is in no group of measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array
from matrics._catalogue.classes import labels_of_frame
from matrics._catalogue.naming import check_names
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import metric
from matrics._catalogue.weights import CostMatrix, TracedMatrix, is_named
from matrics._engine.table import Table

__all__ = ["cost"]


def _range(costs: CostMatrix | TracedMatrix) -> tuple[float, float]:
    if isinstance(costs, TracedMatrix):
        return -math.inf, math.inf
    return min([min(row) for row in costs]), max([max(row) for row in costs])


@metric(
    kind="overall",
    range=(-math.inf, math.inf),
    range_of=_range,
    higher_is_better=False,
    formula=r"\frac{1}{m} \sum_{ij} \text{costs}_{ij} \, c_{ij}",
    source="Elkan 2001, equation 1, over all samples",
    undefined="an empty matrix",
    aliases=("mean_cost", "misclassification_cost"),
)
def expected_cost(t: Table, *, costs: CostMatrix) -> Array:
    """Mean cost of a prediction, with a cost for each kind of error and each correct prediction.

    Parameters
    ----------
    costs
        The cost of predicting the class of the column for a sample of the class of the row.

    Examples
    --------
    >>> import matrics
    >>> print(matrics.score([[80, 20], [0, 10]], "expected_cost(costs=[[0,1],[50,0]])"))
    {'expected_cost(costs=[[0,1],[50,0]])': np.float64(0.18181818181818182)}
    """
    xp, prices = t.xp, _costs_of(t, costs)
    size = xp.abs(prices)
    # The smallest cost is added last: if all predictions cost the same, rounding does not make values vary.
    base = xp.min(xp.where(size == xp.min(size), prices, math.inf))
    more = t.sum(t.shares * t.broadcast_pairs(prices - base), axis=(t.true_axis, t.pred_axis))
    return t.define(base + more, t.total != 0)


def _costs_of(t: Table, costs: CostMatrix | TracedMatrix) -> Array:
    """The costs with the cells of a table."""
    if isinstance(costs, TracedMatrix):
        return costs.like(t.cells, t.backend)
    return t.backend.constant(costs, t.cells)


def cost(costs: Any, *, class_names: Sequence[str] | None = None) -> Metric:
    r"""A cost matrix as a measure: the mean cost of a prediction.

    .. math:: \frac{1}{m} \sum_{ij} \text{costs}_{ij} \, c_{ij}

    Parameters
    ----------
    costs : array_like, shape (n, n)
        The cost of predicting the class of the column for a sample of the class of the row. Negative costs are gains.
        A data frame names its classes. An array that is traced, as inside ``jax.jit``, or that needs a gradient stays
        an array: matrices of its library are scored with it, and the result is differentiable in it.
    class_names : sequence of str, optional
        The class of each row and column. Matrices whose classes have names, by ``class_names=`` or as data frames, are
        then scored with the costs of these, in any order. Without names classes are identified by their
        indices.

    Returns
    -------
    Metric
        Lower is better; its values are between the lowest and the highest cost, and undefined for an empty matrix. It
        works wherever measures are named, and prints as its spec, ``expected_cost(costs=[[0,1],[50,0]])``, which the
        command line takes. Metrics of equal costs and names are equal; a metric of a traced array is equal to itself
        only, and its text has the shape of the array only.

    Raises
    ------
    ValueError
        The costs are no square matrix of finite numbers, or there is no name for each class. When matrices are
        scored: they have another number of classes, or other names.
    TypeError
        The costs are no real numbers. When matrices are scored: the costs are traced or need a gradient, and the
        matrices are of another library, or only the host computes the result, as in :func:`matrics.interval`.

    Notes
    -----
    Elkan, The foundations of cost-sensitive learning (IJCAI 2001), equation 1, over all samples; the cost matrix there
    has predictions in rows. This is the cost of the samples as they occur in the matrix: with other class sizes it is
    another.

    The text of a metric, which is its key in results, has every cost. With hundreds of classes call the metric itself:
    ``metric(cm)``.

    Examples
    --------
    A disease that is missed costs 50 times as much as a false alarm:

    >>> import matrics
    >>> price = matrics.metrics.cost([[0, 1], [50, 0]], class_names=["healthy", "ill"])
    >>> print(price)
    expected_cost(costs=[healthy=[0,1],ill=[50,0]])
    >>> price([[80, 20], [0, 10]]).round(3)
    np.float64(0.182)

    Of a matrix with the classes in another order:

    >>> scores = matrics.score([[10, 0], [20, 80]], price, class_names=["ill", "healthy"])
    >>> scores[str(price)].round(3)
    np.float64(0.182)
    >>> y_true, y_score = [0, 0, 1, 0, 1], [0.1, 0.3, 0.35, 0.8, 0.9]
    >>> matrics.ranking.best_threshold(y_true, y_score, matrics.metrics.cost([[0, 1], [50, 0]]))
    BestThreshold(threshold=0.35, value=0.2)
    """
    known = expected_cost.using(costs=costs)
    ((_, rows),) = known.fixed
    labels = None if isinstance(rows, TracedMatrix) else labels_of_frame(costs)
    if class_names is None and labels is not None:
        class_names = [str(label) for label in labels]
    if class_names is None:
        return known
    if is_named(rows):
        raise TypeError("class_names: expected none with costs that name their classes, got both")
    names = check_names(class_names, len(rows))
    if isinstance(rows, TracedMatrix):
        return expected_cost.using(costs=TracedMatrix(rows.array, rows.backend, tuple(names or ())))
    return expected_cost.using(costs=dict(zip(names or (), rows, strict=True)))
