"""A Flax metric (``nnx.Metric``) of scores: areas, calibration and measures at thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from matrics._backend import Array
from matrics._backend.jax import JAX
from matrics.integrations.flax_inputs import as_jax, as_numbers, one_of
from matrics.integrations.score_values import DEFAULT, MASKED, ScoreValues, masked
from matrics.labels import check_class_axis, check_ignore_index
from matrics.ranking.bins import Spacing
from matrics.ranking.state import ScoreState
from matrics.typing import ArrayLike


class ScoreMetric(nnx.Metric):
    """Areas under curves with bounds, calibration and measures at thresholds, from histograms of scores on the device.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``. Its variables are the arrays of a :class:`matrics.ScoreState`, of fixed size
    however many samples are counted.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, n: scores have an axis of classes. If left out, they are those of class 1 of two.
    metrics : str, or several of them
        As for :class:`matrics.integrations.torch.ScoreMetric`: ``"roc_auc"``, ``"average_precision:class"``, ``"ece"``,
        ``"recall@0.5"``.
    num_bins, low, high, edges, spacing
        The bins, as in :meth:`matrics.ScoreState.zeros`.
    from_logits : bool, default False
        Scores given as ``scores=`` are logits as well; those given as ``logits=`` always are. Logits are turned into
        probabilities: by the logistic function, or by the softmax over classes.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``.
    calibration_bins : int, default 10
        Number of groups of bins for the calibration error: a divisor of the number of bins.
    prefix : str, default ""
        Prefix of the names of the results, such as ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes in the names of the results; their numbers if left out.
    class_axis : int, default -1
        Where the classes of scores are.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out.
    dtype : dtype, optional
        ``jax.numpy.float32`` for weighted counts (``sample_weight=``); integer counts if left out.
    zero_division : float, optional
        The value where it is undefined, as the area of one class only; 0 if left out, and NaN with NaN.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.integrations.flax import ScoreMetric
    >>> metric = ScoreMetric(metrics="roc_auc, ece, recall@0.5", prefix="val/")
    >>> metric.update(labels=jnp.array([0, 0, 1, 1]), logits=jnp.array([-2.0, 0.4, -0.1, 3.0]))
    >>> {name: round(value, 3) for name, value in metric.log_dict().items()}
    {'val/roc_auc': 0.75, 'val/ece': 0.323, 'val/recall@0.5': 0.5}
    """

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] = DEFAULT,
        *,
        num_bins: int = 1000,
        low: float = 0.0,
        high: float = 1.0,
        edges: ArrayLike | None = None,
        spacing: Spacing | None = None,
        from_logits: bool = False,
        bounds: bool = False,
        calibration_bins: int = 10,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        class_axis: int = -1,
        ignore_index: int | Sequence[int] | None = None,
        dtype: Any = None,
        zero_division: float | None = None,
    ) -> None:
        bins: Any = {"num_bins": num_bins, "low": low, "high": high, "edges": edges, "spacing": spacing}
        state = ScoreState.zeros(**bins, num_classes=num_classes, like=jnp.zeros(()), dtype=dtype)
        check_class_axis(class_axis)
        self.values = ScoreValues.of_state(
            state,
            num_classes,
            metrics,
            prefix=prefix,
            class_names=class_names,
            zero_division=zero_division,
            bounds=bounds,
            calibration_bins=calibration_bins,
        )
        # Compute once, so that what cannot be computed raises an error at once.
        self.values.of(ScoreState.zeros(**bins, num_classes=num_classes))
        self.num_classes = num_classes
        self.from_logits = bool(from_logits)
        self.class_axis = class_axis
        self.ignore_index = check_ignore_index(ignore_index)
        self.has_warned = False
        self.counts = nnx.metrics.MetricState(state.counts)
        self.offsets = nnx.metrics.MetricState(state.offsets)
        self.dropped = nnx.metrics.MetricState(state.dropped)
        self.edges = nnx.metrics.MetricState(state.edges)
        # With 64-bit integers it has no elements, and Orbax cannot save such an array.
        self.carried = nnx.metrics.MetricState(state.carried) if state.carried.size else None

    @property
    def state(self) -> ScoreState:
        """The histograms so far: a pytree for ``psum``, with every threshold, reliability curves and bounds."""
        counts, dropped = self.counts[...], self.dropped[...]
        carried = jnp.zeros((*counts.shape[:-2], 0, 0), dropped.dtype) if self.carried is None else self.carried[...]
        return ScoreState(counts, self.offsets[...], dropped, carried, self.edges[...], jnp.ones_like(dropped))

    def _keep(self, state: ScoreState) -> None:
        self.counts[...] = state.counts
        self.offsets[...] = state.offsets
        self.dropped[...] = state.dropped
        if self.carried is not None:
            self.carried[...] = state.carried

    def reset(self) -> None:
        """Set all counts to 0, in place."""
        self._keep(ScoreState(*(jnp.zeros_like(leaf) for leaf in self.state)))

    def update(
        self,
        y_true: Any = None,
        scores: Any = None,
        *,
        labels: Any = None,
        logits: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        """Add the histograms of a batch, in place.

        Parameters
        ----------
        y_true, labels : array of int
            True labels in [0, n), or 0 and 1, under either name. All axes are samples.
        scores : array of floats
            Probabilities, or other scores, of class 1 or of all classes.
        logits : array of floats
            Logits in place of ``scores``.
        mask : array of bool, optional
            Samples where it is False are left out; broadcasts against the labels.
        sample_weight : array, optional
            A weight for each sample; the metric must have been made with ``dtype=jax.numpy.float32``.
        **_
            Ignored; for the other metrics of an ``nnx.MultiMetric``.
        """
        y_true = as_jax("labels", one_of(y_true=y_true, labels=labels))
        are_logits = self.from_logits or logits is not None
        scores = as_jax("scores", one_of(scores=scores, logits=logits))
        if sample_weight is not None and jnp.issubdtype(self.counts.dtype, jnp.integer):
            raise TypeError(
                "sample_weight: expected None, as this metric has integer counts; make it with dtype=jax.numpy.float32 "
                "for weighted ones"
            )
        if self.num_classes is not None and scores.ndim:
            scores = jnp.moveaxis(scores, self.class_axis, -1)
        if are_logits and jnp.issubdtype(scores.dtype, jnp.floating):
            scores = scores.astype(JAX.widest_float(scores))
            scores = jax.nn.sigmoid(scores) if self.num_classes is None else jax.nn.softmax(scores, axis=-1)
        ignore_index: int | tuple[int, ...] = self.ignore_index
        if mask is not None:
            mask = jnp.broadcast_to(jnp.asarray(mask), y_true.shape)
            y_true, ignore_index = masked(y_true, mask, self.ignore_index, self.num_classes, JAX), MASKED
        if sample_weight is not None:
            sample_weight = jnp.broadcast_to(as_jax("sample_weight", sample_weight), y_true.shape)
        self._keep(self.state.update(y_true, scores, sample_weight=sample_weight, ignore_index=ignore_index))

    def merge_state(self, other: ScoreMetric | ScoreState) -> None:
        """Add the histograms of another metric or state, such as the sum over several devices."""
        self._keep(self.state + (other.state if isinstance(other, ScoreMetric) else other))

    def compute(self) -> dict[str, Array]:
        """Each value of all batches so far as a scalar array, under a name for a logger.

        Where samples were dropped, their number is there as ``dropped``, with one warning, on the CPU outside ``jit``;
        there is also one if scores are not in [0, 1] where probabilities are expected.
        """
        named, self.has_warned = self.values.report(self.state, has_warned=self.has_warned)
        return named

    def log_dict(self) -> dict[str, float]:
        """The values of :meth:`compute` as Python's numbers, in one transfer from the device, for a logger."""
        return as_numbers(self.compute())

    def clone(self, prefix: str | None = None) -> ScoreMetric:
        """A copy with counts of its own, perhaps with another prefix: one metric for each phase of training."""
        other: ScoreMetric = nnx.clone(self)
        if prefix is not None:
            other.values = other.values.renamed(prefix)
        return other
