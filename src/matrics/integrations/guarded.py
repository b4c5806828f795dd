"""Counting into one integer tensor by a few fixed operations, shared by both PyTorch metrics.

The tensor has a cell for each pair of classes, and a border of guard cells around them for labels out of range. So no
label has to be inspected, none can be counted wrongly, and the number of dropped samples is the sum over the border.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from matrics import _inputs, labels
from matrics._backend.torch import TORCH
from matrics.catalogue.record import Metric
from matrics.evaluation import check_options, evaluate
from matrics.integrations.naming import check_names, scalars
from matrics.scoring import resolve
from matrics.state import ConfusionState


class GuardedCounts:
    """Counts labels of n classes into a flat tensor of (n + 2)² cells.

    Everything here is safe in a graph that CUDA replays: shapes are fixed, nothing waits, and counting is in place.
    """

    def __init__(self, num_classes: int, *, class_axis: int, threshold: float | None, ignore_index: int | None) -> None:
        self.num_classes = labels.check_count(num_classes, "num_classes")
        labels.check_ignore_index(ignore_index)
        labels.check_class_axis(class_axis)
        self.class_axis, self.threshold, self.ignore_index = class_axis, threshold, ignore_index
        self.side = self.num_classes + 2
        self._decide(torch.empty((0,) if threshold is not None else (0, num_classes)), 1, -1)  # checks the threshold

    def zeros(self) -> Tensor:
        """A tensor of counts, all 0."""
        return torch.zeros(self.side**2, dtype=torch.int64)

    def add(self, counts: Tensor, y_true: Tensor, y_pred: Tensor) -> None:
        """Count labels, or class scores, in place."""
        if not (isinstance(y_true, Tensor) and isinstance(y_pred, Tensor)):
            raise TypeError(f"expected tensors, got y_true {type(y_true).__name__}, y_pred {type(y_pred).__name__}")
        _inputs.check_tensor("y_true", y_true, torch)
        _inputs.check_tensor("y_pred", y_pred, torch)
        _check_labels(y_true, "y_true")
        if y_pred.is_floating_point():
            y_pred = self._decide(y_pred, y_true.ndim, self.class_axis)
        elif self.threshold is not None:
            raise TypeError(f"threshold: expected y_pred to be floating scores of class 1, got labels ({y_pred.dtype})")
        else:
            _check_labels(y_pred, "y_pred")
        if y_true.shape != y_pred.shape:  # not broadcast: (N,) and (N, 1) would be N² pairs
            raise ValueError(f"expected labels of one shape, got {labels.said({'y_true': y_true, 'y_pred': y_pred})}")
        ignored = labels.label_to_ignore(self.ignore_index, y_true, TORCH)
        y_true = y_true.long()
        bins = TORCH.bordered(y_true, y_pred.long(), self.num_classes)
        # Ignored samples are counted with weight 0: they need no cell, and are not dropped.
        ones = torch.ones_like(bins) if ignored is None else y_true.ne(ignored).long()
        if bins.ndim != 1:
            bins, ones = bins.reshape(-1), ones.reshape(-1)
        counts.scatter_add_(0, bins, ones)  # not bincount, whose shape depends on the data

    def matrix(self, counts: Tensor) -> Tensor:
        """The counts (n, n) of the classes: a view."""
        return counts.view(self.side, self.side)[1:-1, 1:-1]

    def dropped(self, counts: Tensor) -> Tensor:
        """How many samples had a label out of range, or a NaN among their scores."""
        return counts.sum() - self.matrix(counts).sum()

    def state(self, counts: Tensor) -> ConfusionState:
        """The counts as a state."""
        empty = ConfusionState.zeros(self.num_classes, like=counts)
        return empty._replace(counts=self.matrix(counts).clone(), dropped=self.dropped(counts))

    def _decide(self, scores: Tensor, sample_ndim: int, class_axis: int) -> Tensor:
        """The predicted labels; out of range where a score is NaN."""
        n = self.num_classes
        fits = (
            scores.ndim == sample_ndim + 1
            and -scores.ndim <= class_axis < scores.ndim
            and scores.shape[class_axis] == n
        )
        if self.threshold is not None or not fits:
            return labels.decide(
                scores, n, class_axis=class_axis, sample_ndim=sample_ndim, threshold=self.threshold, backend=TORCH
            )
        # The same in fewer operations, which take most of the time for a small batch: 5 µs instead of 7.
        largest, predicted = scores.detach().max(class_axis)
        return predicted.masked_fill_(largest.ne(largest), -1)  # a NaN makes the maximum of its row NaN


def _check_labels(tensor: Tensor, name: str) -> None:
    if tensor.is_floating_point() or tensor.is_complex():  # takes a tenth of the time
        labels.check_labels(tensor, name, TORCH)


class Measures:
    """The requested measures of a matrix, and their names for a logger."""

    def __init__(
        self,
        num_classes: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        zero_division: float = math.nan,
    ) -> None:
        check_options(zero_division, "nan")
        self.metrics, self.prefix, self.zero_division = resolve(metrics), prefix, zero_division
        self.class_names = check_names(class_names, num_classes)
        # Score once, to get the names, and to raise an error at once for measures that cannot be scored.
        self.keys = tuple(self.score(torch.eye(num_classes, dtype=torch.int64)))

    def score(self, matrix: Tensor) -> dict[str, Tensor]:
        """All measures of one matrix, as scalar tensors."""
        functions = [metric.bind() for metric in self.metrics.values()]  # not stored: they cannot be pickled
        values = evaluate(matrix, functions, zero_division=self.zero_division, invalid="nan")
        return scalars(dict(zip(self.metrics, values, strict=True)), self.prefix, self.class_names)

    def __repr__(self) -> str:
        return f"{list(self.metrics)}, prefix={self.prefix!r}"
