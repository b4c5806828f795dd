"""The door of all functions of scores: labels, scores and weights of samples become arrays of one shape."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics import _backend
from matrics._backend import NUMPY, Array, Standard
from matrics.labels import (
    broadcast,
    check_ignore_index,
    check_labels,
    check_weights,
    is_kept,
    labels_to_ignore,
    listed,
    refuse_outside,
    refuse_weights,
    said,
    widen,
)


class Samples(NamedTuple):
    """Samples as all functions of scores see them, in the library that computes with them."""

    backend: Standard
    own: Standard  # the library of the user, to which results return
    y_true: Array  # (*B, N), integers of the widest kind
    scores: Array  # (*B, N), or (*B, N, n) of classes
    weight: Array | None  # (*B, N), floating; 0 where a label is out of range
    spoiled: Array | None  # (*B,), where a label is out of range or a weight is negative, NaN or infinite
    num_classes: int | None  # None for scores of class 1 of two
    is_weighted: bool = True  # whether the weights are those of the user, and not 0 for samples that are left out

    def finish(self, x: Array) -> Array:
        """A result as an array of the user's library; a single number of NumPy is a scalar, as its own sums are."""
        return returned(x, self.backend, self.own)

    def moved(self, own: Standard) -> Samples:
        """The samples as arrays of a library: beside constants, other arrays may be traced."""
        if self.backend is not NUMPY or own is NUMPY:
            return self
        arrays = {"y_true": self.y_true, "scores": self.scores, "weight": self.weight}
        found: Any = {
            name: None if x is None else own.from_host(np.require(x, requirements=["C", "W"]))
            for name, x in arrays.items()
        }
        return self._replace(backend=own, own=own, **found)


def read(
    y_true: Any,
    scores: Any,
    sample_weight: Any = None,
    ignore_index: Any = None,
    *,
    name: str = "scores",
    has_classes: bool | None = None,
    keeps_gradient: bool = False,
) -> Samples:
    """Arrays of samples in one shape, and whether scores have an axis of classes.

    Scores with one axis more than the labels, and the samples before it, are scores of classes; others are scores of
    class 1 of two, which broadcast against the labels. Labels out of range and bad weights raise where looking is
    free; elsewhere they spoil their own batch element. NaN scores are not looked for here. Samples that are left out
    have weight 0, and harmless labels and scores.

    Parameters
    ----------
    name
        What messages call the scores.
    has_classes
        Whether the last axis of the scores is that of classes; None where the number of axes decides.
    keeps_gradient
        Whether results depend smoothly on the scores, which then stay where gradients are recorded.
    """
    ignored, is_weighted = check_ignore_index(ignore_index), sample_weight is not None
    values = {"y_true": y_true, name: scores}
    if is_weighted:
        values["sample_weight"] = sample_weight
    own, (y_true, scores, *weights) = _backend.as_arrays(**values)
    y_true = listed(values["y_true"], y_true, "y_true")
    check_labels(y_true, "y_true", own, of_any_kind=False)
    if not own.is_float(scores):
        raise TypeError(
            f"{name}: expected floating {name}, got dtype {scores.dtype}; if these are {name}, make them floating; "
            "if they are predicted labels, count them with matrics.confusion_matrix"
        )
    arrays = [y_true, scores if keeps_gradient else own.detached(scores), *weights]
    views = [own.host_view(array) for array in arrays]
    is_on_host = all(view is not None for view in views)
    backend = NUMPY if is_on_host else own
    y_true, scores, *weights = views if is_on_host else arrays
    if has_classes is None:
        has_classes = _has_classes(tuple(y_true.shape), tuple(scores.shape))
    shapes = {key: tuple(array.shape) for key, array in zip(values, (y_true, scores, *weights), strict=True)}
    if min(y_true.ndim, scores.ndim) < 1:
        raise ValueError(f"expected at least one axis of samples, got {said(dict(zip(values, arrays, strict=True)))}")
    scores = backend.to_float(scores)
    weights = [check_weights(weight, backend) for weight in weights]
    y_true, scores, *weights = broadcast(1, backend, shapes, y_true, scores, *weights, has_classes=has_classes)
    n = scores.shape[-1] if has_classes else 2
    if n == 0:
        raise ValueError(f"{name}: expected at least one class along the last axis, got shape {shapes[name]}")
    num_classes, weight = n if has_classes else None, weights[0] if weights else None
    kept = is_kept(y_true, labels_to_ignore(ignored, y_true, backend), backend)
    if kept is not None:
        xp = backend.xp
        y_true = xp.where(kept, widen(y_true, backend), 0)
        scores = xp.where(kept[..., None] if has_classes else kept, scores, 0)
        weight = xp.where(kept, xp.ones_like(kept, dtype=scores.dtype) if weight is None else weight, 0)
    if is_on_host:
        refuse_outside(y_true, n, None, "y_true")
        if weight is not None:
            refuse_weights(weight, None)
        return Samples(backend, own, widen(y_true, backend), scores, weight, None, num_classes, is_weighted)
    xp, y_true = backend.xp, widen(y_true, backend)
    is_bad = (y_true < 0) | (y_true >= n)
    if weight is not None:
        is_bad = is_bad | ~((weight >= 0) & (weight < math.inf))
        weight = xp.where(is_bad, 0, weight)
    return Samples(backend, own, y_true, scores, weight, xp.any(is_bad, axis=-1), num_classes, is_weighted)


def _has_classes(labels: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Whether scores have an axis of classes after that of the samples: the number of axes decides.

    Only scores (M, N) of M models beside labels (N,) have more axes and no classes.
    """
    return len(scores) > len(labels) >= 1 and scores[-2] == labels[-1]


def returned(x: Array, backend: Standard, own: Standard) -> Array:
    """What one library has computed, as an array of the user's; a single number of NumPy is a scalar."""
    if own is backend:
        return x[()] if own is NUMPY else x
    return own.from_host(x)


def is_number(value: Any) -> bool:
    """Whether it is a real number of Python or NumPy."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
