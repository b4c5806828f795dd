"""Measures at every threshold of the curves of a file, and measures of the scores themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.of_scores import spec_of
from matrics._cli.printing import Column, best_of_columns
from matrics._cli.run import score_columns
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.state_names import CALIBRATION, divided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matrics._catalogue.record import Metric
    from matrics._cli.prevalence import Target
    from matrics._files.scores import Scored

Array = Any

RECALL = "recall[1]"
# What a prevalence does not change, in words.
OF_SAMPLES = "areas and losses: of the samples as they are"
HIGHER = {"roc_auc": True, "average_precision": True, "log_loss": False, "brier_score": False}
# That of the calibration error is drawn, and so it is shown to those who ask for it.
HIGHER |= {CALIBRATION: False}


@dataclass(frozen=True)
class Shown:
    """Some thresholds of a curve, the measures there, and where they are the best of all thresholds."""

    thresholds: Array  # (R,)
    values: Array  # (R, columns)
    best: Array
    count: int  # thresholds in all


@dataclass(frozen=True)
class CurveRun:
    """The curves of one file."""

    source: Scored
    metrics: dict[str, Metric]
    thresholds: Array | None  # None: all
    zero_division: float
    level: float
    target: Target | None = None
    paired_on: str | None = None
    of_scores: tuple[str, ...] = ()  # the measures of scores in the option --metrics

    @property
    def seed(self) -> int | None:
        """Where the limits of the calibration error come from, if it is shown."""
        return 0 if CALIBRATION in self.of_scores else None

    @cached_property
    def columns(self) -> list[Column]:
        """One column per measure, or two for measures of both classes."""
        return score_columns(self.metrics, self.source.sides)

    def curve(self, position: int) -> tuple[Array, Array]:
        """The thresholds (T,) of a curve, and the measures there (T, columns)."""
        found = self._curve(position)
        return found.thresholds, self._stacked(found)

    def _curve(self, position: int, *others: str) -> Any:
        names = list(dict.fromkeys([*map(str, self.metrics.values()), *others]))
        true, scores = self.source.curve(position)
        given: dict[str, Any] = {"unique": True} if self.thresholds is None else {"thresholds": self.thresholds}
        if self.target is not None:
            given["prevalence"] = self.target.shares
        return matrics.ranking.threshold_curve(
            true, scores, names, zero_division=self.zero_division, workers=-1, **given
        )

    def _stacked(self, found: Any) -> Array:
        return np.column_stack([np.asarray(found[str(metric)]) for metric in self.metrics.values()])

    def shown(self, position: int, recalls: Sequence[float]) -> Shown:
        """Thresholds to show: the given ones, or the highest thresholds at which recall reaches each of these values.

        Of measures that are best at none of the latter, the threshold at which they are is among them.
        """
        found = self._curve(position, RECALL)
        values = self._stacked(found)
        best, recall = best_of_columns(self.columns, values), found[RECALL]
        count = len(found.thresholds)
        rows = np.arange(count)
        if recalls and self.thresholds is None and count > len(recalls):
            is_known = not np.isnan(recall).any()
            rows = np.searchsorted(recall, recalls) if is_known else np.linspace(0, count - 1, len(recalls)).astype(int)
            # Where several are the best, the first predicts the fewest samples as positive.
            rest = best.any(axis=0) & ~best[rows].any(axis=0)
            rows = np.unique([*rows, *best.argmax(axis=0)[rest]])
        return Shown(found.thresholds[rows], values[rows], best[rows], count)

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores are between 0 and 1."""
        return all(((scores >= 0) & (scores <= 1)).all() for _, scores in self.source.groups)

    def facts(self, position: int) -> dict[str, float]:
        """What does not depend on a threshold: samples, and measures of the scores."""
        true, scores = self.source.curve(position)
        facts: dict[str, float] = {"samples": len(true), "positives": int(true.sum())}
        usual = [name for name in HIGHER if name != CALIBRATION and (self.are_probabilities or HIGHER[name])]
        names = list(dict.fromkeys([*usual, *self.of_scores]))
        for name, found in matrics.ranking.interval(true, scores, names, level=self.level, rng=self.seed).items():
            facts |= {name: float(found.estimate), f"{name}/low": float(found.low), f"{name}/high": float(found.high)}
        return facts


def names_of_scores(metrics: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The measures of scores among those of the option, by the names of their functions, and the other measures."""
    of_scores, others = divided(metrics, HIGHER)
    return tuple(dict.fromkeys(map(spec_of, of_scores))), others


def read_thresholds(text: str | None) -> tuple[Array | None, bool]:
    """The thresholds of the option, None for all; and whether all are to be shown."""
    if text is None or text == "all":
        return None, text == "all"
    parts = [part for part in text.split(",") if part]
    try:
        given = [float(part) for part in parts]
    except ValueError as error:
        raise ArgumentError("thresholds", f"expected numbers between commas, or all, got {quoted(text)}") from error
    if not given or any(map(math.isnan, given)):
        raise ArgumentError("thresholds", f"expected numbers between commas, or all, got {quoted(text)}")
    return np.asarray(given), True
