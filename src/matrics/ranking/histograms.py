"""From labels and scores to histograms of scores by class, and their running sums."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array, Standard, as_arrays
from matrics.counting.labels import (
    broadcast,
    check_labels,
    check_weights,
    is_kept,
    labels_to_ignore,
    listed,
    said,
    widen,
)
from matrics.ranking.bins import decode, place
from matrics.ranking.inputs import ScoredSamples, check_pair
from matrics.ranking.leaves import ScoreLeaves
from matrics.ranking.positive import LEFT_OUT, read_labels
from matrics.ranking.sample_sums import columns_of, sample_sums, values_of
from matrics.states.two_words import TwoWords

# Scores per chunk on the host.
SCORES_AT_ONCE = 2**14


class ScoreHistograms(NamedTuple):
    """What one batch of samples adds to a state."""

    backend: Standard
    counts: Array  # (*B, [n + 1,] K + 2, 2)
    offsets: Array  # (*B, [n + 1,] K + 2)
    dropped: Array  # (*B,)
    sums: Array  # (*B, n, C)


# The arrays of a state that a batch is added to.
ADDED = ScoreHistograms._fields[1:]


def bin_samples(
    y_true: Any,
    scores: Any,
    state: ScoreLeaves,
    *,
    sample_weight: Any,
    ignore_index: Any,
    positive: Any = None,
    logits: Any = None,
) -> ScoreHistograms:
    """Histograms and sums of labels and scores in the shapes of a state.

    Of logits of the same shape, if they are known, the log loss and the order of the classes are exact.
    """
    counts, batch_ndim = state.counts, state.dropped.ndim
    has_classes = counts.ndim - batch_ndim == 3
    if has_classes and positive is not None:
        raise TypeError("positive: expected None, as this state has the scores of each of its classes")
    labels = read_labels(y_true, positive, ignore_index, lambda _: has_classes, is_batch=True)
    values = {"y_true": labels.values, "y_score": scores}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    leaves = {"state": counts, "edges": state.edges, "states": state.states, "sums": state.sums, "top_k": state.top_k}
    own, arrays = as_arrays(**values, **leaves, **({} if logits is None else {"logits": logits}))
    arrays[0] = listed(values["y_true"], arrays[0], "y_true")
    check_pair(arrays[0], arrays[1], "y_score", own, "count them with matrics.ConfusionState")
    check_labels(arrays[0], "y_true", own)
    sample_ndim = max(arrays[0].ndim, arrays[1].ndim - has_classes) - batch_ndim
    batch = tuple(counts.shape[:batch_ndim])
    shapes = {name: tuple(array.shape) for name, array in zip(values, arrays, strict=False)}
    if sample_ndim < 0:
        got = said(dict(zip(values, arrays, strict=False)))
        raise ValueError(f"expected labels and scores with the batch {batch} of the state, got {got}")
    arrays[1:] = [own.detached(array) for array in arrays[1:]]  # counts have no gradient
    views = [own.host_view(array) for array in arrays]
    has_histogram = counts.shape[-2] > 0
    if views[1] is None and not has_histogram:  # scores are converted in parts
        views[1] = own.host_bits(arrays[1])
    is_on_host = all(view is not None for view in views)
    backend = NUMPY if is_on_host else own
    seen: list[Any] = views if is_on_host else arrays
    samples = seen[: len(values)]
    if has_histogram:
        samples[1] = backend.to_float(samples[1])
    if len(samples) > 2:
        samples[2] = check_weights(samples[2], backend)
    _check_classes(samples[0], samples[1], counts.shape[batch_ndim] - 1 if has_classes else None)
    samples = broadcast(sample_ndim, backend, shapes, *samples, has_classes=has_classes)
    if tuple(samples[0].shape[: samples[0].ndim - sample_ndim]) != batch:
        got = said(dict(zip(values, arrays, strict=False)))
        raise ValueError(f"expected labels and scores with the batch {batch} of the state, got {got}")
    ignored = labels_to_ignore(labels.ignored, samples[0], backend)
    if labels.positive is not None and labels.names is None:
        samples[0], ignored = _against_rest(samples[0], labels.positive, ignored, backend)
    with backend.quiet():  # infinite weights
        made = _made(samples, seen[len(values) :], ignored, batch, backend)
    if own is not backend:
        made = [own.from_host(array) for array in made]
    return ScoreHistograms(own, *made)


def _made(
    samples: list[Array], leaves: list[Array], ignored: tuple[int, ...], batch: tuple[int, ...], backend: Standard
) -> list[Array]:
    """Counts, offsets, dropped samples and sums; the leaves of the state, and perhaps logits after them."""
    counts, edges, states, sums, top_k, *logits = leaves
    if counts.shape[-2]:
        edges = decode(edges, states, backend.widest_float(edges), backend)
        made = (_in_parts if backend is NUMPY else _count)(samples, ignored, edges, batch, backend)
    else:
        made = [counts, counts[..., 0], counts]
    if sums.shape[-1]:
        top_k = top_k // states[..., None]
        sums, made[2] = _summed(samples, logits, sums, top_k, ignored=ignored, backend=backend)
    return [*made, sums]


def _summed(
    samples: list[Array],
    logits: list[Array],
    sums: Array,
    top_k: Array,
    *,
    ignored: tuple[int, ...],
    backend: Standard,
) -> tuple[Array, Array]:
    """The sums over samples, and how many are dropped; of one array of logits, or none."""
    y_true, scores, *weights = samples
    y_true = widen(y_true, backend)
    n = scores.shape[-1] if scores.ndim > y_true.ndim else None
    logits = [backend.xp.broadcast_to(backend.to_float(x), scores.shape) for x in logits]
    found = ScoredSamples(
        backend, backend, backend.clamped(y_true, 0, (n or 2) - 1), scores, weights[0] if weights else None, None, n
    )
    values = values_of(found, logits[0] if logits else None, columns_of(sums, top_k))
    is_good, dropped = _judged(y_true, values[0], ignored, n or 2, top_k.ndim - 1, backend)
    return sample_sums(found, is_good, values[1:], sums, top_k), dropped


def _against_rest(
    y_true: Array, positive: int, ignored: tuple[int, ...], backend: Standard
) -> tuple[Array, tuple[int, ...]]:
    """Integers as 0 and 1, below 0 if dropped, and the new labels to leave out."""
    xp, kept = backend.xp, is_kept(y_true, ignored, backend)
    y_true = widen(y_true, backend)
    found = xp.where(y_true == positive, 1, xp.where(y_true < 0, -1, xp.zeros_like(y_true)))
    return (found, ()) if kept is None else (xp.where(kept, found, LEFT_OUT), (LEFT_OUT,))


def _check_classes(y_true: Array, scores: Array, n: int | None) -> None:
    """Raise unless scores have the classes of the state."""
    shapes = f"y_true {tuple(y_true.shape)}, y_score {tuple(scores.shape)}"
    if n is not None and (scores.ndim == 0 or scores.shape[-1] != n):
        raise ValueError(
            f"y_score: expected {n} along the last axis, one for each class of the state, got {shapes}; without "
            "num_classes= a state takes the scores of class 1 of two"
        )
    if n is not None and tuple(y_true.shape) == tuple(scores.shape):
        raise ValueError(
            f"y_true: expected one axis less than y_score has, got {shapes}; of one-hot labels take y_true.argmax(-1)"
        )
    if n is None and scores.ndim > y_true.ndim > 0 and scores.shape[-1] != y_true.shape[-1]:
        raise ValueError(
            f"y_score: expected scores of class 1 for the samples of the labels, got {shapes}; for an axis of classes "
            "make the state with num_classes="
        )


def _in_parts(
    samples: list[Array], ignored: tuple[int, ...], edges: Array, batch: tuple[int, ...], backend: Standard
) -> list[Array]:
    """The same for NumPy arrays, in chunks whose intermediate arrays fit in a cache."""
    shape, size = samples[0].shape, samples[1].size
    if size <= SCORES_AT_ONCE:
        return _count(samples, ignored, edges, batch, backend)
    if not batch:
        trailing = samples[1].shape[len(shape) :]
        samples = [samples[0].reshape(-1), samples[1].reshape(-1, *trailing), *(w.reshape(-1) for w in samples[2:])]
    number = samples[0].shape[0]
    step = max(SCORES_AT_ONCE // (size // number), 1)
    if batch and step == 1:
        parts = [_in_parts([x[i] for x in samples], ignored, edges, batch[1:], backend) for i in range(number)]
        return [np.stack(part) for part in zip(*parts, strict=True)]
    slices = [slice(start, min(start + step, number)) for start in range(0, number, step)]
    lengths = [(part.stop - part.start, *batch[1:]) if batch else () for part in slices]
    parts = [
        _count([x[part] for x in samples], ignored, edges, length, backend)
        for part, length in zip(slices, lengths, strict=True)
    ]
    return [np.concatenate(part) if batch else sum(part) for part in zip(*parts, strict=True)]


def _count(
    samples: list[Array], ignored: tuple[int, ...], edges: Array, batch: tuple[int, ...], backend: Standard
) -> list[Array]:
    """Counts, offsets and dropped samples of arrays of one shape."""
    xp = backend.xp
    y_true, scores, *weights = samples
    y_true = widen(y_true, backend)
    has_classes, dtype = scores.ndim > y_true.ndim, y_true.dtype
    is_missing = xp.isnan(scores)
    is_missing = xp.any(is_missing, axis=-1) if has_classes else is_missing
    is_good, dropped = _judged(y_true, is_missing, ignored, scores.shape[-1] if has_classes else 2, len(batch), backend)
    rows, length = 1, edges.shape[0] + 1
    if has_classes:
        is_good = is_good[..., None]
        scores, is_true = _each_and_top(y_true[..., None], scores, backend)
        rows = scores.shape[-1]
    else:
        is_true = y_true
    are_all_good = backend.looking_is_free and bool(is_good.all())

    def good(x: Array, other: int) -> Array:
        return x if are_all_good else xp.where(is_good, x, other)

    scores = good(scores, 0)
    bins = place(scores, xp.astype(edges, scores.dtype), backend)
    offsets = good(xp.astype(scores, edges.dtype) - backend.look_up(xp.concat([edges[:1], edges]), bins), 0)
    if has_classes:
        starts = xp.astype(backend.class_index(rows, bins), dtype) * length
        bins = bins + xp.reshape(starts, (1,) * (bins.ndim - 1) + (rows,))
    bins = good(bins, rows * length)
    weight = None
    if weights:
        weight = xp.astype(weights[0], edges.dtype)
        weight = xp.broadcast_to(weight[..., None], bins.shape) if has_classes else weight
        offsets = good(offsets * weight, 0)
    number, dtype = math.prod(batch), dtype if weight is None else edges.dtype
    counts = backend.count(2 * bins + good(is_true, 0), number, 2 * rows * length + 2, weight, dtype=dtype)
    sums = backend.count(bins, number, rows * length + 1, offsets, dtype=edges.dtype)
    inner = (*batch, rows, length) if has_classes else (*batch, length)
    counts = xp.reshape(xp.reshape(counts, (*batch, 2 * rows * length + 2))[..., :-2], (*inner, 2))
    return [counts, xp.reshape(xp.reshape(sums, (*batch, rows * length + 1))[..., :-1], inner), dropped]


def _judged(  # noqa: PLR0917 (all is needed)
    y_true: Array, is_missing: Array, ignored: tuple[int, ...], n: int, batch_ndim: int, backend: Standard
) -> tuple[Array, Array]:
    """Which samples count, and how many are dropped (*B,); those that are ignored are neither."""
    xp, dtype = backend.xp, y_true.dtype
    is_good = ~is_missing & (y_true >= 0) & (y_true < n)
    lost = ~is_good
    kept = is_kept(y_true, ignored, backend)
    if kept is not None:
        is_good, lost = is_good & kept, lost & kept
    return is_good, xp.sum(xp.astype(lost, dtype), axis=tuple(range(batch_ndim, lost.ndim)), dtype=dtype)


def _each_and_top(y_true: Array, scores: Array, backend: Standard) -> tuple[Array, Array]:
    """The scores of each class, by whether it is the true one; and the top score, by whether its class is."""
    xp, dtype = backend.xp, y_true.dtype
    best, label = backend.max_and_argmax(scores)
    classes = xp.astype(backend.class_index(scores.shape[-1], y_true), dtype)
    is_class = y_true == xp.reshape(classes, (1,) * (y_true.ndim - 1) + (-1,))
    is_right = y_true == widen(label, backend)[..., None]
    is_true = xp.astype(xp.concat([is_class, is_right], axis=-1), dtype)
    return xp.concat([scores, best[..., None]], axis=-1), is_true


def running(counts: Array, carried: Array | None, backend: Standard) -> Array:
    """Sums of the bins before each, and of all, along the last axis but one: one more entry than bins.

    Counts in two words become floats at the end, from exact sums.
    """
    low = _running(counts, backend)
    if carried is None:
        return low
    return TwoWords(low, _running(carried, backend)).to_float(backend)


def _running(x: Array, backend: Standard) -> Array:
    xp = backend.xp
    x = xp.concat([xp.zeros_like(x[..., :1, :]), x], axis=-2)
    return backend.running_sum(x, -2)
