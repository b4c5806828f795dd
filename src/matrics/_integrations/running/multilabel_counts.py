"""Batches of samples with several labels: checks, and counts into the states of a MultilabelMetric."""

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
from matrics._integrations.running.multilabel_states import MultilabelStates
from matrics._integrations.running.score_values import MASKED, OUTSIDE
from matrics._multilabel.counting import LabelCounts, LabelSets, count
from matrics._multilabel.state import MultilabelState, grown
from matrics._ranking.batches import count_into
from matrics._ranking.label_ranking import ranking_losses
from matrics._ranking.state import ScoreState


class Entries(NamedTuple):
    """The arrays of a batch in a single library, with the labels last and all other axes flattened."""

    y_true: Array  # (N, L)
    y_score: Array  # (N, L): scores, or predicted labels
    order: Array  # (N, L): the scores for rankings, as saturated probabilities are equal
    mask: Array | None  # (N, 1)
    weights: Array | None  # (N,)


def check_batch(  # noqa: PLR0917 (all arguments are needed)
    y_true: Array,
    y_score: Array,
    num_labels: int,
    class_axis: int | None,
    default_axis: int,
    kept: Kept,
    backend: Standard,
) -> int:
    """The axis of the labels; raises unless the arrays are labels and scores of the same shape."""

    def got() -> str:  # a function, as making the text takes time
        return said({"y_true": y_true, "y_score": y_score})

    if y_true.shape != y_score.shape or y_true.ndim < 2:
        raise ValueError(f"expected labels and scores of the same shape, with axes of samples and labels, got {got()}")
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
    """The array (N, L): the axis of the labels last, and all other axes flattened."""
    x = x if axis in (-1, x.ndim - 1) else class_axis_last(x, axis, name, backend)
    return x if x.ndim == 2 else backend.xp.reshape(x, (-1, x.shape[-1]))


def with_batch(  # noqa: PLR0917 (all arguments are needed)
    states: MultilabelStates,
    kept: Kept,
    entries: Entries,
    thresholds: Array | None,
    ignored: tuple[int, ...],
    backend: Standard,
    *,
    in_place: bool = False,
) -> MultilabelStates:
    """The states after the addition of the entries, by the same operations on the host and in compiled code.

    No value is inspected. With ``in_place`` the arrays of labels and scores change.
    """
    xp, scores = backend.xp, entries.y_score
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
    of_labels, of_scores, losses = states
    if of_labels is not None:
        predicted = scores >= xp.astype(thresholds, scores.dtype)[None, :] if is_float else scores == 1
        spread = None if wide is None else xp.broadcast_to(wide[:, None], y_true.shape)
        given = LabelSets(backend, backend, y_true, predicted, spread, None, masked, may_drop=True)
        of_labels = _with_labels(of_labels, given, kept, lost, backend, in_place=in_place)
    if of_scores is not None:
        used = entries.order if of_scores.counts.shape[-2] else scores
        of_scores = _with_scores(of_scores, y_true, used, wide, masked, backend, in_place=in_place)
    if losses is not None:
        sums = _losses(y_true, xp.where(is_good, entries.order, 0), lost, wide, backend)
        losses = losses.plus(sums, xp.sum(xp.astype(lost, label_dtype(y_true, backend))), backend)
    return MultilabelStates(of_labels, of_scores, losses)


def _with_labels(
    state: MultilabelState, given: LabelSets, kept: Kept, lost: Array, backend: Standard, *, in_place: bool
) -> MultilabelState:
    """The matrices with these labels; unneeded matrices stay 0, but all dropped entries are counted."""
    xp = backend.xp

    def nothing(dropped: Array) -> LabelCounts:
        zeros = xp.zeros((*dropped.shape, 2, 2), dtype=dropped.dtype, **backend.device_option(dropped))
        return LabelCounts(zeros, dropped)

    if kept.labels:
        of_labels = count(given)
    else:
        of_labels = nothing(xp.sum(xp.astype(lost, label_dtype(given.y_true, backend)), axis=0))
    whole = count(given, "whole") if kept.samples else None
    if not in_place:
        return grown(state, of_labels, nothing(of_labels.dropped[:1] * 0) if whole is None else whole)
    for place, rows in ((slice(-1), of_labels), (slice(-1, None), whole)):
        if rows is not None:
            state.counts[place] += rows.matrix
            state.dropped[place] += rows.dropped
    return state


def _with_scores(  # noqa: PLR0917 (all arguments are needed)
    state: ScoreState,
    y_true: Array,
    scores: Array,
    weights: Array | None,
    masked: tuple[int, ...],
    backend: Standard,
    *,
    in_place: bool,
) -> ScoreState:
    """The histograms of all labels with these scores."""
    xp = backend.xp
    y_true, scores = backend.packed(xp.matrix_transpose(y_true)), backend.packed(xp.matrix_transpose(scores))
    spread = None if weights is None else xp.broadcast_to(weights[None, :], y_true.shape)
    options: Any = {"sample_weight": spread, "ignore_index": masked or None}
    if not in_place:
        return state.update(y_true, scores, **options)
    count_into(y_true, scores, state, **options)
    return state


def _losses(y_true: Array, scores: Array, lost: Array, weights: Array | None, backend: Standard) -> Array:
    """The sums (2,) of the ranking losses and of the weights of samples with a label and without dropped entries."""
    xp = backend.xp
    is_true, is_false = y_true == 1, y_true == 0
    each = ranking_losses(is_true, is_false, backend.to_float(scores), backend)
    is_counted = xp.any(is_true | is_false, axis=-1) & ~xp.any(lost, axis=-1)
    weights = xp.where(is_counted, xp.ones_like(each) if weights is None else weights, 0)
    return xp.stack([xp.sum(xp.where(is_counted, each * weights, 0)), xp.sum(weights)])
