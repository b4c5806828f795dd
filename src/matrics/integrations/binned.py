"""Scores of PyTorch to histograms, shared by the metrics of scores for PyTorch and for torchmetrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from matrics.arrays.torch import TORCH
from matrics.counting.labels import AXIS_OF_LOSSES, check_ignore_index, checked_class_axis, said, warn_if_either_fits
from matrics.integrations.score_values import MASKED, checked_positive, masked
from matrics.integrations.torch_metric import check_tensors, of_samples, refuse_weights_of_integers
from matrics.ranking.bins import Spacing
from matrics.ranking.histograms import ScoreHistograms, bin_samples
from matrics.ranking.state import ScoreState

HALVES = (torch.float16, torch.bfloat16)
# Scores in a part of a batch on the CPU where there is no histogram.
SCORES_AT_ONCE = 2**21


class Binning:
    """Turn scores into histograms: the bins, and the steps before.

    Everything here is safe in a graph that CUDA replays: shapes are fixed, and nothing waits.
    """

    def __init__(
        self,
        num_classes: int | None,
        *,
        histogram_bins: int,
        low: float,
        high: float,
        edges: Sequence[float] | Tensor | None,
        spacing: Spacing | None,
        positive: Any,
        class_axis: int | None,
        from_logits: bool,
        ignore_index: int | Sequence[int] | None,
        dtype: torch.dtype | None,
        allow_large: bool,
        kept: dict[str, Any],
    ) -> None:
        self.positive = checked_positive(positive, num_classes)
        self.num_classes, self.class_axis = num_classes, checked_class_axis(class_axis)
        self.from_logits, self.ignored = bool(from_logits), check_ignore_index(ignore_index)
        if self.from_logits and (low, high) != (0, 1):
            raise ValueError(
                f"from_logits: expected low=0 and high=1, as scores become probabilities, got {low}, {high}"
            )
        edges = edges.tolist() if isinstance(edges, Tensor) else edges
        self._bins: dict[str, Any] = {"histogram_bins": histogram_bins, "low": low, "high": high, "edges": edges}
        self._bins |= {"spacing": spacing, "num_classes": num_classes, "dtype": dtype, "allow_large": allow_large}
        self._bins |= kept
        self._has_sums = kept["losses"] or kept["top_k"] is not None
        self._needs_probabilities = kept["losses"] or "histogram_bins" not in kept

    def zeros(self) -> ScoreState:
        """An empty state."""
        with torch.inference_mode(mode=False):  # or it could not be updated outside inference mode
            return ScoreState.zeros(**self._bins, like=torch.zeros(()))

    def count(
        self,
        state: ScoreState,
        y_true: Tensor,
        y_score: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> ScoreHistograms:
        """What a batch adds to the state."""
        check_tensors(y_true, y_score, "y_score")
        if sample_weight is not None and not state.counts.is_floating_point():
            refuse_weights_of_integers()
        y_score = self._last(y_true, y_score)
        ignore_index: int | tuple[int, ...] = self.ignored
        positive = self.positive
        if mask is not None and not y_true.is_floating_point():
            mask = of_samples(mask, "mask", y_true)
            y_true, ignore_index = masked(y_true, mask, self.ignored, self.num_classes, positive, TORCH), MASKED
            positive = None
        if sample_weight is not None:
            sample_weight = of_samples(sample_weight, "sample_weight", y_true)
        options: Any = {"ignore_index": ignore_index, "positive": positive}
        has_long_softmax = self.from_logits and self._needs_probabilities and state.counts.numel() == 0
        if torch.compiler.is_compiling() or not has_long_softmax or not y_score.is_cpu:
            return self._count(state, y_true, y_score, sample_weight, options)
        if y_score.numel() <= SCORES_AT_ONCE or y_true.shape != y_score.shape[: y_true.ndim]:
            return self._count(state, y_true, y_score, sample_weight, options)
        # The probabilities of all samples would need fresh memory each time, which takes longer than to use them.
        rows = y_score.shape[y_true.ndim :]
        arrays = [y_true.reshape(-1), y_score.reshape(-1, *rows)]
        arrays += [] if sample_weight is None else [sample_weight.reshape(-1)]
        step = max(SCORES_AT_ONCE // math.prod(rows), 1)
        pieces = [[x[start : start + step] for x in arrays] for start in range(0, len(arrays[0]), step)]
        parts = [self._count(state, x, y, weight[0] if weight else None, options) for x, y, *weight in pieces]
        return ScoreHistograms(TORCH, *map(sum, list(zip(*parts, strict=True))[1:]))

    def _count(
        self, state: ScoreState, y_true: Tensor, y_score: Tensor, sample_weight: Tensor | None, options: dict[str, Any]
    ) -> ScoreHistograms:
        """The same of scores with the classes last."""
        logits = None
        if self.from_logits and self._needs_probabilities and y_score.is_floating_point():
            y_score = y_score.detach().to(TORCH.widest_float(y_score))  # sigmoid in float32 is 1 from a logit of 17 on
            logits = y_score if self._has_sums else None
            y_score = y_score.sigmoid() if self.num_classes is None else y_score.softmax(-1)
        elif y_score.dtype in HALVES and y_score.is_cpu and state.counts.numel():  # NumPy lacks one of them
            y_score = y_score.float()
        return bin_samples(y_true, y_score, state, sample_weight=sample_weight, logits=logits, **options)

    def _last(self, y_true: Tensor, y_score: Tensor) -> Tensor:
        """Scores in the shape of the labels, with the classes last."""
        if self.num_classes is None:
            if y_true.shape != y_score.shape:
                got = said({"y_true": y_true, "y_score": y_score})
                raise ValueError(
                    f"expected labels and scores of one shape, or num_classes= for class scores, got {got}"
                )
            return y_score
        n, axis = self.num_classes, self.class_axis
        if axis is None:
            axis = AXIS_OF_LOSSES
            warn_if_either_fits(y_true, y_score, n, axis)
        if y_score.ndim != y_true.ndim + 1 or not -y_score.ndim <= axis < y_score.ndim or y_score.shape[axis] != n:
            got = said({"y_true": y_true, "y_score": y_score})
            fits = y_score.ndim == y_true.ndim + 1 and y_score.shape[-1] == n
            hint = "; the last axis has as many: pass class_axis=-1" if fits else ""
            raise ValueError(
                f"expected scores with {n} classes along class_axis={axis}, next to labels, got {got}{hint}"
            )
        return y_score.movedim(axis, -1)
