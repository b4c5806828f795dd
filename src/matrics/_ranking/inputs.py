"""Input of all functions of scores: labels, scores and weights become arrays of the same shape."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays, codes_on_device
from matrics._catalogue.classes import Classes
from matrics._counting.codes import in_order
from matrics._counting.labels import (
    broadcast,
    check_labels,
    check_weights,
    is_kept,
    labels_to_ignore,
    listed,
    refuse_axis_of_one,
    refuse_outside,
    refuse_weights,
    said,
    widen,
)
from matrics._engine.evaluation import frames_to_the_user
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.positive import REST, Labels, against_rest, directed, read_labels, two_classes


class ScoredSamples(NamedTuple):
    """The checked samples for functions of scores, in the library of the computation."""

    backend: Standard
    own: Standard  # the library of the user, to which results return
    y_true: Array  # (*B, N), integers of the widest kind
    scores: Array  # (*B, N), or (*B, N, n) of classes
    weight: Array | None  # (*B, N), floating; 0 if a label is out of range
    spoiled: Array | None  # (*B,), whether a label is out of range or a weight is negative, NaN or infinite
    num_classes: int | None  # None for scores of class 1 of two
    is_weighted: bool = True  # whether the weights come from the user, and not only from samples to leave out
    names: tuple[Hashable, Hashable] | None = None  # of the negative and of the positive class, with positive=
    left_out: tuple[int, ...] = ()  # the classes that are ignored, and take no part in averages over classes
    lower_is_positive: bool = False  # whether the sign of the scores was changed

    @property
    def classes(self) -> Classes:
        """The two classes of the confusion matrices at thresholds of these scores."""
        return two_classes(self.names)

    def directed(self, thresholds: Any) -> Any:
        """Thresholds of the user in the direction of ``scores``, or the other way round."""
        return directed(thresholds, lower_is_positive=self.lower_is_positive)

    def finish(self, x: Array) -> Array:
        """A result as an array of the user's library; a single number is a NumPy scalar, as from NumPy's functions."""
        return returned(x, self.backend, self.own)

    def moved(self, own: Standard) -> ScoredSamples:
        """The samples as arrays of another library, whose other arrays may be traced."""
        if self.backend is not NUMPY or own is NUMPY:
            return self
        arrays = {"y_true": self.y_true, "scores": self.scores, "weight": self.weight}
        moved_arrays: Any = {
            name: None if x is None else own.from_host(np.require(x, requirements=["C", "W"]))
            for name, x in arrays.items()
        }
        return self._replace(backend=own, own=own, **moved_arrays)


def of_others(x: Array, left_out: tuple[int, ...], xp: Any, *, axis: int = -1) -> Array:
    """An array with an axis of classes without the classes that are left out."""
    if not left_out:
        return x
    before = (slice(None),) * (axis % x.ndim)
    bounds = zip((0, *(k + 1 for k in left_out)), (*left_out, x.shape[axis]), strict=True)
    return xp.concat([x[(*before, slice(*ends), ...)] for ends in bounds], axis=axis)


OTHERS = "; for other labels pass the class of the scores as positive="
# The sum of rounded probabilities of a sample may differ from 1 by this.
ROUNDING = 1e-3
# The same for many classes whose probabilities are rounded to two digits.
ROUNDING_OF_MANY = 1e-2
# Fewer rows may look like one-hot labels by chance.
FEWEST_ROWS = 5

#: The word for scores in messages, by the name of their argument.
WORDS = {"y_score": "scores", "y_prob": "probabilities", "logits": "logits"}


def read(
    y_true: Any,
    scores: Any,
    sample_weight: Any = None,
    ignore_index: Any = None,
    *,
    labels: Any = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    name: str = "y_score",
    has_classes: bool | None = None,
    keeps_gradient: bool = False,
) -> ScoredSamples:
    """The checked samples, as arrays of the same shape.

    Scores with an axis more than the labels, after the axis of samples, are scores of classes. Others are scores of
    class 1 of two, which broadcast against the labels. Labels out of range and bad weights raise an error where looking
    is free; elsewhere they make their batch element invalid. NaN scores are not checked here. Samples that are left out
    have weight 0, label 0 and score 0.

    Parameters
    ----------
    labels
        The labels of the classes, in the order of the columns of scores; None for the numbers of the columns.
    positive
        The label of the class that the scores are of: the labels become 1 for it, and 0 for all others. Of scores of
        classes it selects this class.
    lower_is_positive
        Whether scores of a class are lower for its samples.
    name
        The name of the scores in messages.
    has_classes
        Whether the last axis of the scores is that of classes; None if the number of axes decides.
    keeps_gradient
        Whether to keep the gradient of the scores, for results that depend on them smoothly.
    """
    is_weighted = sample_weight is not None
    labels_read = read_labels(
        y_true,
        positive,
        ignore_index,
        lambda shape: _has_classes(shape, _shape(scores, name)) if has_classes is None else has_classes,
        labels=labels,
    )
    scores = scores if labels_read.known is None else in_order(scores, labels_read.known, name)
    values = {"y_true": codes_on_device(labels_read.values, y_true, scores), name: scores}
    if is_weighted:
        values["sample_weight"] = sample_weight
    own, (y_true, scores, *weights) = as_arrays(**values)
    y_true = listed(values["y_true"], y_true, "y_true")
    check_pair(y_true, scores, name, own, "count them with matrics.confusion_matrix")
    y_true = check_labels(y_true, "y_true", own, advice=OTHERS.removeprefix("; "))
    refuse_axis_of_one(y_true, scores, -1, name)
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
    scores = _directed(backend.to_float(scores), name, lower_is_positive=lower_is_positive, has_classes=has_classes)
    weights = [check_weights(weight, backend) for weight in weights]
    y_true, scores, *weights = broadcast(1, backend, shapes, y_true, scores, *weights, has_classes=has_classes)
    n = scores.shape[-1] if has_classes else 2
    labels_read.check_number(n, has_classes=has_classes, each=f"a label for each column of {name}")
    if n == 0:
        raise ValueError(f"{name}: expected at least one class along the last axis, got shape {shapes[name]}")
    num_classes, weight = n if has_classes else None, weights[0] if weights else None
    if is_on_host:
        _warn_of_one_hot(y_true, scores, name)
    xp, names, is_bad = backend.xp, labels_read.names, None
    is_kept_sample = is_kept(y_true, labels_to_ignore(labels_read.ignored, y_true, backend), backend)
    y_true = widen(y_true, backend) if is_kept_sample is not None or not is_on_host else y_true
    if labels_read.positive is not None and not has_classes:
        y_true, is_bad, sides = against_rest(widen(y_true, backend), is_kept_sample, labels_read.positive, backend)
        names = names or labels_read.named(sides)
    elif labels_read.known is not None and not has_classes:
        names = (labels_read.known[0], labels_read.known[1])
    if is_kept_sample is not None:
        y_true = xp.where(is_kept_sample, y_true, 0)
        scores = xp.where(is_kept_sample[..., None] if has_classes else is_kept_sample, scores, 0)
        weight = xp.where(
            is_kept_sample, xp.ones_like(is_kept_sample, dtype=scores.dtype) if weight is None else weight, 0
        )
    weight, spoiled = _checked(y_true, weight, is_bad, n, backend, "" if has_classes else OTHERS)
    y_true = widen(y_true, backend)
    ignored = tuple(k for k in range(n) if k in labels_read.ignored) if has_classes and labels_read.ignored else ()
    left_out = ignored if len(ignored) < n else ()
    warn_of_nan(scores, name, own)
    samples = ScoredSamples(
        backend, own, y_true, scores, weight, spoiled, num_classes, is_weighted, names, left_out, lower_is_positive
    )
    return samples if labels_read.positive is None or not has_classes else _of_class(samples, labels_read, name)


def _directed(scores: Array, name: str, *, lower_is_positive: bool, has_classes: bool) -> Array:
    """Scores that are higher in the positive class; raise for those of several classes, of which each has its own."""
    if lower_is_positive and has_classes:
        raise ArgumentError(
            "lower_is_positive", f"expected {name} of a single class with it, got a column for each class"
        )
    return directed(scores, lower_is_positive=lower_is_positive)


def _checked(  # noqa: PLR0917 (all parameters are needed)
    y_true: Array, weight: Array | None, is_bad: Array | None, n: int, backend: Standard, advice: str
) -> tuple[Array | None, Array | None]:
    """The weights, and which batch elements are invalid; on the host bad labels and weights raise an error."""
    if backend is NUMPY:
        refuse_outside(y_true, n, None, "y_true", advice)
        if weight is not None:
            refuse_weights(weight, None)
        return weight, None
    is_bad = (y_true < 0) | (y_true >= n) if is_bad is None else is_bad
    if weight is not None:
        is_bad = is_bad | ~((weight >= 0) & (weight < math.inf))
        weight = backend.xp.where(is_bad, 0, weight)
    return weight, backend.xp.any(is_bad, axis=-1)


def _of_class(samples: ScoredSamples, labels: Labels, name: str) -> ScoredSamples:
    """The samples of the positive class against the rest, from scores of classes."""
    xp, n = samples.backend.xp, samples.scores.shape[-1]
    if name == "logits":
        raise ValueError(
            "positive: expected y_prob= of classes, got logits (*B, N, n); convert them with the softmax first"
        )
    if labels.names is not None:
        raise ValueError(
            f"positive: expected integers in y_true with {name} of every class (*B, N, {n}), as the column of a label "
            f"such as {quoted(labels.names[1])} is unknown; pass labels=, the labels in the order of the columns, or a "
            f"single column, {name}[..., k], and its label"
        )
    if labels.positive is None or not 0 <= labels.positive < n:
        raise ValueError(
            f"positive: expected the number of a class, from 0 to {n - 1}, the index of its column in {name}, got "
            f"{quoted(labels.positive)}"
        )
    y_true = xp.astype(samples.y_true == labels.positive, samples.y_true.dtype)
    scores = samples.scores[..., labels.positive]
    names = labels.named((REST, labels.positive))
    return samples._replace(y_true=y_true, scores=scores, num_classes=None, names=names)


def check_pair(y_true: Array, scores: Array, name: str, own: Standard, instead: str) -> None:
    """Raise an error unless scores are floating; the message explains swapped arguments, and labels as scores."""
    word = WORDS[name]
    if not own.is_float(scores):
        if own.is_float(y_true) and own.is_integer(scores):
            raise TypeError(
                f"y_true: expected labels, got floating numbers with {name} of integers: the labels come first, then "
                f"the {word}"
            )
        raise TypeError(
            f"{name}: expected floating {word}, got dtype {scores.dtype}; if these are {word}, make them floating; "
            f"if they are predicted labels, {instead}"
        )


def _shape(scores: Any, name: str) -> tuple[int, ...]:
    return tuple(as_arrays(**{name: scores})[1][0].shape)


def warn_of_nan(scores: Array, name: str, own: Standard) -> None:
    """Warn of NaN scores of NumPy; with other libraries a warning would depend on the device."""
    if not own.looking_is_free or not np.isnan(np.min(scores, initial=0)):  # the minimum is NaN if any score is
        return
    is_nan = np.isnan(scores)
    first = tuple(int(i) for i in np.argwhere(is_nan)[0])
    warnings.warn(
        f"{name}: expected numbers, got NaN at {first} ({np.count_nonzero(is_nan)} of {is_nan.size} are NaN), so that "
        "values made of these samples are NaN; leave such samples out",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )


def warn_of_sums(samples: ScoredSamples, name: str) -> None:
    """Warn of NumPy probabilities of all classes that do not add up to 1."""
    if samples.num_classes is None or not samples.own.looking_is_free:
        return
    sums = np.add.reduce(samples.scores, axis=-1)
    is_wrong = np.abs(sums - 1) > ROUNDING_OF_MANY
    if samples.weight is not None:
        is_wrong &= samples.weight != 0
    if not is_wrong.any():
        return
    first = tuple(int(i) for i in np.argwhere(is_wrong)[0])
    warnings.warn(
        f"{name}: expected probabilities of the classes that add up to 1, got {sums[first]:.4g} at {first} "
        f"({np.count_nonzero(is_wrong)} of {is_wrong.size} samples); "
        "divide them by their sums, or pass logits to log_loss",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )


def _warn_of_one_hot(y_true: Array, scores: Array, name: str) -> None:
    """Warn of labels with a single 1 in each row and probabilities that add up to 1 in each row: probably one-hot."""
    if y_true.ndim < 2 or y_true.shape != scores.shape or y_true.shape[-1] < 2 or name == "logits":
        return
    labels, probabilities = (x.reshape(-1, x.shape[-1]) for x in (y_true, scores))

    def is_one_hot(part: slice) -> bool:
        with np.errstate(invalid="ignore"):  # infinite scores
            are_probabilities = (probabilities[part] >= 0).all() and (
                np.abs(probabilities[part].sum(axis=-1) - 1) < ROUNDING
            ).all()
        return bool(are_probabilities and ((labels[part] == 1).sum(axis=-1) == 1).all())

    # The first rows are enough to rule out most arrays.
    if len(labels) >= FEWEST_ROWS and is_one_hot(slice(FEWEST_ROWS)) and is_one_hot(slice(None)):
        warnings.warn(
            f"y_true {y_true.shape} and {name} {scores.shape}: every row was treated as the samples of a separate "
            "model; as each row has a single label 1, and probabilities that add up to 1, these may be one-hot labels; "
            "for scores of classes pass y_true.argmax(-1)",
            RuntimeWarning,
            stacklevel=frames_to_the_user(),
        )


def _has_classes(labels: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Whether scores have an axis of classes after the axis of samples, from the shapes.

    Scores (M, N) of M models with labels (N,) have more axes than the labels, but no axis of classes.
    """
    return len(scores) > len(labels) >= 1 and scores[-2] == labels[-1]


def returned(x: Array, backend: Standard, own: Standard) -> Array:
    """A result of a library as an array of the user's library; a single number is a NumPy scalar."""
    if own is backend:
        return x[()] if own is NUMPY else x
    return own.from_host(x)


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
