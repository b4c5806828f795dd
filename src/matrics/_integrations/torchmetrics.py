"""A running confusion matrix as a torchmetrics metric, for Lightning and for collections: one object, all measures."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from matrics._arrays.torch import TORCH
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes
from matrics._counting.labels import check_ignore_index
from matrics._integrations.guarded import GuardedCells, GuardedCounts, GuardedMargins, bytes_of_cell
from matrics._integrations.settings import Undefined, decay_and_dtype, no_matrix
from matrics._integrations.torchmetrics_metric import RunningMetric
from matrics._integrations.torchmetrics_multilabel import MultilabelMetric
from matrics._integrations.torchmetrics_scores import ScoreMetric
from matrics._integrations.values import ConfusionValues
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric"]


class ConfusionMetric(RunningMetric):
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
        ``torch.float32`` or ``torch.float64`` for weighted counts (``sample_weight=``); integer counts if left out.
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
    **keywords
        The options of every torchmetrics metric: ``sync_on_compute``, ``process_group``, and so on.

    See Also
    --------
    matrics.torch.ConfusionMetric : the same as a plain module, for loops of your own.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import ConfusionMetric
    >>> metric = ConfusionMetric(3, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog", "owl"])
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> batch = metric(logits, torch.tensor([0, 1, 2, 2]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<15}{value:.3f}")
    val/mcc        0.700
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.500
    """

    _margins_alone = False
    _drawn = "metric.matrix, for example with sklearn.metrics.ConfusionMatrixDisplay(metric.matrix.numpy()).plot()"

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
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self.num_classes, codes = integer_codes(num_classes, labels)
        decay, dtype = decay_and_dtype(decay, dtype, torch.float64)
        self.decay = decay
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
        # A collection shares states that have the same name and are equal after the first batch, so metrics that count
        # differently need different names.
        axis = None if class_axis in (None, 1) else class_axis
        weighted = None if dtype is None else str(dtype).removeprefix("torch.")
        of = None if self._guarded.codes is None else "_".join(map(str, self._guarded.codes))
        ignored = "_".join(map(str, self._guarded.ignored)) or None
        options = {"axis": axis, "threshold": threshold, "ignoring": ignored, "in": weighted, "of": of, "decay": decay}
        options["logits"] = None if threshold is None else from_logits or None
        kind = "counts" if self._values.keeps_cells else "margins"
        self._state = "_".join([kind, *(f"{key}_{value}" for key, value in options.items() if value is not None)])
        self._state = self._state.replace(".", "_point_")  # a dot would refer to an attribute of a module
        self.add_state(self._state, self._guarded.zeros(), dist_reduce_fx="sum", persistent=True)
        self._list_values()

    def update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.

        Labels out of range, and scores with a NaN, are dropped.

        Parameters
        ----------
        preds : tensor, shape (N, ...) or (N, C, ...)
            Integers are labels, floating numbers are class scores (the largest is the prediction): the dtype decides.
        target : tensor of int or bool, shape (N, ...)
            True labels.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : tensor, optional
            A weight for each sample; the metric must have been made with ``dtype=``.
        """
        is_compiling = torch.compiler.is_compiling()
        with contextlib.nullcontext() if is_compiling else self._turns.lock:
            self._use_outside_inference()
            options: Any = {"mask": mask, "sample_weight": sample_weight, "is_compiling": is_compiling}
            self._guarded.add(self._counts, target, preds, **options)

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n) of this process: integers, rows are true classes.

        Within ``with metric.sync_context():`` it is the state of all processes. A metric of margins raises an error.
        """
        if not isinstance(self._guarded, GuardedCells):
            no_matrix(self._guarded.num_classes)
        return self._guarded.matrix(self._counts).clone()

    @property
    def dropped(self) -> Tensor:
        """How many samples of this process had a label out of range or a NaN among their scores."""
        return self._guarded.dropped(self._counts)

    @property
    def state(self) -> ConfusionState | MarginState:
        """The counts of this process: a :class:`matrics.ConfusionState`, of margins a :class:`matrics.MarginState`."""
        return self._guarded.state(self._counts)

    @property
    def _to_read(self) -> ConfusionState | MarginState:
        seen = TORCH.host_views(self._counts)
        return self._guarded.view(self._counts if seen is None else seen[0])

    def _forget(self, name: str, counts: Tensor) -> None:  # noqa: ARG002 (there is one state)
        self._guarded.forget(counts)

    @property
    def _counts(self) -> Tensor:
        counts: Tensor = getattr(self, self._state)
        return counts

    def _check_loaded(self, state_dict: dict[str, Any], prefix: str) -> None:
        key = prefix + self._state
        self._guarded.check_loaded(key, state_dict.get(key), self._counts)


class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    It is :class:`matrics.torch.MarginMetric` for Lightning and torchmetrics: a :class:`ConfusionMetric`
    for the measures of :meth:`matrics.MarginState.list_metrics`, without ``matrix``, and with a
    :class:`matrics.MarginState` as ``state``.

    Raises
    ------
    ValueError
        A measure needs all cells; the message has the memory that they would take.

    See Also
    --------
    matrics.torch.MarginMetric : the same as a plain module.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(torch.tensor([7, 9, 40_000, 3]), torch.tensor([7, 7, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _margins_alone = True
