"""The columns of a file that are read, and how they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from matrics._errors import ArgumentError
from matrics._files.foreign import Answers
from matrics._quoting import cut, quoted, quoted_list


@dataclass(frozen=True)
class Names:
    """The columns of the labels and of the groups."""

    true: str = "y_true"
    pred: str = "y_pred"
    by: tuple[str, ...] = ()
    clusters: str | None = None  # rows with the same value are dependent
    counts: str | None = field(default=None, kw_only=True)  # the number of samples of each row
    weight: str | None = field(default=None, kw_only=True)  # the weights of samples, or of counts the sums of weights
    squares: str | None = field(default=None, kw_only=True)  # of counts: the sum of the squared weights
    missing: str = field(default="error", kw_only=True)  # the treatment of rows without a value: error, drop or class
    encoding: str = field(default="utf-8", kw_only=True)  # of text
    decimal: str = field(default=".", kw_only=True)  # the decimal sign of numbers in text
    na: tuple[str, ...] = field(default=(), kw_only=True)  # texts that mean a missing value
    text_labels: bool = field(default=False, kw_only=True)  # whether labels are text, also if they look like numbers
    order: tuple[str, ...] | None = field(default=None, kw_only=True)  # all labels in their order
    answers: Answers = field(default=Answers(), kw_only=True)  # of evaluation logs
    models: tuple[str, ...] = field(default=(), kw_only=True)  # columns of several models, in place of a single column
    positive: str | None = field(default=None, kw_only=True)  # the positive class, or both its names: yes=pos

    def check(self) -> None:
        """Raise if two options name the same column."""
        if self.true == self.pred:
            raise ArgumentError(
                "pred", f"expected a column other than the true labels, got {quoted(self.pred)} for both"
            )
        if self.clusters in {*self.by, *self.labels}:
            raise ArgumentError(
                "clusters", f"expected a column other than the labels and by=, got {quoted(self.clusters)}"
            )
        if self.counts in {*self.by, *self.labels}:
            raise ArgumentError("counts", f"expected a column other than the labels and by=, got {quoted(self.counts)}")
        if self.weight in {*self.by, *self.labels, self.clusters} - {None}:
            raise ArgumentError(
                "weight", f"expected a column other than the labels, groups and samples, got {quoted(self.weight)}"
            )
        if None not in (self.counts, self.weight):
            raise ArgumentError("counts", f"expected no such option with weight=, got {quoted(self.counts)}")
        if None not in (self.counts, self.clusters):
            raise ArgumentError("counts", f"expected no such option with clusters=, got {quoted(self.counts)}")

    @property
    def keeps_unlabelled(self) -> bool:
        """Whether rows without a label form a class."""
        return self.missing == "class"

    @property
    def of_models(self) -> str:
        """The column that the columns of several models replace."""
        return self.pred

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of groups, and of clusters."""
        return self.by if self.clusters is None else (*self.by, self.clusters)

    @property
    def labels(self) -> tuple[str, ...]:
        """Both columns of labels."""
        return self.true, self.pred

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers."""
        return tuple(name for name in (self.weight, self.squares) if name is not None)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of text that may be empty and is never a number."""
        return ()


def required_columns(names: Names) -> list[str]:
    """The columns that are read."""
    counts = [] if names.counts is None else [names.counts]
    return list(dict.fromkeys([*names.labels, *names.texts, *names.numbers, *counts, *names.cells]))


def check_columns(header: Sequence[str], names: Names) -> list[str]:
    """The columns that are read; raise unless the header has each of them once."""
    required = required_columns(names)
    listed = quoted_list(header, 20)
    for name in required:
        if name not in header:
            log = "; an evaluation log also needs the field sample" if "score" in header else ""
            raise ValueError(
                f"expected the columns {cut(', '.join(required))}, got no {quoted(name)}; the columns are {listed}{log}"
            )
        if list(header).count(name) > 1:
            raise ValueError(f"expected one column {quoted(name)}, got several; the columns are {listed}")
    return required
