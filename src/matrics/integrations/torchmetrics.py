"""A running confusion matrix as a torchmetrics metric, for Lightning and for collections: one object, all measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Self

import torch
import torchmetrics
from torch import Tensor

from matrics.catalogue.record import Metric
from matrics.integrations.guarded import GuardedCounts, Measures, as_numbers
from matrics.state import ConfusionState


class ConfusionScores(torchmetrics.Metric):
    """Count labels once, and score their confusion matrix by any measures.

    The state is one integer tensor of fixed size, which torchmetrics adds up over processes. As in all of torchmetrics,
    and unlike elsewhere in matrics, predictions come first: ``update(preds, target)``.

    In Lightning, ``self.log_dict(metric)`` in a step is all that is needed: values are computed at the end of the
    epoch, from the counts of all batches and processes, and the metric is reset.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes; labels are 0 to n - 1. It is needed unless ``labels`` is given.
    metrics : str, Metric, or several of them
        As in :func:`matrics.score`.
    labels : sequence of int, optional
        In place of ``num_classes``: the label of each class, for example ``range(1, 6)``. Labels are looked up on the
        device; unknown ones are dropped.
    prefix : str, default ""
        Prefix of the keys of the results, for example ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes, for the keys of values per class; their labels if left out.
    class_axis : int, default 1
        Where the classes of scores are: (N, C) or (N, C, ...).
    threshold : float, optional
        For two classes: floating predictions are scores of class 1; those of at least the threshold are predicted as 1.
    ignore_index : int, optional
        Samples with this true label are left out, and do not count as dropped.
    dtype : dtype, optional
        ``torch.float32`` or ``torch.float64`` for weighted counts (``sample_weight=``); integer counts if left out.
    zero_division : float, optional
        The value of a measure where it is undefined (0/0), as in :func:`matrics.score`. If left out, undefined classes
        are left out of averages, as there, and a value that is still undefined is 0: early stopping, for example, ends
        a run at a NaN. With NaN it stays NaN.
    **keywords
        The options of every torchmetrics metric: ``sync_on_compute``, ``process_group``, and so on.

    See Also
    --------
    matrics.integrations.torch.ConfusionMetric : the same as a plain module, for loops of your own.

    Examples
    --------
    >>> import torch
    >>> from matrics.integrations.torchmetrics import ConfusionScores
    >>> metric = ConfusionScores(3, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog", "owl"])
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> batch = metric(logits, torch.tensor([0, 1, 2, 2]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<15}{value:.3f}")
    val/mcc        0.700
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.500
    """

    full_state_update = False
    is_differentiable = False

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        labels: Iterable[int] | None = None,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        class_axis: int = 1,
        threshold: float | None = None,
        ignore_index: int | None = None,
        dtype: torch.dtype | None = None,
        zero_division: float | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self._guarded = GuardedCounts(
            num_classes,
            labels_of_classes=labels,
            class_axis=class_axis,
            threshold=threshold,
            ignore_index=ignore_index,
            dtype=dtype,
        )
        self.num_classes = self._guarded.num_classes
        self._measures = Measures(
            self.num_classes,
            metrics,
            prefix=prefix,
            class_names=class_names or self._guarded.class_names,
            zero_division=zero_division,
        )
        # A collection shares states that have the same name and are equal after the first batch, so metrics that count
        # differently need different names.
        axis = None if class_axis == 1 else class_axis
        weighted = None if dtype is None else str(dtype).removeprefix("torch.")
        of = None if self._guarded.codes is None else "_".join(map(str, self._guarded.codes))
        options = {"axis": axis, "threshold": threshold, "ignoring": ignore_index, "in": weighted, "of": of}
        self._state = "_".join(["counts", *(f"{key}_{value}" for key, value in options.items() if value is not None)])
        self._state = self._state.replace(".", "_point_")  # a dot would refer to an attribute of a module
        self.add_state(self._state, self._guarded.zeros(), dist_reduce_fx="sum")
        self._values = torch.nn.ModuleList(_Value(self, key) for key in self._measures.keys)

    def update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch; labels out of range, and scores with a NaN, are dropped.

        Parameters
        ----------
        preds : tensor, shape (N, ...) or (N, C, ...)
            Integers are labels, floating numbers are class scores (the largest is the prediction): the dtype decides.
        target : tensor of int or bool, shape (N, ...)
            True labels.
        mask : tensor of bool, optional
            Samples where it is False are left out; broadcasts against the labels.
        sample_weight : tensor, optional
            A weight for each sample; the metric must have been made with ``dtype=``.
        """
        counts = self._counts
        compiling = torch.compiler.is_compiling()
        if not compiling and counts.is_inference() and not torch.is_inference_mode_enabled():  # after a reset in it
            counts = counts.clone()
            setattr(self, self._state, counts)
        self._guarded.add(counts, target, preds, mask=mask, sample_weight=sample_weight)

    def compute(self) -> dict[str, Tensor]:
        """All measures of the counts of all processes, as scalar tensors, under names for a logger.

        Where samples were dropped, their number is there as ``dropped``, with one warning, on the CPU.
        """
        return self._measures.report(self.matrix, lambda: self.dropped)

    def numbers(self) -> dict[str, float]:
        """The values of :meth:`compute` as Python's numbers, in one transfer from the device, for a logger."""
        return as_numbers(self.compute())

    def plot(self, *_: Any, **__: Any) -> NoReturn:
        """Raise an error: torchmetrics draws one value or a curve, and this metric has many values."""
        raise NotImplementedError(
            "torchmetrics' plot() draws one value, and this metric has many: log compute(), or draw metric.matrix, for "
            "example with sklearn.metrics.ConfusionMatrixDisplay(metric.matrix.numpy()).plot()"
        )

    def clone(self, prefix: str | None = None) -> Self:
        """A copy with counts of its own, perhaps with another prefix: one metric for each phase of training."""
        other: Self = super().clone()
        if prefix is not None:
            other._measures.rename(prefix)
            other._values = torch.nn.ModuleList(_Value(other, key) for key in other._measures.keys)
        return other

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n) of this process: integers, rows are true classes.

        Within ``with metric.sync_context():`` it is that of all processes.
        """
        return self._guarded.matrix(self._counts).clone()

    @property
    def dropped(self) -> Tensor:
        """How many samples of this process had a label out of range or a NaN among their scores."""
        return self._guarded.dropped(self._counts)

    @property
    def state(self) -> ConfusionState:
        """The counts of this process, as a :class:`matrics.ConfusionState`."""
        return self._guarded.state(self._counts)

    def items(self) -> list[tuple[str, torchmetrics.Metric]]:
        """Each value as a separate metric, under its name, as Lightning's ``self.log_dict(metric)`` requires."""
        return list(zip(self._measures.keys, self._values, strict=True))

    def set_dtype(self, dst_type: str | torch.dtype) -> Self:  # noqa: ARG002
        """Do nothing: counts stay integers."""
        return self

    @property
    def _counts(self) -> Tensor:
        counts: Tensor = getattr(self, self._state)
        return counts

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # PyTorch passes tensors to other processes (spawn) as shared memory, to which all would write.
        setattr(self, self._state, self._counts.clone())

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        key = prefix + self._state
        if key in state_dict and state_dict[key].shape != self._counts.shape:  # torchmetrics would accept it
            own, other = (math.isqrt(counts.numel()) - 2 for counts in (self._counts, state_dict[key]))
            raise ValueError(f"{key}: expected counts of {own} classes, got counts of {other}")
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        setattr(self, self._state, self._counts.clone())  # or counting would modify the loaded tensor

    def __repr__(self) -> str:
        return f"ConfusionScores({self.num_classes}, {self._measures})"


#: The name before a release. The classes of this name elsewhere take the true labels first.
ConfusionMetric = ConfusionScores


class _Value(torchmetrics.Metric):
    """One value of a metric that has many. It has no state: it is updated, computed and reset with its metric."""

    full_state_update = False

    def __init__(self, metric: ConfusionScores, key: str) -> None:
        super().__init__(sync_on_compute=False, compute_with_cache=False)
        self.__dict__["_metric"] = metric  # not as a submodule: each would contain the other
        self._key = key

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Count a batch, for all values."""
        self._metric.update(preds, target)

    def compute(self) -> Tensor:
        """The value; all values are computed together when the first one is requested."""
        return self._metric.compute()[self._key]

    def reset(self) -> None:
        """Set all counts to 0, for all values."""
        self._metric.reset()

    @property
    def update_called(self) -> bool:
        """Whether the metric has counted anything."""
        return bool(self._metric.update_called)

    @property
    def _forward_cache(self) -> Tensor | None:
        batch = self._metric._forward_cache
        return None if batch is None else batch[self._key]

    @_forward_cache.setter
    def _forward_cache(self, value: Any) -> None:
        """Do nothing: the metric holds the cache."""
