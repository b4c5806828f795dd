"""A running confusion matrix for PyTorch: one module for all measures; and one of scores."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.modules.module import register_module_module_registration_hook

from matrics._arrays.torch import TORCH
from matrics._catalogue.naming import MeasureName
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes
from matrics._counting.labels import check_ignore_index
from matrics._integrations.guarded import GuardedCells, GuardedCounts, GuardedMargins, bytes_of_cell
from matrics._integrations.settings import Undefined, decay_and_dtype, no_matrix
from matrics._integrations.torch_metric import RunningMetric
from matrics._integrations.torch_multilabel import MultilabelMetric
from matrics._integrations.torch_parallel import leave_counts_alone
from matrics._integrations.torch_scores import ScoreMetric
from matrics._integrations.torch_sync import SyncError
from matrics._integrations.values import ConfusionValues
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState

# What torch.load takes: the keys of compute() are texts with a title.
torch.serialization.add_safe_globals([MeasureName])
register_module_module_registration_hook(leave_counts_alone)

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric", "SyncError"]


class ConfusionMetric(RunningMetric):
    """Count labels on the device, and score their confusion matrix by any measures.

    The state is one integer buffer of fixed size, for any number of samples: it moves with ``.to``, is part of
    ``state_dict``, and takes one ``all_reduce``. Counts are exact. The host does not wait for a device: neither
    ``update`` nor ``compute`` inspects a value there.
    Both compile without a graph break, together with the step around them. ``metric(y_true, y_pred)`` counts a batch as
    ``update`` does and returns the values of that batch alone, which takes the time of a ``compute``.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes; labels are 0 to n - 1. It is needed unless ``labels`` is given.
    metrics : str, Metric, or several of them
        As in :func:`matrics.score`.
    labels : sequence of int, optional
        Instead of ``num_classes``: the label of each class, for example ``range(1, 6)``. Labels are looked up on the
        device; unknown ones are dropped.
    prefix : str, default ""
        Prefix of the keys of the results, for example ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes, for the keys of values per class; their labels if left out.
    positive : label, name or int, optional
        The positive class: one of ``labels`` or ``class_names`` if they are given, an index otherwise. Per-class
        measures without an average are then values of this class, as in :func:`matrics.score`.
    class_axis : int, optional
        The axis of the classes of scores. If left out, axis 1, as for the losses of PyTorch: (N, C) or (N, C, ...);
        with a warning if all axes after the first have the same length, so that it could also be the last one.
    threshold : float, optional
        For two classes: floating-point predictions are scores of class 1; scores of at least the threshold are
        predicted as 1. Class 1 is then the positive one, without ``positive``.
    from_logits : bool, default False
        Scores that are compared with the threshold are logits, and the threshold is one of the probability. Without it,
        scores outside of [0, 1] and a threshold between 0 and 1 give a warning, once, on the CPU. The class with
        the largest score is the same for logits and for probabilities.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out, and do not count as dropped. If it is one of the
        classes, averages are over the others; to predict it is an error of the true class.
    dtype : dtype, optional
        ``torch.float64``, or ``torch.float32`` on devices that have no other, for weighted counts
        (``sample_weight=``); integer counts if left out. float32 rounds the sums at each batch.
    decay : float, optional
        What earlier counts are multiplied by before each batch is added, above 0 and at most 1: of a stream, an
        exponential moving sum of about the last 1 / (1 - decay) batches. Counts are then floating, of
        float64 if ``dtype`` is left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0), as in :func:`matrics.score`: with NaN, undefined classes are
        left out of averages.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.
    cuda_graph : bool, default False
        Whether ``compute`` on a CUDA device captures its kernels, some five hundred, as one CUDA graph and replays that
        from then on. The graph takes memory for a copy of the counts and for all that is computed from them. Elsewhere
        it does nothing.

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : the same for Lightning and torchmetrics.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import ConfusionMetric
    >>> metric = ConfusionMetric(3, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog", "owl"])
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> metric.update(torch.tensor([0, 1, 2, 2]), logits)
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<15}{value:.3f}")
    val/mcc        0.700
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.500
    """

    num_classes: int
    counts: Tensor
    _summed = ("counts",)
    _margins_alone = False

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        labels: Iterable[int] | None = None,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        positive: Hashable = None,
        class_axis: int | None = None,
        threshold: float | None = None,
        from_logits: bool = False,
        ignore_index: int | Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        decay: float | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
        cuda_graph: bool = False,
    ) -> None:
        super().__init__(cuda_graph=cuda_graph)
        self.num_classes, codes = integer_codes(num_classes, labels)
        decay, dtype = decay_and_dtype(decay, dtype, torch.float64)
        self._values = ConfusionValues.of_classes(
            self.num_classes,
            metrics,
            codes,
            prefix=prefix,
            class_names=class_names,
            positive=positive,
            has_threshold=threshold is not None,
            ignored=check_ignore_index(ignore_index),
            undefined=Undefined.of(zero_division, fill_undefined),
            bytes_of_cell=bytes_of_cell(dtype),
            margins_alone=self._margins_alone,
            allow_large=allow_large,
        )
        layout = GuardedCells if self._values.keeps_cells else GuardedMargins
        self._guarded: GuardedCounts = layout(
            self.num_classes,
            codes,
            class_axis=class_axis,
            threshold=threshold,
            from_logits=from_logits,
            ignore_index=ignore_index,
            dtype=dtype,
            decay=decay,
        )
        with torch.inference_mode(mode=False):  # or it could not be updated outside inference mode
            self.register_buffer("counts", self._guarded.zeros().repeat(2))

    def update(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        *,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> None:
        """Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.

        Labels out of range, and scores with a NaN, are dropped.

        Parameters
        ----------
        y_true : tensor of int or bool, shape (N, ...)
            True labels.
        y_pred : tensor, shape (N, ...) or (N, C, ...)
            Integers are labels, floating numbers are class scores (the largest is the prediction): the dtype decides.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : tensor, optional
            A weight for each sample; the metric must have been made with ``dtype=``.
        """
        is_compiling = torch.compiler.is_compiling()  # asked once, as an update takes microseconds
        with contextlib.nullcontext() if is_compiling else self._turns.lock:
            self._guarded.add(
                self._buffers["counts"],
                y_true,
                y_pred,
                mask=mask,
                sample_weight=sample_weight,
                is_compiling=is_compiling,
            )

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n): integers, rows are true classes. A metric of margins raises an error."""
        if not isinstance(self._guarded, GuardedCells):
            no_matrix(self._guarded.num_classes)
        return self._guarded.matrix(self._total())

    @property
    def dropped(self) -> Tensor:
        """How many samples had a label out of range or a NaN among their scores."""
        return self._guarded.dropped(self._total())

    @property
    def state(self) -> ConfusionState | MarginState:
        """The counts so far, as a :class:`matrics.ConfusionState`, or of margins a :class:`matrics.MarginState`."""
        return self._guarded.state(self._total())

    @property
    def _to_read(self) -> ConfusionState | MarginState:
        seen = TORCH.host_views(self.counts)
        own, shared = (self.counts if seen is None else seen[0]).reshape(2, -1)
        # A sum of many classes takes as long as all that follows.
        return self._guarded.view(own + shared if seen is None or shared.any() else own)

    def _forget(self, name: str, counts: Tensor) -> None:  # noqa: ARG002 (there is one buffer)
        if self._guarded.decay is not None:
            self._guarded.forget(counts)

    def _check_like(self, other: Self) -> None:
        if other.num_classes != self.num_classes:
            raise ValueError(f"expected metrics of {self.num_classes} classes, got one of {other.num_classes}")
        if type(other._guarded) is not type(self._guarded):
            kinds = ["all cells" if isinstance(x, GuardedCells) else "margins" for x in (self._guarded, other._guarded)]
            raise ValueError(f"expected metrics that keep {kinds[0]}, as this one does, got one that keeps {kinds[1]}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        key = prefix + "counts"
        self._guarded.check_loaded(key, state_dict.get(key), self.counts)
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def _total(self) -> Tensor:
        own, shared = self.counts.view(2, -1)
        return own + shared


class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    They are enough for accuracy, F1, MCC, Cohen's kappa and all other measures of
    :meth:`matrics.MarginState.list_metrics`, with the same values as from a :class:`ConfusionMetric`. Of 50,257 classes
    the counts take 2.4 MB in place of 40 GB, and from some hundred classes on ``compute`` takes less time. Arguments,
    methods and results are those of a ``ConfusionMetric``, but there is no ``matrix``, ``state`` is a
    :class:`matrics.MarginState`, and ``metrics`` has no default, as two measures of ``core`` need all cells.

    A ``ConfusionMetric`` keeps margins as well if all cells would take more than 1 GiB and its measures need none.

    Raises
    ------
    ValueError
        A measure needs all cells; the message has the memory that they would take.

    See Also
    --------
    matrics.MarginState : the same as a state without a module.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(torch.tensor([7, 7, 40_000, 3]), torch.tensor([7, 9, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _margins_alone = True
