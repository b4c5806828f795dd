"""Counts of labels in a single integer tensor, by a few fixed operations, for PyTorch and torchmetrics.

Unlike ``matrics._counting.count``, this module counts in place, into the buffer of a metric. An update of a
ConfusionState makes new counts, which take 8 MB for 1,000 classes (``benchmarks/training.py``).

There are two layouts. The layout of all cells has a border of guard cells for labels out of range: labels are not
inspected, none can be counted in a wrong cell, and the number of dropped samples is the sum over the border. The layout
of margins has three counts for each class, and a count for dropped samples.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.inputs import check_tensor
from matrics._arrays.torch import TORCH
from matrics._counting import labels
from matrics._counting.codes import searched
from matrics._counting.count import add_pairs, margin_bins
from matrics._counting.pairs import pair_counts
from matrics._integrations.running.parts import Arrays
from matrics._integrations.running.samples import kept_samples, of_samples
from matrics._integrations.tensors.checkpoints import OTHERWISE, check_counts
from matrics._quoting import quoted
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState
from matrics.typing import NumPyArray

# For larger batches the threads of PyTorch are faster, despite their overhead.
FEW_SAMPLES = 2**12

KINDS = ("true positives", "false negatives", "false positives")

# The increment of a sample in the dtype of counts, as a Python number would be converted each time.
_INCREMENT = np.ones((), np.int64)

_NOTHING = np.zeros((0, 0), np.int64)


class GuardedCounts(ABC):
    """Counts of labels of n classes in a flat tensor.

    All methods are safe in CUDA graphs: shapes are fixed, the host does not wait, and counting is in place.
    """

    def __init__(self, recipe: Any) -> None:
        self.recipe = recipe
        self.dtype, self.decay, self.threshold = recipe.dtype, recipe.decay, recipe.threshold
        self.num_classes: int = recipe.num_classes
        self.codes, self.ignored = recipe.codes, recipe.ignored
        is_usual = recipe.axis in (1, -1) and self.threshold is None
        self._is_plain = is_usual and self.codes is None and self.dtype is None and not self.ignored

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of counts."""

    @property
    def counts_in_one_pass(self) -> bool:
        """Whether a kernel supports the layout and the dtype of the counts."""
        return False

    def matrix(self, counts: Array) -> Array:
        """A view of the counts (n, n) of the classes, if a kernel supports the layout."""
        raise NotImplementedError

    @abstractmethod
    def bins(self, y_true: Array, y_pred: Array, backend: Standard, *, is_pred_within: bool) -> Sequence[Array]:
        """The indices of the counts to which a pair of labels adds 1; the first may be a count of dropped samples."""

    @abstractmethod
    def is_of_classes(self, bins: Tensor) -> Tensor:
        """Whether the first count of a pair of labels is a count of classes, and not of dropped samples."""

    @abstractmethod
    def forget(self, counts: Tensor) -> None:
        """Multiply the counts of classes by the decay, in place; counts of dropped samples do not change."""

    @abstractmethod
    def dropped(self, counts: Array) -> Array:
        """The number of samples with a label out of range, or a NaN among their scores."""

    @abstractmethod
    def view(self, counts: Array) -> ConfusionState | MarginState:
        """A state in the memory of the counts, which must be read before they change; ``dropped`` has their dtype.

        The counts may be a NumPy array in the memory of the tensor.
        """

    @abstractmethod
    def check_loaded(self, key: str, loaded: Any, own: Tensor) -> None:
        """Raise an error unless the counts of a checkpoint are valid for the metric."""

    def zeros(self) -> Tensor:
        """A tensor of counts, all 0."""
        return torch.zeros(self.length, dtype=self.dtype or torch.int64)

    def add(  # noqa: C901, PLR0912 (a sequence of steps)
        self,
        arrays: Arrays,
        y_true: Tensor,
        y_pred: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
        are_logits: bool | None = None,  # noqa: ARG002 (an argument of other recipes)
    ) -> None:
        """Count labels, or class scores, in place."""
        counts = arrays["counts"]
        check_tensor("y_true", y_true, torch)
        check_tensor("y_pred", y_pred, torch)
        y_true = _as_labels(y_true, "y_true")
        has_scores = y_pred.is_floating_point()
        is_plain = mask is None and sample_weight is None and self._is_plain
        if is_plain and not torch.compiler.is_compiling() and self._add_on_host(counts, y_true, y_pred):
            return
        scores = y_pred
        if has_scores:
            if self.threshold is None:
                labels.refuse_axis_of_one(y_true, y_pred, self.recipe.axis)
                if self.recipe.class_axis is None:
                    labels.warn_if_either_fits(y_true, y_pred, self.num_classes, self.recipe.axis)
            y_pred = self._decide(y_pred, y_true.ndim)
        else:
            self._check_predictions(y_pred)
        if y_true.shape != y_pred.shape:  # without broadcasting, as (N,) and (N, 1) would give N² pairs
            got = labels.said({"y_true": y_true, "y_pred": y_pred})
            hint = f"; {labels.BY_COLUMNS}" if y_true.ndim == y_pred.ndim + 1 else ""
            raise ValueError(f"expected labels of the same shape, got {got}{hint}")
        if self.recipe._checks_scores:
            self.recipe._check_scores_in_range(y_true, scores, mask)
        is_bare = mask is None and sample_weight is None and self.codes is None
        if is_bare and self.counts_in_one_pass and self._add_many_on_host(counts, y_true, y_pred):
            return
        wide = y_true.long()
        # Ignored samples are counted with weight 0, so that they need no cell and are not dropped.
        kept = kept_samples(y_true, mask, self.ignored, TORCH)
        if self.codes is not None:
            wide = searched(y_true, self.codes, "y_true", TORCH)
            y_pred = y_pred if has_scores else searched(y_pred, self.codes, "y_pred", TORCH)
        if sample_weight is not None:
            self.recipe._refuse_weights(sample_weight)
        if sample_weight is None and self.counts_in_one_pass and TORCH.has_kernels(counts):
            add_pairs(counts, wide, y_pred, kept, self.num_classes)
            return
        increments = torch.ones_like(wide) if kept is None else kept.long()
        all_bins = self.bins(wide, y_pred.long(), TORCH, is_pred_within=has_scores)
        if sample_weight is not None:
            increments = self._weighted(increments, all_bins[0], sample_weight)
        # Single additions in float32 would stop at 2**24.
        dtype = None if self.dtype is None else TORCH.widest_float(counts)
        batch = counts if dtype is None else torch.zeros(counts.shape, dtype=dtype, device=counts.device)
        increments = increments if dtype is None else increments.to(dtype)
        for bins in all_bins:
            batch.scatter_add_(
                0, bins.reshape(-1), increments.reshape(-1)
            )  # not bincount, whose shape depends on the data
        if dtype is not None:
            if self.decay is not None:
                self.forget(counts)
            counts += batch.to(counts.dtype)

    def _add_on_host(self, counts: Tensor, y_true: Tensor, y_pred: Tensor) -> bool:
        """Count a small, simple batch by NumPy, in the memory of the tensors; return whether the batch was counted.

        This takes half the time of PyTorch's operations, and needs no threads, which might be busy.
        """
        if y_true.dtype != torch.int64:
            return False
        n, shape, has_scores = self.num_classes, y_true.shape, y_pred.is_floating_point()
        if not has_scores and y_pred.dtype != torch.int64:
            return False
        if len(shape) != 1 or shape[0] > FEW_SAMPLES or y_pred.shape != ((*shape, n) if has_scores else shape):
            return False
        is_half = y_pred.itemsize == 2  # NumPy does not have bfloat16, and is slow with float16
        views = TORCH.host_views(counts, y_true, y_pred.float() if is_half else y_pred)
        if views is None:
            return False
        cells, true, pred = views
        columns = NUMPY.argmax_unless_nan(pred, n) if has_scores else pred
        for bins in self.bins(true, columns, NUMPY, is_pred_within=has_scores):
            np.add.at(cells, bins, _INCREMENT)
        return True

    def _add_many_on_host(self, counts: Tensor, y_true: Tensor, y_pred: Tensor) -> bool:
        """Count a large batch of labels by NumPy, in parts that fit into a cache; return whether the batch was counted.

        Small batches, and batches with labels out of range, are not counted. This takes a third of the time of
        PyTorch's operations; ``scatter_add_`` has no threads either.
        """
        if y_true.numel() <= FEW_SAMPLES or y_true.dtype == torch.bool:
            return False
        views = TORCH.host_views(counts, y_true, y_pred)
        matrix = None if views is None else pair_counts(views[1], views[2], self.num_classes, self.ignored)
        if views is None or matrix is None:
            return False
        self.matrix(views[0])[...] += matrix
        return True

    def _check_predictions(self, y_pred: Tensor) -> None:
        if self.threshold is not None:
            raise TypeError(f"threshold: expected y_pred to be floating scores of class 1, got labels ({y_pred.dtype})")
        _as_labels(y_pred, "y_pred")

    def _weighted(self, increments: Tensor, bins: Tensor, sample_weight: Tensor) -> Tensor:
        """The weights of samples, but 0 for ignored samples, and 1 for samples with a label out of range."""
        weight = of_samples(sample_weight.detach(), "sample_weight", bins, TORCH)
        inside = self.is_of_classes(bins)
        # Not a product, as ignored samples may have any weight.
        return torch.where(increments != 0, torch.where(inside, weight.to(self.dtype), 1), 0)

    def state(self, counts: Tensor) -> ConfusionState | MarginState:
        """The counts as a state, in separate memory."""
        state = self.view(counts)
        return state._replace(counts=state.counts.clone(), dropped=state.dropped.long())

    def _decide(self, scores: Tensor, sample_ndim: int) -> Tensor:
        """The predicted labels; NaN scores give labels out of range."""
        if self.threshold is not None and self.recipe.from_logits:
            scores = scores.to(TORCH.widest_float(scores)).sigmoid()
        return labels.decide(
            scores,
            self.num_classes,
            class_axis=self.recipe.axis,
            sample_ndim=sample_ndim,
            threshold=self.threshold,
            backend=TORCH,
        )


