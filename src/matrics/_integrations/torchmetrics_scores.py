"""A running histogram of scores as a torchmetrics metric, for Lightning and for collections."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from matrics._integrations.binned import Binning, check_mergeable
from matrics._integrations.checkpoints import (
    check_calibration,
    check_counts,
    check_edges,
    check_real,
    check_resolution,
    check_states,
    check_sums,
)
from matrics._integrations.score_names import kept_for, read_names
from matrics._integrations.score_values import ScoreValues
from matrics._integrations.settings import Undefined, decay_and_dtype
from matrics._integrations.torchmetrics_metric import RunningMetric
from matrics._ranking.state import ScoreState
from matrics._states.windows import WEIGHED

if TYPE_CHECKING:
    from torch import Tensor


class ScoreMetric(RunningMetric):
    """Count scores: areas under curves with bounds, calibration, measures at thresholds, losses.

    It is :class:`matrics.torch.ScoreMetric` for Lightning and torchmetrics: ``self.log_dict(metric)`` in a
    step is all that is needed. Its states are the counts of a :class:`matrics.ScoreState`, of fixed size however
    many samples are counted, and are added up over processes. As in all of torchmetrics, and unlike elsewhere in
    matrics, predictions come first: ``update(preds, target)``.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, n: scores have an axis of classes. If left out, they are scores of class 1 of two.
    metrics : str, or several of them, optional
        As for :class:`matrics.torch.ScoreMetric`: ``"roc_auc"``, ``"average_precision:class"``, ``"ece"``,
        ``"recall@0.5"``, ``"log_loss"``, ``"top_k_accuracy(k=5)"``.
    bits : int, optional
        The resolution of the buckets for areas, as in :meth:`matrics.ScoreState.zeros`.
    edges : sequence of float, optional
        Bins of your own for areas, in place of the buckets.
    from_logits : bool, default False
        The scores are logits: areas are of the logits, all else is of probabilities. (torchmetrics decides by the
        values of each batch.)
    bounds, num_bins, prefix, class_names, positive, class_axis, ignore_index, dtype, decay, zero_division, \
    fill_undefined, allow_large
        As for :class:`matrics.torch.ScoreMetric`.
    **keywords
        The options of every torchmetrics metric: ``sync_on_compute``, ``process_group``, and so on.

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : measures of predicted labels.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import ScoreMetric
    >>> metric = ScoreMetric(3, "roc_auc, roc_auc:class", prefix="val/", class_names=["cat", "dog", "owl"])
    >>> scores = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    >>> batch = metric(scores, torch.tensor([0, 1, 2, 2]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<16}{value:.3f}")
    val/roc_auc     1.000
    val/roc_auc/cat 1.000
    val/roc_auc/dog 1.000
    val/roc_auc/owl 1.000
    """

    _drawn = "the curve of metric.state, whose matrix has every threshold"

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
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        decay, dtype = decay_and_dtype(decay, dtype, torch.float64)
        self.decay = decay
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
        self.num_classes = num_classes
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
        # A collection shares states that have the same names and are equal after the first batch: states with other
        # bins have other edges, and metrics that count differently need different names.
        axis = None if class_axis in (None, 1) or num_classes is None else class_axis
        ignored = "_".join(map(str, self._binning.ignored)) or None
        logits, weighted = from_logits or None, None if dtype is None else str(dtype).removeprefix("torch.")
        options = {
            "axis": axis,
            "of": None if num_classes else positive,
            "logits": logits,
            "ignoring": ignored,
            "in": weighted,
            "decay": None if decay is None else str(decay).replace(".", "_point_"),
        }
        ending = "".join(f"_{key}_{value}" for key, value in options.items() if value is not None)
        self._states = [f"score_{name}{ending}" for name in ScoreState._fields]
        for name, leaf in zip(self._states, zeros, strict=True):
            # Edges are summed as well; a state has the number of summed states.
            self.add_state(name, leaf, dist_reduce_fx="sum", persistent=True)
        self._list_values()

    def update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.

        Samples with a label out of range or a NaN score are dropped.

        Parameters
        ----------
        preds : tensor of floats, shape (N, ...) or (N, C, ...)
            Scores of class 1, or of all classes; logits in a metric made with ``from_logits=True``.
        target : tensor of int or bool, shape (N, ...)
            True labels.
        mask : tensor of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : tensor, optional
            A weight for each sample; the metric must have been made with ``dtype=``.
        """
        with self._turns.mine():
            self._use_outside_inference()
            self._binning.count(self.state, target, preds, mask=mask, sample_weight=sample_weight, decay=self.decay)

    def merge_state(self, incoming_state: dict[str, Any] | Any) -> None:
        """Add the counts of another metric that counts the same, or of its states."""
        theirs = incoming_state
        if isinstance(incoming_state, ScoreMetric):
            theirs = {name: getattr(incoming_state, name, None) for name in self._states}
        if isinstance(theirs, dict):
            if any(theirs.get(name) is None for name in self._states):
                raise ValueError("merge_state: expected a metric of the same options, got another")
            check_mergeable(self.state, ScoreState(*(theirs[name] for name in self._states)))
        super().merge_state(incoming_state)

    @property
    def state(self) -> ScoreState:
        """The counts of this process, as a :class:`matrics.ScoreState`; an update changes its arrays.

        Within ``with metric.sync_context():`` it is the state of all processes.
        """
        return ScoreState(*(getattr(self, name) for name in self._states))

    @property
    def dropped(self) -> Tensor:
        """How many samples of this process had a label out of range or a NaN among their scores."""
        return self.state.dropped.clone()

    def _forget(self, name: str, counts: Tensor) -> None:
        if self.decay is not None and ScoreState._fields[self._states.index(name)] in WEIGHED:
            counts.mul_(self.decay)

    def _check_loaded(self, state_dict: dict[str, Any], prefix: str) -> None:
        key = {field: prefix + name for field, name in zip(ScoreState._fields, self._states, strict=True)}
        own, loaded = self.state, ScoreState(**{field: state_dict.get(name) for field, name in key.items()})
        check_states(key["states"], loaded.states, own.states)
        for field in ("edges", "top_k"):
            check_real(key[field], getattr(loaded, field))
        if loaded.edges is not None and loaded.states is not None:
            check_edges(key["edges"], loaded.edges // loaded.states, own.edges // own.states)
        if loaded.top_k is not None and loaded.states is not None:
            of_both = ({key["sums"]: x.sums, key["top_k"]: x.top_k // x.states} for x in (loaded, own))
            check_sums("", *of_both)
        check_resolution(key["counts"], loaded.counts, own.counts)
        for field in ("counts", "bins", "rounded", "dropped"):
            check_counts(key[field], getattr(loaded, field), getattr(own, field))
        check_calibration(key["calibration"], loaded.calibration, own.calibration)
