"""The names of the values of a ScoreMetric: their meaning, and the counts that they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics._arrays.sizes import check_count, is_whole
from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.record import Metric
from matrics._integrations.running.odd_scores import are_probabilities
from matrics._integrations.running.settings import are_counts, empty_values
from matrics._quoting import quoted, split_outside
from matrics._ranking.bins import rounded
from matrics._ranking.buckets import check_bits, check_bits_or_edges
from matrics._ranking.odds import at_threshold
from matrics._ranking.positive import REST
from matrics._ranking.state_names import AT_K, BOUNDED, CALIBRATION, HITS, is_method, read_method
from matrics._scoring.score import resolve

LOSSES = ("log_loss", "brier_score")
DEFAULT = ("roc_auc", "average_precision", CALIBRATION)
# As in matrics.ranking.top_k_accuracy.
DEFAULT_K = 5


@dataclass(frozen=True)
class ScoreValue:
    """A value: a method of the state, or a measure of the catalogue at a threshold of the state."""

    key: str
    name: str  # the name of a method, or the spec of a measure
    option: str | None = None  # the text after the colon
    k: int | None = None  # the number of highest scores: of classes, or of samples
    threshold: str | None = None
    place: int | None = None  # the index among the thresholds of the state, or among its values of k
    metric: Metric | None = None  # the measure at a threshold
    is_count: bool = False  # whether it is 0 before the first sample


def is_of_scores(name: str) -> bool:
    """Whether the name means a value of scores, and not a measure of a confusion matrix.

    >>> is_of_scores("top5"), is_of_scores("recall@0.5"), is_of_scores("recall:class")
    (True, True, False)
    """
    return "@" in name or is_method(name)


def read_names(metrics: str | Iterable[str] | None, positive: Any, *, has_classes: bool) -> tuple[ScoreValue, ...]:
    """The requested values; raises for unknown names."""
    values = [
        _read(name, positive, has_classes=has_classes) for name in _names(DEFAULT if metrics is None else metrics)
    ]
    return tuple(dict.fromkeys(value for group in values for value in group))


def kept_for(specs: Sequence[ScoreValue], *, bits: Any, edges: Any, num_bins: Any) -> dict[str, Any]:
    """The options of ``ScoreState.zeros`` for a state with only the counts that the values need."""
    has_buckets = any(value.name in BOUNDED for value in specs)
    calibrated = [value for value in specs if value.name == CALIBRATION]
    thresholds = sorted({float(value.threshold) for value in specs if value.threshold is not None})
    if has_buckets or edges is not None:
        check_bits_or_edges(bits, edges)
    check_bits(bits, 1)
    if not (is_whole(num_bins) and num_bins == 0 and not calibrated):
        check_count(num_bins, "num_bins")
    return {
        "bits": bits if has_buckets and edges is None else None if edges is not None else 0,
        "edges": edges,
        "thresholds": thresholds or None,
        "num_bins": num_bins if calibrated else 0,
        "class_wise": any(value.option == "class_wise" for value in calibrated),
        "losses": any(value.name in LOSSES for value in specs),
        "top_k": _places(specs) or None,
    }


def checks_thresholds(kept: Mapping[str, Any]) -> bool:
    """Whether to check scores at thresholds of probabilities; calibration and losses detect invalid scores."""
    return are_probabilities(kept["thresholds"] or ()) and not (kept["num_bins"] or kept["losses"])


def placed(specs: Sequence[ScoreValue], thresholds: np.ndarray | None) -> tuple[ScoreValue, ...]:
    """The values with their indices in a state of these thresholds, if any."""
    places = _places(specs)

    def place(value: ScoreValue) -> int | None:
        if value.name in HITS:
            return places.index(value.k)
        if value.threshold is None or thresholds is None:
            return None
        return int(np.flatnonzero(thresholds == rounded([float(value.threshold)]))[0])

    return tuple(replace(value, place=place(value)) for value in specs)


def _places(specs: Sequence[ScoreValue]) -> list[int | None]:
    """The values of k for which a state counts the samples whose true class is among the k highest scores."""
    return list(dict.fromkeys(value.k for value in specs if value.name in HITS))


def refuse_weighted(specs: Iterable[Any], decay: float | None, dtype: Any) -> None:
    """Raise an error if counts are sums of weights, and a value needs a number of samples."""
    names = [spec.key for spec in specs if spec.name in AT_K]
    if names and dtype is not None:
        got, option = (f"dtype={dtype}", "dtype=") if decay is None else (f"decay={decay}", "decay=")
        raise TypeError(
            f"metrics: expected a metric with integer counts for {quoted(names[0])}, as k is a number of samples, got "
            f"{got}, with which counts are sums of weights; leave out {option}"
        )


def _names(metrics: str | Iterable[str]) -> list[str]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(metrics)}")
    items = [metrics] if isinstance(metrics, str) else list(metrics)
    if not all(isinstance(name, str) for name in items):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(items)}")
    names = [part.strip() for name in items for part in split_outside(name) if part.strip()]
    if not names:
        raise ValueError("metrics: expected at least one name, got none")
    return list(dict.fromkeys(names))


def _read(key: str, positive: Any, *, has_classes: bool) -> list[ScoreValue]:
    """The values of a name, which may have several values of k."""
    measure, at, threshold = key.rpartition("@")
    if at:
        if has_classes and any(metric.classes for metric in resolve(measure).values()):
            raise ValueError(
                "metrics: expected no class in square brackets where each class is scored against the rest, got "
                f"{quoted(key)}: choose a class with positive=, or leave it out for a value of each class"
            )
        has_label = positive is not None and not has_classes
        known = Classes(2, (REST, positive), by_construction=True) if has_label else TWO
        chosen = list(resolve(_at(measure, threshold), known).values())
        if len(chosen) != 1 or chosen[0].is_classwise:
            raise ValueError(f"metrics: expected a single measure with a single value before @, got {quoted(key)}")
        (is_count,) = are_counts(empty_values(chosen, 2, has_cells=True))
        _check_number(key, threshold)
        return [ScoreValue(key, chosen[0].spec, threshold=threshold.strip(), metric=chosen[0], is_count=is_count)]
    return _of_state(key, has_classes=has_classes)


def _at(measure: str, threshold: str) -> Any:
    """The measure with the odds of the threshold, if it needs them."""
    try:
        return at_threshold(measure, float(threshold))
    except ValueError:  # not a number, for which _check_number raises
        return measure


def _check_number(key: str, threshold: str) -> None:
    """Raise an error unless the text after @ is a finite number."""
    try:
        is_good = math.isfinite(float(threshold))
    except ValueError:
        is_good = False
    if not is_good:
        raise ValueError(f"metrics: expected a number after @, got {quoted(key)}")


def _of_state(key: str, *, has_classes: bool) -> list[ScoreValue]:
    """The values of a method of states."""
    name, option, places = read_method(key, has_classes=has_classes)
    if not places:
        return [ScoreValue(key, name, option, DEFAULT_K if name in HITS else None)]
    if len(places) == 1 and "(" not in key:  # such as top5
        return [ScoreValue(key, name, option, places[0])]
    end = "" if option is None else f":{option}"
    return [ScoreValue(f"{name}(k={k}){end}", name, option, k) for k in places]