class GuardedCells(GuardedCounts):
    """Counts of all cells: a flat grid of (n + 2)², with a border for labels out of range."""

    @property
    def side(self) -> int:
        """The length of a row of the grid."""
        return self.num_classes + 2

    @property
    def length(self) -> int:
        """See ``GuardedCounts``."""
        return self.side**2

    def bins(self, y_true: Array, y_pred: Array, backend: Standard, *, is_pred_within: bool) -> Sequence[Array]:
        """See ``GuardedCounts``."""
        return (backend.bordered(y_true, y_pred, self.num_classes, is_pred_within=is_pred_within),)

    @property
    def counts_in_one_pass(self) -> bool:
        """See ``GuardedCounts``."""
        return self.dtype is None

    def is_of_classes(self, bins: Tensor) -> Tensor:
        """See ``GuardedCounts``."""
        row, column = bins // self.side, bins % self.side
        last = self.side - 1
        return (row > 0) & (row < last) & (column > 0) & (column < last)

    def matrix(self, counts: Array) -> Array:
        """A view of the counts (n, n) of the classes."""
        return counts.reshape(self.side, self.side)[1:-1, 1:-1]

    def forget(self, counts: Tensor) -> None:
        """See ``GuardedCounts``."""
        counts.view(-1, self.side, self.side)[:, 1:-1, 1:-1].mul_(self.decay)

    def dropped(self, counts: Array) -> Array:
        """See ``GuardedCounts``."""
        # The sum of the border, as a difference of sums would be NaN after a NaN weight.
        if isinstance(counts, np.ndarray):
            return np.add.reduce(counts.take(_border(self.side)))
        grid = counts.reshape(self.side, self.side)
        return torch.cat([grid[0], grid[-1], grid[1:-1, 0], grid[1:-1, -1]]).sum()

    def view(self, counts: Array) -> ConfusionState:
        """See ``GuardedCounts``."""
        return ConfusionState(self.matrix(counts), self.dropped(counts), _nothing_carried(counts))

    def check_loaded(self, key: str, loaded: Any, own: Tensor) -> None:
        """See ``GuardedCounts``."""
        grids = own.numel() // self.side**2
        if isinstance(loaded, Tensor) and loaded.shape != own.shape and loaded.ndim == 1:
            other = math.isqrt(loaded.numel() // grids)
            if other > 2 and grids * other**2 == loaded.numel():
                got = f"counts of {other - 2}"
                raise ValueError(f"{key}: expected counts of {self.num_classes} classes, got {got}")
        check_counts(key, loaded, own, self._cell)

    def _cell(self, position: tuple[int, ...]) -> str:
        """A description of the count at a position of the flat tensor."""
        row, column = divmod(position[0] % self.side**2, self.side)
        inside = 0 < row <= self.num_classes and 0 < column <= self.num_classes
        return f"at {[row - 1, column - 1]}" if inside else "among the dropped samples"


class CountedMargins(MarginState):
    """The margins of a metric, and the number of hits, as sums over many classes take time."""

    hits: NumPyArray


class GuardedMargins(GuardedCounts):
    """Counts of margins: true positives, false negatives and false positives, dropped samples, and no errors.

    The last is the number of hits and dropped samples together.
    """

    @property
    def length(self) -> int:
        """See ``GuardedCounts``."""
        return 3 * self.num_classes + 2

    def bins(self, y_true: Array, y_pred: Array, backend: Standard, *, is_pred_within: bool) -> Sequence[Array]:  # noqa: ARG002
        """See ``GuardedCounts``."""
        return margin_bins(y_true, y_pred, self.num_classes, backend)

    def is_of_classes(self, bins: Tensor) -> Tensor:
        """See ``GuardedCounts``."""
        return bins < 3 * self.num_classes

    def forget(self, counts: Tensor) -> None:
        """See ``GuardedCounts``."""
        counts.view(-1, self.length)[:, :-2].mul_(self.decay)

    def dropped(self, counts: Array) -> Array:
        """See ``GuardedCounts``."""
        return counts[-2]

    def view(self, counts: Array) -> MarginState:
        """See ``GuardedCounts``."""
        parts = counts[:-2].reshape(3, -1), self.dropped(counts), _nothing_carried(counts)
        if self.dtype is not None or not isinstance(counts, np.ndarray):
            return MarginState(*parts)
        state = CountedMargins(*parts)
        state.hits = counts[-1] - counts[-2]
        return state

    def check_loaded(self, key: str, loaded: Any, own: Tensor) -> None:
        """See ``GuardedCounts``."""
        check_counts(key, loaded, own, self._margin)
        if self.dtype is not None or not isinstance(loaded, Tensor) or loaded.shape != own.shape:
            return
        rows = loaded.reshape(-1, self.length)
        hits, counted = rows[:, : self.num_classes].sum(-1), rows[:, -1] - rows[:, -2]
        if bool((hits != counted).any()):
            raise ValueError(
                f"checkpoint: expected as many hits as true positives, got {counted.sum():,} hits and {hits.sum():,} "
                f"true positives in {quoted(key)}; {OTHERWISE}"
            )

    def _margin(self, position: tuple[int, ...]) -> str:
        """A description of the count at a position of the flat tensor."""
        kind, label = divmod(position[0] % self.length, self.num_classes)
        return f"among the {KINDS[kind]} of class {label}" if kind < len(KINDS) else "among the dropped samples"


@functools.lru_cache(maxsize=8)
def _border(side: int) -> NumPyArray:
    """The indices of the border of a grid in the flat array."""
    places = np.arange(side * side).reshape(side, side)
    return np.concatenate([places[0], places[-1], places[1:-1, 0], places[1:-1, -1]])


def _nothing_carried(counts: Array) -> Array:
    """The empty array of high words, which 64-bit integers do not need."""
    return _NOTHING if isinstance(counts, np.ndarray) else counts.new_zeros((0, 0), dtype=torch.int64)


def _as_labels(tensor: Tensor, name: str) -> Tensor:
    """Labels as integers; labels may be floating numbers, as in losses."""
    if tensor.is_floating_point() or tensor.is_complex():  # this check takes a tenth of the time of check_labels
        checked: Tensor = labels.check_labels(tensor, name, TORCH)
        return checked
    return tensor
