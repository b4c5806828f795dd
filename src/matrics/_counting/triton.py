"""Counts of label pairs on a GPU: a kernel written in Triton, which PyTorch's builds for CUDA contain.

PyTorch's ``scatter_add_`` adds to a single address in memory for each sample. With few classes most samples have the
same few addresses, and wait for each other. Here each program counts its share of the samples into its own histogram,
and adds the histogram to the counts once. Labels are read once, and nothing else is written.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

# With more cells a program has no histogram: the cells would not fit into its registers.
MOST_CELLS = 1024
# Without a histogram, so many copies of the counts separate additions to the same address, in large batches.
COPIES, LEAST_SAMPLES, MOST_BYTES = 16, 2**20, 2**22
SAMPLES = 1024  # of a step of a program
PROGRAMS = 1056  # at most; eight for each multiprocessor of an H100


@torch.library.custom_op("matrics::pair_counts", mutates_args=())
def pair_counts(y_true: Tensor, y_pred: Tensor, kept: Tensor | None, num_classes: int) -> Tensor:
    """Counts of pairs of labels for compiled graphs: a flat grid as of ``launch``."""
    counts = y_true.new_zeros((num_classes + 2) ** 2, dtype=torch.int64)
    launch(counts, y_true, y_pred, kept, num_classes)
    return counts


@pair_counts.register_fake
def _shape(y_true: Tensor, y_pred: Tensor, kept: Tensor | None, num_classes: int) -> Tensor:  # noqa: ARG001
    return y_true.new_empty((num_classes + 2) ** 2, dtype=torch.int64)


def launch(counts: Tensor, y_true: Tensor, y_pred: Tensor, kept: Tensor | None, num_classes: int) -> None:
    """Add pairs of labels to the counts of a flat grid of n + 2 by n + 2, whose border is for labels out of range.

    All arrays are on the same CUDA device: int64 counts, labels of any integer dtype and shape (N,), and the mask of
    the samples that count, or None.
    """
    samples, side = y_true.shape[0], num_classes + 2
    if not samples:
        return
    cells, copies = triton.next_power_of_2(side**2), 1
    if cells > MOST_CELLS and samples >= LEAST_SAMPLES:
        copies = max(min(COPIES, MOST_BYTES // (4 * side**2)), 1)
    # No copy has more samples than int32 holds.
    target = counts if copies == 1 else counts.new_zeros((copies, side**2), dtype=torch.int32)
    labels = [_as_integers(x) for x in (y_true, y_pred, y_true if kept is None else kept)]
    with torch.cuda.device_of(counts):
        _counted[(min(triton.cdiv(samples, SAMPLES), PROGRAMS),)](
            *(target, *labels, samples, num_classes, *(x.stride(0) for x in labels)),
            HAS_MASK=kept is not None,
            CELLS=cells if cells <= MOST_CELLS else 0,
            COPIES=copies,
            SAMPLES=SAMPLES,
        )
        if copies > 1:
            counts[: side**2] += target.sum(0)


def _as_integers(x: Tensor) -> Tensor:
    return x.view(torch.uint8) if x.dtype == torch.bool else x


@triton.jit
def _counted(  # noqa: PLR0917 (a kernel needs each stride as a parameter)
    counts: tl.tensor,
    y_true: tl.tensor,
    y_pred: tl.tensor,
    kept: tl.tensor,
    samples: tl.tensor,
    num_classes: tl.tensor,
    true_stride: tl.tensor,
    pred_stride: tl.tensor,
    kept_stride: tl.tensor,
    HAS_MASK: tl.constexpr,
    CELLS: tl.constexpr,
    COPIES: tl.constexpr,
    SAMPLES: tl.constexpr,
) -> None:
    """A program's share of the samples; without a histogram if it has 0 cells."""
    side = num_classes + 2
    places, start = tl.arange(0, SAMPLES), tl.program_id(0).to(tl.int64) * SAMPLES
    copy = counts + (tl.program_id(0) % COPIES).to(tl.int64) * side * side
    increments = tl.full([SAMPLES], 1, counts.dtype.element_ty)
    histogram = tl.zeros([CELLS if CELLS > 0 else 1], tl.int32)
    while start < samples:  # Triton's interpreter takes no variables in ``range``
        index = start + places
        in_range = index < samples
        if HAS_MASK:
            in_range = in_range & (tl.load(kept + index * kept_stride, in_range, other=0) != 0)
        true = tl.load(y_true + index * true_stride, in_range, other=0).to(tl.int64)
        pred = tl.load(y_pred + index * pred_stride, in_range, other=0).to(tl.int64)
        row = (tl.minimum(tl.maximum(true, -1), num_classes) + 1).to(tl.int32)
        cell = row * side + (tl.minimum(tl.maximum(pred, -1), num_classes) + 1).to(tl.int32)
        if CELLS > 0:
            histogram += tl.histogram(cell, CELLS, in_range)
        else:
            tl.atomic_add(copy + cell, increments, in_range, sem="relaxed")
        start += tl.num_programs(0).to(tl.int64) * SAMPLES
    if CELLS > 0:
        cells = tl.arange(0, CELLS)
        tl.atomic_add(counts + cells, histogram.to(tl.int64), cells < side * side, sem="relaxed")
