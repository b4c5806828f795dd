"""A Flax metric (``nnx.Metric``) of samples with several labels: measures of each label and over labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from matrics._arrays import Array
from matrics._arrays.jax import JAX
from matrics._catalogue.record import Metric
from matrics._counting.labels import check_ignore_index, check_labels, checked_class_axis
from matrics._integrations.flax_metric import RunningMetric, as_jax, one_of
from matrics._integrations.multilabel_batch import Entries, added, check_batch, flat
from matrics._integrations.multilabel_names import kept_for, read_names
from matrics._integrations.multilabel_sums import ADDED, MultilabelSums, checked_thresholds, empty
from matrics._integrations.multilabel_values import MultilabelValues
from matrics._integrations.odd_scores import are_probabilities, check_probabilities
from matrics._integrations.settings import Undefined
from matrics._states.leaves import Additive
from matrics.typing import ArrayLike


class MultilabelMetric(RunningMetric):
    """Count samples with several labels on the device, and score each label, all labels, or whole samples.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``. Its variables have a fixed size for any number of samples, and contain only what
    the measures need.

    Parameters
    ----------
    num_labels : int
        Number of labels, L.
    metrics : str, Metric, or several of them
        As for :class:`matrics.torch.MultilabelMetric`: ``"f1"``, ``"f1:micro"``, ``"recall:label"``,
        ``"roc_auc"``, ``"average_precision:weighted"``, ``"subset_accuracy"``, ``"ranking_loss"``.
    threshold : float, or one for each label, optional
        Labels with a probability, or another score, of at least this are predicted; 0.5 if left out.
    bits, edges
        The buckets for areas, or bins of your own in their place, as in :meth:`matrics.ScoreState.zeros`.
    from_logits : bool, default False
        Scores given as ``y_score=`` are logits as well; those given as ``logits=`` always are. Areas are then of the
        logits, all else is of probabilities. Without it, scores outside of [0, 1] and thresholds between 0 and 1 give a
        warning, once, on the CPU outside ``jit``.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``.
    prefix : str, default ""
        Prefix of the names of the results, such as ``"val/"``.
    class_names : sequence of str, optional
        Names of the labels in the names of the results; their numbers if left out.
    class_axis : int, optional
        The axis of the labels. If left out, the last axis; with a warning if axis 1 has the same length.
    ignore_index : int or sequence of int, optional
        Single entries with this true value, or one of these, are left out, and do not count as dropped. A sample
        without any other entry is left out of the measures of whole samples.
    dtype : dtype, optional
        ``jax.numpy.float32`` for weighted counts (``sample_weight=``); integer counts if left out.
    zero_division : float, default NaN
        The value of undefined measures, such as the recall of a label that no sample has; with NaN, undefined labels
        are left out of means.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, f1:label, ranking_loss", class_names=["cat", "dog", "owl"])
    >>> logits = jnp.array([[2.2, -1.4, -0.4], [-2.2, 1.4, -0.8], [0.8, 0.4, 0.6]])
    >>> metric.update(labels=jnp.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]]), logits=logits)
    >>> {name: round(value, 3) for name, value in metric.log_dict().items()}
    {'f1': 0.667, 'f1/cat': 1.0, 'f1/dog': 1.0, 'f1/owl': 0.0, 'ranking_loss': 0.167}
    """

    _values: MultilabelValues
    _summed = (*ADDED, "buckets_carried", "bins_carried", "remainders")

    def __init__(
        self,
        num_labels: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        threshold: float | Sequence[float] | ArrayLike | None = None,
        bits: int | None = None,
        edges: ArrayLike | None = None,
        from_logits: bool = False,
        bounds: bool = False,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        class_axis: int | None = None,
        ignore_index: int | Sequence[int] | None = None,
        dtype: Any = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
    ) -> None:
        wanted = read_names(metrics)
        kept = kept_for(wanted)
        bins = {"bits": bits, "edges": edges}
        layout, state = empty(num_labels, kept, bins, jnp.zeros(()), dtype, allow_large=allow_large)
        self.num_labels = layout.num_labels
        thresholds = checked_thresholds(threshold, self.num_labels, kept)
        self._values = MultilabelValues.of_sums(
            layout,
            empty(num_labels, kept, bins, np.zeros(()), None, allow_large=True)[1],  # NumPy computes them in less time
            wanted,
            prefix=prefix,
            class_names=class_names,
            undefined=Undefined.of(zero_division, fill_undefined),
            bounds=bounds,
        )
        self.from_logits = bool(from_logits)
        self.class_axis = checked_class_axis(class_axis)
        self.ignore_index = check_ignore_index(ignore_index)
        if self.from_logits and kept.predictions:
            check_probabilities(thresholds.tolist())
        self.has_probabilities = kept.predictions and are_probabilities(thresholds)
        self.thresholds = nnx.metrics.MetricState(jnp.asarray(thresholds, jnp.float32)) if kept.predictions else None
        self._hold(state)

    @property
    def state(self) -> MultilabelSums:
        """The sums so far: a pytree for ``psum``, which adds up."""
        found: dict[str, Any] = {name: self._array(name) for name in MultilabelSums._fields if name != "states"}
        return MultilabelSums(**found, states=jnp.ones_like(found["dropped"]))

    @property
    def matrix(self) -> Array:
        """The matrix of each label so far, (L, 2, 2): rows are the true values 0 and 1."""
        return self._values.layout.matrix(self.state)

    def update(
        self,
        y_true: Any = None,
        y_score: Any = None,
        *,
        labels: Any = None,
        logits: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        """Add a batch, over all axes but that of the labels, in place.

        Entries, of a sample and a label, with a true value other than 0 and 1 or a NaN score are dropped, and their
        samples are left out of the measures of whole samples.

        Parameters
        ----------
        y_true, labels : array of int or bool, shape (N, ..., L)
            1 if a sample has a label, 0 if not, under either name.
        y_score : array, shape (N, ..., L)
            Scores of the labels; or, of measures of predicted labels, 0 and 1 as integers or booleans.
        logits : array of floats
            Logits in place of ``y_score``.
        mask : array of bool, optional
            Samples with False are left out; broadcasts against (N, ...).
        sample_weight : array, optional
            A weight for each sample; broadcasts against (N, ...). The metric must have been made with
            ``dtype=jax.numpy.float32``.
        **_
            Ignored; for the other metrics of an ``nnx.MultiMetric``.
        """
        y_true = as_jax("labels", one_of(y_true=y_true, labels=labels))
        are_logits = self.from_logits or logits is not None
        y_score = as_jax("y_score", one_of(y_score=y_score, logits=logits))
        layout = self._values.layout
        y_true = check_labels(y_true, "y_true", JAX)  # of floating numbers, as a binary cross-entropy takes them
        axis = check_batch(y_true, y_score, self.num_labels, self.class_axis, -1, layout.kept, JAX)
        samples = jnp.take(y_true, 0, axis=axis)
        weights = self._weights(sample_weight)
        if weights is not None:
            weights = jnp.broadcast_to(weights, samples.shape).reshape(-1)
        if mask is not None:
            mask = jnp.broadcast_to(jnp.asarray(mask), samples.shape).reshape(-1, 1).astype(bool)
        y_true, y_score = flat(y_true, axis, "labels", JAX), jax.lax.stop_gradient(flat(y_score, axis, "y_score", JAX))
        y_score = JAX.to_float(y_score) if JAX.is_float(y_score) else y_score
        order = y_score
        if are_logits and JAX.is_float(y_score):
            y_score = jax.nn.sigmoid(y_score.astype(JAX.widest_float(y_score)))
        elif self.has_probabilities and JAX.is_float(y_score):
            self._look_at_scores(y_true, y_score, mask)
        state = self.state
        thresholds = None if self.thresholds is None else self.thresholds[...]
        found = added(layout, state, Entries(y_true, y_score, order, mask, weights), thresholds, self.ignore_index, JAX)
        self._keep(state.plus(found, buckets=found.buckets))

    def merge_state(self, other: Self | Additive) -> None:
        """Add the counts of another metric or state, such as the sum over several devices.

        Metrics with other thresholds raise an error; a state alone has none.
        """
        if isinstance(other, MultilabelMetric):
            mine, theirs = (x._values.layout for x in (self, other))
            if mine != theirs:
                raise ValueError("merge_state: expected a metric of the same labels, bins and measures, got another")
            for what in ("thresholds", "edges"):
                pair = [getattr(x, what) for x in (self, other)]
                views = [None if x is None else JAX.host_view(x[...]) for x in pair]
                if views[0] is not None and views[1] is not None and not np.array_equal(views[0], views[1]):
                    raise ValueError(f"merge_state: expected a metric with the {what} of this one, got others")
        super().merge_state(other)
