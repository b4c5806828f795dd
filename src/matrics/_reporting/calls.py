"""Predictions by names of models as a table, and the call of Python that makes a report."""

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
    """Whether these are labels of samples, and no name of a column."""
    return isinstance(y_true, list) or getattr(y_true, "ndim", 0) > 0 or hasattr(y_true, "to_numpy")


def table_of_models(data: Any, wanted: ReportColumns) -> tuple[dict[str, Any], ReportColumns]:
    """The table of predictions ``{model: labels (N,)}`` with the true labels ``wanted.y_true``, and its columns.

    All models predicted the same samples, so they are compared on these.

    Raises
    ------
    TypeError
        The predictions have no names of models, or an argument names a column of a table.
    ValueError
        There are other numbers of true labels than of predictions.
    """
    if not isinstance(data, Mapping):
        raise TypeError(
            "data: expected predictions by names of models, as y_true has the labels, got "
            f"{type(data).__name__}; of a table y_true names the column"
        )
    for name in ("by", "y_pred", "paired_on", "groups", "y_score", "sample_weight"):
        default, given = getattr(ReportColumns(), name), getattr(wanted, name)
        if given != default:
            raise TypeError(
                f"{name}: expected no columns with predictions by names of models, got {quoted(given)}: for more than "
                "labels pass a table, and the names of its columns"
            )
    names, predictions = named_models(data, "data")
    _, true = named_models({"y_true": wanted.y_true}, "y_true")
    models, number = predictions.shape
    if true.shape[1] != number:
        raise ArgumentError("y_true", f"expected a label for each of {number:,} predictions, got {true.shape[1]:,}")
    table = {
        "model": np.repeat(np.asarray(names), number),
        "sample": np.tile(np.arange(number), models),
        "y_true": np.tile(true[0], models),
        "y_pred": predictions.reshape(-1),
    }
    return table, dataclasses.replace(COLUMNS, positive=wanted.positive)


def call_of(
    source: str, wanted: ReportColumns, metrics: Any, manner: IntervalSettings, class_names: Sequence[str] | None
) -> str:
    """The text of the call, with the options that are not the defaults; ``source`` is a path or a name of data."""
    by = list(wanted.by)
    scores = dict(wanted.y_score)
    given = {
        "by": by[0] if len(by) == 1 else by or None,
        # Labels themselves, and not the name of their column, are called by the name of the argument.
        "y_true": None if _is_name(wanted.y_true) and wanted.y_true == "y_true" else wanted.y_true,
        "y_pred": None if wanted.y_pred == "y_pred" else wanted.y_pred,
        "paired_on": wanted.paired_on,
        "groups": wanted.groups,
        "y_score": scores.get(None, scores or None),
        "positive": wanted.positive.item() if hasattr(wanted.positive, "item") else wanted.positive,
        "sample_weight": wanted.sample_weight,
        "metrics": metrics if metrics is None or isinstance(metrics, str) else _Measures(metrics),
        "class_names": None if class_names is None else list(class_names),
        "level": None if manner.level == 0.95 else manner.level,
        "num": manner.num,
        "rng": manner.seed or None,
    }
    texts = {
        name: repr(value) if name != "y_true" or _is_name(value) else name
        for name, value in given.items()
        if value is not None
    }
    options = ", ".join(f"{name}={text}" for name, text in texts.items())
    return f"matrics.report({source}{', ' if options else ''}{options})"


def _is_name(value: Any) -> bool:
    return not are_labels(value)


class _Measures:
    """Several measures as they are written in a call: their specs, and the names of those that are not registered."""

    def __init__(self, metrics: Any) -> None:
        self.metrics = [metrics] if isinstance(metrics, Metric) else list(metrics)

    def __repr__(self) -> str:
        return f"[{', '.join(map(self._written, self.metrics))}]"

    @staticmethod
    def _written(one: Any) -> str:
        try:
            get_metric(str(one))
        except ValueError:
            return str(one)
        return repr(str(one))
