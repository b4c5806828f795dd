"""Pointwise limits of curves: quantiles of resampled curves at each threshold, false positive rate or recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY
from matrics._arrays.draws import RandomSource, source_of
from matrics._arrays.sizes import check_draws
from matrics._catalogue.classes import TWO
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import evaluate
from matrics._engine.results import NamedResult
from matrics._plot.curve_data import CurveScores
from matrics._progress import steps
from matrics._scoring.score import resolve
from matrics._uncertainty.limits import percentile_limits
from matrics._uncertainty.options import check_level
from matrics.typing import NumPyArray

__all__ = ["Band", "bands_of_models"]

MOST_THRESHOLDS = 400  # at which values are computed in every replicate
WHERE = np.linspace(0, 1, 201)  # false positive rates, or recalls
NUMBERS_AT_ONCE = 2**21


class Band(NamedResult):
    """Pointwise limits of a curve.

    Parameters
    ----------
    x, low, high : array, shape (G,)
        The thresholds or rates, and the limits there.
    """

    x: NumPyArray
    low: NumPyArray
    high: NumPyArray


def bands_of_models(  # noqa: PLR0917 (the inputs and options of the draws)
    models: Sequence[CurveScores], kind: str, measures: Mapping[str, Metric], level: Any, num: Any, rng: Any
) -> list[list[Band]]:
    """The bands of every model; empty for models without a curve.

    Raises
    ------
    TypeError, ValueError
        The level, the number of replicates or the source of random numbers is invalid.
    """
    level, num = check_level(level), check_draws(num)
    empty = Band(np.empty(0), np.empty(0), np.empty(0))
    sources = source_of(rng).split(len(models))
    return [
        [empty] * max(1, len(measures)) if model.problem else _bands(model, kind, measures, level, num, source)
        for model, source in zip(models, sources, strict=True)
    ]


def _bands(  # noqa: PLR0917 (the inputs and options of the draws)
    model: CurveScores, kind: str, measures: Mapping[str, Metric], level: float, num: int, source: RandomSource
) -> list[Band]:
    """A band for each line of a model: a bootstrap of the counts between neighbouring thresholds."""
    thresholds = np.unique(model.scores[np.isfinite(model.scores)])
    if len(thresholds) > MOST_THRESHOLDS:
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, MOST_THRESHOLDS).round().astype(int)]
    bins = np.searchsorted(
        thresholds, model.scores, side="right"
    )  # the number of thresholds that are not above the score
    width = len(thresholds) + 1
    counts = np.bincount(model.y_true * width + bins, minlength=2 * width)
    if measures:
        metrics = list(measures.values())
    else:
        pair = ("fpr", "recall") if kind == "roc" else ("recall", "precision")
        metrics = list(resolve(pair, TWO).values())
    chunk = max(1, NUMBERS_AT_ONCE // (4 * width))
    parts = []
    for start in steps(range(0, num, chunk)):
        number = min(chunk, num - start)
        drawn = source.multinomial(*_drawn_from(counts, source), number)
        parts.append(_values(np.asarray(source.backend.to_numpy(drawn)).reshape(number, 2, width), metrics))
    values = [np.concatenate(column) for column in zip(*parts, strict=True)]  # each (num, T), lowest threshold first
    if measures:
        return [Band(thresholds, *_limits(value[:, :-1], level)) for value in values]
    x, y = (value[:, ::-1] for value in values)
    interpolated = [np.interp(WHERE, a, b) if kind == "roc" else _step(a, b) for a, b in zip(x, y, strict=True)]
    return [Band(WHERE, *_limits(np.stack(interpolated), level))]


def _drawn_from(counts: NumPyArray, source: RandomSource) -> tuple[Any, Any]:
    """The number of samples (1,) and the shares of the cells (1, K), as arrays of the source."""
    xp = source.backend.xp
    total = int(counts.sum())
    shares = source.asarray([(counts / total).tolist()])
    integer = source.backend.widest_int(shares) or xp.int32
    return xp.astype(source.asarray([float(total)]), integer), shares


def _values(drawn: NumPyArray, metrics: list[Metric]) -> list[NumPyArray]:
    """The measures (R, T + 1) of counts (R, 2, T + 1), at ascending thresholds, the last above all scores."""
    above = np.concatenate([drawn[..., ::-1].cumsum(-1)[..., ::-1][..., 1:], np.zeros_like(drawn[..., :1])], axis=-1)
    below = drawn.sum(-1, keepdims=True) - above
    return evaluate(
        np.stack([below, above], axis=-1).transpose(0, 2, 1, 3), [metric.bind() for metric in metrics], invalid="nan"
    )


def _step(recall: NumPyArray, precision: NumPyArray) -> NumPyArray:
    """The precision at the first point with at least this recall; undefined in replicates without positive samples."""
    if np.isnan(recall).any():
        return np.full(len(WHERE), np.nan)
    place = np.searchsorted(recall, WHERE - 1e-12)
    place = np.where(place == 0, 1, np.minimum(place, len(recall) - 1))  # at the first point nothing is predicted
    return np.asarray(precision[place])


def _limits(values: NumPyArray, level: float) -> tuple[NumPyArray, NumPyArray]:
    with NUMPY.quiet():  # measures may be infinite
        return percentile_limits(np.moveaxis(values, 0, -1), level, NUMPY)
