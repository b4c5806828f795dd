"""A running histogram of scores for PyTorch: areas, calibration and measures at thresholds, from one module."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Self

import torch
from torch import Tensor

from matrics._integrations.binned import Binning, check_mergeable
from matrics._integrations.checkpoints import check_calibration, check_counts, check_edges, check_resolution, check_sums
from matrics._integrations.score_names import kept_for, read_names
from matrics._integrations.score_values import ScoreValues
from matrics._integrations.settings import Undefined, decay_and_dtype
from matrics._integrations.torch_metric import RunningMetric
from matrics._ranking.leaves import ADDED
from matrics._ranking.state import ScoreState
from matrics._states.windows import WEIGHED


class ScoreMetric(RunningMetric):
    """Count scores on the device: areas under curves with bounds, calibration, measures at thresholds, losses.

    Its buffers are the counts of a :class:`matrics.ScoreState`, of fixed size for any number of samples: they move
    with ``.to``, are part of ``state_dict``, and take one ``all_reduce``. Areas are right at any scale of the scores,
    and each has limits between which that of the scores themselves is; all else is exact. The host does not wait for
    the device: neither ``update`` nor ``compute`` inspects a value, and both compile without a graph break.
    ``metric(y_true, y_score)`` counts a batch as ``update`` does and returns the values of that batch alone, which
    takes the time of a ``compute``.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, n: scores have an axis of classes. If left out, they are scores of class 1 of two.
    metrics : str, or several of them, optional
        ``"roc_auc"`` and ``"average_precision"``: of two classes that of class 1, of more the mean of each against the
        rest; or as ``"roc_auc:macro"``, ``":weighted"``, ``":micro"``, ``":class"``; ``"expected_calibration_error"``
        (``"ece"``), with classes that of the top score, or as ``"ece:class_wise"``; and any class or overall measure at
        a threshold: ``"recall@0.5"``, of class 1, or of each class against the rest. If left out, the first three.
        ``"log_loss"``, ``"brier_score"``, ``"top_k_accuracy(k=5)"``, ``"top_k_recall(k=[1,5])"`` and
        ``"top_k_recall(k=5):class"`` are exact sums over the samples. Only what these measures need is kept.
    bits : int, optional
        The resolution of the buckets for areas, as in :meth:`matrics.ScoreState.zeros`: by default 15 bits for the
        scores of class 1 of two, and for classes at most 10, with counts of at most 64 MiB.
    edges : sequence of float, optional
        Bins of your own for areas, in place of the buckets, as in :meth:`matrics.ScoreState.zeros`.
    from_logits : bool, default False
        The scores are logits. Areas are then of the logits themselves, or of the log-odds of each class against the
        rest, and do not suffer from probabilities that are rounded to 0 or 1; all else is of the probabilities, by the
        logistic function, or by the softmax over classes. Without it, scores outside of [0, 1] give a warning, once, on
        the CPU, if a measure is one of probabilities, or has a threshold between 0 and 1.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``. If they are more than
        0.01 apart, for at least 100 samples, ``compute`` warns once, on the CPU.
    num_bins : int, default 15
        Number of bins of the calibration error.
    prefix : str, default ""
        Prefix of the keys of the results, for example ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes, for the keys of values per class; their numbers if left out.
    positive : label or int, optional
        The positive class. Without ``num_classes``: the label that the scores are of, in place of 1. With it: values
        without an average are values of this class against the rest; a name if there are ``class_names``, an index
        otherwise.
    class_axis : int, optional
        The axis of the classes of scores. If left out, axis 1, as for the losses of PyTorch: (N, C) or (N, C, ...);
        with a warning if all axes after the first have the same length, so that it could also be the last one.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out, and do not count as dropped. If it is one of the
        classes, averages are over the others.
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
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.
    cuda_graph : bool, default False
        Whether ``compute`` on a CUDA device captures its kernels, some five hundred, as one CUDA graph and replays that
        from then on. The graph takes memory for a copy of the counts and for all that is computed from them. Elsewhere
        it does nothing.

    See Also
    --------
    matrics.torch.ConfusionMetric : measures of predicted labels.
    matrics.torchmetrics.ScoreMetric : the same for Lightning and torchmetrics.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import ScoreMetric
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
    bins: Tensor | None
    rounded: Tensor | None
    dropped_counts: Tensor
    calibration: Tensor | None
    edges: Tensor | None
    sums: Tensor | None
    top_k: Tensor | None
    # In the order of ADDED.
    _summed = ("counts", "bins", "rounded", "dropped_counts", "calibration", "sums")
    _large = ("counts",)

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        *,
        bits: int | None = None,
        edges: Sequence[float] | Tensor | None = None,
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
        cuda_graph: bool = False,
    ) -> None:
        super().__init__(cuda_graph=cuda_graph)
        decay, dtype = decay_and_dtype(decay, dtype, torch.float64)
        wanted = read_names(metrics, positive, has_classes=num_classes is not None)
        self._binning = Binning(
            num_classes,
            kept=kept_for(wanted, bits=bits, edges=edges, num_bins=num_bins),
            positive=positive,
            class_axis=class_axis,
            from_logits=from_logits,
            ignore_index=ignore_index,
            dtype=dtype,
            allow_large=allow_large,
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
            ignored=self._binning.ignored,
        )
        with torch.inference_mode(mode=False):
            for name, field in zip(self._summed, ADDED, strict=True):
                leaf = getattr(zeros, field)
                both = leaf[None] if name in self._large else torch.stack([leaf, leaf])
                has_areas = zeros.counts.numel() or zeros.bins.numel() or field != "rounded"
                self.register_buffer(name, both if leaf.numel() and has_areas else None)
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
        with self._turns.mine():
            state = self._read(_first)
            self._binning.count(state, y_true, y_score, mask=mask, sample_weight=sample_weight, decay=self.decay)
            if self.decay is not None:  # of what was counted before the last sync as well
                for name in self._present:
                    self._forget(name, getattr(self, name)[1:])

    @property
    def state(self) -> ScoreState:
        """The counts so far, as a :class:`matrics.ScoreState`: thresholds, reliability curves, and bounds."""
        return self._read(lambda buffer: buffer.sum(0, dtype=buffer.dtype))

    @property
    def _to_read(self) -> ScoreState:
        state = self._read(lambda buffer: buffer[0] if len(buffer) == 1 else buffer.sum(0, dtype=buffer.dtype))
        return state._replace(dropped=self.dropped)

    @property
    def dropped(self) -> Tensor:
        """How many samples had a label out of range or a NaN among their scores."""
        return self.dropped_counts.sum()

    def _forget(self, name: str, counts: Tensor) -> None:
        if self.decay is not None and name in WEIGHED:
            counts.mul_(self.decay)

    def _check_like(self, other: Self) -> None:
        check_mergeable(*(metric._read(_first) for metric in (self, other)))

    def _read(self, part: Callable[[Tensor], Tensor]) -> ScoreState:
        """A state of these parts of the buffers."""
        device = self.dropped_counts.device
        found = {
            field: part(getattr(self, name))
            for name, field in zip(self._summed, ADDED, strict=True)
            if getattr(self, name) is not None
        }
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
        if self.sums is not None:
            check_sums(prefix, state_dict, {"sums": self.sums} | ({} if self.top_k is None else {"top_k": self.top_k}))
        for name in ("counts", "bins", "rounded", "dropped_counts"):
            loaded = state_dict.get(prefix + name)
            own = self._like_loaded(name, loaded)
            if own is not None:
                if name == "counts":
                    check_resolution(prefix + name, loaded, own)
                check_counts(prefix + name, loaded, own)
        if self.calibration is not None:
            check_calibration(prefix + "calibration", state_dict.get(prefix + "calibration"), self.calibration)
        self._fit(state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *arguments)


def _first(buffer: Tensor) -> Tensor:
    """The first part of a buffer: of a single one a view of all, into which a compiled graph can write."""
    return buffer.view(buffer.shape[1:]) if len(buffer) == 1 else buffer[0]
