"""What the pictures of models show: a measure of each model, read from results or from matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrics._catalogue.naming import metric_of, title_of
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._engine.results import NamedResult
from matrics._plot.inputs import on_host
from matrics._quoting import quoted, quoted_list
from matrics._uncertainty.results import Interval, ModelComparison
from matrics.typing import NumPyArray

__all__ = ["MeasureOfModels", "are_matrices", "known_names", "read_measure"]


class MeasureOfModels(NamedResult):
    """One measure of M models.

    Parameters
    ----------
    name : str
        The title of the measure.
    higher_is_better : bool
        Whether higher values are better.
    estimate, low, high : array, shape (M,)
        The values and their limits; NaN if there are none.
    tied : array of bool, shape (M,), or None
        Which models are not significantly different from the best; None if they were not compared.
    """

    name: str
    higher_is_better: bool
    estimate: NumPyArray
    low: NumPyArray
    high: NumPyArray
    tied: NumPyArray | None

    @property
    def best(self) -> int | None:
        """The number of the model with the best estimate; None if all are undefined."""
        order = self.order()
        return None if np.isnan(self.estimate[order[0]]) else int(order[0])

    def order(self) -> NumPyArray:
        """The numbers of the models, the best first, and undefined ones last."""
        return np.argsort(-self.estimate if self.higher_is_better else self.estimate, kind="stable")


def are_matrices(results: Mapping[str, Any]) -> bool:
    """Whether these are confusion matrices by the names of models."""
    return not any(isinstance(one, (Interval, ModelComparison)) or np.ndim(one) < 2 for one in results.values())


def known_names(results: Mapping[str, Any], names: Sequence[str] | None) -> Sequence[str] | None:
    """The names of the models: the caller's, or those that are known from what was compared."""
    of_each = [one.names for one in results.values() if isinstance(one, ModelComparison) and one.names is not None]
    known = list(map(str, results)) if are_matrices(results) else list(of_each[0]) if of_each else None
    if known is not None and names is not None:
        raise TypeError(f"names: expected None, as the models have names, {quoted_list(known)}, got {quoted(names)}")
    if any(one != of_each[0] for one in of_each):
        raise ValueError("results: expected the same models for all measures, got several lists of names")
    return names if known is None else known


def read_measure(key: str, result: Any) -> MeasureOfModels:
    """One measure of all models, on the host."""
    name = title_of(key)
    compared = isinstance(result, ModelComparison)
    found = result.intervals if compared else result
    if not isinstance(found, Interval):
        raise TypeError(f"results: expected intervals or comparisons of models, got {type(result).__name__} for {name}")
    better = _metric_of(key).higher_is_better
    if better is None:
        raise ValueError(f"results: expected measures with a better direction, got {name}")
    estimate, low, high = (on_host("results", part) for part in (found.estimate, found.low, found.high))
    if estimate.ndim != 1 or not len(estimate):
        raise ValueError(
            f"results: expected a value of {name} for each of M models, got the shape {estimate.shape}: "
            "take an average of the classes, or one class"
        )
    return MeasureOfModels(name, better, estimate, low, high, on_host("tied", result.tied) if compared else None)


def _metric_of(key: str) -> Metric:
    """The measure of a key of results, which may refer to one class: ``recall/cat``."""
    try:
        return metric_of(key)
    except ValueError:
        measure, slash, _ = key.partition("/")
        if not slash:
            raise
        return get_metric(measure)
