"""Measures that weight errors by the odds of a threshold of probability, at known thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import named
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric, groups
from matrics._errors import ArgumentError
from matrics._quoting import quoted, split_outside
from matrics._ranking.inputs import ScoredSamples
from matrics._scoring.score import resolve

#: A measure, or a measure with the weights 0 and 1, from which its value at any weight follows.
AtThresholds = dict[str, tuple[Metric, ...]]


def resolve_at_thresholds(metrics: Any, classes: Classes) -> AtThresholds:
    """The requested measures as from :func:`resolve`; measures that depend on a threshold have the weights 0 and 1."""
    resolved_metrics: AtThresholds = {}
    for item in _items(metrics):
        metric = _awaiting(item)
        if metric is None:
            resolved_metrics |= {key: (at_weight_1,) for key, at_weight_1 in resolve(item, classes).items()}
            continue
        resolved = metric.resolved_for(classes)
        at_weight_0, at_weight_1 = (resolved.using(**{str(metric.awaits): weight}) for weight in (0, 1))
        resolved_metrics[named(str(item), resolved.title(classes), resolved)] = (at_weight_0, at_weight_1)
    return resolved_metrics or {key: (at_weight_1,) for key, at_weight_1 in resolve(metrics, classes).items()}


def at_threshold(metrics: Any, threshold: float) -> Any:
    """The requested measures at a threshold of probability, with its odds as the weight where a measure needs it."""
    if not any(_awaiting(item) for item in _items(metrics)):
        return metrics
    if not 0 <= threshold < 1:
        raise ValueError(
            f"threshold: expected a probability from 0 to below 1 for {', '.join(map(str, _items(metrics)))}, got "
            f"{quoted(threshold)}"
        )
    odds = threshold / (1 - threshold)
    items = [(item, _awaiting(item)) for item in _items(metrics)]
    return [item if metric is None else metric.using(**{str(metric.awaits): odds}) for item, metric in items]


def refuse_others(chosen: Mapping[str, tuple[Metric, ...]], samples: ScoredSamples) -> None:
    """Raise an error for scores outside 0 to 1 if a measure needs the odds of a threshold; only on the host."""
    awaiting = [key for key, several in chosen.items() if len(several) > 1]
    if not awaiting or samples.backend is not NUMPY:
        return
    if samples.lower_is_positive:
        raise ArgumentError(
            "lower_is_positive",
            f"expected False with {', '.join(awaiting)}, whose weight is the odds of the threshold, a probability of "
            "the positive class; fix its weight, as in net_benefit(weight=0.25)",
        )
    outside = (samples.scores < 0) | (samples.scores > 1)
    if outside.any():
        raise ValueError(
            f"metrics: expected probabilities, from 0 to 1, for {', '.join(awaiting)}, whose weight is the odds of the "
            f"threshold, got the score {samples.scores[outside][0]:g}; fix its weight, as in net_benefit(weight=0.25), "
            "or convert logits with the sigmoid first"
        )


def together(chosen: AtThresholds, values: list[Array], limits: Array, backend: Standard) -> dict[str, Array]:
    """The values of each measure at the thresholds (*B, T), from a list with the values of all metrics."""
    xp, remaining, results = backend.xp, iter(values), {}
    for key, several in chosen.items():
        at_weight_0 = next(remaining)
        results[key] = at_weight_0
        if len(several) == 1:
            continue
        cost = at_weight_0 - next(remaining)  # of the false positives at weight 1
        is_probability = (limits >= 0) & (limits < 1)
        odds = xp.where(is_probability, limits, 0) / (1 - xp.where(is_probability, limits, 0))
        at_end = xp.where(cost > 0, -math.inf, at_weight_0)  # at 1 a false positive costs infinitely much
        weighted = xp.where(is_probability, at_weight_0 - odds * cost, xp.where(limits == 1, at_end, math.nan))
        # Above all scores nothing is predicted as positive.
        results[key] = xp.where(limits == math.inf, at_weight_0, weighted)
    return results


def _items(metrics: Any) -> list[Any]:
    items = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics) if isinstance(metrics, Iterable) else []
    return [part for item in items for part in (_names(item) if isinstance(item, str) else [item])]


def _names(text: str) -> list[str]:
    return [part.strip() for part in split_outside(text) if part.strip()]


def _awaiting(item: Any) -> Metric | None:
    """The measure, if its weight depends on a threshold; otherwise None."""
    if isinstance(item, str):
        if item in groups():
            return None
        item = get_metric(item)
    return item if isinstance(item, Metric) and item.awaits is not None else None
