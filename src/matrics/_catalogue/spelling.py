"""The text forms of a metric: its spec, and its title in words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from matrics._catalogue import averages, weights
from matrics._catalogue.classes import Classes, in_words, spell_class


def spec(metric: Any) -> str:
    """The spec of a metric, which :func:`matrics.get_metric` reads."""
    options = [*metric.fixed, *([("class_weights", metric.class_weights)] if metric.class_weights else [])]
    values = ",".join(f"{name}={spell(value)}" for name, value in options)
    class_text = "[" + ",".join(spell_class(label) for label in metric.classes) + "]" if metric.classes else ""
    is_single = bool(metric.classes) and metric.average not in averages.OF_SEVERAL
    average = f":{metric.average}" if metric.average and not is_single else ""
    return f"{metric.called or metric.name}" + (f"({values})" if values else "") + average + class_text


def title(metric: Any, classes: Classes) -> str:
    """The title of a metric: the measure and its average or class in words, with the labels of the classes."""
    measure = spec(replace(metric, average=None, classes=(), class_weights=()))
    names = [classes.name(k) if isinstance(k, int) else in_words(k) for k in metric.classes]
    if not names and metric.average in averages.CLASSWISE:
        return f"{measure} of each class" + (" against the rest" if metric.kind == "overall" else "")
    if metric.average == "one_vs_rest":
        return f"{measure} of {names[0]} against the rest"
    if metric.average == "binary":
        return f"{measure} of {names[0] if names else 'the positive class'}"
    if not metric._averaged or (metric.average is None and not metric.class_weights and not names):
        return measure
    class_text = (
        f" of {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f" of {names[0]}" if names else ""
    )
    by = f" by class_weights={spell(metric.class_weights)}" if metric.class_weights else ""
    return f"{measure}, {metric.average or 'macro'}{by}{class_text}"


def spell(value: Any) -> str:
    """The text of an option's value in a spec."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return weights.spell(value)
    if value == math.e:
        return "e"
    return weights.spell_number(value) if isinstance(value, float) else str(value)
