"""A batch of samples with several labels, as what it adds to the sums of a MultilabelMetric."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics._arrays import Array, Standard
from matrics._counting.labels import (
    check_labels,
    class_axis_last,
    is_kept,
    label_dtype,
    labels_to_ignore,
    said,
    warn_if_ambiguous,
    widen,
)
from matrics._integrations.running.multilabel_names import Kept
from matrics._integrations.running.multilabel_sums import Layout, MultilabelSums
from matrics._integrations.running.score_values import MASKED, OUTSIDE
from matrics._multilabel.counting import LabelSets, count
from matrics._ranking.batches import ScoreBatch, read_batch
from matrics._ranking.label_ranking import ranking_losses


class Entries(NamedTuple):
    """A batch with the labels last, all other axes one, in one library."""

    y_true: Array  # (N, L)
    y_score: Array  # (N, L): scores, or predicted labels
    order: Array  # (N, L): the scores of which the order counts, as saturated probabilities are equal
    mask: Array | None  # (N, 1)
    weights: Array | None  # (N,)


class Added(NamedTuple):
    """What a batch adds to ``MultilabelSums``; but the buckets and their high words include those of the sums."""

    counts: Array
    dropped: Array
    buckets: tuple[Array, Array]
    bins: Array
    rounded: Array
    sums: Array


def check_batch(  # noqa: PLR0917 (all is needed)
    y_true: Array,
    y_score: Array,
    num_labels: int,
    class_axis: int | None,
    default_axis: int,
    kept: Kept,
    backend: Standard,
) -> int:
    """The axis of the labels; raises unless the arrays are labels and scores of one shape."""

    def got() -> str:  # text takes time
        return said({"y_true": y_true, "y_score": y_score})

    if y_true.shape != y_score.shape or y_true.ndim < 2:
        raise ValueError(f"expected labels and scores of one shape, with axes of samples and labels, got {got()}")
    if not backend.is_float(y_score):
        if kept.scores:
            raise TypeError(
                f"y_score: expected floating scores for areas and the ranking loss, got dtype {y_score.dtype}"
            )
        check_labels(y_score, "y_score", backend)
    axis = default_axis if class_axis is None else class_axis
    if class_axis is None and y_true.ndim > 2:
        warn_if_ambiguous(tuple(y_true.shape), num_labels, default_axis, "y_true")
    if not -y_true.ndim <= axis < y_true.ndim or y_true.shape[axis] != num_labels:
        other = 1 if axis == -1 else -1
        hint = f"; axis {other} has as many: pass class_axis={other}" if y_true.shape[other] == num_labels else ""
        raise ValueError(f"expected {num_labels} labels along class_axis={axis}, got {got()}{hint}")
    return axis


def flat(x: Array, axis: int, name: str, backend: Standard) -> Array:
    """The array (N, L): the axis of the labels last, and all others one."""
    x = x if axis in (-1, x.ndim - 1) else class_axis_last(x, axis, name, backend)
    return x if x.ndim == 2 else backend.xp.reshape(x, (-1, x.shape[-1]))


def added(  # noqa: PLR0917 (all is needed)
    layout: Layout,
    state: MultilabelSums,
    entries: Entries,
    thresholds: Array | None,
    ignored: tuple[int, ...],
    backend: Standard,
    *,
    in_place: bool = False,
) -> Added:
    """What the entries add, by the same operations on the host and in compiled code; no value is inspected there.

    With ``in_place`` the buckets of the state change.
    """
    xp, kept, scores = backend.xp, layout.kept, entries.y_score
    y_true = widen(entries.y_true, backend)
    is_float = backend.is_float(scores)
    is_good = ((y_true == 0) | (y_true == 1)) & (~xp.isnan(scores) if is_float else (scores == 0) | (scores == 1))
    counted = is_kept(y_true, labels_to_ignore(ignored, entries.y_true, backend), backend)
    if entries.mask is not None:
        counted = entries.mask if counted is None else counted & entries.mask
        counted = xp.broadcast_to(counted, y_true.shape)
    lost = ~is_good if counted is None else ~is_good & counted
    if not (backend.looking_is_free and bool(is_good.all())):
        y_true = xp.where(is_good, y_true, OUTSIDE)
    if counted is not None:
        y_true = xp.where(counted, y_true, MASKED)
    masked = () if counted is None else (MASKED,)
    weights = entries.weights
    wide = None if weights is None else xp.astype(weights, backend.widest_float(weights))
    parts: list[Array] = []
    if kept.predictions:
        predicted = scores >= xp.astype(thresholds, scores.dtype)[None, :] if is_float else scores == 1
        spread = None if wide is None else xp.broadcast_to(wide[:, None], y_true.shape)
        given = LabelSets(backend, backend, y_true, predicted, spread, None, masked, may_drop=True)
        parts += [count(given).matrix] if kept.labels else []
        parts += [count(given, "whole").matrix[..., 0, 1, :]] if kept.samples else []
    buckets, bins, rounded = (state.buckets, state.buckets_carried), state.bins, state.rounded
    sums = state.sums
    if kept.histogram:
        of_scores = entries.order if layout.has_buckets else scores
        found = _binned(layout, state, y_true, of_scores, wide, masked, backend, in_place=in_place)
        buckets, bins, rounded = (found.counts, found.carried), found.bins, found.rounded
    if kept.losses:
        total, number = _losses(y_true, xp.where(is_good, entries.order, 0), lost, wide, backend)
        sums = xp.reshape(total, (1,))
        parts.append(number)
    counts = [xp.astype(xp.reshape(part, (-1,)), state.counts.dtype) for part in parts] or [state.counts]
    dropped = xp.sum(xp.astype(lost, label_dtype(y_true, backend)))
    counted = counts[0] if len(counts) == 1 else xp.concat(counts)
    return Added(counted, dropped, buckets, bins, rounded, sums)


def _binned(  # noqa: PLR0917 (all is needed)
    layout: Layout,
    state: MultilabelSums,
    y_true: Array,
    scores: Array,
    weights: Array | None,
    masked: tuple[int, ...],
    backend: Standard,
    *,
    in_place: bool,
) -> ScoreBatch:
    """The histograms of each label."""
    xp = backend.xp
    y_true, scores = backend.packed(xp.matrix_transpose(y_true)), backend.packed(xp.matrix_transpose(scores))
    spread = None if weights is None else xp.broadcast_to(weights[None, :], y_true.shape)
    options: Any = {"sample_weight": spread, "ignore_index": masked or None}
    return read_batch(y_true, scores, layout.rows(state), **options, in_place=in_place)


def _losses(y_true: Array, scores: Array, lost: Array, weights: Array | None, backend: Standard) -> tuple[Array, Array]:
    """The sum of the ranking losses, and of how many samples: those with a label, of which none is dropped."""
    xp = backend.xp
    is_true, is_false = y_true == 1, y_true == 0
    each = ranking_losses(is_true, is_false, backend.to_float(scores), backend)
    is_counted = xp.any(is_true | is_false, axis=-1) & ~xp.any(lost, axis=-1)
    if weights is None:
        weights = xp.ones_like(each)
    weights = xp.where(is_counted, weights, 0)
    return xp.sum(xp.where(is_counted, each * weights, 0)), xp.sum(weights)
