"""Tensors of samples with several labels to sums, shared by the metrics for PyTorch and for torchmetrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matrics._arrays import NUMPY, Standard
from matrics._arrays.torch import TORCH
from matrics._catalogue.record import Metric
from matrics._counting.labels import AXIS_OF_LOSSES, check_ignore_index, check_labels, checked_class_axis
from matrics._integrations.checkpoints import check_counts, check_edges, check_resolution
from matrics._integrations.multilabel_batch import Entries, added, check_batch, flat
from matrics._integrations.multilabel_names import kept_for, read_names
from matrics._integrations.multilabel_sums import ADDED, Layout, MultilabelSums, checked_thresholds, empty
from matrics._integrations.odd_scores import are_probabilities, check_probabilities, warned_of_scores
from matrics._integrations.torch_metric import check_tensors, kept_samples, of_samples, refuse_weights_of_integers

HALVES = (torch.float16, torch.bfloat16)
THRESHOLDS_DIFFER = "{}: expected predictions at the thresholds of this metric, got some at others"


class LabelTensors:
    """What is kept of a batch of tensors: the measures, the thresholds and the bins, and the steps before.

    Everything here is safe in a graph that CUDA replays: shapes are fixed, and nothing waits.
    """

    def __init__(
        self,
        num_labels: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        threshold: float | Sequence[float] | Tensor | None,
        bins: dict[str, Any],
        from_logits: bool,
        class_axis: int | None,
        ignore_index: int | Sequence[int] | None,
        dtype: torch.dtype | None,
        allow_large: bool,
    ) -> None:
        self.wanted = read_names(metrics)
        kept = kept_for(self.wanted)
        if isinstance(bins.get("edges"), Tensor):
            bins = bins | {"edges": bins["edges"].tolist()}
        self.from_logits, self.class_axis = bool(from_logits), checked_class_axis(class_axis)
        self.ignored = check_ignore_index(ignore_index)
        self._empty: dict[str, Any] = {"num_labels": num_labels, "kept": kept, "bins": bins, "dtype": dtype}
        self._empty["allow_large"] = allow_large
        self.layout, zeros = self.zeros()
        # What is not kept has no elements.
        self._shapes = {name: (x.shape, x.dtype) for name, x in zeros._asdict().items() if x.numel() == 0}
        host = {name: np.zeros(shape) for name, (shape, _) in self._shapes.items()}
        self._on_host = host | {"states": np.ones((), np.int64)}
        found = checked_thresholds(threshold, self.layout.num_labels, kept)
        self._thresholds = found if kept.predictions else found[:0]
        if self.from_logits:
            check_probabilities(self._thresholds.tolist())
        self._looks = not self.from_logits and are_probabilities(self._thresholds)  # until it has warned

    def zeros(self) -> tuple[Layout, MultilabelSums]:
        """The layout, and the sums of no samples."""
        with torch.inference_mode(mode=False):  # or they could not be updated outside inference mode
            return empty(**self._empty, like=torch.zeros(()))

    def thresholds(self) -> Tensor:
        """The threshold of each label; none if no measure needs predicted labels."""
        with torch.inference_mode(mode=False):
            return torch.from_numpy(self._thresholds.copy())

    def add(
        self,
        own: dict[str, Tensor],
        y_true: Tensor,
        y_score: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> None:
        """Add a batch, in place, to the arrays of sums that there are; the edges and thresholds are among them."""
        check_tensors(y_true, y_score, "y_score")
        kept = self.layout.kept
        y_true = check_labels(y_true, "y_true", TORCH)  # of floating numbers, as a binary cross-entropy takes them
        axis = check_batch(y_true, y_score, self.layout.num_labels, self.class_axis, AXIS_OF_LOSSES, kept, TORCH)
        samples = y_true.select(axis, 0)
        if sample_weight is not None:
            if not next(own[name] for name in ("counts", "buckets", "bins") if name in own).is_floating_point():
                refuse_weights_of_integers()
            sample_weight = of_samples(sample_weight.detach(), "sample_weight", samples).reshape(-1)
        if mask is not None:
            mask = of_samples(mask, "mask", samples).reshape(-1, 1).bool()
        y_true, y_score = flat(y_true, axis, "y_true", TORCH), flat(y_score.detach(), axis, "y_score", TORCH)
        if y_score.dtype in HALVES:  # NumPy lacks one of them
            y_score = y_score.float()
        order = y_score
        needs_probabilities = kept.predictions or (kept.histogram and not self.layout.has_buckets)
        if self.from_logits and y_score.is_floating_point() and needs_probabilities:
            # In float32 the logistic function is 1 from a logit of 17 on.
            y_score = y_score.to(TORCH.widest_float(y_score)).sigmoid()
        elif self._looks and y_score.is_floating_point() and not torch.compiler.is_compiling():
            counted = kept_samples(y_true, mask, self.ignored)
            self._looks = not warned_of_scores(y_score, counted, TORCH)
        batch = {"y_true": y_true, "y_score": y_score, "order": order, "mask": mask, "weights": sample_weight}
        given = own | {name: x for name, x in batch.items() if x is not None}
        views = TORCH.host_views(*given.values())
        arrays: dict[str, Any] = given if views is None else dict(zip(given, views, strict=True))
        backend: Standard = TORCH if views is None else NUMPY
        state = self.state({name: arrays[name] for name in own}, backend)
        entries = Entries(*map(arrays.get, Entries._fields))
        found = added(self.layout, state, entries, arrays.get("thresholds"), self.ignored, backend, in_place=True)
        for name in ADDED[1:]:  # the first of which was added to in place
            if name in own:
                part = getattr(found, name)
                arrays[name] += part if views is not None else part.to(arrays[name].dtype)

    def state(self, own: dict[str, Any], backend: Standard = TORCH) -> MultilabelSums:
        """The sums, with those that are not kept as arrays without elements."""
        kept = {name: x for name, x in own.items() if name != "thresholds"}
        if backend is NUMPY:
            return MultilabelSums(**(self._on_host | kept))
        device = own["dropped"].device
        kept |= {name: torch.zeros(shape, dtype=x, device=device) for name, (shape, x) in self._shapes.items()}
        return MultilabelSums(**kept, states=torch.ones_like(own["dropped"]))


def check_thresholds(key: str, thresholds: Any, own: Tensor) -> None:
    """Raise unless the thresholds of a checkpoint, or of a metric to merge, equal those of this metric."""
    if not isinstance(thresholds, Tensor) or thresholds.is_meta or own.is_meta:
        return
    if thresholds.shape != own.shape or not torch.equal(thresholds.cpu().to(own.dtype), own.cpu()):
        raise ValueError(THRESHOLDS_DIFFER.format(key))


def check_loaded(state_dict: dict[str, Any], own: dict[str, tuple[str, Tensor]]) -> None:
    """Raise unless the tensors of a checkpoint are some that the metric can have.

    ``own`` has, by the keys of the checkpoint, what each tensor is, and that of the metric.
    """
    for key, (field, tensor) in own.items():
        LOADED[field](key, state_dict.get(key), tensor)


def _check_buckets(key: str, loaded: Any, own: Tensor) -> None:
    check_resolution(key, loaded, own)
    check_counts(key, loaded, own)


# What is looked at in checkpoints.
LOADED: dict[str, Callable[[str, Any, Tensor], None]] = {
    "buckets": _check_buckets,
    "counts": check_counts,
    "bins": check_counts,
    "dropped": check_counts,
    "rounded": check_counts,
    "sums": check_counts,
    "edges": check_edges,
    "thresholds": check_thresholds,
}
