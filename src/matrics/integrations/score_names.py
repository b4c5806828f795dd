"""The names of the values of a ScoreMetric: what they ask for, and what a state has to keep for them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics.arrays.sizes import check_count
from matrics.catalogue.classes import TWO, Classes
from matrics.catalogue.record import Metric
from matrics.catalogue.registry import options_of
from matrics.integrations.settings import are_counts, of_nothing
from matrics.quoting import quoted, split_outside
from matrics.ranking.odds import at_threshold
from matrics.ranking.positive import REST
from matrics.scoring.score import resolve

CALIBRATION = "expected_calibration_error"
AREAS = ("macro", "weighted", "micro", "class")
LOSSES = ("log_loss", "brier_score")
HITS = ("top_k_accuracy", "top_k_recall")
# The names, the methods of a ScoreState, and what may follow a colon in the name.
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "roc_auc": ("roc_auc", AREAS),
    "average_precision": ("average_precision", AREAS),
    CALIBRATION: (CALIBRATION, ("top_label", "class_wise")),
    "ece": (CALIBRATION, ("top_label", "class_wise")),
    "log_loss": ("log_loss", ()),
    "brier_score": ("brier_score", ()),
    "top_k_accuracy": ("top_k_accuracy", ()),
    "top_k_recall": ("top_k_recall", ("macro", "weighted", "class")),
}
DEFAULT = ("roc_auc", "average_precision", CALIBRATION)
# As in matrics.top_k_accuracy.
DEFAULT_K = 5


@dataclass(frozen=True)
class ScoreValue:
    """One of the values: a method of the state, or a measure of the catalogue at one of its thresholds."""

    key: str
    name: str  # of a method, or of a measure
    option: str | None = None  # what follows the colon
    k: int | None = None  # how many of the highest scores count
    threshold: str | None = None
    place: int | None = None  # among the thresholds of the state, or among its k
    metric: Metric | None = None  # the measure at a threshold
    is_count: bool = False  # and so 0 before the first sample


def is_of_scores(name: str) -> bool:
    """Whether the name asks for a value of scores; otherwise it is a measure of a confusion matrix.

    >>> is_of_scores("top_k_accuracy(k=5)"), is_of_scores("recall@0.5"), is_of_scores("recall:class")
    (True, True, False)
    """
    return "@" in name or re.split(r"[:(\[]", name)[0].strip() in METHODS


def read_names(metrics: str | Iterable[str] | None, positive: Any, *, has_classes: bool) -> tuple[ScoreValue, ...]:
    """The values that are asked for; raises for names that are none."""
    found = [_read(name, positive, has_classes=has_classes) for name in _names(DEFAULT if metrics is None else metrics)]
    return tuple(dict.fromkeys(value for several in found for value in several))


def kept_for(wanted: Sequence[ScoreValue]) -> dict[str, Any]:
    """What a state has to keep for the values, as options of ``ScoreState.zeros``; no bins if none needs them."""
    places = list(dict.fromkeys(value.k for value in wanted if value.k is not None))
    kept: dict[str, Any] = {"losses": any(value.name in LOSSES for value in wanted), "top_k": places or None}
    if all(value.name in (*LOSSES, *HITS) and value.metric is None for value in wanted):
        kept |= {"histogram_bins": 0, "low": 0.0, "high": 1.0, "edges": None, "spacing": None}
    return kept


def placed(wanted: Sequence[ScoreValue], thresholds: np.ndarray | None) -> tuple[ScoreValue, ...]:
    """The values with their places in a state of these thresholds, if it has any."""
    places = kept_for(wanted)["top_k"]
    return tuple(
        replace(value, place=places.index(value.k))
        if value.k is not None
        else replace(value, place=_place(value.key, value.threshold, thresholds))
        if value.threshold is not None and thresholds is not None
        else value
        for value in wanted
    )


def _names(metrics: str | Iterable[str]) -> list[str]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(metrics)}")
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(given)}")
    names = [part.strip() for name in given for part in split_outside(name) if part.strip()]
    if not names:
        raise ValueError("metrics: expected at least one name, got none")
    return list(dict.fromkeys(names))


def _read(key: str, positive: Any, *, has_classes: bool) -> list[ScoreValue]:
    """The values of one name: several for several k."""
    measure, at, threshold = key.rpartition("@")
    if at:
        if has_classes and any(metric.classes for metric in resolve(measure).values()):
            raise ValueError(
                "metrics: expected no class in square brackets where each class is scored against the rest, got "
                f"{quoted(key)}: positive= picks one class, and without it there is a value for each"
            )
        is_one = positive is not None and not has_classes
        known = Classes(2, (REST, positive), by_construction=True) if is_one else TWO
        chosen = list(resolve(_at(measure, threshold), known).values())
        if len(chosen) != 1 or chosen[0].is_classwise:
            raise ValueError(f"metrics: expected one measure, with one value, before @, got {quoted(key)}")
        (is_count,) = are_counts(of_nothing(chosen, 2, has_cells=True))
        return [ScoreValue(key, chosen[0].spec, threshold=threshold.strip(), metric=chosen[0], is_count=is_count)]
    return _of_state(key, has_classes=has_classes)


def _at(measure: str, threshold: str) -> Any:
    """The measure with the odds of the threshold, if it awaits them."""
    try:
        return at_threshold(measure, float(threshold))
    except ValueError:  # no number, which is said where thresholds are looked up
        return measure


def _of_state(key: str, *, has_classes: bool) -> list[ScoreValue]:
    """The values of the name of a method of states."""
    head, colon, option = key.partition(":")
    name, bracket, rest = head.partition("(")
    if name not in METHODS:
        raise ValueError(
            f"metrics: expected {', '.join(METHODS)}, or a measure at a threshold, such as 'recall@0.5', got "
            f"{quoted(key)}"
        )
    method, options = METHODS[name]
    if name in HITS and not has_classes:
        raise ValueError(f"metrics: expected num_classes= for {quoted(key)}, as scores of class 1 of two have no order")
    if colon and not has_classes:
        raise ValueError(
            f"metrics: expected {quoted(name)}, because there is no average without num_classes=, got {quoted(key)}"
        )
    if colon and option not in options:
        some = f", possibly with one of :{', :'.join(options)}" if options else " alone"
        raise ValueError(f"metrics: expected {quoted(head)}{some}, got {quoted(key)}")
    given = options_of(bracket, rest, key)
    if name not in HITS and not bracket:
        return [ScoreValue(key, method, option or None)]
    if name not in HITS or set(given) - {"k"}:
        what = f"k= alone in brackets, such as '{name}(k=5)'" if name in HITS else f"{quoted(name)}, without options"
        raise ValueError(f"metrics: expected {what}, got {quoted(key)}")
    if "k" not in given:
        return [ScoreValue(key, method, option or None, DEFAULT_K)]
    return [ScoreValue(f"{name}(k={k}){colon}{option}", method, option or None, k) for k in _numbers(given["k"], key)]


def _numbers(text: str, key: str) -> list[int]:
    """One k, or several in square brackets."""
    try:
        found = [int(part) for part in text.strip().removeprefix("[").removesuffix("]").split(",")]
    except ValueError:
        raise ValueError(f"metrics: expected an integer k, or several as k=[1,5], got {quoted(key)}") from None
    return [check_count(k, f"metrics: k of {quoted(key)}") for k in found]


def _place(key: str, text: str, thresholds: np.ndarray) -> int:
    """The index of the threshold among the edges; other thresholds have no matrix."""
    try:
        threshold = float(text)
    except ValueError:
        raise ValueError(f"metrics: expected a number after @, got {quoted(key)}") from None
    edges = thresholds[1:-1]
    nearest = int(np.argmin(np.abs(edges - threshold)))
    if not math.isclose(edges[nearest], threshold, rel_tol=1e-6, abs_tol=1e-9):  # edges are rounded to float32
        raise ValueError(
            f"metrics: expected the threshold in {quoted(key)} to be an edge of a bin; the nearest edge is "
            f"{edges[nearest]:.6g}; histogram_bins= or edges= can be chosen so that it is one"
        )
    return 1 + nearest
