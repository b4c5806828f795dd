"""Predictions by names of models, as the table that a report reads: a row for each model and sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.data import ReportColumns
from matrics._uncertainty.model_samples import named_models

__all__ = ["are_labels", "table_of_models"]

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
