"""Flax metrics (``nnx.Metric``): one confusion matrix, many measures, names for a logger; and one of scores.

It needs Flax (``pip install "matrics[flax]"``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.jax import JAX
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes, searched
from matrics._counting.labels import (
    check_ignore_index,
    checked_class_axis,
    decide,
    is_kept,
    labels_to_ignore,
    warn_if_either_fits,
)
from matrics._integrations.flax_metric import RunningMetric, as_jax, one_of
from matrics._integrations.flax_multilabel import MultilabelMetric
from matrics._integrations.flax_scores import ScoreMetric
from matrics._integrations.odd_scores import are_probabilities, check_probabilities
from matrics._integrations.score_values import MASKED, OUTSIDE
from matrics._integrations.settings import Undefined, decay_and_dtype, no_matrix
from matrics._integrations.values import ConfusionValues
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric"]


class ConfusionMetric(RunningMetric):
    """Any measures of all batches so far, from one confusion matrix counted on the device.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``; ``compute`` scores the sum of the batches, never a mean of their scores.

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
        Prefix of the names of the results, such as ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes in the names of the results: ``recall/cat`` instead of ``recall/0``.
    positive : label, name or int, optional
        The positive class: one of ``labels`` or ``class_names`` if they are given, an index otherwise. Per-class
        measures without an average are then values of this class, as in :func:`matrics.score`.
    class_axis : int, optional
        The axis of the classes of the logits. If left out, the last axis, as for the losses of Optax; with a
        warning if all axes after the first have the same length, so that it could also be axis 1.
    threshold : float, optional
        The scores belong to class 1 of two; samples with a score of at least this are predicted as 1. Class 1 is
        then the positive one, without ``positive``.
    from_logits : bool, default False
        Scores that are compared with the threshold are logits, and the threshold is one of the probability. Without it,
        scores outside of [0, 1] and a threshold between 0 and 1 give a warning, once, on the CPU outside ``jit``. The
        class with the largest score is the same for logits and for probabilities.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out. If it is one of the classes, averages are over the
        others; to predict it is an error of the true class.
    dtype : dtype, optional
        ``jax.numpy.float32`` for weighted counts (``sample_weight=``); integer counts if left out.
    decay : float, optional
        What earlier counts are multiplied by before each batch is added, above 0 and at most 1: of a stream, an
        exponential moving sum of about the last 1 / (1 - decay) batches. Counts are then floating, of
        the widest ``dtype`` if it is left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0), as in :func:`matrics.score`: with NaN, undefined classes are
        left out of averages.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import ConfusionMetric
    >>> metric = ConfusionMetric(2, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog"])
    >>> logits = jnp.array([[2.0, 1.0], [0.5, 0.1], [0.3, 0.9], [0.8, 0.2]])
    >>> metric.update(logits=logits, labels=jnp.array([0, 0, 1, 1]))
    >>> {name: round(float(value), 3) for name, value in metric.compute().items()}
    {'val/mcc': 0.577, 'val/recall/cat': 1.0, 'val/recall/dog': 0.5}
    """

    _values: ConfusionValues
    _summed = ("counts", "dropped")
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
        dtype: Any = None,
        decay: float | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
    ) -> None:
        num_classes, codes = integer_codes(num_classes, labels)
        self.decay, dtype = decay_and_dtype(decay, dtype, JAX.widest_float(jnp.zeros(())))
        if threshold is not None:
            decide(np.empty(0), num_classes, class_axis=-1, sample_ndim=1, threshold=threshold, backend=NUMPY)
            if from_logits:
                check_probabilities([threshold])
        self._values = ConfusionValues.of_classes(
            num_classes,
            metrics,
            codes,
            prefix=prefix,
            class_names=class_names,
            positive=positive,
            has_threshold=threshold is not None,
            ignored=check_ignore_index(ignore_index),
            undefined=Undefined.of(zero_division, fill_undefined),
            bytes_of_cell=4 if dtype == jnp.float32 else 8,
            margins_alone=self._margins_alone,
            allow_large=allow_large,
        )
        kind = ConfusionState if self._values.keeps_cells else MarginState
        state = kind.zeros(num_classes, like=jnp.zeros(()), dtype=dtype, allow_large=allow_large)
        self.class_labels = None if codes is None else tuple(codes)
        self.class_axis = checked_class_axis(class_axis)
        self.threshold, self.from_logits = threshold, bool(from_logits)
        self.ignore_index = check_ignore_index(ignore_index)
        self._hold(state)

    @property
    def state(self) -> ConfusionState | MarginState:
        """The counts so far: a pytree for ``psum``, with the matrix, or margins, and the number of dropped samples."""
        kind = ConfusionState if self._values.keeps_cells else MarginState
        return kind(*map(self._array, kind._fields))

    def update(
        self,
        y_true: Any = None,
        y_pred: Any = None,
        *,
        labels: Any = None,
        logits: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        """Add the counts of a batch over all its axes, in place: labels (B, T) are B times T samples.

        Parameters
        ----------
        y_true, labels : array of int
            True labels in [0, n), under either name. All axes are samples.
        y_pred, logits : array
            Class scores (floating) or predicted labels (integers), under either name: the dtype decides.
        mask : array of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : array, optional
            A weight for each sample; the metric must have been made with ``dtype=jax.numpy.float32``.
        **_
            Ignored; for the other metrics of an ``nnx.MultiMetric``.
        """
        y_true = as_jax("labels", one_of(y_true=y_true, labels=labels))
        y_pred = as_jax("logits", one_of(y_pred=y_pred, logits=logits))
        sample_weight = self._weights(sample_weight)
        if JAX.is_float(y_pred) and self.threshold is None and self.class_axis is None:
            warn_if_either_fits(y_true, y_pred, self.counts.shape[-1], -1)
        if self.threshold is not None and JAX.is_float(y_pred):
            if self.from_logits:
                y_pred = jax.nn.sigmoid(y_pred.astype(JAX.widest_float(y_pred)))
            elif are_probabilities([self.threshold]):
                self._look_at_scores(y_true, y_pred, mask)
        ignore_index: int | tuple[int, ...] = self.ignore_index
        if mask is not None or self.class_labels is not None:
            kept = jnp.broadcast_to(jnp.asarray(True if mask is None else mask).astype(bool), y_true.shape)
            others = is_kept(y_true, labels_to_ignore(self.ignore_index, y_true, JAX), JAX)
            kept = kept if others is None else kept & others
            if self.class_labels is not None:
                codes = {label: code for code, label in enumerate(self.class_labels)}
                y_true = searched(y_true, codes, "labels", JAX)
                y_pred = y_pred if JAX.is_float(y_pred) else searched(y_pred, codes, "logits", JAX)
            inside = (y_true >= 0) & (y_true < self.counts.shape[-1])
            y_true = jnp.where(kept, jnp.where(inside, y_true.astype(jnp.int32), OUTSIDE), MASKED)
            ignore_index = MASKED
        self._keep(
            self._earlier.update(
                y_true,
                y_pred,
                class_axis=-1 if self.class_axis is None else self.class_axis,
                threshold=self.threshold,
                sample_weight=sample_weight,
                ignore_index=ignore_index,
            )
        )

    @property
    def matrix(self) -> Array:
        """The confusion matrix (n, n): rows are true classes. A metric of margins raises an error."""
        state = self.state
        return state.matrix if isinstance(state, ConfusionState) else no_matrix(state.counts.shape[-1])


class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    It is :class:`matrics.torch.MarginMetric` for Flax: a :class:`ConfusionMetric` for the measures of
    :meth:`matrics.MarginState.list_metrics`, without ``matrix``, and with a :class:`matrics.MarginState` as ``state``.

    Raises
    ------
    ValueError
        A measure needs all cells; the message has the memory that they would take.

    See Also
    --------
    matrics.MarginState : the same as a state alone.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(jnp.array([7, 7, 40_000, 3]), jnp.array([7, 9, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _margins_alone = True
