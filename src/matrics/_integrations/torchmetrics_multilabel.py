"""Running sums of samples with several labels as a torchmetrics metric, for Lightning and for collections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from matrics._catalogue.record import Metric
from matrics._integrations.multilabel_sums import ADDED, MultilabelSums
from matrics._integrations.multilabel_tensors import LOADED, LabelTensors, check_loaded
from matrics._integrations.multilabel_values import MultilabelValues
from matrics._integrations.settings import Undefined
from matrics._integrations.torchmetrics_metric import RunningMetric

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class MultilabelMetric(RunningMetric):
    """Count samples with several labels, and score each label, all labels, or whole samples.

    It is :class:`matrics.torch.MultilabelMetric` for Lightning and torchmetrics: ``self.log_dict(metric)``
    in a step is all that is needed. Its states have a fixed size and are added up over processes. As in all of
    torchmetrics, and unlike elsewhere in matrics, predictions come first: ``update(preds, target)``.

    Parameters
    ----------
    num_labels : int
        Number of labels, L.
    metrics : str, Metric, or several of them
        As for :class:`matrics.torch.MultilabelMetric`: ``"f1"``, ``"f1:micro"``, ``"recall:label"``,
        ``"roc_auc"``, ``"average_precision:weighted"``, ``"subset_accuracy"``, ``"ranking_loss"``.
    threshold, bits, edges, from_logits, bounds, prefix, class_names, class_axis, \
    ignore_index, dtype, zero_division, fill_undefined, allow_large
        As for :class:`matrics.torch.MultilabelMetric`. (torchmetrics decides by the values of each batch
        whether scores are logits, and predicts the labels above the threshold, not those at it.)
    **keywords
        The options of every torchmetrics metric: ``sync_on_compute``, ``process_group``, and so on.

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : measures of samples with one label each.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, recall:label", prefix="val/", class_names=["cat", "dog", "owl"])
    >>> scores = torch.tensor([[0.9, 0.2, 0.4], [0.1, 0.8, 0.3], [0.7, 0.6, 0.65]])
    >>> batch = metric(scores, torch.tensor([[1, 0, 1], [0, 1, 0], [1, 1, 0]]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<15}{value:.3f}")
    val/f1         0.667
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.000
    """

    _drawn = "metric.matrix, for example with matrics.plot.confusion_matrix(metric.matrix[0])"

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
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
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
        # A collection shares states that have the same names and are equal after the first batch: other bins are other
        # edges, and metrics that count differently need different names.
        options = {
            "axis": None if class_axis in (None, 1) else class_axis,
            "logits": from_logits or None,
            "ignoring": "_".join(map(str, self._tensors.ignored)) or None,
            "in": None if dtype is None else str(dtype).removeprefix("torch."),
        }
        kinds = "_".join(name for name, is_kept in layout.kept._asdict().items() if is_kept)
        ending = "".join(f"_{key}_{value}" for key, value in options.items() if value is not None)
        leaves = zeros._asdict() | {"thresholds": self._tensors.thresholds()}
        names = (*ADDED, "edges", "thresholds")
        self._states = {x: f"multilabel_{kinds}_{x}{ending}" for x in names if leaves[x].numel()}
        for field, name in self._states.items():
            # The largest of equal constants is the constant.
            self.add_state(name, leaves[field], dist_reduce_fx="sum" if field in ADDED else "max", persistent=True)
        self._list_values()

    def update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes but that of the labels.

        Entries, of a sample and a label, with a true value other than 0 and 1 or a NaN score are dropped, and their
        samples are left out of the measures of whole samples.

        Parameters
        ----------
        preds : tensor, shape (N, L, ...)
            Scores of the labels, or logits in a metric made with ``from_logits=True``; or, of measures of predicted
            labels, 0 and 1 as integers or booleans.
        target : tensor of int or bool, shape (N, L, ...)
            1 if a sample has a label, 0 if not.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against (N, ...).
        sample_weight : tensor, optional
            A weight for each sample; broadcasts against (N, ...). The metric must have been made with ``dtype=``.
        """
        with self._turns.mine():
            self._use_outside_inference()
            self._tensors.add(self._own, target, preds, mask=mask, sample_weight=sample_weight)

    @property
    def matrix(self) -> Tensor:
        """The matrix of each label, (L, 2, 2), of this process: rows are the true values 0 and 1."""
        return self._tensors.layout.matrix(self.state)

    @property
    def state(self) -> MultilabelSums:
        """The sums of this process, a tuple of arrays that adds up; an update changes its arrays."""
        return self._tensors.state(self._own)

    @property
    def dropped(self) -> Tensor:
        """How many entries of this process had another label than 0 and 1 or a NaN score."""
        return self._own["dropped"].clone()

    def merge_state(self, incoming_state: dict[str, Any] | Any) -> None:
        """Add the counts of another metric of the same labels, bins and thresholds, or of its states."""
        theirs = incoming_state
        if isinstance(incoming_state, MultilabelMetric):
            theirs = {name: getattr(incoming_state, name, None) for name in self._states.values()}
        if isinstance(theirs, dict):
            if any(theirs.get(name) is None for name in self._states.values()):
                raise ValueError("merge_state: expected a metric of the same labels, bins and measures, got another")
            check_loaded(theirs, self._loadable())
        super().merge_state(incoming_state)

    @property
    def _own(self) -> dict[str, Tensor]:
        return {field: getattr(self, name) for field, name in self._states.items()}

    def _loadable(self, prefix: str = "") -> dict[str, tuple[str, Tensor]]:
        own = self._own
        return {prefix + name: (field, own[field]) for field, name in self._states.items() if field in LOADED}

    def _check_loaded(self, state_dict: dict[str, Any], prefix: str) -> None:
        check_loaded(state_dict, self._loadable(prefix))
