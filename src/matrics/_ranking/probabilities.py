"""Shared functions of measures of probabilities and class scores: checks, and the mean over samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._counting.labels import broadcast, check_weights, refuse_weights, said
from matrics._engine.evaluation import check_options
from matrics._engine.safety import Safe
from matrics._ranking.inputs import ScoredSamples, read, warn_of_nan

# Reading ------------------------------------------------------------------------------------------------------------


def read_probabilities(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    ignore_index: Any,
    *,
    labels: Any,
    positive: Any,
    keeps_gradient: bool = False,
) -> ScoredSamples:
    """The checked labels and probabilities; a NaN, or an unchecked value out of range, makes its batch element NaN."""
    options: Any = {"labels": labels, "positive": positive, "keeps_gradient": keeps_gradient}
    samples = read(y_true, y_prob, sample_weight, ignore_index, name="y_prob", **options)
    is_bad = not_probabilities(
        samples.scores, "y_prob", samples.backend, "convert logits with the sigmoid or the softmax first"
    )
    return spoiled_where(samples, is_bad)


def read_scores(y_true: Any, scores: Any, sample_weight: Any, ignore_index: Any, *, labels: Any) -> ScoredSamples:
    """The checked labels and scores; a NaN score makes its batch element NaN."""
    samples = read(y_true, scores, sample_weight, ignore_index, labels=labels)
    return spoiled_where(samples, missing(samples.scores, samples.backend))


def read_soft(y_true: Any, scores: Any, sample_weight: Any, *, name: str, has_classes: bool) -> ScoredSamples:
    """The checked soft labels and scores, of class 1 (*B, N) or of every class (*B, N, n)."""
    values = {"y_true": y_true, name: scores}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    own, arrays = as_arrays(**values)
    views = [own.host_view(array) for array in arrays]
    is_on_host = all(view is not None for view in views)
    backend = NUMPY if is_on_host else own
    y_true, scores, *weights = views if is_on_host else arrays
    named_arrays = dict(zip(values, arrays, strict=True))
    shapes = {key: tuple(array.shape) for key, array in named_arrays.items()}
    if min(y_true.ndim, scores.ndim) < 1 + has_classes:
        raise ValueError(f"expected an axis of samples{' and of classes' * has_classes}, got {said(named_arrays)}")
    n = tuple(scores.shape)[-1] if has_classes else None
    if has_classes and y_true.shape[-1] != n:
        raise ValueError(f"expected equal numbers of classes in y_true and {name}, got {said(named_arrays)}")
    scores = backend.to_float(scores)
    weights = [check_weights(weight, backend) for weight in weights]
    labels = y_true[..., 0] if has_classes else y_true
    labels, scores, *weights = broadcast(1, backend, shapes, labels, scores, *weights, has_classes=has_classes)
    y_true = backend.xp.broadcast_to(backend.to_float(y_true), scores.shape)
    y_true = backend.xp.astype(y_true, scores.dtype)
    weight, spoiled = weights[0] if weights else None, None
    if is_on_host and weight is not None:
        refuse_weights(weight, None)
    elif weight is not None:
        is_bad = ~((weight >= 0) & (weight < math.inf))
        weight, spoiled = backend.xp.where(is_bad, 0, weight), backend.xp.any(is_bad, axis=-1)
    warn_of_nan(scores, name, own)
    samples = ScoredSamples(backend, own, y_true, scores, weight, spoiled, n)
    return spoiled_where(samples, not_probabilities(y_true, "y_true", backend))


def not_probabilities(x: Array, name: str, backend: Standard, hint: str = "") -> Array | None:
    """Whether each number is not a probability; None if all are probabilities.

    On the host, a number out of range raises an error with the hint; NaN does not.
    """
    xp = backend.xp
    if not backend.looking_is_free:
        return ~((x >= 0) & (x <= 1))
    if not x.size or (np.min(x) >= 0 and np.max(x) <= 1):  # both comparisons are False for NaN
        return None
    outside = (x < 0) | (x > 1)
    if outside.any():
        first = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(
            f"{name}: expected numbers in [0, 1], got {x[first]} at {first} ({np.count_nonzero(outside)} of {x.size} "
            f"are out of range){hint and f'; {hint}'}"
        )
    return xp.isnan(x)


def missing(x: Array, backend: Standard) -> Array | None:
    """Whether each number is NaN; None if no number is NaN and values can be inspected."""
    if backend.looking_is_free and not np.isnan(np.min(x, initial=0)):  # the minimum is NaN if any number is
        return None
    return backend.xp.isnan(x)


def spoiled_where(samples: ScoredSamples, bad: Array | None) -> ScoredSamples:
    """The samples, with batch elements marked as spoiled if any entry of ``bad``, (*B, N) or (*B, N, n), is true."""
    if bad is None:
        return samples
    batch_ndim = samples.scores.ndim - 1 - (samples.num_classes is not None)
    spoiled = samples.backend.xp.any(bad, axis=tuple(range(batch_ndim, bad.ndim)))
    return samples._replace(spoiled=spoiled if samples.spoiled is None else samples.spoiled | spoiled)


def check_zero_division(zero_division: Any) -> float:
    """The checked replacement of undefined values as a float."""
    check_options(zero_division, "nan")
    return float(zero_division)  # a NumPy scalar would affect the dtype of the results


# Computing ----------------------------------------------------------------------------------------------------------


def of_true_class(samples: ScoredSamples) -> Array:
    """The score of the true class of each sample (*B, N); of another class if the label is out of range."""
    n = samples.scores.shape[-1]
    position = samples.y_true if samples.spoiled is None else samples.backend.clamped(samples.y_true, 0, n - 1)
    return samples.backend.take_along(samples.scores, position[..., None])[..., 0]


def is_class(samples: ScoredSamples) -> Array:
    """Whether each class is the true class (*B, N, n)."""
    xp = samples.backend.xp
    classes = xp.astype(samples.backend.class_index(samples.scores.shape[-1], samples.y_true), samples.y_true.dtype)
    lead = (1,) * samples.y_true.ndim
    return samples.y_true[..., None] == xp.reshape(classes, (*lead, samples.scores.shape[-1]))


def mean(samples: ScoredSamples, values: Array, zero_division: float) -> Array:
    """The weighted mean over samples, (*B,), of values (*B, N); samples with weight 0 are ignored, even if ∞."""
    xp, size = samples.backend.xp, values.shape[-1]
    if samples.weight is not None:
        dtype = samples.backend.widest_float(values)  # weights in float64 may be infinite or 0 in float32
        weight = xp.astype(samples.weight, dtype)
        total = xp.sum(xp.where(weight == 0, 0, xp.astype(values, dtype)) * weight, axis=-1)
        share = Safe(samples.backend, zero_division).divide(total, xp.sum(weight, axis=-1))
        return xp.astype(share, values.dtype)
    total = xp.sum(values, axis=-1)
    return total / size if size else xp.full_like(total, zero_division)


def finish(samples: ScoredSamples, value: Array) -> Array:
    """A result (*B, …) as an array of the user's library, NaN for spoiled batch elements."""
    if samples.spoiled is not None:
        xp = samples.backend.xp
        spoiled = xp.reshape(samples.spoiled, (*samples.spoiled.shape, *(1,) * (value.ndim - samples.spoiled.ndim)))
        value = xp.where(spoiled, math.nan, value)
    return samples.finish(value)
