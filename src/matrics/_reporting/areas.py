"""Measures of the scores of each model: areas under curves, and the quality of the probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matrics._ranking.calibration import expected_calibration_error
from matrics._ranking.inference.compare import compare
from matrics._ranking.inference.interval import interval
from matrics._ranking.inference.measure_estimates import formula_of
from matrics._ranking.inference.names import read_measures
from matrics._reporting.data import Data
from matrics._reporting.leaderboard import IntervalSettings, repeats
from matrics._reporting.verdicts import Limited, best_of
from matrics._uncertainty.results import Interval
from matrics._wording import listed

__all__ = ["BINS", "ModelScores", "area_test", "best_area", "model_scores"]

AREAS, LOSSES = ("roc_auc", "average_precision"), ("log_loss", "brier_score")
# The number of bins of the calibration error, which have equal numbers of samples.
BINS = 15
# With more models, the differences of all pairs take too long.
MOST_MODELS = 60


@dataclass(frozen=True)
class ModelScores:
    """Measures of the scores of a model, for a single positive class or as means over all classes (one-vs-rest).

    Parameters
    ----------
    model : str
        The name of the model.
    roc_auc, low, high : float
        The area under the ROC curve with its limits.
    average_precision : float
        The average precision over all thresholds.
    prevalence : float
        The share of the positive class; NaN for the mean over classes.
    log_loss, brier_score, calibration_error : float
        Measures of probabilities; NaN for other scores.
    limits : dict of str to tuple of float
        The lower and upper limit of ``average_precision``, ``log_loss`` and ``brier_score``; NaN if there are none.
    status : int
        The code of :class:`matrics.IntervalStatus` for the area.
    methods : dict of str to str
        The method of the limits of each measure.
    """

    model: str
    roc_auc: float
    low: float
    high: float
    average_precision: float
    prevalence: float
    log_loss: float
    brier_score: float
    calibration_error: float
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    status: int = 0
    methods: dict[str, str] = field(default_factory=dict)

    @property
    def area(self) -> Limited:
        """The area under the ROC curve with its limits."""
        return Limited(self.roc_auc, self.low, self.high, self.status)


def model_scores(data: Data, settings: IntervalSettings) -> list[ModelScores]:
    """The measures of the scores of all models, in the order of the data."""
    if data.scores is None:
        return []
    return [_of_model(data, k, settings) for k in range(len(data.models))]


def best_area(data: Data, settings: IntervalSettings) -> str:
    """A sentence on the model with the largest area under the ROC curve and the models not significantly different.

    It is empty unless all models have scored the same samples.
    """
    number = len(data.models)
    if data.scores is None or data.paired is None or not 2 <= number <= MOST_MODELS:
        return ""
    true = data.scores.by_model[0][0]
    if len(np.unique(true)) < 2:
        return ""
    _, values = _sides(data, 0)
    scores = np.stack([_sides(data, k)[1] for k in range(number)])
    labels = true if values.ndim == 2 else (true == data.scores.positives[0]).astype(np.int64)
    options: dict[str, Any] = {"level": settings.level, "rng": settings.seed, "clusters": _clusters(data)}
    comparison = compare(labels, scores, "roc_auc", **options)["roc_auc"]
    if np.ptp(comparison.intervals.estimate) == 0:
        return "All models have the same area under the ROC curve."
    best = best_of(comparison.intervals.estimate, 1)
    if best is None:
        return ""
    tied = [data.models[k] for k in np.flatnonzero(comparison.tied) if k != best]
    same = f"; {listed(tied)} {'is' if len(tied) == 1 else 'are'} not significantly different from it" if tied else ""
    test = f"{area_test(data)}{', corrected for all pairs' if number > 2 else ''}"
    return f"{data.models[best]} has the largest area under the ROC curve{same} ({test})."


def area_test(data: Data) -> str:
    """The name of the test that compares the areas of models on the same samples."""
    if data.scores is None or len(data.scores.positives) > 1:
        return "a test by the influence of each sample on the mean over classes"
    return "DeLong's test on the same samples" if repeats(data) == 1 else "Obuchowski's test, with samples as clusters"


def _of_model(data: Data, model: int, settings: IntervalSettings) -> ModelScores:
    scores = data.scores
    assert scores is not None  # noqa: S101 (the caller has looked)
    true, values = _sides(data, model)
    has_classes = values.ndim == 2
    names = (*AREAS, *(LOSSES if scores.are_probabilities else ()))
    # Areas are averaged over the classes that have a column of scores.
    options: dict[str, Any] = {"level": settings.level, "clusters": _clusters(data)}
    intervals = interval(true, values, names, **options)
    nan, none = np.float64(math.nan), np.int64(0)
    nothing = Interval(nan, nan, nan, nan, none, none)
    calibration = (
        float(expected_calibration_error(true, values, bins="mass", num_bins=BINS))
        if scores.are_probabilities
        else math.nan
    )
    parts = {name: intervals.get(name, nothing) for name in (*AREAS, *LOSSES)}
    area = parts["roc_auc"]
    return ModelScores(
        model=data.models[model],
        roc_auc=float(area.estimate),
        low=float(area.low),
        high=float(area.high),
        average_precision=float(parts["average_precision"].estimate),
        prevalence=math.nan if has_classes else float(true.mean()),
        log_loss=float(parts["log_loss"].estimate),
        brier_score=float(parts["brier_score"].estimate),
        calibration_error=calibration,
        limits={name: (float(part.low), float(part.high)) for name, part in parts.items() if name != "roc_auc"},
        status=int(area.status),
        methods={
            name: formula_of(measure, "auto") for name, measure in read_measures(names, are_probabilities=True).items()
        },
    )


def _sides(data: Data, model: int) -> tuple[Any, Any]:
    """The labels and scores of a model: binary labels with a single column, or class labels with a column for each."""
    scores = data.scores
    assert scores is not None  # noqa: S101 (the callers have looked)
    true, values = scores.by_model[model]
    if len(scores.positives) == 1:
        return (true == scores.positives[0]).astype(np.int64), values[:, 0]
    # A label is the index of its column.
    return true, values[:, np.argsort(scores.positives)]


def _clusters(data: Data) -> Any:
    """The sample of each prediction if samples are repeated, else None."""
    return data.paired.samples if data.paired is not None and repeats(data) > 1 else None
