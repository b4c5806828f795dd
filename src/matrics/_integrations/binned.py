"""Batches of PyTorch for a ScoreState, shared by the metrics of scores for PyTorch and for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from matrics._arrays.torch import TORCH
from matrics._counting.labels import (
    AXIS_OF_LOSSES,
    check_ignore_index,
    checked_class_axis,
    refuse_axis_of_one,
    said,
    warn_if_either_fits,
)
from matrics._integrations.odd_scores import warned_of_scores
from matrics._integrations.score_names import look_at_thresholds
from matrics._integrations.score_values import MASKED, checked_positive, masked
from matrics._integrations.torch_metric import check_tensors, kept_samples, of_samples, refuse_weights_of_integers
from matrics._ranking.batches import count_into
from matrics._ranking.leaves import check_same
from matrics._ranking.state import ScoreState


class Binning:
    """What a metric keeps of scores, and the steps before they are counted.

    Everything here is safe in a graph that CUDA replays: shapes are fixed, and nothing waits.
    """

    def __init__(
        self,
        num_classes: int | None,
        *,
        kept: dict[str, Any],
        positive: Any,
        class_axis: int | None,
        from_logits: bool,
        ignore_index: int | Sequence[int] | None,
        dtype: torch.dtype | None,
        allow_large: bool,
    ) -> None:
        self.positive = checked_positive(positive, num_classes)
        self.num_classes, self.class_axis = num_classes, checked_class_axis(class_axis)
        self.from_logits, self.ignored = bool(from_logits), check_ignore_index(ignore_index)
        edges = kept["edges"]
        self._kept = kept | {"edges": edges.tolist() if isinstance(edges, Tensor) else edges}
        self._looks = look_at_thresholds(kept) and not self.from_logits  # until it has warned
        self._kept |= {"num_classes": num_classes, "dtype": dtype, "allow_large": allow_large}

    def zeros(self) -> ScoreState:
        """An empty state."""
        with torch.inference_mode(mode=False):  # or it could not be updated outside inference mode
            return ScoreState.zeros(**self._kept, like=torch.zeros(()))

    def count(
        self,
        state: ScoreState,
        y_true: Tensor,
        y_score: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
        decay: float | None = None,
    ) -> None:
        """Multiply the arrays of the state by the decay, if there is one, and add a batch to them, in place."""
        check_tensors(y_true, y_score, "y_score")
        if sample_weight is not None and not state.counts.is_floating_point():
            refuse_weights_of_integers()
        y_score = self._last(y_true, y_score)
        if self._looks and not torch.compiler.is_compiling():
            self._looks = not self._warned(y_true, y_score, mask)
        ignore_index: int | tuple[int, ...] = self.ignored
        positive = self.positive
        if mask is not None and not y_true.is_floating_point():
            mask = of_samples(mask, "mask", y_true)
            y_true, ignore_index = masked(y_true, mask, self.ignored, self.num_classes, positive, TORCH), MASKED
            positive = None
        if sample_weight is not None:
            sample_weight = of_samples(sample_weight, "sample_weight", y_true)
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index, "positive": positive}
        count_into(y_true, y_score, state, **options, are_logits=self.from_logits, decay=decay)

    def _warned(self, y_true: Tensor, y_score: Tensor, mask: Tensor | None) -> bool:
        """Whether scores that are compared with thresholds are no probabilities, which a warning tells."""
        counted = kept_samples(y_true, mask, self.ignored)
        counted = counted[..., None] if counted is not None and y_score.ndim > y_true.ndim else counted
        return warned_of_scores(y_score.float(), counted, TORCH)

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
        refuse_axis_of_one(y_true, y_score, axis, "y_score")
        if y_score.ndim != y_true.ndim + 1 or not -y_score.ndim <= axis < y_score.ndim or y_score.shape[axis] != n:
            got = said({"y_true": y_true, "y_score": y_score})
            fits = y_score.ndim == y_true.ndim + 1 and y_score.shape[-1] == n
            hint = "; the last axis has as many: pass class_axis=-1" if fits else ""
            raise ValueError(
                f"expected scores with {n} classes along class_axis={axis}, next to labels, got {got}{hint}"
            )
        return y_score.movedim(axis, -1)


def check_mergeable(mine: ScoreState, theirs: ScoreState) -> None:
    """Raise unless two states, on any devices, count the same."""
    constants = ("edges", "top_k", "states")
    check_same(TORCH, *(x._replace(**{name: getattr(x, name).cpu() for name in constants}) for x in (mine, theirs)))
