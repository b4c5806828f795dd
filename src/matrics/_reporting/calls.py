"""A table of the predictions of named models, and the Python call that makes a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.leaderboard import IntervalSettings
from matrics._reporting.report_columns import ReportColumns
from matrics._uncertainty.model_samples import named_models

__all__ = ["are_labels", "call_of", "table_of_models"]


COLUMNS = ReportColumns(by=("model",), paired_on="sample")


def are_labels(y_true: Any) -> bool:
    """Whether these are labels of samples rather than the name of a column."""
    return isinstance(y_true, list) or getattr(y_true, "ndim", 0) > 0 or hasattr(y_true, "to_numpy")


def table_of_models(data: Any, columns: ReportColumns) -> tuple[dict[str, Any], ReportColumns]:
    """Make a table from predictions ``{model: labels (N,)}`` and the true labels ``columns.y_true``.

    Returns the table and the names of its columns. The models are compared on the same samples.

    Raises
    ------
    TypeError
        The predictions have no names of models, or an argument names a column of a table.
    ValueError
        The numbers of true labels and of predictions differ.
    """
    if not isinstance(data, Mapping):
        raise TypeError(
            "data: expected a mapping of names of models to predictions, as y_true has labels, got "
            f"{type(data).__name__}; for a table, pass the name of its column as y_true"
        )
    for name in ("by", "y_pred", "paired_on", "groups", "y_score", "sample_weight"):
        default, value = getattr(ReportColumns(), name), getattr(columns, name)
        if value != default:
            raise TypeError(
                f"{name}: expected no name of a column with a mapping of predictions, got {quoted(value)}; to use "
                "other columns, pass a table and the names of its columns"
            )
    names, predictions = named_models(data, "data")
    _, true = named_models({"y_true": columns.y_true}, "y_true")
    models, number = predictions.shape
    if true.shape[1] != number:
        raise ArgumentError(
            "y_true", f"expected a label for each of {number:,} predictions, got {true.shape[1]:,} labels"
        )
    table = {
        "model": np.repeat(np.asarray(names), number),
        "sample": np.tile(np.arange(number), models),
        "y_true": np.tile(true[0], models),
        "y_pred": predictions.reshape(-1),
    }
    return table, dataclasses.replace(COLUMNS, positive=columns.positive)


def call_of(
    source: str, columns: ReportColumns, metrics: Any, settings: IntervalSettings, class_names: Sequence[str] | None
) -> str:
    """The text of the call with all options that differ from their defaults; ``source`` is a path or a variable."""
    by = list(columns.by)
    scores = dict(columns.y_score)
    values = {
        "by": by[0] if len(by) == 1 else by or None,
        # Labels are written as the name of the argument, as their values would be too long.
        "y_true": None if _is_name(columns.y_true) and columns.y_true == "y_true" else columns.y_true,
        "y_pred": None if columns.y_pred == "y_pred" else columns.y_pred,
        "paired_on": columns.paired_on,
        "groups": columns.groups,
        "y_score": scores.get(None, scores or None),
        "positive": columns.positive.item() if hasattr(columns.positive, "item") else columns.positive,
        "sample_weight": columns.sample_weight,
        "metrics": metrics if metrics is None or isinstance(metrics, str) else _Measures(metrics),
        "class_names": None if class_names is None else list(class_names),
        "level": None if settings.level == 0.95 else settings.level,
        "num": settings.num,
        "rng": settings.seed or None,
    }
    texts = {
        name: repr(value) if name != "y_true" or _is_name(value) else name
        for name, value in values.items()
        if value is not None
    }
    options = ", ".join(f"{name}={text}" for name, text in texts.items())
    return f"matrics.report({source}{', ' if options else ''}{options})"


def _is_name(value: Any) -> bool:
    return not are_labels(value)


class _Measures:
    """Several measures as they are written in a call: quoted specs, or the variable of an unregistered measure."""

    def __init__(self, metrics: Any) -> None:
        self.metrics = [metrics] if isinstance(metrics, Metric) else list(metrics)

    def __repr__(self) -> str:
        return f"[{', '.join(map(self._written, self.metrics))}]"

    @staticmethod
    def _written(metric: Any) -> str:
        try:
            get_metric(str(metric))
        except ValueError:
            return str(metric)
        return repr(str(metric))
