"""Running sums of samples with several labels for PyTorch: measures of each label and over labels, from one module."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import torch
from torch import Tensor

from matrics._catalogue.record import Metric
from matrics._integrations.checkpoints import EDGES_DIFFER, check_resolution
from matrics._integrations.multilabel_sums import ADDED, MultilabelSums
from matrics._integrations.multilabel_tensors import LOADED, LabelTensors, check_loaded, check_thresholds
from matrics._integrations.multilabel_values import MultilabelValues
from matrics._integrations.settings import Undefined
from matrics._integrations.torch_metric import RunningMetric


class MultilabelMetric(RunningMetric):
    """Count samples with several labels on the device, and score each label, all labels, or whole samples.

    Its buffers have a fixed size for any number of samples, and contain only what the measures need: the 2×2 matrix of
    each label, counts of each label's scores for areas, sums over whole samples. They move with ``.to``, are part
    of ``state_dict``, and take one ``all_reduce``. Counts are exact, and the host does not wait for the device: neither
    ``update`` nor ``compute`` inspects a value, and both compile without a graph break.

    Parameters
    ----------
    num_labels : int
        Number of labels, L.
    metrics : str, Metric, or several of them
        Measures of the matrices of the labels as in :func:`matrics.multilabel.score`, such as ``"f1"`` and ``"mcc"``;
        ``"roc_auc"`` and ``"average_precision"``; and of whole samples ``"subset_accuracy"`` and
        ``"ranking_loss"``: the share of pairs, a label of the sample and another one, in which the score of the former
        is not the higher one. All but the last two may have an average over the labels at the end, ``:macro`` (as if
        left out), ``:micro`` or ``:weighted``, or ``:label`` for a value of each: ``"f1:micro"``. In front of it may be
        an average over the two classes of a label: ``"recall:macro:label"`` is the balanced accuracy of each label.
    threshold : float, or one for each label, optional
        Labels with a score of at least this are predicted; 0.5 if left out. With ``from_logits=True`` it is a
        probability.
    bits, edges
        The buckets for areas, or bins of your own in their place, as in :meth:`matrics.ScoreState.zeros`.
    from_logits : bool, default False
        The scores are logits: areas are of the logits, all else is of probabilities, by the logistic function.
        Without it, scores outside of [0, 1] and thresholds between 0 and 1 give a warning, once, on the CPU.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``.
    prefix : str, default ""
        Prefix of the keys of the results, for example ``"val/"``.
    class_names : sequence of str, optional
        Names of the labels, for the keys of values of each; their numbers if left out.
    class_axis : int, optional
        The axis of the labels. If left out, axis 1, as in the other metrics: (N, L) or (N, L, ...); with a warning if
        the last axis has the same length.
    ignore_index : int or sequence of int, optional
        Single entries with this true value, or one of these, are left out, and do not count as dropped. A sample
        without any other entry is left out of the measures of whole samples.
    dtype : dtype, optional
        ``torch.float32`` or ``torch.float64`` for weighted counts (``sample_weight=``); integer counts if left out.
    zero_division : float, default NaN
        The value of undefined measures, such as the recall of a label that no sample has; with NaN, undefined labels
        are left out of means.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.
    cuda_graph : bool, default False
        Whether ``compute`` on a CUDA device captures its kernels, some five hundred, as one CUDA graph and replays that
        from then on. The graph takes memory for a copy of the counts and for all that is computed from them. Elsewhere
        it does nothing.

    Raises
    ------
    TypeError
        ``dtype`` is none of these.
    ValueError
        A name is unknown, or has an average that it cannot have; a threshold, or a number of bins, is none.

    See Also
    --------
    matrics.torchmetrics.MultilabelMetric : the same for Lightning and torchmetrics.
    matrics.MultilabelState : the counts as a state without a module.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, f1:label, roc_auc, ranking_loss", class_names=["cat", "dog", "owl"])
    >>> y_true = torch.tensor([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    >>> metric.update(y_true, torch.tensor([[0.9, 0.2, 0.4], [0.1, 0.8, 0.3], [0.7, 0.6, 0.65]]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    f1           0.667
    f1/cat       1.000
    f1/dog       1.000
    f1/owl       0.000
    roc_auc      0.833
    ranking_loss 0.167
    """

    buckets: Tensor | None
    counts: Tensor | None
    dropped_counts: Tensor
    bins: Tensor | None
    rounded: Tensor
    sums: Tensor | None
    edges: Tensor | None
    thresholds: Tensor | None
    # In the order of ADDED.
    _summed = ("buckets", "counts", "dropped_counts", "bins", "rounded", "sums")
    _large = ("buckets",)

    def __init__(
        self,
        num_labels: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        threshold: float | Sequence[float] | Tensor | None = None,
        bits: int | None = None,
        edges: Sequence[float] | Tensor | None = None,
        from_logits: bool = False,
        bounds: bool = False,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        class_axis: int | None = None,
        ignore_index: int | Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
        cuda_graph: bool = False,
    ) -> None:
        super().__init__(cuda_graph=cuda_graph)
        bins = {"bits": bits, "edges": edges}
        self._tensors = LabelTensors(
            num_labels,
            metrics,
            threshold=threshold,
            bins=bins,
            from_logits=from_logits,
            class_axis=class_axis,
            ignore_index=ignore_index,
            dtype=dtype,
            allow_large=allow_large,
        )
        layout, zeros = self._tensors.zeros()
        self.num_labels = self.num_classes = layout.num_labels
        self._values = MultilabelValues.of_sums(
            layout,
            zeros,
            self._tensors.wanted,
            prefix=prefix,
            class_names=class_names,
            undefined=Undefined.of(zero_division, fill_undefined),
            bounds=bounds,
        )
        with torch.inference_mode(mode=False):
            for name, field in zip(self._summed, ADDED, strict=True):
                leaf = getattr(zeros, field)
                both = leaf[None] if name in self._large else torch.stack([leaf, leaf])
                self.register_buffer(name, both if leaf.numel() else None)
            thresholds = self._tensors.thresholds()
            self.register_buffer("edges", zeros.edges if zeros.edges.numel() else None)
            self.register_buffer("thresholds", thresholds if thresholds.numel() else None)

    def update(
        self,
        y_true: Tensor,
        y_score: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> None:
        """Count a batch, over all axes but that of the labels.

        Entries, of a sample and a label, with a true value other than 0 and 1 or a NaN score are dropped, and their
        samples are left out of the measures of whole samples.

        Parameters
        ----------
        y_true : tensor of int or bool, shape (N, L, ...)
            1 if a sample has a label, 0 if not.
        y_score : tensor, shape (N, L, ...)
            Scores of the labels, or logits in a metric made with ``from_logits=True``; or, of measures of predicted
            labels, 0 and 1 as integers or booleans.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against (N, ...).
        sample_weight : tensor, optional
            A weight for each sample; broadcasts against (N, ...). The metric must have been made with ``dtype=``.
        """
        options: Any = {"mask": mask, "sample_weight": sample_weight}
        with self._turns.mine():
            self._tensors.add(self._read(lambda buffer: buffer[0]), y_true, y_score, **options)

    @property
    def matrix(self) -> Tensor:
        """The matrix of each label so far, (L, 2, 2): rows are the true values 0 and 1."""
        return self._tensors.layout.matrix(self.state)

    @property
    def state(self) -> MultilabelSums:
        """The sums so far: a tuple of arrays that adds up."""
        return self._tensors.state(self._read(lambda buffer: buffer.sum(0, dtype=buffer.dtype)))

    @property
    def _to_read(self) -> MultilabelSums:
        parts = self._read(lambda buffer: buffer[0] if len(buffer) == 1 else buffer.sum(0, dtype=buffer.dtype))
        return self._tensors.state(parts)._replace(dropped=self.dropped)

    @property
    def dropped(self) -> Tensor:
        """How many entries, of a sample and a label, had another label than 0 and 1 or a NaN score."""
        return self.dropped_counts.sum()

    def _check_like(self, other: Self) -> None:
        if not isinstance(other, MultilabelMetric) or other._tensors.layout != self._tensors.layout:
            raise ValueError("merge_state: expected metrics of the same labels, bins and kinds of measures, got others")
        if self.buckets is not None and other.buckets is not None:
            check_resolution("merge_state", other.buckets, self.buckets)
        if self.edges is not None and other.edges is not None and not torch.equal(other.edges.cpu(), self.edges.cpu()):
            raise ValueError(EDGES_DIFFER.format("merge_state"))
        if self.thresholds is not None:
            check_thresholds("merge_state", other.thresholds, self.thresholds)

    def _read(self, part: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
        """These parts of the buffers, and the constants; those that there are."""
        buffers = self._buffers  # an attribute of a module takes longer
        found = {}
        for field, name in zip(ADDED, self._summed, strict=True):
            buffer = buffers[name]
            if buffer is not None:
                found[field] = part(buffer)
        for name in ("edges", "thresholds"):
            constant = buffers[name]
            if constant is not None:
                found[name] = constant
        return found

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        names = {field: name for field, name in zip(ADDED, self._summed, strict=True) if field in LOADED}
        names |= {"edges": "edges", "thresholds": "thresholds"}
        like = {name: self._like_loaded(name, state_dict.get(prefix + name)) for name in names.values()}
        own = {prefix + name: (field, x) for field, name in names.items() if (x := like[name]) is not None}
        check_loaded(state_dict, own)
        self._fit(state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *arguments)
