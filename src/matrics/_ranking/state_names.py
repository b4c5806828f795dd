"""The names of the measures of scores that a ScoreState computes: areas, hits, calibration and losses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from matrics._arrays import Array, as_arrays
from matrics._arrays.sizes import check_count
from matrics._catalogue import of_scores
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import options_of
from matrics._quoting import quoted, split_outside

CALIBRATION = "expected_calibration_error"
AREAS = ("roc_auc", "average_precision")
# Measures of the samples with the k highest scores, which have bounds, as areas do.
AT_K = ("precision_at_k", "recall_at_k", "lift_at_k")
BOUNDED = (*AREAS, *AT_K)
AVERAGES = ("macro", "weighted", "micro", "class")
# Measures of the k highest scores of the classes of each sample.
HITS = ("top_k_accuracy", "top_k_recall")
# The methods of a ScoreState, and the options that may follow a colon in the name.
METHODS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(BOUNDED, AVERAGES),
    CALIBRATION: ("top_label", "class_wise"),
    "log_loss": (),
    "brier_score": (),
    "top_k_accuracy": (),
    "top_k_recall": ("macro", "weighted", "class"),
}
_NAMES = of_scores.names_of(set(METHODS))


class Method(NamedTuple):
    """The parts of a name: a method, the option after the colon, and the values of k in brackets."""

    name: str
    option: str | None
    places: list[int]


def is_method(name: str, functions: Collection[str] = METHODS.keys()) -> bool:
    """Whether a name is a measure of scores among ``functions``.

    >>> is_method("top5"), is_method("ECE:class_wise"), is_method("recall:class")
    (True, True, False)
    """
    return of_scores.name_of(of_scores.spec_of(name)).strip() in functions


def near_method(name: str) -> str:
    """The measures of scores that a misspelt name may mean, as a question; an empty text if none is similar."""
    return of_scores.near(name, _NAMES)


def read_method(key: str, *, has_classes: bool) -> Method:
    """The method of a name; raises an error for an unknown name or option."""
    spec = of_scores.spec_of(key)
    head, colon, option = spec.partition(":")
    name, bracket, rest = head.partition("(")
    if name not in METHODS:
        hint = near_method(key)
        raise ValueError(
            f"metrics: {hint}expected {', '.join(METHODS)}, or a measure at a threshold, such as 'recall@0.5', got "
            f"{quoted(key)}"
        )
    options = METHODS[name]
    if name in HITS and not has_classes:
        raise ValueError(f"metrics: expected num_classes= for {quoted(key)}, as scores of class 1 of two have no order")
    if colon and not has_classes:
        raise ValueError(
            f"metrics: expected {quoted(name)}, because there is no average without num_classes=, got {quoted(key)}"
        )
    if colon and option not in options:
        allowed = f", possibly followed by :{', :'.join(options)}" if options else " alone"
        raise ValueError(f"metrics: expected {quoted(head)}{allowed}, got {quoted(key)}")
    options_given = options_of(bracket, rest, spec)
    takes_k = name in HITS or name in AT_K
    if (bracket and not takes_k) or set(options_given) - {"k"} or (name in AT_K and not options_given):
        example = f"'{name}(k={100 if name in AT_K else 5})'"
        expected = f"k= alone in brackets, such as {example}" if takes_k else f"{quoted(name)}, without options"
        raise ValueError(f"metrics: expected {expected}, got {quoted(key)}")
    return Method(name, option or None, _numbers(options_given["k"], key) if "k" in options_given else [])


def _numbers(text: str, key: str) -> list[int]:
    """The values of k: a single number, or several in square brackets."""
    try:
        numbers = [int(part) for part in text.strip().removeprefix("[").removesuffix("]").split(",")]
    except ValueError:
        raise ValueError(f"metrics: expected an integer k, or several as k=[1,5], got {quoted(key)}") from None
    return [check_count(k, f"metrics: k of {quoted(key)}") for k in numbers]


def divided(metrics: Any, functions: Collection[str] = METHODS.keys()) -> tuple[list[str], Any]:
    """The names of the measures that are functions of scores, and the remaining measures."""
    items = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if isinstance(items, Mapping) or not isinstance(items, Iterable) or hasattr(items, "dtype"):
        return [], metrics  # resolve() raises an error for these
    parts = [part for item in items for part in (split_outside(item) if isinstance(item, str) else [item])]
    names = [part.strip() for part in parts if isinstance(part, str) and is_method(part, functions)]
    others = [part for part in parts if not isinstance(part, str) or (part.strip() and not is_method(part, functions))]
    return list(dict.fromkeys(names)), others


def value_of(state: Any, key: str, zero_division: float, *, has_classes: bool) -> Array:
    """The value of a measure: an area without its bounds; hits for the values of k in the name, or for all."""
    name, option, places = read_method(key, has_classes=has_classes)
    averaged: dict[str, Any] = {} if option is None else {"of" if name == CALIBRATION else "average": option}
    method, options = getattr(state, name), {"zero_division": zero_division} | averaged
    if name in AT_K:
        return _stacked([method(k, **options).value for k in places], -2 if option == "class" else -1)
    values = method(**options)
    if name in AREAS:
        return values.value
    if not places:
        return values
    backend, (top_k_values, states) = as_arrays(top_k=state.top_k, states=state.states)
    if not backend.can_look(top_k_values):
        raise TypeError(f"metrics: expected a state outside jit and compile for {quoted(key)}: call {name}() there")
    top_k_values, states = backend.to_numpy(top_k_values), backend.to_numpy(states)
    places_kept = (
        (top_k_values.reshape(-1, top_k_values.shape[-1])[0] // states.reshape(-1)[0]).tolist()
        if top_k_values.size
        else []
    )
    missing = [k for k in places if k not in places_kept]
    if missing:
        raise ValueError(
            f"metrics: expected a state made with top_k={missing[0]} for {quoted(key)}, got top_k={places_kept}"
        )
    axis = -2 if option == "class" else -1
    return _stacked([values[(..., places_kept.index(k), *(slice(None),) * (-1 - axis))][()] for k in places], axis)


def _stacked(rows: list[Array], axis: int) -> Array:
    """The values for several k along an axis; of a single k without this axis."""
    return rows[0] if len(rows) == 1 else as_arrays(values=rows[0])[0].xp.stack(rows, axis=axis)
