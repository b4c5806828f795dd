"""Measures of the scores of each model: areas under curves, and the quality of the probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from matrics.ranking.areas import average_precision, roc_auc
from matrics.ranking.brier import brier_score
from matrics.ranking.calibration import expected_calibration_error
from matrics.ranking.losses import log_loss
from matrics.ranking.variance import roc_auc_variance
from matrics.reporting.data import Data
from matrics.reporting.leaderboard import IntervalSettings

__all__ = ["ModelScores", "area_limits", "model_scores"]


@dataclass(frozen=True)
class ModelScores:
    """Measures of the scores of a model: of one positive class, or the mean over classes, each against the rest.

    Parameters
    ----------
    model : str
        Its name.
    roc_auc, low, high : float
        The area under the ROC curve with DeLong's limits, which the mean over classes does not have.
    average_precision : float
        Of precision over recall.
    prevalence : float
        The share of the positive class; NaN for the mean over classes.
    log_loss, brier_score, calibration_error : float
        Of probabilities; NaN for other scores.
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


def model_scores(data: Data, manner: IntervalSettings) -> list[ModelScores]:
    """The measures of the scores of all models, in the order of the data."""
    if data.scores is None:
        return []
    return [_of_model(data, k, manner) for k in range(len(data.models))]


def _of_model(data: Data, model: int, manner: IntervalSettings) -> ModelScores:
    scores = data.scores
    assert scores is not None  # noqa: S101 (the caller has looked)
    true, values = scores.by_model[model]
    sides = [((true == k).astype(np.int64), values[:, column]) for column, k in enumerate(scores.positives)]
    areas = [float(roc_auc(*side)) for side in sides]
    precisions = [float(average_precision(*side)) for side in sides]
    low = high = prevalence = math.nan
    losses = [math.nan] * 3
    if len(sides) == 1:
        low, high = area_limits(areas[0], float(roc_auc_variance(*sides[0])), manner.level)
        prevalence = float(sides[0][0].mean())
    if scores.are_probabilities:
        # Of all classes the labels have to be the numbers of the columns.
        place = np.argsort(scores.positives)
        outcome, y_prob = sides[0] if len(sides) == 1 else (true, values[:, place])
        losses = [float(measure(outcome, y_prob)) for measure in (log_loss, brier_score, expected_calibration_error)]
    return ModelScores(
        data.models[model], float(np.mean(areas)), low, high, float(np.mean(precisions)), prevalence, *losses
    )


def area_limits(area: float, variance: float, level: float) -> tuple[float, float]:
    """Limits of an area under the ROC curve: DeLong's on the logit scale, which stay between 0 and 1."""
    if not (0 < area < 1 and variance > 0):
        return math.nan, math.nan
    logit = math.log(area / (1 - area))
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance) / (area * (1 - area))
    low, high = (1 / (1 + math.exp(-x)) if x > -700 else 0.0 for x in (logit - reach, logit + reach))
    return low, high
