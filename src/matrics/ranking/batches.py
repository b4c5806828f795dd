"""The door of a ScoreState: labels, scores and weights of a batch become what the batch adds to the state."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
from matrics.ranking.histograms import Counter, Samples, Task, count, judged
from matrics.ranking.inputs import ScoredSamples, check_pair
from matrics.ranking.leaves import Contents, ScoreLeaves, edges_of
from matrics.ranking.positive import LEFT_OUT, read_labels
from matrics.ranking.sample_sums import columns_of, sample_sums, values_of


class ScoreBatch(NamedTuple):
    """What a batch adds to the leaves of a state; but the counts and their high words include those of the state."""

    backend: Standard
    counts: Array  # (*B, [n,] K, 2)
    carried: Array
    bins: Array  # (*B, [n,] E + 1, 2)
    rounded: Array  # (*B,)
    dropped: Array  # (*B,)
    calibration: Array  # (*B, R, M + 2, 3)
    sums: Array  # (*B, n, C)


def read_batch(
    y_true: Any,
    scores: Any,
    state: ScoreLeaves,
    *,
    sample_weight: Any,
    ignore_index: Any,
    positive: Any = None,
    are_logits: bool = False,
    in_place: bool = False,
    decay: float | None = None,
) -> ScoreBatch:
    """Count a batch of labels and scores, or logits.

    With ``in_place`` the counts of the state change; they must be an array of NumPy or a tensor, without gaps. With
    ``decay`` they are multiplied by it before.
    """
    batch_ndim, contents = state.dropped.ndim, Contents.of(state)
    has_classes = contents.num_classes is not None
    if has_classes and positive is not None:
        raise TypeError("positive: expected None, as this state has the scores of each of its classes")
    name = "logits" if are_logits else "y_score"
    labels = read_labels(y_true, positive, ignore_index, lambda _: has_classes, is_batch=True)
    values = {"y_true": labels.values, name: scores}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    own, arrays = as_arrays(**values, **{f"state.{key}": leaf for key, leaf in zip(state._fields, state, strict=True)})
    arrays[0] = listed(values["y_true"], arrays[0], "y_true")
    check_pair(arrays[0], arrays[1], name, own, "count them with matrics.ConfusionState")
    check_labels(arrays[0], "y_true", own)
    sample_ndim = max(arrays[0].ndim, arrays[1].ndim - has_classes) - batch_ndim
    shapes = {key: tuple(array.shape) for key, array in zip(values, arrays, strict=False)}
    if sample_ndim < 0:
        _refuse_batch(contents, dict(zip(values, arrays, strict=False)))
    arrays[1:] = [own.detached(array) for array in arrays[1:]]  # counts have no gradient
    views = [own.host_view(array) for array in arrays]
    if views[1] is None:
        views[1] = own.host_bits(arrays[1])
    is_on_host = all(view is not None for view in views)
    backend = NUMPY if is_on_host else own
    seen: list[Any] = views if is_on_host else arrays
    samples, leaves = seen[: len(values)], ScoreLeaves(*seen[len(values) :])
    if len(samples) > 2:
        samples[2] = check_weights(samples[2], backend)
    _check_classes(samples[0], samples[1], contents.num_classes, name)
    samples = broadcast(sample_ndim, backend, shapes, *samples, has_classes=has_classes)
    if tuple(samples[0].shape[: samples[0].ndim - sample_ndim]) != contents.batch:
        _refuse_batch(contents, dict(zip(values, arrays, strict=False)))
    ignored = labels_to_ignore(labels.ignored, samples[0], backend)
    if labels.positive is not None and labels.names is None:
        samples[0], ignored = _against_rest(samples[0], labels.positive, ignored, backend)
    samples[0] = widen(samples[0], backend)
    with backend.quiet():  # infinite weights
        counter = Counter(leaves.counts, leaves.carried, backend, in_place=in_place, decay=decay)
        edges = edges_of(leaves, backend) if contents.num_edges else leaves.edges
        task = Task(backend, contents, edges, ignored, are_logits, counter)
        made = _counted(samples, leaves, task)
        made = [*counter.finish(), *made]
    if own is not backend:
        made = [own.from_host(array) for array in made]
    return ScoreBatch(own, *made)


def _counted(samples: list[Array], leaves: ScoreLeaves, task: Task) -> list[Array]:
    """What a batch adds to the leaves behind the counts."""
    backend, contents, batch = task.backend, task.contents, task.contents.batch
    xp, grown = backend.xp, (leaves.bins, leaves.rounded, leaves.dropped, leaves.calibration)
    made = [xp.zeros_like(leaf) for leaf in grown]
    if contents.grid is not None or contents.num_edges or contents.num_bins:
        samples_ndim = samples[0].ndim
        flat = (math.prod(batch), math.prod(samples[0].shape[len(batch) :]))
        one_axis = [
            x if len(batch) == 1 and samples_ndim == 2 else xp.reshape(x, (*flat, *x.shape[samples_ndim:]))
            for x in samples
        ]
        found = count(Samples(one_axis[0], one_axis[1], one_axis[2] if len(one_axis) > 2 else None), task)
        made = [xp.reshape(x, leaf.shape) for x, leaf in zip(found, grown, strict=True)]
    if not contents.has_sums:
        return [*made, xp.zeros_like(leaves.sums)]
    sums, made[2] = _summed(samples, leaves, task)
    return [*made, sums]


def _summed(samples: list[Array], leaves: ScoreLeaves, task: Task) -> tuple[Array, Array]:
    """The sums over samples, and how many are dropped."""
    backend, n = task.backend, task.contents.num_classes
    y_true, scores, *weights = samples
    top_k = leaves.top_k // leaves.states[..., None]
    inside = backend.clamped(y_true, 0, (n or 2) - 1)
    found = ScoredSamples(backend, backend, inside, scores, weights[0] if weights else None, None, n)
    values = values_of(found, columns_of(leaves.sums, top_k), are_logits=task.are_logits)
    is_good, dropped = judged(y_true, values[0], task.ignored, n or 2, leaves.dropped.ndim, backend)
    return sample_sums(found, is_good, values[1:], leaves.sums, top_k), dropped


def _refuse_batch(contents: Contents, arrays: dict[str, Array]) -> None:
    raise ValueError(f"expected labels and scores with the batch {contents.batch} of the state, got {said(arrays)}")


def _against_rest(
    y_true: Array, positive: int, ignored: tuple[int, ...], backend: Standard
) -> tuple[Array, tuple[int, ...]]:
    """Integers as 0 and 1, below 0 if dropped, and the new labels to leave out."""
    xp, kept = backend.xp, is_kept(y_true, ignored, backend)
    y_true = widen(y_true, backend)
    found = xp.where(y_true == positive, 1, xp.where(y_true < 0, -1, xp.zeros_like(y_true)))
    return (found, ()) if kept is None else (xp.where(kept, found, LEFT_OUT), (LEFT_OUT,))


def _check_classes(y_true: Array, scores: Array, n: int | None, name: str) -> None:
    """Raise unless scores have the classes of the state."""
    shapes = f"y_true {tuple(y_true.shape)}, {name} {tuple(scores.shape)}"
    if n is not None and (scores.ndim == 0 or scores.shape[-1] != n):
        raise ValueError(
            f"{name}: expected {n} along the last axis, one for each class of the state, got {shapes}; without "
            "num_classes= a state takes the scores of class 1 of two"
        )
    if n is not None and tuple(y_true.shape) == tuple(scores.shape):
        raise ValueError(
            f"y_true: expected one axis less than {name} has, got {shapes}; of one-hot labels take y_true.argmax(-1)"
        )
    if n is None and scores.ndim > y_true.ndim > 0 and scores.shape[-1] != y_true.shape[-1]:
        raise ValueError(
            f"{name}: expected scores of class 1 for the samples of the labels, got {shapes}; for an axis of classes "
            "make the state with num_classes="
        )
