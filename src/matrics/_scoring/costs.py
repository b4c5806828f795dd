"""What errors cost: the mean cost of a prediction."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays, is_compiling
from matrics._engine.evaluation import Invalid, as_stack, evaluate
from matrics._engine.table import Table
from matrics._metrics.costs import mean_cost
from matrics.typing import ArrayLike, ArrayT, HostArray


@overload
def expected_cost(
    cm: HostArray, costs: ArrayLike, *, zero_division: float = ..., invalid: Invalid = ..., workers: int = ...
) -> Any: ...
@overload
def expected_cost(
    cm: ArrayT, costs: ArrayLike, *, zero_division: float = ..., invalid: Invalid = ..., workers: int = ...
) -> ArrayT: ...
def expected_cost(
    cm: Any, costs: Any, *, zero_division: float = math.nan, invalid: Invalid = "warn", workers: int = 1
) -> Array:
    r"""Mean cost of a prediction, with a cost for each kind of error and each correct prediction.

    .. math:: \frac{1}{m} \sum_{ij} \text{costs}_{ij} \, c_{ij}

    With costs 1 off the diagonal and 0 on it, this is the error rate.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    costs : array_like, shape (n, n)
        The cost of predicting the class of the column for a sample of the class of the row. Negative costs are gains.
        A list, a NumPy array, or an array of the library of ``cm``.
    zero_division : float, default NaN
        The value of an empty matrix.
    invalid : {"warn", "raise", "nan"}
        As in :func:`matrics.score`.
    workers : int, default 1
        As in :func:`matrics.score`.

    Returns
    -------
    array, shape (*B,)
        From the lowest to the highest cost; lower is better. Differentiable with respect to soft counts.

    Raises
    ------
    ValueError
        A shape is not as above; or a cost is NaN or infinite, where looking is free.
    TypeError
        The cells or the costs are not real numbers; or the costs are of another library than the cells, or are traced
        or need a gradient, which the cells do not.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Notes
    -----
    Elkan, The foundations of cost-sensitive learning (IJCAI 2001), equation 1, over all samples; the cost matrix there
    has predictions in rows. This is the cost of the samples as they occur in the matrix: with other class sizes it is
    another.

    Examples
    --------
    A disease that is missed costs 50 times as much as a false alarm:

    >>> import matrics
    >>> costs = [[0, 1], [50, 0]]
    >>> cautious, exact = [[80, 20], [0, 10]], [[98, 2], [2, 8]]
    >>> matrics.metrics.expected_cost([cautious, exact], costs).round(3)
    array([0.182, 0.927])
    """
    of_cells, cells = as_stack(cm)
    if is_compiling() and isinstance(costs, (list, tuple)):  # torch.compile follows no array of NumPy
        costs = of_cells.constant(costs, of_cells.to_float(cells))
    of_costs, costs = _checked(costs, cells.shape[-1])
    if of_costs is not NUMPY and of_costs.xp is not of_cells.xp:
        raise TypeError("costs: expected a list, a NumPy array, or an array of the library of cm")
    view = of_costs.host_view(costs)

    def mean(t: Table) -> Array:
        if t.backend is not NUMPY and of_costs is not NUMPY:
            here = t.xp.astype(costs, t.cells.dtype)
        elif view is not None:
            place = t.backend.device_option(t.cells)
            here = t.xp.asarray(view.astype(np.float64), dtype=t.cells.dtype, **place)
        else:
            raise TypeError("costs: expected constants, as cm is one, got an array that is traced or needs a gradient")
        return mean_cost(t, here)

    return evaluate(cm, [mean], zero_division=zero_division, invalid=invalid, workers=workers)[0]


def _checked(costs: Any, n: int) -> tuple[Standard, Array]:
    backend, (costs,) = as_arrays(costs=costs)
    shape = tuple(costs.shape)
    if shape != (n, n):
        raise ValueError(f"costs: expected shape ({n}, {n}), rows = true and columns = predicted classes, got {shape}")
    if not (backend.is_integer(costs) or backend.is_float(costs)):
        raise TypeError(f"costs: expected real numbers, got dtype {costs.dtype}")
    view = backend.host_view(costs)
    if view is not None and not np.isfinite(view).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(view))[0])
        raise ValueError(f"costs: expected finite numbers, got {view[i, j]} at [{i}, {j}]")
    return backend, costs
