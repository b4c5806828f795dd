"""Data of pictures of models: a measure of each model, from results or from matrices."""

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
    """A measure of M models.

    Parameters
    ----------
    name : str
        The title of the measure.
    higher_is_better : bool
        Whether higher values are better.
    estimate, low, high : array, shape (M,)
        The values and their limits; NaN if there are none.
    tied : array of bool, shape (M,), or None
        Whether each model is not significantly different from the best; None if models were not compared.
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
        """The numbers of the models, the best first, and undefined estimates last."""
        return np.argsort(-self.estimate if self.higher_is_better else self.estimate, kind="stable")


def are_matrices(results: Mapping[str, Any]) -> bool:
    """Whether the results are confusion matrices, keyed by the names of models."""
    return not any(
        isinstance(result, (Interval, ModelComparison)) or np.ndim(result) < 2 for result in results.values()
    )


def known_names(results: Mapping[str, Any], names: Sequence[str] | None) -> Sequence[str] | None:
    """The names of the models: as given, or from the results."""
    lists_of_names = [
        result.names for result in results.values() if isinstance(result, ModelComparison) and result.names is not None
    ]
    names_of_results = (
        list(map(str, results)) if are_matrices(results) else list(lists_of_names[0]) if lists_of_names else None
    )
    if names_of_results is not None and names is not None:
        raise TypeError(
            f"names: expected None, as the models have names, {quoted_list(names_of_results)}, got {quoted(names)}"
        )
    if any(part != lists_of_names[0] for part in lists_of_names):
        raise ValueError("results: expected the same models for all measures, got several lists of names")
    return names if names_of_results is None else names_of_results


def read_measure(key: str, result: Any) -> MeasureOfModels:
    """A measure of all models, as NumPy arrays."""
    name = title_of(key)
    is_comparison = isinstance(result, ModelComparison)
    intervals = result.intervals if is_comparison else result
    if not isinstance(intervals, Interval):
        raise TypeError(f"results: expected intervals or comparisons of models, got {type(result).__name__} for {name}")
    higher_is_better = _metric_of(key).higher_is_better
    if higher_is_better is None:
        raise ValueError(f"results: expected measures with a better direction, got {name}")
    estimate, low, high = (on_host("results", part) for part in (intervals.estimate, intervals.low, intervals.high))
    if estimate.ndim != 1 or not len(estimate):
        raise ValueError(
            f"results: expected a value of {name} for each of M models, got the shape {estimate.shape}: "
            "choose an average over the classes, or a class"
        )
    return MeasureOfModels(
        name, higher_is_better, estimate, low, high, on_host("tied", result.tied) if is_comparison else None
    )


def _metric_of(key: str) -> Metric:
    """The measure of a key of results, which may refer to a class: ``recall/cat``."""
    try:
        return metric_of(key)
    except ValueError:
        measure, slash, _ = key.partition("/")
        if not slash:
            raise
        return get_metric(measure)
