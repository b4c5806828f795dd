"""Measures at every threshold of the curves of a file, and measures of the scores; both on the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

import matrics
from matrics._catalogue.of_scores import spec_of
from matrics._cli.printing import Column, best_of_columns, fold, marked, show, show_blocks, sort, star
from matrics._cli.run import score_columns
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.state_names import CALIBRATION, divided
from matrics._wording import REVERSED, in_percent, listed, plain, with_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

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


MOST_CURVES = 8  # of more there is only a line each
# Recall values whose thresholds are shown: of several curves, and of a single curve.
FEW = (0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1)
MANY = (*(k / 10 for k in range(1, 9)), 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1)


def show_curves(console: Console, run: CurveRun, *, every: bool) -> None:
    """Print what does not depend on a threshold, a line for each curve, and then the tables of thresholds."""
    order = _show_facts(console, run)
    if len(order) > MOST_CURVES:
        remark = f"thresholds of more than {MOST_CURVES} curves: --output writes all"
        show(console, Text(), Text(remark, "dim"))
        return
    recalls = () if every else MANY if len(order) == 1 else FEW
    signs, is_part = set(), False
    for position in order:
        found = run.shown(position, recalls)
        is_part |= len(found.thresholds) < found.count
        signs |= _show_thresholds(console, run, found, run.source.name(position) if run.source.keys else "")
    remarks = ["* best of its measure" + ("" if run.thresholds is not None else " at all thresholds")] * ("*" in signs)
    remarks += ["– undefined"] * ("–" in signs) + ["at inf no sample is predicted as positive"] * ("inf" in signs)
    remarks += ["shown: where recall reaches round numbers, and the best"] * is_part
    if remarks:
        show(console, Text(), Text("; ".join(remarks), "dim"))


def _show_facts(console: Console, run: CurveRun) -> list[int]:
    """The positions of the curves in the order of the table."""
    source = run.source
    facts = [run.facts(position) for position in range(source.count)]
    known = [Column(name, "", HIGHER[name]) for name in HIGHER if name in facts[0]]
    values = np.array([[one[column.label] for column in known] for one in facts])
    best = best_of_columns(known, values)
    order, sorting = sort(known, values, ordered=source.in_order)
    columns = [(name, [Text(f"{facts[k][name]:,}") for k in order]) for name in ("samples", "positives")]
    for i, column in enumerate(known):
        names = [f"{column.label}{end}" for end in ("", "/low", "/high")]
        texts = [with_limits(*(float(facts[k][name]) for name in names)) for k in order]
        cells = [star(text[0], best=bool(best[k, i])) for k, text in zip(order, texts, strict=True)]
        columns.append((fold(column.label, 12), cells))
        columns.append((f"{in_percent(run.level)} limits", [Text(f"[{low}, {high}]") for _, low, high in texts]))
    names = [source.name(k) if source.keys else source.sides[1] for k in order]
    show_blocks(console, source.heading if source.keys else "positive", [Text(plain(name)) for name in names], columns)
    marks = ["* best of its measure"] * bool(best.any()) + ["– undefined"] * bool(np.isnan(values).any())
    notes = "; ".join([*marks, *([sorting] if sorting else [])])
    if notes and source.keys:
        show(console, Text(), Text(notes, "dim"))
    low = [plain(names[i]) for i, k in enumerate(order) if facts[k].get("roc_auc/high", 1.0) < 0.5]
    if low:
        show(console, Text(), Text(f"{listed(low)}: {REVERSED}"))
    return order


def _show_thresholds(console: Console, run: CurveRun, found: Shown, name: str) -> set[str]:
    """Print the table of a curve, and return the signs in it that need a word."""
    show(console, Text(), *([Text(plain(name), "bold")] if name else []))
    head = [Text(text) for text in _told_apart(found.thresholds)]
    columns = [
        (
            fold(column.label),
            [marked(x, best=bool(b)) for x, b in zip(found.values[:, k], found.best[:, k], strict=True)],
        )
        for k, column in enumerate(run.columns)
    ]
    show_blocks(console, "threshold", head, columns)
    signs = {"*": found.best.any(), "–": np.isnan(found.values).any(), "inf": np.isinf(found.thresholds).any()}
    return {sign for sign, is_there in signs.items() if is_there}


def _told_apart(thresholds: Array) -> list[str]:
    """Format thresholds with four digits, or as many as distinguish them from their neighbours."""
    texts = [f"{x:.4g}" for x in thresholds]
    for digits in range(5, 18):
        same = {k for k in range(1, len(texts)) if texts[k] == texts[k - 1] and thresholds[k] != thresholds[k - 1]}
        if not same:
            break
        for k in same | {k - 1 for k in same}:
            texts[k] = f"{thresholds[k]:.{digits}g}"
    return texts
