"""The columns of a table of predictions from which a report is made."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from matrics._errors import ArgumentError
from matrics._quoting import quoted, quoted_list


@dataclass(frozen=True)
class ReportColumns:
    """The names of the columns of a report's table.

    Parameters
    ----------
    by : tuple
        The columns that identify the model.
    y_true, y_pred : column name
        The columns of the true and the predicted labels; ``y_true`` may be the true labels themselves.
    paired_on : column name or None
        The column of the samples, if all models predicted the same samples.
    groups : column name or None
        The column of the groups to compare.
    y_score : dict
        Labels and their columns of scores; the label is None for a single column of the positive class.
    positive : label or None
        The label of the positive class; its index for matrices without class names.
    sample_weight : column name or None
        The column of the sample weights.
    """

    by: tuple[Hashable, ...] = ()
    y_true: Any = "y_true"
    y_pred: Hashable = "y_pred"
    paired_on: Hashable | None = None
    groups: Hashable | None = None
    y_score: Mapping[Any, Hashable] = field(default_factory=dict)
    positive: Hashable = None
    sample_weight: Hashable | None = None

    def check(self) -> None:
        """Raise if two arguments name the same column."""
        others = [
            ("paired_on", self.paired_on),
            ("groups", self.groups),
            *(("y_score", column) for column in self.y_score.values()),
            ("sample_weight", self.sample_weight),
        ]
        named_columns = {self.y_true, self.y_pred, *self.by}
        if self.y_pred == self.y_true:
            raise ArgumentError(
                "y_pred", f"expected a column other than the true labels, got {quoted(self.y_pred)} for both"
            )
        if len(set(self.by)) < len(self.by):
            raise ArgumentError("by", f"expected different columns, got [{quoted_list(self.by)}]")
        if {self.y_true, self.y_pred} & set(self.by):
            raise ArgumentError("by", f"expected columns other than the labels, got [{quoted_list(self.by)}]")
        for what, name in others:
            if name is None:
                continue
            if name in named_columns:
                raise ArgumentError(what, f"expected a column that no other argument names, got {quoted(name)}")
            named_columns.add(name)
        if self.sample_weight is not None and (self.groups is not None or self.y_score):
            raise ArgumentError(
                "sample_weight",
                "expected no weights with columns of groups or scores, whose limits and tests need counts, "
                f"got {quoted(self.sample_weight)}",
            )
