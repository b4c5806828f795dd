"""A Flax metric (``nnx.Metric``) of scores: areas, calibration and measures at thresholds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp

from matrics._arrays.jax import JAX
from matrics._counting.labels import check_ignore_index, checked_class_axis, warn_if_either_fits
from matrics._integrations.flax_metric import RunningMetric, as_jax, one_of
from matrics._integrations.score_names import kept_for, look_at_thresholds, read_names
from matrics._integrations.score_values import MASKED, ScoreValues, checked_positive, masked
from matrics._integrations.settings import Undefined, decay_and_dtype
from matrics._ranking.leaves import ADDED
from matrics._ranking.state import ScoreState
from matrics.typing import ArrayLike


class ScoreMetric(RunningMetric):
    """Areas under curves with bounds, calibration, measures at thresholds and losses, from counts on the device.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``. Its variables are the arrays of a :class:`matrics.ScoreState`, of fixed size
    for any number of samples.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, n: scores have an axis of classes. If left out, they are scores of class 1 of two.
    metrics : str, or several of them, optional
        As for :class:`matrics.torch.ScoreMetric`: ``"roc_auc"``, ``"average_precision:class"``, ``"ece"``,
        ``"recall@0.5"``.
    bits : int, optional
        The resolution of the buckets for areas, as in :meth:`matrics.ScoreState.zeros`.
    edges : sequence of float, optional
        Bins of your own for areas, in place of the buckets.
    from_logits : bool, default False
        Scores given as ``y_score=`` are logits as well; those given as ``logits=`` always are. Areas are then of the
        logits, all else is of probabilities.
    bounds : bool, default False
        Whether results have the limits of areas as well, as ``roc_auc_low`` and ``roc_auc_high``.
    num_bins : int, default 15
        Number of bins of the calibration error; each joins neighbouring bins of the histogram.
    prefix : str, default ""
        Prefix of the names of the results, such as ``"val/"``.
    class_names : sequence of str, optional
        Names of the classes in the names of the results; their numbers if left out.
    positive : label or int, optional
        The positive class. Without ``num_classes``: the label that the scores are of, in place of 1. With it: values
        without an average are values of this class against the rest; a name if there are ``class_names``, an index
        otherwise.
    class_axis : int, optional
        The axis of the classes of scores. If left out, the last axis, as for the losses of Optax; with a warning
        if all axes after the first have the same length, so that it could also be axis 1.
    ignore_index : int or sequence of int, optional
        Samples with this true label, or one of these, are left out. If it is one of the classes, averages are over the
        others.
    dtype : dtype, optional
        ``jax.numpy.float32`` for weighted counts (``sample_weight=``); integer counts if left out.
    decay : float, optional
        What earlier counts are multiplied by before each batch is added, above 0 and at most 1: of a stream, an
        exponential moving sum of about the last 1 / (1 - decay) batches. Counts are then floating, of
        the widest ``dtype`` if it is left out.
    zero_division : float, default NaN
        The value of undefined measures, such as the area with only one class; with NaN, undefined classes are left out
        of means.
    fill_undefined : float or None, default 0
        The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run at a
        NaN. With None it stays NaN. Before the first update all values but counts are NaN.
    allow_large : bool, default False
        Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import ScoreMetric
    >>> metric = ScoreMetric(metrics="roc_auc, ece, recall@0.5", prefix="val/")
    >>> metric.update(labels=jnp.array([0, 0, 1, 1]), logits=jnp.array([-2.0, 0.4, -0.1, 3.0]))
    >>> {name: round(value, 3) for name, value in metric.log_dict().items()}
    {'val/roc_auc': 0.75, 'val/ece': 0.323, 'val/recall@0.5': 0.5}
    """

    _summed = (*ADDED, "bins_carried", "calibration_remainders", "remainders")

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        *,
        bits: int | None = None,
        edges: ArrayLike | None = None,
        from_logits: bool = False,
        bounds: bool = False,
        num_bins: int = 15,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        positive: Hashable = None,
        class_axis: int | None = None,
        ignore_index: int | Sequence[int] | None = None,
        dtype: Any = None,
        decay: float | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
    ) -> None:
        self.decay, dtype = decay_and_dtype(decay, dtype, JAX.widest_float(jnp.zeros(())))
        wanted = read_names(metrics, positive, has_classes=num_classes is not None)
        kept = kept_for(wanted, bits=bits, edges=edges, num_bins=num_bins)
        kept |= {"num_classes": num_classes, "allow_large": allow_large}
        state = ScoreState.zeros(**kept, like=jnp.zeros(()), dtype=dtype)
        self._values = ScoreValues.of_state(
            ScoreState.zeros(**kept),  # of NumPy, which computes them once in less time
            num_classes,
            wanted,
            prefix=prefix,
            class_names=class_names,
            positive=positive,
            undefined=Undefined.of(zero_division, fill_undefined),
            bounds=bounds,
            ignored=check_ignore_index(ignore_index),
        )
        self.num_classes = num_classes
        self.positive = checked_positive(positive, num_classes)
        self.from_logits, self.looks_at_thresholds = bool(from_logits), look_at_thresholds(kept)
        self.class_axis = checked_class_axis(class_axis)
        self.ignore_index = check_ignore_index(ignore_index)
        self._hold(state)

    @property
    def state(self) -> ScoreState:
        """The counts so far: a pytree for ``psum``, with every threshold, reliability curves and bounds."""
        found: dict[str, Any] = {name: self._array(name) for name in ScoreState._fields if name != "states"}
        return ScoreState(**found, states=jnp.ones_like(found["dropped"]))

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
        """Count a batch over all its axes, in place: labels (B, T) are B times T samples.

        Parameters
        ----------
        y_true, labels : array of int
            True labels in [0, n), or 0 and 1, under either name. All axes are samples.
        y_score : array of floats
            Probabilities, or other scores, of class 1 or of all classes.
        logits : array of floats
            Logits in place of ``y_score``.
        mask : array of bool, optional
            Samples with False are left out; broadcasts against the labels.
        sample_weight : array, optional
            A weight for each sample; the metric must have been made with ``dtype=jax.numpy.float32``.
        **_
            Ignored; for the other metrics of an ``nnx.MultiMetric``.
        """
        y_true = as_jax("labels", one_of(y_true=y_true, labels=labels))
        are_logits = self.from_logits or logits is not None
        y_score = as_jax("y_score", one_of(y_score=y_score, logits=logits))
        sample_weight = self._weights(sample_weight)
        if self.num_classes is not None and y_score.ndim:
            if self.class_axis is None:
                warn_if_either_fits(y_true, y_score, self.num_classes, -1)
            y_score = jnp.moveaxis(y_score, -1 if self.class_axis is None else self.class_axis, -1)
        if self.looks_at_thresholds and not are_logits:
            self._look_at_scores(y_true, y_score, mask)
        ignore_index: int | tuple[int, ...] = self.ignore_index
        positive = self.positive
        if mask is not None:
            mask = jnp.broadcast_to(jnp.asarray(mask), y_true.shape)
            y_true, ignore_index = masked(y_true, mask, self.ignore_index, self.num_classes, positive, JAX), MASKED
            positive = None
        if sample_weight is not None:
            sample_weight = jnp.broadcast_to(sample_weight, y_true.shape)
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index, "positive": positive}
        options |= {"logits" if are_logits else "y_score": y_score}
        self._keep(self._earlier.update(y_true, **options))
