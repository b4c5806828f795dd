"""A running histogram of scores for PyTorch: areas, calibration and measures at thresholds, from one module."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import torch
from torch import Tensor

from matrics.integrations.binned import Binning
from matrics.integrations.checkpoints import EDGES_DIFFER, SUMS_DIFFER, check_counts, check_edges, check_sums
from matrics.integrations.score_names import kept_for, read_names
from matrics.integrations.score_values import ScoreValues
from matrics.integrations.settings import Undefined, decay_and_dtype
from matrics.integrations.torch_metric import RunningMetric
from matrics.ranking.bins import Spacing
from matrics.ranking.histograms import ADDED, ScoreHistograms
from matrics.ranking.state import ScoreState


class ScoreMetric(RunningMetric):
    """Count scores in bins on the device: areas under curves with bounds, calibration, measures at thresholds.

    Its buffers are the histograms of a :class:`matrics.ScoreState`, of fixed size for any number of samples:
    they move with ``.to``, are part of ``state_dict``, and take one ``all_reduce``. Counts are exact, and each area has
    limits between which that of the scores themselves is. The host does not wait for the device: neither ``update`` nor
    ``compute`` inspects a value, and both compile without a graph break. ``metric(y_true, y_score)`` counts a batch as
    ``update`` does and returns the values of that batch alone, which takes the time of a ``compute``.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, n: scores have an axis of classes. If left out, they are scores of class 1 of two.
    metrics : str, or several of them, optional
        ``"roc_auc"`` and ``"average_precision"``, with classes the mean of each against the rest, or as
        ``"roc_auc:weighted"``, ``":micro"``, ``":class"``; ``"expected_calibration_error"`` (``"ece"``), with classes
        that of the top score, or as ``"ece:class_wise"``; and any class or overall measure at a threshold that is an
        edge of a bin: ``"recall@0.5"``, of class 1, or of each class against the rest. If left out, the first three.
        ``"log_loss"``, ``"brier_score"``, ``"top_k_accuracy(k=5)"``, ``"top_k_recall(k=[1,5])"`` and
        ``"top_k_recall(k=5):class"`` are exact sums over the samples; with these alone there is no histogram.
    histogram_bins, low, high, edges, spacing
        The bins of the histogram, as in :meth:`matrics.ScoreState.zeros`.
    from_logits : bool, default False
        The scores are logits, and are turned into probabilities first: by the logistic function, or by the softmax over
        classes.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``.
    num_bins : int, default 15
        Number of bins of the calibration error; each joins neighbouring bins of the histogram.
    prefix : str, default ""
        Prefix of the keys of the results, for example ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes, for the keys of values per class; their numbers if left out.
    positive : label or int, optional
        The positive class. Without ``num_classes``: the label that the scores are of, in place of 1. With it: values
        without an average are values of this class, instead of the mean over the classes; a name if there are
        ``class_names``, an index otherwise.
    class_axis : int, optional
        The axis of the classes of scores. If left out, axis 1, as for the losses of PyTorch: (N, C) or (N, C, ...);
        with a warning if all axes after the first have the same length, so that it could also be the last one.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out, and do not count as dropped.
    dtype : dtype, optional
        ``torch.float32`` or ``torch.float64`` for weighted counts (``sample_weight=``); integer counts if left out.
    decay : float, optional
        What earlier counts are multiplied by before each batch is added, above 0 and at most 1: of a stream, an
        exponential moving sum of about the last 1 / (1 - decay) batches. Counts are then floating, of
        float64 if ``dtype`` is left out.
    zero_division : float, default NaN
        The value of undefined measures, such as the area with only one class; with NaN, undefined classes are left out
        of means.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 8 GiB; otherwise a larger metric raises an error with its size.

    See Also
    --------
    matrics.integrations.torch.ConfusionMetric : measures of predicted labels.
    matrics.integrations.torchmetrics.ScoreMetric : the same for Lightning and torchmetrics.

    Examples
    --------
    >>> import torch
    >>> from matrics.integrations.torch import ScoreMetric
    >>> metric = ScoreMetric(metrics="roc_auc, ece, recall@0.5", from_logits=True, prefix="val/", bounds=True)
    >>> metric.update(torch.tensor([0, 0, 1, 1]), torch.tensor([-2.0, 0.4, -0.1, 3.0]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<17}{value:.3f}")
    val/roc_auc      0.750
    val/roc_auc_low  0.750
    val/roc_auc_high 0.750
    val/ece          0.323
    val/recall@0.5   0.500
    """

    counts: Tensor | None
    offsets: Tensor | None
    dropped_counts: Tensor
    edges: Tensor | None
    sums: Tensor | None
    top_k: Tensor | None
    _summed = ("counts", "offsets", "dropped_counts", "sums")

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        *,
        histogram_bins: int = 1000,
        low: float = 0.0,
        high: float = 1.0,
        edges: Sequence[float] | Tensor | None = None,
        spacing: Spacing | None = None,
        from_logits: bool = False,
        bounds: bool = False,
        num_bins: int = 15,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        positive: Hashable = None,
        class_axis: int | None = None,
        ignore_index: int | Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        decay: float | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
    ) -> None:
        super().__init__()
        decay, dtype = decay_and_dtype(decay, dtype, torch.float64)
        wanted = read_names(metrics, positive, has_classes=num_classes is not None)
        self._binning = Binning(
            num_classes,
            histogram_bins=histogram_bins,
            low=low,
            high=high,
            edges=edges,
            spacing=spacing,
            positive=positive,
            class_axis=class_axis,
            from_logits=from_logits,
            ignore_index=ignore_index,
            dtype=dtype,
            allow_large=allow_large,
            kept=kept_for(wanted),
        )
        self.num_classes, self.decay = num_classes, decay
        zeros = self._binning.zeros()
        self._values = ScoreValues.of_state(
            zeros,
            num_classes,
            wanted,
            prefix=prefix,
            class_names=class_names,
            positive=positive,
            undefined=Undefined.of(zero_division, fill_undefined),
            bounds=bounds,
            num_bins=num_bins,
        )
        with torch.inference_mode(mode=False):
            for name, leaf in zip(self._summed, _parts_of(zeros), strict=True):
                self.register_buffer(name, torch.stack([leaf, leaf]) if leaf.numel() else None)
            self.register_buffer("edges", zeros.edges if zeros.edges.numel() else None)
            self.register_buffer("top_k", zeros.top_k if zeros.top_k.numel() else None)
        # What is absent has no elements.
        self._shapes = {name: (tuple(leaf.shape), leaf.dtype) for name, leaf in zeros._asdict().items()}

    def update(
        self,
        y_true: Tensor,
        y_score: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> None:
        """Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.

        Samples with a label out of range or a NaN score are dropped.

        Parameters
        ----------
        y_true : tensor of int or bool, shape (N, ...)
            True labels.
        y_score : tensor of floats, shape (N, ...) or (N, C, ...)
            Scores of class 1, or of all classes; logits in a metric made with ``from_logits=True``.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : tensor, optional
            A weight for each sample; the metric must have been made with ``dtype=``.
        """
        found = self._binning.count(self._part(0), y_true, y_score, mask=mask, sample_weight=sample_weight)
        for name, part in zip(self._summed, _parts_of(found), strict=True):
            buffer = getattr(self, name)
            if buffer is not None:
                self._forget(name, buffer)
                buffer[0] += part.to(buffer.dtype)

    @property
    def state(self) -> ScoreState:
        """The histograms so far, as a :class:`matrics.ScoreState`: every threshold, reliability curves, and bounds."""
        own, shared = self._part(0), self._part(1)
        return own._replace(
            counts=own.counts + shared.counts,
            offsets=own.offsets + shared.offsets,
            dropped=own.dropped + shared.dropped,
            sums=own.sums + shared.sums,
        )

    @property
    def dropped(self) -> Tensor:
        """How many samples had a label out of range or a NaN among their scores."""
        return self.dropped_counts.sum()

    def _forget(self, name: str, counts: Tensor) -> None:
        if self.decay is not None and name != "dropped_counts":
            counts.mul_(self.decay)

    def _check_like(self, other: Self) -> None:
        mine, theirs = self._part(0), other._part(0)
        if mine.counts.shape != theirs.counts.shape or not torch.equal(theirs.edges.cpu(), mine.edges.cpu()):
            raise ValueError(EDGES_DIFFER.format("merge_state"))
        if mine.sums.shape != theirs.sums.shape or not torch.equal(theirs.top_k.cpu(), mine.top_k.cpu()):
            raise ValueError(SUMS_DIFFER.format("merge_state"))

    def _part(self, which: int) -> ScoreState:
        """The state of one of the two parts of the buffers."""
        device = self.dropped_counts.device
        parts = {field: getattr(self, name) for field, name in zip(ADDED, self._summed, strict=True)}
        found = {field: buffer[which] for field, buffer in parts.items() if buffer is not None}
        found |= {name: getattr(self, name) for name in ("edges", "top_k") if getattr(self, name) is not None}
        found |= {
            name: torch.zeros(shape, dtype=dtype, device=device)
            for name, (shape, dtype) in self._shapes.items()
            if name not in found
        }
        return ScoreState(**found | {"states": torch.ones((), dtype=self._shapes["states"][1], device=device)})

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        if self.edges is not None:
            check_edges(prefix + "edges", state_dict.get(prefix + "edges"), self.edges)
        if self.sums is not None and self.top_k is not None:
            check_sums(prefix, state_dict, {"sums": self.sums, "top_k": self.top_k})
        for name in ("counts", "dropped_counts"):
            own = getattr(self, name)
            if own is not None:
                check_counts(prefix + name, state_dict.get(prefix + name), own)
        super()._load_from_state_dict(state_dict, prefix, *arguments)


def _parts_of(found: ScoreState | ScoreHistograms) -> tuple[Tensor, ...]:
    """The arrays that are added up, in the order of their buffers."""
    return tuple(getattr(found, name) for name in ADDED)
