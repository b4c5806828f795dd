"""Measures that weigh errors by the odds of a threshold of probability, at thresholds that are known."""

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

#: A measure, or two whose weights are 0 and 1, between which it is at any weight.
AtThresholds = dict[str, tuple[Metric, ...]]


def resolve_at_thresholds(metrics: Any, classes: Classes) -> AtThresholds:
    """The requested measures as :func:`resolve` has them; of those that await a threshold there are two."""
    found: AtThresholds = {}
    for item in _items(metrics):
        metric = _awaiting(item)
        if metric is None:
            found |= {key: (one,) for key, one in resolve(item, classes).items()}
            continue
        resolved = metric.resolved_for(classes)
        none, one = (resolved.using(**{str(metric.awaits): weight}) for weight in (0, 1))
        found[named(str(item), resolved.title(classes), resolved)] = (none, one)
    return found or {key: (one,) for key, one in resolve(metrics, classes).items()}


def at_threshold(metrics: Any, threshold: float) -> Any:
    """The requested measures, those that await a threshold with its odds; for one threshold of probability."""
    if not any(_awaiting(item) for item in _items(metrics)):
        return metrics
    if not 0 <= threshold < 1:
        raise ValueError(
            f"threshold: expected a probability from 0 to below 1 for {', '.join(map(str, _items(metrics)))}, got "
            f"{quoted(threshold)}"
        )
    odds = threshold / (1 - threshold)
    known = [(item, _awaiting(item)) for item in _items(metrics)]
    return [item if one is None else one.using(**{str(one.awaits): odds}) for item, one in known]


def refuse_others(chosen: Mapping[str, tuple[Metric, ...]], samples: ScoredSamples) -> None:
    """Raise for scores that are no probabilities where a measure awaits a threshold, and looking is free."""
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
            "or take the sigmoid of logits first"
        )


def together(chosen: AtThresholds, values: list[Array], limits: Array, backend: Standard) -> dict[str, Array]:
    """The values of each measure at the thresholds (*B, T), from those of all metrics in a row."""
    xp, rest, found = backend.xp, iter(values), {}
    for key, several in chosen.items():
        none = next(rest)
        found[key] = none
        if len(several) == 1:
            continue
        cost = none - next(rest)  # of the false positives with weight 1
        known = (limits >= 0) & (limits < 1)
        odds = xp.where(known, limits, 0) / (1 - xp.where(known, limits, 0))
        at_end = xp.where(cost > 0, -math.inf, none)  # at 1 a false positive costs infinitely much
        weighted = xp.where(known, none - odds * cost, xp.where(limits == 1, at_end, math.nan))
        # Above all scores nothing is predicted as positive.
        found[key] = xp.where(limits == math.inf, none, weighted)
    return found


def _items(metrics: Any) -> list[Any]:
    given = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics) if isinstance(metrics, Iterable) else []
    return [part for item in given for part in (_names(item) if isinstance(item, str) else [item])]


def _names(text: str) -> list[str]:
    return [part.strip() for part in split_outside(text) if part.strip()]


def _awaiting(item: Any) -> Metric | None:
    """The measure, if it awaits a threshold."""
    if isinstance(item, str):
        if item in groups():
            return None
        item = get_metric(item)
    return item if isinstance(item, Metric) and item.awaits is not None else None
