"""Input of a ScoreState: labels, scores and weights of a batch become the arrays that the batch adds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from matrics._arrays import NUMPY, Array, Standard, as_arrays, codes_on_device
from matrics._counting.codes import in_order
from matrics._counting.labels import (
    broadcast,
    check_labels,
    check_weights,
    is_kept,
    labels_to_ignore,
    listed,
    refuse_axis_of_one,
    said,
    widen,
)
from matrics._ranking.histograms import Counter, Samples, Task, count, select_samples
from matrics._ranking.inputs import ScoredSamples, check_pair
from matrics._ranking.leaves import ADDED, Contents, ScoreLeaves, edges_of
from matrics._ranking.positive import LEFT_OUT, read_labels
from matrics._ranking.sample_sums import columns_of, sample_sums, values_of
from matrics._states.windows import WEIGHED


class ScoreBatch(NamedTuple):
    """The arrays that a batch adds to the leaves of a state.

    The counts and their high words already include those of the state.
    """

    backend: Standard
    counts: Array  # (*B, [n,] K, 2)
    carried: Array
    bins: Array  # (*B, [n,] E + 1, 2)
    rounded: Array  # (*B,)
    dropped: Array  # (*B,)
    calibration: Array  # (*B, R, M + 2, 3)
    sums: Array  # (*B, n, C)


def read_batch(y_true: Any, scores: Any, state: ScoreLeaves, *, in_place: bool = False, **options: Any) -> ScoreBatch:
    """The arrays that a batch of labels and scores, or logits, adds to a state.

    With ``in_place`` the counts of the state change, and no other leaf. The options are those of ``count_into``.
    """
    library, task, leaves, samples = _read(y_true, scores, state, in_place=in_place, **options)
    with task.backend.quiet():  # infinite weights
        arrays = _counted(samples, leaves, task)
        arrays = [*task.counter.finish(), *arrays]
    if library is not task.backend:
        arrays = [library.from_host(array) for array in arrays]
    return ScoreBatch(library, *arrays)


def count_into(y_true: Any, scores: Any, state: ScoreLeaves, *, decay: float | None = None, **options: Any) -> None:
    """Count a batch into the arrays of a state in place; they are NumPy arrays or contiguous tensors.

    Parameters
    ----------
    y_true, scores
        Labels, and scores or logits.
    state
        The leaves to which the batch is added.
    decay
        The factor by which the weights of the state are multiplied before.
    **options
        ``sample_weight``, ``ignore_index``, ``positive``, and ``are_logits``.
    """
    _, task, leaves, samples = _read(y_true, scores, state, in_place=True, **options)
    with task.backend.quiet():
        if decay is not None:
            for name in WEIGHED:
                leaf = getattr(leaves, name)
                leaf *= decay
        additions = _counted(samples, leaves, task)
        task.counter.finish()
        for name, addition in zip(ADDED[1:], additions, strict=True):
            leaf = getattr(leaves, name)
            leaf += addition


def _read(
    y_true: Any,
    scores: Any,
    state: ScoreLeaves,
    *,
    sample_weight: Any,
    ignore_index: Any,
    labels: Any = None,
    positive: Any = None,
    are_logits: bool = False,
    in_place: bool,
) -> tuple[Standard, Task, ScoreLeaves, list[Array]]:
    """The array library of the user, how to count, the leaves and the samples; NumPy arrays if all are on the host."""
    batch_ndim, contents = state.dropped.ndim, Contents.of(state)
    has_classes = contents.num_classes is not None
    if has_classes and positive is not None:
        raise TypeError("positive: expected None, as this state has the scores of each of its classes")
    name = "logits" if are_logits else "y_score"
    labels_read = read_labels(y_true, positive, ignore_index, lambda _: has_classes, labels=labels, is_batch=True)
    labels_read.check_number(
        contents.num_classes or 2, has_classes=has_classes, each="a label for each class of the state"
    )
    scores = scores if labels_read.known is None else in_order(scores, labels_read.known, name)
    values = {"y_true": codes_on_device(labels_read.values, y_true, scores, state.counts), name: scores}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    library, arrays = as_arrays(**values, state=state.counts)
    del arrays[-1]
    arrays[0] = listed(values["y_true"], arrays[0], "y_true")
    check_pair(arrays[0], arrays[1], name, library, "count them with matrics.ConfusionState")
    arrays[0] = check_labels(arrays[0], "y_true", library)
    if has_classes:
        refuse_axis_of_one(arrays[0], arrays[1], -1, name)
    sample_ndim = max(arrays[0].ndim, arrays[1].ndim - has_classes) - batch_ndim
    if sample_ndim < 0:
        _refuse_batch(contents, values, arrays)
    inputs = [arrays[0], *map(library.detached, arrays[1:])]  # counts have no gradient
    bits = library.host_bits(inputs[1])
    views = library.host_views(inputs[0], inputs[1] if bits is None else bits, *inputs[2:], *state)
    backend = library if views is None else NUMPY
    samples, leaves = (inputs, state) if views is None else (views[: len(inputs)], ScoreLeaves(*views[len(inputs) :]))
    if len(samples) > 2:
        samples[2] = check_weights(samples[2], backend)
    _check_classes(samples[0], samples[1], contents.num_classes, name)
    shapes = {key: tuple(array.shape) for key, array in zip(values, arrays, strict=True)}
    samples = broadcast(sample_ndim, backend, shapes, *samples, has_classes=has_classes)
    if tuple(samples[0].shape[: samples[0].ndim - sample_ndim]) != contents.batch:
        _refuse_batch(contents, values, arrays)
    ignored = labels_to_ignore(labels_read.ignored, samples[0], backend)
    if labels_read.positive is not None and labels_read.names is None:
        samples[0], ignored = _against_rest(samples[0], labels_read.positive, ignored, backend)
    samples[0] = widen(samples[0], backend)
    counter = Counter(leaves.counts, leaves.carried, backend, in_place=in_place)
    edges = edges_of(leaves, backend) if contents.num_edges else leaves.edges
    equal = backend.shares(contents.num_bins, leaves.calibration) if contents.num_bins else leaves.edges
    return library, Task(backend, contents, edges, equal, ignored, are_logits, counter), leaves, samples


def _counted(samples: list[Array], leaves: ScoreLeaves, task: Task) -> list[Array]:
    """The arrays that a batch adds to the leaves after the counts."""
    backend, contents, batch = task.backend, task.contents, task.contents.batch
    xp, leaves_to_add_to = backend.xp, (leaves.bins, leaves.rounded, leaves.dropped, leaves.calibration)
    if contents.grid is not None or contents.num_edges or contents.num_bins:
        samples_ndim = samples[0].ndim
        flat = (math.prod(batch), math.prod(samples[0].shape[len(batch) :]))
        flat_samples = [
            x if len(batch) == 1 and samples_ndim == 2 else xp.reshape(x, (*flat, *x.shape[samples_ndim:]))
            for x in samples
        ]
        counted = count(
            Samples(flat_samples[0], flat_samples[1], flat_samples[2] if len(flat_samples) > 2 else None), task
        )
        additions = [xp.reshape(x, leaf.shape) for x, leaf in zip(counted, leaves_to_add_to, strict=True)]
    else:
        additions = [xp.zeros_like(leaf) for leaf in leaves_to_add_to]
    if not contents.has_sums:
        return [*additions, xp.zeros_like(leaves.sums)]
    sums, additions[2] = _summed(samples, leaves, task)
    return [*additions, sums]


def _summed(samples: list[Array], leaves: ScoreLeaves, task: Task) -> tuple[Array, Array]:
    """The sums over samples, and the number of dropped samples."""
    backend, n = task.backend, task.contents.num_classes
    y_true, scores, *weights = samples
    top_k = leaves.top_k // leaves.states[..., None]
    labels_in_range = backend.clamped(y_true, 0, (n or 2) - 1)
    scored = ScoredSamples(backend, backend, labels_in_range, scores, weights[0] if weights else None, None, n)
    values = values_of(scored, columns_of(leaves.sums, top_k), are_logits=task.are_logits)
    is_good, dropped = select_samples(y_true, values[0], task.ignored, n or 2, leaves.dropped.ndim, backend)
    return sample_sums(scored, is_good, values[1:], leaves.sums, top_k), dropped


def _refuse_batch(contents: Contents, names: Iterable[str], arrays: list[Array]) -> None:
    got = said(dict(zip(names, arrays, strict=True)))
    raise ValueError(f"expected labels and scores with the batch {contents.batch} of the state, got {got}")


def _against_rest(
    y_true: Array, positive: int, ignored: tuple[int, ...], backend: Standard
) -> tuple[Array, tuple[int, ...]]:
    """Labels as 0 and 1, or below 0 for dropped samples, and the new labels to leave out."""
    xp, kept = backend.xp, is_kept(y_true, ignored, backend)
    y_true = widen(y_true, backend)
    codes = xp.where(y_true == positive, 1, xp.where(y_true < 0, -1, xp.zeros_like(y_true)))
    return (codes, ()) if kept is None else (xp.where(kept, codes, LEFT_OUT), (LEFT_OUT,))


def _check_classes(y_true: Array, scores: Array, n: int | None, name: str) -> None:
    """Raise an error unless the scores have the classes of the state."""
    shapes = f"y_true {tuple(y_true.shape)}, {name} {tuple(scores.shape)}"
    if n is not None and (scores.ndim == 0 or scores.shape[-1] != n):
        raise ValueError(
            f"{name}: expected {n} along the last axis, a score for each class of the state, got {shapes}; without "
            "num_classes= a state takes the scores of class 1 of two"
        )
    if n is not None and tuple(y_true.shape) == tuple(scores.shape):
        raise ValueError(
            f"y_true: expected an axis less than {name} has, got {shapes}; convert one-hot labels with "
            "y_true.argmax(-1)"
        )
    if n is None and scores.ndim > y_true.ndim > 0 and scores.shape[-1] != y_true.shape[-1]:
        raise ValueError(
            f"{name}: expected scores of class 1 for the samples of the labels, got {shapes}; for an axis of classes "
            "make the state with num_classes="
        )
